"""The worker process: started as the window starts it, against a hub on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.models.downloads.listing import Listing
from app.models.downloads.paths import target_folder
from tests.app.models.downloads.hub_stand_in import COMMIT, REPOSITORY, StandIn, serving

SMALL, FIRST, SECOND = "little-Q2_K.gguf", "UD/big-Q4_K_M-00001-of-00002.gguf", "UD/big-Q4_K_M-00002-of-00002.gguf"
FILES = {
    "README.md": b"# a model",
    SMALL: b"s" * 1000,
    FIRST: b"a" * 300_000,
    SECOND: b"b" * 200_000,
    "lonely-Q8_0-00002-of-00003.gguf": b"x" * 10,
    "mmproj-F16.gguf": b"v" * 100,
}


@pytest.fixture
def hub() -> Iterator[StandIn]:
    with serving(StandIn(dict(FILES))) as stand_in:
        yield stand_in


def start(hub: StandIn, job: dict[str, Any], home: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HOME": str(home)}
    process = subprocess.Popen(
        [sys.executable, "-m", "app.models.downloads.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env,
        cwd=Path(__file__).parents[4],
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()
    return process


def events(hub: StandIn, job: dict[str, Any], home: Path) -> list[dict[str, Any]]:
    with start(hub, job, home) as process:
        assert process.stdout is not None
        return [json.loads(line) for line in process.stdout]


def fetch_job(hub: StandIn, folder: Path, *paths: str) -> dict[str, Any]:
    files = [{"path": path, "size": len(hub.files[path]), "sha256": hub.published_hash(path)} for path in paths]
    return {"do": "fetch", "repository": REPOSITORY, "commit": COMMIT, "folder": str(folder), "files": files}


def test_a_repository_is_listed_by_variant(hub: StandIn, tmp_path: Path) -> None:
    """The person chooses between models, not between part files; half a model is not offered."""
    (event,) = events(hub, {"do": "list", "repository": REPOSITORY}, tmp_path)
    listing = Listing.from_json(event["listing"])
    assert [(variant.name, variant.quantization, variant.size) for variant in listing.variants] == [
        ("little-Q2_K", "Q2_K", 1000),
        ("big-Q4_K_M", "Q4_K_M", 500_000),
    ]
    assert listing.commit == COMMIT and listing.licence == "mit"


@pytest.mark.parametrize(("repository", "reason"), [("someone/unknown", "not-found"), ("not a name!", "not-found")])
def test_an_unknown_repository_is_said_to_be_unknown(
    hub: StandIn, tmp_path: Path, repository: str, reason: str
) -> None:
    assert events(hub, {"do": "list", "repository": repository}, tmp_path)[0]["reason"] == reason


def test_a_gated_repository_asks_for_the_login(hub: StandIn, tmp_path: Path) -> None:
    hub.gated = True
    assert events(hub, {"do": "list", "repository": REPOSITORY}, tmp_path)[0]["reason"] == "needs-login"


def test_without_the_hub_the_reason_is_the_network(tmp_path: Path) -> None:
    nowhere = StandIn({}, url="http://127.0.0.1:9")
    assert events(nowhere, {"do": "list", "repository": REPOSITORY}, tmp_path)[0]["reason"] == "offline"


def test_all_parts_of_a_split_model_arrive_together(hub: StandIn, tmp_path: Path) -> None:
    *_, last = events(hub, fetch_job(hub, tmp_path, FIRST, SECOND), tmp_path / "home")
    folder = target_folder(tmp_path, REPOSITORY)
    assert last == {"event": "done", "path": str(folder / "big-Q4_K_M-00001-of-00002.gguf")}
    assert (folder / "big-Q4_K_M-00002-of-00002.gguf").read_bytes() == FILES[SECOND]


def test_pausing_by_closing_the_pipe_keeps_what_arrived(hub: StandIn, tmp_path: Path) -> None:
    """Pause, and the death of the window, end the process at once; the next start continues."""
    hub.half = True
    process = start(hub, fetch_job(hub, tmp_path, FIRST), tmp_path / "home")
    assert process.stdout is not None and process.stdin is not None
    line = process.stdout.readline()
    assert json.loads(line)["event"] == "progress"
    process.stdin.close()
    assert process.wait(timeout=20) == 0
    process.stdout.close()
    hub.hold.set()
    assert events(hub, fetch_job(hub, tmp_path, FIRST), tmp_path / "home")[-1]["event"] == "done"


def test_repository_names_cannot_leave_the_library_folder(tmp_path: Path) -> None:
    assert tmp_path in target_folder(tmp_path, "../../etc/cron.d").resolve().parents
