"""From what was found to an answer: one hit a piece of evidence, in order, in a budget.

All of it is pure: hits in, hits out.
"""

import datetime as dt
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from filemem.search.features import Features
from filemem.search.weights import Weights
from filemem.store.paths import DISTILLED, PROFILE, FileDate, Kind, kind_of, live
from filemem.text import dates
from filemem.text.dayrange import DayRange
from filemem.text.plain import count_tokens

LINE_TOKENS = 20  # a line's number and speaker, and the path of its heading


@dataclass(frozen=True)
class Hit:
    """One passage found, as its file has it.

    Attributes:
        path: of its file.
        line, end_line: its first and last line, from 1.
        text: all of it.
        speaker, time: who said it, and at what o'clock; '' if that is not known.
        date: the day from which it counts.
        when: the date of its file, perhaps a month.
        title: of its file, if it is a note.
        score: about 1 for a passage that holds every word of the question.
        strength: the share of the question's content words that it and its neighbours
            hold, from 0 to 1.
        held: the question's content words that stand in it, or what is said for them.
        excerpt: what an answer shows of it.
        is_cut: whether that is less than all of it.
        note: whether it holds, and when.
        newer: the path of what replaced it.
        replaced: what it replaced, in its words, and when that held.
        sources: what it tells over again, as `path:line`.
        day_named: the first day asked for that it names, as an ordinal; 0 for none.
        archived: whether its file lies in the archive.
        held_then: whether its front matter tells of a day asked for.
        features: what made the score.
    """

    path: str
    line: int
    end_line: int
    text: str
    speaker: str = ""
    time: str = ""
    date: dt.date | None = None
    when: FileDate | None = None
    title: str = ""
    score: float = 0.0
    strength: float = 0.0
    held: frozenset[str] = frozenset()
    excerpt: str = ""
    is_cut: bool = False
    note: str = ""
    newer: str = ""
    replaced: str = ""
    sources: tuple[str, ...] = ()
    day_named: int = 0
    archived: bool = False
    held_then: bool = False
    features: Features = field(default_factory=Features)

    @property
    def kind(self) -> str:
        """Return the kind of memory, such as `facts`."""
        return kind_of(self.path)

    @property
    def place(self) -> str:
        """Return `path:line`."""
        return f"{self.path}:{self.line}"

    @property
    def said(self) -> str:
        """Return who said what on which day; of what nobody said, where it stands."""
        if not self.speaker:
            return self.place
        return f"{self.date} {self.speaker} {self.excerpt}"

    @property
    def is_fact(self) -> bool:
        """Say whether it is of a memory that says one thing."""
        return self.kind in DISTILLED

    @property
    def retells(self) -> bool:
        """Say whether it is a line of a summary, or of the profile, with a source."""
        tells = self.path == PROFILE or self.kind == Kind.SUMMARIES
        return tells and bool(self.sources)

    @property
    def is_echo(self) -> bool:
        """Say whether it is a turn without a word but those of the question."""
        return self.features.echo < 1

    @property
    def parts(self) -> dict[str, float]:
        """Return the named parts of the score, the last for what it stands for."""
        parts = self.features.parts
        if self.score != self.features.score:
            parts["(stands for)"] = self.score - self.features.score
        return parts


# -- days that a text names ----------------------------------------------------------


def first_day_named(
    text: str, said_on: dt.date | None, days: Sequence[DayRange]
) -> int:
    """Return the first of some days that a text names, as an ordinal; 0 for none.

    Who names all of them tells of no day in particular: it is the last of them.

    Args:
        text: in English or Chinese.
        said_on: the day from which `yesterday` counts.
        days: those asked for.
    """
    if not days:
        return 0
    day = said_on or dt.date.min
    found: list[int] = []
    for mention in dates.mentioned(text, day):
        span = dates.nearest(mention, day)
        named = DayRange.of(span)
        for asked in days:
            if asked.is_told_by(named):
                first = max(asked.first, named.first)
                found.append(asked.last if named.contains(asked) else first)
    return min(found, default=0)


# -- one piece of evidence, one hit -------------------------------------------------


def merge_evidence(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with what tells the same made one, the best first.

    A line of a summary or of the profile gives way to the turn or fact that it retells,
    a turn to a fact that rests on it. What stands for others has the best score of
    them all. A turn that holds a word of the question which the fact lacks stays, too,
    behind the fact.
    """
    tellers = _tellers(hits)
    scores = {hit.place: hit.score for hit in hits}
    kept: list[Hit] = []
    for hit in hits:
        first = _first_to_tell(hit, tellers)
        scores[first.place] = max(scores[first.place], hit.score)
        says_more = not (hit.retells or hit.held <= first.held)
        if first is hit or says_more:
            kept.append(hit)
    scored = [replace(hit, score=scores[hit.place]) for hit in kept]
    return sorted(scored, key=lambda hit: (-hit.score, not hit.is_fact))


def _tellers(hits: Iterable[Hit]) -> dict[str, list[Hit]]:
    """Return by place the hits that tell what stands there, facts first, then the best.

    A turn tells what stands in its own place, a fact also what stands in its sources,
    and all of its file. What retells is left out.
    """
    tellers = defaultdict[str, list[Hit]](list)
    for hit in sorted(hits, key=lambda hit: not hit.is_fact):
        if hit.retells:
            continue
        places = {live(hit.place)}
        if hit.is_fact:
            places.update((live(hit.path), *hit.sources))
        for place in places:
            tellers[place].append(hit)
    return tellers


def _first_to_tell(hit: Hit, tellers: Mapping[str, list[Hit]]) -> Hit:
    """Return which hit stands for one: a fact for a turn, either for what retells it.

    A fact, or what nobody else tells, stands for itself. Of several facts that rest on
    one turn it is the one which has most of what the question found in the turn: the
    others tell something else of it.

    Args:
        hit: one of those found.
        tellers: by place the hits that tell what stands there.
    """
    if hit.is_fact:
        return hit
    places = hit.sources if hit.retells else (live(hit.place),)
    found = next(filter(None, map(tellers.get, places)), [hit])
    facts = [one for one in found if one.is_fact]
    if not (facts or hit.retells):
        return hit
    counts = hit.features.by_word

    def shared(other: Hit) -> float:
        return sum(counts.get(word, 0.0) for word in other.held & hit.held)

    return max(facts or found, key=shared)


# -- their order --------------------------------------------------------------------


def in_order(hits: Sequence[Hit], today: dt.date, weights: Weights) -> list[Hit]:
    """Return the hits, best first, in the order of an answer.

    The score decides between unlike hits only: of equals the newest is likeliest to
    hold, what held on a day asked for alone tells more of it than what was said then,
    and plans are read in the order of their days. Last, as nothing may come between the
    two, what replaced a memory goes before it.
    """
    newest_first = put_facts_first(put_newest_first(hits, weights), weights)
    return put_current_first(put_in_order_of_days(newest_first, today))


def put_newest_first(hits: Sequence[Hit], weights: Weights) -> list[Hit]:
    """Return the hits, the newest first of those that count as equal to the best.

    What is of a day asked for stays before them, and somebody else's role behind.
    """
    if not hits:
        return []
    role = hits[0].features.role
    least = weights.equal_share * hits[0].score

    equal = [hit for hit in hits if hit.score >= least]
    others = hits[len(equal) :]
    equal.sort(key=lambda hit: hit.date or dt.date.min, reverse=True)
    equal.sort(key=lambda hit: hit.features.day, reverse=True)
    equal.sort(key=lambda hit: hit.features.role != role)
    return [*equal, *others]


def put_facts_first(hits: Sequence[Hit], weights: Weights) -> list[Hit]:
    """Return the hits, facts worth their room before an assistant and who only asks.

    An assistant's answer to that question may quote what a fact said before it was
    mended. What stands behind the last of these facts stays there.

    Args:
        hits: in their order.
        weights: what a fact must have.
    """
    best: Hit | None = None
    end = 0
    for place, hit in enumerate(hits, 1):
        if _is_aside(hit):
            continue
        best = best or hit
        if hit.is_fact and not _is_weak(hit, best, weights):
            end = place
    return sorted(hits[:end], key=_is_aside) + list(hits[end:])


def _is_aside(hit: Hit) -> bool:
    """Say whether an assistant said it, who is not asked for, or it only asks."""
    return hit.is_echo or hit.features.role < 1


def put_in_order_of_days(hits: Sequence[Hit], today: dt.date) -> list[Hit]:
    """Return the hits, those of a day asked for in their order in time.

    What held on a past day goes before what was said on it. What names a coming day
    stands in the order of days. Hits that hold as much of the question change places
    with each other alone. What an assistant said stays where it is.

    Args:
        hits: in their order.
        today: the day after which days are to come.
    """
    now = today.toordinal()
    alike = defaultdict[tuple[float, bool], list[int]](list)
    for place, hit in enumerate(hits):
        is_to_come = hit.day_named > now
        is_past = hit.features.is_of_day and hit.strength > 0
        if hit.features.role == 1 and (is_to_come or is_past):
            alike[hit.strength, is_to_come].append(place)
    ordered = list(hits)
    for places in alike.values():
        moved = sorted(
            (hits[place] for place in places),
            key=lambda hit: (not hit.held_then, max(now, hit.day_named)),
        )
        for place, hit in zip(places, moved, strict=True):
            ordered[place] = replace(hit, score=hits[place].score)
    return ordered


def put_current_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with what replaced a superseded one right before it.

    Right behind it if the superseded one alone held on a day asked for. What replaced
    others answers as well as the best of them.
    """
    places = {hit.path: hit.place for hit in reversed(hits)}  # the best of each file
    by_place = {hit.place: hit for hit in hits}
    for hit in hits:
        if hit.newer in places:
            newer = by_place[places[hit.newer]]
            by_place[newer.place] = replace(
                newer,
                score=max(newer.score, hit.score),
                strength=max(newer.strength, hit.strength),
            )
    ordered: dict[str, Hit] = {}
    for hit in by_place.values():
        pair = [hit]
        if hit.newer in places:
            newer = by_place[places[hit.newer]]
            pair.append(newer)
            if newer.features.is_of_day or not hit.features.is_of_day:
                pair.reverse()
        for one in pair:
            ordered.setdefault(one.place, one)
    return list(ordered.values())


# -- which of them an answer shows --------------------------------------------------


def choose(hits: Iterable[Hit], limit: int | None, weights: Weights) -> list[Hit]:
    """Return the hits that an answer shows, as it shows them.

    What somebody says again on a day is shown once. An echo, which asks as the question
    does, is no measure of what is worth its room.

    Args:
        hits: in their order.
        limit: how many, a superseded one with what replaced it; if None, those worth
            their room, and what these replaced.
        weights: what a hit must have, `answer_tokens`, and `best_tokens` of each part.
    """
    worth: dict[str, Hit] = {}
    paths: set[str] = set()
    best: Hit | None = None
    for hit in hits:
        is_weak = limit is None and best is not None and _is_weak(hit, best, weights)
        if is_weak and hit.newer not in paths:
            continue
        worth.setdefault(hit.said, hit)
        paths.add(hit.path)
        if best is None and not hit.is_echo:
            best = hit
    chosen = list(worth.values())
    if limit is None:
        tokens = itertools.accumulate(map(_shown_tokens, chosen))
        limit = max(1, sum(total <= weights.answer_tokens for total in tokens))
    return lay_out(_with_newer(chosen, limit), weights.best_tokens)


def _with_newer(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """Return the first hits, and of the others what replaced, or was replaced by, one.

    Args:
        hits: in their order.
        limit: how many the first are.
    """
    shown = list(hits[:limit])
    paths = {hit.path for hit in shown}
    newer = {hit.newer for hit in shown} - paths
    for hit in hits[limit:]:
        if hit.path in newer or hit.newer in paths:
            shown.append(hit)
            newer.discard(hit.path)
    return shown


def _is_weak(hit: Hit, best: Hit, weights: Weights) -> bool:
    """Say whether a hit is not worth its room beside the best one."""
    share = weights.least_fact_share if hit.is_fact else weights.least_share
    return hit.score < share * best.score


def lay_out(hits: Iterable[Hit], best_tokens: int) -> list[Hit]:
    """Return hits in parts of so many tokens, each by file and line.

    No other day of a file stands before the one that is asked for. What was replaced
    stays with what replaced it.

    Args:
        hits: the best first.
        best_tokens: of each part, at most, if it has more than one hit.
    """
    parts: list[list[Hit]] = []
    room = 0
    for hit in hits:
        room -= _shown_tokens(hit)
        if not parts or (room < 0 and not _has_newer(parts[-1], hit)):
            parts.append([])
            room = best_tokens - _shown_tokens(hit)
        parts[-1].append(hit)
    laid_out: list[Hit] = []
    for part in parts:
        paths = [hit.path for hit in part]
        of_day = [hit for hit in part if hit.features.is_of_day]
        part.sort(key=lambda hit: (paths.index(hit.path), hit.line))
        part.sort(key=lambda hit: hit not in of_day and not _has_newer(of_day, hit))
        laid_out += part
    return laid_out


def _has_newer(hits: Iterable[Hit], old: Hit) -> bool:
    """Say whether what replaced a hit is among some."""
    return any(hit.path == old.newer for hit in hits)


def _shown_tokens(hit: Hit) -> int:
    heading = " ".join((hit.note, hit.replaced, *hit.sources))
    return count_tokens(hit.excerpt) + count_tokens(heading) + LINE_TOKENS
