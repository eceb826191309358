"""A model's answer, as claims whose form is checked.

Code checks form, not language. A claim cites turns that were shown and quotes a few of
their words; it holds no secret; it changes only a memory that was shown; a wish on how
the assistant should behave stands in a turn of the person's own. What has not its form
is told and waits for the person. A number or a name that stands nowhere in what the
model was shown lowers confidence, and refuses nothing.
"""

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import Any

from filemem.learn.batch import Request, ShownTurn
from filemem.learn.decide import KnownMemory
from filemem.learn.log import digest
from filemem.learn.records import ADD, WRITTEN, Action, Claim, ForgetWish
from filemem.llm.model import ModelError, Reply
from filemem.store.facts import plain
from filemem.store.memory import IMPORTANCE
from filemem.store.paths import kind_of
from filemem.store.profile_sections import SECTIONS
from filemem.store.roles import ASSISTANT
from filemem.text import dates, terms
from filemem.text.lenient_json import Listed, read_list
from filemem.text.plain import LINK, one_line
from filemem.text.quotes import comparable, one_form_of_numbers, stands_in
from filemem.text.redaction import redact

MAX_FACT_CHARS = 600
CERTAIN = 1.0
NOT_SHOWN = 0.5  # confidence in what names a number or a name that was shown nowhere
BY_MACHINE = 0.3  # confidence in what only a machine said


class Unreadable(ModelError):
    """An answer was not understood."""


@dataclass(frozen=True)
class CheckedClaim:
    """A claim, and what is wrong with its form; empty where it is right."""

    claim: Claim
    fault: str


@dataclass(frozen=True)
class Noted:
    """What a model answered.

    Attributes:
        claims: what it notes.
        wishes: what the person wants forgotten.
        notes: sentences for the person, on entries of a wrong form.
        is_cut_off: whether its end is missing.
    """

    claims: list[CheckedClaim] = field(default_factory=list)
    wishes: list[ForgetWish] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_cut_off: bool = False


def read_answer(request: Request, reply: Reply, model: str) -> Noted:
    """Read what a model answered to a request; raises Unreadable."""
    listed = _listed(reply, "facts")
    entries = (
        [one for one in listed.elements if isinstance(one, dict)] if listed else []
    )
    if listed is None or (not entries and (listed.elements or listed.is_cut_off)):
        shown = one_line(_texts(reply)[0], 80) or "nothing"
        raise Unreadable(f"{model} answered with no facts that can be read: {shown}")
    shown_text = ShownText(request)
    claims = [_checked(request, entry, model, shown_text) for entry in entries]
    odd = [one for one in listed.elements if not isinstance(one, dict)]
    notes = [f"Left out, as it names no turn: {one_line(str(one), 160)}" for one in odd]
    wishes = _listed(reply, "forget")
    wanted = [_wish(request, one) for one in wishes.elements] if wishes else []
    return Noted(claims, [one for one in wanted if one], notes, listed.is_cut_off)


def _texts(reply: Reply) -> list[str]:
    return [*(call.arguments for call in reply.calls), reply.text]


def _listed(reply: Reply, key: str) -> Listed | None:
    found = (read_list(text, key) for text in _texts(reply))
    return next((one for one in found if one is not None), None)


# -- one entry -------------------------------------------------------------------------


def _checked(
    request: Request, entry: dict[str, Any], model: str, shown: "ShownText"
) -> CheckedClaim:
    cited = [
        request.turns[label]
        for label in dict.fromkeys(_labels(entry.get("lines")))
        if label in request.turns
    ]
    named = _labels(entry.get("memory"))
    targets = [request.memories[one] for one in named if one in request.memories]
    claim = _claim(entry, cited, targets, model, shown)
    fault = _fault(entry, claim, cited, targets)
    if not fault and claim.action != ADD and len(targets) != len(named):
        fault = f"it names the memory {', '.join(named)}, which was not shown"
    return CheckedClaim(claim, fault)


def _fault(
    entry: dict[str, Any],
    claim: Claim,
    cited: list[ShownTurn],
    targets: list[KnownMemory],
) -> str:
    """Say what is wrong with the form of a claim; nothing where it is right."""
    quote = _text(entry.get("quote"))
    action = str(entry.get("action") or ADD)
    if not claim.text:
        return "it has no text"
    if len(claim.text) > MAX_FACT_CHARS:
        return f"it is longer than {MAX_FACT_CHARS} characters"
    if redact(_text(entry.get("text")))[1] or "[redacted:" in claim.text:
        return "it is about a secret"
    if action.upper() not in WRITTEN:
        return f"its action {one_line(action, 40)!r} is none of add, update, supersede"
    if not stands_in(quote, "\n".join(one.turn.text for one in cited)):
        return f"its quote {one_line(quote, 60)!r} stands in no turn that it cites"
    if _steers(claim, targets) and not any(_is_own(one, quote) for one in cited):
        return "it steers the assistant, and quotes no turn of the person's own"
    return ""


def _steers(claim: Claim, targets: list[KnownMemory]) -> bool:
    """Tell whether a claim is, or changes, a wish of the person's.

    What a machine learnt at work steers nobody.
    """
    if claim.kind == "lessons" and not claim.said_by:
        return True
    return any(kind_of(one.path) == "lessons" and not one.said_by for one in targets)


def _is_own(shown: ShownTurn, quote: str) -> bool:
    return shown.is_own and stands_in(quote, shown.turn.text)


def _claim(
    entry: dict[str, Any],
    cited: list[ShownTurn],
    targets: list[KnownMemory],
    model: str,
    shown: "ShownText",
) -> Claim:
    text = " ".join(redact(_text(entry.get("text")))[0].split())
    section = str(entry.get("section") or "")
    is_lesson = entry.get("kind") == "lesson" or section == "talk"
    is_event = entry.get("kind") == "event" and not is_lesson
    is_machine = bool(cited) and all(one.turn.is_machine for one in cited)
    if is_lesson:
        section = "talk"
    day = max((one.turn.day for one in cited), default=dt.date.min)
    confidence = CERTAIN if shown.holds(text) else NOT_SHOWN
    said = digest(plain(text))
    origins = [(one.turn.digest, said) for one in cited]
    weight = str(entry.get("importance"))
    until = _span(entry.get("valid_until"), day)  # of June 2026 its last day
    return Claim(
        text=text,
        day=day,
        kind="lessons" if is_lesson else "facts",
        action=_action(entry),
        target=targets[0].path if targets else "",
        also_ends=tuple(one.path for one in targets[1:]),
        sources=tuple(dict.fromkeys(one.place for one in cited)),
        origins=tuple(origins or [("", said)]),
        importance=int(weight) if re.fullmatch("[1-9]|10", weight) else IMPORTANCE,
        confidence=BY_MACHINE if is_machine else confidence,
        valid_from=_day(entry.get("valid_from"), day),
        valid_until=until.end if until else None,
        said_by=ASSISTANT if is_machine else "",
        is_event=is_event,
        event_day=_day(entry.get("day"), day) if is_event else None,
        section=section if section in SECTIONS and not is_machine else "",
        retold_by=model,
        needs_review=is_lesson and any(one.session.is_imported for one in cited),
    )


def _action(entry: dict[str, Any]) -> Action:
    """What is to be done; of no memory that is named there is nothing to change."""
    name = str(entry.get("action")).upper()
    return Action(name) if name in WRITTEN and entry.get("memory") else ADD


def _wish(request: Request, entry: object) -> ForgetWish | None:
    """A wish to forget, where a turn of the person's own holds it."""
    if not isinstance(entry, dict):
        return None
    labels = _labels(entry.get("asked"))
    asked = request.turns.get(labels[0]) if labels else None
    if asked is None or not asked.is_own:
        return None
    places: list[str] = []
    for label in _labels(entry.get("memories")):
        memory = request.memories.get(label)
        if memory:
            places += [memory.path, *memory.sources]
    for label in _labels(entry.get("lines")):
        if label in request.turns:
            places.append(request.turns[label].place)
    once = tuple(dict.fromkeys([*places, asked.place]))
    return ForgetWish(asked.place, asked.turn.text, asked.turn.day, once)


def _text(value: object) -> str:
    """A text as a model gives it: of one by its language, the first."""
    if isinstance(value, dict):
        value = next(iter(value.values()), "")
    return str(value or "")


def _labels(value: object) -> list[str]:
    """The labels that a value names, in a list or in one text."""
    return re.findall(r"\b(?:\d+:\d+|M\d+)\b", str(value).upper())


def _span(value: object, day: dt.date) -> dates.Span | None:
    """The days that a value may mean, in whatever form."""
    mentions = dates.mentioned(str(value), day)
    return next((one.span for one in mentions if not one.other), None)


def _day(value: object, day: dt.date) -> dt.date | None:
    """The one day that a value names."""
    span = _span(value, day)
    return span.end if span and span.start == span.end else None


# -- what was shown --------------------------------------------------------------------


class ShownText:
    """The numbers and the letters that a model was shown in a request."""

    def __init__(self, request: Request) -> None:
        text = re.sub(r"(?m)^\[\d+:\d+\]", "", request.text)
        self._letters = comparable(text)
        self._numbers = _numbers(text)
        self._numbers.update(map(str, dates.numbers(terms.simplified(text))))
        for one in request.turns.values():
            self._add_days(one.turn.text, one.turn.day)
        two_digits = {one for one in self._numbers if len(one) == 2}
        self._numbers.update(f"19{one}" for one in two_digits)  # born in '84
        hours = {int(one) for one in self._numbers if len(one) < 3}
        self._numbers.update(str(hour + 12) for hour in hours)  # 3 pm is 15:00

    def _add_days(self, text: str, day: dt.date) -> None:
        """Add the days that a turn means, a bare Friday's too, and years beside it."""
        for mention in dates.mentioned(text, day):
            for span in mention.spans:
                self._numbers |= _numbers(f"{span.start} {span.end}")
        self._numbers |= {str(day.year - 1), str(day.year + 1)}

    def holds(self, text: str) -> bool:
        """Tell whether the numbers and the linked names of a text were shown."""
        names = [name for name, _ in LINK.findall(text)]
        words = [word for name in names for word in terms.tokens(name)]
        return _numbers(plain(text)) <= self._numbers and all(
            comparable(word).removesuffix("s") in self._letters
            for word in words
            if len(word) > 2 or terms.is_cjk(word)
        )


def _numbers(text: str) -> set[str]:
    """The numbers in a text's digits."""
    whole_hours = re.sub(r":00(?!\d)", "", one_form_of_numbers(text))
    digits = re.findall(r"\d+", whole_hours)
    return {one.lstrip("0") or "0" for one in digits}
