"""Lines that match a regular expression."""

from filemem.grep.lines import (
    Bare,
    Grepped,
    Listed,
    Match,
    example,
    grep,
    matches,
    newest_first,
)

__all__ = ["Bare", "Grepped", "Listed", "Match", "example", "grep", "matches", "newest_first"]
