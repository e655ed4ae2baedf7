"""A yardstick that is not what it is called would make every ratio to it wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.bench import schedule
from engine.bench.results import ArmRecord, Origin, of_kind
from engine.bench.suites import MMAP, STOCK, STREAMED, SUITES, Arm
from engine.gguf import open_model


def test_llama_cpp_in_memory_is_only_run_where_the_model_fits() -> None:
    assert schedule.lack_of_memory(STOCK, 1000, 1000) is None
    assert schedule.lack_of_memory(STOCK, 2 << 30, 1 << 30) == "not run: the model has 2 GiB and 1 GiB are free"
    assert schedule.lack_of_memory(STREAMED, 2 << 30, 1 << 30) is None


def test_an_arm_with_a_number_of_rounds_is_not_run_again_in_the_next_slice(
    demo_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow yardstick takes minutes: three runs are enough, however many slices there are."""

    def run(_plan: schedule.Plan, arm: Arm, _origin: Origin) -> ArmRecord:
        return ArmRecord(Origin(arm=arm.name))

    monkeypatch.setattr(schedule, "_run_arm", run)
    suite = SUITES["scale"].expanded(("25%",))
    plan = schedule.Plan(open_model(demo_model), suite, 2, None, done=(MMAP.name,) * 2)
    names = [record.origin.arm for record in of_kind(schedule.run(plan, lambda _: None), ArmRecord)]
    assert names == [MMAP.name, "gannet 25%", STOCK.name, "gannet 25%", STOCK.name]
