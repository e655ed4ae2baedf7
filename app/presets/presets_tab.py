"""The presets: choose one, see what differs from the defaults, change it, keep it under a name of your own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psutil
from PySide6.QtWidgets import QComboBox, QFrame, QInputDialog, QStackedWidget, QVBoxLayout, QWidget

from app.context import AppContext
from app.engine_client import EngineProblem
from app.i18n import tr, trn
from app.page_parts.flow import Flow
from app.page_parts.labels import button, card, clear, label
from app.page_parts.page_frame import Column
from app.page_parts.state_view import StateView
from app.presets.checks import Surroundings, findings
from app.presets.preset import Preset, differing
from app.presets.schema import SettingSpec, grouped, read_schema
from app.presets.setting_row import SettingRow
from app.theme.tokens import GRID


class PresetsTab(QWidget):
    """The form of a preset. Attributes: `rows` by name of the setting."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self._specs: tuple[SettingSpec, ...] = ()
        self.rows: dict[str, SettingRow] = {}
        self._preset: Preset = context.presets.preset(context.preferences["preset"])
        self._choice = QComboBox()
        self._choice.setAccessibleName(tr("Preset"))
        self._choice.setMinimumWidth(180)
        self._choice.activated.connect(self._chosen)
        self._summary = label("", "soft", wrap=True)
        self._use_button = button(tr("Use"), self._use, "primary")
        self._save = button(tr("Save"), self._save_own)
        self._save_as = button(tr("Save as…"), self._ask_name)
        self._delete = button(tr("Delete"), self._remove, "danger")
        self._findings = label("", "warn", wrap=True)
        self._findings.setParent(self)
        self._state = StateView(context.theme)
        self._form = Column()
        self._stack = QStackedWidget()
        self._build()

    def refresh(self) -> None:
        """Show the presets; the schema is asked of the engine the first time."""
        self._fill_choice()
        if self._specs:
            self._show_preset()
            return
        self._stack.setCurrentWidget(self._state)
        if not self._context.client.state.listening:
            self._state.error(
                tr("The engine is not running"), tr("It knows which settings there are."),
                tr("Start the engine"), self._context.session.restart,
            )  # fmt: skip
            self._context.client.state_changed.connect(self._engine_changed)
            return
        self._state.loading(tr("Asking the engine"), tr("Which settings are there?"))
        call = self._context.client.get_settings()
        call.done.connect(self._came)
        call.failed.connect(self._refused)

    def values(self) -> dict[str, Any]:
        """What the form says, for every setting."""
        return {name: one.value() for name, one in self.rows.items()}

    def save_as(self, title: str) -> Preset:
        """Keep the form's values under a new name."""
        made = self._context.presets.save_own(Preset("", title, "", self._differing()))
        self._preset = made
        self._context.session.changed.emit()
        self.refresh()
        return made

    def show_schema(self, schema: dict[str, Any]) -> None:
        """Build the form from the engine's schema."""
        self._specs = read_schema(schema)
        self._form.body.removeWidget(self._findings)  # it stays, the rows are made again
        clear(self._form.body)
        self.rows = {}
        self._form.body.addWidget(self._findings)
        for title, specs in grouped(self._specs):
            self._form.body.addWidget(self._group(tr(title), specs))
        self._form.body.addStretch(1)
        self._findings.show()
        self._show_preset()

    def _engine_changed(self, *_: object) -> None:
        if self._context.client.state.listening:
            self._context.client.state_changed.disconnect(self._engine_changed)
            self.refresh()

    def _came(self, content: Any) -> None:
        self.show_schema(content.get("schema", {}) if isinstance(content, dict) else {})

    def _refused(self, problem: EngineProblem) -> None:
        self._state.error(tr("The engine did not answer"), problem.message, tr("Ask again"), self.refresh)

    def _group(self, title: str, specs: tuple[SettingSpec, ...]) -> QFrame:
        frame, body = card()
        body.addWidget(label(title, "soft"))
        for spec in specs:
            made = SettingRow(self._context.theme, spec)
            made.edited.connect(self._edited)
            self.rows[spec.name] = made
            body.addWidget(made)
        return frame

    def _show_preset(self) -> None:
        self._stack.setCurrentWidget(self._form)
        settings = self._preset.resolved(int(psutil.virtual_memory().total))
        for name, one in self.rows.items():
            one.set_value(settings.get(name, one.spec.default))
        self._edited()

    def _edited(self) -> None:
        found = findings(self.values(), self._specs, self._surroundings())
        lines = ["• " + tr(one.text).format(**one.values) for one in found]
        self._findings.setText("\n".join(lines))
        self._findings.setVisible(bool(lines))
        blocked = {name for one in found if one.blocking for name in one.names}
        advised = {name for one in found if not one.blocking for name in one.names}
        for name, one in self.rows.items():
            one.mark("bad" if name in blocked else "warn" if name in advised else "soft")
        changed = self._differing() != differing(
            {**self._defaults(), **self._preset.resolved(int(psutil.virtual_memory().total))}, self._defaults()
        )
        self._say_summary(changed)
        self._save.setVisible(self._preset.own)
        self._save.setEnabled(changed and not blocked)
        self._save_as.setEnabled(not blocked)
        self._delete.setVisible(self._preset.own)
        self._use_button.setEnabled(not changed and self._preset.key != self._context.preferences["preset"])

    def _say_summary(self, changed: bool) -> None:
        preset, count = self._preset, len(self._differing())
        parts = [preset.summary if preset.own else tr(preset.summary)] if preset.summary else []
        if preset.tuned:
            parts.append(tr("Measured on this computer for the model in use."))
        parts.append(trn("{n} setting differs from the defaults.", "{n} settings differ from the defaults.", count))
        if changed:
            parts.append(tr("Not saved yet."))
        self._summary.setText(" ".join(parts))

    def _surroundings(self) -> Surroundings:
        entry = self._context.shelf.entry(self._context.session.wanted)
        context = entry.facts.shape.context_length if entry and entry.facts else 0
        return Surroundings(int(psutil.virtual_memory().total), psutil.cpu_count() or 0, context)

    def _defaults(self) -> dict[str, Any]:
        return {spec.name: spec.default for spec in self._specs}

    def _differing(self) -> dict[str, Any]:
        return differing(self.values(), self._defaults())

    def _chosen(self, at: int) -> None:
        self._preset = self._context.presets.preset(str(self._choice.itemData(at)), self._context.session.wanted)
        if self._specs:
            self._show_preset()

    def _use(self) -> None:
        self._context.session.use_preset(self._preset.key)
        self._edited()

    def _save_own(self) -> None:
        self._preset = self._context.presets.save_own(replace(self._preset, settings=self._differing()))
        if self._preset.key == self._context.preferences["preset"]:
            self._context.session.reload()
        self.refresh()

    def _ask_name(self) -> None:
        title, accepted = QInputDialog.getText(self, tr("Save as a new preset"), tr("Name"))
        if accepted and title.strip():
            self.save_as(title.strip())

    def _remove(self) -> None:
        removed = self._context.presets.remove_own(self._preset.key)
        self._preset = self._context.presets.presets()[0]
        self.refresh()
        if removed is not None:
            self._context.frame.toast(
                tr("{name} is deleted.").format(name=removed.title), tr("Undo"), lambda: self._restore(removed)
            )

    def _restore(self, preset: Preset) -> None:
        self._preset = self._context.presets.save_own(preset)
        self.refresh()

    def _fill_choice(self) -> None:
        self._choice.clear()
        for one in self._context.presets.presets(self._context.session.wanted):
            title = one.title if one.own else tr(one.title)
            on = one.key == self._context.preferences["preset"]
            self._choice.addItem(tr("{name} (in use)").format(name=title) if on else title, one.key)
            if one.key == self._preset.key:
                self._choice.setCurrentIndex(self._choice.count() - 1)

    def _build(self) -> None:
        head = QWidget()
        column = QVBoxLayout(head)
        column.setContentsMargins(2 * GRID, GRID, 2 * GRID, 0)
        line = Flow(GRID)  # a narrow window has two of them
        for part in (self._choice, self._use_button, self._save, self._save_as, self._delete):
            line.addWidget(part)
        column.addLayout(line)
        column.addWidget(self._summary)
        self._stack.addWidget(self._state)
        self._stack.addWidget(self._form)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(head)
        whole.addWidget(self._stack, 1)
