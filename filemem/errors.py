"""The kinds of error that callers tell apart, and problems in a person's file.

The latter are values and never raised. Each message is one sentence that says how to
fix it.
"""

from dataclasses import dataclass
from typing import Any


class FilememError(Exception):
    """A mistake or mishap that one sentence explains; `str(error)` is that sentence."""


class Refused(FilememError):
    """A name or path that leads out of the user's folder or is not a regular file."""


class NotFound(FilememError):
    """A user, memory or trace that does not exist; the sentence names the nearest."""


class Busy(FilememError):
    """Another process holds the user's lock for longer than the caller would wait."""


class Changed(FilememError):
    """A file kept changing on disk while it was to be edited; nothing was written."""


class DiskError(FilememError):
    """The disk refused: it is full, read-only or broken; the sentence has the cause."""


class Stopped(FilememError):
    """A job was asked to stop; what it had done by then is kept, and is in `done`."""

    def __init__(self, told: str) -> None:
        super().__init__(told)
        self.done: list[Any] = []


@dataclass(frozen=True, order=True)
class Problem:
    """A mistake in a person's file.

    Attributes:
        path: of the file.
        line: on which it is, from 1.
        what: is wrong.
        remedy: how to put it right.
    """

    path: str
    line: int
    what: str
    remedy: str

    def __str__(self) -> str:
        end = "" if self.remedy.endswith("?") else "."
        return f"{self.path}:{self.line}: {self.what}; {self.remedy}{end}"


def in_words(error: Exception) -> str:
    """Return the sentence of an error; of the system's, with the file and a remedy."""
    if not isinstance(error, OSError):
        return str(error)
    where = f"{error.filename}: " if error.filename else ""
    return (
        f"{where}{error.strerror or error}; put that right and try again: nothing that "
        "was on disk is lost."
    )


def missing_extra(what: str, extra: str) -> FilememError:
    """Return the error of what needs an extra that is not installed."""
    return FilememError(
        f"{what} is not installed; install it with: pip install 'filemem[{extra}]'"
    )
