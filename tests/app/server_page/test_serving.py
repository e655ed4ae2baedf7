"""The server's settings and the snippets: a snippet that does not work sends a person away."""

from __future__ import annotations

import json

import pytest

from app.engine_client.process import engine_command
from app.server_page.serving import DEFAULT_PORT, ServerSettings, new_key, serving_from
from app.server_page.snippets import SNIPPETS


def test_the_server_is_off_until_somebody_turns_it_on() -> None:
    assert serving_from({}) is None and serving_from({"on": True}) is None
    assert "--port 0" in " ".join(engine_command())


@pytest.mark.parametrize("port", [0, 70_000, "8080", True, None])
def test_a_port_that_makes_no_sense_falls_back(port: object) -> None:
    assert ServerSettings.from_preferences({"port": port}).port == DEFAULT_PORT


def test_what_is_stored_comes_back_and_reaches_the_engine() -> None:
    settings = ServerSettings(True, 9000, True, new_key())
    assert ServerSettings.from_preferences(settings.to_preferences()) == settings
    serving = serving_from(settings.to_preferences())
    assert serving is not None and (serving.host, serving.port, serving.key) == ("0.0.0.0", 9000, settings.key)
    assert settings.key not in " ".join(engine_command()), "any user of the computer can read command lines"
    only_here = serving_from(ServerSettings(True, 9000, False, "k").to_preferences())
    assert only_here is not None and only_here.host == "127.0.0.1"


def test_keys_differ_and_cannot_be_guessed() -> None:
    assert len({new_key() for _ in range(50)}) == 50 and len(new_key()) > 30


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda one: one.name)
def test_every_snippet_names_address_key_and_model(snippet: object) -> None:
    text = snippet.make("http://127.0.0.1:9", "the-key", 'my "model"')  # type: ignore[attr-defined]
    assert "http://127.0.0.1:9" in text and "the-key" in text and "my " in text
    if snippet.name == "editor":  # type: ignore[attr-defined]
        assert json.loads(text)["models"][0]["model"] == 'my "model"'
    elif "import" in text:
        compile(text, "snippet", "exec")
