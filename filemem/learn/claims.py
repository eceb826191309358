"""A model's answer, as claims whose form is checked.

Code checks form, not language. A claim cites turns that were shown and quotes a few of
their words; it holds no secret; it changes only a memory that was shown; a wish on how
the assistant should behave stands in a turn of the person's own. What has not its form
is told and waits for the person. A number or a linked name that stands nowhere in what
the model was shown lowers confidence, and refuses nothing.
"""

import datetime as dt
import re
from dataclasses import dataclass, field, replace
from typing import Any

from filemem.learn.batch import Request, labels
from filemem.learn.records import Action, Claim
from filemem.learn.sessions import SaidTurn
from filemem.llm.model import Reply
from filemem.store.facts import MAX_FACT_CHARS, plain
from filemem.store.fields import Episode
from filemem.store.learned import digest
from filemem.store.paths import Kind
from filemem.store.profile_sections import SECTIONS
from filemem.store.roles import ASSISTANT, Role
from filemem.text import dates
from filemem.text.lenient_json import Listed, read_list, read_object
from filemem.text.plain import one_line
from filemem.text.quotes import stands_in
from filemem.text.redaction import redact
from filemem.text.shown import ShownText
from filemem.text.spans import Span

NOT_SHOWN = 0.5  # confidence in what names a number or a name that was shown nowhere
BY_MACHINE = 0.3  # confidence in what only a machine said
FORGET = "forget"
"""The kind of a wish to forget, and the key of its file for what it means."""
Entry = dict[str, Any]
"""One entry of an answer, as the model wrote it."""
_ACTIONS = ("ADD", "UPDATE", "SUPERSEDE")
_KNOWN = ", ".join(_ACTIONS).lower()


@dataclass(frozen=True)
class Noted:
    """What a model answered.

    Attributes:
        claims: what it notes, and then what the person wants forgotten; those whose
            form is wrong have a fault.
        is_cut_off: whether its end is missing, or all of it.
        is_full: whether it, or the request, had no more room.
        fault: what is wrong with one that is cut off.
    """

    claims: list[Claim] = field(default_factory=list)
    is_cut_off: bool = False
    is_full: bool = False
    fault: str = ""


def read_answer(request: Request, reply: Reply, model: str) -> Noted:
    """Read what a model answered to a request, as far as it can be read.

    Args:
        request: whose labels the answer uses.
        reply: a call of `keep`, or its JSON in words.
        model: the model's name, which a fact keeps.

    Returns:
        The claims, with what is wrong with their form. An answer in which nothing can
        be read counts as cut off.
    """
    facts = _listed(reply, "facts")
    shown = ShownText(request.text, request.turns.values())
    claims: list[Claim] = []
    is_cut_off = facts.is_cut_off and not _is_without_facts(reply)
    for entry in facts.elements:
        if isinstance(entry, dict):
            claims.append(_claim(request, entry, len(claims), shown, model))
        else:
            is_cut_off = True
    for entry in _listed(reply, FORGET).elements:
        claims += _wishes(request, entry)
    fault = f"The answer of {model} was cut off"
    if not claims:
        beginning = one_line(reply.texts[0], 80).rstrip(".") or "nothing"
        fault = f"{model} answered with no facts that can be read: {beginning}"
    return Noted(claims, is_cut_off, reply.finish == "length", fault)


def _is_without_facts(reply: Reply) -> bool:
    """Tell whether an answer is whole, and empty or of wishes to forget alone."""
    for text in [call.arguments for call in reply.calls] or [reply.text]:
        read = read_object(text)
        if read is None or (read and FORGET not in read):
            return False
    return True


def _listed(reply: Reply, key: str) -> Listed:
    """Return the lists under a key as one: of all calls, or, without any, of the words.

    Where there is none it is empty, and cut off.
    """
    lists = [read_list(call.arguments, key) for call in reply.calls]
    if not any(lists):
        lists = [read_list(reply.text, key)]
    found = [one for one in lists if one]
    elements = [entry for one in found for entry in one.elements]
    is_cut_off = not found or any(one.is_cut_off for one in found)
    return Listed(elements, is_cut_off)


# -- one entry -------------------------------------------------------------------------


def _claim(
    request: Request, entry: Entry, earlier: int, shown: ShownText, model: str
) -> Claim:
    """Make a claim of an entry, with what is wrong with its form.

    Args:
        request: whose labels it uses.
        entry: as the model wrote it.
        earlier: how many entries stand before it, whose labels are F1, F2 …
        shown: the numbers and names that the model was shown.
        model: the model's name.

    Returns:
        The claim; its day is that of the last turn it cites, or else of the last shown.
    """
    turns = request.cited(entry.get("lines"))
    last_day = max(turn.day for turn in turns or request.turns.values())
    text = " ".join(redact(_word(entry, "text")).text.split())
    text_digest = digest(plain(text))
    kind = _word(entry, "kind").lower()
    section = _word(entry, "section").lower()
    is_lesson = kind == "lesson" or section == "talk"
    if is_lesson:
        section = "talk"
    front = {
        "importance": _importance(entry),
        "confidence": None if shown.holds(text) else NOT_SHOWN,
        **_days(entry, last_day, is_event=kind == Episode.EVENT and not is_lesson),
        "retold_by": model,
    }
    if turns and all(turn.role is not Role.PERSON for turn in turns):
        front |= {"confidence": BY_MACHINE, "said_by": ASSISTANT}
        section = ""
    known = {label: memory.path for label, memory in request.memories.items()}
    for number in range(1, earlier + 1):
        known[f"F{number}"] = f"F{number}"
    named = labels(entry.get("memory"))
    quote = _word(entry, "quote")
    action = _word(entry, "action").upper() or Action.ADD
    is_change = named and action in _ACTIONS
    claim = Claim(
        text=text,
        day=last_day,
        kind=Kind.LESSONS if is_lesson else Kind.FACTS,
        action=Action(action) if is_change else Action.ADD,
        targets=tuple(known[label] for label in named if label in known),
        sources=tuple(turn.place for turn in turns),
        origins=tuple((turn.digest, text_digest) for turn in turns)
        or (("", text_digest),),
        front=front,
        is_own=any(turn.is_own and stands_in(quote, turn.text) for turn in turns),
        section=section if section in SECTIONS else "",
        needs_review=(is_lesson and any(turn.session.is_imported for turn in turns)),
    )
    return replace(claim, fault=_fault(claim, action, quote, named, turns))


def _word(entry: Entry, key: str) -> str:
    """Return a text of an entry, of one by its language the first; '' for no text."""
    value = entry.get(key)
    if isinstance(value, dict):
        value = next(iter(value.values()), "")
    return value if isinstance(value, str) else ""


def _importance(entry: Entry) -> int | None:
    """Return how much an entry weighs, from 1 to 10.

    None where it is not told, or 5, as of any other.
    """
    weight = str(entry.get("importance"))
    return int(weight) if re.fullmatch("[1-46-9]|10", weight) else None


def _days(entry: Entry, last_day: dt.date, *, is_event: bool) -> dict[str, Any]:
    """Return the days of an entry, as front matter.

    An event of a month, or of several days, is on the first, and over with the last.

    Args:
        entry: as the model wrote it.
        last_day: the day from which its words count.
        is_event: whether it is of a day.
    """
    begin = _span(entry, "valid_from", last_day)
    end = _span(entry, "valid_until", last_day)
    day = _span(entry, "day", last_day) if is_event else None
    if day and day.start < day.end:
        end = end or day
    return {
        "valid_from": begin.start if begin else None,
        "valid_until": end.end if end else None,
        "kind": Episode.EVENT if is_event else "",
        "day": day.start if day else None,
    }


def _span(entry: Entry, key: str, last_day: dt.date) -> Span | None:
    """Return the days that a value may mean, in whatever form, from first to last.

    Args:
        entry: as the model wrote it.
        key: of the value.
        last_day: the day from which its words count.
    """
    value = _word(entry, key)
    spans = list(dates.settled(value, last_day))
    spans += [one.span for one in dates.mentioned(value, last_day) if not one.other]
    return Span(min(spans)[0], max(span.end for span in spans)) if spans else None


def _fault(
    claim: Claim, action: str, quote: str, named: list[str], turns: list[SaidTurn]
) -> str:
    """Say what is wrong with the form of a claim; nothing where it is right.

    What a machine learnt at work steers nobody; a person's wish they voice themselves.

    Args:
        claim: as it was made of an entry.
        action: as the model wrote it, in capitals.
        quote: likewise.
        named: the labels of the memories that it is about.
        turns: those that it cites.
    """
    cited = "\n".join(turn.text for turn in turns)
    size = len(claim.text)
    is_wish = claim.kind == Kind.LESSONS and not claim.said_by
    is_odd = action not in _ACTIONS
    is_unknown = claim.action is not Action.ADD and len(claim.targets) < len(named)
    wrongs = {
        "it has no text": not claim.text,
        f"it is longer than {MAX_FACT_CHARS} characters": size > MAX_FACT_CHARS,
        "it is about a secret": "[redacted:" in claim.text,
        f"its action {one_line(action.lower(), 40)!r} is none of {_KNOWN}": is_odd,
        f"its quote {one_line(quote, 60)!r} stands in no turn that it cites": (
            not stands_in(quote, cited)
        ),
        "it steers the assistant, and quotes no turn of the person's own": (
            is_wish and not claim.is_own
        ),
        f"it names the memory {', '.join(named)}, which was not shown": is_unknown,
    }
    return next((wrong for wrong, is_so in wrongs.items() if is_so), "")


def _wishes(request: Request, entry: object) -> list[Claim]:
    """Read a wish to forget.

    Args:
        request: whose labels it uses.
        entry: `asked`, `lines` and `memories`, as the model wrote them.

    Returns:
        The wish, which names the turns and memories that go, the turn that asked among
        them; none where no turn of the person's own holds it.
    """
    values = entry if isinstance(entry, dict) else {}
    asked = request.cited(values.get("asked"))[:1]
    places: list[str] = []
    for label in labels(values.get("memories")):
        if label in request.memories:
            memory = request.memories[label]
            places += [memory.path, *memory.sources]
    places += [turn.place for turn in request.cited(values.get("lines")) + asked]
    return [
        Claim(
            text=" ".join(turn.text.split()),
            day=turn.day,
            kind=FORGET,
            sources=(turn.place,),
            origins=((turn.digest, FORGET),),
            front={FORGET: tuple(dict.fromkeys(places))},
            needs_review=True,
        )
        for turn in asked
        if turn.is_own
    ]
