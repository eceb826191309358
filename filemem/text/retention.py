"""The forgetting curve: how much of a memory is left after some days without recall. Pure functions, days throughout.

Retention is R = exp(-t / S): t the days since the last recall, S the stability in days. The exponential with a
stability of its own for every memory is Wozniak, Gorzelanczyk and Murakowski's ("Two components of long-term memory",
Acta Neurobiologiae Experimentalis 55, 1995), after Ebbinghaus's measurements of savings ("Ueber das Gedaechtnis", 1885).

A recall multiplies S by 1 + growth * (1 - R): the more had faded, the more the recall is worth, which is the spacing
effect (Cepeda et al., "Distributed practice in verbal recall tasks", Psychological Bulletin 132, 2006). Two recalls on
one day hence count as one. With S' = S * (1 + g * (1 - exp(-t / S))), S' rises with S for any t, so that a more important
memory never fades sooner; and a recall put in between two others never lowers what follows.
"""

import datetime as dt
import math
from collections.abc import Iterable
from typing import NamedTuple

IMPORTANCE = 5  # of a memory that does not say


class Curve(NamedTuple):
    """The constants of the curve, as `filemem.yaml` may set them."""

    stability: float = 90.0  # days, at importance 5; design decision: an unremarkable episode lasts seven months
    growth: float = 1.5  # a recall of what had all but faded makes S 2.5 times as long, as SuperMemo 2's first factor
    threshold: float = 0.1  # of retention, below which a memory is archived


DEFAULT = Curve()


class Strength(NamedTuple):
    """How a memory stands on a day: retention 0 to 1, stability in days, the last recall, days since then.
    `last` is the memory's own day if it was never recalled; that day may lie ahead.
    """

    retention: float
    stability: float
    last: dt.date
    days: float

    def left(self, threshold: float, today: dt.date) -> float:
        """The days from `today` after which retention falls to the threshold; below 0 where it has fallen so long since."""
        ahead = max(0, (self.last - today).days)
        return ahead + days_until(self.stability, threshold) - self.days


def strength(
    born: dt.date,
    recalls: Iterable[dt.date],
    today: dt.date,
    importance: float = IMPORTANCE,
    curve: Curve = DEFAULT,
) -> Strength:
    """How a memory of `born` stands today, given the days on which it was recalled (those after today do not count)."""
    stability = curve.stability * importance / IMPORTANCE
    last = born
    for day in sorted(set(recalls)):
        if not born < day <= today:
            continue
        faded = 1 - retention((day - last).days, stability)
        stability *= 1 + curve.growth * faded
        last = day
    days = max(0, (today - last).days)
    return Strength(retention(days, stability), stability, last, days)


def retention(days: float, stability: float) -> float:
    """What is left after `days` without recall: 1 at first, towards 0."""
    return math.exp(-days / stability)


def days_until(stability: float, threshold: float) -> float:
    """The days without recall after which retention falls to the threshold."""
    return -stability * math.log(threshold)
