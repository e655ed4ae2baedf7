"""Tiny models of any architecture, made once per test run; see tests/models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.models import Recipe, build


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Recipe], Path]:
    """Builds the model of a recipe, or finds it built."""
    folder = tmp_path_factory.mktemp("tiny-models")
    return lambda recipe: build(folder, recipe)
