"""What one answer cost, counted only while it was the one being worked on."""

from __future__ import annotations

from engine.server.request import Timings
from engine.telemetry import Telemetry


class AnswerCost:
    """Adds up steps, and the differences of the model's counters between `resume` and `pause`."""

    def __init__(self) -> None:
        self._mark: Telemetry | None = None
        self._lookups = self._hits = self._bytes_read = 0
        self._stall = 0.0
        self._prompt = 0
        self._prompt_seconds = self._decode_seconds = 0.0

    def resume(self, now: Telemetry) -> None:
        """Work begins or goes on."""
        self._mark = now

    def pause(self, now: Telemetry) -> None:
        """Work ends or gives way to another answer."""
        if self._mark is None:
            return
        self._lookups += now.lookups - self._mark.lookups
        self._hits += now.hits - self._mark.hits
        self._bytes_read += now.bytes_read - self._mark.bytes_read
        self._stall += now.stall_seconds - self._mark.stall_seconds
        self._mark = None

    def add(self, prompt: int, seconds: float) -> None:
        """A step that computed `prompt` prompt tokens, or one token of the answer if 0."""
        self._prompt += prompt
        if prompt:
            self._prompt_seconds += seconds
        else:
            self._decode_seconds += seconds

    def timings(self, completion: int) -> Timings:
        """The sum; `completion` is the number of the answer's tokens."""
        return Timings(
            prompt_n=self._prompt,
            prompt_ms=1e3 * self._prompt_seconds,
            predicted_n=completion,
            predicted_ms=1e3 * self._decode_seconds,
            hit_rate=self._hits / self._lookups if self._lookups else None,
            stall_ms=1e3 * self._stall,
            bytes_read=self._bytes_read,
        )
