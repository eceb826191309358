"""Memories in git: commits, the diary, the past, undo, sync."""

from filemem.history.beginning import ATTRIBUTES, IGNORE, set_up
from filemem.history.commits import POSTPONED, History, Recorded, UncommittedChanges

__all__ = ["ATTRIBUTES", "IGNORE", "POSTPONED", "History", "Recorded", "UncommittedChanges", "set_up"]
