"""The command line: commands are found, mistakes are one line and exit code 2."""

from __future__ import annotations

import importlib

import pytest

from engine import cli
from engine.cli.parser import Parser


@pytest.mark.parametrize("argv", [[], ["help"], ["--help"], ["-h"]])
def test_help_lists_every_command(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(argv) == 0
    out = capsys.readouterr().out
    for command in cli.COMMANDS:
        assert f"  {command.name} " in out
        assert command.summary in out


@pytest.mark.parametrize("command", cli.COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself(command: cli.Command, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["help", command.name])
    assert left.value.code == 0
    assert f"usage: gannet {command.name}" in capsys.readouterr().out


@pytest.mark.parametrize("command", cli.COMMANDS, ids=lambda command: command.name)
def test_every_command_keeps_to_its_interface(command: cli.Command) -> None:
    module = importlib.import_module(command.module)
    parser = Parser(prog=command.name)
    module.register(parser)
    assert callable(module.run)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["nonsense"], "no command 'nonsense'"),
        (["help", "nonsense"], "no command 'nonsense'"),
        (["generate"], "required"),
        (["generate", "x.gguf", "--nonsense"], "--nonsense"),
        (["generate", "x.gguf", "--prompt", "a", "--cache", "4 parsecs"], "4 parsecs"),
        (["generate", "x.gguf", "--prompt", "a", "--threads", "many"], "many"),
        (["generate", "x.gguf", "--prompt", "a", "--tokens", "0"], "--tokens 0"),
        (["generate", "x.gguf"], "--prompt"),
        (["generate", "x.gguf", "--prompt", ""], "empty"),
        (["generate", "x.gguf", "--prompt-file", "/no/such/file"], "/no/such/file"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(argv: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gannet: ")
    assert err.count("\n") == 1
    assert says in err


def test_ctrl_c_outside_an_answer_leaves_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_arguments: list[str], _others: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_dispatch", interrupted)
    assert cli.main(["chat"]) == 130
