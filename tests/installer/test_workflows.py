"""The workflows use the scripts that run locally, and may do no more than they must."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit_and_says_which_version_that_is(workflow: Path) -> None:
    uses = re.findall(r"uses: (.+)", workflow.read_text("utf-8"))
    assert uses
    for action in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_only_and_what_may_write_says_why(workflow: Path) -> None:
    text = workflow.read_text("utf-8")
    assert re.search(r"^permissions:\n  contents: read\n", text, re.MULTILINE)
    for line in text.splitlines():
        if re.search(r": write\b", line):
            assert "#" in line, line


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_task_and_module_that_a_workflow_runs_is_there(workflow: Path, repository: Path) -> None:
    tasks = re.findall(r'^    "([\w-]+)": Task\(', (repository / "dev").read_text("utf-8"), re.MULTILINE)
    text = workflow.read_text("utf-8")
    for task in re.findall(r"python dev (\w[\w-]*)", text):
        assert task in tasks, task
    for module in re.findall(r"-m ((?:tools|installer)[\w.]*)", text):
        place = repository / module.replace(".", "/")
        assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), module
