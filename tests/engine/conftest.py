"""Tiny models of any architecture, made once per test run; see tests/models."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

# Threads that wait by spinning make every test that computes with two of them a hundred times slower on a machine that
# has other work. OpenMP reads this when it is loaded, so before anything imports llama_cpp.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from tests.models import Recipe, build


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Recipe], Path]:
    """Builds the model of a recipe, or finds it built."""
    folder = tmp_path_factory.mktemp("tiny-models")
    return lambda recipe: build(folder, recipe)
