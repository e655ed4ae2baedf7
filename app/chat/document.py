"""Draws Markdown blocks into a QTextDocument; what is open at the end can be replaced without touching the rest."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextLength,
    QTextOption,
    QTextTableFormat,
)

from app.chat.markdown import Code, Paragraph, Run, Table, is_right_to_left
from app.theme import Theme

INDENT = 24
GAP = 10
HEADING_SCALE = {1: 1.5, 2: 1.3, 3: 1.15, 4: 1.05, 5: 1.0, 6: 1.0}
LINE_HEIGHT = 135.0
"""Per cent of the font's own height."""

_ALIGN = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}


class DocumentWriter:
    """Appends blocks to `document`, which it sets up first."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        self._document = document
        self._theme = theme
        self._fresh = True
        self._mark: tuple[int, bool] | None = None
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)
        document.setIndentWidth(INDENT)
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)

    def write(self, blocks: Sequence[Paragraph | Table | Code], *, still_open: bool = False) -> None:
        """Append `blocks`, in place of those that were written with `still_open` before."""
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        self._take_back(cursor)
        if still_open:
            self._mark = (cursor.position(), self._fresh)
        for block in blocks:
            self._block(cursor, block)
        cursor.endEditBlock()

    def append_plain(self, text: str, token: str = "text") -> None:
        """Append text as it is to the last paragraph; its line breaks begin new ones."""
        cursor = QTextCursor(self._document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        if self._fresh:
            cursor.setBlockFormat(_spaced(QTextBlockFormat(), 0))
            self._fresh = False
        cursor.insertText(text, self._characters(Run(text), token))
        cursor.endEditBlock()

    def _take_back(self, cursor: QTextCursor) -> None:
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if self._mark is None:
            return
        position, self._fresh = self._mark
        self._mark = None
        cursor.setPosition(position)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()

    def _block(self, cursor: QTextCursor, block: Paragraph | Table | Code) -> None:
        if isinstance(block, Paragraph):
            self._paragraph(cursor, block)
        elif isinstance(block, Table):
            self._table(cursor, block)

    def _begin(self, cursor: QTextCursor, form: QTextBlockFormat) -> None:
        if self._fresh:
            cursor.setBlockFormat(form)
            cursor.setBlockCharFormat(QTextCharFormat())
        else:
            cursor.insertBlock(form, QTextCharFormat())
        self._fresh = False

    def _paragraph(self, cursor: QTextCursor, block: Paragraph) -> None:
        first = cursor.position() == 0
        self._begin(cursor, self._paragraph_format(block, first))
        if block.marker:
            cursor.insertText(f"{block.marker}\t", self._characters(Run(""), "text_soft"))
        for run in block.runs:
            form = self._characters(run, "text_soft" if block.quote else "text", heading=block.heading)
            cursor.insertText(run.text.replace("\n", "\u2028"), form)

    def _paragraph_format(self, block: Paragraph, first: bool) -> QTextBlockFormat:
        above = 0 if first else (GAP // 3 if block.tight else GAP)
        form = _spaced(QTextBlockFormat(), above + (GAP // 2 if block.heading and not first else 0))
        right_to_left = is_right_to_left(block.plain)
        form.setLayoutDirection(Qt.LayoutDirection.RightToLeft if right_to_left else Qt.LayoutDirection.LeftToRight)
        form.setIndent(block.depth + block.quote)
        if block.marker:
            form.setTextIndent(-INDENT + 2)
            form.setTabPositions([QTextOption.Tab(INDENT - 2, QTextOption.TabType.LeftTab)])
        if block.heading:
            form.setHeadingLevel(block.heading)
        if block.rule:
            full = QTextLength(QTextLength.Type.PercentageLength, 100)
            form.setProperty(QTextBlockFormat.Property.BlockTrailingHorizontalRulerWidth, full)
        return form

    def _table(self, cursor: QTextCursor, block: Table) -> None:
        if self._fresh:
            cursor.setBlockFormat(_thin())
        table = cursor.insertTable(len(block.rows), max(map(len, block.rows)), self._table_format())
        for row, cells in enumerate(block.rows):
            for column, runs in enumerate(cells):
                inside = table.cellAt(row, column).firstCursorPosition()
                form = QTextBlockFormat()
                form.setAlignment(_ALIGN.get(block.align[column], Qt.AlignmentFlag.AlignLeft))
                inside.setBlockFormat(form)
                for run in runs:
                    inside.insertText(run.text, self._characters(run, strong=row == 0))
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.setBlockFormat(_thin())
        self._fresh = False

    def _table_format(self) -> QTextTableFormat:
        form = QTextTableFormat()
        form.setHeaderRowCount(1)
        form.setCellPadding(6)
        form.setCellSpacing(0)
        form.setBorder(1)
        form.setBorderCollapse(True)
        form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        form.setBorderBrush(self._theme.color("line"))
        form.setTopMargin(GAP)
        return form

    def _characters(self, run: Run, token: str = "text", heading: int = 0, strong: bool = False) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setForeground(self._theme.color(token))
        if run.bold or heading or strong:
            form.setFontWeight(QFont.Weight.DemiBold if heading or strong else QFont.Weight.Bold)
        form.setFontItalic(run.italic)
        form.setFontStrikeOut(run.strike)
        if run.code:
            form.setFontFamilies(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families())
            form.setBackground(self._theme.color("bubble"))
        if run.link:
            form.setAnchor(True)
            form.setAnchorHref(run.link)
            form.setForeground(self._theme.color("link"))
            form.setFontUnderline(True)
        if heading:
            form.setFontPointSize(self._document.defaultFont().pointSizeF() * HEADING_SCALE[heading])
        return form


def _spaced(form: QTextBlockFormat, above: float) -> QTextBlockFormat:
    form.setTopMargin(above)
    form.setLineHeight(LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    return form


def _thin() -> QTextBlockFormat:
    """The empty paragraph that Qt wants before and after a table, almost invisible."""
    form = QTextBlockFormat()
    form.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return form
