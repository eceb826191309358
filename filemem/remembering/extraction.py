"""What a model makes of what was said: one request reads as many conversations as fit, beside the memories that are like them.

Understanding is the model's; code checks form. Every fact cites turns that were shown and quotes a few of their words; secrets
are out before and after; a wish on how the assistant should behave counts only in the person's own talk.
"""

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files.episode import Episode, of
from filemem.files.facts import plain
from filemem.files.memory import PROFILE, SOURCE_MARK
from filemem.files.sections import SECTIONS
from filemem.files.transcript import ASSISTANT
from filemem.models import Model, ModelError, Reply, ToolsRefused, prompt
from filemem.remembering.consolidation_log import digest
from filemem.remembering.sessions import Session, SessionTurn
from filemem.remembering.supersession import ADD, ALIKE, ALL, SUPERSEDE, UPDATE, Claim, KnownMemories
from filemem.text import dates, terms, tokens
from filemem.text.own_words import comparable, one_form_of_numbers, own_part, stands_in
from filemem.text.plain import LINK, one_line
from filemem.text.redaction import redact

MOST = 6_000  # tokens of turns in one request
BEFORE = 4  # turns before the unread ones, to be understood by
LONGEST = 600  # characters of a fact
# Confidence: borne out; with a name or a number that was shown nowhere; in a machine's words.
SURE, UNSURE, OF_ASSISTANT = 1.0, 0.5, 0.3
SECRET = "[redacted:"
TITLE, SENTENCE = 80, 240  # characters of what is said of a conversation
_ACTIONS = {"add": ADD, "update": UPDATE, "supersede": SUPERSEDE}
_TEXT, _WHOLE, _LABELS = {"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}}


def fields(required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object; `required` names some of its fields."""
    return {"type": "object", "properties": properties, "required": required.split()}


KEEP = {  # what the prompt `consolidate` asks for; it says what each field is
    "facts": fields(
        "action text lines quote kind",
        action={"type": "string", "enum": [*_ACTIONS]},
        memory=_LABELS,
        text=_TEXT,
        lines=_LABELS,
        quote=_TEXT,
        kind={"type": "string", "enum": ["fact", "event", "lesson"]},
        day=_TEXT,
        section={"type": "string", "enum": [*SECTIONS, ""]},
        importance=_WHOLE,
        valid_from=_TEXT,
        valid_until=_TEXT,
    ),
    "conversations": fields("number title", number=_WHOLE, title=_TEXT, outcome=_TEXT, open=_LABELS),
    "forget": fields("asked lines", asked=_TEXT, lines=_LABELS, memories=_LABELS),
}
CONDENSE = {"lines": fields("text from", text=_TEXT, **{"from": _LABELS})}
_TRAILING = re.compile(r",\s*([}\]])")


# -- objects from a model ----------------------------------------------------------------------------------------------


def ask(model: Model, template: str, tool: str, lists: dict[str, dict[str, Any]], told: str) -> Reply:
    """What a model answers that does what a template says, by one call of a tool that takes `lists` of objects, of which the
    first must be there; of a model that takes no tools, whatever it says. Raises ModelError."""
    messages = [{"role": "system", "content": prompt.template(template).strip()}, {"role": "user", "content": told}]
    properties = {name: {"type": "array", "items": item} for name, item in lists.items()}
    form = fields(next(iter(lists)), **properties)
    try:
        return model.ask(messages, [{"type": "function", "function": {"name": tool, "parameters": form}}], _unheard)
    except ToolsRefused:
        return model.ask(messages, [], _unheard)


def _unheard(text: str) -> None:
    """Nobody watches the answer come."""


def objects(reply: Reply, key: str) -> list[dict[str, Any]] | None:
    """The objects in the list `key` of an answer, as many as are whole; None where the answer holds no such thing at all.

    A list without its mapping, a single object, code fences, talk around the JSON and trailing commas are put up with.
    """
    for text in [*(call.arguments for call in reply.calls), reply.text]:
        found = [taken for value in _values(text) if (taken := _taken(value, key)) is not None]
        if not found and f'"{key}"' in text:  # a list whose end is missing
            found = [[value for value in _values(text.partition(f'"{key}"')[2], "{") if isinstance(value, dict)]]
        if found:
            return [one for taken in found for one in taken]
    return None


def _taken(value: Any, key: str) -> list[dict[str, Any]] | None:
    if isinstance(value, dict):
        if key not in value and not {"text", "fact"} & {*value}:
            return None
        value = value.get(key, value)
        value = [value] if isinstance(value, dict) else value
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else None


def _values(text: str, begins: str = r"[{\[]") -> Iterator[Any]:
    """The JSON values that begin with a bracket, one behind the other, as many as are whole."""
    decoder, at = json.JSONDecoder(), 0
    text = _TRAILING.sub(r"\1", text)
    while match := re.compile(begins).search(text, at):
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            return
        yield value


# -- what a request holds ----------------------------------------------------------------------------------------------


def batches(sessions: Iterable[Session]) -> Iterator[list[Session]]:
    """The unread turns of some sessions in requests of at most MOST tokens each, in their order."""
    batch, spent = list[Session](), 0
    for session in sessions:
        for place in session.unread:
            size = tokens.count(session.turns[place].shown)
            if spent and spent + size > MOST:
                before, session = session.parted(place)
                yield [*batch, before] if before.unread else batch
                batch, spent = [], 0
            spent += size
        batch.append(session)
    if batch:
        yield batch


def halves(batch: list[Session]) -> list[list[Session]]:
    """A batch as two, by conversations, else by turns; as it is where it is one turn."""
    if len(batch) > 1:
        return [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
    unread = batch[0].unread
    return [[part] for part in batch[0].parted(unread[len(unread) // 2])] if len(unread) > 1 else [batch]


def estimate(batch: list[Session], known: KnownMemories) -> int:
    """The tokens that a request for a batch asks, with the rules, the form and the memories, about."""
    turns = (session.turns[place] for session in batch for place in session.waiting)
    memories = sum(tokens.count(f"M10 (2026-01-01): {one.text}") for one in known.live.values())
    shown = memories if len(known.live) <= ALL else memories * ALIKE // len(known.live)
    rules = tokens.count(prompt.template("consolidate") + json.dumps(KEEP))
    return rules + shown + sum(tokens.count(f"[1:10] {one.speaker}: {one.shown}") for one in turns) + 30 * len(batch)


class ForgetRequest(NamedTuple):
    """What a person asked to be forgotten or not kept: their turn, and the turns and memories that are meant."""

    asked: str
    turns: tuple[str, ...]
    memories: tuple[str, ...]


class Extracted(NamedTuple):
    """What a request came to: each claim with why its form is wrong, if it is; `episodes` are by the sessions' paths."""

    claims: list[tuple[Claim, str]]
    episodes: dict[str, Episode]
    forget: list[ForgetRequest]
    notes: list[str]


class Request:
    """One request: the text that a model reads, and what its labels mean."""

    def __init__(self, batch: list[Session], known: KnownMemories, today: dt.date, refused: Sequence[str] = ()) -> None:
        self.sessions = batch
        self.turns: dict[str, tuple[Session, SessionTurn]] = {}
        said = [session.turns[place].text for session in batch for place in session.waiting]
        self.known = {f"M{number}": memory for number, memory in enumerate(known.like(said), 1)}
        lines = [f"Today is {_day(today)}. The memories are {self.sessions[0].user}'s."]
        if profile := _profile(known, {memory.path for memory in self.known.values()}):
            lines += ["The profile:", prompt.data(PROFILE, profile)]
        if self.known:
            noted = "\n".join(f"{label} ({one.since}): {one.text}" for label, one in self.known.items())
            lines += ["The memories, each with the day of its last word:", prompt.data("memories", noted)]
        if refused:
            lines += ["Noted before and refused for its form:", prompt.data("refused", "\n".join(refused))]
        for number, session in enumerate(batch, 1):
            lines += self._conversation(number, session)
        self.text = redact("\n".join(lines))[0]
        shown = re.sub(r"^\[\d+:\d+\]", "", self.text, flags=re.MULTILINE)
        self._words = terms.vocabulary(shown)
        self._numbers = set(re.findall(r"\d+", one_form_of_numbers(shown)))

    def _conversation(self, number: int, session: Session) -> Iterator[str]:
        """A conversation's unread turns with a few before them, each under the day on which it was said."""
        unread = session.waiting
        machine = " They come from another program." if session.imported else ""
        yield f"Conversation {number}. Who speaks: {', '.join(session.speakers)}.{machine}"
        lines, day = list[str](), None
        for place in [*range(max(0, unread[0] - BEFORE), unread[0]), *unread]:
            one = session.turns[place]
            if not one.text.strip():
                continue
            if one.day != day:
                clock = f", {session.memory.when.time}" if session.memory.when and day is None else ""
                lines.append(f"{_day(one.day)}{clock}:")
                day = one.day
            label = f"{number}:{one.line}"
            self.turns[label] = (session, one)
            before = "" if place in unread else "(read before) "
            lines.append(f"[{label}] {before}{one.speaker}: {' '.join(dates.annotate(one.shown, one.day).split())}")
        yield prompt.data(session.path, "\n".join(lines))

    # -- the answer ----------------------------------------------------------------------------------------------

    def taken(self, reply: Reply, by: str) -> Extracted:
        """The facts of an answer as claims, and the rest of it; raises ModelError for no answer."""
        answered = objects(reply, "facts")
        if answered is None:
            said = one_line(reply.text, 80)
            raise ModelError(f"{by} answered with no facts that can be read: {said or 'nothing'}")
        found = Extracted([self._claim(entry, by) for entry in answered], {}, [], [])
        if reply.finish == "length":
            found.notes.append(f"{by} was cut off; what it had said whole by then is kept")
        for entry in objects(reply, "conversations") or []:
            number = whole(entry.get("number"))
            if 1 <= number <= len(self.sessions):
                session = self.sessions[number - 1]
                found.episodes[session.path] = _episode(entry, session, by)
        for entry in objects(reply, "forget") or []:
            found.forget.extend(self._forget(entry))
        return found

    def _claim(self, entry: dict[str, Any], by: str) -> tuple[Claim, str]:
        """A fact as a model gave it, as a claim, and why its form is wrong; empty where it is right."""
        named = _labels(entry, "lines") or _labels(entry, "line")
        cited = [self.turns[label] for label in dict.fromkeys(named) if label in self.turns]
        clean, secret = redact(str(entry.get("text") or ""))
        text = " ".join(clean.split())
        claim = self._as_claim(entry, text, cited, by)
        if not text:
            return claim, "it has no text"
        if len(text) > LONGEST:
            return claim, f"it is longer than {LONGEST} characters"
        if secret or SECRET in text:
            return claim, "it is about a secret"
        if invented := [label for label in named if label not in self.turns]:
            return claim, f"it cites {', '.join(invented[:3])}, which is no turn that was shown"
        quote = str(entry.get("quote") or "")
        if not any(stands_in(quote, one.text) for _, one in cited):
            return claim, f"its quote {one_line(quote, 60)!r} stands in no turn that it cites"
        if not _same_script(text, [one for _, one in cited]):
            return claim, "it is not in its speaker's language"
        memories = _labels(entry, "memory")
        if claim.action != ADD and (not claim.target or len(memories) > 1 + len(claim.ends)):
            return claim, f"it names the memory {', '.join(memories) or '(none)'}, which was not shown"
        # What an agent learnt at work steers nobody.
        wish = claim.kind == "lessons" and not claim.said_by
        if wish and not any(_is_own_talk(quote, one, session) for session, one in cited):
            return claim, "it steers the assistant, and its words are not the person's own talk"
        return claim, ""

    def _as_claim(self, entry: dict[str, Any], text: str, cited: list[tuple[Session, SessionTurn]], by: str) -> Claim:
        section = str(entry.get("section") or "")
        lesson = entry.get("kind") == "lesson" or section == "talk"
        event = entry.get("kind") == "event" and not lesson
        targets = [self.known[label].path for label in _labels(entry, "memory") if label in self.known]
        machine = bool(cited) and all(one.is_foreign for _, one in cited)
        confidence = SURE if self._borne_out(text) else UNSURE
        return Claim(
            text=text,
            day=max((one.day for _, one in cited), default=dt.date.min),
            kind="lessons" if lesson else "facts",
            action=_ACTIONS.get(str(entry.get("action") or "add").lower(), ADD),
            target=targets[0] if targets else "",
            ends=tuple(targets[1:]),
            sources=tuple(dict.fromkeys(f"{session.path}:{one.line}" for session, one in cited)),
            origins=tuple((one.digest, digest(plain(text))) for _, one in cited) or (("", digest(plain(text))),),
            importance=max(1, min(10, whole(entry.get("importance")) or 5)),
            confidence=OF_ASSISTANT if machine else confidence,
            valid_from=_iso(entry.get("valid_from")),
            valid_until=_iso(entry.get("valid_until")),
            said_by=ASSISTANT if machine else "",
            nature="event" if event else "",
            when=_iso(entry.get("day")) if event else None,
            heading="" if machine else "talk" if lesson else section if section in SECTIONS else "",
            retold_by=by,
            waits=lesson and any(session.imported for session, _ in cited),
        )

    def _borne_out(self, text: str) -> bool:
        """Do its numbers and its names stand somewhere in what was shown?"""
        counted = re.findall(r"\d+", one_form_of_numbers(plain(text)))
        names = [name for name, _ in LINK.findall(text)]
        names += re.findall(r"(?<=[a-z,;:] )[A-Z][\w’'-]+", plain(text))
        words = (word for name in names for word in terms.vocabulary(re.sub("['’]s$", "", name)))
        return all(
            one in self._numbers or one.lstrip("0") in self._numbers for one in counted
        ) and self._words.issuperset(words)

    def _forget(self, entry: dict[str, Any]) -> Iterator[ForgetRequest]:
        """A wish to forget, where the turn that asks is the person's own."""
        label = next(iter(_labels(entry, "asked")), "")
        session, one = self.turns.get(label, (None, None))
        if session is None or one is None or one.speaker != session.user or session.imported:
            return
        turns = [self.turns[label] for label in _labels(entry, "lines") if label in self.turns]
        memories = [self.known[label].path for label in _labels(entry, "memories") if label in self.known]
        asked = f"{session.path}:{one.line}"
        places = (f"{other.path}:{said.line}" for other, said in turns)
        yield ForgetRequest(asked, tuple(dict.fromkeys([*places, asked])), tuple(memories))


def _is_own_talk(quote: str, one: SessionTurn, session: Session) -> bool:
    """Is most of a quote the person's own talk in a turn of theirs? What they quote in a wish may be missing."""
    if one.speaker != session.user or not stands_in(quote, one.text):
        return False
    pieces = [comparable(piece) for piece in re.split(r"[\"“”「」『』…]+|\.{3,}", quote)]
    found = comparable(own_part(one.text, session.user))
    return 2 * sum(len(piece) for piece in pieces if piece in found) > sum(map(len, pieces))


def _same_script(text: str, cited: list[SessionTurn]) -> bool:
    """Is a fact in a script that its turns are in?"""
    chinese = terms.is_chinese(plain(text))
    said = " ".join(one.text for one in cited)
    return chinese == terms.is_chinese(said) or (any(map(terms.is_cjk, said)) and bool(re.search(r"[A-Za-z]{2}", said)))


def _episode(entry: dict[str, Any], session: Session, by: str) -> Episode:
    """What a model says of a conversation, without secrets, on one line each."""

    def clean(text: object, longest: int = SENTENCE) -> str:
        return one_line(redact(str(text), session.own)[0], longest)

    told = {"outcome": clean(entry["outcome"])} if isinstance(entry.get("outcome"), str) else {}
    left = [clean(text) for text in _list(entry.get("open"))[:5]]
    return of({**told, "title": clean(entry.get("title") or "", TITLE), "open": left, "by": one_line(by, TITLE)})


def _profile(known: KnownMemories, shown: set[str]) -> str:
    """The profile's text without the lines about memories that are shown anyway, and without marks."""
    try:
        lines = known.folder.memory(PROFILE).lines
    except FilememError:
        return ""
    marks = ((line, SOURCE_MARK.search(line)) for line in lines)
    kept = [line[: mark.start() if mark else None] for line, mark in marks if not mark or {*mark[1].split()} - shown]
    said = any(line.strip() and not line.startswith("#") for line in kept)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(map(str.rstrip, kept))).strip() if said else ""


def _day(day: dt.date) -> str:
    return f"{day:%A} {day.day} {day:%B %Y} ({day})"


def _iso(value: Any) -> dt.date | None:
    try:
        return dt.date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def _labels(entry: dict[str, Any], key: str) -> list[str]:
    """The labels that an entry names."""
    return [label.strip("[] ").upper() for label in _list(entry.get(key))]


def _list(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)] if value else []


def whole(value: Any) -> int:
    """A whole number from what a model wrote for one, 0 for anything else."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0
