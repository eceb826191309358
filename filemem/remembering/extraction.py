"""What a model makes of what was said: one request reads as many conversations as fit, beside the memories that are like them.

Understanding is the model's; code checks form. Every fact cites turns that were shown and quotes a few of their words; secrets
are out before and after; a wish on how the assistant should behave counts only in the person's own talk.
"""

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from filemem.files.facts import plain
from filemem.files.memory import ASSISTANT, PROFILE, SOURCE_MARK
from filemem.files.sections import SECTIONS
from filemem.models import prompt
from filemem.models.endpoint import Model, ModelError, Reply, ToolsRefused
from filemem.remembering.sessions import Session, SessionTurn, digest
from filemem.remembering.supersession import ADD, SUPERSEDE, UPDATE, Claim, KnownMemories
from filemem.text import dates, terms
from filemem.text.own_words import comparable, one_form_of_numbers, own_part, stands_in
from filemem.text.plain import LINK, count_tokens, one_line
from filemem.text.redaction import redact

MOST = 6_000  # tokens of turns in one request
BEFORE = 4  # turns before the unread ones, to be understood by
LONGEST = 600  # characters of a fact
# Confidence: borne out; with a name or a number that was shown nowhere; in a machine's words.
SURE, UNSURE, OF_ASSISTANT = 1.0, 0.5, 0.3
SECRET = "[redacted:"
_ACTIONS = {"add": ADD, "update": UPDATE, "supersede": SUPERSEDE}


def ask(model: Model, template: str, told: str) -> Reply:
    """What a model answers that does what a template says, by one call of its tool; of a model that takes no tools, whatever it
    says. Raises ModelError."""
    messages = [{"role": "system", "content": prompt.template(template).strip()}, {"role": "user", "content": told}]
    try:
        return model.ask(messages, json.loads(prompt.template(f"{template}.json")), lambda text: None)
    except ToolsRefused:
        return model.ask(messages, [], lambda text: None)


def objects(reply: Reply, key: str) -> list[dict[str, Any]] | None:
    """The objects in the list `key` of an answer, in whatever talk and fences its JSON stands, as many as are whole where it was
    cut off; None where the answer holds no such list."""
    decoder = json.JSONDecoder()
    for text in [*(call.arguments for call in reply.calls), reply.text]:
        text = re.sub(r",\s*([}\]])", r"\1", text)
        begins = re.search(rf'"{key}"\s*:\s*\[|\A\W*(?:json)?\s*\[', text)
        if not begins:
            continue
        found, at = list[dict[str, Any]](), begins.end()
        while more := re.compile(r"[\s,]*(?=\{)").match(text, at):
            try:
                value, at = decoder.raw_decode(text, more.end())
            except (ValueError, RecursionError):
                break
            found.append(value)
        return found
    return None


# -- what a request holds ----------------------------------------------------------------------------------------------


def batches(sessions: Iterable[Session]) -> Iterator[list[Session]]:
    """The unread turns of some sessions in requests of at most MOST tokens each, in their order."""
    batch, spent = list[Session](), 0
    for session in sessions:
        for place in session.unread:
            size = count_tokens(session.turns[place].shown)
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


class ForgetRequest(NamedTuple):
    """What a person asked to be forgotten or not kept: their turn, and the turns and memories that are meant."""

    asked: str
    turns: tuple[str, ...]
    memories: tuple[str, ...]


class Request:
    """One request: the text that a model reads, and what its labels mean. Once it is answered: each claim with why its form is
    wrong, if it is, and what is to be forgotten."""

    def __init__(self, batch: list[Session], known: KnownMemories, today: dt.date) -> None:
        self.claims: list[tuple[Claim, str]] = []
        self.forget: list[ForgetRequest] = []
        self.turns: dict[str, tuple[Session, SessionTurn]] = {}
        said = [session.turns[place].text for session in batch for place in session.waiting]
        self.known = {f"M{number}": memory for number, memory in enumerate(known.like(said), 1)}
        lines = [f"Today is {_day(today)}. The memories are {batch[0].user}'s."]
        page = known.folder.find(PROFILE)
        own = [one for one in page.body.split("\n") if one.strip() and not SOURCE_MARK.search(one)] if page else []
        if any(not one.startswith("#") for one in own):  # the program's lines are memories
            lines += ["The profile:", prompt.data(PROFILE, "\n".join(own))]
        if self.known:
            noted = "\n".join(f"{label} ({one.since}): {one.text}" for label, one in self.known.items())
            lines += ["The memories, each with the day of its last word:", prompt.data("memories", noted)]
        for number, session in enumerate(batch, 1):
            lines += self._conversation(number, session)
        self.text = redact("\n".join(lines))[0]
        shown = re.sub(r"^\[\d+:\d+\]", "", self.text, flags=re.MULTILINE)
        self._words = set(terms.tokens(shown))
        self._numbers = set(re.findall(r"\d+", one_form_of_numbers(shown)))

    @property
    def tokens(self) -> int:
        """What it asks, with the rules and the form, about."""
        return sum(map(count_tokens, (self.text, prompt.template("consolidate"), prompt.template("consolidate.json"))))

    def _conversation(self, number: int, session: Session) -> Iterator[str]:
        """A conversation's unread turns with a few before them, each under the day on which it was said."""
        unread, speakers = session.waiting, dict.fromkeys(said.speaker for said in session.turns)
        machine = " They come from another program." if session.imported else ""
        yield f"Conversation {number}. Who speaks: {', '.join(speakers)}.{machine}"
        lines, day = list[str](), None
        for place in [*range(max(0, unread[0] - BEFORE), unread[0]), *unread]:
            one = session.turns[place]
            if not one.text.strip():
                continue
            one = one._replace(text=redact(one.text)[0])
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

    def take(self, reply: Reply, by: str) -> None:
        """Take in an answer; raises ModelError for none."""
        answered = objects(reply, "facts")
        if answered is None:
            said = one_line(reply.text, 80)
            raise ModelError(f"{by} answered with no facts that can be read: {said or 'nothing'}")
        self.claims = [self._claim(entry, by) for entry in answered]
        for entry in objects(reply, "forget") or []:
            asked = self.turns.get(next(iter(_labels(entry, "asked")), ""))
            if asked and asked[1].speaker == asked[0].user and not asked[0].imported:  # the person's own wish
                turns = [self.turns[label] for label in _labels(entry, "lines") if label in self.turns]
                memories = [self.known[label].path for label in _labels(entry, "memories") if label in self.known]
                *places, by_whom = (f"{session.path}:{one.line}" for session, one in (*turns, asked))
                self.forget.append(ForgetRequest(by_whom, tuple(dict.fromkeys([*places, by_whom])), tuple(memories)))

    def _claim(self, entry: dict[str, Any], by: str) -> tuple[Claim, str]:
        """A fact as a model gave it, as a claim, and why its form is wrong; empty where it is right."""
        named, memories = _labels(entry, "lines"), _labels(entry, "memory")
        cited = [self.turns[label] for label in dict.fromkeys(named) if label in self.turns]
        clean, secret = redact(str(entry.get("text") or ""))
        text, quote = " ".join(clean.split()), str(entry.get("quote") or "")
        claim = self._as_claim(entry, text, cited, by)
        invented = ", ".join([label for label in named if label not in self.turns][:3])
        unknown = claim.action != ADD and (not claim.target or len(memories) > 1 + len(claim.ends))
        # What an agent learnt at work steers nobody.
        steers = claim.kind == "lessons" and not claim.said_by
        wrong = {
            "it has no text": not text,
            f"it is longer than {LONGEST} characters": len(text) > LONGEST,
            "it is about a secret": secret or SECRET in text,
            f"it cites {invented}, which is no turn that was shown": invented,
            f"its quote {one_line(quote, 60)!r} stands in no turn that it cites": not any(
                stands_in(quote, one.text) for _, one in cited
            ),
            "it is not in its speaker's language": not _same_script(text, [one for _, one in cited]),
            f"it names the memory {', '.join(memories) or '(none)'}, which was not shown": unknown,
            "it steers the assistant, and its words are not the person's own talk": steers
            and not any(_is_own_talk(quote, one, session) for session, one in cited),
        }
        return claim, next((why for why, holds in wrong.items() if holds), "")

    def _as_claim(self, entry: dict[str, Any], text: str, cited: list[tuple[Session, SessionTurn]], by: str) -> Claim:
        section = str(entry.get("section") or "")
        lesson = entry.get("kind") == "lesson" or section == "talk"
        event = entry.get("kind") == "event" and not lesson
        targets = [self.known[label].path for label in _labels(entry, "memory") if label in self.known]
        machine = bool(cited) and all(one.is_foreign for _, one in cited)
        said = digest(plain(text))
        return Claim(
            text=text,
            day=max((one.day for _, one in cited), default=dt.date.min),
            kind="lessons" if lesson else "facts",
            action=_ACTIONS.get(str(entry.get("action") or "add").lower(), ADD),
            target=targets[0] if targets else "",
            ends=tuple(targets[1:]),
            sources=tuple(dict.fromkeys(f"{session.path}:{one.line}" for session, one in cited)),
            origins=tuple((one.digest, said) for _, one in cited) or (("", said),),
            importance=max(1, min(10, whole(entry.get("importance")) or 5)),
            confidence=OF_ASSISTANT if machine else SURE if self._borne_out(text) else UNSURE,
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
        """Do its numbers and names appear in what was shown?"""
        counted = re.findall(r"\d+", one_form_of_numbers(plain(text)))
        names = [name for name, _ in LINK.findall(text)]
        names += re.findall(r"(?<=[a-z,;:] )[A-Z][\w’'-]+", plain(text))
        words = (word for name in names for word in terms.tokens(re.sub("['’]s$", "", name)))
        shown = all({one, one.lstrip("0")} & self._numbers for one in counted)
        return shown and self._words.issuperset(words)


def _is_own_talk(quote: str, one: SessionTurn, session: Session) -> bool:
    """Is most of a quote the person's own talk in a turn of theirs? What they quote in a wish may be missing."""
    if one.speaker != session.user or not stands_in(quote, one.text):
        return False
    pieces = [comparable(piece) for piece in re.split(r"[\"“”「」『』…]+|\.{3,}", quote)]
    found = comparable(own_part(one.text, session.user))
    return 2 * sum(len(piece) for piece in pieces if piece in found) > sum(map(len, pieces))


def _same_script(text: str, cited: list[SessionTurn]) -> bool:
    """Is a fact in the same script as its turns?"""
    said = " ".join(one.text for one in cited)
    mixed = any(map(terms.is_cjk, said)) and bool(re.search(r"[A-Za-z]{2}", said))
    return mixed or terms.is_chinese(plain(text)) == terms.is_chinese(said)


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
    """The whole number that a model wrote, 0 for anything else."""
    return int(value) if re.fullmatch(r"[0-9]{1,9}", str(value)) else 0
