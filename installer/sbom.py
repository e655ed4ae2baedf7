"""Says what a package holds: a list in CycloneDX's format, made by cyclonedx-bom from the environment that is packed.

`python -m installer.sbom` writes `dist/Gannet-VERSION-SYSTEM-PROCESSOR.cdx.json`. Packages that only take part in
packing are in the environment, so they are in the list; what is compiled into a package and unknown to pip is added,
and so are the building system's libraries. Every shared library of the bundle stands in the component it came with.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from installer import bundle_libraries, environment
from installer.bundle_libraries import INTERPRETER, Library
from installer.places import BUNDLE, DIST, PORTABLE, PYTHON, WINDOW_NAME, processor, version
from tools.checkout.places import LOGS, PYPROJECT, WINDOWS, DevError
from tools.checkout.programs import logged
from tools.third_party import INSIDE, canonical

TOOL = "cyclonedx-bom==7.5.0"
TOOLS = PORTABLE / "sbom"
SPECIFICATION = "1.6"
CHECK = """
import sys
from pathlib import Path
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
found = JsonStrictValidator(SchemaVersion.from_version(sys.argv[2])).validate_str(Path(sys.argv[1]).read_text("utf-8"))
sys.exit(f"error: not CycloneDX {sys.argv[2]}: {str(found).splitlines()[0]}" if found else 0)
"""
"""Run by the tool's own Python: its library has the format's schema."""
SYSTEM = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")


def target() -> Path:
    """The file it goes to."""
    return DIST / f"{WINDOW_NAME}-{version()}-{SYSTEM}-{processor()}.cdx.json"


def with_inside(listing: dict[str, Any]) -> dict[str, Any]:
    """The list with the libraries that lie inside packages, which no package's metadata names."""
    versions = {INTERPRETER: {"version": platform.python_version()}}
    inside = [
        {
            "type": "library",
            "bom-ref": f"inside/{name}",
            "name": name,
            **versions.get(name, {}),
            "description": where,
            "licenses": [{"license": {"name": licence}}],
        }
        for name, licence, where in INSIDE
    ]
    return listing | {"components": [*listing.get("components", []), *inside]}


def with_libraries(listing: dict[str, Any], found: Sequence[Library]) -> dict[str, Any]:
    """The list with every library in the component that it came with; new components for the system's packages."""
    components = [dict(one) for one in listing["components"]]
    product = dict(listing["metadata"]["component"])
    known = {canonical(str(one["name"])): one for one in (*components, product)}
    for library in found:
        key = canonical(library.origin) or library.place
        if key not in known:
            known[key] = _system_part(library)
            components.append(known[key])
        file = {
            "type": "file",
            "bom-ref": f"file/{library.place}",
            "name": library.place,
            "hashes": [{"alg": "SHA-256", "content": library.sha256}],
        }
        known[key]["components"] = [*known[key].get("components", []), file]
    return listing | {"components": components, "metadata": listing["metadata"] | {"component": product}}


def _system_part(library: Library) -> dict[str, Any]:
    """A component for what no Python package brought: a package of the building system, or one lonely file."""
    name = library.origin or Path(library.place).name
    part = {"type": "library", "bom-ref": f"system/{name}", "name": name}
    if library.version:
        part |= {"version": library.version, "purl": f"pkg:deb/debian/{quote(name)}@{quote(library.version)}"}
    return part


def main() -> int:
    """Makes the tool's own environment, runs it, adds what it cannot know, checks the result against the format's
    schema; returns the exit code."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / "sbom.log"
    log.unlink(missing_ok=True)
    output = target()
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        found = write(log, output)
    except DevError as error:
        print(f"dev: {error}", file=sys.stderr)
        return 1
    unknown = [library.place for library in found if not library.origin]
    if unknown:
        print(f"dev: of no part that is known: {', '.join(unknown)}", file=sys.stderr)
    return int(bool(unknown) and SYSTEM == "linux")  # elsewhere the building system has no packages to ask


def write(log: Path, output: Path) -> list[Library]:
    """Write the list; returns the shared libraries of the bundle. Raises `DevError`."""
    python = TOOLS / ("Scripts" if WINDOWS else "bin") / "python"
    options = ("--pyproject", PYPROJECT, "--mc-type", "application", "--output-reproducible")
    form = ("--spec-version", SPECIFICATION, "--of", "JSON")
    logged(log, sys.executable, "-m", "venv", TOOLS)
    logged(log, python, "-m", "pip", "install", "--disable-pip-version-check", TOOL)
    logged(log, python, "-m", "cyclonedx_py", "environment", PYTHON, *options, *form, "-o", output)
    found = bundle_libraries.found(BUNDLE, environment.site_packages())
    listing = with_libraries(with_inside(json.loads(output.read_text("utf-8"))), found)
    output.write_text(json.dumps(listing, indent=1) + "\n", encoding="utf-8")
    logged(log, python, "-c", CHECK, output, SPECIFICATION)
    print(f"dev: {output.name}: {len(listing['components'])} parts, {len(found)} shared libraries in them")
    return found


if __name__ == "__main__":
    sys.exit(main())
