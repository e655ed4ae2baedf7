"""Checks what no other linter does: unfinished places, paths of one machine, skipped tests and overlong modules.

`python -m tools.check_tree` prints each finding as `file:line: what` and exits 1 when there is any.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST_MODULE = 500
CODE = (".py", ".cpp", ".h")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")  # tree: allow
SKIPPED = re.compile(r"pytest\.(mark\.)?(skip|skipif|xfail|importorskip)\b")  # tree: allow
HOME_FOLDER = re.compile(r"(?<![\w.])/(home|Users)/[a-z]\w*/|(?<![\w./])/root/|[A-Z]:\\Users\\\w")  # tree: allow
ALLOW = "tree: allow"  # at the end of a line that must contain what is looked for


def tracked_files() -> list[Path]:
    """Every file that git tracks here or would add, relative to the root."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return [Path(name) for name in listing.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def findings(path: Path, text: str, neighbourhood: str) -> Iterator[tuple[int, str]]:
    """Line number and complaint for one file. `neighbourhood` is the folder around the checkout, "" for none."""
    lines = text.splitlines()
    if path.suffix in CODE and len(lines) > LONGEST_MODULE:
        yield len(lines), f"{len(lines)} lines; a module has at most {LONGEST_MODULE}"
    for number, line in enumerate(lines, 1):
        if line.rstrip().endswith(ALLOW):
            continue
        if UNFINISHED.search(line):
            yield number, "unfinished: finish it or file an issue"
        if HOME_FOLDER.search(line) or (neighbourhood and neighbourhood in line):
            yield number, "a path of one machine"
        if path.parts[0] == "tests" and SKIPPED.search(line):
            yield number, "a skipped test protects nobody"


def main() -> int:
    """Checks the checkout this file lies in."""
    parent = ROOT.parent
    everybodys = len(parent.parts) < 2 or parent == Path(tempfile.gettempdir())
    neighbourhood = "" if everybodys else f"{parent}/"
    count = 0
    for path in tracked_files():
        try:
            text = (ROOT / path).read_text("utf-8")
        except UnicodeDecodeError:
            continue  # a picture or a model
        for number, complaint in findings(path, text, neighbourhood):
            print(f"{path}:{number}: {complaint}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
