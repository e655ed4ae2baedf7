"""The catalogue of models worth trying: a data file that comes with the program and that a user can replace. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.models.shape import ModelShape

VERSION = 1
BUILT_IN = Path(__file__).resolve().parents[2] / "assets" / "catalogue.json"


@dataclass(frozen=True)
class CatalogueVariant:
    """One quantization on offer and its size: as a file list gave it (`listed`), else an estimate."""

    quantization: str
    size_bytes: int
    listed: bool = False


@dataclass(frozen=True)
class CatalogueModel:
    """One model: `repository` on the hub, sizes and licence, and what it is good for, in the languages there are.

    `parameters_b` and `active_b` are billions of weights, all and per token; `recommended` names a variant.
    """

    repository: str
    title: str
    maker: str
    parameters_b: float
    active_b: float
    licence: str
    context_length: int
    n_expert: int
    n_expert_used: int
    expert_share: float
    kv_bytes_per_token: int
    variants: tuple[CatalogueVariant, ...]
    recommended: str
    summary: Mapping[str, str]
    licence_sure: bool = True

    @property
    def recommended_variant(self) -> CatalogueVariant:
        """The variant most people want."""
        return next((one for one in self.variants if one.quantization == self.recommended), self.variants[0])

    def shape(self, variant: CatalogueVariant) -> ModelShape:
        """Sizes for an estimate before anything is downloaded."""
        return ModelShape(
            total_bytes=variant.size_bytes,
            expert_bytes=int(variant.size_bytes * self.expert_share),
            n_expert=self.n_expert,
            n_expert_used=self.n_expert_used,
            kv_bytes_per_token=self.kv_bytes_per_token,
            context_length=self.context_length,
        )


@dataclass(frozen=True)
class Catalogue:
    """All models, smallest first, the date they were looked up, and the entries that could not be read."""

    updated: str
    models: tuple[CatalogueModel, ...]
    skipped: tuple[str, ...] = ()


def read_catalogue(path: Path) -> Catalogue:
    """Read a catalogue file. One broken entry is skipped; raises ValueError when it is no catalogue at all."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if (
        not isinstance(content, dict)
        or content.get("version") != VERSION
        or not isinstance(content.get("models"), list)
    ):
        raise ValueError(f"{path.name} is not a catalogue of version {VERSION}")
    models, skipped = [], []
    for item in content["models"]:
        try:
            models.append(_model(item))
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            name = item.get("repository", "?") if isinstance(item, dict) else "?"
            skipped.append(f"{name}: {problem}")
    models.sort(key=lambda model: model.recommended_variant.size_bytes)
    return Catalogue(str(content.get("updated", "")), tuple(models), tuple(skipped))


def newest_catalogue(own: Path, built_in: Path = BUILT_IN) -> Catalogue:
    """The user's catalogue if there is a readable one that is newer than the built-in one, else that."""
    standard = read_catalogue(built_in)
    try:
        replaced = read_catalogue(own)
    except (OSError, ValueError):
        return standard
    return replaced if replaced.updated > standard.updated else standard


def _model(item: Mapping[str, Any]) -> CatalogueModel:
    variants = tuple(
        CatalogueVariant(str(one["quantization"]), int(float(one["size_gb"]) * 1e9), one.get("listed") is True)
        for one in item["variants"]
    )
    share = float(item["expert_share"])
    if not variants or not 0 <= share <= 1 or not str(item["repository"]).count("/") == 1:
        raise ValueError("no variants, no repository name, or a share outside 0..1")
    return CatalogueModel(
        repository=str(item["repository"]),
        title=str(item["title"]),
        maker=str(item["maker"]),
        parameters_b=float(item["parameters_b"]),
        active_b=float(item["active_b"]),
        licence=str(item["licence"]),
        context_length=int(item["context_length"]),
        n_expert=int(item["n_expert"]),
        n_expert_used=int(item["n_expert_used"]),
        expert_share=share,
        kv_bytes_per_token=int(item["kv_bytes_per_token"]),
        variants=variants,
        recommended=str(item["recommended"]),
        summary={str(code): str(text) for code, text in item["summary"].items()},
        licence_sure=item.get("licence_unsure") is not True,
    )
