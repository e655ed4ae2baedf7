"""A trained lookahead in the engine: it guesses better, and no answer ever depends on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.census import fingerprint
from engine.cli import main
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.lookahead.correction import LARGEST, Correction, LookaheadCorrection, place_of
from engine.places import state_folder
from engine.settings import EngineSettings
from engine.verification import first_difference, record
from tests.models import Recipe

PROMPT = [int(token) for token in np.random.default_rng(5).integers(0, 500, 12)]
SETTINGS = EngineSettings(context_length=128, threads=1, cache_bytes=8 << 20, lookahead=2, census=False)
QUESTIONS = (
    "Tell me a story about a fox.", "What is 41 minus 28?", "Spell owl.", "Count from 3 to 9.", "Write a short poem.",
    "Tell me a story about a bear.", "What is the past tense of go?", "Tell me a story.", "What is 7 plus 15?",
)  # fmt: skip


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GANNET_HOME", str(tmp_path))


def nonsense(model: Path, wrong: int = 0) -> LookaheadCorrection:
    """As large as a file may say, at every place; `wrong` is added to the right width."""
    files = open_model(model)
    width = files.n_embd + wrong
    layers, experts = len({e.layer for e in files.experts()}), files.n_expert
    random = np.random.default_rng(1)

    def part() -> Correction:
        shapes = (experts, 16), (16, width), (experts,)
        return Correction(*(np.float32(LARGEST) * random.uniform(-1, 1, s).astype(np.float32) for s in shapes))

    places = [(layer, d) for layer in range(layers) for d in (1, 2) if d <= layer]
    return LookaheadCorrection(fingerprint(files), layers, experts, width, {place: part() for place in places})


def save(correction: LookaheadCorrection) -> Path:
    path = place_of(state_folder(), correction.model)
    correction.save(path)
    return path


def recall(loaded: LoadedModel) -> float:
    """The share of experts that were predicted a layer ahead, since the load."""
    record(loaded, loaded.llama.tokenize(b"Tell me a story about a clever owl.", special=True), 40, 64)
    return loaded.telemetry().recall[1]


@pytest.fixture(scope="module")
def trace(demo_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of the demo model with hidden states, as `gannet trace` writes it."""
    asked = [word for question in QUESTIONS for word in ("--prompt", question)]
    out = tmp_path_factory.mktemp("traced") / "t.npz"
    command = ["trace", str(demo_model), "--hidden", "64MiB", "--tokens", "30", "--threads", "1", "--out", str(out)]
    assert main([*command, *asked, "--ignore-end"]) == 0
    return out


def test_what_is_learnt_from_a_trace_raises_recall_and_changes_no_logit(
    demo_model: Path, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit-lookahead", str(demo_model), str(trace), "--distance", "1"]) == 0
    shown = capsys.readouterr()
    assert "| all | " in shown.out and fingerprint(open_model(demo_model)) in shown.err
    files = open_model(demo_model)
    with load(files, SETTINGS.model_copy(update={"lookahead_correction": False})) as loaded:
        before, plain = recall(loaded), record(loaded, PROMPT, 8, 64)
    with load(files, SETTINGS) as loaded:
        assert loaded.notes == ()
        assert recall(loaded) > before + 0.02
        assert first_difference(plain, record(loaded, PROMPT, 8, 64)) is None


@pytest.mark.parametrize("architecture", ["qwen3moe", "glm4moe", "gpt-oss"])
def test_nonsense_spoils_the_guesses_and_no_logit(tiny_model: Callable[[Recipe], Path], architecture: str) -> None:
    path = tiny_model(Recipe(architecture))
    files = open_model(path)
    changes = {"cache_bytes": sum(e.tensor.nbytes for e in files.experts()) // 2}
    with load(files, SETTINGS.model_copy(update=changes)) as loaded:
        plain, notes = record(loaded, PROMPT, 8, 64), loaded.notes
    save(nonsense(path))
    with load(files, SETTINGS.model_copy(update=changes)) as loaded:
        assert loaded.notes == notes
        assert first_difference(plain, record(loaded, PROMPT, 8, 64)) is None
        loaded.apply(loaded.settings.model_copy(update={"lookahead_correction": False}))
        assert first_difference(plain, record(loaded, PROMPT, 8, 64)) is None


def test_it_is_turned_on_and_off_while_the_model_is_loaded(demo_model: Path) -> None:
    files = open_model(demo_model)
    save(nonsense(demo_model))
    with load(files, SETTINGS) as loaded:
        spoiled = recall(loaded)
        loaded.apply(loaded.settings.model_copy(update={"lookahead_correction": False}))
        assert recall(loaded) > spoiled + 0.1


@pytest.mark.parametrize("damage", ["cut", "other width", "nan"])
def test_what_is_not_sound_is_a_note_and_never_used(demo_model: Path, damage: str) -> None:
    correction = nonsense(demo_model, 32 if damage == "other width" else 0)
    if damage == "nan":
        correction.parts[1, 1].bias[0] = np.nan
    path = save(correction)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-500])
    files = open_model(demo_model)
    with load(files, SETTINGS) as loaded:
        [note] = loaded.notes
        found = recall(loaded)
    path.unlink()
    with load(files, SETTINGS) as loaded:
        assert loaded.notes == ()
        assert recall(loaded) == found
    assert path.name in note


def test_the_command_only_prints_and_forgets(
    demo_model: Path, trace: Path, capsys: pytest.CaptureFixture[str], tiny_model: Callable[[Recipe], Path]
) -> None:
    model, traced = str(demo_model), str(trace)
    path = place_of(state_folder(), fingerprint(open_model(demo_model)))
    assert main(["fit-lookahead", model, traced, "--no-save", "--json", "--distance", "1"]) == 0
    outcomes = json.loads(capsys.readouterr().out)
    assert [o["layer"] for o in outcomes] == list(range(1, 8)) and not path.exists()
    assert main(["fit-lookahead", str(tiny_model(Recipe())), traced]) == 2
    assert "another model" in capsys.readouterr().err
    assert main(["fit-lookahead", model]) == 2
    assert main(["fit-lookahead", model, traced, "--distance", "9"]) == 2
    assert "--distance 9" in capsys.readouterr().err
    save(nonsense(demo_model))
    assert main(["fit-lookahead", model, "--remove"]) == 0
    assert not path.exists()
