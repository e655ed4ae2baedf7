"""Whether runs bear out the claims of a suite, and whether every arm wrote what stock llama.cpp writes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.bench.figures import FIGURES
from engine.bench.results import ArmRecord
from engine.bench.statistics import Spread, pair_ratios, spread
from engine.bench.suites import Claim


@dataclass(frozen=True)
class Verdict:
    """A claim and what was measured of it; `measured` is None where no run has the figure."""

    claim: Claim
    measured: Spread | None

    @property
    def holds(self) -> bool | None:
        """None: not measured."""
        if self.measured is None:
            return None
        value, bound = self.measured.median, self.claim.bound
        return value >= bound if self.claim.direction == "at least" else value <= bound


def judge(claim: Claim, records: Sequence[ArmRecord]) -> Verdict:
    """The median of the claim's figure, or of its ratios in pairs, over the runs of its arms."""
    ours = values(records, claim.arm, claim.figure)
    if claim.against is None:
        return Verdict(claim, spread(ours))
    return Verdict(
        claim, spread(pair_ratios(ours, values(records, claim.against, claim.against_figure or claim.figure)))
    )


def values(records: Iterable[ArmRecord], arm: str, figure: str) -> list[float | None]:
    """A figure of every run of an arm, in their order; None for a run that failed: pairs stay pairs."""
    return [FIGURES[figure].of(record) for record in records if record.origin.arm == arm]


def same_text(records: Sequence[ArmRecord], references: Iterable[ArmRecord]) -> bool | None:
    """Whether all `records` have the tokens of stock llama.cpp's run of the same model and prompt, as far as both go.

    None: there is no such run. The first among `references` counts; settings that change how numbers are rounded
    (the size of the prompt's batches) must be the same.
    """
    known = [record for record in references if record.plain and record.tokens]
    verdicts = []
    for record in (record for record in records if record.tokens):
        stock = [other.tokens for other in known if _comparable(record, other)]
        if stock:
            longest = max(stock, key=len)
            n = min(len(longest), len(record.tokens))
            verdicts.append(record.tokens[:n] == longest[:n])
    return all(verdicts) if verdicts else None


def _comparable(one: ArmRecord, other: ArmRecord) -> bool:
    return (
        one.origin.model == other.origin.model
        and one.prompt == other.prompt
        and one.settings.get("ubatch") == other.settings.get("ubatch")
    )
