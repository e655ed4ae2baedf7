"""The `gannet` command sends each command line to the part that it belongs to."""

from __future__ import annotations

import io
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

import gannet
from engine import cli

FOUND = {"app.main": object(), "PySide6": object()}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """Records which module's main would have run, with its arguments; each returns 7."""
    made: list[tuple[str, list[str]]] = []

    def command(module: str) -> object:
        def main(arguments: Sequence[str]) -> int:
            made.append((module, list(arguments)))
            return 7

        return main

    monkeypatch.setattr(gannet, "command", command)
    return made


def test_version_is_the_one_in_pyproject(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert gannet.main(["--version"]) == 0
    assert capsys.readouterr().out == f"gannet {written}\n"


@pytest.mark.parametrize(
    ("line", "module"),
    [
        (["tune", "m.gguf"], "autotune.cli"),
        (["probe"], "autotune.cli"),
        (["chat", "m.gguf"], "engine.cli"),
        (["nonsense"], "engine.cli"),
    ],
)
def test_a_command_reaches_its_part_with_all_arguments(
    line: list[str], module: str, calls: list[tuple[str, list[str]]]
) -> None:
    assert gannet.main(line) == 7
    assert calls == [(module, line)]


@pytest.mark.parametrize("word", gannet.HELP)
def test_help_lists_the_tuners_commands_with_the_engines(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gannet.main([word]) == 0
    said = capsys.readouterr().out
    for name, summary in {**gannet.AUTOTUNE_COMMANDS, **{one.name: one.summary for one in cli.COMMANDS}}.items():
        assert re.search(rf"^  {name} +{re.escape(summary)}$", said, re.MULTILINE)


@pytest.mark.parametrize("name", gannet.AUTOTUNE_COMMANDS)
def test_help_explains_the_tuners_commands_too(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        gannet.main(["help", name])
    assert left.value.code == 0
    assert f"usage: gannet {name}" in capsys.readouterr().out


def test_no_arguments_open_the_window(calls: list[tuple[str, list[str]]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gannet, "why_no_window", lambda *_: None)
    assert gannet.main([]) == 7
    assert calls == [("app.main", [])]


def test_a_model_file_opens_the_window_with_it(
    calls: list[tuple[str, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is what a desktop runs at a double click on such a file."""
    monkeypatch.setattr(gannet, "why_no_window", lambda *_: None)
    assert gannet.main(["/models/A b.GGUF"]) == 7
    assert calls == [("app.main", ["/models/A b.GGUF"])]


def test_without_a_window_a_model_file_is_chatted_with_in_the_terminal(
    calls: list[tuple[str, list[str]]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gannet, "why_no_window", lambda *_: "there is no display")
    assert gannet.main(["/models/a.gguf"]) == 7
    assert calls == [("engine.cli", ["chat", "/models/a.gguf"])]
    assert "chatting in the terminal with a.gguf" in capsys.readouterr().err


def test_without_a_window_the_demo_model_chats_in_the_terminal_and_a_line_says_why(
    calls: list[tuple[str, list[str]]],
    monkeypatch: pytest.MonkeyPatch,
    demo_model: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(gannet, "why_no_window", lambda *_: "there is no display")
    assert gannet.main([]) == 7
    assert calls == [("engine.cli", ["chat", str(demo_model)])]
    assert "there is no display" in capsys.readouterr().err


def test_a_window_whose_libraries_are_missing_becomes_a_chat_that_names_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(module: str) -> object:
        if module == "app.main":
            raise ImportError("libEGL.so.1: cannot open shared object file")
        return lambda arguments: 7

    monkeypatch.setattr(gannet, "why_no_window", lambda *_: None)
    monkeypatch.setattr(gannet, "command", command)
    assert gannet.main([]) == 7
    assert "libEGL.so.1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("platform", "environ", "found", "reason"),
    [
        ("linux", {}, FOUND, "there is no display"),
        ("linux", {"DISPLAY": ":0"}, FOUND, None),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, FOUND, None),
        ("linux", {"QT_QPA_PLATFORM": "offscreen"}, FOUND, None),
        ("win32", {}, FOUND, None),
        ("darwin", {}, {"app.main": object()}, "PySide6 is not installed"),
        ("linux", {"DISPLAY": ":0"}, {}, "this installation has no window"),
    ],
)
def test_a_window_needs_the_application_and_a_display(
    platform: str, environ: dict[str, str], found: dict[str, object], reason: str | None
) -> None:
    assert gannet.why_no_window(platform, environ, found.get) == reason


def test_the_demo_model_is_where_the_command_looks(demo_model: Path) -> None:
    assert demo_model == gannet.DEMO_MODEL
    assert demo_model.read_bytes()[:4] == b"GGUF"


def test_a_checkout_starts_itself_with_python_and_a_packaged_program_its_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert gannet.packaged("serve") is None
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    for running, engine in (("gannet", "gannet-engine"), ("G.exe", "gannet-engine.exe"), ("v1.2", "gannet-engine")):
        monkeypatch.setattr(sys, "executable", str(tmp_path / running))
        assert gannet.packaged("serve", "--port", "0") == [str(tmp_path / engine), "serve", "--port", "0"]


def test_any_character_passes_a_pipe_of_a_western_code_page() -> None:
    sent = io.BytesIO()
    pipe = io.TextIOWrapper(sent, encoding="cp1252")
    gannet.speak_utf8(None, pipe)
    pipe.write("塘鹅")
    pipe.flush()
    assert sent.getvalue().decode("utf-8") == "塘鹅"
