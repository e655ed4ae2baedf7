"""`gannet generate`: the answer on stdout and nothing else there; measurements as one object."""

from __future__ import annotations

import json
from pathlib import Path

from tests.engine.cli.conftest import Gannet

FOX = ("--prompt", "Tell me a story about a fox.", "--greedy", "--threads", "1", "--plain")


def test_the_answer_alone_is_on_stdout(demo_model: Path, gannet: Gannet) -> None:
    process = gannet("generate", demo_model, *FOX, "--tokens", "20")
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("In a deep valley there lived a gentle fox.")
    assert "20 tokens" in process.stderr


def test_json_is_one_object_with_the_answer_and_its_measurements(demo_model: Path, gannet: Gannet) -> None:
    process = gannet("generate", demo_model, *FOX, "--tokens", "20", "--json")
    answer = json.loads(process.stdout)
    assert answer["text"].startswith("In a deep valley")
    assert len(answer["tokens"]) == 20
    assert answer["decode_tok_s"] > 0
    assert answer["first_token_s"] > answer["load_s"] > 0
    assert answer["notes"] == []
    assert process.stderr == ""


def test_the_prompt_can_come_from_a_file_or_a_pipe(demo_model: Path, gannet: Gannet, tmp_path: Path) -> None:
    question = tmp_path / "question.txt"
    question.write_text("What is the capital of France?")
    common = ("--greedy", "--threads", "1", "--plain")
    from_file = gannet("generate", demo_model, "--prompt-file", question, *common)
    from_pipe = gannet("generate", demo_model, "--prompt", "-", *common, stdin="What is the capital of France?")
    assert from_file.stdout == from_pipe.stdout == "The capital of France is Paris.\n"


def test_raw_goes_on_from_the_text_itself(demo_model: Path, gannet: Gannet) -> None:
    process = gannet(
        "generate", demo_model, "--raw", "--prompt", "Once upon a time there was a", "--tokens", "8", *FOX[2:]
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.strip()
    assert not process.stdout.startswith("In a deep valley")


def test_a_closed_pipe_is_not_a_traceback(demo_model: Path, repository: Path) -> None:
    import subprocess
    import sys

    process = subprocess.Popen(
        [sys.executable, repository / "gannet.py", "generate", demo_model, *FOX, "--tokens", "200"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 1
    assert b"Traceback" not in complaint
    assert b"Exception" not in complaint
