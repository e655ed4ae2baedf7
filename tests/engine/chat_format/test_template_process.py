"""A chat template comes from a stranger's file: it must not read this machine, hang the server or fill its memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from engine.chat_format.template import CHATML, TemplateError, render
from engine.chat_format.template_process import SchemaError, TemplateProcess

MESSAGES = [{"role": "user", "content": "Hi"}]


@pytest.fixture(scope="module")
def process() -> Iterator[TemplateProcess]:
    made = TemplateProcess(seconds=1.0)
    made.start()
    yield made
    made.close()


def test_it_renders_as_in_process(process: TemplateProcess) -> None:
    variables = {"messages": MESSAGES, "add_generation_prompt": True}
    assert process.render(CHATML, variables) == render(CHATML, variables)
    assert render(CHATML, variables) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
        "{% set ns = namespace(x='a') %}{% for i in range(99999) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{{ 'a' * 99999999999 }}",
        "{{ 'a'.center(99999999999) }}",
        "{{ '{:>99999999999}'.format(1) }}",
        "{{ 10 ** (10 ** 10) }}",
    ],
)
def test_endless_and_bloated_templates_are_ended(process: TemplateProcess, template: str) -> None:
    started = time.monotonic()
    with pytest.raises(TemplateError):
        process.render(template, {"messages": MESSAGES})
    assert time.monotonic() - started < 5
    assert process.render("{{ messages[0].content }}", {"messages": MESSAGES}) == "Hi"


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.__init__.__globals__ }}",
        "{{ raise_exception.__globals__['__builtins__']['open']('/etc/passwd').read() }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{{ messages.append(1) }}",
        "{% include '/etc/passwd' %}",
        "{{ unclosed",
    ],
)
def test_templates_reach_nothing_outside(process: TemplateProcess, template: str) -> None:
    with pytest.raises(TemplateError):
        process.render(template, {"messages": MESSAGES})


def test_a_template_may_refuse_a_conversation_in_its_own_words(process: TemplateProcess) -> None:
    with pytest.raises(TemplateError, match="roles must alternate"):
        process.render("{{ raise_exception('roles must alternate') }}", {"messages": MESSAGES})


def test_what_templates_expect_of_huggingface_is_there(process: TemplateProcess) -> None:
    template = "{% generation %}{{ {'ü': '<&>'} | tojson }}{% endgeneration %}{{ strftime_now('%Y')[:2] }}"
    assert process.render(template, {}) == '{"ü": "<&>"}20'
    loop = "{% for m in [1,2,3] %}{% if m == 2 %}{% continue %}{% endif %}{{ m }}{% endfor %}"
    assert process.render(loop, {}) == "13"


def test_schemas_become_grammars_or_one_line(process: TemplateProcess) -> None:
    grammar = process.schema_grammar({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    assert "root ::=" in grammar
    for schema in ({"$ref": "#/nowhere"}, {"type": "no such type"}, {"$ref": "https://example.org/schema"}):
        with pytest.raises(SchemaError) as caught:
            process.schema_grammar(schema)
        assert "\n" not in str(caught.value)


def test_many_threads_get_their_own_answers(process: TemplateProcess) -> None:
    wrong: list[int] = []

    def check(number: int) -> None:
        for _ in range(20):
            if process.render("{{ x }}", {"x": number}) != str(number):
                wrong.append(number)

    threads = [threading.Thread(target=check, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_closing_ends_the_process() -> None:
    made = TemplateProcess(1.0)
    made.start()
    children = psutil.Process().children()
    made.close()
    assert len(psutil.Process().children()) < len(children)
