"""The few kinds of error that callers tell apart. Each message is one sentence that says how to put it right."""


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
