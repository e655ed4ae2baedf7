"""Rendering a model's chat template: a Jinja program from a file that nobody has reviewed, so sandboxed.

Pure, but without a limit on time and memory: the service renders in a process of its own (`template_process`).
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.errors import GannetError

# What models without a template of their own are most often trained with.
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + (m['content'] or '') + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


class TemplateError(GannetError):
    """The template refuses the messages, is broken, or takes too long; the line says which."""


class _Generation(Extension):
    """`{% generation %}` marks the model's own words for training; what is inside is rendered as it stands."""

    tags = {"generation"}  # noqa: RUF012 - Jinja's interface

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None, **options: Any) -> str:
    """JSON as models were trained on it: no HTML escapes."""
    allowed = {name: options[name] for name in ("separators", "sort_keys") if name in options}
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **allowed)


def _raise_exception(message: str) -> None:
    raise TemplateError(f"the model's chat template refuses these messages: {message}")


def _strftime_now(pattern: str) -> str:
    return datetime.datetime.now().strftime(pattern)


@lru_cache(maxsize=4)
def _compiled(template: str) -> jinja2.Template:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation]
    )
    environment.filters["tojson"] = _tojson
    environment.globals.update(raise_exception=_raise_exception, strftime_now=_strftime_now)
    return environment.from_string(template)


def render(template: str, variables: Mapping[str, Any]) -> str:
    """The prompt that `template` makes of `variables` (messages, tools, ...). Raises `TemplateError`."""
    try:
        return _compiled(template).render(**variables)
    except TemplateError:
        raise
    except Exception as error:  # a template is a program of the model's author and may raise anything
        raise TemplateError(f"the model's chat template refuses these messages: {error}") from error
