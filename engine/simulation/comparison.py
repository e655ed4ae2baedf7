"""What a cache would have missed: policies compared on a recorded trace, in experts and against the optimum.

The replay itself, and the policy that the engine ships, are the native core's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.errors import GannetError
from engine.native import _native
from engine.trace.format import NONE, RoutingTrace, load

SHARES = (0.06, 0.12, 0.25, 0.5)
POLICIES = (
    "shipped",
    "decay:64",
    "decay:256",
    "lfu",
    "lru",
    "turn-lru",
    "lirs",
    "arc",
    "2q",
    "mix:4,512:0.1:0.25",
)
WARM_TOKENS = 20


class SimulationError(GannetError):
    """A trace, policy or cache size that cannot be simulated."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One replay: `misses` stall, `reads` is misses and prefetches; in experts, of decoded tokens after the warm-up.

    `prompt_misses` of `prompt_lookups` are those of the prompts replayed between them, each expert of a layer once a
    ubatch, and `prompt_bound` is Belady's number of them. `share` of all experts fits the cache; `ratio` is misses over
    Belady's with one pool of the same size.
    """

    policy: str
    share: float
    per_layer: bool
    lookahead: int
    bar: float
    lookups: int
    misses: int
    reads: int
    useful: int
    bound: int
    prompt_lookups: int = 0
    prompt_misses: int = 0
    prompt_bound: int = 0

    @property
    def ratio(self) -> float:
        """Misses against Belady's bound; 1 is optimal."""
        return self.misses / self.bound if self.bound else 1.0

    @property
    def read_ratio(self) -> float:
        """Reads against Belady's bound."""
        return self.reads / self.bound if self.bound else 1.0

    @property
    def prompt_ratio(self) -> float:
        """The prompts' misses against Belady's."""
        return self.prompt_misses / self.prompt_bound if self.prompt_bound else 1.0


def load_traces(paths: Sequence[Path]) -> RoutingTrace:
    """One trace or several of the same model, one after the other. Raises TraceError or SimulationError."""
    traces = [load(path) for path in paths]
    first = traces[0]
    for path, trace in zip(paths, traces, strict=True):
        if trace.ranked.shape[1:] != first.ranked.shape[1:] or trace.n_experts != first.n_experts:
            raise SimulationError(f"{path}: a trace of another model than {paths[0]}; give traces of one model")
    names = ("batch", "decoded", "ranked", "predicted", "score")
    joined = {name: np.concatenate([getattr(trace, name) for trace in traces]) for name in names}
    joined["batch"] = _numbered([trace.batch for trace in traces])
    return dataclasses.replace(first, router=None, **joined)  # type: ignore[arg-type]  # names are checked above


def _numbered(batches: Sequence[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    """Numbers of evaluations of traces that follow one another: none of two traces are the same."""
    lengths = [int(batch[-1]) + 1 if len(batch) else 0 for batch in batches]
    begins = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    return np.concatenate([batch + begin for batch, begin in zip(batches, begins, strict=True)]).astype(np.int32)


def _computed(trace: RoutingTrace) -> npt.NDArray[np.bool_]:
    """Rows to replay: all but a prompt's that made an evaluation of its own and did not reach every layer."""
    _, batch, counts = np.unique(trace.batch, return_inverse=True, return_counts=True)
    whole = (trace.selected != NONE).all(axis=(1, 2))
    return np.asarray(whole | (counts[batch] > 1), np.bool_)


class Comparison:
    """Replays of the decoded tokens of one trace, and with `prompts` of its prompts where they came."""

    def __init__(self, trace: RoutingTrace, prompts: bool = False) -> None:
        decoded = _computed(trace) if prompts else trace.decoded
        passes = np.unique(trace.batch[decoded], return_counts=True)[1]
        self.tokens = int((passes == 1).sum())
        self.prompt_tokens = int(passes[passes > 1].sum())
        if self.tokens <= WARM_TOKENS:
            raise SimulationError(f"the trace has {self.tokens} decoded tokens; more than {WARM_TOKENS} are needed")
        self._trace = trace
        self._log = _native.RoutingLog(
            np.ascontiguousarray(trace.selected[decoded]),
            np.ascontiguousarray(trace.predicted[decoded]),
            trace.n_experts,
            [int(n) for n in passes],
        )
        self._bounds: dict[tuple[int, bool], _native.SimulationResult] = {}

    def slots(self, share: float) -> int:
        """Capacity of a cache that holds this share of the experts, at least one layer's choice."""
        return max(self._trace.n_used, round(self._trace.n_experts_total * share))

    def bound(self, share: float, per_layer: bool = False) -> int:
        """Belady's misses with one pool, or with an equal quota for each layer."""
        return self._belady(share, per_layer).misses

    def _belady(self, share: float, per_layer: bool = False) -> _native.SimulationResult:
        key = (self.slots(share), per_layer)
        if key not in self._bounds:
            self._bounds[key] = _native.belady(self._log, key[0], per_layer, WARM_TOKENS)
        return self._bounds[key]

    def case(self, policy: str, share: float, *, per_layer: bool = False, lookahead: int = 0, bar: float = 0.5) -> Case:
        """Replay one policy. Raises SimulationError for a policy that does not exist."""
        try:
            result = _native.simulate(
                self._log, policy, self.slots(share), per_layer, lookahead, bar, warm_tokens=WARM_TOKENS
            )
        except ValueError as error:
            raise SimulationError(f"{error}; `gannet simulate --help` lists the policies") from error
        return Case(
            policy,
            share,
            per_layer,
            lookahead,
            bar,
            result.lookups,
            result.misses,
            result.reads,
            result.useful,
            self.bound(share),
            result.prompt_lookups,
            result.prompt_misses,
            self._belady(share).prompt_misses,
        )

    def quotas_fit(self, share: float) -> bool:
        """Whether equal quotas of this cache hold one layer's choice each: below, they would use more than it has."""
        return self.slots(share) // len(self._trace.layers) >= self._trace.n_used

    def eviction(self, policies: Sequence[str], shares: Sequence[float]) -> Iterator[tuple[str, list[Case | None]]]:
        """By policy, one pool then quotas: a case for each share; None where quotas do not fit."""
        for policy in policies:
            yield policy, [self.case(policy, share) for share in shares]
        for policy in policies[:1]:
            yield (
                f"{policy}, quotas",
                [self.case(policy, s, per_layer=True) if self.quotas_fit(s) else None for s in shares],
            )

    def prefetch(self, policy: str, lookaheads: Sequence[int], bars: Sequence[float], share: float) -> Iterator[Case]:
        """Lookaheads and likelihood bars at one cache size."""
        yield self.case(policy, share)
        for lookahead in lookaheads:
            for bar in bars:
                yield self.case(policy, share, lookahead=lookahead, bar=bar)
