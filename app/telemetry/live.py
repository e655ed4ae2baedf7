"""Turns the engine's snapshots, ten a second, into the figures and series of the page. Pure, no Qt."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from app.telemetry.figures import FIGURES, Snapshot, TimePart, figures, number, token_time
from app.telemetry.series import Series

KEEP_S = 180.0
"""Length of the plots."""
RATE_HZ = 10
WINDOW_S = 1.0
"""Figures are taken over this time: at five tokens a second a tenth of a second holds none or one."""
TOKEN_WINDOW_S = 10.0


@dataclass
class LiveFigures:
    """The page's state between two snapshots.

    Attributes:
        series: FIGURES over the last minutes.
        now: latest value of each figure, the last measured one while nothing happens.
        parts: where the time of the last tokens went.
        first_token_s: time from the last question to its first token, NaN before the first.
    """

    series: Series = field(default_factory=lambda: Series([one.name for one in FIGURES], int(KEEP_S * RATE_HZ)))
    now: dict[str, float] = field(default_factory=dict)
    parts: tuple[TimePart, ...] = ()
    first_token_s: float = math.nan
    _recent: deque[tuple[float, Snapshot]] = field(default_factory=deque)
    _prompt_before: float = 0.0

    def add(self, time_s: float, snapshot: Snapshot) -> None:
        """Take a snapshot of time `time_s` (seconds, any steady clock)."""
        if self._recent and number(snapshot, "tokens_decoded") < number(self._recent[-1][1], "tokens_decoded"):
            self.reset()  # another model: its counters begin again
        self._watch_first_token(snapshot)
        self._recent.append((time_s, snapshot))
        while len(self._recent) > 2 and self._recent[1][0] <= time_s - TOKEN_WINDOW_S:
            self._recent.popleft()
        start, earlier = self._earlier(time_s)
        if start < time_s:
            values = figures(earlier, snapshot, time_s - start)
            self.series.add(time_s, values)
            self.now.update({name: value for name, value in values.items() if not math.isnan(value)})
        parts = token_time(self._recent[0][1], snapshot)
        self.parts = parts or self.parts

    def catch_up(self, moments: Iterable[tuple[float, Snapshot]]) -> None:
        """Take snapshots that came while nobody looked, about one a second; the series has RATE_HZ samples for each."""
        for time_s, snapshot in moments:
            before = len(self.series)
            self.add(time_s, snapshot)
            if len(self.series) > before or before == self.series.capacity:
                self.series.repeat(RATE_HZ - 1, 1.0 / RATE_HZ)

    def reset(self) -> None:
        """Begin again, for another model."""
        self.series.clear()
        self.now.clear()
        self._recent.clear()
        self.parts, self.first_token_s, self._prompt_before = (), math.nan, 0.0

    def _earlier(self, time_s: float) -> tuple[float, Snapshot]:
        """The newest snapshot that is at least WINDOW_S old, else the oldest."""
        for moment in reversed(self._recent):
            if moment[0] <= time_s - WINDOW_S:
                return moment
        return self._recent[0]

    def _watch_first_token(self, snapshot: Snapshot) -> None:
        if not self._recent:
            self._prompt_before = number(snapshot, "prompt_seconds")
            return
        prompt = number(snapshot, "prompt_seconds")
        if number(snapshot, "tokens_decoded") > number(self._recent[-1][1], "tokens_decoded"):
            if prompt > self._prompt_before:
                self.first_token_s = prompt - self._prompt_before
            self._prompt_before = prompt
