"""Consolidation: what was said becomes facts, lessons and lines of the profile. A model reads; without one everything waits.

One request reads as many conversations as fit, beside the memories that are like them. Understanding is the model's; code checks
form. Every fact cites turns that were shown and quotes a few of their words; secrets are out before and after; a wish on how the
assistant should behave counts only in the person's own talk.

What a request came to is written down in `.filemem/consolidating.json` before it is carried out, and every step of it may be done
twice; so a run that was killed is taken up where it stopped, and ends as it would have ended.
"""

import contextlib
import datetime as dt
import functools
import itertools
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import config, facts, journal, safe
from filemem.files.facts import plain
from filemem.files.folder import Folder, JobDone
from filemem.files.front import quoted
from filemem.files.memory import (
    ASSISTANT,
    IMPORTANCE,
    PROFILE,
    SOURCE_MARK,
    Memory,
    Passage,
    archived,
    kind_of,
    live,
)
from filemem.files.sections import HEADING, SECTIONS, is_of, under
from filemem.llm import prompt
from filemem.llm.model import Model, ModelError, Reply, ToolsRefused
from filemem.remembering import sessions
from filemem.remembering.sessions import (
    ConsolidationLog,
    Session,
    SessionTurn,
    digest,
    display,
)
from filemem.remembering.supersession import (
    ADD,
    DROP,
    NOOP,
    PROPOSE,
    REFUSE,
    SUPERSEDE,
    UPDATE,
    WRITTEN,
    Claim,
    Decision,
    KnownMemories,
    said_in,
)
from filemem.text import dates, terms
from filemem.text.plain import LINK, count_tokens, counted, one_line, printable
from filemem.text.quotes import one_form_of_numbers, stands_in
from filemem.text.redaction import kinds, redact

MOST = 6_000  # tokens of turns in one request
BEFORE = 4  # turns before the unread ones, to be understood by
LONGEST = 600  # characters of a fact
# Confidence: borne out; with a name or a number that was shown nowhere; in a machine's words.
SURE, UNSURE, OF_ASSISTANT = 1.0, 0.5, 0.3
SECRET = "[redacted:"
DELETES = "filemem forget deletes it"
CALENDAR = f"{dates.MONTHS} Monday Tuesday Wednesday Thursday Friday Saturday Sunday"


def ask(model: Model, told: str) -> Reply:
    """What a model notes of what it is told, by one call of `keep` or, where it takes no tools, in words. Raises ModelError."""
    rules, tools = (
        prompt.template("consolidate").strip(),
        json.loads(prompt.template("consolidate.json")),
    )
    messages = [{"role": "system", "content": rules}, {"role": "user", "content": told}]
    try:
        return model.ask(messages, tools, lambda text: None)
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
    return (
        [[part] for part in batch[0].parted(unread[len(unread) // 2])]
        if len(unread) > 1
        else [batch]
    )


class ForgetRequest(NamedTuple):
    """What a person asked to be forgotten or not kept: their turn, and the turns and memories that are meant."""

    asked: str
    turns: tuple[str, ...]
    memories: tuple[str, ...]


class Request:
    """One request: the text that a model reads, and what its labels mean. Once it is answered: each claim with why its form is
    wrong, if it is, what is to be forgotten, and notes for the person."""

    def __init__(
        self, batch: list[Session], known: KnownMemories, today: dt.date
    ) -> None:
        self.claims: list[tuple[Claim, str]] = []
        self.forget: list[ForgetRequest] = []
        self.notes: list[str] = []
        self.turns: dict[str, tuple[Session, SessionTurn]] = {}
        said = [
            session.turns[place].text for session in batch for place in session.waiting
        ]
        page = known.folder.find(PROFILE)
        lasting = (
            [path for _, path, _ in marked(page.body)] if page else []
        )  # which a move ends, whatever its words
        self.known = {
            f"M{number}": memory
            for number, memory in enumerate(known.like(said, lasting), 1)
        }
        lines = [f"Today is {_day(today)}. The memories are {batch[0].user}'s."]
        own = (
            [
                one
                for one in page.body.split("\n")
                if one.strip() and not SOURCE_MARK.search(one)
            ]
            if page
            else []
        )
        if any(
            not one.startswith("#") for one in own
        ):  # the program's lines are memories
            lines += ["The profile:", prompt.data(PROFILE, "\n".join(own))]
        if self.known:
            ends = {
                label: f", until {one.until}" if one.until else ""
                for label, one in self.known.items()
            }
            noted = "\n".join(
                f"{label} ({one.since}{ends[label]}): {one.text}"
                for label, one in self.known.items()
            )
            lines += [
                "The memories, each with the day of its last word and any end:",
                prompt.data("memories", noted),
            ]
        for number, session in enumerate(batch, 1):
            lines += self._conversation(number, session)
        self.text = redact("\n".join(lines))[0]
        named = itertools.chain(
            *(dates.mentioned(one.text, one.day) for _, one in self.turns.values())
        )
        days = (
            _day(day) for may in named for span in may.spans for day in span
        )  # of a bare Friday, too
        shown = re.sub(
            r"^\[\d+:\d+\]", "", "\n".join([self.text, *days]), flags=re.MULTILINE
        )
        self._words = {
            *_words(f"{shown} {CALENDAR}"),
            *_words(re.sub("['’]", "", shown)),
        }  # Thursday is thu, or jueves
        self._numbers = {
            *_numbers(shown),
            *map(str, dates.numbers(terms.simplified(shown))),
        }
        self._numbers |= {
            f"19{one}" for one in self._numbers if one > "31" and len(one) == 2
        }  # born in '84
        # "Am 6. Januar" may be told in December.
        self._numbers |= {
            str(one.day.year + by) for _, one in self.turns.values() for by in (-1, 1)
        }

    def _conversation(self, number: int, session: Session) -> Iterator[str]:
        """A conversation's unread turns with a few before them, each under the day on which it was said."""
        unread, speakers = (
            session.waiting,
            dict.fromkeys(said.speaker for said in session.turns),
        )
        machine = " They come from another program." if session.imported else ""
        yield f"Conversation {number}. Who speaks: {', '.join(speakers)}.{machine}"
        lines, day = list[str](), None
        for place in [*range(max(0, unread[0] - BEFORE), unread[0]), *unread]:
            one = session.turns[place]
            if not one.text.strip():
                continue
            one = one._replace(text=redact(one.text)[0])
            if one.day != day:
                clock = (
                    f", {session.memory.when.time}"
                    if session.memory.when and day is None
                    else ""
                )
                lines.append(f"{_day(one.day)}{clock}:")
                day = one.day
            label = f"{number}:{one.line}"
            self.turns[label] = (session, one)
            before, said = (
                "" if place in unread else "(read before) ",
                dates.annotate(one.shown.strip(), one.day),
            )
            lines.append(
                f"[{label}] {before}{one.speaker}: " + said.replace("\n", "\n  ")
            )
        yield prompt.data(session.path, "\n".join(lines))

    # -- the answer ----------------------------------------------------------------------------------------------

    def take(self, reply: Reply, by: str) -> None:
        """Take in an answer; raises ModelError for none."""
        if (answered := objects(reply, "facts")) is None:
            raise ModelError(
                f"{by} answered with no facts that can be read: {one_line(reply.text, 80) or 'nothing'}"
            )
        self.claims = [self._claim(entry, by) for entry in answered]
        for entry in objects(reply, "forget") or []:
            asked = self.turns.get(next(iter(_labels(entry, "asked")), ""))
            if asked and asked[1].speaker == asked[0].user:  # the person's own wish
                turns = [
                    self.turns[label]
                    for label in _labels(entry, "lines")
                    if label in self.turns
                ]
                memories = [
                    self.known[label].path
                    for label in _labels(entry, "memories")
                    if label in self.known
                ]
                places = dict.fromkeys(
                    f"{session.path}:{one.line}" for session, one in (*turns, asked)
                )
                by_whom, meant = (
                    f"{asked[0].path}:{asked[1].line}",
                    ", ".join([*memories, *places]),
                )
                if asked[0].imported:  # an export may be anybody's
                    why = f"as {by_whom}, which asks for it, is imported"
                    self.notes.append(f"Not held back, {why}: {meant}; {DELETES}")
                else:
                    self.forget.append(
                        ForgetRequest(by_whom, tuple(places), tuple(memories))
                    )

    def _claim(self, entry: dict[str, Any], by: str) -> tuple[Claim, str]:
        """A fact as a model gave it, as a claim, and why its form is wrong; empty where it is right."""
        memories = _labels(entry, "memory")
        cited = [
            self.turns[label]
            for label in dict.fromkeys(_labels(entry, "lines"))
            if label in self.turns
        ]
        clean, secret = redact(str(entry.get("text") or ""))
        text, quote = " ".join(clean.split()), str(entry.get("quote") or "")
        changed = [self.known[label] for label in memories if label in self.known]
        claim = self._as_claim(entry, text, cited, [one.path for one in changed], by)
        turns = "\n".join(one.text for _, one in cited)
        # What changes a wish does, too; what an agent learnt at work steers nobody.
        told = [(kind_of(one.path), one.said_by) for one in changed] + [
            (claim.kind, claim.said_by)
        ]
        steers = ("lessons", "") in told
        wrong = {
            "it has no text": not text,
            f"it is longer than {LONGEST} characters": len(text) > LONGEST,
            "it is about a secret": secret or SECRET in text,
            f"its quote {one_line(quote, 60)!r} stands in no turn that it cites": not stands_in(
                quote, turns
            ),
            f"it names the memory {', '.join(memories)}, which was not shown": claim.action
            != ADD
            and len(memories) != len(changed),
            "it steers the assistant, and its words are no turn of the person's own": steers
            and not any(
                one.speaker == session.user and stands_in(quote, one.text)
                for session, one in cited
            ),
        }
        return claim, next((why for why, holds in wrong.items() if holds), "")

    def _as_claim(
        self,
        entry: dict[str, Any],
        text: str,
        cited: list[tuple[Session, SessionTurn]],
        targets: list[str],
        by: str,
    ) -> Claim:
        section, weight = str(entry.get("section") or ""), str(entry.get("importance"))
        lesson = entry.get("kind") == "lesson" or section == "talk"
        event = entry.get("kind") == "event" and not lesson
        machine = bool(cited) and all(one.is_foreign for _, one in cited)
        said, action = digest(plain(text)), str(entry.get("action")).upper()
        on = max((one.day for _, one in cited), default=dt.date.min)
        return Claim(
            text=text,
            day=on,
            kind="lessons" if lesson else "facts",
            action=action if action in WRITTEN and entry.get("memory") else ADD,
            target=targets[0] if targets else "",
            ends=tuple(targets[1:]),
            sources=tuple(
                dict.fromkeys(f"{session.path}:{one.line}" for session, one in cited)
            ),
            origins=tuple((one.digest, said) for _, one in cited) or (("", said),),
            importance=int(weight) if re.fullmatch("[1-9]|10", weight) else IMPORTANCE,
            confidence=OF_ASSISTANT
            if machine
            else SURE
            if self._borne_out(text)
            else UNSURE,
            valid_from=_days(entry.get("valid_from"), on)[0],
            valid_until=_days(entry.get("valid_until"), on)[1],
            said_by=ASSISTANT if machine else "",
            nature="event" if event else "",
            when=_days(entry.get("day"), on)[0] if event else None,
            heading=""
            if machine
            else "talk"
            if lesson
            else section
            if section in SECTIONS
            else "",
            retold_by=by,
            waits=lesson and any(session.imported for session, _ in cited),
        )

    def _borne_out(self, text: str) -> bool:
        """Do its numbers and names appear in what was shown?"""
        names = [name for name, _ in LINK.findall(text)]
        own = terms.words(plain(text))
        if 5 * sum(word in terms.STOP for word in own) >= len(
            own
        ):  # English; German writes every noun so
            names += re.findall(
                r"(?<=[\w,;:)] |.[(“\"])(?:\w{1,3}\. )?[A-ZÀ-Þ][\w’'-]+", plain(text)
            )
        bare = (
            re.sub(r"['’]s?$|['’]|\b\w{1,3}\. ", "", name) for name in names
        )  # Dr. is no name
        runs = (run for name in bare for run in terms.words(name))
        # 甲状腺 and 结节 may stand apart in a turn; what no dictionary has, as a person's name, stays whole.
        apart = (
            re.sub(r"(?<!\w\w) | (?!\w\w)", "", " ".join(terms.segments(run)))
            for run in runs
        )
        words = (word for name in apart for word in _words(name))
        return self._numbers.issuperset(
            _numbers(plain(text))
        ) and self._words.issuperset(words)


def _words(text: str) -> Iterator[str]:
    """The words by which a name is known, whether it is in the plural or the genitive, written with an apostrophe or without."""
    return (word.removesuffix("s") for word in terms.tokens(text))


def _numbers(text: str) -> Iterator[str]:
    """The numbers in a text's digits, by whatever clock: 9:00 is 9, 15:30 is 3 and 30."""
    told = re.sub(
        r"(?<!\d)(1[3-9]|2[0-3])(?=[:点])",
        lambda hour: f"{int(hour[1]) - 12}",
        one_form_of_numbers(text),
    )
    return (
        one.lstrip("0") for one in re.findall(r"\d+", re.sub(r":00(?!\d)", "", told))
    )


def _day(day: dt.date) -> str:
    return f"{day:%A} {day.day} {day:%B %Y} ({day})"


def _days(value: Any, day: dt.date) -> tuple[dt.date | None, dt.date | None]:
    """The one day that a model names, in whatever form, and the last that it may mean; of June 2026 there is only the last."""
    spans = (one.span for one in dates.mentioned(str(value), day) if not one.other)
    first, last = next(spans, (None, None))
    return first if first == last else None, last


def _labels(entry: dict[str, Any], key: str) -> list[str]:
    """The labels that an entry names, in a list or in one text."""
    return re.findall(r"\b(?:\d+:\d+|M\d+)\b", str(entry.get(key)).upper())


# -- the run -----------------------------------------------------------------------------------------------------------

JOURNAL = "consolidating.json"


class BatchPlan(NamedTuple):
    """What is to be done about what one request has read, at the time of the run: of each session the digests of its turns, and
    its size in bytes (0 where there are further turns to read)."""

    read: Sequence[dict[str, Any]]
    at: str
    decisions: Sequence[Decision]
    forget: Sequence[ForgetRequest] = ()


_COUNTED = {
    ADD: "new",
    SUPERSEDE: "new",
    UPDATE: "updated",
    NOOP: "known",
    DROP: "left out",
    PROPOSE: "proposed",
}


class Applied(NamedTuple):
    """What was done: the decisions that were carried out or noted for review, the paths that changed, sentences for the person;
    why the model read no further, where it failed and the rest waits."""

    decisions: list[Decision]
    paths: list[str]
    notes: list[str]
    error: str = ""

    @property
    def subject(self) -> str:
        """The subject of its commit."""
        learnt = [
            one.claim.text for one in self.decisions if one.action in (ADD, SUPERSEDE)
        ]
        if len(learnt) == 1:
            return f"Learn: {learnt[0]}"
        return (
            f"Learn {len(learnt)} facts"
            if learnt
            else "Bring what was known up to date"
        )

    def lines(self, *, whole: bool = False) -> Iterator[str]:
        """Each decision, notes, and why the model failed; `whole` tells what was left out as well."""
        for one in self.decisions:
            text = one_line(one.claim.text, 160)
            if one.action == PROPOSE:
                yield f"proposed: {text}"
            elif one.action in WRITTEN:
                reason = (
                    f" ({one.reason})" if one.reason and one.action != UPDATE else ""
                )
                yield f"{'updated' if one.action == UPDATE else 'remembered'} {one.path}: {text}{reason}"
                yield from (f"superseded {old}" for old in one.replaces)
            elif whole:
                yield f"{_COUNTED[one.action]} {one.path or ', '.join(one.claim.sources)}: {text} ({one.reason})"
        yield from filter(None, [*self.notes, self.error])

    def told(self) -> JobDone:
        """What a job has to tell of it, with a line that sums up."""
        counts = Counter(_COUNTED[one.action] for one in self.decisions)
        counts["superseded"] = sum(
            len(one.replaces) for one in self.decisions if one.action == SUPERSEDE
        )
        words = ("new", "superseded", "updated", "known", "left out", "proposed")
        summed = ", ".join(f"{counts[word]:,} {word}" for word in words if counts[word])
        end = f"{summed or 'Nothing new to remember'}{'; see: filemem review' if counts['proposed'] else '.'}"
        as_json = [
            {
                "action": one.action.lower(),
                "path": one.path,
                "text": one.claim.text,
                "reason": one.reason,
            }
            | {"source": list(one.claim.sources), "supersedes": list(one.replaces)}
            for one in self.decisions
        ]
        facts = {"facts": as_json, "notes": [*filter(None, [*self.notes, self.error])]}
        return JobDone("consolidate", [*self.lines(whole=True), end], facts, self.paths)


def together(found: Iterable[Applied]) -> Applied:
    """What several requests came to, as one."""
    each = list(found)
    decisions, notes = (
        [one for done in each for one in done.decisions],
        [note for done in each for note in done.notes],
    )
    paths = dict.fromkeys(path for done in each for path in done.paths)
    return Applied(decisions, list(paths), notes, each[-1].error if each else "")


def cost(folder: Folder, model: Model | None) -> JobDone:
    """What it would take to read all that waits: conversations, requests, tokens that these ask, about."""
    log = ConsolidationLog(folder)
    waiting = [one for one in sessions.unread(folder, log) if one.waiting]
    known = KnownMemories(folder, log) if waiting else None
    asked = (
        [Request(batch, known, dt.date.min).text for batch in batches(waiting)]
        if known
        else []
    )
    rules = prompt.template("consolidate") + prompt.template("consolidate.json")
    tokens, said = (
        sum(count_tokens(rules + text) for text in asked),
        "Nothing new to read.",
    )
    if asked:
        told = f"{counted(len(asked), 'request')} of some {tokens:,} tokens in all"
        said = f"{counted(len(waiting), 'conversation')} to read: {told}."
        said += "" if model else " No model is configured, so they wait."
    sizes = {"conversations": len(waiting), "requests": len(asked), "tokens": tokens}
    return JobDone("consolidate", [said], {"facts": [], **sizes})


def run(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    *,
    review: bool = False,
    besides: str = "",
) -> Iterator[Applied]:
    """Finish what a killed run has left, then have the model read all that waits, request by request, in the order of the
    days; yields what was done. `besides` is a session left out.

    Without a model nothing is read. With `review`, or where the store's settings say so, what is planned is only proposed.
    Where the model fails, the last that is yielded says so; what was read before stands.
    """
    before = resume(folder)
    if before.decisions or before.paths:
        yield before
    log = ConsolidationLog(folder)
    paths, notes = revise_profile(folder, log, at.date())
    if paths:
        yield Applied([], paths, notes)
    waiting = batches(sessions.unread(folder, log, besides))
    if model is None or not (first := next(waiting, None)):
        return
    review = review or config.of(folder).review
    known, requests, spent, waiting = (
        KnownMemories(folder, log),
        0,
        0,
        itertools.chain([first], waiting),
    )
    while batch := next(waiting, None):
        told, request = [one for one in batch if one.waiting], None
        if told:
            request = Request(told, known, at.date())
            try:
                reply = ask(model, request.text)
                requests, spent = requests + 1, spent + sum(reply.usage)
                if reply.finish == "length" and len(smaller := halves(batch)) == 2:
                    waiting = itertools.chain(smaller, waiting)
                    continue
                request.take(reply, model.name)
                if reply.finish == "length":
                    request.notes.append(
                        f"{model.name} was cut off; what it had said whole by then is kept"
                    )
            except ModelError as error:
                yield Applied([], [], [], f"{error} What was not read yet waits.")
                return
        done = apply(folder, _planned(batch, known, at, request, review), log)
        yield done._replace(notes=[*(request.notes if request else []), *done.notes])
    if spent:
        yield Applied(
            [], [], [f"{model.name}: {counted(requests, 'request')}, {spent:,} tokens"]
        )


def _planned(
    batch: list[Session],
    known: KnownMemories,
    at: dt.datetime,
    found: Request | None,
    review: bool,
) -> BatchPlan:
    """What becomes of what a request came to, which `known` takes in; with `review` the person is asked first."""
    decisions = list[Decision]()
    for claim, wrong in found.claims if found else ():
        if claim.action == UPDATE and claim.target in {one.path for one in decisions}:
            claim = claim._replace(action=ADD)  # what was just written stays
        one = Decision(REFUSE, "", claim, wrong) if wrong else known.decided(claim)
        waits = (review or claim.waits) and one.action in WRITTEN
        decisions.append(one._replace(action=PROPOSE) if waits else one)
    read = [
        {
            "read": one.path,
            "turns": [one.turns[n].digest for n in one.unread],
            "size": one.size,
        }
        for one in batch
    ]
    return BatchPlan(read, at.isoformat(), decisions, found.forget if found else ())


# -- what is carried out ---------------------------------------------------------------------------------------------


def apply(
    folder: Folder, found: BatchPlan, log: ConsolidationLog | None = None
) -> Applied:
    """Carry out a plan, and note that its turns were read; raises FilememError or OSError.

    `log` is the consolidation log where it was read already. First what a killed run has left is finished: whoever holds the
    lock and finds a journal is looking at such a one's.
    """
    with folder.locked():
        left = resume(folder)
        place = folder.bookkeeping(JOURNAL)
        safe.write(
            place,
            json.dumps(found, ensure_ascii=False, default=str).encode(
                "utf-8", "replace"
            ),
        )
        done = _carry_out(folder, found, log or ConsolidationLog(folder))
        safe.delete(place)
    return done._replace(paths=[*left.paths, *done.paths])


def resume(folder: Folder) -> Applied:
    """Finish the plan that a killed run has left, if there is one."""
    place, done = folder.bookkeeping(JOURNAL), Applied([], [], [])
    if os.path.lexists(place):
        with folder.locked(), contextlib.suppress(NotFound):
            left = safe.read(place)
            with contextlib.suppress(
                ValueError, TypeError, KeyError
            ):  # of another version: sessions are read again
                done = _carry_out(
                    folder, _from_json(json.loads(left)), ConsolidationLog(folder)
                )
            safe.delete(place)
    return done


def _from_json(value: Any) -> BatchPlan:
    """A plan from the JSON of its fields in their order."""
    read, at, decided, forget = value
    decisions = [
        Decision(
            action,
            path,
            Claim.from_json(dict(zip(Claim._fields, fields, strict=True))),
            *more,
        )
        for action, path, fields, *more in decided
    ]
    return BatchPlan(read, at, decisions, [ForgetRequest(*one) for one in forget])


def _carry_out(folder: Folder, found: BatchPlan, log: ConsolidationLog) -> Applied:
    """Do every step that was not done yet."""
    at, entries = dt.datetime.fromisoformat(found.at), list[dict[str, Any]]()
    done, paths, notes = list[Decision](), list[str](), list[str]()
    for one in found.decisions:
        if one.action == REFUSE:
            notes.append(
                f"Refused: {one.claim.text} ({one.reason}); filemem review keeps it"
            )
            if one.claim.text and one.claim.sources:
                entries.append({"proposed": one.claim._asdict(), "because": one.reason})
            continue
        if one.action == PROPOSE:
            entries.append({"proposed": one.claim._asdict()})
        if one.action in WRITTEN:
            try:
                if one.action == UPDATE:
                    written = _change(folder, one, log)
                else:
                    one, written = _write(folder, one, at, notes)
            except FilememError as error:
                notes.append(str(error))
                entries += (
                    [{"proposed": one.claim._asdict(), "because": str(error)}]
                    if one.claim.origins
                    else []
                )
                continue
            paths += written
            for path in dict.fromkeys(map(live, written)):
                if memory := folder.find(path):
                    origins = (
                        []
                        if path in one.replaces
                        else [list(origin) for origin in one.claim.origins]
                    )
                    entries.append(
                        {"wrote": path, "digest": digest(memory.data), "from": origins}
                    )
        done.append(one)
    made = [one for one in done if one.action in WRITTEN]
    stay = {
        one.path for one in made if one.action == UPDATE and not one.reason
    }  # without the part that is meant
    gone = [path for wish in found.forget for path in wish.memories if path not in stay]
    changed, said = revise_profile(folder, log, at.date(), made, gone)
    paths, notes = [*paths, *changed], [*notes, *said]
    if told_again := [one.path for one in done if one.action == UPDATE]:
        journal.note_recalls(folder, dict.fromkeys(told_again), journal.CITED, at)
    notes += [_held_back(folder, wish, at, stay) for wish in found.forget]
    log.add([*entries, *found.read])
    return Applied(done, list(dict.fromkeys(paths)), notes)


def _held_back(
    folder: Folder, wish: ForgetRequest, at: dt.datetime, stay: Collection[str] = ()
) -> str:
    """Hold back what a person asked to be forgotten, but for what is to `stay`, and the turns behind it; a sentence on it."""
    memories = (folder.find(path) for path in wish.memories)
    told = [source for one in memories if one for source in one.sources]
    gone = [path for path in wish.memories if path not in stay]
    journal.hold_back(folder, wish.asked, [*wish.turns, *gone, *told], at)
    what, how = (
        ", ".join([*(gone or told), *wish.turns]),
        f"{DELETES}, filemem restore takes it back",
    )
    return f"Held back, as asked in {wish.asked}: {what}; {how}"


def take_back(
    folder: Folder, path: str, turns: Sequence[Passage], at: dt.datetime, kept: str = ""
) -> list[str]:
    """Hold back the memory `kept`, else the exchange before the last turn of a session, which asks for it, with the memories made
    of it; their lines leave the profile. Returns the places. The note comes first, so what is cut off is held back already.
    Nothing is deleted."""
    *before, request = turns
    said = [
        n
        for n, turn in enumerate(before)
        if turn.speaker == request.speaker and not kept
    ]
    if not (said or kept):
        return []
    log, by = ConsolidationLog(folder), f"{path}:{request.line}"
    told = [f"{path}:{turn.line}" for turn in before[said[-1] :]] if said else []
    known = KnownMemories(folder, log).live.values()
    made = [one.path for one in known if {*told} & {*one.sources} or one.path == kept]
    _held_back(folder, ForgetRequest(by, (*told, by), tuple(made)), at)
    revise_profile(folder, log, at.date(), gone=made)
    return [*told, *made]


def _write(
    folder: Folder, one: Decision, at: dt.datetime, notes: list[str]
) -> tuple[Decision, list[str]]:
    """Write a new memory, then mark what it supersedes and put that into the archive; the decision with the name that it got, and
    the paths that changed."""
    claim = one.claim

    def holds(memory: Memory) -> bool:
        """Is this what was made of the claim, superseded or confirmed since perhaps?"""
        said = "\n".join(memory.lines[memory.front_end :]).strip()
        return f"{said}\n".startswith(f"{claim.body or claim.text}\n") and {
            *claim.sources
        } <= {*memory.sources}

    with folder.locked():
        if not any(holds(folder.memory(place)) for place in folder.standing(one.path)):
            # Another name where this one is taken.
            one = one._replace(path=folder.create(one.path, claim.page(one.replaces)))
    paths = [one.path]
    for old in one.replaces:
        if not (place := next(folder.standing(old), "")):
            continue
        try:
            mark = functools.partial(
                facts.superseded,
                place,
                by=live(one.path),
                until=claim.valid_from or claim.day,
            )
            folder.edit(place, mark)
        except ValueError as error:
            notes.append(
                f"{place} is superseded by {one.path}, but {error}; put it right by hand."
            )
            continue
        if place == live(old):
            notes += journal.archive(folder, [place], at).values()
        paths += [live(old), archived(old)]
    return one, paths


def _change(folder: Folder, one: Decision, log: ConsolidationLog) -> list[str]:
    """Add sources and confidence to a memory, and give it the words in which it stands from now on, unless it was told again."""
    place, claim = folder.locate(one.path), one.claim

    def change(data: bytes) -> bytes:
        after = facts.confirmed(place, data, claim.sources, claim.confidence)
        if one.reason or not log.untouched(place, data):
            return after
        days = {
            "valid_from": claim.valid_from,
            "valid_until": claim.valid_until,
            "day": claim.when,
        }
        weighs = (
            claim.importance != IMPORTANCE and "retold_by" in Memory(place, data).front
        )  # a person's own stays
        told = {
            "importance": claim.importance * weighs,
            "kind": claim.nature,
            "retold_by": quoted(claim.retold_by),
        }
        for key, value in {**days, **told}.items():
            after = facts.set_front(place, after, key, str(value)) if value else after
        head = after.splitlines(keepends=True)[: Memory(place, after).front_end]
        if not claim.nature:  # what was to come has come to stay
            head = [line for line in head if not line.startswith((b"kind:", b"day:"))]
        return b"".join(head) + f"\n{printable(claim.text)}\n".encode(
            "utf-8", "replace"
        )

    with contextlib.suppress(ValueError):
        folder.edit(place, change)
    return [place]


# -- the profile -------------------------------------------------------------------------------------------------------

# Each of the program's own lines of profile.md names the memory that it rests on: `- Mara lives in Porto. <!-- facts/….md -->`.
# A line without such a mark, or with one that a person has changed, is never touched.
_ROOMY = 200  # characters of a line


def _line(text: str, path: str) -> str:
    """The profile's line about a memory: the words, and the mark."""
    return f"- {one_line(text, _ROOMY)} <!-- {path} -->"


def marked(text: str) -> list[tuple[int, str, str]]:
    """The lines with a mark: number from 1, the path, the line."""
    lines = enumerate((line.strip("\r") for line in text.split("\n")), 1)
    found = (
        (number, SOURCE_MARK.search(line), line)
        for number, line in lines
        if line[:2] in ("- ", "* ", "+ ")
    )
    return [(number, mark[1], line) for number, mark, line in found if mark]


class _Page:
    """The profile's lines, changed one by one."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.tail = "\r" if text.count("\r\n") * 2 > text.count("\n") else ""

    def _heads(self) -> list[tuple[int, str]]:
        """The headings, by their places."""
        found = (
            (n, HEADING.match(one.rstrip("\r"))) for n, one in enumerate(self.lines)
        )
        return [(n, match[1]) for n, match in found if match]

    def insert(self, said: str, section: str) -> None:
        """Put a line behind the last item of its section, which is made where there is none."""
        names, heads = SECTIONS[section], self._heads()
        start = next((n for n, title in heads if is_of(title, names)), None)
        if start is None:
            later = list(SECTIONS.values())[list(SECTIONS).index(section) + 1 :]
            before = [
                n for n, title in heads if any(is_of(title, other) for other in later)
            ]
            if not before:
                if not self.lines[-1]:
                    self.lines.pop()
                self.lines += (
                    [self.tail] if self.lines and self.lines[-1].strip() else []
                )
            start = min(before, default=len(self.lines))
            heading = f"## {names[terms.is_chinese(said.partition('<!--')[0])]}"
            self.lines[start:start] = [heading + self.tail, self.tail if before else ""]
        end = next((n for n, _ in self._heads() if n > start), len(self.lines))
        last = max(
            (n for n in range(start + 1, end) if self.lines[n].strip()), default=start
        )
        self.lines[last + 1 : last + 1] = [
            *([self.tail] if last == start else []),
            said + self.tail,
        ]

    def replace(self, number: int, fresh: str) -> None:
        """Put another line, or none, in the place of one; a section of the program's that holds nothing any more goes with its
        last."""
        self.lines[number - 1 : number] = [fresh + self.tail] if fresh else []
        heads = self._heads()
        start, title = next(
            (head for head in reversed(heads) if head[0] < number - 1), (0, "")
        )
        end = next((n for n, _ in heads if n > start), len(self.lines))
        ours = any(title in names for names in SECTIONS.values())
        if (
            not fresh
            and ours
            and not any(one.strip() for one in self.lines[start + 1 : end])
        ):
            del self.lines[start:end]


def revise_profile(
    folder: Folder,
    log: ConsolidationLog,
    today: dt.date,
    decisions: Sequence[Decision] = (),
    gone: Iterable[str] = (),
) -> tuple[list[str], list[str]]:
    """Have the program's lines follow the memories behind them: changed, superseded, deleted or expired, or `gone`, to be
    forgotten; and bring in those of what was decided just now. Returns the paths changed, and sentences for the person."""
    gone, notes = {*map(live, gone)}, list[str]()
    now = gone | {
        live(path)
        for one in decisions
        if not one.reason
        for path in (one.path, *one.replaces)
    }
    fresh = {live(one.path): one.claim for one in decisions if one.claim.heading}

    def change(data: bytes) -> bytes:
        page, before = _Page(data.decode()), marked(data.decode())
        standing = {path for _, path, _ in before}
        notes.clear()
        for number, path, said in reversed(before):
            heir = None if path in gone else _heir(folder, path, today)
            stands, ours = live(heir.path) if heir else "", digest(said) in log.lines
            holds = (
                heir is not None and stands == path and log.untouched(path, heir.data)
            )
            again = stands != path and stands in standing
            others = (
                SECTIONS.keys() - {fresh[stands].heading}
                if ours and not again and stands in fresh
                else ()
            )
            moves = any(said + page.tail in under(page.lines, name) for name in others)
            if ours and (moves or not holds):
                page.replace(
                    number,
                    _line(said_in(heir), stands)
                    if heir and not (again or moves)
                    else "",
                )
            elif not holds and path in now:
                words = said.partition("<!--")[0]
                notes.append(
                    f"profile.md:{number} is yours; see whether it still holds: {words}"
                )
            standing = standing - {stands} if moves else standing | {stands}
        for path, claim in fresh.items():
            if path not in standing and _heir(folder, path, today):
                page.insert(_line(claim.text, path), claim.heading)
        # Noted first, so that a run that is killed here leaves no line of the program's that it does not know.
        after = "\n".join(page.lines)
        if made := {one[1:] for one in marked(after)} - {one[1:] for one in before}:
            log.add({"line": path, "digest": digest(said)} for path, said in made)
        return after.encode()

    try:
        with folder.locked():
            if not list(folder.standing(PROFILE)):
                if not fresh:
                    return [], []
                folder.create(PROFILE, f"# {display(folder.name)}\n")
            elif folder.memory(PROFILE).front.get("read_only") is True:
                return [], [f"{PROFILE} says that it is read only, and is as it was"]
            changed = folder.edit(PROFILE, change)
    except (FilememError, UnicodeDecodeError) as error:
        return [], [f"{PROFILE} is as it was: {error}"]
    return [PROFILE] if changed else [], notes


def _heir(folder: Folder, path: str, today: dt.date) -> Memory | None:
    """The memory at a path, or what has superseded it by today; None where that is gone, ended or a plan whose day is over, or
    is a machine's word."""
    met = set[str]()
    while (
        (memory := folder.find(path))
        and (by := memory.particular("superseded_by"))
        and path not in met
    ):
        if (until := memory.particular("valid_until")) and today < until:
            break  # what supersedes it is to come
        met.add(path)
        path = live(str(by))
    if memory is None or path in met or memory.front.get("said_by"):
        return None
    end, day = memory.particular("valid_until"), memory.particular("day")
    if not end and day and memory.date and memory.date < day:
        end = day
    return memory if said_in(memory) and not (end and end < today) else None


# -- what a person decides themselves ------------------------------------------------------------------------------------

# What consolidation would remember, or what form forbade a model to keep, waits in the log until the person has answered.
ASKED = 8  # importance of what a person asks to be remembered
ON_PURPOSE = "filemem remember --with-secrets keeps it all"


def remember(
    user: Folder,
    text: str,
    at: dt.datetime,
    importance: int | None = None,
    pinned: bool = False,
    tags: Iterable[str] = (),
    with_secrets: bool = False,
    source: str = "",
    replaces: str = "",
) -> Applied:
    """Keep one fact of the day of `at`, said at `source` (`path:line`), if in a conversation, superseding the fact at the path
    `replaces`, if any; raises FilememError for empty text, a wrong importance, a path that is no fact which may be superseded,
    and where it cannot be written.

    Secrets are taken out, which a note says, unless `with_secrets` or the store's settings keep them. Told again it stays
    the memory that it was.
    """
    body = printable(text.replace("\r\n", "\n")).strip()
    if not body:
        raise FilememError(
            "there is nothing to remember; say what, as in: filemem remember 'Prefers oolong tea.'"
        )
    if importance is not None and importance not in range(1, 11):
        raise FilememError(
            f"importance is a whole number from 1 to 10, not {importance}."
        )
    body, taken_out = (
        (body, []) if with_secrets or not config.of(user).redact else redact(body)
    )
    if taken_out and not re.search(r"\w", re.sub(r"\[redacted: [^]]*\]", "", body)):
        raise FilememError(
            f"that is only a secret ({kinds(taken_out)}), so it was not kept; {ON_PURPOSE}."
        )
    notes = [f"Taken out: {kinds(taken_out)}; {ON_PURPOSE}."] if taken_out else []
    with user.locked():
        left = resume(user)  # what a killed run has left is known once it is finished
        claim = Claim(
            " ".join(body.split()),
            at.date(),
            sources=(source,) if source else (),
            importance=importance or ASKED,
            pinned=pinned,
            tags=(tags,) if isinstance(tags, str) else tuple(map(str, tags)),
            body=body,
            action=SUPERSEDE if replaces else ADD,
            target=replaces,
        )
        known = KnownMemories(user, ConsolidationLog(user))
        old = known.live.get(replaces)
        if replaces and (
            old is None
            or old.pinned
            or old.since > at.date()
            or kind_of(replaces) != "facts"
        ):
            why = "is not a current fact that can be superseded; name one as a search shows it."
            raise NotFound(f"{one_line(replaces)} {why}")
        one = known.decided(claim)
        done = apply(user, BatchPlan((), at.isoformat(), (one,)))
    if not done.decisions:  # it could not be written
        raise FilememError(done.notes[0])
    return done._replace(paths=[*left.paths, *done.paths], notes=[*notes, *done.notes])


def said(done: Applied) -> list[str]:
    """What became of one fact, as lines for the one who told it."""
    one = done.decisions[0]
    if one.action in (ADD, SUPERSEDE):
        return [
            f"Remembered {one.path}",
            *(f"Superseded {old}" for old in one.replaces),
            *done.notes,
        ]
    return [f"Knew that already: {one.path}", *done.notes]


class Proposal(NamedTuple):
    """A claim that waits, why its form was refused (empty where it was not), the turns that it comes from as the sessions have
    them now (the place, who speaks and the text, empty where it is gone), and the text of the memory that it would update or
    supersede, empty where it is new."""

    claim: Claim
    because: str
    turns: tuple[tuple[str, str, str], ...]
    instead_of: str


class Review:
    """The proposals of one user that wait, oldest first; each is answered by `accept` or `reject`."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.log = ConsolidationLog(folder)
        self.known = KnownMemories(folder, self.log)

    def proposals(self) -> Iterator[Proposal]:
        """Each beside what is known when it is asked for. What is known by then is no proposal any more."""
        for origin, (entry, because) in [*self.log.proposed.items()]:
            if origin in self.log.made or origin in self.log.refused:
                continue
            try:
                claim = Claim.from_json(entry)
            except (ValueError, TypeError, KeyError):
                continue  # written by another version; its session can be read again
            if self.known.same(claim):
                self.reject(claim)
                continue
            target = self.known.live.get(claim.target)
            yield Proposal(
                claim,
                because,
                tuple(map(self._turn, claim.sources)),
                target.text if target else "",
            )

    def _turn(self, source: str) -> tuple[str, str, str]:
        path, _, line = source.rpartition(":")
        memory = self.folder.find(path)
        turns = (
            [one for one in memory.passages if one.speaker and str(one.line) == line]
            if memory
            else []
        )
        return (
            (source, sessions.speaker(memory, turns[0]), turns[0].text)
            if memory and turns
            else (source, "", "")
        )

    def accept(self, claim: Claim, at: dt.datetime, text: str = "") -> Applied:
        """Remember a claim, in the person's words where `text` is given; raises FilememError where it cannot be written."""
        claim = claim._replace(confidence=SURE)
        if text:
            claim = claim._replace(text=text, body="", retold_by="")
        with self.folder.locked():
            decision = self.known.decided(claim, accepted=True)
            if decision.action not in WRITTEN:
                self.reject(claim)
                return Applied([decision], [], [])
            done = apply(
                self.folder, BatchPlan((), at.isoformat(), (decision,)), self.log
            )
            for one in done.decisions if text else ():
                # What a person wrote is theirs: no digest is the file's, so that no job takes it for its own.
                self.log.add([{"wrote": live(one.path), "digest": "", "from": []}])
        return done

    def reject(self, claim: Claim) -> None:
        """Do not remember a claim, and do not propose it again."""
        self.log.add([{"refused": list(claim.origins[0])}])
