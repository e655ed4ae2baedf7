"""What the Help menu does: shortcuts, diagnostics, about."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFileDialog,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.actions import ACTIONS, MENUS, plain_text
from app.context import AppContext
from app.diagnostics import write_bundle
from app.i18n import tr
from app.theme.icons import application_icon
from app.version import program_version


class HelpActions(QObject):
    """Connects the actions whose names begin with "help."."""

    def __init__(self, context: AppContext, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        context.actions.connect("help.shortcuts", self.show_shortcuts)
        context.actions.connect("help.diagnostics", self._diagnostics)
        context.actions.connect("help.about", self.show_about)

    def show_shortcuts(self) -> QDialog:
        """Every action and its shortcut."""
        dialog = self._dialog(tr("Keyboard shortcuts"))
        rows = [spec for menu, _ in MENUS for spec in ACTIONS if spec.menu == menu]
        table = QTableWidget(len(rows), 2, dialog)
        table.setHorizontalHeaderLabels([tr("What"), tr("Keys")])
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.verticalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        for row, spec in enumerate(rows):
            keys = QKeySequence(spec.shortcut).toString(QKeySequence.SequenceFormat.NativeText)
            table.setItem(row, 0, QTableWidgetItem(plain_text(tr(spec.text))))
            table.setItem(row, 1, QTableWidgetItem(keys))
        dialog.layout().addWidget(table)  # type: ignore[union-attr]
        dialog.resize(480, 560)
        dialog.show()
        return dialog

    def show_about(self) -> QDialog:
        """Name, version and what it is."""
        dialog = self._dialog(tr("About Gannet"))
        icon = QLabel(dialog)
        icon.setPixmap(application_icon().pixmap(64, 64))
        icon.setAlignment(Qt.AlignmentFlag.AlignCenter)
        title = QLabel(f"Gannet {program_version()}", dialog)
        title.setProperty("role", "title")
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        text = QLabel(
            tr(
                "Runs mixture-of-experts language models larger than this computer's memory, by reading experts from"
                " the SSD just before they are needed. Everything stays on this computer; nothing is sent anywhere."
            ),
            dialog,
        )
        text.setWordWrap(True)
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        for widget in (icon, title, text):
            dialog.layout().addWidget(widget)  # type: ignore[union-attr]
        dialog.setFixedWidth(380)
        dialog.show()
        return dialog

    def _dialog(self, title: str) -> QDialog:
        dialog = QDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(title)
        QVBoxLayout(dialog)
        return dialog

    def _diagnostics(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self._window, tr("Save diagnostics"), "gannet-diagnostics.zip")
        if not name:
            return
        try:
            write_bundle(Path(name), self._context)
        except OSError as problem:
            self._context.frame.toast(tr("Could not write {name}: {why}").format(name=name, why=problem.strerror))
        else:
            self._context.frame.toast(tr("Saved as {name}. It contains no chats.").format(name=Path(name).name))
