"""The list of what is inside a package names what pip does not know of, too."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path
from typing import Any

from installer import bundle_libraries, sbom
from installer.bundle_libraries import Library
from tools.third_party import INSIDE


def test_libraries_inside_packages_are_added_to_those_that_pip_knows() -> None:
    made = sbom.with_inside({"bomFormat": "CycloneDX", "components": [{"type": "library", "name": "numpy"}]})
    names = [component["name"] for component in made["components"]]
    assert names == ["numpy", *(name for name, _, _ in INSIDE)]
    assert all(component["licenses"][0]["license"]["name"] for component in made["components"][1:])
    [interpreter] = [part for part in made["components"] if part["name"] == bundle_libraries.INTERPRETER]
    assert interpreter["version"] == platform.python_version()
    references = [component["bom-ref"] for component in made["components"][1:]]
    assert len(set(references)) == len(references)


def test_the_lists_of_two_systems_do_not_share_a_name() -> None:
    assert sbom.SYSTEM in sbom.target().name


def test_every_library_stands_in_the_part_it_came_with() -> None:
    listing: dict[str, Any] = {
        "metadata": {"component": {"type": "application", "name": "gannet"}},
        "components": [{"type": "library", "name": "PySide6_Essentials"}, {"type": "library", "name": "CPython"}],
    }
    found = [
        Library("_internal/PySide6/Qt/lib/libQt6Core.so.6", "pyside6-essentials", "", "00"),
        Library("_internal/engine/_native.so", "gannet", "", "11"),
        Library("_internal/libffi.so.8", "libffi8", "3.4.4-1", "22"),
        Library("_internal/liblost.so", "", "", "33"),
    ]
    made = sbom.with_libraries(listing, found)
    held = {part["name"]: part.get("components", []) for part in [*made["components"], made["metadata"]["component"]]}
    assert {name: [file["name"] for file in files] for name, files in held.items()} == {
        "PySide6_Essentials": ["_internal/PySide6/Qt/lib/libQt6Core.so.6"],
        "CPython": [],
        "gannet": ["_internal/engine/_native.so"],
        "libffi8": ["_internal/libffi.so.8"],
        "liblost.so": ["_internal/liblost.so"],
    }
    [system] = [part for part in made["components"] if part["name"] == "libffi8"]
    assert system["purl"] == "pkg:deb/debian/libffi8@3.4.4-1"
    assert held["gannet"][0]["hashes"] == [{"alg": "SHA-256", "content": "11"}]
    assert not any("components" in part for part in listing["components"])


def test_what_a_library_came_with_is_told_by_its_place() -> None:
    of_package = {"numpy.libs/libopenblas.so.0": "numpy"}
    told = {
        place: bundle_libraries.origin_of(place, of_package)[0]
        for place in (
            "numpy.libs/libopenblas.so.0",
            "llama_cpp/lib/gpu/libggml-vulkan.so",
            "python3.11/lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so",
            "libpython3.11.so.1.0",
            "nowhere/libnowhere.so",
        )
    }
    assert list(told.values()) == ["numpy", "llama-cpp-python", "CPython", "CPython", ""]


def test_libraries_are_found_by_name_and_links_are_not_counted_twice(bundle: Path) -> None:
    (bundle / "_internal" / "notes.so.txt").mkdir()
    found = bundle_libraries.found(bundle, bundle / "no-packages")
    assert [(one.place, one.origin) for one in found] == [("_internal/lib/libone.so.1", "")]
    assert found[0].sha256 == hashlib.sha256((bundle / found[0].place).read_bytes()).hexdigest()
    names = ("a.so", "b.so.1.2", "c.dll", "d.pyd", "e.dylib", "f.sources", "g.txt")
    assert [bundle_libraries.is_library(name) for name in names] == [True] * 5 + [False] * 2
