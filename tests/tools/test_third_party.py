"""The list of licences names what an installation contains."""

from __future__ import annotations

from email.message import Message
from pathlib import Path

import pytest

from tools import third_party


def test_every_part_of_an_installation_is_named_with_a_licence(repository: Path) -> None:
    """A package without its licence could not be passed on lawfully."""
    text = (repository / "THIRD_PARTY.md").read_text("utf-8").lower()
    names = third_party.pinned((repository / "constraints.txt").read_text("utf-8"))
    installed = [part for name in names if (part := third_party.part(name))]
    assert [part.name for part in installed if f"| {part.name.lower()} |" not in text] == []
    assert [part.name for part in installed if part.licence == "not stated"] == []
    assert "llama.cpp and ggml | mit" in text


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ([("License-Expression", "MIT"), ("License", "see file")], "MIT"),
        (
            [("Classifier", "License :: OSI Approved"), ("Classifier", "License :: OSI Approved :: BSD License")],
            "BSD License",
        ),
        ([("License", "Apache-2.0\nwith a long text")], "Apache-2.0"),
        ([], "not stated"),
    ],
)
def test_the_licence_is_the_most_exact_one_that_is_stated(fields: list[tuple[str, str]], licence: str) -> None:
    metadata = Message()
    for name, value in fields:
        metadata[name] = value
    assert third_party.licence(metadata) == licence


def test_a_package_that_only_developers_need_is_not_shipped() -> None:
    project = {"dependencies": ["jinja2>=3"], "optional-dependencies": {"app": [], "dev": ["pytest"]}}
    assert third_party.shipped(project, ["Jinja2", "MarkupSafe", "pytest"]) == {"jinja2", "markupsafe"}
