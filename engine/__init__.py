"""The engine: runs mixture-of-experts models larger than memory on stock llama.cpp. Knows nothing of Qt."""

from importlib.metadata import version

from engine.openmp import settle_openmp

__version__ = version("gannet")

settle_openmp()
