"""Answer one prompt and leave.

The prompt goes through the model's own chat template if it has one; --raw goes on from the text as it stands. The
answer goes to stdout, everything else to stderr.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Any

from engine.answer import AnswerOptions, AnswerResult, Finished, Piece, PromptProgress, answer
from engine.cli.interrupts import on_interrupt
from engine.cli.loading import ProgressLine, load_model
from engine.cli.parser import add_model, add_settings
from engine.errors import SettingsError
from engine.loader import LoadedModel
from engine.prompt import Prompt, chat_prompt, text_prompt
from engine.sizes import format_bytes
from engine.stop_flag import StopFlag

INTERRUPTED = 130


def register(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_model(parser)
    parser.add_argument("--prompt", metavar="TEXT", help="what to answer; - reads it from stdin")
    parser.add_argument("--prompt-file", type=Path, metavar="FILE", help="read the prompt from a file")
    parser.add_argument("--system", metavar="TEXT", help="how the model shall behave, said before the prompt")
    parser.add_argument("--raw", action="store_true", help="go on from the prompt as it stands, without a template")
    parser.add_argument("--tokens", type=int, default=256, metavar="N", help="tokens at most [256]")
    parser.add_argument("--greedy", action="store_true", help="always the likeliest token; the same as --temperature 0")
    parser.add_argument("--stop", action="append", default=[], metavar="TEXT", help="end the answer before this text")
    parser.add_argument("--ignore-end", action="store_true", help="go on past the model's end of answer")
    parser.add_argument("--json", action="store_true", help="print one object with the answer and its measurements")
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Answer; 130 if Ctrl-C cut the answer short."""
    started = time.perf_counter()
    text = _prompt_text(args)
    if args.tokens < 1:
        raise SettingsError(f"--tokens {args.tokens}: at least one token is needed")
    with load_model(args) as loaded:
        finished = _answer(loaded, text, args, started)
    if args.json:
        print(json.dumps(dataclasses.asdict(finished.result), ensure_ascii=False))
    else:
        print()
        print(summary(finished.result), file=sys.stderr)
    return INTERRUPTED if finished.reason == "cancelled" else 0


def _prompt_text(args: argparse.Namespace) -> str:
    if (args.prompt is None) == (args.prompt_file is None):
        raise SettingsError("give the prompt with --prompt TEXT or --prompt-file FILE")
    try:
        if args.prompt_file is not None:
            text = args.prompt_file.read_text(encoding="utf-8")
        else:
            text = sys.stdin.read() if args.prompt == "-" else args.prompt
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the prompt cannot be read: {error}") from error
    if not text:
        raise SettingsError("the prompt is empty; there is nothing to answer")
    return str(text)


def _prompt(loaded: LoadedModel, text: str, args: argparse.Namespace) -> Prompt:
    if args.raw or loaded.files.chat_template is None:
        return text_prompt(loaded.llama, text)
    system = [{"role": "system", "content": args.system}] if args.system else []
    return chat_prompt(loaded.llama, [*system, {"role": "user", "content": text}])


def _answer(loaded: LoadedModel, text: str, args: argparse.Namespace, started: float) -> Finished:
    prompt = _prompt(loaded, text, args)
    changes: dict[str, Any] = {"temperature": 0.0} if args.greedy else {}
    options = AnswerOptions.from_settings(
        loaded.settings,
        max_tokens=args.tokens,
        stop=(*args.stop, *prompt.stop),
        ignore_end=args.ignore_end,
        **changes,
    )
    stop_flag, line = StopFlag(), ProgressLine()
    with on_interrupt(stop_flag.set):
        for event in answer(loaded, prompt.tokens, options, stop_flag=stop_flag, started=started):
            match event:
                case PromptProgress(done, total, _):
                    line.show(done / total, "Reading the prompt")
                case Piece(_, piece):
                    line.clear()
                    if not args.json:
                        print(piece, end="", flush=True)
                case Finished():
                    line.clear()
                    return event
    raise AssertionError("an answer ends with Finished")


def summary(result: AnswerResult) -> str:
    """One line for a person: speed, hits, reads."""
    parts = [
        f"{len(result.tokens)} tokens",
        f"first after {result.first_token_s:.2f} s",
        f"{result.decode_tok_s:.2f} tok/s",
    ]
    if result.hit_rate is not None:
        parts += [
            f"{result.hit_rate:.0%} of experts in memory",
            f"{format_bytes(result.read_bytes_per_token)} read per token",
            f"{result.stall_ms_per_token:.1f} ms waited per token",
        ]
    return "[" + ", ".join(parts) + "]"
