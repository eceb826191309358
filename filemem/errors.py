"""The few kinds of error that callers tell apart, and problems in a person's file, which are values and never
raised. Each message is one sentence that says how to fix it.
"""

from typing import NamedTuple


class FilememError(Exception):
    """A mistake or mishap that one sentence explains; `str(error)` is that sentence."""


class Refused(FilememError):
    """A name or path that leads out of the user's folder or is not a regular file."""


class NotFound(FilememError):
    """A user, memory or trace that does not exist; the sentence names the nearest ones that do."""


class Busy(FilememError):
    """Another process holds the user's lock for longer than the caller would wait."""


class Changed(FilememError):
    """A file kept changing on disk while it was to be edited; nothing was written."""


class Problem(NamedTuple):
    """A mistake in a person's file: where it is, what is wrong, how to fix it."""

    path: str
    line: int
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}; {self.remedy}{'' if self.remedy.endswith('?') else '.'}"


def in_words(error: Exception) -> str:
    """What the system refused, as a sentence with the file; of our own errors their sentence."""
    if not isinstance(error, OSError):
        return str(error)
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}; put that right and try again: nothing that was on disk is lost."


def missing_extra(what: str, extra: str) -> FilememError:
    """What needs an extra that is not installed, with what to install."""
    return FilememError(
        f"{what} is not installed; install it with: pip install 'filemem[{extra}]'"
    )
