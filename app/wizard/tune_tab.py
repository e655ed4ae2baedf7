"""The tuner's three pages: what will be measured, the measuring itself, and what came out of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from app.context import AppContext
from app.engine_client import EngineProblem, State
from app.i18n import tr
from app.page_parts.figures_as_words import duration_text, number_text
from app.page_parts.labels import button, card, label, row, set_role
from app.page_parts.page_frame import Column
from app.theme.tokens import GRID
from app.wizard.charts import ArmsChart, DriveChart
from app.wizard.phrases import in_words, name_in_words
from app.wizard.progress import ENDED, TuneProgress, chosen_arm, gain, to_keep
from app.wizard.stored import StoredTuning, change_words, stored_tuning

BUDGETS_S = (60, 180, 600)
DEFAULT_BUDGET = 1


class TuneTab(QWidget):
    """The wizard. Attributes: `progress`, `page` ("start", "measure", "result"), `stored` (a former tuning)."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.progress = TuneProgress()
        self.page = "start"
        self.stored: StoredTuning | None = None
        self._stored_of = ""
        self._running = False
        self._model = ""
        self._cache_bytes = 0
        self._stack = QStackedWidget()
        self._pages = {"start": self._start_page(), "measure": self._measure_page(), "result": self._result_page()}
        for page in self._pages.values():
            self._stack.addWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._stack)
        context.client.tune_event.connect(self._event)
        context.client.state_changed.connect(self._state_changed)

    def refresh(self) -> None:
        """Show the page that fits, and ask what a former tuning of the model found."""
        self._say_start()
        self._ask_stored()

    def start(self) -> None:
        """Begin to measure the loaded model."""
        client = self._context.client
        self._model = self._context.session.wanted
        self._cache_bytes = int(client.last_telemetry.get("cache_bytes") or 0)
        self.progress = TuneProgress()
        self._running = True
        self._go("measure")
        self._show_progress()
        call = client.tune(float(self._budget.currentData()))
        call.failed.connect(self._refused)

    def cancel(self) -> None:
        """Stop; the settings stay as they were."""
        self._cancel_button.setEnabled(False)
        self._context.client.cancel_tune()

    def apply(self) -> None:
        """Use what was found: it becomes the presets of this model on this computer."""
        if self.progress.result is not None and self._model:
            self._context.presets.keep_tuned(self._model, to_keep(self.progress.result, self._cache_bytes))
            self._context.session.use_preset(self._context.preferences["preset"])
            self._context.frame.toast(tr("The measured settings are in use."))
        self._go("start")

    def keep(self) -> None:
        """Leave everything as it was."""
        self._go("start")

    def use_stored(self) -> None:
        """Use what a former tuning found, say one from the command line; or, where it is stale, stop using it."""
        model, found = self._context.session.wanted, self.stored
        if found is None:
            return
        if found.stale:
            self._context.presets.keep_tuned(model, None)
            self._context.frame.toast(tr("The built-in settings are in use again."))
        else:
            self._context.presets.keep_tuned(model, to_keep(found.result, self._cache_bytes))
            self._context.frame.toast(tr("The measured settings are in use."))
        self._context.session.use_preset(self._context.preferences["preset"])
        self._say_start()

    def _go(self, page: str) -> None:
        self.page = page
        self._stack.setCurrentWidget(self._pages[page])
        if page == "start":
            self._say_start()

    def _say_start(self) -> None:
        client = self._context.client
        ready = client.state == State.READY
        name = self._context.session.models.title(self._context.session.wanted)
        self._start_button.setEnabled(ready)
        if ready:
            text = tr("{model} is loaded and will be measured.").format(model=name)
        elif client.state == State.BUSY:
            text = tr("{model} is answering. Measuring can begin when the answer is finished.").format(model=name)
        elif client.state in (State.LOADING, State.TUNING):
            text = tr("The model is still loading.")
        else:
            text = tr("Load a model first: it is measured itself, not a stand-in.")
        self._start_text.setText(text)
        self._say_stored()

    def _ask_stored(self) -> None:
        """Ask what the engine knows of a former tuning; it looks at the machine for that, which takes 0.2 s."""
        model = self._context.session.wanted
        if self._context.client.state != State.READY or not model:
            return

        def answered(content: Any) -> None:
            if model == self._context.session.wanted:
                self.stored, self._stored_of = stored_tuning(content), model
                self._say_stored()

        self._context.client.stored_tuning(model).done.connect(answered)

    def _say_stored(self) -> None:
        model = self._context.session.wanted
        tuned = self._context.presets.tuned(model)
        stored = self.stored if self._stored_of == model else None
        in_use = bool(tuned)
        speed = stored.tokens_per_s if stored is not None else float(tuned.get("tokens_per_s") or math.nan)
        figure = tr("{n} tok/s").format(n=number_text(speed)) if not math.isnan(speed) else ""
        role, text, offer = "good", "", ""
        if stored is not None and stored.stale:
            role = "warn"
            changes = "; ".join(map(change_words, stored.stale))
            text = tr("Measured here before, but it no longer holds. Changed since: {changes}. Measure again.")
            text = text.format(changes=changes)
            offer = tr("Stop using the old settings") if in_use else ""
        elif in_use and figure:
            text = tr("The settings in use were measured here: {speed}.").format(speed=figure)
        elif stored is not None and figure:
            text = tr("Measured here before: {speed}. These settings are not in use.").format(speed=figure)
            offer = tr("Use them")
        self._known.setText(text)
        set_role(self._known, role)
        self._known.setVisible(bool(text))
        self._stored_button.setText(offer)
        self._stored_button.setVisible(bool(offer))

    def _event(self, event: dict[str, Any]) -> None:
        if not self._running and event.get("phase") in ENDED:
            return
        if not self._running:
            self._running = True  # a tuning that somebody else began is shown too
            self._model = self._context.session.wanted
            self.progress = TuneProgress()
            self._go("measure")
        self.progress.take(event)
        self._show_progress()
        if self.progress.ended:
            self._finish()

    def _refused(self, problem: EngineProblem) -> None:
        self._running = False
        self.progress.phase, self.progress.error = "failed", problem.message
        self._finish()

    def _state_changed(self, state: State) -> None:
        if self._running and state in (State.CRASHED, State.STOPPED):
            self._running = False
            self.progress.phase = "failed"
            self.progress.error = tr("The engine stopped while it was measured. Your settings are unchanged.")
            self._finish()
        elif self.page == "start" and self.isVisible():
            self.refresh()

    def _finish(self) -> None:
        self._running = False
        self.stored, self._stored_of = None, ""
        if self.progress.phase == "cancelled":  # its result holds what there was so far, which nobody should go by
            self._context.frame.toast(tr("Measuring was cancelled. Your settings are unchanged."))
            self._go("start")
            return
        self._show_result()
        self._go("result")

    def _show_progress(self) -> None:
        progress = self.progress
        self._bar.setValue(int(1000 * progress.fraction))
        self._message.setText(in_words(progress.message) or tr("Starting…"))
        left = progress.remaining_s
        self._left.setText(tr("about {time} left").format(time=duration_text(left)) if left else "")
        self._cancel_button.setEnabled(not progress.ended)
        self._drive.setVisible(bool(progress.drive))
        self._drive_title.setVisible(bool(progress.drive))
        self._drive.show_points(progress.drive)
        self._arms.show_arms(progress.arms)
        self._arms_title.setVisible(bool(progress.arms))
        self._arms.setVisible(bool(progress.arms))
        self._measured.setText("\n".join(f"{name_in_words(name)}: {value}" for name, value in progress.measured[-8:]))
        self._measured.setVisible(bool(progress.measured))

    def _show_result(self) -> None:
        result, failed = self.progress.result, self.progress.phase == "failed"
        heading, sentence = result_words(result, self.progress.error)
        self._result_heading.setText(heading)
        set_role(self._result_heading, "bad" if failed else "heading")
        self._result_text.setText(sentence)
        self._notes.setText("\n".join(f"• {in_words(note)}" for note in (result or {}).get("notes") or ()))
        self._notes.setVisible(bool(self._notes.text()))
        self._result_arms.show_arms(self.progress.arms)
        self._result_arms.setVisible(bool(self.progress.arms))
        self._result_drive.show_points(self.progress.drive)
        self._result_drive.setVisible(bool(self.progress.drive))
        self._apply_button.setVisible(result is not None and not failed)
        self._keep_button.setText(tr("Back") if failed or result is None else tr("Keep my settings"))

    def _start_page(self) -> QWidget:
        column = Column()
        frame, body = card()
        body.setSpacing(GRID)
        body.addWidget(label(tr("Measure this computer with your model"), "heading"))
        body.addWidget(
            label(
                tr(
                    "Gannet measures the drive, the memory and the processor, then tries settings on the model itself, "
                    "side by side with what you use now. It keeps what is faster and says why. Answers stay the same."
                ),
                wrap=True,
            )
        )
        for line in (
            tr("The drive: how fast it reads experts, more and more at once. It is only read, never written."),
            tr("Memory and processor: how fast they get through this model's weights."),
            tr("Candidates: short answers with each, in turns, the defaults always among them."),
        ):
            body.addWidget(label("•  " + line, "soft", wrap=True))
        self._budget = QComboBox()
        self._budget.setAccessibleName(tr("Time to take"))
        for seconds in BUDGETS_S:
            self._budget.addItem(tr("about {time}").format(time=duration_text(seconds)), seconds)
        self._budget.setCurrentIndex(DEFAULT_BUDGET)
        self._start_button = button(tr("Measure now"), self.start, "primary")
        self._start_text = label("", "soft", wrap=True)
        self._known = label("", "good", wrap=True)
        body.addLayout(row(label(tr("This takes"), "soft"), self._budget, 1, self._start_button))
        body.addWidget(self._start_text)
        self._stored_button = button("", self.use_stored)
        body.addWidget(self._known)
        body.addLayout(row(self._stored_button, 1))
        column.body.addWidget(frame)
        column.body.addStretch(1)
        return column

    def _measure_page(self) -> QWidget:
        column = Column()
        frame, body = card()
        body.setSpacing(GRID)
        self._message = label("", "heading", wrap=True)
        self._left = label("", "soft")
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("Progress of measuring"))
        self._cancel_button = button(tr("Cancel"), self.cancel)
        self._measured = label("", "soft", wrap=True)
        self._drive_title = label(tr("The drive: reads at once, and what it delivers"), "soft", wrap=True)
        self._drive = DriveChart(self._context.theme)
        self._arms_title = label(tr("Candidates"), "soft")
        self._arms = ArmsChart(self._context.theme)
        line = QHBoxLayout()
        line.addWidget(self._message, 1)
        line.addWidget(self._left)
        line.addWidget(self._cancel_button)
        body.addLayout(line)
        for part in (self._bar, self._measured, self._drive_title, self._drive, self._arms_title, self._arms):
            body.addWidget(part)
        column.body.addWidget(frame)
        column.body.addStretch(1)
        return column

    def _result_page(self) -> QWidget:
        column = Column()
        frame, body = card()
        body.setSpacing(GRID)
        self._result_heading = label("", "heading", wrap=True)
        self._result_text = label("", wrap=True)
        self._notes = label("", "soft", wrap=True)
        self._result_arms = ArmsChart(self._context.theme)
        self._result_drive = DriveChart(self._context.theme)
        self._apply_button = button(tr("Use these settings"), self.apply, "primary")
        self._keep_button = button(tr("Keep my settings"), self.keep)
        for part in (self._result_heading, self._result_text, self._result_arms, self._result_drive, self._notes):
            body.addWidget(part)
        body.addLayout(row(self._apply_button, self._keep_button, 1))
        column.body.addWidget(frame)
        column.body.addStretch(1)
        return column


def result_words(result: Mapping[str, Any] | None, error: str) -> tuple[str, str]:
    """Heading and sentence of the last page."""
    if result is None:
        return tr("Measuring did not finish"), error or tr("Your settings are unchanged.")
    speed = chosen_arm(result).get("decode_tok_s")
    words = ""
    if isinstance(speed, Mapping) and isinstance(speed.get("middle"), (int, float)):
        words = " " + tr("Measured: {speed} tokens a second.").format(speed=number_text(float(speed["middle"])))
    faster = round(100 * (gain(result) - 1))
    heading = (
        tr("{n} % faster than the defaults").format(n=faster) if faster >= 1 else tr("The defaults are the best here")
    )
    return heading, f"{in_words(str(result.get('reason') or ''))}{words}".strip()
