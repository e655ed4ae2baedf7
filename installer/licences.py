"""Gathers the texts of the licences of everything in a bundle, one folder for each part."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from installer.linux.needs import debian_owner
from tools.checkout.places import ROOT
from tools.third_party import canonical, licence, pinned, shipped

FOLDER = "licences"
TEXT = re.compile(
    r"(^|/)((un)?licen[cs]e|copying|notice|authors|copyright)[^/]*$|\.dist-info/licen[cs]es/", re.IGNORECASE
)
NOT_TEXTS = (".py", ".pyc", ".pyi", ".so")
SHARED = "/usr/share/common-licenses"


def licence_files(distribution: Distribution) -> Iterator[tuple[str, Path]]:
    """The name and path of each licence text that an installed package brings."""
    for file in distribution.files or _in_metadata(distribution):
        text = str(file)
        if TEXT.search(text) and not text.endswith(NOT_TEXTS) and "/tests/" not in text:
            path = Path(str(distribution.locate_file(file)))
            if path.is_file():
                yield "-".join(Path(text).parts[-2:]) if "/" in text else text, path


def _in_metadata(distribution: Distribution) -> list[str]:
    """Files in the metadata folder of a package without a list of its files, as this build lays llama_cpp out."""
    folder = Path(str(distribution.locate_file(f"{distribution.name}-{distribution.version}.dist-info")))
    return [str(path.relative_to(folder.parent)) for path in sorted(folder.rglob("*")) if path.is_file()]


def packages(site: Path, project: dict[str, object], constraints: str) -> list[Distribution]:
    """The installed packages that a user's installation has, by name."""
    delivered = shipped(project, pinned(constraints))
    found = {canonical(one.name): one for one in distributions(path=[str(site)])}
    return [found[name] for name in sorted(delivered) if name in found]


def debian_packages(libraries: Iterable[Path]) -> list[str]:
    """Names of the Debian packages that own these files of the building system; empty where there is no dpkg."""
    return sorted({owner for owner in map(debian_owner, libraries) if owner})


def gather(bundle: Path, parts: Iterable[Distribution], system: Iterable[Path]) -> None:
    """Write `bundle/licences`; for a part that brings no text, the statement in its metadata."""
    target = bundle / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    shutil.copyfile(ROOT / "LICENSE", target / "LICENSE")
    shutil.copyfile(ROOT / "THIRD_PARTY.md", target / "THIRD_PARTY.md")
    for part in parts:
        texts = dict(licence_files(part))
        if not texts:
            statement = target / canonical(part.name) / "LICENSE"
            statement.parent.mkdir()
            statement.write_text(f"{part.name} {part.version} states as its licence: {licence(part.metadata)}\n")
        for name, path in sorted(texts.items()):
            _copy(path, target / canonical(part.name) / name)
    _copy_python(target / "cpython")
    if shutil.which("dpkg-query"):
        for name in debian_packages(system):
            _copy(Path("/usr/share/doc") / name / "copyright", target / "system" / name)
        for path in sorted(Path(SHARED).glob("*")):
            if path.name in ("GPL-2", "GPL-3", "LGPL-2.1", "LGPL-3"):  # which the texts above refer to
                _copy(path, target / "common-licenses" / path.name)


def _copy_python(folder: Path) -> None:
    """The licence of the interpreter in the bundle."""
    library = Path(sys.base_prefix) / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    candidates = (
        library / "LICENSE.txt",
        Path(sys.base_prefix) / "LICENSE.txt",
        Path("/usr/share/doc/python3/copyright"),
    )
    _copy(next(path for path in candidates if path.exists()), folder / "LICENSE")


def _copy(source: Path, target: Path) -> None:
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
