"""The forgetting curve: how much of a memory is left after some days without recall.

Retention is R = exp(-t / S): t the days since the last recall, S the stability in days.
The exponential with a stability of its own for every memory is Wozniak, Gorzelanczyk
and Murakowski's ("Two components of long-term memory", Acta Neurobiologiae
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
unremarkable episode lasts seven months; a recall of what had all but faded makes S 2.5
times as long, as SuperMemo 2's first factor.
"""

import datetime as dt
import math
from collections.abc import Iterable
from dataclasses import dataclass

MIDDLE_IMPORTANCE = 5  # at which the stability begins at `stability_days`


@dataclass(frozen=True)
class Strength:
    """How a memory stands on a day.

    Attributes:
        retention: from 0 to 1.
        stability_days: after which 37 % is left.
        last: the day of the last recall, else the memory's own, which may lie ahead.
        idle_days: since then.
    """

    retention: float
    stability_days: float
    last: dt.date
    idle_days: int

    def days_left(self, threshold: float, today: dt.date) -> float:
        """Return the days from `today` after which retention is down at a threshold;
        below 0 where it has long been."""
        days_ahead = max(0, (self.last - today).days)
        lasts_days = -self.stability_days * math.log(threshold)
        return days_ahead + lasts_days - self.idle_days


def retention(idle_days: float, stability_days: float) -> float:
    """Return what is left after some days without recall: 1 at first, towards 0."""
    return math.exp(-idle_days / stability_days)


def first_stability(importance: float, stability_days: float) -> float:
    """Return the stability in days of a memory that was never recalled."""
    return stability_days * importance / MIDDLE_IMPORTANCE


def strength(
    born: dt.date,
    recalls: Iterable[dt.date],
    today: dt.date,
    importance: float = MIDDLE_IMPORTANCE,
    *,
    stability_days: float = 90.0,
    spacing_growth: float = 1.5,
) -> Strength:
    """Return how a memory stands on a day.

    Args:
        born: its own day.
        recalls: the days of its recalls, in any order; later ones than `today` do not
            count.
        today: the day.
        importance: from 1 to 10.
        stability_days: the first stability at the middle importance.
        spacing_growth: a recall multiplies the stability by at most 1 + this.
    """
    stability = first_stability(importance, stability_days)
    last = born
    for day in sorted(set(recalls)):
        if born < day <= today:
            faded = 1 - retention((day - last).days, stability)
            stability *= 1 + spacing_growth * faded
            last = day
    idle_days = max(0, (today - last).days)
    return Strength(retention(idle_days, stability), stability, last, idle_days)
