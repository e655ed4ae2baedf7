"""Tiny random models of many architectures, made by the tests: real GGUF files that stock llama.cpp loads.

`build(folder, Recipe("qwen3moe", "Q4_K"))` writes one in well under a second. The names and shapes of an
architecture's tensors come from llama.cpp itself (`shapes.py`), so adding an architecture means adding its metadata
(`architectures.py`); quantization is ggml's own (`quantization.py`). Weights are random but scaled so that routing
spreads over the experts and no logit is degenerate.
"""

from tests.models.architectures import ARCHITECTURES
from tests.models.building import Recipe, build
from tests.models.quantization import QUANTIZATIONS

__all__ = ["ARCHITECTURES", "QUANTIZATIONS", "Recipe", "build"]
