"""What an answer is made of, in the order in which it becomes known."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Content:
    """Text of the answer itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Text of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStart:
    """The model calls a tool: the call's number in this answer (from 0), its id and the tool's name."""

    index: int
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolArguments:
    """The next piece of call `index`'s arguments: all pieces together are one JSON object."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """Call `index` is complete."""

    index: int


Part = Content | Reasoning | ToolStart | ToolArguments | ToolEnd
