"""Memories in git: commits, the diary, the past, undo, sync."""

from filemem.history.diary import ATTRIBUTES, IGNORE, Commit, History, Past, as_of, log, set_up, sync, undo
from filemem.history.git import Untrusted

__all__ = [
    "ATTRIBUTES",
    "IGNORE",
    "Commit",
    "History",
    "Past",
    "Untrusted",
    "as_of",
    "log",
    "set_up",
    "sync",
    "undo",
]
