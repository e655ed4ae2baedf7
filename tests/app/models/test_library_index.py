"""What is known of the models between scans: nothing may vanish because a drive is not plugged in."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.models.facts import ModelFacts
from app.models.inspection import facts_from_inspection
from app.models.library import ModelFile, ScanResult, scan
from app.models.library_index import LibraryIndex, load_index, save_index
from app.models.shape import ModelShape
from engine.server.inspecting import facts as inspected
from engine.settings import EngineSettings

FACTS = ModelFacts("Qwen3", "qwen3moe", "Q4_K_M", 48, ModelShape(1000, 900, 128, 8, 10, 4096))


def model(folder: Path, name: str, size: int = 10) -> ModelFile:
    return ModelFile(folder / f"{name}.gguf", name, size, 1)


@pytest.fixture
def index(tmp_path: Path) -> LibraryIndex:
    made = LibraryIndex()
    made.set_folders([tmp_path / "in", tmp_path / "usb"])
    made.scanned(tmp_path / "in", ScanResult([model(tmp_path / "in", "b")]))
    made.scanned(tmp_path / "usb", ScanResult([model(tmp_path / "usb", "a")]))
    return made


def test_a_missing_drive_marks_its_models_and_brings_them_back(index: LibraryIndex, tmp_path: Path) -> None:
    index.set_facts(model(tmp_path / "usb", "a"), FACTS)
    index.scanned(tmp_path / "usb", None)
    assert [(one.title, one.away) for one in index.entries()] == [("b", False), ("a", True)]
    save_index(index, tmp_path / "index.json")
    again = load_index(tmp_path / "index.json")
    again.scanned(tmp_path / "usb", None)
    assert again.entries()[1].away and again.entries()[1].facts == FACTS
    again.scanned(tmp_path / "usb", ScanResult([model(tmp_path / "usb", "a")]))
    assert not again.entries()[0].away and again.entries()[0].facts == FACTS


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(index: LibraryIndex, tmp_path: Path) -> None:
    for file in index.without_facts():
        index.set_facts(file, FACTS)
    assert index.without_facts() == ()
    index.scanned(tmp_path / "in", ScanResult([model(tmp_path / "in", "b", size=11)]))
    assert [file.name for file in index.without_facts()] == ["b"]
    assert next(one for one in index.entries() if one.title == "b").facts is None


def test_overlapping_folders_show_a_model_once(tmp_path: Path) -> None:
    (tmp_path / "all/sub").mkdir(parents=True)
    (tmp_path / "all/sub/m.gguf").write_bytes(b"x")
    index = LibraryIndex()
    index.set_folders([tmp_path / "all", tmp_path / "all/sub"])
    for folder in index.folders:
        index.scanned(folder, scan(folder))
    assert len(index.entries()) == 1


def test_removing_a_folder_forgets_its_facts_only(index: LibraryIndex, tmp_path: Path) -> None:
    for file in index.without_facts():
        index.set_facts(file, FACTS)
    index.set_folders([tmp_path / "in"])
    assert len(index.to_json()["facts"]) == 1 and len(index.entries()) == 1


def test_a_broken_index_is_made_again_and_said(tmp_path: Path) -> None:
    (tmp_path / "index.json").write_text('{"version": 1, "folders": 3, "facts": {}}', encoding="utf-8")
    index = load_index(tmp_path / "index.json")
    assert index.folders == {} and "index.json.broken" in index.note


def test_incomplete_models_are_not_inspected(index: LibraryIndex, tmp_path: Path) -> None:
    half = ModelFile(tmp_path / "in/x-00002-of-00002.gguf", "x", 5, 1, 1, 2)
    index.scanned(tmp_path / "in", ScanResult([half]))
    assert half not in index.without_facts()


def test_the_engines_own_answer_about_the_demo_model_is_understood() -> None:
    """What the engine says of a model and what the window reads of it must not drift apart."""
    demo = Path(__file__).parents[3] / "assets" / "demo-moe.gguf"
    facts, problem = facts_from_inspection(inspected(demo, EngineSettings()))
    assert problem == "" and facts is not None
    assert (facts.architecture, facts.quantization, facts.n_layer) == ("qwen3moe", "Q4_K", 8)
    assert facts.shape.is_moe and facts.shape.total_bytes == demo.stat().st_size and facts.shape.kv_bytes_per_token > 0
    assert ModelFacts.from_json(facts.to_json()) == facts


@pytest.mark.parametrize("content", [None, [], {}, {"total_bytes": "much"}])
def test_an_answer_that_says_nothing_becomes_a_sentence(content: object) -> None:
    facts, problem = facts_from_inspection(content)
    assert facts is None and problem.endswith(".")
