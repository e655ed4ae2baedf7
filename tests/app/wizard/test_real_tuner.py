"""The wizard on the real tuner, engine and demo model: what a person sees from "Measure now" to settings in use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.engine_client import State
from app.main import Program, build
from app.settings.page import SettingsPage
from app.wizard import tune_tab
from app.wizard.tune_tab import TuneTab
from tests.app.conftest import close

PATIENCE_MS = 90_000
BUDGETS_S = (10, 30, 90)
"""The shortest there is, and longer ones for a machine that does other things at the same time."""


@pytest.fixture
def real(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Program, TuneTab]]:
    """The program with the demo model loaded, the wizard in front, the shortest budget chosen."""
    monkeypatch.setattr(tune_tab, "BUDGETS_S", BUDGETS_S)
    monkeypatch.setattr(tune_tab, "DEFAULT_BUDGET", 0)
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    made = build(qapp, tmp_path / "config", tmp_path / "data")
    made.session.preferences["engine_settings"] = {"threads": 1}  # tests share their machine
    made.window.show()
    made.begin()
    qtbot.waitUntil(lambda: made.client.state == State.READY, timeout=PATIENCE_MS)
    made.window.context.actions["model.tune"].trigger()
    page = made.window.page("settings")
    assert isinstance(page, SettingsPage)
    yield made, page.tune
    close(made)


def children(program: Program) -> list[psutil.Process]:
    """Processes of the engine that tune."""
    return [
        one for one in psutil.Process(program.client.pid).children(recursive=True) if "autotune" in str(one.cmdline())
    ]


def test_measured_settings_come_into_use(real: tuple[Program, TuneTab], qtbot: QtBot) -> None:
    """Both charts fill while it measures; the end is a sentence and a row per candidate, and can be applied."""
    program, tab = real
    seen: set[str] = set()
    drawn: set[int] = set()

    def noted(event: dict[str, object]) -> None:
        seen.add(str(event["phase"]))
        drawn.update(one.queue_depth for one in tab._drive.points if tab._drive.isVisible())

    program.client.tune_event.connect(noted)
    for at in range(len(BUDGETS_S)):
        tab._budget.setCurrentIndex(at)
        tab._start_button.click()
        assert tab.page == "measure"
        qtbot.waitUntil(lambda: program.client.state == State.TUNING, timeout=PATIENCE_MS)
        qtbot.waitUntil(lambda: tab.page == "result", timeout=PATIENCE_MS + 1000 * BUDGETS_S[at])
        if seen & {"measure", "confirm"} and len(drawn) >= 2:
            break
        tab._keep_button.click()
        qtbot.waitUntil(tab._start_button.isEnabled, timeout=PATIENCE_MS)
    assert seen >= {"probe", "plan", "done"} and seen & {"measure", "confirm"}
    assert len(drawn) >= 2, "the drive's chart did not draw itself"
    arms = tab._result_arms.arms
    assert sum(one.default for one in arms) == 1 and sum(one.state == "chosen" for one in arms) == 1
    measured = [one for one in arms if one.measured]
    assert measured and all(one.low <= one.middle <= one.high for one in measured)
    assert tab._result_heading.text() and tab._result_text.text()
    tab._apply_button.click()
    qtbot.waitUntil(lambda: program.client.state == State.READY, timeout=PATIENCE_MS)
    assert program.library.presets.tuned(program.session.wanted)["tokens_per_s"] > 0
    tab.refresh()
    qtbot.waitUntil(lambda: tab.stored is not None, timeout=PATIENCE_MS)
    assert tab.stored is not None and tab.stored.stale == ()
    assert "were measured here" in tab._known.text() and [one.text for one in program.window.notices()] == []


def test_cancelling_gives_the_model_back_at_once(real: tuple[Program, TuneTab], qtbot: QtBot) -> None:
    program, tab = real
    tab._start_button.click()
    qtbot.waitUntil(lambda: tab.progress.phase == "plan", timeout=PATIENCE_MS)
    tab._cancel_button.click()
    qtbot.waitUntil(lambda: tab.page == "start", timeout=5_000)
    assert "cancelled" in program.window._toast.label.text()
    qtbot.waitUntil(lambda: program.client.state == State.READY, timeout=PATIENCE_MS)
    assert program.library.presets.tuned(program.session.wanted) == {} and children(program) == []
    assert program.window.notices() == []
