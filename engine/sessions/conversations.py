"""The conversation in the context and the saved ones: entering one costs only what is new in it."""

from __future__ import annotations

import logging

import numpy as np

from engine.sessions.model_memory import ModelMemory
from engine.sessions.reuse import WORTH_KEEPING, Held, Tokens, best
from engine.sessions.session_store import SessionStore

_log = logging.getLogger(__name__)
_LIVE = "live"


class Conversations:
    """What the context holds and what can be brought back into it. Engine thread only.

    Attributes:
        memory: the context's memory.
        store: the saved states.
    """

    def __init__(self, memory: ModelMemory, store: SessionStore) -> None:
        self.memory = memory
        self.store = store
        self._saved: Tokens | None = None  # the live tokens that the store has

    def enter(self, prompt: Tokens, *, reuse: bool) -> int:
        """Make the context hold a beginning of `prompt`, the longest at hand; returns its number of tokens."""
        live = Held(_LIVE, self.memory.tokens, self.memory.cuttable)
        if not reuse:
            self.keep()
            self.memory.clear()
            return 0
        chosen, provides = best(prompt, live, self.store.held())
        if len(live.tokens) - (provides if chosen is live else 0) >= WORTH_KEEPING:
            self.keep()
        if chosen is not live:
            provides = self._restore(chosen, provides)
        if not self.memory.cut(provides):
            self.memory.clear()
        return self.memory.length

    def _restore(self, held: Held, provides: int) -> int:
        state = self.store.get(held.key)
        if state is None or not self.memory.restore(held.tokens, state):
            _log.warning("a saved conversation of %d tokens could not be restored; it is computed again", provides)
            self.store.drop(held.key)
            self.memory.clear()
            return 0
        self._saved = held.tokens
        return provides

    def checkpoint(self) -> None:
        """Save the state as it is, for models whose memory cannot be cut back to this point later."""
        if not self.memory.cuttable:
            self._save()

    def keep(self) -> None:
        """Save the conversation in the context, if that is worth it and not done already."""
        tokens = self.memory.tokens
        if len(tokens) >= WORTH_KEEPING and (self._saved is None or not np.array_equal(tokens, self._saved)):
            self._save()

    def _save(self) -> None:
        tokens = self.memory.tokens
        self.store.put(tokens, self.memory.save(), self.memory.cuttable)
        self._saved = tokens

    def close(self) -> None:
        """Save the conversation in the context and write what is to be written."""
        self.keep()
        self.store.close()
