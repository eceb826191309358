"""search_files: the question, the ranking, the evidence, the choice of what to show."""

from filemem.search.searching import (
    PARTIAL,
    STRONG,
    Found,
    Hit,
    search_files,
)

__all__ = ["PARTIAL", "STRONG", "Found", "Hit", "search_files"]
