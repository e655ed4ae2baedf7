"""The tree check finds what would embarrass the project in a release."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import check_tree


def complaints(path: str, text: str, neighbourhood: str = "") -> list[tuple[int, str]]:
    return list(check_tree.findings(Path(path), text, neighbourhood))


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("engine/a.py", "x = 1\n# TO" + "DO finish\n", "unfinished"),
        ("engine/a.cpp", "// FIX" + "ME\n", "unfinished"),
        ("docs/a.md", "see /ho" + "me/ada/models\n", "path of one machine"),
        ("tests/test_a.py", "@pytest.mark.sk" + "ip\n", "skipped"),
        ("engine/long.py", "x = 1\n" * 501, "at most 500"),
    ],
)
def test_a_thing_that_must_not_be_committed_is_told_with_its_line(path: str, text: str, told: str) -> None:
    found = complaints(path, text)
    assert len(found) == 1
    assert told in found[0][1]
    assert found[0][0] == len(text.splitlines())


def test_a_path_beside_the_checkout_is_told() -> None:
    assert complaints("docs/a.md", "run /build/box/other/tool\n", "/build/box/") == [(1, "a path of one machine")]


@pytest.mark.parametrize(
    "text", ["the method\n", "/usr/share/fonts\n", "models in ~/models\n", "x = 'TO" + "DO'  # tree: allow\n"]
)
def test_ordinary_text_passes(text: str) -> None:
    assert complaints("engine/a.py", text, "/build/box/") == []


def test_long_documents_pass() -> None:
    assert complaints("docs/guide.md", "line\n" * 900) == []
