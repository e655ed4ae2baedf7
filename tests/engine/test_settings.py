"""Every setting is declared completely, once, and a wrong value is refused in one line that names it."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import SettingsError
from engine.settings import EngineSettings, live_settings, make_settings, setting_extra


@pytest.mark.parametrize("name", EngineSettings.model_fields)
def test_a_setting_can_be_shown_in_a_form_without_further_knowledge(name: str) -> None:
    shown = EngineSettings.model_json_schema()["properties"][name]
    assert shown["title"]
    assert shown["description"].endswith(".")
    assert isinstance(shown["live"], bool)
    assert shown["group"] in {"memory", "speed", "answer", "compute"}
    assert shown["option"].startswith("--")


def test_two_settings_never_share_an_option() -> None:
    options = [setting_extra(name)["option"] for name in EngineSettings.model_fields]
    assert len(set(options)) == len(options)


def test_the_cache_can_change_while_a_model_is_loaded_and_the_context_cannot() -> None:
    assert "cache_bytes" in live_settings()
    assert "context_length" not in live_settings()


@pytest.mark.parametrize(
    "values",
    [
        {"threads": 0},
        {"temperature": -1},
        {"cache_bytes": -5},
        {"context_length": "many"},
        {"no_such_setting": 1},
        {"top_p": 1.5},
    ],
)
def test_a_wrong_value_is_refused_by_name(values: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as refused:
        make_settings(values)
    assert next(iter(values)) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_settings_survive_being_saved() -> None:
    settings = make_settings({"cache_bytes": 1 << 33, "plain": True, "seed": 7})
    assert EngineSettings.model_validate_json(settings.model_dump_json()) == settings
