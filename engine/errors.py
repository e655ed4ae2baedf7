"""Errors that are meant for the person using Gannet.

Every one is a single line that names the thing that is wrong and the cure. A terminal command prints
``gannet: <line>`` and leaves with `exit_code`; the server and the window show the same line. Anything that is not a
`GannetError` is a defect of ours.
"""

from __future__ import annotations


def one_line(text: object) -> str:
    """The text with what a terminal would not print as a character (line ends, escape sequences) as visible escapes."""
    # A lone surrogate too: it stands for a byte of a file name that is not text, and printing it raises an error.
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(text))


class GannetError(Exception):
    """Base of every error shown to a user.

    Attributes:
        exit_code: what a command that ends with this error returns to the shell.
    """

    exit_code = 2

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(message))

    @property
    def message(self) -> str:
        """The one line to show."""
        return str(self)


class ModelFileError(GannetError):
    """A model file is missing, incomplete, damaged or of a kind that cannot be run; names the file and the tensor."""


class ReadFailedError(GannetError):
    """Reading an expert failed while answering. It ends that answer, not the program."""


class LoadCancelledError(GannetError):
    """The user gave up waiting for a model to load."""


class SettingsError(GannetError):
    """A setting has a value that cannot be used."""
