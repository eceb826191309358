"""Memories in git: commits, the diary, the past, undo, sync."""

from filemem.history.commits import ATTRIBUTES, IGNORE, POSTPONED, History, Recorded, set_up
from filemem.history.git import Untrusted

__all__ = ["ATTRIBUTES", "IGNORE", "POSTPONED", "History", "Recorded", "Untrusted", "set_up"]
