"""What the bench writes down: one line of JSON for each run of an arm, drive reading and machine. Slices are merged."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from engine.errors import GannetError


@dataclass(frozen=True)
class Origin:
    """Where a figure comes from: what was run, when, with which code."""

    suite: str = ""
    arm: str = ""
    model: str = ""
    commit: str = ""
    when: str = ""


@dataclass(frozen=True)
class ArmRecord:
    """One run of an arm. Times in seconds, sizes in bytes; None: not measured, or there is no such thing.

    Attributes:
        error: why it did not finish.
        settings: what it was run with. prompt: number of prompt tokens. tokens: ids of the first answer.
        program_s: from the start of the process to the start of the load.
        first_token_s: from the start of the load; where the arm idles, from the request.
        prompt_read_bytes: read until the first token. prompt_distinct_bytes: experts its tokens were routed to, once.
        token_s: time of each token of the first answer after its first.
        decode_tok_s and what follows it: after the warm tokens.
        missed_bytes_per_token: experts that were selected and had to be read for it, early or not.
        compute_s: time of a token when every expert it needs is in memory and nothing is read.
        drive_bytes_s: direct random reads of `drive_request_bytes`, `drive_depth` at a time; mean of before and after.
        group_peak_bytes: highest use of the memory group, page cache included. rss_peak_bytes: of the process alone.
        major_faults: pages that had to be read from the drive while decoding.
        answers: of each answer, speed in tokens per second and resident memory at its end.
        blocks: the same of each of the equal parts of the first answer.
    """

    origin: Origin
    plain: bool = False
    cold: bool = False
    error: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    prompt: int = 0
    tokens: tuple[int, ...] = ()
    program_s: float | None = None
    load_s: float | None = None
    first_token_s: float | None = None
    prompt_tok_s: float | None = None
    prompt_read_bytes: int | None = None
    prompt_distinct_bytes: int | None = None
    token_s: tuple[float, ...] = ()
    decode_tok_s: float | None = None
    hit_rate: float | None = None
    late_rate: float | None = None
    read_bytes_per_token: float | None = None
    missed_bytes_per_token: float | None = None
    stall_s_per_token: float | None = None
    compute_s: float | None = None
    drive_bytes_s: float | None = None
    drive_request_bytes: int | None = None
    drive_depth: int | None = None
    cache_bytes: int | None = None
    resident_bytes: int | None = None
    rss_peak_bytes: int | None = None
    group_peak_bytes: int | None = None
    limit_bytes: int | None = None
    oom_kills: int | None = None
    major_faults: int | None = None
    answers: tuple[tuple[float, int], ...] = ()
    blocks: tuple[tuple[float, int], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class DriveRecord:
    """The rate of direct random reads of one size and depth."""

    origin: Origin
    request_bytes: int
    depth: int
    bytes_s: float
    direct: bool


@dataclass(frozen=True)
class MachineRecord:
    """What the figures were measured on, as (name, value) lines."""

    origin: Origin
    facts: Mapping[str, str]


Record = ArmRecord | DriveRecord | MachineRecord
_KINDS: dict[str, type[ArmRecord] | type[DriveRecord] | type[MachineRecord]] = {
    "arm": ArmRecord,
    "drive": DriveRecord,
    "machine": MachineRecord,
}
_Kind = TypeVar("_Kind", ArmRecord, DriveRecord, MachineRecord)


def of_kind(records: Iterable[Record], kind: type[_Kind]) -> list[_Kind]:
    """The records of one kind, in their order."""
    return [record for record in records if isinstance(record, kind)]


def to_line(record: Record) -> str:
    """One line of JSON, without its end."""
    kind = next(name for name, cls in _KINDS.items() if isinstance(record, cls))
    return json.dumps({"kind": kind, **dataclasses.asdict(record)}, ensure_ascii=False)


def from_line(line: str) -> Record:
    """Read what `to_line` wrote; fields that this version does not know are left out. Raises `ValueError`."""
    values = json.loads(line)
    if not isinstance(values, dict) or values.get("kind") not in _KINDS:
        raise ValueError("no record of a measurement")
    cls = _KINDS[values["kind"]]
    known = {f.name for f in dataclasses.fields(cls)}
    given = {name: _frozen(value) for name, value in values.items() if name in known}
    given["origin"] = Origin(**values["origin"])
    try:
        return cls(**given)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def append(path: Path, record: Record) -> None:
    """Add one record to the file. Raises `GannetError`."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(to_line(record) + "\n")
    except OSError as error:
        raise GannetError(f"{path}: cannot be written: {error.strerror or error}") from None


def read(paths: Iterable[Path]) -> list[Record]:
    """All records of the files, in their order. Raises `GannetError` naming the line that is none."""
    records: list[Record] = []
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise GannetError(f"{path}: cannot be read: {error}") from None
        for number, line in enumerate(lines, 1):
            try:
                records.append(from_line(line))
            except (ValueError, KeyError, TypeError) as error:
                raise GannetError(f"{path}, line {number}: not written by gannet bench ({error})") from None
    return records
