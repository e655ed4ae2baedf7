"""Point a coding tool at the running server: prints the environment it needs, or starts the tool with it.

gannet launch claude                      prints lines for a POSIX shell: eval "$(gannet launch claude)"
gannet launch codex --exec --args --help  starts codex; what follows --args goes to it
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.errors import GannetError, SettingsError

KEY_VARIABLE = "GANNET_API_KEY"
_PATIENCE_MS = 3_600_000  # a tool's first prompt can take minutes to read; codex gives up after five


@dataclass(frozen=True)
class Target:
    """Where the server is: its address, key and the model to name."""

    url: str
    key: str
    model: str


@dataclass(frozen=True)
class Launch:
    """How a tool is started: its program, arguments before the user's, and environment."""

    program: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def _claude(target: Target) -> Launch:
    models = ("ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL")
    small = ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL")
    return Launch(
        "claude",
        environment={
            "ANTHROPIC_BASE_URL": target.url,
            "ANTHROPIC_AUTH_TOKEN": target.key,
            **dict.fromkeys((*models, *small), target.model),
            # Telemetry and update checks would leave the machine.
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )


def _codex(target: Target) -> Launch:
    provider = {
        "name": "Gannet",
        "base_url": f"{target.url}/v1",
        "env_key": KEY_VARIABLE,
        "wire_api": "responses",
        "stream_idle_timeout_ms": _PATIENCE_MS,
    }
    options = [f"model_providers.gannet.{name}={json.dumps(value)}" for name, value in provider.items()]
    options += ['model_provider="gannet"', f"model={json.dumps(target.model)}"]
    arguments = tuple(part for option in options for part in ("-c", option))
    return Launch("codex", arguments, {KEY_VARIABLE: target.key})


def _opencode(target: Target) -> Launch:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Gannet",
        "options": {"baseURL": f"{target.url}/v1", "apiKey": "{env:" + KEY_VARIABLE + "}"},
        "models": {target.model: {"name": target.model}},
    }
    content = {"model": f"gannet/{target.model}", "provider": {"gannet": provider}}
    return Launch("opencode", (), {KEY_VARIABLE: target.key, "OPENCODE_CONFIG_CONTENT": json.dumps(content)})


def _aider(target: Target) -> Launch:
    environment = {"OPENAI_API_BASE": f"{target.url}/v1", "OPENAI_API_KEY": target.key}
    return Launch("aider", ("--model", f"openai/{target.model}"), environment)


def _openai(program: str) -> Callable[[Target], Launch]:
    """A tool that reads OpenAI's own variables."""

    def launch(target: Target) -> Launch:
        environment = {
            "OPENAI_BASE_URL": f"{target.url}/v1",
            "OPENAI_API_KEY": target.key,
            "OPENAI_MODEL": target.model,
        }
        return Launch(program, environment=environment)

    return launch


TOOLS: dict[str, Callable[[Target], Launch]] = {
    "claude": _claude,
    "codex": _codex,
    "opencode": _opencode,
    "aider": _aider,
    "qwen": _openai("qwen"),
    "llm": _openai("llm"),
}


def register(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("tool", choices=sorted(TOOLS), help="which tool")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="address of the server [http://127.0.0.1:8080]")
    parser.add_argument("--api-key", metavar="KEY", help=f"its key [{KEY_VARIABLE} of the environment]")
    parser.add_argument("--model", metavar="ID", help="model to use [the loaded one]")
    parser.add_argument("--exec", action="store_true", help="start the tool instead of printing its environment")
    # Not a positional argument: argparse takes none after the options that follow the first one.
    parser.add_argument("--args", nargs=argparse.REMAINDER, default=[], metavar="...", help="what the tool is given")


def run(args: argparse.Namespace) -> int:
    """Print or start."""
    key = args.api_key or os.environ.get(KEY_VARIABLE, "")
    if not key:
        raise SettingsError(f"the server's key is missing; give --api-key KEY or set {KEY_VARIABLE}")
    url = args.url.rstrip("/")
    launch = TOOLS[args.tool](Target(url, key, _model(url, key, args.model)))
    if args.exec:
        return _start(launch, args.args)
    print(as_shell(launch, args.args))
    return 0


def as_shell(launch: Launch, arguments: list[str]) -> str:
    """Lines for a POSIX shell: the environment, and the command as a comment."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in launch.environment.items()]
    return "\n".join([*lines, f"# {shlex.join([launch.program, *launch.arguments, *arguments])}"])


def _start(launch: Launch, arguments: list[str]) -> int:
    program = shutil.which(launch.program)
    if program is None:
        raise GannetError(f"{launch.program} is not installed, or not on the PATH")
    command = [program, *launch.arguments, *arguments]
    environment = os.environ | dict(launch.environment)
    if sys.platform != "win32":  # there a replaced process would leave the terminal to the shell at once
        os.execve(program, command, environment)
    return subprocess.run(command, env=environment, check=False).returncode


def _model(url: str, key: str, wanted: str | None) -> str:
    """The model to name: the wanted one if the server has it, else the loaded one, else the first."""
    models = _ask(url, key)
    ids = [str(model["id"]) for model in models]
    if wanted is not None:
        if wanted not in ids:
            raise SettingsError(f"the server has no model {wanted!r}; it has {', '.join(ids) or 'none'}")
        return wanted
    loaded = [str(model["id"]) for model in models if model.get("loaded")]
    if not (loaded or ids):
        raise GannetError("the server has no models; start it with a model or with --models DIR")
    return (loaded or ids)[0]


def _ask(url: str, key: str) -> list[dict[str, Any]]:
    if not url.startswith(("http://", "https://")):
        raise SettingsError(f"--url {url}: an address begins with http://")
    request = urllib.request.Request(f"{url}/v1/models", headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            models: list[dict[str, Any]] = json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        with error:
            raise GannetError(f"the server at {url} refuses: {'wrong key' if error.code == 401 else error}") from None
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "reason", error)
        raise GannetError(f"no server answers at {url} ({reason}); start one with `gannet serve MODEL`") from None
    return models
