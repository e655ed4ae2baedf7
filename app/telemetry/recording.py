"""Recording the telemetry to a CSV file that a spreadsheet opens: raw counters, one row per snapshot."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import IO, Any

from app.telemetry.figures import Snapshot


class CsvRecording:
    """An open recording. The columns are those of the first snapshot; rows reach the disk at least every second."""

    FLUSH_EVERY = 10

    def __init__(self, path: Path) -> None:
        """Create the file; raises OSError when that is not possible."""
        self.path = path
        self.rows = 0
        # utf-8 with a mark, which spreadsheets need to recognise it
        self._file: IO[str] = path.open("w", encoding="utf-8-sig", newline="")
        self._writer: Any = csv.writer(self._file)
        self._columns: tuple[str, ...] = ()

    def add(self, time_s: float, snapshot: Snapshot) -> None:
        """Append one row; raises OSError when the disk is full."""
        if not self._columns:
            self._columns = tuple(name for name, value in snapshot.items() if isinstance(value, (int, float)))
            self._writer.writerow(("time_s", *self._columns))
        self._writer.writerow((f"{time_s:.3f}", *(snapshot.get(name, "") for name in self._columns)))
        self.rows += 1
        if self.rows % self.FLUSH_EVERY == 0:
            self._file.flush()

    def close(self) -> None:
        """Write what is left and close; harmless when called twice."""
        self._file.close()
