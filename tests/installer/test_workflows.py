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


def release_steps() -> list[str]:
    """The steps of the job that makes packages, as they stand in the workflow."""
    text = (FOLDER / "release.yml").read_text("utf-8")
    job = text[text.index("\n  package:") : text.index("\n  release:")]
    return re.split(r"\n      - ", job)[1:]


def test_a_package_is_told_where_to_ask_for_a_newer_release_before_it_is_made() -> None:
    """On every system, and with the repository that was tagged."""
    steps = release_steps()
    [number] = [index for index, step in enumerate(steps) if "installer.feed" in step]
    [packed] = [index for index, step in enumerate(steps) if "python dev package" in step]
    assert number < packed
    assert "shell: bash" in steps[number] and "if:" not in steps[number]
    assert '"$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/releases/latest"' in steps[number]


def test_no_step_of_a_job_stands_there_twice() -> None:
    scripts = [step.partition("run:")[2].strip() for step in release_steps() if "run:" in step]
    lines = [line.strip() for script in scripts for line in script.splitlines() if len(line.strip()) > 40]
    assert len(lines) == len(set(lines))
