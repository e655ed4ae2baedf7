"""Keeping what routers saw while a trace is recorded, within a bound of memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.trace.hidden import Floats, HiddenStates
from engine.trace.router import Router


class StreamKeeper:
    """Residual streams of the first tokens, `most_bytes` of them at most."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes
        self._streams: list[npt.NDArray[np.float16]] = []

    def keep(self, routers: Sequence[Router | None], inputs: Sequence[Floats | None], rows: int) -> None:
        """Keep the inputs [rows, E] of each layer's router, or of as many rows as there is room for: then no more."""
        seen = [rows_of for rows_of in inputs if rows_of is not None]
        if self._left <= 0 or not seen:
            return
        streams = np.zeros((rows, len(routers), max(rows_of.shape[1] for rows_of in seen)), np.float16)
        for at, (router, rows_of) in enumerate(zip(routers, inputs, strict=True)):
            if router is not None and rows_of is not None:
                streams[:, at] = router.without_norm(rows_of)
        kept = streams[: self._left // streams[0].nbytes]
        self._left = self._left - kept.nbytes if len(kept) == rows else 0
        self._streams.append(kept)

    def states(self, routers: Sequence[Router | None], n_experts: int) -> HiddenStates | None:
        """All that was kept, and the routers with it; None if nothing was."""
        if not self._streams:
            return None
        stream = np.concatenate(self._streams)
        matrix = np.zeros((len(routers), n_experts, stream.shape[2]), np.float16)
        bias = np.zeros(matrix.shape[:2], np.float32)
        steps: list[tuple[str, ...] | None] = []
        for at, router in enumerate(routers):
            biases = [] if router is None else [b for _, b in router.steps if b is not None]
            if router is None or len(biases) > 1:
                steps.append(None)
                continue
            matrix[at] = router.weight * router.norm
            bias[at] = biases[0] if biases else 0.0
            steps.append(tuple(name for name, _ in router.steps))
        return HiddenStates(stream, matrix, bias, tuple(steps))
