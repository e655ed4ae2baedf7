"""The tuner's pages, driven with the tuner's events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.engine_client import State
from app.main import Program, build
from app.settings.page import SettingsPage
from app.wizard.charts import arm_words
from app.wizard.progress import TuneProgress
from app.wizard.tune_tab import TuneTab
from autotune.result import Arm, ArmState, Phase
from tests.app.conftest import STAND_IN, close
from tests.app.wizard.test_progress import ARMS, DRIVE, RESULT, event


@pytest.fixture
def tab(program: Program, monkeypatch: pytest.MonkeyPatch) -> TuneTab:
    program.window.context.actions["model.tune"].trigger()
    found = program.window.page("settings")
    assert isinstance(found, SettingsPage) and found.tabs.current == "tune"
    program.client.state, program.session.wanted = State.READY, "/m.gguf"
    found.tune.refresh()
    return found.tune


def test_nothing_can_be_measured_before_a_model_is_loaded(tab: TuneTab, program: Program) -> None:
    assert tab._start_button.isEnabled()
    program.client.state = State.EMPTY
    tab.refresh()
    assert not tab._start_button.isEnabled() and "Load a model first" in tab._start_text.text()


def test_from_the_first_event_to_settings_in_use(tab: TuneTab, program: Program) -> None:
    program.client.tune_event.emit(event(phase=Phase.PROBE, drive=DRIVE, remaining_s=50))
    assert tab.page == "measure" and len(tab._drive.points) == 1 and "left" in tab._left.text()
    program.client.tune_event.emit(event(phase=Phase.MEASURE, arms=ARMS))
    assert len(tab._arms.arms) == 3 and "crashed" in tab._arms.accessibleDescription()
    program.client.tune_event.emit(event(phase=Phase.DONE, result=RESULT))
    assert tab.page == "result" and tab._result_heading.text() == "18 % faster than the defaults"
    tab._apply_button.click()
    presets = program.library.presets
    assert presets.preset("balanced", "/m.gguf").settings == {"io_threads": 12}
    assert program.session.presets.settings("balanced", "/m.gguf") == {"io_threads": 12}
    assert tab.page == "start" and "5.3" in tab._known.text()


def test_keeping_ones_own_settings_changes_nothing(tab: TuneTab, program: Program) -> None:
    program.client.tune_event.emit(event(phase=Phase.MEASURE))
    program.client.tune_event.emit(event(phase=Phase.DONE, result=RESULT))
    tab._keep_button.click()
    assert program.library.presets.tuned("/m.gguf") == {} and tab.page == "start"


def test_a_cancelled_measuring_leads_back(tab: TuneTab, program: Program) -> None:
    program.client.tune_event.emit(event(phase=Phase.MEASURE))
    unfinished = RESULT.model_copy(update={"cancelled": True})
    program.client.tune_event.emit(event(phase=Phase.CANCELLED, result=unfinished))
    assert tab.page == "start"


def test_an_engine_that_dies_while_measured_is_told(tab: TuneTab, program: Program) -> None:
    program.client.tune_event.emit(event(phase=Phase.MEASURE))
    program.client.state_changed.emit(State.CRASHED)
    assert tab.page == "result" and not tab._apply_button.isVisibleTo(tab)
    assert "stopped while it was measured" in tab._result_text.text()


def test_every_state_of_a_candidate_is_drawn_and_has_words() -> None:
    """Else a candidate the tuner had no time for, or that crashed, is an empty row nobody understands."""
    arms = [
        Arm(name=state.value, state=state, error="why" if state == ArmState.CRASHED else None) for state in ArmState
    ]
    progress = TuneProgress()
    progress.take(event(phase=Phase.MEASURE, arms=tuple(arms)))
    words = {arm.name: arm_words(arm) for arm in progress.arms}
    assert words["skipped"] == "skipped: no time was left for it" and words["crashed"] == "crashed: it crashed: why"
    assert all(words[state.value] != f"{state.value}: {state.value}" for state in ArmState)


def test_a_candidate_that_was_not_measured_says_why_in_the_chart(tab: TuneTab, program: Program) -> None:
    skipped, waiting = ((Arm(name="same name", state=state),) for state in (ArmState.SKIPPED, ArmState.WAITING))
    pictures = []
    for arms in (skipped, waiting):
        program.client.tune_event.emit(event(phase=Phase.MEASURE, arms=arms))
        tab._arms.resize(600, tab._arms.sizeHint().height())
        picture = tab._arms.grab().toImage()
        pictures.append(picture.copy(300, 0, 290, picture.height() - 24))
    assert pictures[0] != pictures[1], "nothing is drawn where the dots would be"


def stored(stale: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"stale": list(stale), "result": RESULT.model_dump(mode="json")}


CHANGE = "the amount of memory (was 16 GiB, is 32 GiB)"


@pytest.fixture
def tuned_before(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[tuple[Program, TuneTab]]:
    """A program whose engine knows a former tuning; the parameter is (what has changed since, whether it is in use)."""
    stale, in_use = request.param
    monkeypatch.setenv("STAND_IN_TUNED", json.dumps(stored(stale)))
    for name in ("config", "data"):
        (tmp_path / name).mkdir()
    made = build(qapp, tmp_path / "config", tmp_path / "data", STAND_IN)
    if in_use:
        made.library.presets.keep_tuned(made.session.wanted, {"presets": {"balanced": {"io_threads": 12}}})
    made.window.show()
    made.begin()
    qtbot.waitUntil(lambda: made.client.state == State.READY, timeout=20_000)
    made.window.context.actions["model.tune"].trigger()
    page = made.window.page("settings")
    assert isinstance(page, SettingsPage)
    qtbot.waitUntil(lambda: page.tune.stored is not None, timeout=20_000)
    yield made, page.tune
    close(made)


@pytest.mark.parametrize("tuned_before", [((CHANGE,), True)], indirect=True)
def test_a_tuning_that_no_longer_holds_is_said_and_can_be_dropped(
    tuned_before: tuple[Program, TuneTab], qtbot: QtBot
) -> None:
    """Else settings for another computer's memory stay on and nobody knows why it is slow."""
    program, tab = tuned_before
    assert "no longer holds" in tab._known.text() and CHANGE in tab._known.text()
    qtbot.waitUntil(lambda: bool(program.window.notices()), timeout=20_000)
    notice = program.window.notices()[0]
    assert CHANGE in notice.text
    program.window.show_place("chat")
    notice.action.click()
    assert program.window.place == "settings" and tab.isVisible()
    tab._stored_button.click()
    assert program.library.presets.tuned(program.session.wanted) == {}
    qtbot.waitUntil(lambda: program.client.state == State.READY, timeout=20_000)
    assert not tab._stored_button.isVisibleTo(tab)


@pytest.mark.parametrize("tuned_before", [((), False)], indirect=True)
def test_a_tuning_made_in_a_terminal_can_be_taken_over(tuned_before: tuple[Program, TuneTab], qtbot: QtBot) -> None:
    program, tab = tuned_before
    assert "not in use" in tab._known.text() and "5.3" in tab._known.text() and program.window.notices() == []
    tab._stored_button.click()
    assert program.session.settings()["io_threads"] == 12
    qtbot.waitUntil(lambda: program.client.state == State.READY, timeout=20_000)


@pytest.mark.parametrize("tuned_before", [((), True)], indirect=True)
def test_a_tuning_that_holds_raises_no_alarm(tuned_before: tuple[Program, TuneTab], qtbot: QtBot) -> None:
    program, tab = tuned_before
    qtbot.wait(50)
    assert program.window.notices() == [] and "were measured here: 5.3" in tab._known.text()


def test_while_it_measures_the_window_says_so_and_questions_wait(live: Program, qtbot: QtBot) -> None:
    live.client._take_state({"state": "busy", "phase": "Tuning", "model": "m"})
    assert live.client.state == State.TUNING and "Measuring" in live.window.header.phase.text()
    live.window.show_place("telemetry")
    page = live.window.page("telemetry")
    assert page._stack.currentWidget() is page._state  # type: ignore[attr-defined]
