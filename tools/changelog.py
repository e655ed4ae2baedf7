"""The notes of one version, taken from CHANGELOG.md (Keep a Changelog) for the release that a tag makes.

`python -m tools.changelog` prints the notes of the version in pyproject.toml; `--tag v1.2.3` says first that the tag is
that version. Exits 1 with one line when it is not, or when the version has no notes.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = ROOT / "CHANGELOG.md"
PYPROJECT = ROOT / "pyproject.toml"
HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
UNRELEASED = "Unreleased"


class ChangelogError(Exception):
    """The changelog cannot give what was asked for: one line."""


def versions(text: str) -> list[str]:
    """The versions that have a section, in the order of the file, `Unreleased` among them."""
    return [found["version"] for found in HEADING.finditer(text)]


def notes(text: str, version: str) -> str:
    """The section of `version` without its heading. Raises `ChangelogError` when it is missing, undated or empty."""
    for found in HEADING.finditer(text):
        if found["version"] == version:
            break
    else:
        raise ChangelogError(f"CHANGELOG.md has no section [{version}]")
    if version != UNRELEASED and found["date"] is None:
        raise ChangelogError(f"CHANGELOG.md: section [{version}] has no date")
    following = HEADING.search(text, found.end())
    section = text[found.end() : following.start() if following else len(text)].strip()
    if not section:
        raise ChangelogError(f"CHANGELOG.md: section [{version}] is empty")
    return section + "\n"


def project_version(pyproject: Path = PYPROJECT) -> str:
    """The version in pyproject.toml, the only place where it is written."""
    version: str = tomllib.loads(pyproject.read_text("utf-8"))["project"]["version"]
    return version


def checked_tag(tag: str, version: str) -> None:
    """Raises `ChangelogError` unless `tag` is the tag of `version`."""
    if tag != f"v{version}":
        raise ChangelogError(f"the tag is {tag}, but pyproject.toml says {version}: its tag would be v{version}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the notes; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.changelog", description=__doc__.partition("\n")[0])
    parser.add_argument("--tag", help="the tag that is to be released: v and the version")
    args = parser.parse_args(arguments)
    version = project_version()
    try:
        if args.tag is not None:
            checked_tag(args.tag, version)
        text = notes(CHANGELOG.read_text("utf-8"), version)
    except ChangelogError as error:
        print(f"changelog: {error}", file=sys.stderr)
        return 1
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
