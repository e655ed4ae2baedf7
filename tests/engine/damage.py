"""Files as a failing drive or a broken copy leaves them."""

from __future__ import annotations

from collections.abc import Iterator

_DIRECTORY = b"PK\x01\x02"


def flipped_bits(archive: bytes) -> Iterator[bytes]:
    """A zip archive with one bit flipped, four times for each byte from its directory on, which no sum guards."""
    for at in range(archive.index(_DIRECTORY), len(archive)):
        for bit in (0, 3, 5, 7):
            yield archive[:at] + bytes([archive[at] ^ 1 << bit]) + archive[at + 1 :]
