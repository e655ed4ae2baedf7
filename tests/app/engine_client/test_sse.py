"""Server-sent events that arrive in any pieces."""

from __future__ import annotations

import pytest

from app.engine_client.sse import SseEvent, SseParser

STREAM = (
    ': hello\r\nid: 7\r\nevent: state\r\ndata: {"a":\r\ndata: "ü"}\r\n\r\ndata:x\n\n\nevent: lost\n\ndata: y\n\n'
).encode()
EVENTS = [SseEvent("state", '{"a":\n"ü"}', "7"), SseEvent("message", "x", "7"), SseEvent("message", "y", "7")]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_pieces_of_any_size_give_the_same_events(size: int) -> None:
    """Else words of an answer are lost where two packets meet."""
    parser = SseParser()
    found = [event for at in range(0, len(STREAM), size) for event in parser.feed(STREAM[at : at + size])]
    assert found == EVENTS
