"""The simulator on a recorded trace of the demo model: figures that the choice of the policy rests on."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from engine.cli import main
from engine.simulation.comparison import POLICIES, Comparison, SimulationError, load_traces
from engine.trace.format import NONE, RoutingTrace

TRACE = Path(__file__).parent / "traces" / "demo-moe-300.npz"


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return Comparison(load_traces([TRACE]))


def belady_by_hand(comparison: Comparison, share: float) -> int:
    """The bound once more, slowly: evict what is needed last, looking through all that is left of the trace."""
    trace = load_traces([TRACE])
    steps = [
        {int(e) + layer * trace.n_experts for e in trace.selected[token, layer]}
        for token in range(len(trace.batch))
        for layer in range(len(trace.layers))
    ]
    resident: set[int] = set()
    misses = 0
    for at, needed in enumerate(steps):
        misses += len(needed - resident) if at >= 20 * len(trace.layers) else 0
        kept = resident - needed
        excess = len(kept) + len(needed) - comparison.slots(share)
        uses = {key: next((i for i in range(at + 1, len(steps)) if key in steps[i]), len(steps)) for key in kept}
        for key in sorted(kept, key=lambda key: -uses[key])[: max(excess, 0)]:
            kept.discard(key)
        resident = kept | needed
    return misses


def test_belady_is_the_bound_worked_out_another_way(comparison: Comparison) -> None:
    assert comparison.bound(0.25) == belady_by_hand(comparison, 0.25)


@pytest.mark.parametrize("share", [0.12, 0.25, 0.5])
def test_the_shipped_policy_misses_less_than_the_classics(comparison: Comparison, share: float) -> None:
    """A change of the policy that costs reads on real routing is seen here."""
    shipped = comparison.case("shipped", share).misses
    assert comparison.bound(share) <= shipped
    for policy in ("decay:64", "lfu", "lru", "arc", "2q", "lirs"):
        assert shipped <= comparison.case(policy, share).misses, policy


def test_lookahead_turns_stalls_into_early_reads(comparison: Comparison) -> None:
    blind, seeing = comparison.case("shipped", 0.25), comparison.case("shipped", 0.25, lookahead=1, bar=0.3)
    assert seeing.misses < 0.5 * blind.misses
    assert seeing.reads < 1.5 * blind.reads
    assert comparison.case("shipped", 0.25, lookahead=1, bar=0.9).reads < seeing.reads


def with_prompts() -> Comparison:
    """Every tenth token of the recorded trace and the nine after it as if they had been a prompt of ten."""
    trace = load_traces([TRACE])
    group = np.arange(len(trace.batch)) // 10
    prompt = group % 4 == 0
    batch = np.cumsum(np.concatenate(([0], np.where(prompt[1:] & (group[1:] == group[:-1]), 0, 1))))
    return Comparison(
        dataclasses.replace(trace, batch=batch.astype(np.int32), decoded=trace.decoded & ~prompt), prompts=True
    )


def test_prompts_are_replayed_where_they_came(comparison: Comparison) -> None:
    replayed = with_prompts()
    assert replayed.tokens + replayed.prompt_tokens == comparison.tokens
    assert replayed.prompt_tokens == 80
    shipped, lru = replayed.case("shipped", 0.25), replayed.case("lru", 0.25)
    assert 0 < shipped.prompt_misses <= shipped.prompt_lookups < 80 * len(load_traces([TRACE]).layers) * 8
    assert shipped.misses + shipped.prompt_misses >= shipped.bound + shipped.prompt_bound
    assert shipped.misses < lru.misses
    assert Comparison(load_traces([TRACE]), prompts=True).case("shipped", 0.25) == comparison.case("shipped", 0.25)


def test_traces_joined_keep_their_passes_apart() -> None:
    one, two = load_traces([TRACE]), load_traces([TRACE, TRACE])
    assert len(np.unique(two.batch)) == 2 * len(np.unique(one.batch))
    assert (np.diff(two.batch) >= 0).all()


def test_replays_are_the_same_every_time(comparison: Comparison) -> None:
    again = Comparison(load_traces([TRACE]))
    for policy in POLICIES:
        assert comparison.case(policy, 0.25, lookahead=1) == again.case(policy, 0.25, lookahead=1)


def test_a_policy_that_does_not_exist_is_one_line(comparison: Comparison) -> None:
    with pytest.raises(SimulationError, match="no eviction policy 'best'"):
        comparison.case("best", 0.25)


def test_traces_of_two_models_are_not_mixed(tmp_path: Path) -> None:
    predicted = np.full((3, 1, 1, 2), NONE, np.uint16)
    other = RoutingTrace(
        "other",
        (0,),
        4,
        2,
        np.arange(3, dtype=np.int32),
        np.ones(3, np.bool_),
        np.tile(np.array([0, 1], np.uint16), (3, 1, 1)),
        predicted,
        np.zeros(predicted.shape, np.float16),
    )
    other.save(tmp_path / "other.npz")
    with pytest.raises(SimulationError, match=r"other\.npz"):
        load_traces([TRACE, tmp_path / "other.npz"])
    with pytest.raises(SimulationError, match="more than 20"):
        Comparison(other)


def test_simulate_prints_the_table_and_the_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", str(TRACE), "--cache", "25"]) == 0
    table = capsys.readouterr().out
    assert "| shipped | 1." in table
    assert "Belady's miss rate" in table
    assert main(["simulate", str(TRACE), "--cache", "25", "--policy", "lru", "--json"]) == 0
    cases = json.loads(capsys.readouterr().out)
    assert {case["policy"] for case in cases} == {"lru"}
    assert all(case["misses"] >= 0 for case in cases)
    assert main(["simulate", str(TRACE), "--cache", "25", "--policy", "lru", "--prompts"]) == 0
    assert "prompts: misses over Belady's" in capsys.readouterr().out
    assert main(["simulate", str(TRACE), "--cache", "0"]) == 2
