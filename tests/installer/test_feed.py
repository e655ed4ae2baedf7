"""Where a packaged program asks for a newer release: what is written is what the program reads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.releases import FEED_FILE, feed_address, is_newer, read_release
from installer import feed

ADDRESS = "https://api.forge.example/repos/gannets/gannet/releases/latest"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(shutil.copy(FEED_FILE, tmp_path / "release.json"))


def test_the_program_asks_at_the_address_that_was_written_and_understands_a_forges_answer(file: Path) -> None:
    assert feed_address(file) == ""
    assert feed.main([ADDRESS], file) == 0
    assert feed_address(file) == ADDRESS
    page = "https://forge.example/gannets/gannet/releases/tag/v0.10.0"
    newest = read_release(json.dumps({"tag_name": "v0.10.0", "html_url": page, "draft": False}).encode())
    assert is_newer(newest, "0.9.1") and not is_newer(newest, "0.10.0")
    assert newest.page == page


@pytest.mark.parametrize("arguments", [[], ["http://api.forge.example/latest"], [ADDRESS, "more"], ["/latest"]])
def test_an_address_that_the_program_would_not_ask_is_refused(
    file: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    assert feed.main(arguments, file) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert file.read_bytes() == before
