"""Graphics cards: memory of each, and how fast weights get there, alone and while the processor reads memory too.

No graphics card is a normal answer. What ggml's own devices say counts, since those are what the engine can use;
NVML adds the driver's version where there is an NVIDIA driver.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from autotune.control import Control
from autotune.facts import ModelFacts
from autotune.ggml import GPU, INTEGRATED_GPU, Ggml, ggml
from autotune.probes.bandwidth import read_rate
from autotune.probes.probe import Probe
from engine.sizes import format_bytes

NOT_USED = "answers are computed on the processor: graphics cards are measured and not used"
"""Said of every machine that has a card, so that nobody takes the figures for a promise."""
COPY_BYTES = 32 << 20
COPY_SECONDS = 0.5
U8 = 24  # ggml's I8


@dataclass(frozen=True)
class GpuDevice:
    """Bytes and bytes per second. `copy_contended_bytes_s`: while all cores read memory as fast as they can.

    `memory_contended_bytes_s`: what those cores still read meanwhile. None: could not be measured.
    """

    name: str
    description: str
    integrated: bool
    free_bytes: int
    total_bytes: int
    copy_bytes_s: float | None
    copy_contended_bytes_s: float | None
    memory_contended_bytes_s: float | None


@dataclass(frozen=True)
class GpuResult:
    """Every device the engine's libraries can compute on, apart from the processor; often none."""

    devices: tuple[GpuDevice, ...]
    driver: str | None
    unused: tuple[str, ...]
    notes: tuple[str, ...] = ()


def probe_gpus(control: Control, kinds: tuple[int, ...] = (GPU, INTEGRATED_GPU)) -> GpuResult:
    """Ask ggml for devices of `kinds` (tests pass the processor's), measure copies, ask NVML for the driver."""
    from engine.backends import load_gpu  # loads llama.cpp, which asking for the list of probes should not

    lib = ggml()
    load_gpu()
    found: list[GpuDevice] = []
    notes: list[str] = []
    for handle, name, description, kind, free, total in lib.devices():
        if kind not in kinds:
            continue
        alone = contended = memory = None
        try:
            alone = _copy_rate(lib, handle, control)
            contended, memory = _contended(lib, handle, control)
        except MemoryError as error:
            notes.append(f"{name}: {error}")
        integrated = kind == INTEGRATED_GPU
        found.append(GpuDevice(name, description, integrated, free, total, alone, contended, memory))
    driver, cards, why = nvidia_cards()
    unused = () if found else cards
    if unused:
        notes.append(f"{', '.join(unused)}: there, but this build of the engine has no code for it")
    if found or unused:
        notes.append(NOT_USED)
    if why and not found:
        notes.append(why)
    return GpuResult(tuple(found), driver, unused, tuple(notes))


def nvidia_cards() -> tuple[str | None, tuple[str, ...], str | None]:
    """(driver version, names of the cards, why there is no answer) from NVML; without NVIDIA (None, (), None)."""
    try:
        import pynvml  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return None, (), "NVML's Python package is missing: NVIDIA cards were not looked for"
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None, (), None  # no NVIDIA driver: the normal case
    try:
        count = pynvml.nvmlDeviceGetCount()
        names = tuple(str(pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(i))) for i in range(count))
        return str(pynvml.nvmlSystemGetDriverVersion()), names, None
    except pynvml.NVMLError as error:
        return None, (), f"NVML: {error}"
    finally:
        pynvml.nvmlShutdown()


def _copy_rate(lib: Ggml, device: int, control: Control) -> float:
    """Bytes per second from ordinary memory to the device."""
    return _with_target(lib, device, lambda copy: _repeat(copy, control.seconds(COPY_SECONDS), control))


def _contended(lib: Ggml, device: int, control: Control) -> tuple[float, float]:
    """(copies, memory reads) in bytes per second, both at once."""
    memory = np.ones(COPY_BYTES * 2 // 8, np.int64)
    seconds = control.seconds(COPY_SECONDS)
    read: list[float] = []
    reader = threading.Thread(target=lambda: read.append(read_rate(memory, 2, seconds, control)), daemon=True)

    def both(copy: Callable[[], int]) -> float:
        reader.start()
        return _repeat(copy, seconds, control)

    rate = _with_target(lib, device, both)
    reader.join()
    return rate, read[0] if read else 0.0


def _with_target(lib: Ggml, device: int, measure: Callable[[Callable[[], int]], float]) -> float:
    """`measure` gets a function that copies `COPY_BYTES` to the device, waits, and returns the bytes."""
    backend = lib.ggml_backend_dev_init(device, None)
    if not backend:
        raise MemoryError("the device could not be opened")
    source = np.ones(COPY_BYTES, np.uint8)
    try:
        with lib.context(4) as context:
            target = lib.ggml_new_tensor_2d(context, U8, COPY_BYTES, 1)
            buffer = lib.ggml_backend_alloc_ctx_tensors(context, backend)
            if not buffer:
                raise MemoryError(f"no {format_bytes(COPY_BYTES)} of device memory free to copy to")

            def copy() -> int:
                lib.ggml_backend_tensor_set(target, source.ctypes.data, 0, COPY_BYTES)
                lib.ggml_backend_synchronize(backend)
                return COPY_BYTES

            try:
                return measure(copy)
            finally:
                lib.ggml_backend_buffer_free(buffer)
    finally:
        lib.ggml_backend_free(backend)


def _repeat(copy: Callable[[], int], seconds: float, control: Control) -> float:
    copy()  # the first one sets things up
    begin, total = control.clock(), 0
    while True:
        control.check()
        total += copy()
        took = control.clock() - begin
        if took >= seconds:
            return total / took


def _run(facts: ModelFacts | None, control: Control) -> GpuResult:
    del facts
    return probe_gpus(control)


def _figure(result: GpuResult) -> str:
    if not result.devices:
        return "none that the engine can use"
    return ", ".join(
        f"{d.description or d.name}: {format_bytes(d.free_bytes)} free of {format_bytes(d.total_bytes)}"
        + (f", copies at {d.copy_bytes_s / 1e9:.1f} GB/s" if d.copy_bytes_s else "")
        for d in result.devices
    )


GPUS = Probe(
    name="gpu",
    title="Graphics cards",
    unit="bytes, bytes per second",
    method="ggml's devices and NVML; copies of 32 MiB from ordinary memory, alone and while cores read memory",
    seconds=8 * 2 * COPY_SECONDS,
    memory_bytes=4 * COPY_BYTES,
    needs_model=False,
    run=_run,
    figure=_figure,
)
