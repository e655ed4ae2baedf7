"""Why a download stopped, as a code the window has a sentence and a button for."""

from __future__ import annotations

import enum


class Reason(enum.StrEnum):
    """Everything that stops a download; the value travels between the processes and is stored."""

    NOT_FOUND = "not-found"
    NEEDS_LOGIN = "needs-login"
    OFFLINE = "offline"
    STALLED = "stalled"
    NO_SPACE = "no-space"
    WRONG_HASH = "wrong-hash"
    NO_MODEL = "no-model"
    CANNOT_WRITE = "cannot-write"
    SERVER = "server"


class DownloadError(Exception):
    """A download that cannot go on by itself.

    Attributes:
        reason: the code.
        detail: what it concerns, for the sentence: a file name, the bytes that are missing, an HTTP status.
    """

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason.value}: {detail}" if detail else reason.value)
        self.reason = reason
        self.detail = detail
