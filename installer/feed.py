"""Writes where a packaged program asks whether there is a newer release: `python -m installer.feed ADDRESS`.

The address goes into `assets/release.json`, which is packed. `app.releases` says what it has to answer with.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from app.releases import FEED_FILE, is_safe


def main(arguments: Sequence[str], file: Path = FEED_FILE) -> int:
    """Write the one address; returns the exit code, 1 for an address that the program would not ask."""
    if len(arguments) != 1 or not is_safe(arguments[0]):
        print("usage: python -m installer.feed ADDRESS, which must begin with https://", file=sys.stderr)
        return 1
    content = json.loads(file.read_text("utf-8")) | {"feed": arguments[0]}
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
