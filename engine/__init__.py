"""The engine: runs mixture-of-experts models larger than memory on stock llama.cpp. Knows nothing of Qt."""

from importlib.metadata import version

__version__ = version("gannet")
