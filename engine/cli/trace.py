"""Record which experts a model's routers choose, for `gannet simulate`.

Answers the prompts with stock llama.cpp, nothing of Gannet's in the computation, and writes each token's experts per
layer, prompt and decoding marked, with the routers' guesses up to three layers early. The text itself is not kept.
Ctrl+C ends it early and keeps what was recorded. With --hidden SIZE, what the routers saw is kept too, for `gannet
fit-lookahead`; from that the text can be worked out.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

from engine.census import fingerprint
from engine.cli.loading import ProgressLine
from engine.cli.parser import add_model
from engine.errors import SettingsError
from engine.gguf import ModelFiles, open_model
from engine.processors import available_cores
from engine.sizes import parse_size
from engine.trace.format import RoutingTrace
from engine.trace.recorder import Recorder
from engine.trace.run import RunSettings, record


def register(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_model(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the trace to write (.npz)")
    parser.add_argument("--prompt", action="append", default=[], metavar="TEXT", help="may be repeated: conversations")
    parser.add_argument("--prompt-file", type=Path, metavar="FILE", help="a file with one prompt on each line")
    parser.add_argument("--tokens", type=int, default=200, metavar="N", help="tokens of each answer at most [200]")
    parser.add_argument("--ubatch", type=int, default=512, metavar="N", help="prompt tokens in one evaluation [512]")
    parser.add_argument("--context", type=int, default=4096, metavar="TOKENS", help="context length [4096]")
    parser.add_argument(
        "--threads", type=int, default=available_cores(), metavar="N", help="compute threads [all cores]"
    )
    parser.add_argument("--temperature", type=float, default=0.0, metavar="X", help="0 takes the likeliest token [0]")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="start of the random numbers [0]")
    parser.add_argument("--no-chat", action="store_true", help="do not put the prompts into the model's chat template")
    parser.add_argument("--ignore-end", action="store_true", help="go on past the model's end of answer")
    parser.add_argument(
        "--hidden", type=parse_size, metavar="SIZE", help="keep what the routers saw too, of as many tokens as fit"
    )
    parser.add_argument("--all-scores", action="store_true", help="keep every expert's router score too (large)")


def run(args: argparse.Namespace) -> int:
    """Record and write the trace."""
    prompts = _prompts(args)
    numbers = {"--tokens": args.tokens, "--ubatch": args.ubatch, "--context": args.context, "--threads": args.threads}
    for option, value in numbers.items():
        if value < 1:
            raise SettingsError(f"{option} {value}: at least 1 is needed")
    if args.hidden is not None and not args.hidden.nbytes:
        raise SettingsError("--hidden: a size in bytes is needed, such as 512MiB")
    if not args.out.parent.is_dir():
        raise SettingsError(f"--out {args.out}: the folder {args.out.parent} does not exist")
    settings = RunSettings(
        tokens=args.tokens,
        ubatch=args.ubatch,
        context=args.context,
        threads=args.threads,
        temperature=args.temperature,
        seed=args.seed,
        chat=not args.no_chat,
        ignore_end=args.ignore_end,
    )
    files = open_model(args.model)
    line = ProgressLine()
    most = len(prompts) * args.tokens
    recorder = Recorder(all_scores=args.all_scores, hidden_bytes=0 if args.hidden is None else args.hidden.nbytes)
    try:
        trace = record(files.paths[0], prompts, settings, recorder, lambda done: line.show(done / most, "Recording"))
    except KeyboardInterrupt:
        trace = _until_now(recorder, files)
    finally:
        line.clear()
    if trace.hidden is not None:
        trace = dataclasses.replace(trace, hidden=dataclasses.replace(trace.hidden, model=fingerprint(files)))
    trace.save(args.out)
    tokens, decoded = len(trace.batch), int(trace.decoded.sum())
    print(
        f"{args.out}: {decoded} decoded tokens and {tokens - decoded} of prompts, {len(trace.layers)} layers, "
        f"{trace.n_used} of {trace.n_experts} experts{_kept(trace)}",
        file=sys.stderr,
    )
    return 0


def _until_now(recorder: Recorder, files: ModelFiles) -> RoutingTrace:
    """What was recorded before the user had enough. Raises KeyboardInterrupt where that is nothing."""
    try:
        return recorder.trace(files.paths[0].name)
    except ValueError:
        raise KeyboardInterrupt from None


def _kept(trace: RoutingTrace) -> str:
    return "" if trace.hidden is None else f", hidden states of {len(trace.hidden.stream)} tokens"


def _prompts(args: argparse.Namespace) -> list[str]:
    prompts = list(args.prompt)
    if args.prompt_file is not None:
        try:
            lines = args.prompt_file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"--prompt-file {args.prompt_file}: cannot be read: {error}") from error
        prompts += [line for line in lines if line.strip()]
    if not prompts or not all(prompts):
        raise SettingsError("give a prompt with --prompt TEXT or --prompt-file FILE")
    return prompts
