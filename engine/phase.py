"""Measures one phase of an answer (the prompt, or the tokens after the first) by the difference of two snapshots."""

from __future__ import annotations

import time

from engine.loader import LoadedModel


class Phase:
    """Begins when made.

    Attributes:
        tokens: tokens computed so far. seconds: from the beginning to the last `add`.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded = loaded
        self._before = self._after = loaded.telemetry()
        self._started = time.perf_counter()
        self.tokens = 0
        self.seconds = 0.0

    def add(self, tokens: int) -> float:
        """`tokens` more have been computed; returns the seconds since the last call."""
        now = time.perf_counter() - self._started
        took, self.seconds = now - self.seconds, now
        self.tokens += tokens
        return took

    def end(self) -> None:
        """Take the second snapshot; what other phases do is not counted here."""
        self._after = self._loaded.telemetry()

    @property
    def tokens_per_second(self) -> float:
        """0 if nothing was computed."""
        return self.tokens / self.seconds if self.seconds else 0.0

    @property
    def hit_rate(self) -> float | None:
        """Share of look-ups that found their expert in memory; None without look-ups."""
        lookups = self._after.lookups - self._before.lookups
        return (self._after.hits - self._before.hits) / lookups if lookups else None

    @property
    def bytes_read_per_token(self) -> float:
        """Bytes read from the SSD per token of the phase."""
        return (self._after.bytes_read - self._before.bytes_read) / max(1, self.tokens)

    @property
    def stall_ms_per_token(self) -> float:
        """Milliseconds the computing waited for reads, per token of the phase."""
        return 1e3 * (self._after.stall_seconds - self._before.stall_seconds) / max(1, self.tokens)
