"""A prompt that is not wanted any more ends within the layer it is in, not at its end."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from engine import streaming
from engine.answer import AnswerOptions, Finished, answer
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.settings import EngineSettings
from engine.stop_flag import StopFlag

_SLOW_NS_PER_MIB = 400_000_000
"""A drive so slow that a layer of the demo model takes longer than any pause of this process."""


@pytest.fixture
def slow_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    made = streaming._native.ModelSettings

    def slow() -> streaming._native.ModelSettings:
        settings = made()
        settings.throttle_ns_per_mib = _SLOW_NS_PER_MIB
        return settings

    monkeypatch.setattr(streaming._native, "ModelSettings", slow)


def layers_run(loaded: LoadedModel) -> int:
    return sum(any(row) for row in loaded.expert_map().uses)


def stop_in_the_first_layers(loaded: LoadedModel, flag: StopFlag, seen: list[int]) -> None:
    while layers_run(loaded) < 2:
        time.sleep(0.001)
    flag.set()
    seen.append(layers_run(loaded))


@pytest.mark.usefixtures("slow_drive")
def test_a_prompt_stops_within_a_layer(demo_model: Path) -> None:
    settings = EngineSettings(context_length=512, ubatch=256, threads=1, cache_bytes=8 << 20, census=False)
    with load(open_model(demo_model), settings) as loaded:
        prompt = loaded.llama.tokenize(b"Tell me a story about a fox. " * 20, special=True)[:200]
        flag, seen = StopFlag(), []
        watcher = threading.Thread(target=stop_in_the_first_layers, args=(loaded, flag, seen))
        watcher.start()
        *_, last = answer(loaded, prompt, AnswerOptions(max_tokens=4, temperature=0.0), stop_flag=flag)
        watcher.join()
        assert isinstance(last, Finished)
        assert last.reason == "cancelled"
        assert last.result.tokens == ()
        assert layers_run(loaded) <= seen[0] + 1 < len(loaded.expert_map().uses)
