"""The message column. Only messages near what is on the screen have a widget, so length costs nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.chat.message_widget import MessageWidget

COLUMN_CHARACTERS = 72
MARGIN = 24
KEEP_SCREENS = 1.0
"""Widgets are made this many screens beyond what is visible, and dropped at three times that."""


@dataclass
class _Item:
    key: int
    characters: int
    height: int = 0
    measured_width: int = 0
    """Width at which `height` was measured; 0 while it is a guess."""
    widget: MessageWidget | None = None


class MessageList(QAbstractScrollArea):
    """Shows messages by key (their ids), made by `maker` when they come near the screen."""

    def __init__(self, maker: Callable[[int], MessageWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._maker = maker
        self._items: list[_Item] = []
        self._index: dict[int, int] = {}
        self._tops: list[int] = [0]
        self._follow = True
        self._arranging = False
        self._keep: set[int] = set()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.verticalScrollBar().setSingleStep(48)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._arrange)

    # -- contents ----------------------------------------------------------------------

    def show_messages(self, entries: Sequence[tuple[int, int]]) -> None:
        """Show these (key, number of characters) and go to the end; widgets of keys that stay are kept."""
        kept = {item.key: item for item in self._items}
        self._items = [kept.pop(key) if key in kept else _Item(key, characters) for key, characters in entries]
        for item in kept.values():
            self._drop(item)
        self._index = {item.key: number for number, item in enumerate(self._items)}
        self._follow = True
        self._measure_from(0)
        self._arrange()

    def rebuild(self, key: int) -> None:
        """The message changed in a way its widget does not know: make it again."""
        item = self._items[self._index[key]]
        self._drop(item)
        item.measured_width = 0
        self._arrange()

    def rebuild_all(self) -> None:
        """Make every widget again (another theme or font)."""
        for item in self._items:
            self._drop(item)
            item.measured_width = 0
        self._measure_from(0)
        self._arrange()

    def widget(self, key: int) -> MessageWidget | None:
        """The widget of a message, None while it is far from the screen."""
        number = self._index.get(key)
        return None if number is None else self._items[number].widget

    def keep(self, key: int, kept: bool) -> None:
        """Hold a widget even when it is far away (the answer that streams)."""
        (self._keep.add if kept else self._keep.discard)(key)

    @property
    def keys(self) -> list[int]:
        """Keys shown, first to last."""
        return [item.key for item in self._items]

    def visible_keys(self) -> list[int]:
        """Keys of the messages that are at least partly on the screen."""
        top, bottom = self.verticalScrollBar().value(), self.verticalScrollBar().value() + self.viewport().height()
        numbers = (n for n in self._living() if self._tops[n] < bottom and self._tops[n + 1] > top)
        return [self._items[number].key for number in numbers]

    def alive(self) -> int:
        """How many widgets there are."""
        return sum(1 for item in self._items if item.widget is not None)

    # -- position ----------------------------------------------------------------------

    def scroll_to_end(self) -> None:
        """Go to the end and stay there while it grows."""
        self._follow = True
        self._arrange()

    def show_message(self, key: int) -> MessageWidget | None:
        """Scroll a message into view and give it the keyboard."""
        if key not in self._index:
            return None
        self._follow = False
        self.verticalScrollBar().setValue(max(0, self._tops[self._index[key]] - MARGIN))
        self._arrange()
        widget = self.widget(key)
        if widget is not None:
            widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return widget

    def step(self, by: int) -> None:
        """Give the keyboard to the message `by` places after the one that has it (or the last one)."""
        focused = next((n for n, item in enumerate(self._items) if item.widget and _holds_focus(item.widget)), None)
        target = len(self._items) - 1 if focused is None else focused + by
        if 0 <= target < len(self._items):
            self.show_message(self._items[target].key)

    # -- layout ------------------------------------------------------------------------

    def column_width(self) -> int:
        """Width of the message column in pixels."""
        return max(200, min(self.viewport().width() - 2 * MARGIN, self.column_limit()))

    def column_limit(self) -> int:
        """Width of the message column where there is room for all of it."""
        return self.fontMetrics().averageCharWidth() * COLUMN_CHARACTERS + 2 * MARGIN

    def _guess(self, item: _Item) -> int:
        per_line = max(20, self.column_width() // max(1, self.fontMetrics().averageCharWidth()))
        return 72 + int((item.characters / per_line + 1) * self.fontMetrics().lineSpacing() * 1.4)

    def _measure_from(self, first: int) -> None:
        """Tops of all items from `first` on; the last entry is the total height."""
        width = self.column_width()
        del self._tops[first + 1 :]
        top = self._tops[first] if first else MARGIN
        self._tops[first:] = [top]
        for item in self._items[first:]:
            if item.measured_width != width and item.widget is None:
                item.height = self._guess(item)
            top += item.height
            self._tops.append(top)

    def _arrange(self) -> None:
        """Make what is near, measure it, put it in place, drop what is far. Keeps the reader's place."""
        if self._arranging or not self.isVisible():
            return
        self._arranging = True
        bar, screen = self.verticalScrollBar(), self.viewport().height()
        anchor, offset = self._anchor(bar.value())
        for _ in range(4):
            if not self._realise(bar.value() if not self._follow else self._end() - screen, screen):
                break
            self._set_range(anchor, offset)
        self._set_range(anchor, offset)
        self._place(bar.value())
        self._drop_far(bar.value(), screen)
        self._arranging = False

    def _end(self) -> int:
        return self._tops[-1] + MARGIN

    def _anchor(self, value: int) -> tuple[int, int]:
        first = max(0, min(len(self._items) - 1, bisect_right(self._tops, value) - 1))
        return first, value - self._tops[first] if self._items else 0

    def _set_range(self, anchor: int, offset: int) -> None:
        bar, screen = self.verticalScrollBar(), self.viewport().height()
        bar.blockSignals(True)
        bar.setPageStep(screen)
        bar.setRange(0, max(0, self._end() - screen))
        if self._follow:
            bar.setValue(bar.maximum())
        elif self._items:
            bar.setValue(self._tops[min(anchor, len(self._items) - 1)] + offset)
        bar.blockSignals(False)

    def _realise(self, value: int, screen: int) -> bool:
        """Make and measure the items near; True when a height changed."""
        width, margin = self.column_width(), int(screen * KEEP_SCREENS)
        first = max(0, bisect_right(self._tops, value - margin) - 1)
        lowest: int | None = None
        for number in range(first, len(self._items)):
            if self._tops[number] > value + screen + margin:
                break
            item = self._items[number]
            if item.widget is None:
                self._make(item)
            if self._fit(item, width) and lowest is None:
                lowest = number
        if lowest is not None:
            self._measure_from(lowest)
        return lowest is not None

    def _make(self, item: _Item) -> None:
        item.widget = widget = self._maker(item.key)
        item.measured_width = 0
        widget.setParent(self.viewport())
        widget.height_changed.connect(self._grew)
        widget.installEventFilter(self)

    def _fit(self, item: _Item, width: int) -> bool:
        widget = item.widget
        assert widget is not None
        if widget.width() != width:
            widget.resize(width, max(item.height, 1))
        height = widget.height_at(width)
        item.measured_width = width
        if height == item.height and widget.height() == height:
            return False
        changed = height != item.height
        item.height = height
        widget.resize(width, height)
        return changed

    def _place(self, value: int) -> None:
        left = (self.width() - self.column_width()) // 2
        for number in self._living():
            widget = self._items[number].widget
            assert widget is not None
            widget.move(left, self._tops[number] - value)
            widget.show()

    def _drop_far(self, value: int, screen: int) -> None:
        margin = int(screen * KEEP_SCREENS * 3)
        for number in self._living():
            item = self._items[number]
            far = self._tops[number + 1] < value - margin or self._tops[number] > value + screen + margin
            if far and item.key not in self._keep and item.widget is not None and not _holds_focus(item.widget):
                self._drop(item)

    def _living(self) -> list[int]:
        return [number for number, item in enumerate(self._items) if item.widget is not None]

    def _drop(self, item: _Item) -> None:
        widget, item.widget = item.widget, None
        if widget is not None:
            widget.hide()
            widget.deleteLater()

    def _grew(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _scrolled(self, value: int) -> None:
        self._follow = value >= self.verticalScrollBar().maximum() - 4
        self._arrange()

    # -- events ------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width is another height for everything."""
        super().resizeEvent(event)
        self._measure_from(0)
        self._arrange()

    def showEvent(self, event: QEvent) -> None:
        """Nothing was made while it was hidden."""
        super().showEvent(event)  # type: ignore[arg-type]
        self._measure_from(0)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A message that asks for a new layout gets one soon."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._grew()
        return False

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll."""
        self.verticalScrollBar().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Page keys, Home and End scroll; the arrows go from message to message."""
        bar = self.verticalScrollBar()
        steps = {Qt.Key.Key_PageUp: -bar.pageStep(), Qt.Key.Key_PageDown: bar.pageStep()}
        key = Qt.Key(event.key())
        if key in steps:
            bar.setValue(bar.value() + steps[key])
        elif key == Qt.Key.Key_Home:
            bar.setValue(0)
        elif key == Qt.Key.Key_End:
            self.scroll_to_end()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step(-1 if key == Qt.Key.Key_Up else 1)
        else:
            super().keyPressEvent(event)


def _holds_focus(widget: QWidget) -> bool:
    focused = widget.window().focusWidget()
    return focused is not None and (focused is widget or widget.isAncestorOf(focused))
