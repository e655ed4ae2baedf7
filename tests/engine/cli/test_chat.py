"""`gannet chat`: a conversation through a pipe or a terminal, its commands, and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.cli.conftest import Gannet

PLAIN = ("--plain", "--greedy", "--threads", "1")


def test_each_line_of_a_pipe_is_answered(demo_model: Path, gannet: Gannet) -> None:
    process = gannet("chat", demo_model, *PLAIN, stdin="What is the capital of France?\n\nHello!\n")
    assert process.returncode == 0, process.stderr
    assert process.stdout == "The capital of France is Paris.\nHi there! What would you like to talk about?\n"
    assert process.stderr == ""


def test_a_second_turn_computes_only_what_is_new(demo_model: Path, gannet: Gannet) -> None:
    process = gannet("chat", demo_model, *PLAIN, stdin="Hello!\nWhat is the capital of France?\n/stats\n")
    computed, whole = map(int, re.findall(r"(\d+) of (\d+) tokens computed", process.stdout)[0])
    assert computed < whole
    assert "Paris" in process.stdout


def test_help_names_every_command(demo_model: Path, gannet: Gannet) -> None:
    process = gannet("chat", demo_model, *PLAIN, stdin="/help\n")
    for command in ("/help", "/stats", "/reset", "/system", "/save", "/quit", "Ctrl-C"):
        assert command in process.stdout


def test_quit_leaves_without_reading_on(demo_model: Path, gannet: Gannet) -> None:
    process = gannet("chat", demo_model, *PLAIN, stdin="/quit\nHello!\n")
    assert (process.returncode, process.stdout) == (0, "")


def test_reset_forgets_the_conversation(demo_model: Path, gannet: Gannet) -> None:
    process = gannet("chat", demo_model, *PLAIN, stdin="Hello!\n/reset\nHello!\n/stats\n")
    assert re.search(r"of 10 tokens computed", process.stdout)


def test_a_conversation_can_be_saved_whole(demo_model: Path, gannet: Gannet, tmp_path: Path) -> None:
    target = tmp_path / "talk.json"
    gannet(
        "chat", demo_model, *PLAIN, "--system", "Be brief.", stdin=f"What is the capital of France?\n/save {target}\n"
    )
    saved = json.loads(target.read_text(encoding="utf-8"))
    assert saved["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is the capital of France?"},
        {"role": "assistant", "content": "The capital of France is Paris."},
    ]
    assert list(tmp_path.iterdir()) == [target]


def test_what_goes_wrong_is_said_and_the_chat_goes_on(demo_model: Path, gannet: Gannet) -> None:
    process = gannet(
        "chat", demo_model, *PLAIN, "--context", "64",
        stdin=f"/nonsense\n/save /no/such/folder/x\n{'long ' * 100}\nWhat is the capital of France?\n",
    )  # fmt: skip
    assert process.returncode == 0
    assert process.stdout == "The capital of France is Paris.\n"
    complaints = process.stderr.splitlines()
    assert len(complaints) == 3
    assert "/nonsense" in complaints[0]
    assert "/no/such/folder/x" in complaints[1]
    assert "/reset" in complaints[2]


if sys.platform != "win32":
    import pty

    class Terminal:
        """A chat in a terminal of its own."""

        def __init__(self, repository: Path, *arguments: str | Path) -> None:
            self.master, slave = pty.openpty()
            self.process = subprocess.Popen(
                [sys.executable, repository / "gannet.py", *map(str, arguments)],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
                env=os.environ | {"TERM": "dumb"},
            )
            os.close(slave)
            self.shown = ""

        def type(self, text: str) -> None:
            os.write(self.master, text.encode())

        def wait_for(self, text: str, seconds: float = 30) -> str:
            """What was shown up to `text` since the last call."""
            end = time.monotonic() + seconds
            while text not in self.shown:
                assert self.readable(end - time.monotonic()), f"{text!r} did not come in {self.shown!r}"
                try:
                    self.shown += os.read(self.master, 4096).decode(errors="replace")
                except OSError:  # the other end has gone
                    raise AssertionError(f"{text!r} did not come in {self.shown!r}") from None
            before, _, self.shown = self.shown.partition(text)
            return before

        def readable(self, seconds: float) -> bool:
            return bool(select.select([self.master], [], [], max(seconds, 0))[0])

        def interrupt_until(self, text: str) -> None:
            """Ctrl-C until it has been seen: one that comes while the prompt is being drawn waits for the next key."""
            for _ in range(20):
                os.kill(self.process.pid, signal.SIGINT)
                if self.readable(1):
                    self.wait_for(text)
                    return
            raise AssertionError(f"{text!r} did not come")

        def close(self) -> None:
            self.process.kill()
            self.process.wait()
            os.close(self.master)

    @pytest.fixture
    def terminal(repository: Path, demo_model: Path) -> Iterator[Terminal]:
        terminal = Terminal(
            repository, "chat", demo_model, "--plain", "--threads", "1", "--temperature", "2",
            "--min-p", "0", "--top-k", "0", "--top-p", "1", "--seed", "1",
        )  # fmt: skip
        yield terminal
        terminal.close()

    def test_ctrl_c_stops_the_answer_and_keeps_the_chat(terminal: Terminal) -> None:
        terminal.wait_for("> ")
        terminal.type("Tell me everything.\n")
        terminal.wait_for("Tell me everything.\r\n")
        terminal.wait_for(" ")  # the answer has begun
        os.kill(terminal.process.pid, signal.SIGINT)
        terminal.wait_for("[stopped]")
        terminal.wait_for("> ")
        terminal.type("/stats\n")
        terminal.wait_for("since load")
        terminal.wait_for("> ")
        terminal.type("/quit\n")
        assert terminal.process.wait(30) == 0

    def test_ctrl_c_at_the_prompt_says_how_to_leave_and_ctrl_d_leaves(terminal: Terminal) -> None:
        terminal.wait_for("> ")
        terminal.interrupt_until("/quit leaves")
        terminal.wait_for("> ")  # only then does readline, and not the terminal itself, see the key
        terminal.type("\x04")
        assert terminal.process.wait(30) == 0

    def test_typed_lines_can_be_recalled_in_the_next_chat(
        repository: Path, demo_model: Path, own_folders: Path
    ) -> None:
        first = Terminal(repository, "chat", demo_model, *PLAIN)
        first.wait_for("> ")
        first.type("/system a line to remember\n")
        first.wait_for("is set")
        first.wait_for("> ")
        first.type("/quit\n")
        assert first.process.wait(30) == 0
        first.close()
        history = own_folders / "state" / "gannet" / "chat_history"
        assert "/system a line to remember" in history.read_text()
