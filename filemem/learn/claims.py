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

from filemem.learn.batch import Request
from filemem.learn.log import digest
from filemem.learn.records import WRITTEN, Action, Claim
from filemem.learn.sessions import SaidTurn
from filemem.llm.model import Reply
from filemem.store.facts import MAX_FACT_CHARS, plain
from filemem.store.profile_sections import SECTIONS
from filemem.store.roles import ASSISTANT
from filemem.text import dates, terms
from filemem.text.expressions import numbers
from filemem.text.lenient_json import Listed, read_list
from filemem.text.plain import LINK, one_line
from filemem.text.quotes import comparable, one_form_of_numbers, stands_in
from filemem.text.redaction import redact
from filemem.text.spans import Span

NOT_SHOWN = 0.5  # confidence in what names a number or a name that was shown nowhere
BY_MACHINE = 0.3  # confidence in what only a machine said
IMPLIED = (0, 12, 1900, 2000)  # 3 pm is 15:00, '84 is 1984


@dataclass(frozen=True)
class ForgetWish:
    """What a person asked to be forgotten or not to be kept.

    Attributes:
        asked: the turn in which they did.
        places: the turns, as `path:line`, and the memories, by path, that are meant.
    """

    asked: SaidTurn
    places: tuple[str, ...]


@dataclass(frozen=True)
class Noted:
    """What a model answered.

    Attributes:
        claims: what it notes; those whose form is wrong have a fault.
        wishes: what the person wants forgotten.
        is_cut_off: whether its end is missing, or all of it.
        beginning: of its text.
    """

    claims: list[Claim] = field(default_factory=list)
    wishes: list[ForgetWish] = field(default_factory=list)
    is_cut_off: bool = False
    beginning: str = ""


def read_answer(request: Request, reply: Reply, model: str) -> Noted:
    """Read what a model answered to a request, as far as it can be read.

    Args:
        request: whose labels the answer uses.
        reply: a call of `keep`, or its JSON in words.
        model: the model's name, which a fact keeps.

    Returns:
        The claims, with what is wrong with their form, and the wishes. An answer in
        which nothing can be read counts as cut off.
    """
    texts = [*(call.arguments for call in reply.calls), reply.text]
    listed = _listed(texts, "facts")
    entries = listed.elements
    is_cut_off = listed.is_cut_off
    if entries and not any(isinstance(one, dict) for one in entries):
        entries = []
        is_cut_off = True
    shown = ShownText(request)
    claims: list[Claim] = []
    for values in entries:
        entry = NotedFact(request, values, len(claims))
        claims.append(_claim(entry, model, shown))
    wishes = []
    for values in _listed(texts, "forget").elements:
        wishes += _wishes(request, values)
    return Noted(claims, wishes, is_cut_off, one_line(texts[0], 80))


def _listed(texts: list[str], key: str) -> Listed:
    """Return the list under a key; an empty one that is cut off where there is none."""
    for text in texts:
        found = read_list(text, key)
        if found:
            return found
    return Listed([], is_cut_off=True)


# -- one entry -------------------------------------------------------------------------


class NotedFact:
    """One entry of an answer, beside what its labels mean.

    Attributes:
        turns: those that it cites and that were shown.
        named: the labels of the memories that it changes.
        targets: those that were shown, by path; of an entry before it, its label.
    """

    def __init__(self, request: Request, values: object, earlier: int) -> None:
        self._values = values if isinstance(values, dict) else {"text": values}
        self.turns = _turns(request, self._values.get("lines"))
        self.named = _labels(self._values.get("memory"))
        labels = {f"F{number}": f"F{number}" for number in range(1, earlier + 1)}
        labels |= {label: one.path for label, one in request.memories.items()}
        self.targets = [labels[label] for label in self.named if label in labels]

    def text(self, key: str) -> str:
        """Return a text as a model gives it: of one by its language, the first."""
        value = self._values.get(key)
        if isinstance(value, dict):
            value = next(iter(value.values()), "")
        return str(value or "")

    def quotes_own_turn(self) -> bool:
        """Tell whether it quotes a turn of the person whose memories these are."""
        quote = self.text("quote")
        return any(one.is_own and stands_in(quote, one.text) for one in self.turns)


def _claim(entry: NotedFact, model: str, shown: "ShownText") -> Claim:
    """Make a claim of an entry, with what is wrong with its form.

    Args:
        entry: as the model wrote it.
        model: the model's name.
        shown: the numbers and names that the model was shown.

    Returns:
        The claim; its day is that of the last turn it cites, and a plan of some month
        is over with that month.
    """
    turns = entry.turns
    text = " ".join(redact(entry.text("text"))[0].split())
    section = entry.text("section")
    is_lesson = entry.text("kind") == "lesson" or section == "talk"
    is_event = entry.text("kind") == "event" and not is_lesson
    is_machine = bool(turns) and all(one.is_machine for one in turns)
    if is_lesson:
        section = "talk"
    if is_machine or section not in SECTIONS:
        section = ""
    action = entry.text("action").upper()
    if action not in WRITTEN or not entry.named:
        action = Action.ADD
    weight = entry.text("importance")
    said = digest(plain(text))
    told = max((one.day for one in turns), default=dt.date.min)
    day = _span(entry.text("day"), told) if is_event else None
    begin = _span(entry.text("valid_from"), told)
    end = _span(entry.text("valid_until"), told)
    if day and day.start < day.end > told and not end:
        end = day  # a plan of some month is over with it
    front = {
        "importance": int(weight) if re.fullmatch("[1-46-9]|10", weight) else None,
        "confidence": None if shown.holds(text) else NOT_SHOWN,
        "said_by": "",
        "valid_from": begin.start if begin else None,
        "valid_until": end.end if end else None,
        "retold_by": model,
        "kind": "event" if is_event else "",
        "day": day.end if day and day.start == day.end else None,
    }
    if is_machine:
        front |= {"confidence": BY_MACHINE, "said_by": ASSISTANT}
    return Claim(
        text=text,
        day=told,
        kind="lessons" if is_lesson else "facts",
        action=Action(action),
        targets=tuple(entry.targets),
        sources=tuple(one.place for one in turns),
        origins=tuple((one.digest, said) for one in turns) or (("", said),),
        front=front,
        is_own=entry.quotes_own_turn(),
        section=section,
        needs_review=is_lesson and any(one.session.is_imported for one in turns),
        fault=_fault(entry, text, is_lesson and not is_machine),
    )


def _fault(entry: NotedFact, text: str, is_wish: bool) -> str:
    """Say what is wrong with the form of an entry; nothing where it is right.

    What a machine learnt at work steers nobody; a person's wish they voice themselves.

    Args:
        entry: as the model wrote it.
        text: what it tells, without secrets.
        is_wish: whether it says how the assistant should behave.
    """
    quote = entry.text("quote")
    shown = one_line(quote, 60)
    action = entry.text("action").upper()
    odd = one_line(action.lower(), 40)
    named = ", ".join(entry.named)
    is_quoted = stands_in(quote, "\n".join(one.text for one in entry.turns))
    is_odd = action not in ("", *WRITTEN)
    is_unknown = len(entry.targets) < len(entry.named) and action != Action.ADD
    is_foreign = is_wish and not entry.quotes_own_turn()
    wrongs = {
        "it has no text": not text,
        f"it is longer than {MAX_FACT_CHARS} characters": len(text) > MAX_FACT_CHARS,
        "it is about a secret": "[redacted:" in text,
        f"its action {odd!r} is none of add, update, supersede": is_odd,
        f"its quote {shown!r} stands in no turn that it cites": not is_quoted,
        "it steers the assistant, and quotes no turn of the person's own": is_foreign,
        f"it names the memory {named}, which was not shown": is_unknown,
    }
    return next((sentence for sentence, is_wrong in wrongs.items() if is_wrong), "")


def _wishes(request: Request, values: object) -> list[ForgetWish]:
    """Read a wish to forget.

    Args:
        request: whose labels it uses.
        values: `asked`, `lines` and `memories`, as the model wrote them.

    Returns:
        The wish, with the turn that asked among its places; none where no turn of the
        person's own holds it.
    """
    if not isinstance(values, dict):
        return []
    asked = _turns(request, values.get("asked"))[:1]
    if not asked or not asked[0].is_own:
        return []
    places: list[str] = []
    for label in _labels(values.get("memories")):
        if label in request.memories:
            memory = request.memories[label]
            places += [memory.path, *memory.sources]
    places += [one.place for one in _turns(request, values.get("lines")) + asked]
    return [ForgetWish(asked[0], tuple(dict.fromkeys(places)))]


def _turns(request: Request, value: object) -> list[SaidTurn]:
    """Return the turns that were shown under the labels that a value names."""
    labels = dict.fromkeys(_labels(value))
    return [request.turns[label] for label in labels if label in request.turns]


def _labels(value: object) -> list[str]:
    """Return the labels that a value names, in a list or in one text."""
    return re.findall(r"\b(?:\d+:\d+|[MF]\d+)\b", str(value).upper())


def _span(text: str, told: dt.date) -> Span | None:
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
        for turn in request.turns.values():
            for mention in dates.mentioned(turn.text, turn.day):
                for span in mention.spans:  # a bare Friday's may be several
                    text += f" {span.start} {span.end}"
        self._letters = comparable(text)
        self._numbers = _in_digits(text) | numbers(terms.simplified(text))

    def holds(self, text: str) -> bool:
        """Tell whether the numbers and the linked names of a text were shown.

        Args:
            text: a fact, with its links.
        """
        for number in _in_digits(plain(text)):
            shown_as = {number - more for more in IMPLIED}
            if shown_as.isdisjoint(self._numbers):
                return False
        names = " ".join(name for name, _ in LINK.findall(text))
        for word in terms.tokens(names):
            is_telling = len(word) > 2 or (len(word) == 1 and terms.is_cjk(word))
            if is_telling and comparable(word).removesuffix("s") not in self._letters:
                return False
        return True


def _in_digits(text: str) -> set[int]:
    """Return the numbers in a text's digits; the minutes of 14:00 are none."""
    digits = re.findall(r"\d{1,18}", one_form_of_numbers(text))
    return {int(one) for one in digits} - {0}
