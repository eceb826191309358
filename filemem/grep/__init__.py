"""Lines that match a regular expression."""

from filemem.grep.lines import GrepPage, Line, Match, example, grep, lines_of, matches, newest_first

__all__ = ["GrepPage", "Line", "Match", "example", "grep", "lines_of", "matches", "newest_first"]
