"""The Models place without an engine: every state says what it is, and every button does what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.main import Program
from app.models.catalogue_tab import repository_name
from app.models.downloads.errors import Reason
from app.models.downloads.state import Status
from app.models.downloads_tab import REASONS, reason_text
from app.models.page import ModelsPage
from tests.app.models.downloads.hub_stand_in import REPOSITORY, StandIn, serving

WAIT_MS = 20_000


@pytest.fixture
def page(program: Program) -> ModelsPage:
    program.window.show_place("models")
    program.window.show()
    found = program.window.page("models")
    assert isinstance(found, ModelsPage)
    return found


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StandIn]:
    files = {"little-Q4_K_M.gguf": b"q" * 300_000, "little-Q8_0.gguf": b"e" * 500_000}
    with serving(StandIn(files)) as stand_in:
        monkeypatch.setenv("HF_ENDPOINT", stand_in.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hub-home"))
        yield stand_in


def test_an_empty_library_leads_to_the_catalogue(page: ModelsPage) -> None:
    page.library.refresh()
    assert page.library._stack.currentWidget() is page.library._state
    page.library._state._button.click()
    assert page.tabs.current == "catalogue"


def test_a_missing_drive_is_told_with_its_folder(
    page: ModelsPage, program: Program, qtbot: QtBot, tmp_path: Path
) -> None:
    shelf = program.library.shelf
    shelf.add_folder(tmp_path / "unplugged")
    qtbot.waitUntil(lambda: not shelf.scanning, timeout=WAIT_MS)
    page.library.refresh()
    assert str(tmp_path / "unplugged") in page.library._state._text.text()
    assert page.library._state._button.text() == "Look again"


def test_the_catalogue_shows_an_estimate_for_every_model_and_can_be_searched(page: ModelsPage) -> None:
    page.tabs.go("catalogue")
    cards = page.catalogue._cards
    assert len(cards) >= 15
    page.catalogue._field.setText("coder")
    shown = [model.title for model, card in cards if not card.isHidden()]
    assert shown and all("coder" in title.lower() for title in shown)
    page.catalogue._field.setText("someone/unknown-GGUF")
    assert page.catalogue._lists.currentWidget() is page.catalogue._state and page.catalogue._open.isEnabled()


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("owner/name", "owner/name"),
        (" https://hub.example/owner/Some-Model.v2-GGUF/tree/main ", "owner/Some-Model.v2-GGUF"),
        ("https://hub.example/owner/name", "owner/name"),
        ("just words", ""),
        ("", ""),
    ],
)
def test_a_repository_is_understood_as_people_paste_it(typed: str, name: str) -> None:
    assert repository_name(typed) == name


def test_from_a_repositorys_name_to_a_model_in_the_library(
    page: ModelsPage, program: Program, qtbot: QtBot, hub: StandIn
) -> None:
    """The whole way a person goes: name it, choose a variant, wait, find it among the models."""
    page.tabs.go("catalogue")
    page.catalogue._field.setText(REPOSITORY)
    page.catalogue._open.click()
    view = page.catalogue.repository
    qtbot.waitUntil(lambda: view._stack.currentWidget() is view._list, timeout=WAIT_MS)
    buttons = [one for one in view.findChildren(type(page.catalogue._open)) if one.text() == "Download"]
    assert len(buttons) == 2
    buttons[0].click()
    assert page.tabs.current == "downloads"
    downloads = program.library.downloads
    qtbot.waitUntil(lambda: downloads.downloads()[0].status is Status.DONE, timeout=WAIT_MS)
    shelf = program.library.shelf
    qtbot.waitUntil(lambda: [one.title for one in shelf.entries()] == ["little-Q4_K_M"], timeout=WAIT_MS)
    assert "complete and checked" in page.downloads._cards[downloads.downloads()[0].key]._text.text()


def test_an_unknown_repository_is_an_error_with_a_way_on(page: ModelsPage, qtbot: QtBot, hub: StandIn) -> None:
    page.tabs.go("catalogue")
    page.catalogue.open("someone/unknown")
    view = page.catalogue.repository
    qtbot.waitUntil(lambda: "no repository of this name" in view._state._text.text(), timeout=WAIT_MS)
    assert view._state._button.text() == "Ask again"


def test_leaving_the_page_drops_a_question_and_leaves_no_process(
    page: ModelsPage, program: Program, hub: StandIn
) -> None:
    page.catalogue.open(REPOSITORY)
    program.window.show_place("settings")
    assert page.catalogue.repository._worker is None


def test_every_reason_for_a_stopped_download_has_words() -> None:
    for reason in Reason:
        if reason is not Reason.NO_MODEL:
            assert reason.value in REASONS
        assert "{" not in reason_text(reason.value, "1000000")
    assert "1 MB" in reason_text("no-space", "1000000")


def test_a_file_that_is_no_catalogue_changes_nothing(page: ModelsPage, tmp_path: Path) -> None:
    page.tabs.go("catalogue")
    (tmp_path / "x.json").write_text(json.dumps({"version": 9}), encoding="utf-8")
    page.catalogue.use_file(tmp_path / "x.json")
    assert len(page.catalogue._cards) >= 15
