"""Mistakes in the window itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.faults import FaultLog
from app.main import Program


def test_a_fault_is_written_down_and_shown_and_the_program_goes_on(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a button silently does nothing, and nobody can report why."""
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    program.window.show()
    log = FaultLog(tmp_path / "window.log", program.window.show_fault)
    log.install()
    try:
        sys.excepthook(ValueError, ValueError("odd"), None)
    finally:
        log.remove()
    assert "odd" in (tmp_path / "window.log").read_text(encoding="utf-8")
    assert "odd" in program.window.notices()[0].text
