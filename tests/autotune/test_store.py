"""Kept tunings: one from another machine must not be used silently, and a broken file must not stop anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.facts import ModelFacts
from autotune.fingerprint import differences, fingerprint
from autotune.result import Fingerprint, TuneResult
from autotune.store import TuningStore

MACHINE = {"memory": "16 GiB", "drive": "nvme0n1 ext4 ssd"}
ENGINE = {"gannet": "0.1.0"}


def print_of(**machine: str) -> Fingerprint:
    return fingerprint(MACHINE | machine, {"file": "big.gguf, 17 bytes"}, ENGINE)


def result(found: Fingerprint) -> TuneResult:
    return TuneResult(
        chosen={"io_threads": 4},
        chosen_arm="4 read threads",
        reason="because.",
        arms=(),
        fingerprint=found,
        engine_version="0.1.0",
        model_path="big.gguf",
        started="2026-01-01T00:00:00+00:00",
        seconds=170.0,
        budget_s=180.0,
    )


@pytest.fixture
def store(tmp_path: Path) -> TuningStore:
    return TuningStore(tmp_path / "tuning")


def test_what_was_kept_is_found_and_holds_on_the_same_machine(store: TuningStore, big_facts: ModelFacts) -> None:
    store.save(big_facts, result(print_of()))
    found = store.find(big_facts, print_of())
    assert found is not None
    assert found.stale == ()
    assert found.result.chosen == {"io_threads": 4}


def test_more_memory_or_another_drive_make_it_stale_and_say_so(store: TuningStore, big_facts: ModelFacts) -> None:
    store.save(big_facts, result(print_of()))
    found = store.find(big_facts, print_of(memory="32 GiB", drive="sda1 ext4 hard disk"))
    assert found is not None
    assert len(found.stale) == 2
    assert any("the amount of memory (was 16 GiB, is 32 GiB)" in line for line in found.stale)


def test_a_broken_file_is_put_aside_and_forgotten(store: TuningStore, big_facts: ModelFacts) -> None:
    path = store.save(big_facts, result(print_of()))
    path.write_bytes(b'{"chosen": \xff')
    assert store.find(big_facts, print_of()) is None
    assert not path.exists()
    assert path.with_suffix(".broken").exists()


def test_a_model_never_tuned_has_none(store: TuningStore, big_facts: ModelFacts) -> None:
    assert store.find(big_facts, print_of()) is None


def test_saving_again_replaces_and_leaves_no_half_files(store: TuningStore, big_facts: ModelFacts) -> None:
    store.save(big_facts, result(print_of()))
    path = store.save(big_facts, result(print_of(memory="32 GiB")))
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_equal_parts_have_equal_digests() -> None:
    assert print_of().digest == print_of().digest != print_of(memory="8 GiB").digest
    assert differences(print_of(), print_of()) == ()
