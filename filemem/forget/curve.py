"""The forgetting curve: how much of a memory is left after some days without recall.

Retention is R = exp(-t / S): t the days of use since the last recall, S the stability
in days. The exponential with a stability of its own for every memory is Wozniak,
Gorzelanczyk and Murakowski's ("Two components of long-term memory", Acta Neurobiologiae
Experimentalis 55, 1995), after Ebbinghaus's measurements of savings ("Ueber das
Gedaechtnis", 1885). It orders memories and is no probability: over many memories use
falls with a power of time (Anderson and Schooler, "Reflections of the environment in
memory", Psychological Science 2, 1991).

A recall multiplies S by 1 + growth * (1 - R): the more had faded, the more the recall
is worth, which is the spacing effect (Cepeda et al., "Distributed practice in verbal
recall tasks", Psychological Bulletin 132, 2006). Two recalls on one day hence count as
one. With S' = S * (1 + g * (1 - exp(-t / S))), S' rises with S for any t, so that a
more important memory never fades sooner; and a recall put in between two others never
lowers what follows.

The constants are settings: S at importance 5 is 90 days, a design decision, so that an
unremarkable event lasts seven months of use; a recall of what had all but faded makes S
2.5 times as long, as SuperMemo 2's first factor.
"""

import bisect
import datetime as dt
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

from filemem.store.memory import IMPORTANCE

STANDING_FACTOR = 8  # how much slower a standing fact fades than an event
MAX_GAP_DAYS = 7  # what counts, at most, of the days between two days of use


class Clock:
    """A clock that stands still while nobody uses their memory.

    From a day of use on at most MAX_GAP_DAYS count until the next. Before the first of
    all every day counts, as in a store of an earlier version, which noted none.

    Args:
        days_of_use: in any order.
    """

    def __init__(self, days_of_use: Iterable[dt.date] = ()) -> None:
        self._days = sorted(set(days_of_use))
        gaps = [
            min((later - day).days, MAX_GAP_DAYS)
            for day, later in itertools.pairwise(self._days)
        ]
        self._readings = list(itertools.accumulate(gaps, initial=0))

    def elapsed(self, start: dt.date, end: dt.date) -> int:
        """Return the days that count from one day to another; below 0 if that is
        earlier."""
        return self._reading(end) - self._reading(start)

    def _reading(self, day: dt.date) -> int:
        """Return what the clock shows on a day: 0 on the first day of use."""
        if not self._days:
            return day.toordinal()
        last = bisect.bisect(self._days, day) - 1
        if last < 0:
            return (day - self._days[0]).days
        return self._readings[last] + min((day - self._days[last]).days, MAX_GAP_DAYS)


EVERY_DAY = Clock()


@dataclass(frozen=True)
class Strength:
    """How a memory stands on a day.

    Attributes:
        start: the day from which it fades, which may lie ahead.
        first_days: the stability with which it began.
        retention: from 0 to 1.
        stability_days: of use, after which 37 % is left.
        last: the day of the last recall, else `start`.
        idle_days: of use since then.
    """

    start: dt.date
    first_days: float
    retention: float
    stability_days: float
    last: dt.date
    idle_days: int

    def days_left(self, threshold: float, today: dt.date) -> float:
        """Return the days from `today`, if each is one of use, after which retention is
        down at a threshold; below 0 where it has long been."""
        days_ahead = max(0, (self.last - today).days)
        lasts_days = -self.stability_days * math.log(threshold)
        return days_ahead + lasts_days - self.idle_days


def retention(idle_days: float, stability_days: float) -> float:
    """Return what is left after some days without recall: 1 at first, towards 0."""
    return math.exp(-idle_days / stability_days)


def first_stability(importance: float, stability_days: float) -> float:
    """Return the stability in days of a memory that was never recalled.

    One of middle importance has `stability_days`.
    """
    return stability_days * importance / IMPORTANCE


def strength(
    start: dt.date,
    recalls: Iterable[dt.date],
    today: dt.date,
    stability_days: float = 90.0,
    *,
    spacing_growth: float = 1.5,
    clock: Clock = EVERY_DAY,
) -> Strength:
    """Return how a memory stands on a day.

    Args:
        start: the day from which it fades.
        recalls: the days of its recalls, in any order; later ones than `today` do not
            count.
        today: the day.
        stability_days: its first stability.
        spacing_growth: a recall multiplies the stability by at most 1 + this.
        clock: says how many of the days between two count.
    """
    stability = stability_days
    last = start
    for day in sorted(set(recalls)):
        if start < day <= today:
            faded = 1 - retention(clock.elapsed(last, day), stability)
            stability *= 1 + spacing_growth * faded
            last = day
    idle_days = max(0, clock.elapsed(last, today))
    now = retention(idle_days, stability)
    return Strength(start, stability_days, now, stability, last, idle_days)
