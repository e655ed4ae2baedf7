"""What a tuning is valid for: this machine, this model, this version of the engine. Pure but for `engine_parts`."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import version

from autotune.facts import ModelFacts
from autotune.probes import CoresResult, GpuResult, MemoryResult, VolumeResult
from autotune.result import RESULT_VERSION, Fingerprint
from engine.gguf import ModelFiles

_GIB = 1 << 30
_WORDS = {
    "processor": "the processor", "cores": "the number of usable cores", "memory": "the amount of memory",
    "limit": "the memory limit", "gpus": "the graphics cards", "driver": "the graphics driver",
    "drive": "the drive that holds the model", "system": "the operating system", "file": "the model's file",
    "name": "the model", "tensors": "the model's weights", "gannet": "Gannet's version",
    "llama_cpp": "llama.cpp's version", "result": "the form of the stored result",
}  # fmt: skip


def machine_parts(
    memory: MemoryResult | None, cores: CoresResult | None, gpus: GpuResult | None, volume: VolumeResult | None
) -> dict[str, str]:
    """What identifies a machine; parts that could not be found out are left empty. Free memory does not count."""
    limit = memory.limit_bytes if memory else None
    return {
        "processor": cores.name if cores else "",
        "cores": f"{cores.usable_cores} of {cores.physical}" if cores else "",
        "memory": f"{memory.total_bytes / _GIB:.0f} GiB" if memory else "",
        "limit": f"{limit / _GIB:.1f} GiB" if limit else "none",
        "gpus": ", ".join(f"{d.description} {d.total_bytes / _GIB:.0f} GiB" for d in gpus.devices) if gpus else "",
        "driver": (gpus.driver or "none") if gpus else "",
        "drive": f"{volume.device} {volume.file_system} {volume.kind}" if volume else "",
        "system": f"{platform.system()} {platform.machine()}",
    }


def model_parts(files: ModelFiles) -> dict[str, str]:
    """What identifies a model: not its folder, so that a moved file is still the same, on the same drive."""
    weights = hashlib.sha256()
    for tensor in files.tensors:
        weights.update(f"{tensor.name}\0{tensor.ggml_type.name}\0{tensor.shape}\n".encode())
    return {
        "name": f"{files.architecture} {files.name}",
        "file": f"{files.path.name}, {files.total_bytes} bytes",
        "tensors": weights.hexdigest()[:16],
    }


def engine_parts() -> dict[str, str]:
    """Versions of what computes."""
    return {"gannet": version("gannet"), "llama_cpp": version("llama-cpp-python"), "result": str(RESULT_VERSION)}


def fingerprint(machine: Mapping[str, str], model: Mapping[str, str], engine: Mapping[str, str]) -> Fingerprint:
    """Join the parts."""
    parts = {"machine": dict(machine), "model": dict(model), "engine": dict(engine)}
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return Fingerprint(**parts, digest=digest)


def differences(stored: Fingerprint, now: Fingerprint) -> tuple[str, ...]:
    """What has changed since, in words; empty when the stored tuning still holds."""
    found = []
    for name in ("machine", "model", "engine"):
        was, is_now = getattr(stored, name), getattr(now, name)
        for key in sorted(was.keys() | is_now.keys()):
            if was.get(key) != is_now.get(key):
                word = _WORDS.get(key, key)
                found.append(f"{word} (was {was.get(key) or 'unknown'}, is {is_now.get(key) or 'unknown'})")
    return tuple(found)


def model_key(facts: ModelFacts) -> str:
    """A file name for the model's stored tuning: readable, and different for different files."""
    tail = hashlib.sha256(f"{facts.path.name}\0{facts.total_bytes}\0{facts.architecture}".encode()).hexdigest()[:12]
    stem = "".join(c if c.isalnum() or c in "-_." else "-" for c in facts.path.stem)[:60]
    return f"{stem}-{tail}"
