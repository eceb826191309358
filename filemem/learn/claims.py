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

from filemem.learn.batch import Request
from filemem.learn.log import digest
from filemem.learn.records import WRITTEN, Action, Claim
from filemem.learn.sessions import SaidTurn
from filemem.llm.model import ModelError, Reply
from filemem.store.facts import MAX_FACT_CHARS, plain
from filemem.store.memory import IMPORTANCE
from filemem.store.paths import kind_of
from filemem.store.profile_sections import SECTIONS
from filemem.store.roles import ASSISTANT
from filemem.text import dates, terms
from filemem.text.lenient_json import Listed, read_list
from filemem.text.plain import LINK, one_line
from filemem.text.quotes import comparable, one_form_of_numbers, stands_in
from filemem.text.redaction import redact

CERTAIN = 1.0
NOT_SHOWN = 0.5  # confidence in what names a number or a name that was shown nowhere
BY_MACHINE = 0.3  # confidence in what only a machine said


class Unreadable(ModelError):
    """An answer was not understood."""


@dataclass(frozen=True)
class ForgetWish:
    """What a person asked to be forgotten or not to be kept.

    Attributes:
        asked: the turn in which they did.
        places: the turns, as `path:line`, and the memories, by path, that are meant.
        keeps: the memories that are meant in part, and stay without it.
    """

    asked: SaidTurn
    places: tuple[str, ...]
    keeps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Noted:
    """What a model answered.

    Attributes:
        claims: what it notes; those whose form is wrong have a fault.
        wishes: what the person wants forgotten.
        notes: sentences for the person, on what is no claim at all.
        is_cut_off: whether its end is missing.
    """

    claims: list[Claim] = field(default_factory=list)
    wishes: list[ForgetWish] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_cut_off: bool = False


@dataclass(frozen=True)
class NotedFact:
    """One entry of an answer, beside what its labels mean.

    Attributes:
        values: what the model wrote.
        turns: those that it cites and that were shown.
        targets: what it changes: paths of memories, labels of entries before it.
        wishes: those of them that say how the assistant should behave.
        unknown: the labels of what it changes that were not shown.
    """

    values: dict[str, Any]
    turns: list[SaidTurn]
    targets: list[str]
    wishes: list[str]
    unknown: list[str]

    def text(self, key: str) -> str:
        """Return a text as a model gives it: of one by its language, the first."""
        value = self.values.get(key)
        if isinstance(value, dict):
            value = next(iter(value.values()), "")
        return str(value or "")


def read_answer(request: Request, reply: Reply, model: str) -> Noted:
    """Read what a model answered to a request; raises Unreadable."""
    texts = [*(call.arguments for call in reply.calls), reply.text]
    listed = _listed(texts, "facts")
    claims: list[Claim] = []
    notes = []
    shown = ShownText(request)
    for values in listed.elements if listed else ():
        if isinstance(values, dict):
            claims.append(_claim(_entry(request, values, claims), model, shown))
        else:
            said = one_line(str(values), 160)
            notes.append(f"Left out, as it names no turn: {said}")
    if listed is None or (not claims and (notes or listed.is_cut_off)):
        said = one_line(texts[0], 80) or "nothing"
        raise Unreadable(f"{model} answered with no facts that can be read: {said}")
    wishes = []
    asked = _listed(texts, "forget")
    for values in asked.elements if asked else ():
        wishes += _wishes(request, values)
    return Noted(claims, wishes, notes, listed.is_cut_off)


def _listed(texts: list[str], key: str) -> Listed | None:
    for text in texts:
        found = read_list(text, key)
        if found:
            return found
    return None


# -- one entry -------------------------------------------------------------------------


def _entry(request: Request, values: dict[str, Any], earlier: list[Claim]) -> NotedFact:
    targets = []
    wishes = []
    unknown = []
    before = {f"F{number}": claim for number, claim in enumerate(earlier, 1)}
    for label in _labels(values.get("memory")):
        memory = request.memories.get(label)
        target = label
        if memory:
            target = memory.path
            is_wish = kind_of(target) == "lessons" and not memory.said_by
        elif label in before:
            is_wish = before[label].kind == "lessons"
        else:
            unknown.append(label)
            continue
        targets.append(target)
        if is_wish:
            wishes.append(target)
    return NotedFact(values, _turns(request, values), targets, wishes, unknown)


def _claim(entry: NotedFact, model: str, shown: "ShownText") -> Claim:
    """Make a claim of an entry, with what is wrong with its form."""
    turns = entry.turns
    text = " ".join(redact(entry.text("text"))[0].split())
    section = entry.text("section")
    is_lesson = entry.values.get("kind") == "lesson" or section == "talk"
    is_event = entry.values.get("kind") == "event" and not is_lesson
    is_machine = bool(turns) and all(one.is_machine for one in turns)
    if is_lesson:
        section = "talk"
    if is_machine or section not in SECTIONS:
        section = ""
    confidence = CERTAIN if shown.holds(text) else NOT_SHOWN
    said = digest(plain(text))
    weight = entry.text("importance")
    told = max((one.day for one in turns), default=dt.date.min)
    day = _span(entry.text("day"), told) if is_event else None
    begin = _span(entry.text("valid_from"), told)
    end = _span(entry.text("valid_until"), told)
    is_one_day = day is not None and day.start == day.end
    if day and not is_one_day and not end and day.end > told:
        end = day  # a plan of some month is over with it
    return Claim(
        text=text,
        day=told,
        kind="lessons" if is_lesson else "facts",
        action=_action(entry),
        targets=tuple(entry.targets),
        sources=tuple(one.place for one in turns),
        origins=tuple((one.digest, said) for one in turns) or (("", said),),
        importance=int(weight) if re.fullmatch("[1-9]|10", weight) else IMPORTANCE,
        confidence=BY_MACHINE if is_machine else confidence,
        valid_from=begin.end if begin and begin.start == begin.end else None,
        valid_until=end.end if end else None,
        said_by=ASSISTANT if is_machine else "",
        is_event=is_event,
        event_day=day.end if day and is_one_day else None,
        section=section,
        retold_by=model,
        needs_review=is_lesson and any(one.session.is_imported for one in turns),
        fault=_fault(entry, text, is_lesson and not is_machine),
    )


def _fault(entry: NotedFact, text: str, is_wish: bool) -> str:
    """Say what is wrong with the form of an entry; nothing where it is right.

    What a machine learnt at work steers nobody; a person's wish they voice themselves.
    """
    quote = entry.text("quote")
    shown = one_line(quote, 60)
    action = entry.text("action")
    steers = is_wish or bool(entry.wishes)
    own = [one.text for one in entry.turns if one.is_own]
    is_odd = action.upper() not in ("", *WRITTEN)
    is_new = action.upper() in ("", Action.ADD)
    wrongs = [
        (not text, "it has no text"),
        (
            len(text) > MAX_FACT_CHARS,
            f"it is longer than {MAX_FACT_CHARS} characters",
        ),
        (
            "[redacted:" in text,
            "it is about a secret",
        ),
        (
            is_odd,
            f"its action {one_line(action, 40)!r} is none of add, update, supersede",
        ),
        (
            not stands_in(quote, "\n".join(one.text for one in entry.turns)),
            f"its quote {shown!r} stands in no turn that it cites",
        ),
        (
            steers and not any(stands_in(quote, said) for said in own),
            "it steers the assistant, and quotes no turn of the person's own",
        ),
        (
            entry.unknown and not is_new,
            f"it names the memory {', '.join(entry.unknown)}, which was not shown",
        ),
    ]
    return next((sentence for is_wrong, sentence in wrongs if is_wrong), "")


def _action(entry: NotedFact) -> Action:
    """Say what is to be done; where no memory is named there is nothing to change."""
    name = entry.text("action").upper()
    return Action(name) if name in WRITTEN and entry.targets else Action.ADD


def _wishes(request: Request, values: object) -> list[ForgetWish]:
    """Read a wish to forget; none where no turn of the person's own holds it."""
    if not isinstance(values, dict):
        return []
    asked = _turns(request, {"lines": values.get("asked")})
    if not asked or not asked[0].is_own:
        return []
    places: list[str] = []
    for label in _labels(values.get("memories")):
        memory = request.memories.get(label)
        if memory:
            places += [memory.path, *memory.sources]
    places += [one.place for one in [*_turns(request, values), asked[0]]]
    return [ForgetWish(asked[0], tuple(dict.fromkeys(places)))]


def _turns(request: Request, values: dict[str, Any]) -> list[SaidTurn]:
    """Return the turns that were shown under the labels in `lines`, each once."""
    labels = dict.fromkeys(_labels(values.get("lines")))
    return [request.turns[label] for label in labels if label in request.turns]


def _labels(value: object) -> list[str]:
    """Return the labels that a value names, in a list or in one text."""
    return re.findall(r"\b(?:\d+:\d+|[MF]\d+)\b", str(value).upper())


def _span(text: str, told: dt.date) -> dates.Span | None:
    """Return the days that a value may mean, in whatever form."""
    for mention in dates.mentioned(text, told):
        if not mention.other:
            return mention.span
    return None


# -- what was shown --------------------------------------------------------------------


class ShownText:
    """The numbers and the letters that a model was shown in a request."""

    def __init__(self, request: Request) -> None:
        text = re.sub(r"(?m)^\[\d+:\d+\]", "", request.text)
        self._letters = comparable(text)
        self._numbers = _numbers(text)
        self._numbers.update(map(str, dates.numbers(terms.simplified(text))))
        for turn in request.turns.values():
            for mention in dates.mentioned(turn.text, turn.day):
                for span in mention.spans:  # a bare Friday's may be several
                    self._numbers |= _numbers(f"{span.start} {span.end}")
        two_digits = {one for one in self._numbers if len(one) == 2}
        self._numbers.update(f"19{one}" for one in two_digits)  # born in '84
        hours = {int(one) for one in self._numbers if len(one) < 3}
        self._numbers.update(str(hour + 12) for hour in hours)  # 3 pm is 15:00

    def holds(self, text: str) -> bool:
        """Tell whether the numbers and the linked names of a text were shown."""
        if not _numbers(plain(text)) <= self._numbers:
            return False
        names = " ".join(name for name, _ in LINK.findall(text))
        for word in terms.tokens(names):
            is_telling = len(word) > 2 or terms.is_cjk(word)
            if is_telling and comparable(word).removesuffix("s") not in self._letters:
                return False
        return True


def _numbers(text: str) -> set[str]:
    """Return the numbers in a text's digits."""
    whole_hours = re.sub(r":00(?!\d)", "", one_form_of_numbers(text))
    digits = re.findall(r"\d+", whole_hours)
    return {one.lstrip("0") or "0" for one in digits}
