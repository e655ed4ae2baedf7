"""The engine: runs mixture-of-experts models larger than memory on stock llama.cpp. Knows nothing of Qt."""

from importlib.metadata import version

from engine.openmp import settle_waiting

__version__ = version("gannet")

settle_waiting()
