"""What the guide says exists: pages, pictures, commands, and the words of the window."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gannet
from app.actions import ACTIONS, MENUS, plain_text

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guide"
PAGES = sorted(GUIDE.glob("*.md"))
DOCUMENTS = [ROOT / "README.md", *PAGES]
# The releases page is no file: the place where a project is hosted has it beside the code.
LINK = re.compile(r"\]\((?!https?:|\.\./\.\./releases)(?P<target>[^)\s]+)\)")
FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(gannet [^`]+)`")
BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
OF_THE_SYSTEM = {"More info", "Run anyway"}  # buttons of Windows
EMPHASIS = {"mixture-of-experts"}


def anchors(page: Path) -> set[str]:
    """The names by which a page's headings are linked to."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def command_lines(page: Path) -> Iterator[str]:
    """Every `gannet ...` that a page tells to type: in a shell box or inside a sentence."""
    text = page.read_text("utf-8")
    for fence in FENCE.finditer(text):
        if fence["kind"] == "sh":
            for line in fence["text"].replace("\\\n", " ").splitlines():
                if line.startswith("gannet"):
                    yield line
    for found in INLINE.finditer(FENCE.sub("", text)):
        if not found[1].startswith("gannet:"):
            yield found[1]


class Parsed(BaseException):
    """A command line was understood."""


def understood(line: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the program takes the command line; nothing is done but reading it."""
    parse = argparse.ArgumentParser.parse_args

    def parse_only(parser: argparse.ArgumentParser, *args: Any) -> None:
        parse(parser, *args)
        raise Parsed

    with monkeypatch.context() as patched:
        patched.setattr(argparse.ArgumentParser, "parse_args", parse_only)
        try:
            return gannet.main(shlex.split(line)[1:]) == 0
        except Parsed:
            return True
        except SystemExit as end:  # after showing help
            return end.code == 0


def shown_texts() -> set[str]:
    """Every text of the window, as it stands in the translations' sources, without the marks of menus."""
    texts = {"Prompt", *(plain_text(spec.text) for spec in ACTIONS)}
    for file in (ROOT / "app" / "i18n" / "de").glob("*.ts"):
        for message in ElementTree.parse(file).iter("source"):
            texts.add(plain_text(message.text or ""))
    return texts


def said(repository: Path) -> set[str]:
    """Every text in the program's source; of one that is put together, the parts."""
    files = [
        repository / "gannet.py",
        *(file for name in ("app", "engine") for file in (repository / name).rglob("*.py")),
    ]
    trees = (ast.parse(file.read_text("utf-8")) for file in files)
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_every_link_and_picture_leads_somewhere(page: Path) -> None:
    for found in LINK.finditer(page.read_text("utf-8")):
        name, _, anchor = found["target"].partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name} links to {name}"
        assert not anchor or anchor in anchors(target), f"{page.name} links to {found['target']}"


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_every_command_is_one_that_the_program_takes(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in command_lines(page):
        bare = len(line.split()) == 2 and not line.endswith(" help")  # a command that is only named
        assert understood(f"{line} --help" if bare else line, monkeypatch), f"{page.name}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_word_of_the_window_is_written_as_there(page: Path) -> None:
    menus = {plain_text(title): name for name, title in MENUS}
    actions = {(spec.menu, spec.text.replace("&", "")) for spec in ACTIONS}
    shown = shown_texts() | OF_THE_SYSTEM | EMPHASIS
    for bold in BOLD.findall(page.read_text("utf-8")):
        menu, arrow, action = bold.partition(" > ")
        if arrow:
            assert (menus.get(menu), action) in actions, f"{page.name}: {bold}"
        else:
            assert plain_text(bold) in shown, f"{page.name}: {bold}"


def test_every_message_that_the_page_of_symptoms_quotes_is_one_of_the_program(repository: Path) -> None:
    page = (GUIDE / "troubleshooting.md").read_text("utf-8")
    quoted = [*re.findall(r'"([^"\n]+)"', page), *re.findall(r"`gannet: ([^`]+)`", page)]
    assert quoted
    texts = said(repository)
    for message in quoted:
        for fragment in message.split("..."):  # what stands for a name or a number
            assert any(fragment.strip(" ()") in text for text in texts), message


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set(LINK.findall((GUIDE / "README.md").read_text("utf-8")))
    assert {page.name for page in PAGES} - {"README.md"} <= {target.partition("#")[0] for target in listed}
