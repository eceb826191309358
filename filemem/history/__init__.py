"""Memories in git: commits, the diary, the past, undo, sync."""

from filemem.history.beginning import ATTRIBUTES, IGNORE, set_up
from filemem.history.commits import POSTPONED, Before, History, Recorded

__all__ = ["ATTRIBUTES", "IGNORE", "POSTPONED", "Before", "History", "Recorded", "set_up"]
