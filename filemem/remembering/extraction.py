"""What a model makes of what was said: one request reads as many conversations as fit, beside the memories that are like them.

Understanding is the model's; code checks form. Every fact cites turns that were shown and quotes a few of their words; secrets
are out before and after; a wish on how the assistant should behave counts only in the person's own talk.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from filemem.files.episode import Episode, of
from filemem.files.facts import plain
from filemem.files.memory import PROFILE, SOURCE_MARK
from filemem.files.transcript import ASSISTANT
from filemem.models import Model, ModelError, Reply, prompt
from filemem.remembering.consolidation_log import digest
from filemem.remembering.profile import HEADINGS
from filemem.remembering.sessions import Session, SessionTurn
from filemem.remembering.structured import filled, objects, request, tool
from filemem.remembering.supersession import ADD, SUPERSEDE, UPDATE, Claim, KnownMemories, KnownMemory
from filemem.text import dates, terms, tokens
from filemem.text.own_words import comparable, one_form_of_numbers, own_part, stands_in
from filemem.text.plain import LINK, one_line
from filemem.text.redaction import redact

MOST = 4_000  # tokens of turns in one request; with rules, profile and memories it comes to some 6,000
ALIKE = 100  # memories that a request holds at most
BEFORE = 4  # turns before the unread ones, to be understood by
LONGEST = 600  # characters of a fact
# Confidence: borne out; with a name or a number that was shown nowhere; in a machine's words.
SURE, UNSURE, OF_ASSISTANT = 1.0, 0.5, 0.3
SECRET = "[redacted:"
TITLE, SENTENCE = 80, 240  # characters of what is said of a conversation
_ACTIONS = {"add": ADD, "update": UPDATE, "supersede": SUPERSEDE}
_TEXT, _LABELS = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
_FACT = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": [*_ACTIONS]},
        "memory": _LABELS
        | {"description": "for update and supersede: the label of the memory, such as M3, or of several that end"},
        "text": _TEXT,
        "lines": _LABELS | {"description": "labels of all turns that it leans on"},
        "quote": {"type": "string", "description": "a few words of one of these turns, letter by letter"},
        "kind": {"type": "string", "enum": ["fact", "event", "lesson"]},
        "day": {"type": "string", "description": "of an event: YYYY-MM-DD"},
        "section": {"type": "string", "enum": [*HEADINGS, ""]},
        "importance": {"type": "integer", "minimum": 1, "maximum": 10},
        "valid_from": {"type": "string", "description": "YYYY-MM-DD"},
        "valid_until": {"type": "string", "description": "YYYY-MM-DD"},
    },
    "required": ["action", "text", "lines", "quote", "kind"],
}
_CONVERSATION = {
    "type": "object",
    "properties": {"number": {"type": "integer"}, "title": _TEXT, "outcome": _TEXT, "open": _LABELS},
    "required": ["number", "title"],
}
_FORGET = {
    "type": "object",
    "properties": {"asked": _TEXT, "lines": _LABELS, "memories": _LABELS},
    "required": ["asked", "lines"],
}
FORM = tool(
    "keep",
    "Keep what is worth knowing of these conversations.",
    "facts",
    _FACT,
    conversations={"type": "array", "items": _CONVERSATION},
    forget={"type": "array", "items": _FORGET},
)


class UnreadPart(NamedTuple):
    """Some unread turns of a session that one request holds, by their places."""

    session: Session
    places: tuple[int, ...]


class Dropped(NamedTuple):
    """What a model noted and form forbids, as far as it is a claim, and why."""

    claim: Claim
    reason: str


class ForgetRequest(NamedTuple):
    """What a person asked to be forgotten or not kept: their turn, and the turns and memories that are meant."""

    asked: str
    turns: tuple[str, ...]
    memories: tuple[str, ...]


class Extracted(NamedTuple):
    """What a request came to; `episodes` are by the sessions' paths."""

    claims: list[Claim]
    dropped: list[Dropped]
    episodes: dict[str, Episode]
    forget: list[ForgetRequest]
    notes: list[str]


Batch = list[UnreadPart]


def batches(sessions: Iterable[Session]) -> Iterator[Batch]:
    """The unread turns of some sessions in requests of at most MOST tokens each, in their order."""
    batch, spent = list[UnreadPart](), 0
    for session in sessions:
        places: list[int] = []
        for place in session.waiting:
            size = tokens.count(session.turns[place].shown)
            if spent and spent + size > MOST:
                yield [*batch, *([UnreadPart(session, tuple(places))] if places else [])]
                batch, places, spent = [], [], 0
            places.append(place)
            spent += size
        if places or not session.waiting:
            batch.append(UnreadPart(session, tuple(places)))
    if batch:
        yield batch


class OnePass:
    """A model that reads for consolidation; what it noted and form forbade is told to it with the next request."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.spent = 0  # tokens asked and answered
        self.requests = 0
        self._refused: list[str] = []

    def __call__(self, batch: Batch, known: KnownMemories, today: dt.date) -> Extracted:
        """What the model makes of a batch; raises ModelError, with nothing taken for read."""
        waiting = [part for part in batch if part.places]
        if not waiting:
            return Extracted([], [], {}, [], [])
        asked = Request(waiting, known, today, self._refused)
        reply = filled(self.model, request("consolidate", asked.text), FORM)
        self.requests, self.spent = self.requests + 1, self.spent + reply.usage.tokens_in + reply.usage.tokens_out
        if reply.finish == "length" and len(halves := _halves(waiting)) == 2:
            return _joined([self(half, known, today) for half in halves])
        found = asked.taken(reply, self.model.name)
        self._refused = [f"{one.claim.text} ({one.reason})" for one in found.dropped]
        return found


def _halves(batch: Batch) -> list[Batch]:
    """A batch as two, by conversations, else by turns; as it is where it is one turn."""
    if len(batch) > 1:
        return [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
    part, middle = batch[0], len(batch[0].places) // 2
    pieces = [part._replace(places=part.places[:middle]), part._replace(places=part.places[middle:])]
    return [[piece] for piece in pieces if piece.places]


def _joined(found: list[Extracted]) -> Extracted:
    """Several answers as one."""
    return Extracted(
        [claim for one in found for claim in one.claims],
        [dropped for one in found for dropped in one.dropped],
        {path: told for one in found for path, told in one.episodes.items()},
        [wish for one in found for wish in one.forget],
        [note for one in found for note in one.notes],
    )


class Request:
    """One request: the text that a model reads, and what its labels mean."""

    def __init__(self, batch: Batch, known: KnownMemories, today: dt.date, refused: Sequence[str] = ()) -> None:
        self.sessions = [part.session for part in batch]
        self.turns: dict[str, tuple[Session, SessionTurn]] = {}
        self.known: dict[str, KnownMemory] = {}
        said = [one.text for part in batch for one in (part.session.turns[place] for place in part.places)]
        for number, memory in enumerate(known.like(said, ALIKE), 1):
            self.known[f"M{number}"] = memory
        lines = [f"Today is {_day(today)}. The memories are {self.sessions[0].user}'s."]
        if profile := _profile(known):
            lines += ["The profile:", prompt.data(PROFILE, profile)]
        if self.known:
            noted = "\n".join(f"{label} ({one.since}): {one.text}" for label, one in self.known.items())
            lines += ["The memories, each with the day of its last word:", prompt.data("memories", noted)]
        if refused:
            lines += ["Noted before and refused for its form:", prompt.data("refused", "\n".join(refused))]
        for number, part in enumerate(batch, 1):
            lines += self._conversation(number, part)
        self.text = redact("\n".join(lines))[0]
        shown = re.sub(r"^\[\d+:\d+\]", "", self.text, flags=re.MULTILINE)
        self._words = terms.vocabulary(shown)
        self._numbers = set(re.findall(r"\d+", one_form_of_numbers(shown)))

    def _conversation(self, number: int, part: UnreadPart) -> Iterator[str]:
        """A conversation's unread turns with a few before them, each under the day on which it was said."""
        session, first = part.session, part.places[0]
        machine = " They come from another program." if session.imported else ""
        yield f"Conversation {number}. Who speaks: {', '.join(session.speakers)}.{machine}"
        lines, day = list[str](), None
        for place in [*range(max(0, first - BEFORE), first), *part.places]:
            one = session.turns[place]
            if not one.text.strip():
                continue
            if one.day != day:
                clock = f", {session.memory.when.time}" if session.memory.when and day is None else ""
                lines.append(f"{_day(one.day)}{clock}:")
                day = one.day
            label = f"{number}:{one.line}"
            self.turns[label] = (session, one)
            before = "" if place in part.places else "(read before) "
            lines.append(f"[{label}] {before}{one.speaker}: {' '.join(dates.annotate(one.shown, one.day).split())}")
        yield prompt.data(session.path, "\n".join(lines))

    # -- the answer ----------------------------------------------------------------------------------------------

    def taken(self, reply: Reply, by: str) -> Extracted:
        """The facts of an answer that have their form, as claims, and the rest of it; raises ModelError for no answer."""
        answered = objects(reply, "facts")
        if answered is None:
            said = one_line(reply.text, 80)
            raise ModelError(f"{by} answered with no facts that can be read: {said or 'nothing'}")
        found = Extracted([], [], {}, [], [])
        if reply.finish == "length":
            found.notes.append(f"{by} was cut off; what it had said whole by then is kept")
        for entry in answered:
            claim, reason = self._claim(entry, by)
            if reason:
                found.dropped.append(Dropped(claim, reason))
            else:
                found.claims.append(claim)
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
        lines = entry.get("lines", entry.get("line"))
        named = [str(label).strip("[] ") for label in (lines if isinstance(lines, list) else [lines])]
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
            return claim, f"it cites {', '.join(map(str, invented[:3]))}, which is no turn that was shown"
        quote = str(entry.get("quote") or "")
        if not any(stands_in(quote, one.text) for _, one in cited):
            return claim, f"its quote {one_line(quote, 60)!r} stands in no turn that it cites"
        if not _same_script(text, [one for _, one in cited]):
            return claim, "it is not in its speaker's language"
        if claim.action != ADD and (not claim.target or len(_labels(entry)) > 1 + len(claim.ends)):
            return claim, f"it names the memory {', '.join(_labels(entry)) or '(none)'}, which was not shown"
        return claim, self._may_steer(claim, quote, cited)

    def _as_claim(self, entry: dict[str, Any], text: str, cited: list[tuple[Session, SessionTurn]], by: str) -> Claim:
        section = str(entry.get("section") or "")
        lesson = entry.get("kind") == "lesson" or section == "talk"
        event = entry.get("kind") == "event" and not lesson
        targets = [self.known[label].path for label in _labels(entry) if label in self.known]
        machine = bool(cited) and all(one.is_foreign for _, one in cited)
        certain = SURE if self._borne_out(text) else UNSURE
        day = max((one.day for _, one in cited), default=dt.date.min)
        return Claim(
            text=text,
            day=day,
            kind="lessons" if lesson else "facts",
            action=_ACTIONS.get(str(entry.get("action") or "add").lower(), ADD),
            target=targets[0] if targets else "",
            ends=tuple(targets[1:]),
            sources=tuple(dict.fromkeys(f"{session.path}:{one.line}" for session, one in cited)),
            origins=tuple((one.digest, digest(plain(text))) for _, one in cited) or (("", digest(plain(text))),),
            importance=max(1, min(10, whole(entry.get("importance")) or 5)),
            confidence=OF_ASSISTANT if machine else certain,
            valid_from=_iso(entry.get("valid_from")),
            valid_until=_iso(entry.get("valid_until")),
            said_by=ASSISTANT if machine else "",
            nature="event" if event else "",
            when=_iso(entry.get("day")) if event else None,
            heading="" if machine else "talk" if lesson else section if section in HEADINGS else "",
            retold_by=by,
            waits=lesson and any(session.imported for session, _ in cited),
        )

    def _may_steer(self, claim: Claim, quote: str, cited: list[tuple[Session, SessionTurn]]) -> str:
        """Why a wish on the assistant's behaviour does not count: only the person's own talk makes one, told by structure."""
        if claim.kind != "lessons" or claim.said_by:  # what an agent learnt at work steers nobody
            return ""
        for session, one in cited:
            own = own_part(one.text, session.user)
            if one.speaker == session.user and stands_in(quote, one.text) and _mostly_in(quote, own):
                return ""
        return "it steers the assistant, and its words are not the person's own talk"

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
        session, one = self.turns.get(str(entry.get("asked") or "").strip("[] "), (None, None))
        if session is None or one is None or one.speaker != session.user or session.imported:
            return
        labels = [str(label).strip("[] ") for label in _list(entry.get("lines"))]
        turns = [self.turns[label] for label in labels if label in self.turns]
        memories = [self.known[label] for label in _labels(entry, "memories") if label in self.known]
        asked = f"{session.path}:{one.line}"
        places = (f"{other.path}:{said.line}" for other, said in turns)
        yield ForgetRequest(asked, tuple(dict.fromkeys([*places, asked])), tuple(known.path for known in memories))


def _mostly_in(quote: str, own: str) -> bool:
    """Does most of a quote stand in what is a person's own of its turn? What they quote in a wish may be missing."""
    pieces = [comparable(piece) for piece in re.split(r"[\"“”「」『』…]+|\.{3,}", quote)]
    found = comparable(own)
    return 2 * sum(len(piece) for piece in pieces if piece in found) > sum(map(len, pieces))


def _same_script(text: str, cited: list[SessionTurn]) -> bool:
    """Is a fact in a script that its turns are in?"""
    chinese = terms.is_chinese(plain(text))
    said = " ".join(one.text for one in cited)
    return chinese == terms.is_chinese(said) or (any(map(terms.is_cjk, said)) and bool(re.search(r"[A-Za-z]{2}", said)))


def _episode(entry: dict[str, Any], session: Session, by: str) -> Episode:
    """What a model says of a conversation, without secrets, on one line each."""

    def clean(text: object, longest: int) -> str:
        return one_line(redact(str(text), session.own)[0], longest)

    told = {key: clean(entry[key], SENTENCE) for key in ("outcome",) if isinstance(entry.get(key), str)}
    title = clean(entry.get("title") or "", TITLE)
    left = tuple(clean(text, SENTENCE) for text in _list(entry.get("open"))[:5])
    return of({**told, "title": title, "open": list(left), "by": one_line(by, TITLE)})


def _profile(known: KnownMemories) -> str:
    """The profile's text without the marks of what its lines rest on."""
    if PROFILE not in known.paths:
        return ""
    lines = known.folder.read(PROFILE).decode(errors="replace").split("\n")
    return "\n".join(SOURCE_MARK.sub("", line).rstrip() for line in lines).strip()


def _day(day: dt.date) -> str:
    return f"{day:%A} {day.day} {day:%B %Y} ({day})"


def _iso(value: Any) -> dt.date | None:
    try:
        return dt.date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def _labels(entry: dict[str, Any], key: str = "memory") -> list[str]:
    """The labels of memories that an entry names."""
    return [label.strip("[] ").upper() for label in _list(entry.get(key))]


def _list(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)] if value else []


def whole(value: Any) -> int:
    """A whole number from what a model wrote for one, 0 for anything else."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0
