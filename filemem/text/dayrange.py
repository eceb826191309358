"""A range of days."""

from dataclasses import dataclass

from filemem.text.spans import Span

MAX_NAMED_DAYS = 7  # of a span that a text names, to be of each of its days


@dataclass(frozen=True)
class DayRange:
    """Days from the first to the last, as ordinals."""

    first: int
    last: int

    @classmethod
    def of(cls, span: Span) -> "DayRange":
        """Return the days of a span."""
        return cls(span.start.toordinal(), span.end.toordinal())

    def holds(self, day: int) -> bool:
        """Say whether a day, as an ordinal, lies in the range."""
        return self.first <= day <= self.last

    def contains(self, other: "DayRange") -> bool:
        """Say whether all days of the other are in this one."""
        return self.first <= other.first and other.last <= self.last

    def overlaps(self, other: "DayRange") -> bool:
        """Say whether the two have a day in common."""
        return self.first <= other.last and other.first <= self.last

    def is_told_by(self, named: "DayRange") -> bool:
        """Say whether a text that names some days tells of these.

        A week or less that it names is of each of its days, a longer span of none:
        these must have all of it.
        """
        is_short = named.last - named.first <= MAX_NAMED_DAYS
        return self.overlaps(named) if is_short else self.contains(named)
