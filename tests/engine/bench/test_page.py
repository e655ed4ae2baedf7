"""The bench writes into a page that people write in too: their text must survive."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bench.page import with_section, write
from engine.errors import GannetError


def test_the_section_is_replaced_and_the_text_around_it_stays() -> None:
    page = with_section("# Speed\n\nOur words.\n", "first")
    page = page + "\nMore words.\n"
    again = with_section(page, "second")
    assert again.startswith("# Speed\n\nOur words.\n")
    assert again.endswith("\nMore words.\n")
    assert "second" in again and "first" not in again
    assert with_section(again, "second") == again


def test_a_page_is_made_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.md"
    write(path, "tables")
    assert path.read_text().startswith("# ") and "tables" in path.read_text()
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(GannetError, match="cannot be written"):
        write(tmp_path / "none" / "page.md", "tables")
