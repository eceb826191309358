"""Simulate three years of three people, and say when their memories fade.

    python -m benchmarks.fading

All begin on 1 January 2027, and are told everything on that day. One talks daily. One
pauses: two months of daily talk, a month of none, and so on. One leaves after half a
year, and is back after a year.
"""

import datetime as dt
from dataclasses import dataclass

from filemem.forget.curve import STANDING_FACTOR, Clock, first_stability, strength
from filemem.store.config import Config

BEGAN = dt.date(2027, 1, 1)
DAYS = 3 * 365 + 1


@dataclass(frozen=True)
class Kind:
    """A memory: its importance, whether it stands, and the days of its recalls."""

    name: str
    importance: int
    is_standing: bool = False
    recalls: tuple[int, ...] = ()


KINDS = (
    Kind("trifle, importance 2", 2),
    Kind("event, importance 5", 5),
    Kind("event, importance 7", 7),
    Kind("event, recalled on day 30", 5, recalls=(30,)),
    Kind("event, recalled on day 150", 5, recalls=(150,)),
    Kind("standing fact, importance 4", 4, is_standing=True),
    Kind("standing fact, importance 5", 5, is_standing=True),
)
PEOPLE = {
    "daily": range(DAYS),
    "pauses": [day for day in range(DAYS) if day % 90 < 60],
    "leaves": [day for day in range(DAYS) if not 182 <= day < 547],
}


def archived_on(kind: Kind, clock: Clock) -> str:
    """Return the day, from 0, on which a memory is archived; 'stays' if on none."""
    settings = Config()
    stability_days = first_stability(kind.importance, settings.stability_days)
    if kind.is_standing:
        stability_days *= STANDING_FACTOR
    recalls = [BEGAN + dt.timedelta(day) for day in kind.recalls]
    for number in range(DAYS):
        today = BEGAN + dt.timedelta(number)
        now = strength(BEGAN, recalls, today, stability_days, clock=clock)
        if now.retention < settings.threshold:
            return f"day {number}"
    return "stays"


def main() -> None:
    print(f"{'':30}{''.join(f'{name:>10}' for name in PEOPLE)}")
    for kind in KINDS:
        row = f"{kind.name:30}"
        for used in PEOPLE.values():
            clock = Clock(BEGAN + dt.timedelta(day) for day in used)
            row += f"{archived_on(kind, clock):>10}"
        print(row)


if __name__ == "__main__":
    main()
