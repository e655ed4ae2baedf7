"""Figures of a conversation in words."""

from __future__ import annotations

from collections.abc import Iterator

from engine.answer import Finished
from engine.cli.conversation import Conversation
from engine.sizes import format_bytes


def conversation_stats(conversation: Conversation) -> Iterator[str]:
    """Lines about the last answer and the model since its load."""
    loaded = conversation.loaded
    if conversation.last is not None:
        yield from answer_stats(conversation.last)
    held, room = loaded.llama.n_tokens, loaded.settings.context_length
    yield f"context      {held} of {room} tokens"
    total = loaded.telemetry()
    yield f"since load   {total.tokens_prompt} prompt tokens, {total.tokens_decoded} answered"
    if loaded.streaming:
        yield f"expert cache {format_bytes(total.cache_used_bytes)} of {format_bytes(total.cache_bytes)} used"
        if total.cache_shrinks:
            yield f"             made smaller {total.cache_shrinks} times: other programs needed memory"
        yield f"SSD          {format_bytes(total.bytes_read)} read, {total.stall_seconds:.1f} s waited for it"
    yield f"weights      {format_bytes(total.resident_bytes)} always in memory"
    for note in loaded.notes:
        yield f"note         {note}"


def answer_stats(finished: Finished) -> Iterator[str]:
    """Lines about one answer."""
    result, computed = finished.result, finished.prompt_tokens - finished.reused
    yield (
        f"prompt       {computed} of {finished.prompt_tokens} tokens computed at {result.prompt_tok_s:.1f} tok/s, "
        f"first token after {result.first_token_s:.2f} s"
    )
    yield f"answer       {len(result.tokens)} tokens at {result.decode_tok_s:.2f} tok/s"
    if result.hit_rate is not None:
        yield (
            f"experts      {result.hit_rate:.0%} in memory, {format_bytes(result.read_bytes_per_token)} read and "
            f"{result.stall_ms_per_token:.1f} ms waited per token"
        )
