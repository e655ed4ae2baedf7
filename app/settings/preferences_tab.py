"""The window's own settings, made from their declarations in `app.preferences`, and the folders of models."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QFileDialog, QFrame, QVBoxLayout, QWidget

from app.context import AppContext
from app.files import config_folder, data_folder
from app.i18n import available_languages, tr
from app.page_parts.labels import button, card, clear, icon_button, label, padded, row
from app.page_parts.page_frame import Column
from app.preferences import Values
from app.theme.tokens import GRID

EDITOR_WIDTH = 180


class PreferencesTab(QWidget):
    """The form. Attributes: `editors` by name of the preference."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.editors: dict[str, QWidget] = {}
        self._folders = QVBoxLayout()
        self._folders.setSpacing(GRID // 2)
        column = Column()
        column.body.addWidget(self._window_card())
        column.body.addWidget(self._folders_card())
        column.body.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(column)
        context.shelf.changed.connect(self._fill_folders)

    def refresh(self) -> None:
        """Show the preferences as they are now."""
        self._fill_folders()

    def _window_card(self) -> QFrame:
        frame, body = card()
        body.setSpacing(GRID)
        for one in dataclasses.fields(Values):
            if one.metadata.get("title"):
                body.addLayout(self._row(one))
        return frame

    def _row(self, one: dataclasses.Field[Any]) -> Any:
        editor = self._editor(one)
        editor.setAccessibleName(tr(one.metadata["title"]))
        self.editors[one.name] = editor
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(label(tr(one.metadata["title"]), "heading"))
        words.addWidget(label(tr(one.metadata["help"]), "soft", wrap=True))
        line = row(editor)
        line.insertLayout(0, words, 1)
        return line

    def _editor(self, one: dataclasses.Field[Any]) -> QWidget:
        value = self._context.preferences[one.name]
        choices = dict(one.metadata.get("choices", {}))
        if one.name == "language":
            choices = {"": "System", **available_languages()}
        if choices:
            return self._choice(one.name, choices, value)
        if isinstance(value, bool):
            box = QCheckBox(tr("On"))
            box.setChecked(value)
            box.toggled.connect(lambda on: self._set(one.name, on))
            return box
        number = padded(QDoubleSpinBox())
        number.setRange(one.metadata.get("low", 0.0), one.metadata.get("high", 1e6))
        number.setDecimals(0)
        number.setSpecialValueText(tr("System"))
        number.setSuffix(f" {one.metadata['unit']}" if one.metadata.get("unit") else "")
        number.setKeyboardTracking(False)
        number.setFixedWidth(self._context.theme.scaled(EDITOR_WIDTH))
        number.setValue(value)
        number.valueChanged.connect(lambda chosen: self._set(one.name, float(chosen)))
        return number

    def _choice(self, name: str, choices: dict[str, str], value: str) -> QComboBox:
        made = QComboBox()
        made.setFixedWidth(self._context.theme.scaled(EDITOR_WIDTH))
        for key, text in choices.items():
            made.addItem(tr(text), key)
        made.setCurrentIndex(max(0, made.findData(value)))
        made.activated.connect(lambda at: self._set(name, made.itemData(at)))
        return made

    def _set(self, name: str, value: Any) -> None:
        """Store a preference and put it into effect where that is possible at once."""
        self._context.preferences[name] = value
        theme = self._context.theme
        if name == "theme":
            theme.choose(value)
        elif name == "font_points":
            theme.set_font_points(value)
        elif name == "reduce_motion":
            theme.reduce_motion = value

    def _folders_card(self) -> QFrame:
        frame, body = card()
        body.setSpacing(GRID)
        body.addLayout(row(label(tr("Folders with models"), "heading"), 1, button(tr("Add folder…"), self._add_folder)))
        body.addLayout(self._folders)
        rule = QFrame()
        rule.setProperty("role", "rule")
        body.addWidget(rule)
        for title, folder in ((tr("Conversations"), data_folder()), (tr("Settings and presets"), config_folder())):
            show = button(tr("Show"), partial(_open, folder))
            show.setAccessibleName(tr("Show the folder {name}").format(name=folder))
            words = QVBoxLayout()
            words.setSpacing(0)
            words.addWidget(label(title))
            words.addWidget(label(str(folder), "soft", wrap=True, select=True))
            line = row(show)
            line.insertLayout(0, words, 1)
            body.addLayout(line)
        return frame

    def _fill_folders(self) -> None:
        clear(self._folders)
        shelf = self._context.shelf
        for folder in shelf.folders():
            present = folder.present or folder.path == shelf.downloads_folder
            text = str(folder.path) if present else tr("{folder} (not connected)").format(folder=folder.path)
            parts: list[QWidget | int] = [label(text, "" if present else "warn", wrap=True)]
            if folder.path != shelf.downloads_folder:
                name = tr("Remove {folder} from the library").format(folder=folder.path)
                parts.append(icon_button(self._context.theme, "close", name, partial(shelf.remove_folder, folder.path)))
            holder = QWidget()
            line = row(*parts)
            line.setStretch(0, 1)
            holder.setLayout(line)
            self._folders.addWidget(holder)

    def _add_folder(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, tr("Add a folder with models"))
        if chosen:
            self._context.shelf.add_folder(Path(chosen))


def _open(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
