"""The words of an answer: prose and code blocks below each other, grown piece by piece."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.chat.block_stream import BlockStream, Update
from app.chat.code_block import CodeBlock
from app.chat.markdown import Block, Code
from app.chat.prose import Prose
from app.theme import Theme

FRAME_MS = 33
RESTRAINT = 4
"""Between two drawings passes at least this many times what a drawing took, so that typing never waits long."""


class AnswerBody(QWidget):
    """Markdown that may still grow.

    Signals: `height_changed` after it grew.
    """

    height_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._stream = BlockStream()
        self._pending: list[str] = []
        self._widgets: list[Prose | CodeBlock] = []
        self._settled = 0  # widgets before this index hold final blocks (the last of them may end with open prose)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(10)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.flush)

    def set_text(self, text: str) -> None:
        """Show a complete text at once."""
        began, ended = self._stream.feed(text), self._stream.finish()
        self._take(Update(final=began.final + ended.final))

    def append(self, piece: str) -> None:
        """Take a piece; it shows within a frame or two."""
        self._pending.append(piece)
        if not self._timer.isActive():
            self._timer.start(FRAME_MS)

    def flush(self) -> None:
        """Draw what was received."""
        if not self._pending:
            return
        began = time.perf_counter()
        text = "".join(self._pending)
        self._pending.clear()
        self._take(self._stream.feed(text))
        spent = int(1000 * (time.perf_counter() - began))
        self._timer.start(max(FRAME_MS, RESTRAINT * spent))

    def finish(self) -> None:
        """The text is complete."""
        self.flush()
        self._timer.stop()
        self._take(self._stream.finish())
        self._stream = BlockStream()

    def parts(self) -> list[Prose | CodeBlock]:
        """Prose and code blocks, first to last."""
        return list(self._widgets)

    def plain_text(self) -> str:
        """The words on the screen, without their styles."""
        return "\n".join(w.code() if isinstance(w, CodeBlock) else w.toPlainText() for w in self._widgets)

    def text_color(self) -> QColor:
        """Colour of the first letter."""
        first = next(widget for widget in self._widgets if isinstance(widget, Prose))
        cursor = QTextCursor(first.document())
        cursor.movePosition(QTextCursor.MoveOperation.Right)
        return cursor.charFormat().foreground().color()

    def _take(self, update: Update) -> None:
        if update.appended:
            last = self._widgets[-1] if self._widgets else None
            if isinstance(last, CodeBlock):
                last.append_code(update.appended)
        elif update.final or update.open:
            self._draw(update.final, update.open)
        self.height_changed.emit()

    def _draw(self, final: Sequence[Block], still_open: Sequence[Block]) -> None:
        """Draw `final` where the open blocks were, then `still_open`; widgets that fit are used again."""
        at = self._settled
        if at and isinstance(last := self._widgets[at - 1], Prose):
            last.write((), still_open=True)
        for group in _grouped(final):
            at = self._draw_group(group, at, is_open=False)
        self._settled = at
        for group in _grouped(still_open):
            at = self._draw_group(group, at, is_open=True)
        while len(self._widgets) > at:
            self._remove(self._widgets.pop())

    def _draw_group(self, group: list[Block], at: int, *, is_open: bool) -> int:
        """Draw a code block or neighbouring prose into widget `at` (prose: into the one before, if it can); returns the
        index after it."""
        first = group[0]
        if isinstance(first, Code):
            self._code_widget(at, first).show_code(first.text, first.closed and not is_open)
            return at + 1
        if not (at and isinstance(self._widgets[at - 1], Prose)):
            self._make_prose(at)
            at += 1
        widget = self._widgets[at - 1]
        assert isinstance(widget, Prose)
        widget.write(group, still_open=is_open)
        return at

    def _make_prose(self, at: int) -> None:
        if at < len(self._widgets) and isinstance(self._widgets[at], Prose):
            return
        self._insert(at, Prose(self._theme, self))

    def _code_widget(self, at: int, block: Code) -> CodeBlock:
        widget = self._widgets[at] if at < len(self._widgets) else None
        if not isinstance(widget, CodeBlock) or not widget.is_for(block.language, block.depth):
            widget = CodeBlock(self._theme, block.language, block.depth, self)
            self._insert(at, widget)
        return widget

    def _insert(self, at: int, widget: Prose | CodeBlock) -> None:
        while len(self._widgets) > at:
            self._remove(self._widgets.pop())
        widget.height_changed.connect(self.updateGeometry)
        self._widgets.append(widget)
        self._column.addWidget(widget)

    def _remove(self, widget: Prose | CodeBlock) -> None:
        self._column.removeWidget(widget)
        widget.hide()
        widget.deleteLater()


def _grouped(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Code blocks one by one, everything else together with its neighbours."""
    group: list[Block] = []
    for block in blocks:
        if isinstance(block, Code):
            if group:
                yield group
            yield [block]
            group = []
        else:
            group.append(block)
    if group:
        yield group
