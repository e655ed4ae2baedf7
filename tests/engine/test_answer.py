"""One answer: the text of llama.cpp, whole and measured, that can be stopped and leaves the model usable."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_cpp.llama_grammar import LlamaGrammar

from engine.answer import (
    AnswerOptions,
    AnswerResult,
    ContextOverflowError,
    Finished,
    Piece,
    PromptProgress,
    answer,
)
from engine.errors import GannetError
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.prompt import chat_prompt, text_prompt
from engine.settings import EngineSettings
from engine.stop_flag import StopFlag

GREEDY = AnswerOptions(max_tokens=40, temperature=0.0)
QUESTION = [{"role": "user", "content": "Tell me a story about a fox."}]


@pytest.fixture(scope="module")
def demo(demo_model: Path) -> Iterator[LoadedModel]:
    """The demo model on the plain path, with small prompt batches so that several are needed."""
    with load(open_model(demo_model), EngineSettings(plain=True, context_length=256, ubatch=8, threads=1)) as loaded:
        yield loaded


@pytest.fixture(autouse=True)
def fresh_context(demo: LoadedModel) -> None:
    """No test finds its prompt in the context already."""
    list(answer(demo, demo.llama.tokenize(b"zzz", add_bos=False), AnswerOptions(max_tokens=1)))


def ask(demo: LoadedModel, options: AnswerOptions = GREEDY, messages: list[dict[str, str]] = QUESTION) -> Finished:
    *_, last = answer(demo, chat_prompt(demo.llama, messages).tokens, options)
    assert isinstance(last, Finished)
    return last


def test_the_text_is_what_llama_cpp_python_answers(demo: LoadedModel) -> None:
    finished = ask(demo)
    prompt = chat_prompt(demo.llama, QUESTION).tokens
    demo.llama.reset()  # type: ignore[no-untyped-call]
    stock = demo.llama.create_completion(prompt, max_tokens=40, temperature=0.0)
    assert finished.result.text == stock["choices"][0]["text"]
    assert len(finished.result.text) > 100


def test_the_pieces_make_the_text(demo: LoadedModel) -> None:
    events = list(answer(demo, chat_prompt(demo.llama, QUESTION).tokens, GREEDY))
    pieces = [event for event in events if isinstance(event, Piece)]
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert "".join(piece.text for piece in pieces) == finished.result.text
    assert tuple(piece.token for piece in pieces) == finished.result.tokens


def test_the_prompts_progress_is_told_batch_by_batch(demo: LoadedModel) -> None:
    prompt = chat_prompt(demo.llama, QUESTION).tokens
    steps = [event for event in answer(demo, prompt, GREEDY) if isinstance(event, PromptProgress)]
    assert [step.done for step in steps] == [0, *range(8, len(prompt), 8), len(prompt)]
    assert {step.total for step in steps} == {len(prompt)}


def test_the_json_fields_are_those_that_scripts_rely_on() -> None:
    assert [field.name for field in dataclasses.fields(AnswerResult)] == [
        "text",
        "tokens",
        "load_s",
        "first_token_s",
        "prompt_tok_s",
        "decode_tok_s",
        "hit_rate",
        "read_bytes_per_token",
        "stall_ms_per_token",
        "cache_bytes",
        "resident_bytes",
        "notes",
    ]


def test_times_and_counters_are_measured(demo: LoadedModel) -> None:
    before = demo.telemetry()
    finished = ask(demo)
    after = demo.telemetry()
    result = finished.result
    assert result.prompt_tok_s > 0
    assert result.decode_tok_s > 0
    assert result.first_token_s > 0
    assert after.tokens_prompt - before.tokens_prompt == finished.prompt_tokens - finished.reused
    assert after.tokens_decoded - before.tokens_decoded == len(result.tokens) - 1


def test_a_conversation_that_grew_computes_only_what_is_new_and_answers_the_same(demo: LoadedModel) -> None:
    first = ask(demo)
    longer = [
        *QUESTION,
        {"role": "assistant", "content": first.result.text},
        {"role": "user", "content": "What is the capital of France?"},
    ]
    reusing = ask(demo, messages=longer)
    assert reusing.reused > first.prompt_tokens
    demo.llama.reset()  # type: ignore[no-untyped-call]
    fresh = ask(demo, messages=longer)
    assert fresh.reused == 0
    assert fresh.result.text == reusing.result.text
    assert "Paris" in fresh.result.text


def test_asking_the_same_again_answers_the_same(demo: LoadedModel) -> None:
    first, again = ask(demo), ask(demo)
    assert again.reused == first.prompt_tokens - 1
    assert again.result.tokens == first.result.tokens


def test_a_stop_text_ends_the_answer_before_it(demo: LoadedModel) -> None:
    whole = ask(demo).result.text
    finished = ask(demo, dataclasses.replace(GREEDY, stop=("gentle fox",)))
    assert finished.reason == "stop"
    assert finished.result.text == whole[: whole.index("gentle fox")]


def test_the_limit_is_kept_and_named(demo: LoadedModel) -> None:
    finished = ask(demo, dataclasses.replace(GREEDY, max_tokens=3))
    assert len(finished.result.tokens) == 3
    assert finished.reason == "length"


def test_the_models_own_end_stops_and_is_not_shown(demo: LoadedModel) -> None:
    finished = ask(demo, GREEDY, [{"role": "user", "content": "What is the capital of France?"}])
    assert finished.reason == "stop"
    assert finished.result.text == "The capital of France is Paris."


def test_an_answer_ends_where_the_context_does(demo: LoadedModel) -> None:
    prompt = text_prompt(demo.llama, "Once upon a time there was a fox. " * 40).tokens[:250]
    *_, last = answer(demo, prompt, AnswerOptions(temperature=0.0, ignore_end=True))
    assert isinstance(last, Finished)
    assert last.reason == "length"
    assert len(last.result.tokens) == 6


def test_a_prompt_longer_than_the_context_is_refused_with_a_cure_and_nothing_is_lost(demo: LoadedModel) -> None:
    first = ask(demo)
    with pytest.raises(ContextOverflowError, match=r"has 300 tokens and the context holds 256.*--context"):
        list(answer(demo, [5] * 300, GREEDY))
    assert ask(demo).result.tokens == first.result.tokens


def test_an_empty_prompt_is_refused(demo: LoadedModel) -> None:
    with pytest.raises(GannetError, match="empty"):
        list(answer(demo, [], GREEDY))


def test_the_same_seed_gives_the_same_answer_and_another_seed_another(demo: LoadedModel) -> None:
    def sampled(seed: int) -> tuple[int, ...]:
        return ask(demo, AnswerOptions(max_tokens=30, temperature=1.5, min_p=0.0, seed=seed)).result.tokens

    assert sampled(1) == sampled(1)
    assert len({sampled(seed) for seed in range(4)}) > 1


def test_a_grammar_binds_the_answer(demo: LoadedModel) -> None:
    grammar = LlamaGrammar.from_string('root ::= "yes" | "no"', verbose=False)
    assert ask(demo, AnswerOptions(max_tokens=10, grammar=grammar)).result.text in {"yes", "no"}


def test_special_tokens_are_shown_only_on_request(demo: LoadedModel) -> None:
    question = [{"role": "user", "content": "What is the capital of France?"}]
    shown = ask(demo, dataclasses.replace(GREEDY, max_tokens=12, ignore_end=True, special=True), question)
    hidden = ask(demo, dataclasses.replace(GREEDY, max_tokens=12, ignore_end=True), question)
    assert "<|im_end|>" in shown.result.text
    assert "<|" not in hidden.result.text
    assert shown.result.tokens == hidden.result.tokens


def test_stopping_between_two_tokens_keeps_what_was_said(demo: LoadedModel) -> None:
    flag, seen = StopFlag(), []
    for event in answer(demo, chat_prompt(demo.llama, QUESTION).tokens, GREEDY, stop_flag=flag):
        seen.append(event)
        if sum(isinstance(event, Piece) for event in seen) == 5:
            flag.set()
    finished = seen[-1]
    assert isinstance(finished, Finished)
    assert finished.reason == "cancelled"
    assert len(finished.result.tokens) == 5
    assert ask(demo).result.text.startswith(finished.result.text)


def test_stopping_while_the_prompt_is_computed_does_not_wait_for_its_end(demo_model: Path) -> None:
    settings = EngineSettings(plain=True, context_length=1024, ubatch=1024, threads=1)
    with load(open_model(demo_model), settings) as loaded:
        prompt = [5] * 1000
        flag, started = StopFlag(), threading.Event()
        stopper = threading.Thread(target=lambda: (started.wait(), flag.set()))
        stopper.start()
        events = answer(loaded, prompt, GREEDY, stop_flag=flag)
        next(events)
        started.set()
        finished = list(events)[-1]
        stopper.join()
        assert isinstance(finished, Finished)
        assert finished.reason == "cancelled"
        assert finished.result.tokens == ()
        assert loaded.telemetry().tokens_prompt == 0
        reply = list(answer(loaded, chat_prompt(loaded.llama, QUESTION).tokens, GREEDY))[-1]
        assert isinstance(reply, Finished)
        assert "fox" in reply.result.text


def test_a_failed_computation_is_one_line_and_the_next_answer_works(
    demo: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ask(demo)

    def fail(_batch: object) -> None:
        raise RuntimeError("llama_decode returned -3")

    with monkeypatch.context() as broken:
        broken.setattr(demo.llama._ctx, "decode", fail)
        with pytest.raises(GannetError, match="could not compute this answer"):
            ask(demo, messages=[{"role": "user", "content": "Something else?"}])
    assert ask(demo).result.tokens == whole.result.tokens


def test_a_reader_that_goes_away_leaves_the_model_usable(demo: LoadedModel) -> None:
    whole = ask(demo)
    events = answer(demo, chat_prompt(demo.llama, [{"role": "user", "content": "Hello!"}]).tokens, GREEDY)
    for event in events:
        if isinstance(event, Piece):
            break
    events.close()  # type: ignore[attr-defined]
    assert ask(demo).result.tokens == whole.result.tokens
