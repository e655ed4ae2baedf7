"""Ready-made settings for programs that speak OpenAI's or Anthropic's language. Pure text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Snippet:
    """One client: its name, where the text belongs (source text for `tr`), and how the text is made."""

    name: str
    title: str
    where: str
    make: Callable[[str, str, str], str]
    """(address without a path, key, model id) -> text."""


def _curl(address: str, key: str, model: str) -> str:
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello!"}]})
    return (
        f"curl {address}/v1/chat/completions \\\n"
        f'  -H "Authorization: Bearer {key}" \\\n'
        f'  -H "Content-Type: application/json" \\\n'
        f"  -d '{body}'"
    )


def _openai(address: str, key: str, model: str) -> str:
    return (
        "from openai import OpenAI\n\n"
        f'client = OpenAI(base_url="{address}/v1", api_key="{key}")\n'
        "answer = client.chat.completions.create(\n"
        f"    model={json.dumps(model)},\n"
        '    messages=[{"role": "user", "content": "Hello!"}],\n'
        ")\n"
        "print(answer.choices[0].message.content)"
    )


def _anthropic(address: str, key: str, model: str) -> str:
    return (
        "from anthropic import Anthropic\n\n"
        f'client = Anthropic(base_url="{address}", api_key="{key}")\n'
        "answer = client.messages.create(\n"
        f"    model={json.dumps(model)},\n"
        "    max_tokens=512,\n"
        '    messages=[{"role": "user", "content": "Hello!"}],\n'
        ")\n"
        "print(answer.content[0].text)"
    )


def _agent(address: str, key: str, model: str) -> str:
    return (
        f"export ANTHROPIC_BASE_URL={address}\n"
        f"export ANTHROPIC_AUTH_TOKEN={key}\n"
        f"export ANTHROPIC_MODEL={json.dumps(model)}\n"
        f"export OPENAI_BASE_URL={address}/v1\n"
        f"export OPENAI_API_KEY={key}"
    )


def _editor(address: str, key: str, model: str) -> str:
    entry = {
        "name": "Gannet",
        "provider": "openai",
        "model": model,
        "apiBase": f"{address}/v1",
        "apiKey": key,
    }
    return json.dumps({"models": [entry]}, indent=2)


SNIPPETS: tuple[Snippet, ...] = (
    Snippet("curl", "curl", "In a terminal.", _curl),
    Snippet("openai", "Python, OpenAI", "In a program; needs the package openai.", _openai),
    Snippet("anthropic", "Python, Anthropic", "In a program; needs the package anthropic.", _anthropic),
    Snippet("agent", "Coding agents", "In the terminal before you start the agent.", _agent),
    Snippet("editor", "Editor plug-ins", "In the plug-in's settings, as a model of the kind OpenAI.", _editor),
)
"""Every client on the page, in order."""
