"""Lines that match a regular expression."""

from filemem.grep.lines import (
    GrepPage,
    Line,
    Listed,
    Match,
    PlainFiles,
    example,
    grep,
    matches,
    newest_first,
)

__all__ = ["GrepPage", "Line", "Listed", "Match", "PlainFiles", "example", "grep", "matches", "newest_first"]
