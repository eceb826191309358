"""A range of days."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DayRange:
    """Days from the first to the last, as ordinals."""

    first: int
    last: int

    def holds(self, day: int) -> bool:
        """Say whether a day, as an ordinal, lies in the range."""
        return self.first <= day <= self.last

    def contains(self, other: "DayRange") -> bool:
        """Say whether all days of the other are in this one."""
        return self.first <= other.first and other.last <= self.last

    def overlaps(self, other: "DayRange") -> bool:
        """Say whether the two have a day in common."""
        return self.first <= other.last and other.first <= self.last
