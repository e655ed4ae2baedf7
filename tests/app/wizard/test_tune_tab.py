"""The tuner's pages, driven with the tuner's events."""

from __future__ import annotations

import pytest

from app.engine_client import State
from app.main import Program
from app.settings.page import SettingsPage
from app.wizard.tune_tab import TuneTab
from autotune.result import Phase
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
    program.client.tune_event.emit(event(phase=Phase.CANCELLED))
    assert tab.page == "start"


def test_an_engine_that_dies_while_measured_is_told(tab: TuneTab, program: Program) -> None:
    program.client.tune_event.emit(event(phase=Phase.MEASURE))
    program.client.state_changed.emit(State.CRASHED)
    assert tab.page == "result" and not tab._apply_button.isVisibleTo(tab)
    assert "stopped while it was measured" in tab._result_text.text()
