"""Tabs of a page: a row of names over a stack."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QTabBar, QVBoxLayout, QWidget

from app.theme.tokens import GRID


class Tabs(QWidget):
    """Pages by name.

    Signals: `changed(name)` after another page came to the front.
    """

    changed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self._bar = QTabBar()
        self._bar.setDrawBase(False)
        self._bar.setExpanding(False)
        self._bar.setUsesScrollButtons(True)
        self._stack = QStackedWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QWidget()
        inner = QVBoxLayout(head)
        inner.setContentsMargins(GRID, 0, GRID, 0)
        inner.addWidget(self._bar)
        column.addWidget(head)
        column.addWidget(self._stack, 1)
        self._bar.currentChanged.connect(self._switched)

    def add(self, name: str, title: str, page: QWidget) -> None:
        """Append a page."""
        self._names.append(name)
        self._stack.addWidget(page)
        self._bar.addTab(title)

    def set_title(self, name: str, title: str) -> None:
        """Another text on a tab, for a count."""
        self._bar.setTabText(self._names.index(name), title)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all pages, in order."""
        return tuple(self._names)

    @property
    def current(self) -> str:
        """Name of the page in front."""
        return self._names[self._bar.currentIndex()]

    def go(self, name: str) -> None:
        """Bring a page to the front."""
        self._bar.setCurrentIndex(self._names.index(name))

    def _switched(self, at: int) -> None:
        self._stack.setCurrentIndex(at)
        if 0 <= at < len(self._names):
            self.changed.emit(self._names[at])
