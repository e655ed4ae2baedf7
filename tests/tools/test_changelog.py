"""The notes of a release come from the changelog, and only for the version that is released."""

from __future__ import annotations

import pytest

from tools import changelog

TEXT = """# Changes

## [Unreleased]

## [0.2.0] - 2027-01-02

### Added
- Two.

## [0.1.0] - 2026-12-01

### Added
- One.
"""


def test_a_versions_notes_end_where_the_next_section_begins() -> None:
    assert changelog.notes(TEXT, "0.2.0") == "### Added\n- Two.\n"
    assert changelog.notes(TEXT, "0.1.0") == "### Added\n- One.\n"
    assert changelog.versions(TEXT) == ["Unreleased", "0.2.0", "0.1.0"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TEXT, "no section"),
        (TEXT + "\n## [9.9]\n- Nine.\n", "no date"),
        (TEXT + "\n## [9.9] - 2030-01-01\n\n", "is empty"),
    ],
)
def test_a_version_that_cannot_be_released_yet_is_refused(text: str, why: str) -> None:
    with pytest.raises(changelog.ChangelogError, match=why):
        changelog.notes(text, "9.9")


def test_the_version_in_pyproject_has_notes(capsys: pytest.CaptureFixture[str]) -> None:
    assert changelog.main([]) == 0
    assert "### Added" in capsys.readouterr().out


def test_a_tag_of_another_version_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert changelog.main(["--tag", f"v{changelog.project_version()}"]) == 0
    capsys.readouterr()
    assert changelog.main(["--tag", "v99.0"]) == 1
    assert "v99.0" in capsys.readouterr().err
