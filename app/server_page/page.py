"""The Server place: whether other programs may use the engine, how they reach it, and who does."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QFrame, QLineEdit, QPlainTextEdit, QSpinBox, QWidget

from app.context import AppContext
from app.i18n import tr, trn
from app.page_parts.figures_as_words import number_text
from app.page_parts.flow import Flow
from app.page_parts.labels import button, card, fixed_font, icon_button, label, padded, row, set_role
from app.page_parts.page_frame import Column, PageFrame
from app.server_page.serving import ServerSettings, new_key, serving_from
from app.server_page.snippets import SNIPPETS
from app.theme.tokens import GRID

POLL_MS = 2000
SHOWN_REQUESTS = 12
SNIPPET_LINES = 9


class ServerPage(PageFrame):
    """The Server place."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(tr("Server"))
        self._context = context
        self._visible = False
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self._poll)
        self._make_widgets()
        column = Column()
        for part in (self._switch_card(), self._key_card(), self._clients_card(), self._snippet_card()):
            column.body.addWidget(part)
        column.body.addStretch(1)
        self.column.addWidget(column, 1)
        context.client.state_changed.connect(self._state_changed)
        context.client.door.changed.connect(self._state_changed)
        self._refresh()

    @property
    def settings(self) -> ServerSettings:
        """As stored."""
        return ServerSettings.from_preferences(self._context.preferences["server"])

    def shown(self) -> None:
        """The page came to the front."""
        self._visible = True
        self._refresh()

    def hidden(self) -> None:
        """The page left: the key is covered again, nothing is asked any more."""
        self._visible = False
        self._timer.stop()
        self._key.setEchoMode(QLineEdit.EchoMode.Password)

    def apply(self, *, on: bool | None = None, key: str = "") -> None:
        """Store what the form says (`on`, `key` override it) and open or close the engine's door; the model stays."""
        known = self.settings
        wanted = ServerSettings(
            on=self._on.isChecked() if on is None else on,
            port=self._port.value(),
            everywhere=self._everywhere.isChecked(),
            key=key or known.key or new_key(),
        )
        if wanted == known:
            return
        self._context.preferences["server"] = wanted.to_preferences()
        self._context.client.door.want(serving_from(wanted.to_preferences()))
        self._refresh()

    def renew_key(self) -> None:
        """A new key; programs that have the old one are locked out."""
        self.apply(key=new_key())
        self._context.frame.toast(tr("There is a new key. Programs that have the old one no longer get in."))

    def _refresh(self) -> None:
        settings = self.settings
        for widget, value in ((self._on, settings.on), (self._everywhere, settings.everywhere)):
            widget.blockSignals(True)
            widget.setChecked(value)
            widget.blockSignals(False)
        self._port.blockSignals(True)
        self._port.setValue(settings.port)
        self._port.blockSignals(False)
        self._key.setText(settings.key)
        self._key_card_frame.setVisible(bool(settings.key))
        self._clients_frame.setVisible(settings.on)
        self._snippet_frame.setVisible(bool(settings.key))
        self._say_state(settings)
        self._show_snippet()
        if self._visible and settings.on:
            self._timer.start()
            self._poll()
        else:
            self._timer.stop()

    def _say_state(self, settings: ServerSettings) -> None:
        door = self._context.client.door
        if not settings.on:
            role, text = "soft", tr("Off: only this window can use the engine.")
        elif door.url:
            role, text = "good", tr("On: programs on this computer use {address}").format(address=settings.address)
        elif door.problem:
            role, text = "bad", tr("Nobody gets in: {why}. Choose another port.").format(why=door.problem)
        elif self._context.client.state.listening:
            role, text = "soft", tr("Opening…")
        else:
            role, text = "warn", tr("The engine is not running. Other programs get in as soon as it does.")
        self._status.setText(text)
        set_role(self._status, role)
        self._warning.setVisible(settings.everywhere and settings.on)

    def _state_changed(self, *_: object) -> None:
        if self._visible:
            self._say_state(self.settings)
            self._show_snippet()

    def _poll(self) -> None:
        if not self._context.client.state.listening:
            return
        call = self._context.client.request("GET", "/engine/requests")
        call.done.connect(self._seen)

    def _seen(self, content: Any) -> None:
        if not isinstance(content, dict):
            return
        clients, requests = content.get("clients", []), content.get("requests", [])
        lines = [
            tr("{client} from {address}, {requests}").format(
                client=one["client"], address=one["address"],
                requests=trn("{n} request", "{n} requests", int(one["requests"])),
            )
            for one in clients
        ]  # fmt: skip
        self._clients.setText(
            "\n".join(lines) or tr("Nobody at the moment. Programs appear here when they ask something.")
        )
        shown = requests[-SHOWN_REQUESTS:][::-1]
        self._requests.setText("\n".join(_request_line(one) for one in shown))
        self._requests.setVisible(bool(shown))
        self._requests_title.setVisible(bool(shown))

    def _show_snippet(self, *_: object) -> None:
        settings = self.settings
        chosen = SNIPPETS[max(0, self._snippet_choice.currentIndex())]
        wanted = self._context.session.models.title(self._context.session.wanted)
        model = self._context.client.model or wanted or "gannet"  # as the engine calls it: clients find it by that
        self._snippet.setPlainText(chosen.make(f"http://127.0.0.1:{settings.port}", settings.key, model))
        self._snippet_where.setText(tr(chosen.where))

    def _toggle_key(self) -> None:
        hidden = self._key.echoMode() == QLineEdit.EchoMode.Password
        self._key.setEchoMode(QLineEdit.EchoMode.Normal if hidden else QLineEdit.EchoMode.Password)
        self._show_key.setText(tr("Hide") if hidden else tr("Show"))

    def _copy(self, text: str, what: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._context.frame.toast(tr("Copied: {what}").format(what=what))

    def _make_widgets(self) -> None:
        self._on = QCheckBox(tr("Let other programs use the engine"))
        self._port = padded(QSpinBox())
        self._port.setRange(1024, 65535)
        self._port.setAccessibleName(tr("Port"))
        self._port.setKeyboardTracking(False)
        self._everywhere = QCheckBox(tr("Other computers in this network too"))
        self._status = label("", "soft", wrap=True, select=True)
        self._warning = label(
            tr("Anybody in this network who has the key can use the engine; what they send is not encrypted."),
            "warn",
            wrap=True,
        )
        self._key = QLineEdit()
        self._key.setReadOnly(True)
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._key.setAccessibleName(tr("Key"))
        self._show_key = button(tr("Show"), self._toggle_key)
        self._clients = label("", "", wrap=True)
        self._requests_title = label(tr("Latest requests"), "heading")
        self._requests = label("", "soft", select=True)
        self._requests.setFont(fixed_font())
        self._snippet_choice = QComboBox()
        self._snippet_choice.addItems([tr(one.title) for one in SNIPPETS])
        self._snippet_choice.setAccessibleName(tr("Program"))
        self._snippet = QPlainTextEdit()
        self._snippet.setReadOnly(True)
        self._snippet.setFont(fixed_font())
        self._snippet.setFixedHeight(self._snippet.fontMetrics().lineSpacing() * SNIPPET_LINES + 3 * GRID)
        self._snippet.setAccessibleName(tr("Settings to copy"))
        self._snippet_where = label("", "soft", wrap=True)
        self._on.toggled.connect(lambda on: self.apply(on=on))
        self._everywhere.toggled.connect(lambda _: self.apply())
        self._port.valueChanged.connect(lambda _: self.apply())
        self._snippet_choice.activated.connect(self._show_snippet)

    def _switch_card(self) -> QFrame:
        frame, body = card()
        body.setSpacing(GRID)
        body.addWidget(self._on)
        body.addWidget(self._status)
        line = Flow(2 * GRID)
        for part in (label(tr("Port"), "soft"), self._port, self._everywhere):
            line.addWidget(part)
        body.addLayout(line)
        body.addWidget(self._warning)
        return frame

    def _key_card(self) -> QWidget:
        frame, body = card()
        self._key_card_frame = frame
        body.setSpacing(GRID)
        body.addWidget(label(tr("Key"), "heading"))
        copy = icon_button(
            self._context.theme, "copy", tr("Copy the key"), lambda: self._copy(self._key.text(), tr("the key"))
        )
        renew = button(tr("New key…"), self.renew_key)
        body.addLayout(row(self._key, self._show_key, copy, renew))
        body.addWidget(
            label(tr("Every request needs it, as a bearer token. Keep it like a password."), "soft", wrap=True)
        )
        return frame

    def _clients_card(self) -> QWidget:
        frame, body = card()
        self._clients_frame = frame
        body.setSpacing(GRID)
        for part in (label(tr("Who is connected"), "heading"), self._clients, self._requests_title, self._requests):
            body.addWidget(part)
        return frame

    def _snippet_card(self) -> QWidget:
        frame, body = card()
        self._snippet_frame = frame
        body.setSpacing(GRID)
        copy = icon_button(
            self._context.theme, "copy", tr("Copy these settings"),
            lambda: self._copy(self._snippet.toPlainText(), tr("the settings")),
        )  # fmt: skip
        body.addLayout(row(label(tr("Settings for"), "heading"), self._snippet_choice, 1, copy))
        body.addWidget(self._snippet)
        body.addWidget(self._snippet_where)
        return frame


def _request_line(one: dict[str, Any]) -> str:
    moment = time.strftime("%H:%M:%S", time.localtime(float(one["started"])))
    seconds = number_text(float(one["seconds"]), 2)
    status = str(one["status"]) if one["status"] else tr("runs")
    return f"{moment}  {status:>4}  {seconds:>6} s  {one['method']} {one['path']}  {one['client']}"
