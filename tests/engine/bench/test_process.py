"""What happens to a run is a result, whatever it is; and the page cache is only called empty if it is."""

from __future__ import annotations

from pathlib import Path

from engine.bench import page_cache, process
from engine.bench.machine import commit, facts, processor_name
from engine.bench.measuring import Task, settings_of
from engine.gguf import open_model


def test_a_model_that_cannot_be_loaded_is_an_error_of_that_run(tmp_path: Path) -> None:
    values = process.run(Task(str(tmp_path / "none.gguf"), 4, 4, 0), None)
    assert "none.gguf" in values["error"]


def test_how_a_child_ended_is_told() -> None:
    assert process._outcome(-9, "", "") == {"error": "ended by signal 9"}
    assert process._outcome(2, "", "noise\ngannet: no such thing\n") == {"error": "no such thing"}
    assert process._outcome(1, "", "") == {"error": "ended with code 1 and no figures"}
    assert process._outcome(0, 'a line\n{"load_s": 1.5}\n', "") == {"load_s": 1.5}


def test_a_page_cache_that_cannot_be_emptied_is_not_called_cold(tmp_path: Path) -> None:
    assert page_cache.drop(tmp_path / "drop_caches") is False
    switch = tmp_path / "switch"
    switch.write_text("0")
    assert page_cache.drop(switch) is True
    assert switch.read_text() == "3\n"


def test_the_machine_is_described_from_what_it_says(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor: 0\nmodel name\t: Some CPU @ 3 GHz\n")
    assert processor_name(cpuinfo) == "Some CPU @ 3 GHz"
    assert {"cores", "memory", "system", "Python", "llama-cpp-python"} <= set(facts())
    assert commit(tmp_path) == "", "a folder that is no checkout has no commit"


def test_nothing_learned_from_earlier_runs_is_used(demo_model: Path) -> None:
    """A census of the bench's own prompt would make every run but the first look faster than a user's."""
    task = Task(str(demo_model), 4, 4, 0, cache="50%", settings={"lookahead": 2})
    settings = settings_of(task, open_model(demo_model))
    assert (settings.census, settings.lookahead_correction, settings.lookahead) == (False, False, 2)
