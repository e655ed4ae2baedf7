"""A newer release is looked for when the user asks, at the address of the build, and never fetched."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from app.main import Program
from app.releases import FEED_FILE, Release, feed_address, is_newer, is_safe, read_release
from app.version import program_version
from app.window import update_check


class Feed:
    """A releases page on this computer. Attributes: `answer` (status, body), `asked` paths, `address`."""

    def __init__(self) -> None:
        self.answer = (200, b"{}")
        self.asked: list[str] = []
        feed = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                feed.asked.append(self.path)
                status, body = feed.answer
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    return

            def log_message(self, *arguments: object) -> None:
                return

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/latest"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch, program: Program) -> Iterator[Feed]:
    made = Feed()
    monkeypatch.setattr(update_check, "feed_address", lambda: made.address)
    program.window.show()
    yield made
    made.close()


def ask(program: Program, qtbot: QtBot) -> None:
    program.window.context.actions["help.updates"].trigger()
    qtbot.waitUntil(lambda: program.window.update_check._reply is None, timeout=10_000)


def test_a_checkout_has_no_address_and_says_so(program: Program) -> None:
    assert feed_address() == "" and FEED_FILE.exists()
    program.window.show()
    program.window.context.actions["help.updates"].trigger()
    assert "without the address" in program.window._toast.label.text()
    assert program.window.update_check._network is None


def test_a_newer_release_is_told_with_its_page_and_nothing_is_fetched(
    program: Program, qtbot: QtBot, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    feed.answer = (200, json.dumps({"tag_name": "v99.1", "html_url": f"{feed.address}/page", "assets": []}).encode())
    qtbot.wait(50)
    assert feed.asked == [], "the window asked without being told to"
    ask(program, qtbot)
    notice = program.window.notices()[0]
    assert "99.1" in notice.text and program_version() in notice.text and opened == []
    notice.action.click()
    assert opened == [f"{feed.address}/page"] and feed.asked == ["/latest"]


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, json.dumps({"version": "0.0.1"}).encode(), "newest release"),
        (200, b"<html>", "names no release"),
        (200, b'{"version": "soon"}', "names no release"),
        (404, b"", "did not say"),
        (200, b"x" * (3 << 20), "did not say"),
    ],
    ids=["older", "no JSON", "no version", "missing", "endless"],
)
def test_any_other_answer_is_one_line(
    program: Program, qtbot: QtBot, feed: Feed, status: int, body: bytes, said: str
) -> None:
    feed.answer = (status, body)
    ask(program, qtbot)
    assert said in program.window._toast.label.text() and program.window.notices() == []


def test_closing_the_window_ends_the_question(program: Program, feed: Feed) -> None:
    program.window.context.actions["help.updates"].trigger()
    program.window.close()
    assert program.window.update_check._reply is None


def test_a_build_names_its_address_in_one_file(tmp_path: Path) -> None:
    file = tmp_path / "release.json"
    for written, read in (
        ('{"feed": "https://a.example/latest"}', "https://a.example/latest"),
        ('{"feed": "http://a.example/latest"}', ""),
        ('{"feed": "file:///etc/passwd"}', ""),
        ('{"feed": 3}', ""),
        ("[]", ""),
        ("{", ""),
    ):
        file.write_text(written, encoding="utf-8")
        assert feed_address(file) == read
    assert feed_address(tmp_path / "none.json") == ""


def test_versions_are_compared_as_versions_and_pages_must_be_safe() -> None:
    assert is_newer(Release("0.10.0", ""), "0.9.1") and not is_newer(Release("0.9.0", ""), "0.9.0")
    assert not is_newer(Release("1.0rc1", ""), "1.0") and not is_newer(Release("1.0", ""), "(not installed)")
    assert read_release(b'{"version": "1.0", "page": "javascript:x"}').page == ""
    assert is_safe("https://a.example") and not is_safe("https://") and not is_safe("http://[")
