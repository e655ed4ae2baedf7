"""The process in which templates are rendered and schemas turned into grammars: small, bounded, and expendable.

Reads requests from its standard input and writes replies to its standard output, each a 4-byte little-endian length
and that many bytes of JSON. It ends when its input does.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import IO, Any

MEMORY_BYTES = 2 << 30
LONGEST_MESSAGE = 256 << 20


def read_message(stream: IO[bytes]) -> Any:
    """The next message, or None at the end of the stream."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    size = int.from_bytes(head, "little")
    data = stream.read(size) if size <= LONGEST_MESSAGE else b""
    return json.loads(data) if len(data) == size else None


def write_message(stream: IO[bytes], message: Any) -> None:
    """Send one message."""
    data = json.dumps(message).encode()
    stream.write(len(data).to_bytes(4, "little") + data)
    stream.flush()


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answer requests until they end."""
    while (request := read_message(requests)) is not None:
        write_message(replies, _reply(request))


def _reply(request: Any) -> dict[str, Any]:
    from engine.chat_format.template import TemplateError

    try:
        return {"text": _work(request)}
    except TemplateError as error:
        return {"error": str(error)}
    except (MemoryError, RecursionError) as error:
        return {"error": f"the model's chat template needs too much memory ({type(error).__name__})"}
    except Exception as error:  # noqa: BLE001 - whatever a request breaks, the worker goes on
        return {"error": f"the request cannot be used: {type(error).__name__}: {error}"}


def _work(request: dict[str, Any]) -> str:
    if request["do"] == "render":
        from engine.chat_format.template import render

        return render(request["template"], request["variables"])
    from engine.chat_format.json_grammar import schema_grammar

    return schema_grammar(request["schema"])


def _bound_memory() -> None:
    """Where the system has such a limit, a template that builds endless text fails instead of filling the memory."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Serve on standard input and output."""
    _bound_memory()
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints must not disturb the replies
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        serve(sys.stdin.buffer, replies)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
