"""What can be typed in a chat besides messages: one table, from which /help is printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.cli.conversation import Conversation
from engine.cli.stats import conversation_stats
from engine.errors import GannetError

HELP_HINT = "/help lists commands, /quit leaves."


class LeaveChat(Exception):
    """The user wants to end the chat."""


@dataclass(frozen=True)
class ChatCommand:
    """A command: its names (the first is shown), its argument, what it does, and the function that does it."""

    names: tuple[str, ...]
    argument: str
    summary: str
    action: Callable[[Conversation, str], None]


def _help(_conversation: Conversation, _argument: str) -> None:
    shown = [(f"{command.names[0]} {command.argument}".strip(), command.summary) for command in COMMANDS]
    width = max(len(name) for name, _ in shown)
    for name, summary in shown:
        print(f"  {name:<{width}}  {summary}")
    print(f"  {'Ctrl-C':<{width}}  stop the answer and keep the chat")


def _stats(conversation: Conversation, _argument: str) -> None:
    for line in conversation_stats(conversation):
        print(line)


def _reset(conversation: Conversation, _argument: str) -> None:
    conversation.reset()
    print("The conversation is forgotten.")


def _system(conversation: Conversation, argument: str) -> None:
    conversation.set_system(argument or None)
    print("The system message is set." if argument else "There is no system message now.")


def _save(conversation: Conversation, argument: str) -> None:
    if not argument:
        raise GannetError("name the file: /save FILE")
    path = Path(argument).expanduser()
    conversation.save(path)
    print(f"Saved to {path}.")


def _quit(_conversation: Conversation, _argument: str) -> None:
    raise LeaveChat


COMMANDS = (
    ChatCommand(("/help", "/?"), "", "this list", _help),
    ChatCommand(("/stats",), "", "speed, memory and reads of the last answer and since the start", _stats),
    ChatCommand(("/reset",), "", "forget the conversation and begin anew", _reset),
    ChatCommand(("/system",), "TEXT", "how the model shall behave; without a text: nothing special", _system),
    ChatCommand(("/save",), "FILE", "write the conversation to a file", _save),
    ChatCommand(("/quit", "/exit", "/bye"), "", "leave", _quit),
)


class ChatCommands:
    """Carries out the commands of one conversation."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._actions = {name: command.action for command in COMMANDS for name in command.names}

    def carry_out(self, line: str) -> bool:
        """Carry out `line` if it is a command; False if it is a message. Raises `GannetError` for unknown ones."""
        name, _, argument = line.strip().partition(" ")
        if not name.startswith("/") or "/" in name[1:]:  # a path is a message, not a command
            return False
        if name not in self._actions:
            raise GannetError(f"there is no command {name}; {HELP_HINT}")
        self._actions[name](self._conversation, argument.strip())
        return True
