"""What the window says without getting in the way: lasting notices at the top, passing toasts at the bottom."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.i18n import tr
from app.theme import Theme

TOAST_MS = 8000
DETAIL_LINES = 10


class Notice(QFrame):
    """What happened, why, and one button that helps; "Details" has the log lines and a copy button.

    `kind` is "bad", "warn" or "good": colour and icon.
    """

    def __init__(
        self,
        theme: Theme,
        kind: str,
        text: str,
        button: str = "",
        slot: Callable[[], object] | None = None,
        details: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", f"notice-{kind}")
        self.text = text
        self._details = details
        self._log: QPlainTextEdit | None = None
        icon = QLabel(self)
        name = {"bad": "error", "warn": "warning", "good": "check"}[kind]
        theme.tint(icon, name, kind)
        words = QLabel(text, self)
        words.setWordWrap(True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setAccessibleName(text)
        row = QHBoxLayout()
        row.addWidget(icon)
        row.addWidget(words, 1)
        if details:
            self._add_button(row, tr("Details"), self._toggle_details)
        if button and slot is not None:
            self.action = self._add_button(row, button, slot)
            self.action.setProperty("kind", "primary")
        close = QToolButton(self)
        close.setProperty("kind", "quiet")
        theme.tint(close, "close")
        close.setAccessibleName(tr("Close"))
        close.setToolTip(tr("Close"))
        close.clicked.connect(self.dismiss)
        row.addWidget(close)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 8, 8, 8)
        self._column.addLayout(row)

    def dismiss(self) -> None:
        """Take it away."""
        self.hide()
        self.deleteLater()

    def _add_button(self, row: QHBoxLayout, text: str, slot: Callable[[], object]) -> QPushButton:
        button = QPushButton(text, self)
        button.clicked.connect(lambda: slot())
        row.addWidget(button)
        return button

    def _toggle_details(self) -> None:
        if self._log is None:
            self._log = QPlainTextEdit(self._details, self)
            self._log.setReadOnly(True)
            self._log.setAccessibleName(tr("Details"))
            self._log.setFixedHeight(DETAIL_LINES * self.fontMetrics().lineSpacing())
            self._column.addWidget(self._log)
            self._log.verticalScrollBar().setValue(self._log.verticalScrollBar().maximum())
            copy = QPushButton(tr("Copy"), self)
            copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(f"{self.text}\n\n{self._details}"))
            self._column.addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)
        else:
            self._log.setVisible(not self._log.isVisible())


class Toast(QFrame):
    """A line at the bottom of the window for some seconds, with one button at most."""

    def __init__(self, parent: QWidget, place: Callable[[], QRect]) -> None:
        """`place` gives the rectangle of `parent` at whose bottom the line appears."""
        super().__init__(parent)
        self._place_within = place
        self.setObjectName("toast")
        self._slot: Callable[[], object] | None = None
        self.label = QLabel(self)
        self.button = QPushButton(self)
        self.button.clicked.connect(self._pressed)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 8, 8)
        row.addWidget(self.label)
        row.addWidget(self.button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(TOAST_MS)
        self._timer.timeout.connect(self.hide)
        parent.installEventFilter(self)
        self.hide()

    def say(self, text: str, button: str = "", slot: Callable[[], object] | None = None) -> None:
        """Show a line in place of the one before."""
        self._slot = slot
        self.label.setText(text)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setAccessibleName(text)
        self._place()
        self.show()
        self.raise_()
        self._timer.start()

    def _pressed(self) -> None:
        self.hide()
        self._timer.stop()
        if self._slot is not None:
            self._slot()

    def _place(self) -> None:
        within = self._place_within()
        self.label.setWordWrap(False)
        width = min(self.sizeHint().width(), within.width() - 32)
        self.label.setWordWrap(self.sizeHint().width() > width)
        height = self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()
        left = within.left() + (within.width() - width) // 2
        self.setGeometry(left, within.bottom() - height - 12, width, height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stays in the middle when the window changes."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False
