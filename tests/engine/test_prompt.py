"""Prompts are what the model was trained on: its own template, its begin-of-text token once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import GannetError
from engine.gguf import open_model
from engine.loader import LoadedModel, load
from engine.prompt import chat_prompt, text_prompt
from engine.settings import EngineSettings


@pytest.fixture(scope="module")
def demo(demo_model: Path) -> Iterator[LoadedModel]:
    with load(open_model(demo_model), EngineSettings(plain=True, context_length=64, ubatch=8, threads=1)) as loaded:
        yield loaded


def test_messages_go_through_the_models_template_with_special_tokens_as_such(demo: LoadedModel) -> None:
    prompt = chat_prompt(demo.llama, [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}])
    assert (
        prompt.text == "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )
    start = demo.llama.tokenize(b"<|im_start|>", add_bos=False, special=True)
    assert len(start) == 1
    assert prompt.tokens.count(start[0]) == 3


def test_plain_text_cannot_smuggle_in_special_tokens(demo: LoadedModel) -> None:
    assert len(text_prompt(demo.llama, "<|im_start|>").tokens) > 1


def test_a_template_that_refuses_is_one_line(demo: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(demo.llama.metadata, "tokenizer.chat_template", "{{ raise_exception('roles must alternate') }}")
    with pytest.raises(GannetError, match="roles must alternate"):
        chat_prompt(demo.llama, [{"role": "user", "content": "Hi"}])


def test_a_model_without_a_template_gets_a_common_one_that_ends_by_its_texts(
    demo: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(demo.llama.metadata, "tokenizer.chat_template")
    prompt = chat_prompt(demo.llama, [{"role": "user", "content": "Hi"}])
    assert prompt.text.endswith("<|im_start|>assistant\n")
    assert "<|im_end|>" in prompt.stop


def test_a_template_that_writes_the_begin_token_does_not_get_it_twice(
    demo: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(demo.llama.metadata, "tokenizer.chat_template", "{{ bos_token }}{{ messages[0]['content'] }}")
    begin = demo.llama.token_bos()
    assert begin != -1
    assert chat_prompt(demo.llama, [{"role": "user", "content": "Hi"}]).tokens.count(begin) == 1
