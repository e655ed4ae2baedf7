"""Talk with a model in the terminal. /help lists what can be typed besides messages; Ctrl-C stops an answer."""

from __future__ import annotations

import argparse
import sys

from engine.cli.chat_commands import HELP_HINT, ChatCommands, LeaveChat
from engine.cli.conversation import Conversation
from engine.cli.line_input import LineInput
from engine.cli.loading import load_model
from engine.cli.parser import add_model, add_settings
from engine.errors import GannetError
from engine.sizes import format_bytes


def register(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_model(parser)
    parser.add_argument("--system", metavar="TEXT", help="how the model shall behave, said before the conversation")
    parser.add_argument("--tokens", type=int, metavar="N", help="tokens per answer at most [all there is room for]")
    parser.add_argument("--greedy", action="store_true", help="always the likeliest token; the same as --temperature 0")
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Chat until the input ends or the user leaves."""
    with load_model(args) as loaded:
        temperature = 0.0 if args.greedy else None
        conversation = Conversation(loaded, system=args.system, max_tokens=args.tokens, temperature=temperature)
        with LineInput() as lines:
            if lines.interactive:
                size = format_bytes(loaded.files.total_bytes)
                print(f"{loaded.files.name}, {size}, ready in {loaded.load_seconds:.1f} s. {HELP_HINT}")
            talk(conversation, lines)
    return 0


def talk(conversation: Conversation, lines: LineInput) -> None:
    """Read messages and commands until there are no more."""
    commands = ChatCommands(conversation)
    while True:
        try:
            line = lines.read()
        except KeyboardInterrupt:
            print(f"\n({HELP_HINT})" if lines.interactive else "")
            continue
        if line is None:
            return
        if not line.strip():
            continue
        try:
            if not commands.carry_out(line):
                conversation.say(line)
        except LeaveChat:
            return
        except GannetError as error:  # what went wrong with one answer does not end the chat
            print(f"gannet: {error}", file=sys.stderr)
