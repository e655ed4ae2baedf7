"""The list of what is inside a package names what pip does not know of, too."""

from __future__ import annotations

from installer import sbom
from tools.third_party import INSIDE


def test_libraries_inside_packages_are_added_to_those_that_pip_knows() -> None:
    made = sbom.with_inside({"bomFormat": "CycloneDX", "components": [{"type": "library", "name": "numpy"}]})
    names = [component["name"] for component in made["components"]]
    assert names == ["numpy", *(name for name, _, _ in INSIDE)]
    assert all(component["licenses"][0]["license"]["name"] for component in made["components"][1:])
    references = [component["bom-ref"] for component in made["components"][1:]]
    assert len(set(references)) == len(references)


def test_the_lists_of_two_systems_do_not_share_a_name() -> None:
    assert sbom.SYSTEM in sbom.target().name
