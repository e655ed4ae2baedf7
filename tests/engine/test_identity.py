"""The first promise: streamed answers are llama.cpp's own, bit for bit, however small the cache.

Every logit of a prompt (in batches of several sizes, so that decode kernels, partial waves and whole waves run) and of
greedy decoding after it is compared with stock llama.cpp in a process of its own.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from engine.answer import AnswerOptions, Finished, answer
from engine.gguf import ModelFiles, open_model
from engine.loader import LoadedModel, load
from engine.prompt import chat_prompt
from engine.settings import EngineSettings
from engine.verification import Recording, first_difference, record
from tests.engine.reference import DECODE, plain_recordings, settings
from tests.models import ARCHITECTURES, QUANTIZATIONS, Recipe

PROMPT = [int(token) for token in np.random.default_rng(5).integers(0, 900, 70)]
# Sizes of prompt batch, each with a prompt that takes several batches; a batch of 1 is computed as decoding is.
RUNS = [(1, PROMPT[:10]), (7, PROMPT[:20]), (32, PROMPT[:40]), (64, PROMPT)]
# Shares of the expert bytes. 0: less than one layer of one token needs. 0.15: less than one token needs.
ALL_CACHES = (0.0, 0.15, 0.4, 1.0)
SMALL_CACHES = (0.0, 0.4)

Build = Callable[[Recipe], Path]


@pytest.fixture(scope="module")
def stock() -> Iterator[ProcessPoolExecutor]:
    """Another process, in which nothing of ours is registered."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


def check(stock: ProcessPoolExecutor, path: Path, caches: tuple[float, ...], **changes: object) -> None:
    """Compare at each cache size, and see that experts did come from the file."""
    expected = stock.submit(plain_recordings, path, RUNS, **changes)
    files = open_model(path)
    wrong = []
    for share in caches:
        with load(files, settings(cache_bytes=round(share * expert_bytes(files)), **changes)) as loaded:
            for (batch, prompt), plain in zip(RUNS, expected.result(), strict=True):
                wrong += compare(f"cache {share:.0%}, batch {batch}", plain, record(loaded, prompt, DECODE, batch))
            assert loaded.telemetry().bytes_read > 0
    assert not wrong, "\n".join(wrong)


def compare(what: str, plain: Recording, streamed: Recording) -> list[str]:
    difference = first_difference(plain, streamed)
    if difference is None:
        assert (plain.tokens == streamed.tokens).all()
        return []
    return [f"{what}: {difference}"]


def expert_bytes(files: ModelFiles) -> int:
    return sum(expert.tensor.nbytes for expert in files.experts())


@pytest.mark.parametrize("architecture", [name for name in ARCHITECTURES if name != "gpt-oss"])
def test_every_architecture_at_every_cache_size(
    stock: ProcessPoolExecutor, tiny_model: Build, architecture: str
) -> None:
    check(stock, tiny_model(Recipe(architecture, "Q4_K_M")), ALL_CACHES)


def test_biases_clamps_and_sliding_windows_at_every_cache_size(stock: ProcessPoolExecutor, tiny_model: Build) -> None:
    check(stock, tiny_model(Recipe("gpt-oss", "MXFP4")), ALL_CACHES)


@pytest.mark.parametrize("quantization", [name for name in QUANTIZATIONS if name != "Q4_K_M"])
def test_every_quantization(stock: ProcessPoolExecutor, tiny_model: Build, quantization: str) -> None:
    check(stock, tiny_model(Recipe("qwen3moe", quantization)), SMALL_CACHES)


@pytest.mark.parametrize("architecture", ["mixtral", "deepseek2-fused", "glm4moe", "gpt-oss"])
@pytest.mark.parametrize("quantization", ["F16", "Q8_0"])
def test_other_types_in_other_graphs(
    stock: ProcessPoolExecutor, tiny_model: Build, architecture: str, quantization: str
) -> None:
    check(stock, tiny_model(Recipe(architecture, quantization)), (0.15,))


def test_a_split_model(stock: ProcessPoolExecutor, tiny_model: Build) -> None:
    check(stock, tiny_model(Recipe("qwen3moe", "Q4_K_M", parts=3)), SMALL_CACHES)


@pytest.mark.parametrize(
    "changes",
    [
        {"threads": 2},
        {"flash_attention": False},
        {"lookahead": 0},
        {"lookahead": 3},
        {"lookahead": 4, "lookahead_width": 16, "prefetch_bar": 0.0, "prefetch_depth": 16},
        {"io_threads": 1},
    ],
    ids=str,
)
def test_whatever_is_set(stock: ProcessPoolExecutor, tiny_model: Build, changes: dict[str, object]) -> None:
    check(stock, tiny_model(Recipe("qwen3moe", "Q4_K_M")), SMALL_CACHES, **changes)


def test_a_cache_that_changes_its_size_between_answers(stock: ProcessPoolExecutor, tiny_model: Build) -> None:
    path = tiny_model(Recipe("qwen3moe", "Q4_K_M"))
    [plain] = stock.submit(plain_recordings, path, [(7, PROMPT)]).result()
    files = open_model(path)
    with load(files, settings(cache_bytes=expert_bytes(files))) as loaded:
        for share in (1.0, 0.1, 0.5, 0.0, 0.3):
            loaded.resize_cache(round(share * expert_bytes(files)))
            assert compare(f"after a change to {share:.0%}", plain, record(loaded, PROMPT, DECODE, 7)) == []


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_a_cache_that_changes_its_size_all_the_time(stock: ProcessPoolExecutor, tiny_model: Build, batch: int) -> None:
    path = tiny_model(Recipe("qwen3moe", "Q4_K_M"))
    [plain] = stock.submit(plain_recordings, path, [(batch, PROMPT)]).result()
    files = open_model(path)
    ended = threading.Event()
    with load(files, settings(cache_bytes=expert_bytes(files), threads=2)) as loaded:

        def resize_again_and_again() -> None:
            dice = np.random.default_rng(3)
            while not ended.wait(0.001):
                loaded.resize_cache(int(dice.integers(0, expert_bytes(files))))

        resizing = threading.Thread(target=resize_again_and_again)
        resizing.start()
        try:
            wrong = [
                line for _ in range(3) for line in compare("resized", plain, record(loaded, PROMPT, DECODE, batch))
            ]
        finally:
            ended.set()
            resizing.join()
        telemetry = loaded.telemetry()
    assert wrong == []
    assert telemetry.cache_shrinks > 1
    assert telemetry.cache_grows > 1


def test_the_demo_model_tells_its_story_word_for_word_from_a_quarter_of_its_experts(demo_model: Path) -> None:
    files = open_model(demo_model)
    quarter = expert_bytes(files) // 4

    def story(loaded: LoadedModel) -> str:
        prompt = chat_prompt(loaded.llama, [{"role": "user", "content": "Tell me a story about a fox."}])
        *_, last = answer(loaded, prompt.tokens, AnswerOptions(max_tokens=200, temperature=0.0))
        assert isinstance(last, Finished)
        return last.result.text

    common = EngineSettings(context_length=512, threads=1)
    with load(files, common.model_copy(update={"plain": True})) as plain:
        expected = story(plain)
    with load(files, common.model_copy(update={"cache_bytes": quarter})) as streamed:
        assert story(streamed) == expected
        telemetry = streamed.telemetry()
    assert "fox" in expected
    assert telemetry.misses > 0
    assert telemetry.cache_bytes <= quarter
