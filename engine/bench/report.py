"""Tables from records, for a terminal and for a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.bench.claims import Verdict, judge, same_text, values
from engine.bench.figures import FIGURES
from engine.bench.results import ArmRecord, DriveRecord, MachineRecord, Record, of_kind
from engine.bench.statistics import Spread, spread
from engine.bench.suites import SUITES, Claim, Suite
from engine.sizes import format_bytes

_FEW_ANSWERS = 2  # so many are compared in columns of their own


@dataclass(frozen=True)
class Table:
    """A heading, columns and rows of text, and lines to say below it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def tables(records: Sequence[Record]) -> list[Table]:
    """All tables: the machine, its drive, and each suite by model and commit in the order they were measured."""
    runs = of_kind(records, ArmRecord)
    found = [*_machine_tables(of_kind(records, MachineRecord)), *_drive_tables(of_kind(records, DriveRecord))]
    groups = dict.fromkeys((run.origin.suite, run.origin.model, run.origin.commit) for run in runs)
    for group in groups:
        own = [run for run in runs if (run.origin.suite, run.origin.model, run.origin.commit) == group]
        found += _suite_tables(own, runs)
    return found


def _suite_tables(runs: Sequence[ArmRecord], everything: Sequence[ArmRecord]) -> Iterator[Table]:
    origin = runs[0].origin
    suite = SUITES.get(origin.suite)
    if suite is None:
        return
    arms = tuple(dict.fromkeys(run.origin.arm for run in runs))
    columns = [name for name in suite.columns if any(any(v is not None for v in values(runs, a, name)) for a in arms)]
    rows = []
    for arm in arms:
        own = [run for run in runs if run.origin.arm == arm]
        shown = (_shown(spread(values(own, arm, name)), FIGURES[name].form) for name in columns)
        rows.append((arm, str(len(own)), *shown, _same(same_text(own, everything))))
    title = f"{suite.title}: {origin.model}"
    header = ("arm", "runs", *(FIGURES[name].title for name in columns), "same text as llama.cpp")
    yield Table(title, header, tuple(rows), tuple(_notes(suite, runs)))
    for run in runs:
        yield from _part_tables(title, run)
    verdicts = [verdict for claim in suite.claims if (verdict := judge(claim, runs)).measured is not None]
    if verdicts:
        header = ("claim", "measured", "of", "")
        yield Table(f"{title}: claims", header, tuple(_verdict_row(verdict) for verdict in verdicts))


def _part_tables(title: str, run: ArmRecord) -> Iterator[Table]:
    """Speed and memory of each answer of a long run, and of each part of a long answer."""
    for what, parts in (("answer", run.answers if len(run.answers) > _FEW_ANSWERS else ()), ("block", run.blocks)):
        rows = tuple(
            (str(number), f"{speed:.2f}", f"{nbytes / (1 << 30):.3f}")
            for number, (speed, nbytes) in enumerate(parts, 1)
        )
        if rows:
            header = (what, "decode, tok/s", "memory of the process at its end, GiB")
            yield Table(f"{title}: {run.origin.arm}, {what} by {what}", header, rows)


def _notes(suite: Suite, runs: Sequence[ArmRecord]) -> Iterator[str]:
    first, last = runs[0].origin, runs[-1].origin
    prompt = next((run.prompt for run in runs if run.prompt), suite.prompt_tokens)
    decoded = sorted({len(run.tokens) for run in runs if run.tokens})
    yield (
        f"Commit {first.commit or 'unknown'}, {first.when} to {last.when}; prompt of {prompt} tokens, "
        f"{' or '.join(map(str, decoded)) or 'no'} tokens decoded greedily. Median [lowest to highest] of the runs."
    )
    limits = sorted({run.limit_bytes for run in runs if run.limit_bytes})
    if limits:
        held = ", ".join(dict.fromkeys(run.origin.arm for run in runs if run.limit_bytes))
        yield f"Memory limit {' and '.join(map(format_bytes, limits))}, page cache included: {held}."
    faults = max((run.major_faults or 0 for run in runs if run.plain and not run.limit_bytes), default=0)
    if faults:
        yield f"llama.cpp in memory read up to {faults} pages from the drive while decoding."
    yield from dict.fromkeys(f"{run.origin.arm} failed: {run.error}" for run in runs if run.error)
    yield from dict.fromkeys(f"{run.origin.arm}: {note}" for run in runs for note in run.notes)


def _verdict_row(verdict: Verdict) -> tuple[str, ...]:
    assert verdict.measured is not None, "claims without a measurement are left out"
    of = "pairs" if verdict.claim.against else "runs"
    form = ".2f" if verdict.claim.against else FIGURES[verdict.claim.figure].form
    said = "holds" if verdict.holds else "does not hold"
    return claim_text(verdict.claim), _shown(verdict.measured, form), f"{verdict.measured.count} {of}", said


def claim_text(claim: Claim) -> str:
    """A claim in words."""
    what = f" ({FIGURES[claim.against_figure].title})" if claim.against_figure else ""
    against = f" over {claim.against}{what}" if claim.against else ""
    return f"{FIGURES[claim.figure].title}, {claim.arm}{against}: {claim.direction} {claim.bound:g}"


def _shown(value: Spread | None, form: str) -> str:
    if value is None:
        return "-"
    middle, low, high = (format(number, form) for number in (value.median, value.lowest, value.highest))
    return middle if low == high else f"{middle} [{low} to {high}]"


def _same(verdict: bool | None) -> str:
    return {True: "yes", False: "NO", None: "not compared"}[verdict]


def _machine_tables(machines: Sequence[MachineRecord]) -> Iterator[Table]:
    facts = {tuple(machine.facts.items()): None for machine in machines}
    for lines in facts:
        yield Table("The machine", ("what", ""), lines)


def _drive_tables(drives: Sequence[DriveRecord]) -> Iterator[Table]:
    if not drives:
        return
    depths = sorted({drive.depth for drive in drives})
    rows = []
    for size in sorted({drive.request_bytes for drive in drives}):
        cells = (_drive_cell(drives, size, depth) for depth in depths)
        rows.append((format_bytes(size), *cells))
    notes = () if all(drive.direct for drive in drives) else ("Read through the page cache: no direct reads here.",)
    header = ("random reads of", *(f"{depth} at a time, MiB/s" for depth in depths))
    yield Table("The drive", header, tuple(rows), notes)


def _drive_cell(drives: Iterable[DriveRecord], size: int, depth: int) -> str:
    found = [drive.bytes_s / (1 << 20) for drive in drives if (drive.request_bytes, drive.depth) == (size, depth)]
    return _shown(spread(found), ".0f")


def as_text(found: Iterable[Table]) -> str:
    """For a terminal."""
    return "\n".join("\n".join(_text_lines(table)) + "\n" for table in found)


def _text_lines(table: Table) -> Iterator[str]:
    yield table.title
    grid = [table.header, *table.rows]
    widths = [max(len(row[i]) for row in grid) for i in range(len(table.header))]
    for row in grid:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    yield from (f"  {note}" for note in table.notes)


def as_markdown(found: Iterable[Table]) -> str:
    """For a page: a heading of the third level for each table."""
    parts = []
    for table in found:
        lines = [f"### {table.title}", "", _row(table.header), _row(["---"] * len(table.header))]
        lines += [_row(row) for row in table.rows]
        parts.append("\n".join(lines) + "\n" + "".join(f"\n{note}\n" for note in table.notes))
    return "\n".join(parts)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
