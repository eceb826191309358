"""Whether a date that may be past or to come is the one or the other, by the words that it depends on.

A bare weekday, a day or month without a year: `we met on Friday`, `a flight for 20 April`, 3月27号去了. What settles it is the
preposition before it and its own verb, the last one before it in its clause, or the first one behind where none is before.
Anything else in between that might have the date for its own (`told me about the exam on Friday`) leaves it unsettled.
"""

import re
from collections.abc import Iterator

from filemem.text.dates.datewords import compiled, pattern

PAST, COMING, UNSETTLED = -1, 1, 0


def direction(text: str, start: int, end: int, *, weekly: bool) -> int:
    """PAST, COMING or UNSETTLED for the date at `text[start:end]`; `weekly` if it is a weekday, which may be any week's."""
    sentence = text[start:end].join(_around(text, start, end, compiled(r"[.!?。！？\n]\s?"), 200, 200))
    if pattern("elsewhen").search(text, max(0, start - 200), start) or pattern("every year").search(sentence):
        return UNSETTLED
    if pattern("cjk").search(text, start, end):
        return _chinese(text, start, end, weekly=weekly)
    if quoted(text, start) or pattern("list").match(text, end) or (weekly and not pattern("goes on").match(text, end)):
        return UNSETTLED
    clause = _around(text, start, end, pattern("clause end"), 200, 120)
    before, after = (re.sub(r"\s+", " ", part) for part in clause)
    before = before if weekly else before.removesuffix("the ")
    found = pattern("preposition").search(before)
    preposition = found[1].lower() if found else ""
    if (
        pattern("doubt").search(before)
        or pattern("doubt").search(after)
        or pattern("no one day").search(text[max(0, start - 32) : start])
    ):
        return UNSETTLED
    if pattern("booked").search(before):
        return COMING
    if pattern("moved").search(before):
        return UNSETTLED if weekly else COMING
    if preposition == "since":
        return UNSETTLED if compiled(r"\s(?:is|was|are|were|will)\b").match(after) else PAST
    return _by_verb(before, after, preposition, weekly=weekly)


def _around(text: str, start: int, end: int, edge: re.Pattern[str], back: int, ahead: int) -> tuple[str, str]:
    """What stands before and behind a place, up to an edge on either side or as many characters."""
    ends = [match.end() for match in edge.finditer(text, max(0, start - back), start)]
    stop = edge.search(text, end, end + ahead)
    return text[max([0, start - back, *ends]) : start], text[end : stop.start() if stop else end + ahead]


def quoted(text: str, start: int) -> bool:
    """Does somebody else's speech go on there, whose day may be another?"""
    before = text[max(0, start - 1000) : start]
    return before.count('"') % 2 == 1 or any(
        before.count(opens) > before.count(ends) for opens, ends in ("“”", "「」", "『』")
    )


def _by_verb(before: str, after: str, preposition: str, *, weekly: bool) -> int:
    """What the verb says that a date with this before and behind it depends on."""
    found = list(_verbs(before))
    kind, verb, rest = "", "", ""
    if found:
        kind, match = found[-1]
        verb, rest = match[0], before[match.end() :]
    elif len(before.split()) <= 6 and (first := next(_verbs(after[:60]), None)):
        kind, verb = first[0], first[1][0]
    if kind == "past":
        told = any(other == "doubt" for other, _ in found)  # she said that it closed
        elsewhere = preposition in ("for", "to", "by", "until", "till", "from", "of")
        return UNSETTLED if told or elsewhere or not _owns(verb, rest) else PAST
    if kind in ("coming", "present") and ("," in rest or compiled(r"\b(?:i|we|he|she|they|there)\b").search(rest)):
        return UNSETTLED
    if kind == "coming":
        return COMING if preposition != "of" else UNSETTLED
    if kind == "present" and preposition in ("until", "till", "by", "the end of"):
        return COMING
    if kind == "present" and not weekly and preposition in ("on", ""):
        return UNSETTLED if pattern("yearly").search(before + after) else COMING
    return UNSETTLED


def _verbs(clause: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The verbs of a clause in order, each with its kind, adjectives and passives made of verbs left out: `getting married`."""
    for match in pattern("verbs").finditer(clause):
        kind = match.lastgroup or ""
        others = ("adjective", "passive") if match[0].endswith("ed") else ("passive",)
        if kind != "past" or not any(pattern(other).search(clause, 0, match.start()) for other in others):
            yield kind, match


def _owns(verb: str, rest: str) -> bool:
    """Is a date behind a verb in the past, with `rest` between them, that verb's own?"""
    if compiled(r"(?:did|was|were)(?:n['’]t)?$").match(verb):  # did we meet
        rest = compiled(r"^\s(?:i|we|he|she|they|you|it)\b").sub("", rest)
    if (
        "," in rest
        or len(rest.split()) > 9
        or compiled(r"\b(?:i|we|he|she|they|there)\b|\s(?:it|you)\s\w+s?\s").search(rest)
    ):
        return False
    if compiled("‹travelled›$").match(verb):
        return True
    if compiled(r"(?-i:\bto\s(?!‹place›))").search(rest) or pattern("not its").search(rest):
        return False
    return not pattern("event").search(rest) or compiled("‹attended›$").match(verb) is not None


# --- Chinese ---------------------------------------------------------------------------------------------------------


def _chinese(text: str, start: int, end: int, *, weekly: bool) -> int:
    """The same of a Chinese date: aspect behind it, 打算 or 改到 before it."""
    before, after = map(str.strip, _around(text, start, end, pattern("zh clause end"), 60, 40))
    if pattern("zh doubt").search(before + after) or quoted(text, start):
        return UNSETTLED
    if pattern("zh coming").search(before):
        return COMING
    if pattern("zh moved").search(before):
        return UNSETTLED if weekly else COMING
    if compiled(r"^(?:[的那这至和、]|到(?![的了]))").search(after) or compiled(r"[从到至过等]了?$|除了?$").search(
        before
    ):
        return UNSETTLED
    if pattern("zh will").search(after) or compiled(r"(?:要|将)$").search(before):
        return UNSETTLED if weekly else COMING
    return PAST if compiled("^(?:以来|‹zh past›)").search(after) else UNSETTLED
