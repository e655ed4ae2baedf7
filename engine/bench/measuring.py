"""One run of an arm, in the process it has for itself: a task comes in as JSON on stdin, figures go out on stdout."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from engine import context_state
from engine.answer import AnswerOptions, Finished, Piece, answer
from engine.bench.passage import passage_tokens
from engine.errors import GannetError
from engine.gguf import ModelFiles, open_model
from engine.loader import LoadedModel, load
from engine.places import HOME_VARIABLE
from engine.settings import EngineSettings, make_settings
from engine.sizes import parse_size
from engine.telemetry import Telemetry

_SPARE_CONTEXT = 16
_REPLAYED = (4, 2, 1)  # tokens whose experts may fit into the cache together, the most telling number first
_ROOMY = 3  # times the experts of one token
_CENSUS_BEGIN, _CENSUS_TOKENS, _CENSUS_ANSWER = 1000, 400, 16
_FILLING, _TIMED = 3, 4  # replays: the first ones bring the experts in


@dataclass(frozen=True)
class Task:
    """What to run; the fields as in `suites.Arm` and `suites.Suite`. `started` is the wall clock at the start."""

    model: str
    prompt_tokens: int
    tokens: int
    warm_tokens: int
    repeats: int = 1
    blocks: int = 0
    plain: bool = False
    cache: str | None = None
    settings: Mapping[str, float] = field(default_factory=dict)
    idle_s: float = 0.0
    started: float = 0.0


@dataclass
class _Marks:
    """Counters at the moments between which figures are taken, and when each token was there."""

    before: Telemetry
    prompt: Telemetry
    warm: Telemetry
    end: Telemetry
    times: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    distinct: int = 0
    faults: int = 0


def main() -> int:
    """Read a task, run it and print the fields of an `ArmRecord`; an error is one of them."""
    task = Task(**json.loads(sys.stdin.readline()))
    program_s = time.time() - task.started
    try:
        values = measure(task)
    except GannetError as error:
        values = {"error": str(error)}
    print(json.dumps(values | {"program_s": program_s}))
    return 0


def measure(task: Task) -> dict[str, Any]:
    """Load the model, answer, and return fields of an `ArmRecord`. Raises `GannetError`."""
    begin = time.perf_counter()
    files = open_model(Path(task.model))
    with _census(task, files), load(files, settings_of(task, files), progress=None) as loaded:
        prompt = passage_tokens(loaded.llama, task.prompt_tokens)
        if task.idle_s:
            time.sleep(task.idle_s)
            begin = time.perf_counter()
        finished, marks = _answer(loaded, prompt, task, begin)
        answers = [(finished.result.decode_tok_s, _memory())]
        for _ in range(task.repeats - 1):
            context_state.clear(loaded.llama)
            again, _ = _answer(loaded, prompt, task, time.perf_counter())
            if again.result.tokens != finished.result.tokens:
                raise GannetError("a second answer to the same prompt differs from the first")
            answers.append((again.result.decode_tok_s, _memory()))
        peak = _peak_memory()
        compute = _compute_seconds(loaded, [*prompt, *finished.result.tokens]) if loaded.streaming else None
        figures = _figures(files, finished, marks, task)
        return figures | {"answers": answers, "compute_s": compute, "rss_peak_bytes": peak, "notes": loaded.notes}


def settings_of(task: Task, files: ModelFiles) -> EngineSettings:
    """What the model of a task is loaded with."""
    experts = sum(expert.tensor.nbytes for expert in files.experts())
    context = task.prompt_tokens + task.tokens + _SPARE_CONTEXT
    # A census would know the prompt from the run before: one that is used was made by this run, on another text. Nor
    # does a trained lookahead count: what is claimed is what every user has. A cache that follows what the machine has
    # free would be of another size in every run, and a plug must not change the threads.
    values: dict[str, Any] = {"context_length": context, "plain": task.plain}
    values |= {"census": task.idle_s > 0, "lookahead_correction": False, "elastic": False, "save_battery": False}
    if task.cache is not None:
        values["cache_bytes"] = parse_size(task.cache).resolve(experts)
    return make_settings(values | dict(task.settings))


@contextlib.contextmanager
def _census(task: Task, files: ModelFiles) -> Iterator[None]:
    """While open, the census of a session that read another text is the one that a load finds, if the task idles."""
    if not task.idle_s:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ[HOME_VARIABLE] = folder
        _learn_census(task, files)
        yield


def _learn_census(task: Task, files: ModelFiles) -> None:
    """Read a text and leave its census. A function of its own: a name for the model would keep its cache in memory."""
    learning = dataclasses.replace(task, prompt_tokens=_CENSUS_TOKENS, tokens=_CENSUS_ANSWER)
    with load(files, settings_of(learning, files)) as loaded:
        # Far behind the prompt that is measured: other sentences of the same words.
        text = passage_tokens(loaded.llama, _CENSUS_BEGIN + _CENSUS_TOKENS)[_CENSUS_BEGIN:]
        list(answer(loaded, text, AnswerOptions(max_tokens=_CENSUS_ANSWER, temperature=0.0, ignore_end=True)))


def _answer(loaded: LoadedModel, prompt: Sequence[int], task: Task, begin: float) -> tuple[Finished, _Marks]:
    options = AnswerOptions(max_tokens=task.tokens, temperature=0.0, ignore_end=True)
    now = loaded.telemetry()
    marks = _Marks(now, now, now, now)
    ends = block_ends(task.tokens - 1, task.blocks)
    for event in answer(loaded, prompt, options, started=begin):
        if isinstance(event, Piece):
            marks.times.append(time.perf_counter())
            if len(marks.times) - 1 in ends:
                marks.memory.append(_memory())
            if len(marks.times) == 1:
                marks.prompt = loaded.telemetry()
                marks.distinct = _distinct_bytes(loaded)
            if len(marks.times) == task.warm_tokens + 1:
                marks.warm, marks.faults = loaded.telemetry(), _major_faults()
                marks.times[-1] = time.perf_counter()  # taking counters is no part of the next token
        elif isinstance(event, Finished):
            marks.end, marks.faults = loaded.telemetry(), _major_faults() - marks.faults
            return event, marks
    raise AssertionError("an answer ends with Finished")


def block_ends(tokens: int, blocks: int) -> list[int]:
    """Numbers of the tokens with which each of `blocks` parts of `tokens` ends, as equal as can be."""
    return [tokens * (i + 1) // blocks for i in range(blocks)] if 0 < blocks <= tokens else []


def _block_figures(times: Sequence[float], memory: Sequence[int]) -> list[tuple[float, int]]:
    """Of each block, tokens per second and memory at its end; `times` of all tokens, the first one included."""
    ends = block_ends(len(times) - 1, len(memory))
    starts = [0, *ends][: len(ends)]
    return [
        ((end - start) / (times[end] - times[start]), nbytes)
        for start, end, nbytes in zip(starts, ends, memory, strict=True)
    ]


def _distinct_bytes(loaded: LoadedModel) -> int:
    """Bytes of the experts that have been used at least once; 0 on the plain path."""
    if loaded.streamer is None:
        return 0
    sizes: dict[int, int] = {}
    for expert in loaded.files.experts():
        sizes[expert.layer] = sizes.get(expert.layer, 0) + expert.bytes_per_expert
    uses = loaded.expert_map().uses
    blocks = [block for block, _, _ in loaded.streamer.expert_rows()]
    return sum(
        sizes[block] // blocks.count(block) * sum(1 for count in row if count)
        for block, row in zip(blocks, uses, strict=True)
    )


def _figures(files: ModelFiles, finished: Finished, marks: _Marks, task: Task) -> dict[str, Any]:
    result, times, warm, end = finished.result, marks.times, marks.warm, marks.end
    counted = len(times) - 1 - task.warm_tokens
    figures: dict[str, Any] = {
        "prompt": task.prompt_tokens,
        "tokens": result.tokens,
        "load_s": result.load_s,
        "first_token_s": result.first_token_s,
        "prompt_tok_s": result.prompt_tok_s,
        "token_s": [round(b - a, 5) for a, b in itertools.pairwise(times)],
        "resident_bytes": result.resident_bytes,
        "major_faults": marks.faults,
        "blocks": _block_figures(times, marks.memory),
    }
    if counted > 0:
        figures["decode_tok_s"] = counted / (times[-1] - times[task.warm_tokens])
    if task.plain or end.lookups == 0:
        return figures
    figures |= {
        "cache_bytes": result.cache_bytes,
        "prompt_read_bytes": marks.prompt.bytes_read - marks.before.bytes_read,
        "prompt_distinct_bytes": marks.distinct,
    }
    return figures | _reads(files, warm, end, counted) if counted > 0 else figures


def _reads(files: ModelFiles, warm: Telemetry, end: Telemetry, counted: int) -> dict[str, float]:
    """Hits and reads of the tokens after the warm ones."""

    def grown(name: str) -> float:
        return float(getattr(end, name) - getattr(warm, name))

    experts = files.experts()
    count = sum(e.n_expert for e in experts if e.projection == "down")  # each expert has one, and only one
    mean_bytes = sum(e.tensor.nbytes for e in experts) / max(1, count)
    missed = grown("misses") + grown("late_hits") + grown("prefetch_useful")
    lookups = max(1.0, grown("lookups"))
    return {
        "hit_rate": grown("hits") / lookups,
        "late_rate": grown("late_hits") / lookups,
        "read_bytes_per_token": grown("bytes_read") / counted,
        "missed_bytes_per_token": missed * mean_bytes / counted,
        "stall_s_per_token": grown("stall_seconds") / counted,
    }


def _compute_seconds(loaded: LoadedModel, tokens: Sequence[int]) -> float | None:
    """Time of a token whose experts are all in memory, by replaying the last tokens; None if they never all fit.

    Predictions are off: what they cost and read is not computing. A cache too small for one token grows for this.
    """
    loaded.apply(loaded.settings.model_copy(update={"lookahead": 0}))
    counts = [count for count in _REPLAYED if count + 2 <= len(tokens)]
    for count in counts:
        seconds = _replayed(loaded, tokens[:-count], count)
        if seconds is not None:
            return seconds
    loaded.resize_cache(max(loaded.telemetry().cache_bytes, _ROOMY * _token_bytes(loaded.files)))
    return _replayed(loaded, tokens[:-1], 1) if counts else None


def _token_bytes(files: ModelFiles) -> int:
    """Bytes of the experts that one token uses."""
    return sum(e.bytes_per_expert * min(files.n_expert_used, e.n_expert) for e in files.experts())


def _replayed(loaded: LoadedModel, prompt: Sequence[int], count: int) -> float | None:
    """Median time of the `count` tokens after `prompt`, again and again; None if an expert was read meanwhile."""
    options = AnswerOptions(temperature=0.0, ignore_end=True, max_tokens=count + 1)
    for _ in range(_FILLING):
        _token_times(loaded, prompt, options)
    read = loaded.telemetry().bytes_read
    times = [seconds for _ in range(_TIMED) for seconds in _token_times(loaded, prompt, options)]
    return median(times) if loaded.telemetry().bytes_read == read else None


def _token_times(loaded: LoadedModel, prompt: Sequence[int], options: AnswerOptions) -> list[float]:
    events = answer(loaded, prompt, options)
    times = [time.perf_counter() for event in events if isinstance(event, Piece)]
    return [b - a for a, b in itertools.pairwise(times)]


def _memory() -> int:
    return int(psutil.Process().memory_info().rss)


def _peak_memory() -> int:
    """The most physical memory this process has had, in bytes."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def _major_faults() -> int:
    """Pages that had to be read from the drive since the start; 0 where the system does not count them."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt
