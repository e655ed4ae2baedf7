"""Says what a package holds: a list in CycloneDX's format, made by cyclonedx-bom from the environment that is packed.

`python -m installer.sbom` writes `dist/Gannet-VERSION-SYSTEM-PROCESSOR.cdx.json`. Packages that only take part in
packing are in the environment, so they are in the list; what is compiled into a package and unknown to pip is added.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from installer.places import DIST, PORTABLE, PYTHON, WINDOW_NAME, processor, version
from tools.checkout.places import LOGS, PYPROJECT, WINDOWS, DevError
from tools.checkout.programs import logged
from tools.third_party import INSIDE

TOOL = "cyclonedx-bom==7.5.0"
TOOLS = PORTABLE / "sbom"
SYSTEM = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")


def target() -> Path:
    """The file it goes to."""
    return DIST / f"{WINDOW_NAME}-{version()}-{SYSTEM}-{processor()}.cdx.json"


def with_inside(listing: dict[str, Any]) -> dict[str, Any]:
    """The list with the libraries that lie inside packages, which no package's metadata names."""
    inside = [
        {
            "type": "library",
            "bom-ref": f"inside/{name}",
            "name": name,
            "description": where,
            "licenses": [{"license": {"name": licence}}],
        }
        for name, licence, where in INSIDE
    ]
    return listing | {"components": [*listing.get("components", []), *inside]}


def main() -> int:
    """Makes the tool's own environment, runs it, writes the list; returns the exit code."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / "sbom.log"
    log.unlink(missing_ok=True)
    folder = TOOLS / ("Scripts" if WINDOWS else "bin")
    output = target()
    output.parent.mkdir(parents=True, exist_ok=True)
    options = ("--pyproject", PYPROJECT, "--mc-type", "application", "--output-reproducible", "--of", "JSON")
    try:
        logged(log, sys.executable, "-m", "venv", TOOLS)
        logged(log, folder / "python", "-m", "pip", "install", "--disable-pip-version-check", TOOL)
        logged(log, folder / "cyclonedx-py", "environment", PYTHON, *options, "-o", output)
    except DevError as error:
        print(f"dev: {error}", file=sys.stderr)
        return 1
    listing = with_inside(json.loads(output.read_text("utf-8")))
    output.write_text(json.dumps(listing, indent=1) + "\n", encoding="utf-8")
    print(f"dev: {output.name}: {len(listing['components'])} parts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
