"""A conversation in the terminal: the messages so far, and answers printed as they come."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from engine.answer import AnswerOptions, ContextOverflowError, Finished, Piece, PromptProgress, answer
from engine.cli.interrupts import on_interrupt
from engine.cli.loading import ProgressLine
from engine.errors import GannetError
from engine.loader import LoadedModel
from engine.prompt import chat_prompt
from engine.stop_flag import StopFlag


class Conversation:
    """Messages with one model.

    Attributes:
        messages: role and content, the system's first if there is one.
        last: how the last answer ended and what it cost; None before the first.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        *,
        system: str | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> None:
        self.loaded = loaded
        self.messages: list[dict[str, str]] = []
        self.last: Finished | None = None
        self._max_tokens = max_tokens
        self._changes: dict[str, object] = {} if temperature is None else {"temperature": temperature}
        self.set_system(system)

    def set_system(self, text: str | None) -> None:
        """Replace the system message, or remove it (None); the conversation goes on."""
        rest = [message for message in self.messages if message["role"] != "system"]
        self.messages = ([{"role": "system", "content": text}] if text else []) + rest

    def reset(self) -> None:
        """Forget the conversation but the system message."""
        self.messages = [message for message in self.messages if message["role"] == "system"]

    def say(self, text: str) -> None:
        """Answer `text` on stdout. Raises `GannetError` and leaves the conversation as it was if that fails."""
        before = list(self.messages)
        self.messages.append({"role": "user", "content": text})
        try:
            finished = self._answer()
        except ContextOverflowError as error:
            self.messages = before
            raise GannetError(_too_long(error)) from error
        except BaseException:
            self.messages = before
            raise
        self.last = finished
        # An answer that was stopped is still what the model said.
        self.messages.append({"role": "assistant", "content": finished.result.text})
        print("" if finished.reason == "stop" else f"\n[{_why(finished.reason)}]")

    def _answer(self) -> Finished:
        prompt = chat_prompt(self.loaded.llama, self.messages)
        options = AnswerOptions.from_settings(
            self.loaded.settings, max_tokens=self._max_tokens, stop=prompt.stop, **self._changes
        )
        stop_flag, line = StopFlag(), ProgressLine()
        with on_interrupt(stop_flag.set):
            for event in answer(self.loaded, prompt.tokens, options, stop_flag=stop_flag):
                match event:
                    case PromptProgress(done, total, _):
                        line.show(done / total, "Reading")
                    case Piece(_, piece):
                        line.clear()
                        print(piece, end="", flush=True)
                    case Finished():
                        line.clear()
                        return event
        raise AssertionError("an answer ends with Finished")

    def save(self, path: Path) -> None:
        """Write the messages as JSON, whole or not at all. Raises `GannetError`."""
        text = json.dumps({"model": self.loaded.files.name, "messages": self.messages}, ensure_ascii=False, indent=1)
        try:
            write_whole(path, text + "\n")
        except OSError as error:
            raise GannetError(f"{path}: the conversation cannot be saved: {error.strerror or error}") from error


def write_whole(path: Path, text: str) -> None:
    """Replace `path` by a complete new file; a crash or full disk leaves the old one as it was."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise


def _too_long(error: ContextOverflowError) -> str:
    longer = ", or start the chat with a larger --context" if error.can_grow else ""
    return (
        f"the conversation is too long now: {error.prompt_tokens} tokens, and the context holds "
        f"{error.context_length}; /reset begins anew{longer}"
    )


def _why(reason: str) -> str:
    return {"cancelled": "stopped", "length": "no more room for this answer"}[reason]
