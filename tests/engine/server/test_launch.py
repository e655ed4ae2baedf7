"""`gannet launch`: a coding tool started this way must really reach the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli import main
from tests.engine.server.server_process import ROOT, ServerProcess


@pytest.fixture
def where(server: ServerProcess) -> list[str]:
    return ["--url", server.url, "--api-key", server.key]


def environment(output: str) -> dict[str, str]:
    """The variables a POSIX shell sets when it evaluates the output."""
    script = output + "\nexec env -0"
    found = subprocess.run(
        ["sh", "-c", script], capture_output=True, check=True, env={"PATH": os.environ["PATH"]}
    ).stdout
    return dict(entry.decode().split("=", 1) for entry in found.split(b"\0") if entry)


@pytest.mark.parametrize("tool", ["aider", "claude", "codex", "llm", "opencode", "qwen"])
def test_the_printed_environment_names_server_key_and_model(
    tool: str, where: list[str], server: ServerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["launch", tool, *where]) == 0
    output = capsys.readouterr().out
    variables = environment(output)
    assert server.key in variables.values()
    assert server.url in output and "demo-moe" in output
    assert output.splitlines()[-1].startswith(f"# {tool}")


def test_what_claude_is_given_is_accepted_by_the_server(
    where: list[str], server: ServerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["launch", "claude", *where])
    variables = environment(capsys.readouterr().out)
    assert variables["ANTHROPIC_BASE_URL"] == server.url
    headers = {"Authorization": f"Bearer {variables['ANTHROPIC_AUTH_TOKEN']}"}
    body = {"model": variables["ANTHROPIC_MODEL"], "max_tokens": 2, "messages": [{"role": "user", "content": "Hi"}]}
    answer = server.http.post("/v1/messages?beta=true", json=body, headers=headers)
    assert answer.status_code == 200 and answer.json()["type"] == "message"


def test_exec_starts_the_tool_with_the_environment(where: list[str], server: ServerProcess, tmp_path: Path) -> None:
    tool = tmp_path / "aider"
    tool.write_text(f"#!{sys.executable}\nimport json, os, sys\nprint(json.dumps([sys.argv[1:], dict(os.environ)]))\n")
    tool.chmod(0o755)
    command = [sys.executable, str(ROOT / "gannet.py"), "launch", "aider", *where, "--exec", "--args", "--yes", "a b"]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    found = subprocess.run(command, capture_output=True, check=True, env=os.environ | {"PATH": path}).stdout
    arguments, variables = json.loads(found)
    assert arguments == ["--model", "openai/demo-moe", "--yes", "a b"]
    assert variables["OPENAI_API_BASE"] == f"{server.url}/v1" and variables["OPENAI_API_KEY"] == server.key


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "nothing"], "no model 'nothing'; it has demo-moe"),
        (["--api-key", "wrong"], "wrong key"),
        (["--url", "http://127.0.0.1:9"], "start one with `gannet serve MODEL`"),
        (["--url", "ftp://x"], "begins with http://"),
    ],
)
def test_errors_are_one_line_that_helps(
    where: list[str], arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["launch", "claude", *where, *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("gannet: ") and words in error and error.count("\n") == 1
