"""The user's presets: never lost, whatever the file looks like."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.presets.preset import Preset, built_in_presets, differing, own_key
from app.presets.store import VERSION, PresetStore
from engine.settings import EngineSettings, make_settings

OWN = Preset("", "For the train", "", {"io_threads": 2})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "presets.json"


def test_built_in_presets_are_settings_the_engine_takes() -> None:
    """A preset the engine refuses would leave the user without an answer."""
    presets = built_in_presets()
    assert [one.key for one in presets] == ["balanced", "light", "fastest", "long_context"]
    for preset in presets:
        make_settings(preset.resolved(16 << 30))
    assert presets[0].settings == {} and presets[1].resolved(16 << 30)["headroom_bytes"] == 8 << 30
    assert "headroom_bytes" not in presets[1].resolved(0)


def test_own_presets_come_back_after_a_restart(path: Path) -> None:
    kept = PresetStore(path).save_own(OWN)
    again = PresetStore(path)
    assert again.preset(kept.key) == kept and kept.own and kept.key == "own-for-the-train"
    changed = again.save_own(Preset(kept.key, "Train", "", {"io_threads": 3}))
    assert [one.title for one in PresetStore(path).presets() if one.own] == ["Train"] and changed.key == kept.key


def test_removing_can_be_undone(path: Path) -> None:
    store = PresetStore(path)
    kept = store.save_own(OWN)
    removed = store.remove_own(kept.key)
    assert removed == kept and not any(one.own for one in PresetStore(path).presets())
    store.save_own(removed)
    assert PresetStore(path).preset(kept.key) == kept
    assert store.remove_own("balanced") is None


@pytest.mark.parametrize("content", ["{", "[]", '{"version": 99, "presets": [], "tuned": {}}', '{"version": 2}'])
def test_a_broken_file_is_put_aside_and_said(path: Path, content: str) -> None:
    path.write_text(content, encoding="utf-8")
    store = PresetStore(path)
    assert "kept as presets.json.broken" in store.note and store.presets()[0].key == "balanced"
    (aside,) = path.parent.glob("presets.json.broken-*")
    assert aside.read_text(encoding="utf-8") == content


def test_a_broken_entry_costs_itself_only(path: Path) -> None:
    entries = [{"key": "own-a", "title": "A", "settings": 3}, {"key": "own-b", "title": "B", "settings": {"seed": 1}}]
    path.write_text(json.dumps({"version": VERSION, "presets": entries, "tuned": {}}), encoding="utf-8")
    store = PresetStore(path)
    assert [one.title for one in store.presets() if one.own] == ["B"] and "One of your presets" in store.note


def test_a_file_of_the_first_version_is_carried_over(path: Path) -> None:
    entries = [{"key": "own-b", "title": "B", "summary": "", "settings": {"seed": 1}}]
    path.write_text(json.dumps({"version": 1, "presets": entries}), encoding="utf-8")
    store = PresetStore(path)
    assert [one.title for one in store.presets() if one.own] == ["B"] and not store.note


def test_measured_values_replace_ours_for_that_model_only(path: Path) -> None:
    store = PresetStore(path)
    store.keep_tuned("/m/a.gguf", {"presets": {"fastest": {"io_threads": 16}}, "tokens_per_s": 5.5})
    again = PresetStore(path)
    assert again.preset("fastest", "/m/a.gguf").settings == {"io_threads": 16}
    assert again.preset("fastest", "/m/a.gguf").tuned and not again.preset("fastest", "/m/b.gguf").tuned
    assert again.tuned("/m/a.gguf")["tokens_per_s"] == 5.5
    again.keep_tuned("/m/a.gguf", None)
    assert PresetStore(path).tuned("/m/a.gguf") == {}


def test_only_differences_are_stored() -> None:
    defaults = {name: field.default for name, field in EngineSettings.model_fields.items()}
    assert differing({**defaults, "seed": 4, "unknown": 1}, defaults) == {"seed": 4}
    assert own_key("  ", ["own-preset"]) == "own-preset-2"
