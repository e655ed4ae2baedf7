"""Text and messages to prompt tokens, through the model's tokenizer and its own chat template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import llama_cpp
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from engine.errors import GannetError

# What models without a template of their own are most often trained with.
_CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@dataclass(frozen=True)
class Prompt:
    """Tokens to answer, and texts that end the answer although they are not one special token of the model."""

    tokens: list[int]
    stop: tuple[str, ...] = ()
    text: str = ""


def text_prompt(llama: llama_cpp.Llama, text: str) -> Prompt:
    """`text` as it stands, after the model's begin-of-text token if it has one. Special tokens are plain text."""
    return Prompt(llama.tokenize(text.encode("utf-8", "replace"), add_bos=True, special=False), text=text)


def chat_prompt(llama: llama_cpp.Llama, messages: Sequence[Mapping[str, Any]], **variables: Any) -> Prompt:
    """`messages` (role, content, ...) through the model's chat template; `variables` (tools, ...) go to it.

    A model without a template gets ChatML. Raises `GannetError` if the template refuses the messages.
    """
    own = llama.metadata.get("tokenizer.chat_template")
    formatter = Jinja2ChatFormatter(
        template=own or _CHATML,
        eos_token=_token_text(llama, llama.token_eos()),
        bos_token=_token_text(llama, llama.token_bos()),
    )
    try:
        text = formatter(messages=list(messages), **variables).prompt  # type: ignore[arg-type]
    except Exception as error:  # a template is a program of the model's author and may raise anything
        raise GannetError(f"the model's chat template refuses these messages: {error}") from error
    stop = () if own else ("<|im_end|>", "<|im_start|>")
    # Templates write the begin-of-text token themselves; those that leave it out mean the tokenizer to add it.
    bos = formatter.bos_token
    add_bos = not (bos and text.startswith(bos))
    return Prompt(llama.tokenize(text.encode("utf-8", "replace"), add_bos=add_bos, special=True), stop, text)


def _token_text(llama: llama_cpp.Llama, token: int) -> str:
    if token == -1:
        return ""
    text: bytes = llama_cpp.llama_vocab_get_text(llama_cpp.llama_model_get_vocab(llama.model), token)
    return text.decode("utf-8", "replace")
