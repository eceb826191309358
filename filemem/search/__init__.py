"""search_files: the question, the ranking, the evidence, the choice of what to show."""

from filemem.search.searching import (
    Found,
    Hit,
    search_files,
)

__all__ = ["Found", "Hit", "search_files"]
