"""About the program: version, what it sends (nothing), diagnostics, licences."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.context import AppContext
from app.i18n import tr
from app.page_parts.labels import button, card, label, row
from app.page_parts.page_frame import Column
from app.theme.tokens import GRID
from app.version import program_version


class AboutTab(QWidget):
    """Plain words about the program, and the buttons that go with them."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        column = Column()
        frame, body = card()
        body.setSpacing(GRID)
        body.addWidget(label(tr("Gannet {version}").format(version=program_version()), "heading", select=True))
        body.addWidget(
            label(
                tr(
                    "Runs mixture-of-experts models that are larger than memory: the weights every token needs stay in "
                    "memory, the others are read from the SSD just before they are needed."
                ),
                wrap=True,
            )
        )
        body.addWidget(
            label(tr("Private: nothing leaves this computer but the downloads you ask for."), "soft", wrap=True)
        )
        trigger = context.actions
        body.addLayout(
            row(
                button(tr("Keyboard shortcuts"), lambda: trigger["help.shortcuts"].trigger()),
                button(tr("About"), lambda: trigger["help.about"].trigger()),
                1,
            )
        )
        column.body.addWidget(frame)
        frame, body = card()
        body.setSpacing(GRID)
        body.addWidget(label(tr("When something goes wrong"), "heading"))
        body.addWidget(
            label(
                tr(
                    "A diagnostics file holds logs, settings and facts about this computer, and nothing of your "
                    "conversations. You decide whom to give it."
                ),
                "soft",
                wrap=True,
            )
        )
        body.addLayout(row(button(tr("Save diagnostics…"), lambda: trigger["help.diagnostics"].trigger()), 1))
        column.body.addWidget(frame)
        column.body.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(column)

    def refresh(self) -> None:
        """Nothing here changes while the program runs."""
