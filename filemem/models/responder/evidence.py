"""What the memories hold that may answer: facts, lessons, what the search found, and what was said in this conversation.

No evidence are questions, requests, texts that were handed over to be worked on, and the responder's own earlier answers.
"""

import contextlib
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import episode, pending_deletion
from filemem.files.archive import live
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.memory import PROFILE, SOURCE_MARK, Memory, is_note, kind_of, words_of_name
from filemem.files.passages import Passage
from filemem.files.pending_deletion import PendingDeletion
from filemem.files.transcript import ASSISTANT
from filemem.index import Index
from filemem.index.corpus import Corpus, IndexedFile
from filemem.models.responder.wording import OURS, small_talk
from filemem.search import Hit, filters
from filemem.text.statements import is_phrase, talk
from filemem.text.statements.sentences import Sentence

MOST_SESSIONS = 200  # the newest whose turns are all looked at
LARGEST_SESSION = 50_000  # bytes
LAST = 10**9
MOST_FACTS = 1_000  # the newest that are looked at whatever words they have
_OF_ASSISTANT = re.compile(rf"^[-*+]\s+\*\*{ASSISTANT}\*\*[^:]*: (.*?)(?: \([^()]*\))?$")  # as a summary has its turns
NO_EVIDENCE = ("question", "request", "forget", "unreal")


class Evidence(NamedTuple):
    """One passage that may answer: `telling` are the sentences of it that tell something.

    `strength` is the search's, 0 where it did not find it; `over`: it was superseded, or does not hold today;
    `partly`: a part of it was; `title` is that of a note, whose lines speak of what it names.
    """

    path: str
    line: int
    text: str
    speaker: str
    day: dt.date | None
    telling: tuple[Sentence, ...]
    strength: float
    over: bool
    importance: int
    sources: tuple[str, ...]
    replaces: tuple[str, ...] = ()
    title: str = ""
    partly: bool = False
    held: str = ""  # `then` or `now`, where a time is asked for and it did not hold both then and now

    @property
    def titled_text(self) -> str:
        """Its text under its title."""
        return f"{self.title}: {self.text}" if self.title else self.text

    @property
    def kind(self) -> str:
        """The kind of its memory."""
        return kind_of(self.path)


def facts(folder: Folder, index: Index, today: dt.date, time: filters.Time | None = None) -> Iterator[Evidence]:
    """The facts and lessons, the newest first, those in the archive too; `over` is what does not hold today, or did not at the
    `time` that is asked for."""
    corpus = index.corpus()
    entries = [entry for entry in corpus.entries() if entry.kind in ("facts", "lessons")]
    entries.sort(key=lambda entry: (entry.date, entry.path), reverse=True)
    hidden = pending_deletion.read(folder)
    for entry in entries[:MOST_FACTS]:
        for one in _of_entry(folder, index, corpus, entry, hidden):
            over = bool(filters.lapse(entry, *(time or (today,)))) and not one.partly
            yield one._replace(over=over, held=filters.then_or_now(entry, today, time))


def _of_entry(
    folder: Folder, index: Index, corpus: Corpus, entry: IndexedFile, hidden: PendingDeletion
) -> Iterator[Evidence]:
    try:
        memory = index.shelf.memory(folder, entry.path, corpus.stats(entry.first))
    except FilememError:
        return
    if "tool" in memory.front:
        return
    more = entry.particulars
    sources = _listed(more.get("source"))
    importance = 10 if more.get("pinned") else int(more.get("importance", 5))
    partly = bool(more.get("partly_superseded_by"))
    shown = [passage for passage in memory.passages if not hidden.hides(entry.path, passage.line)]
    if len(shown) > 1 and len({passage.speaker for passage in shown}) == 1:  # one who said it in two turns
        shown = [shown[0]._replace(text="\n".join(passage.text for passage in shown))]
    for passage in shown:
        telling = _telling(passage.text) or tuple(talk(passage.text))
        yield Evidence(
            entry.path, passage.line, passage.text, passage.speaker, passage.day or memory.date, telling, 0.0, False,
            importance, sources, _listed(more.get("supersedes")), partly=partly,
        )  # fmt: skip


def is_on_tool(folder: Folder, path: str) -> bool:
    """Does a lesson say how a program's tool fares, which answers no question of a person's?"""
    with contextlib.suppress(FilememError):
        return "tool" in folder.memory(path).front
    return False


def _telling(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text that tell something; none of one that is not to be kept."""
    said = talk(text)
    if any(one.role == "private" for one in said):
        return ()
    return tuple(one for one in said if one.role not in NO_EVIDENCE and not is_phrase(one.text))


def _listed(value: object) -> tuple[str, ...]:
    """A front matter value that is a text or a list of them."""
    return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),) if value else ()


def found(hits: Iterable[Hit]) -> Iterator[Evidence]:
    """What of the search's hits is evidence."""
    for hit in hits:
        said = hit.excerpt
        listed = _OF_ASSISTANT.match(hit.text)
        answered = listed[1] if listed else hit.text if hit.speaker == ASSISTANT else ""
        if OURS.match(answered) or said.startswith(f"{episode.KEY}: {{"):
            continue  # our own answer, or what sums up others' words
        telling = _telling(SOURCE_MARK.sub("", said))
        if hit.speaker and (not telling or small_talk(hit.text)):
            continue
        over = hit.note.startswith(("superseded by", "held until"))
        yield Evidence(
            hit.path, hit.line, said, hit.speaker, hit.date, telling, hit.strength, over, 5, hit.sources
        )._replace(title=(hit.title or words_of_name(hit.path)) if is_note(hit.path) else "")


class RecentTurn(NamedTuple):
    """A turn of a person in one of the newest conversations."""

    path: str
    day: dt.date | None
    turn: Passage


def recent(folder: Folder, index: Index, current: CurrentConversation | None) -> Iterator[RecentTurn]:
    """The people's turns of the newest conversations, of the `current` one those before the last."""
    corpus = index.corpus()
    entries = [entry for entry in corpus.entries() if entry.kind == "sessions" and entry.count]
    entries.sort(key=lambda entry: (entry.date, entry.path), reverse=True)
    hidden = pending_deletion.read(folder)
    for entry in entries[:MOST_SESSIONS]:
        try:
            memory = index.shelf.memory(folder, entry.path, corpus.stats(entry.first))
        except FilememError:
            continue
        end = current.line if current and current.path == entry.path else LAST
        for turn in memory.passages if len(memory.data) <= LARGEST_SESSION else ():
            told = turn.speaker and turn.speaker != ASSISTANT and turn.line < end
            if told and not hidden.hides(entry.path, turn.line):
                yield RecentTurn(entry.path, turn.day or memory.date, turn)


def said(turns: Iterable[RecentTurn]) -> Iterator[Evidence]:
    """What of some turns is evidence."""
    for path, day, turn in turns:
        telling = _telling(turn.text)
        if telling and not small_talk(turn.text):
            yield Evidence(path, turn.line, turn.text, turn.speaker, day, telling, 0.0, False, 5, ())


def together(groups: Iterable[Iterable[Evidence]]) -> list[Evidence]:
    """Several sources' evidence, each passage once with its highest strength; a fact that is over makes its turn over, too.

    Lines of the profile and turns that a fact repeats give way to the fact.
    """
    known: dict[tuple[str, int], Evidence] = {}
    every = [one for group in groups for one in group]
    starts = {live(one.path): one.line for one in every if "\n" in one.text and one.kind in ("facts", "lessons")}
    for one in every:
        key = (live(one.path), starts.get(live(one.path), one.line))
        before = known.get(key)
        if before:
            one = one._replace(strength=max(one.strength, before.strength), over=one.over or before.over)
        known[key] = one
    for key, one in known.items():
        heard = [known[at].strength for at in map(_place, one.sources) if at in known]
        known[key] = one._replace(strength=max([one.strength, *heard]))
    retold = {source: one for one in known.values() if one.kind in ("facts", "lessons") for source in one.sources}
    out = []
    paths = {path for path, _ in known}
    for (path, line), one in known.items():
        if path == PROFILE and (rests := SOURCE_MARK.search(one.text)) and rests[1] in paths:
            continue
        fact = retold.get(f"{path}:{line}")
        if fact and (fact.over or fact.held):
            one = one._replace(over=fact.over, held=fact.held)
        out.append(one)
    return out


def of_profile(profile: Memory, facts: Mapping[str, Evidence]) -> Iterator[Evidence]:
    """The lines of the profile: the facts that they rest on, and what a person wrote there."""
    for line in profile.passages:
        rests = SOURCE_MARK.search(line.text)
        if rests and rests[1] in facts:
            yield facts[rests[1]]
        elif not rests and not profile.lines[line.line - 1].startswith("#"):
            yield Evidence(PROFILE, line.line, line.text, "", None, (), 0.0, False, 5, ())


def _place(source: str) -> tuple[str, int]:
    """Path and line of a `path:line`; line 0 where it names none."""
    path, _, line = source.rpartition(":")
    return (live(path), int(line)) if line.isascii() and line.isdecimal() else (live(source), 0)
