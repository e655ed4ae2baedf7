"""An answer that was stopped goes on where it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jinja2
import pytest

from engine.server.chat_request import chat_prompt
from engine.server.errors import ApiError
from engine.server.openai_models import ChatBody
from engine.server.prompting import ModelTexts, Prompter

PLAIN = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
THINKING = PLAIN.replace("<assistant>{%", "<assistant><think>\n{%") + "{# </think> #}"
MESSAGES = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, two"}]


def render(template: str, variables: Mapping[str, Any]) -> str:
    return jinja2.Template(template).render(**variables)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (PLAIN, "<user>Count.</><assistant>One, two"),
        (THINKING, "<user>Count.</><assistant><think>\n\n</think>\n\nOne, two"),
    ],
)
def test_the_prompt_ends_with_the_beginning_of_the_answer(template: str, expected: str) -> None:
    """Else Continue begins a new answer in the middle of the old one."""
    body = ChatBody.model_validate({"messages": MESSAGES, "continue_final_message": True})
    assert Prompter(ModelTexts(template, "", ""), render).text(chat_prompt(body)) == expected


def test_only_an_answer_can_be_continued() -> None:
    """Else the user's own words are gone on with."""
    body = ChatBody.model_validate({"messages": MESSAGES[:1], "continue_final_message": True})
    with pytest.raises(ApiError, match="continue_final_message"):
        chat_prompt(body)
