"""The chat page: messages above, composer below."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.context import AppContext


class ChatPage(QWidget):
    """The Chat place."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        QVBoxLayout(self)
