"""How often an expert is found in memory, by how many of them are kept there. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.probes.drive import interpolate

_HITS = ((0.0, 0.0), (0.129, 0.65), (0.257, 0.82), (0.386, 0.89), (0.5, 0.955), (0.75, 0.99), (1.0, 1.0))
"""(share of the experts in memory, share of look-ups found there) before a model is measured: the 17.1 GB model with
2000, 4000 and 6000 MiB (docs/benchmarks.md, "missed per token"; half of them: docs/policy.md). Trained models differ:
the demo model finds 0.20, 0.40 and 0.67 at an eighth, a quarter and a half."""


@dataclass(frozen=True)
class HitCurve:
    """Share of look-ups that find their expert, by the share of experts in memory; rising from 0 to 1."""

    points: tuple[tuple[float, float], ...] = _HITS

    def at(self, share: float) -> float:
        """Hit rate at a share of experts in memory."""
        return interpolate(self.points, min(1.0, max(0.0, share)))

    def through(self, share: float, hit_rate: float) -> HitCurve:
        """The same shape, with misses scaled so that the curve passes through a measured point."""
        expected = 1.0 - self.at(share)
        if expected <= 0 or not 0 < share < 1:
            return self
        factor = (1.0 - hit_rate) / expected
        points = tuple((s, 1.0 - min(1.0, (1.0 - h) * factor) if s < 1 else 1.0) for s, h in self.points if s > 0)
        return HitCurve(((0.0, 0.0), *points))

    @staticmethod
    def from_uses(uses: Sequence[Sequence[int]]) -> HitCurve:
        """From a census (uses by layer and expert): what the most used experts of each layer alone would find."""
        curve = [(0.0, 0.0)]
        rows = [sorted(row, reverse=True) for row in uses if sum(row) > 0]
        total = sum(sum(row) for row in rows)
        if not total:
            return HitCurve()
        for tenth in range(1, 20):
            share = tenth / 20
            curve.append((share, sum(sum(row[: round(share * len(row))]) for row in rows) / total))
        return HitCurve((*curve, (1.0, 1.0)))
