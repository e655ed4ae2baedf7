"""What the drive delivers: direct random reads of a model's experts, of one size and so many at a time."""

from __future__ import annotations

import itertools
import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from engine.direct_file import DirectFile, aligned_buffer, aligned_range, open_direct
from engine.errors import GannetError
from engine.gguf import ModelFiles

KIB = 1 << 10
TABLE_SIZES = (64 * KIB, 512 * KIB, 1024 * KIB, 4096 * KIB)
TABLE_DEPTHS = (1, 4, 8, 16)
SECONDS = 0.7
"""Long enough for a steady rate, short enough to do before and after every run."""


@dataclass(frozen=True)
class Rate:
    """Bytes per second of direct random reads; `direct` is False where they had to go through the page cache."""

    request_bytes: int
    depth: int
    bytes_s: float
    direct: bool


@dataclass(frozen=True)
class Place:
    """A stretch of a file that holds experts."""

    path: Path
    offset: int
    nbytes: int


def expert_request_bytes(files: ModelFiles) -> int:
    """The largest single read for an expert: one projection of it. 0 for a model without experts."""
    return max((expert.bytes_per_expert for expert in files.experts()), default=0)


def expert_places(files: ModelFiles) -> list[Place]:
    """Where reads of a model go."""
    experts = files.experts()
    return [Place(files.paths[e.tensor.file], e.tensor.offset, e.tensor.nbytes) for e in experts]


def read_rate(places: list[Place], request_bytes: int, depth: int, seconds: float = SECONDS) -> Rate:
    """Read `request_bytes` at random offsets with `depth` threads for `seconds`. Raises `GannetError`."""
    team = _Team(places, request_bytes, time.perf_counter() + seconds)
    threads = [threading.Thread(target=team.work, args=(seed,), name="drive-rate") for seed in range(depth)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if team.errors:
        raise GannetError(f"the drive cannot be measured: {team.errors[0]}")
    return Rate(request_bytes, depth, sum(team.done) / (time.perf_counter() - begin), all(team.direct))


@dataclass
class _Team:
    """What the reading threads share; appending to a list is atomic."""

    places: list[Place]
    request_bytes: int
    end: float
    done: list[int] = field(default_factory=list)
    direct: list[bool] = field(default_factory=list)
    errors: list[OSError] = field(default_factory=list)

    def work(self, seed: int) -> None:
        """One thread: a handle of its own for each file, and reads until the time is over."""
        draw = random.Random(seed)
        files: dict[Path, DirectFile] = {}
        buffer = aligned_buffer(aligned_range(1, self.request_bytes)[1])
        try:
            with memoryview(buffer) as view:
                while time.perf_counter() < self.end:
                    self._read_one(draw, files, view)
        except OSError as error:
            self.errors.append(error)
        finally:
            for file in files.values():
                file.close()
            buffer.close()

    def _read_one(self, draw: random.Random, files: dict[Path, DirectFile], view: memoryview) -> None:
        place = draw.choice(self.places)
        if place.path not in files:
            files[place.path] = open_direct(place.path)
            self.direct.append(files[place.path].direct)
        last = max(0, place.nbytes - self.request_bytes)
        offset, nbytes = aligned_range(place.offset + draw.randint(0, last), self.request_bytes)
        with view[:nbytes] as target:
            self.done.append(files[place.path].read_into(target, offset))


def rates(places: list[Place], sizes: tuple[int, ...] = TABLE_SIZES, seconds: float = SECONDS) -> list[Rate]:
    """Rates of every size and depth of the table."""
    pairs = itertools.product(sizes, TABLE_DEPTHS)
    return [read_rate(places, size, depth, seconds) for size, depth in pairs]
