"""The few kinds of error that callers tell apart. Each message is one sentence that says how to put it right."""

import errno


class FilememError(Exception):
    """A mistake or mishap that one sentence explains; `str(error)` is that sentence."""


class Refused(FilememError):
    """A name or path that leads out of the user's folder or is no plain file."""


class NotFound(FilememError):
    """A user, memory or trace that does not exist; the sentence names the nearest ones that do."""


class Busy(FilememError):
    """Another process holds the user's lock for longer than the caller would wait."""


class Changed(FilememError):
    """A file kept changing on disk while it was to be edited; nothing was written."""


_REMEDIES = {
    errno.ENOSPC: "make room on that disk",
    errno.EDQUOT: "make room, for your quota is used up",
    errno.EFBIG: "let files grow larger (ulimit -f)",
    errno.EROFS: "the disk is mounted read-only",
    errno.EACCES: "put its permissions right",
    errno.EPERM: "put its permissions right",
    errno.EMFILE: "let it open more files (ulimit -n)",
}


def in_words(error: OSError) -> str:
    """What the system refused, as a sentence with the file and a remedy."""
    where = f"{error.filename}: " if error.filename else ""
    remedy = f"; {_REMEDIES[error.errno]}" if error.errno in _REMEDIES else ""
    return f"{where}{error.strerror or error}{remedy}; nothing that was on disk is lost."
