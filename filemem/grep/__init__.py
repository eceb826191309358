"""Lines that match a regular expression."""

from filemem.grep.lines import GrepPage, Match, example, grep, lines_of, matches, newest_first

__all__ = ["GrepPage", "Match", "example", "grep", "lines_of", "matches", "newest_first"]
