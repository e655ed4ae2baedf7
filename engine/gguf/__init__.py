"""Reading of GGUF model files: headers, split files, checks, and the index of routed experts. Never reads weights."""

from engine.gguf.experts import ExpertTensor
from engine.gguf.files import ModelFiles
from engine.gguf.opening import models_in, open_model
from engine.gguf.tensors import TensorInfo
from engine.gguf.types import GgmlType

__all__ = ["ExpertTensor", "GgmlType", "ModelFiles", "TensorInfo", "models_in", "open_model"]
