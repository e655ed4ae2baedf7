"""The catalogue file: it comes with the program, and a user may replace it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.models.catalogue import BUILT_IN, newest_catalogue, read_catalogue
from app.models.catalogue_tab import _facts

BUILT_IN_CONTENT = json.loads(BUILT_IN.read_text(encoding="utf-8"))


BITS = {
    "Q2_K": (2.8, 3.4), "Q4_K_M": (4.75, 5.4), "Q5_K_M": (5.6, 5.9), "Q6_K": (6.5, 6.7), "Q8_0": (8.4, 8.6),
    "MXFP4": (4.2, 4.7),
}  # fmt: skip
"""Bits per weight of whole files; the upper ends are of models whose rows do not divide into blocks of 256."""


def written(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps({**BUILT_IN_CONTENT, **changes}), encoding="utf-8")
    return path


def test_the_built_in_catalogue_is_whole_and_believable() -> None:
    """Every entry reads, has its texts in both languages, and its sizes and parameters fit together."""
    catalogue = read_catalogue(BUILT_IN)
    assert catalogue.skipped == () and len(catalogue.models) >= 15
    assert len({model.repository for model in catalogue.models}) == len(catalogue.models)
    for model in catalogue.models:
        assert model.summary.keys() >= {"en", "de"}
        assert model.recommended in {variant.quantization for variant in model.variants}, model.title
        assert model.licence and model.n_expert_used < model.n_expert and model.active_b < model.parameters_b
        for variant in model.variants:
            bits = variant.size_bytes * 8 / (model.parameters_b * 1e9)
            low, high = BITS[variant.quantization]
            assert low < bits < high, (model.title, variant.quantization, bits)
            assert 0 < model.shape(variant).active_expert_bytes < variant.size_bytes


def test_what_is_an_estimate_is_said_to_be_one() -> None:
    catalogue = read_catalogue(BUILT_IN)
    words = {model.title: _facts(model) for model in catalogue.models}
    for model in catalogue.models:
        assert ("about" in words[model.title]) is not model.recommended_variant.listed
        assert ("not checked" in words[model.title]) is not model.licence_sure
    assert sum(model.recommended_variant.listed for model in catalogue.models) >= 5


def test_smaller_models_come_first() -> None:
    sizes = [model.recommended_variant.size_bytes for model in read_catalogue(BUILT_IN).models]
    assert sizes == sorted(sizes)


def test_a_broken_entry_costs_that_entry_only(tmp_path: Path) -> None:
    models = [{"repository": "a/b"}, "nonsense", *BUILT_IN_CONTENT["models"]]
    catalogue = read_catalogue(written(tmp_path / "c.json", models=models))
    assert len(catalogue.models) == len(BUILT_IN_CONTENT["models"]) and len(catalogue.skipped) == 2


@pytest.mark.parametrize("content", ["[]", "{", '{"version": 99, "models": []}'])
def test_a_file_that_is_no_catalogue_does_not_replace_ours(tmp_path: Path, content: str) -> None:
    own = tmp_path / "own.json"
    own.write_text(content, encoding="utf-8")
    assert newest_catalogue(own) == read_catalogue(BUILT_IN)


def test_a_newer_file_of_the_user_wins_and_an_older_one_does_not(tmp_path: Path) -> None:
    one = BUILT_IN_CONTENT["models"][:1]
    assert len(newest_catalogue(written(tmp_path / "new.json", updated="2999-01-01", models=one)).models) == 1
    assert len(newest_catalogue(written(tmp_path / "old.json", updated="2001-01-01", models=one)).models) > 1
