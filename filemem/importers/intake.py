"""The intake: each conversation becomes a session, each note a memory, each of them once.

Whatever was written may have been edited, moved or deleted since, and a run may have
been killed between the session and its record.
"""

import contextlib
import difflib
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import count
from typing import NamedTuple

from filemem.errors import Changed
from filemem.importers.base import (
    ImportedConversation,
    ImportedNote,
    ImportedTurn,
    Skipped,
)
from filemem.importers.identity import (
    Overlap,
    TurnKey,
    find_overlap,
    is_prefix_of_other,
)
from filemem.store import transcript
from filemem.store.encodings import encoding_of
from filemem.store.folder import Folder, numbered
from filemem.store.frontmatter import quoted
from filemem.store.gate import KEYED_DIGEST, Gate
from filemem.store.imports import NO_PART, Imported, Origins
from filemem.store.memory import Memory
from filemem.store.passages import format_turn, turns
from filemem.store.paths import ARCHIVE, live, slug
from filemem.store.roles import ASSISTANT
from filemem.text.plain import counted, digest, escape_controls, one_line
from filemem.text.redaction import Redaction, kinds

NOTES_FOLDER = "notes/"
MAX_NAME_CHARS = 100  # of a speaker
MAX_TITLE_CHARS = 200
_OPENING = re.compile(rf"(?:[0-9a-f]{{16}}|{KEYED_DIGEST.pattern})-\d+")
OPENING_TURNS = 2
"""Turns with which conversations of several days may begin alike."""


class ImportedMemory(NamedTuple):
    """One memory that an import met; `turns` is how many it added, 0 for a note."""

    user: str
    path: str
    turns: int


@dataclass(frozen=True)
class ImportReport:
    """What an import did, or would do.

    Attributes:
        added: new memories.
        updated: memories that have got more turns or another text.
        unchanged: memories that have all of it already.
        skipped: what was left out or altered, and why.
    """

    added: list[ImportedMemory] = field(default_factory=list)
    updated: list[ImportedMemory] = field(default_factory=list)
    unchanged: list[ImportedMemory] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True)
class _Turn:
    """A turn as it is written, and by what it is known again."""

    speaker: str
    time: datetime | None
    text: str
    key: TurnKey

    def line(self, day: date | None = None) -> str:
        """Return it as a list item, with its date where `day` is given."""
        clock = f"{self.time:%H:%M}" if self.time else ""
        return format_turn(self.speaker, clock, self.text, day)

    def as_written(self) -> str:
        """Return what stands for it in a session, however the day is written."""
        lines = self.line().encode("utf-8", "replace").decode().split("\n")
        return _written_turns(lines)[0]


@dataclass(frozen=True)
class _Fresh:
    """The turns of a conversation that are not kept yet.

    Attributes:
        turns: in their order.
        behind: the recorded part that they go on from; None for the last one.
        written: how many of the turns stand in the session already, unrecorded.
    """

    turns: list[_Turn]
    behind: str | None = None
    written: int = 0


class Intake:
    """The intake of one user; a dry run reports the same and writes nothing."""

    def __init__(
        self, folder: Folder, *, dry_run: bool = False, with_secrets: bool = False
    ) -> None:
        self.folder = folder
        self.dry_run = dry_run
        self.gate = Gate(folder, with_secrets=with_secrets, dry_run=dry_run)
        self.origins = Origins(folder, dry_run)
        self.report = ImportReport()
        self._planned = set[str]()  # sessions that a dry run would have written

    def skip(self, what: str, why: str) -> None:
        """Report what was left out or changed."""
        name = self.gate.clean(one_line(what)).text
        self.report.skipped.append(Skipped(name, one_line(why)))

    def take(
        self,
        item: ImportedConversation | ImportedNote,
        format_: str,
        root: str,
        written_at: datetime,
        *,
        whole: bool = True,
    ) -> None:
        """Write what is new of one conversation or note, under the user's lock.

        Args:
            item: what was read.
            format_: of the export, with which its origin begins.
            root: the folder of notes.
            written_at: when the export was written; a conversation that says nothing
                else was then.
            whole: the item begins where the conversation did.

        Raises:
            Refused: it cannot be written.
            Changed: it changed on disk meanwhile.
        """
        with contextlib.nullcontext() if self.dry_run else self.folder.locked():
            if isinstance(item, ImportedNote):
                place = os.fsencode(os.path.join(root, item.path))
                self._take_note(item, f"{format_}:{item.id or digest(place, 16)}")
            else:
                self._take_conversation(item, format_, written_at, whole)

    # -- conversations ---------------------------------------------------------------

    def _take_conversation(
        self,
        item: ImportedConversation,
        format_: str,
        written_at: datetime,
        whole: bool,
    ) -> None:
        secrets = list[Redaction]()
        title = self._clean(one_line(item.title, MAX_TITLE_CHARS), "", secrets)
        said = self._cleaned_turns(item, secrets)
        name = title or one_line(item.id)
        times = [turn.time for turn in said if turn.time]
        began = item.started or (times[0] if times else written_at)
        origin = self._origin(format_, item, title, said, began)
        said = self._without_copies(said, item, origin)
        if not said:
            self.skip(name, "it has no turns")
            return
        imported = self.origins.of(origin)
        path = self.origins.session(origin)
        if imported and imported.path in self._planned:
            path = imported.path
        if imported and not path:
            # Its name may be forgotten, too.
            named = f" as {imported.path}" if "/" in imported.path else ""
            why = f"imported before{named} and deleted since; it stays deleted"
            self.skip(name, why)
            return
        if path is None:
            fresh = _Fresh(said)
            if not item.started:
                began = next((turn.time for turn in said if turn.time), written_at)
            path = self._create_session(item, origin, title, began, said)
            report = self.report.added
        else:
            session = None if path in self._planned else self.folder.memory(path)
            fresh = self._fresh_turns(said, imported, session, whole)
            self._extend_session(path, session, fresh.turns[fresh.written :])
            is_new = len(fresh.turns) > fresh.written
            report = self.report.updated if is_new else self.report.unchanged
        added = len(fresh.turns) - fresh.written
        report.append(ImportedMemory(self.folder.name, path, added))
        if self.dry_run:
            self._planned.add(path)
        self._record(
            origin, path, [turn.key.part for turn in fresh.turns], fresh.behind
        )
        if added:
            self._report_secrets(name, secrets)

    def _clean(self, text: str, before: str, secrets: list[Redaction]) -> str:
        cleaned = self.gate.clean(text, before)
        secrets += cleaned.secrets
        return cleaned.text

    def _cleaned_turns(
        self, item: ImportedConversation, secrets: list[Redaction]
    ) -> list[_Turn]:
        """Return the turns that have words, as they will stand in the session."""
        said = list[_Turn]()
        seen = Counter[str]()
        before = ""
        for turn in item.turns:
            if not turn.text.strip():
                continue
            text = self._clean(turn.text, before, secrets)
            before = turn.text
            key = self._key(turn, text)
            if key.certain:
                seen[key.part] += 1
                if seen[key.part] > 1:
                    key = replace(key, part=f"{key.part}#{seen[key.part]}")
            speaker = self._speaker(turn.speaker, item.assistant, secrets)
            said.append(_Turn(speaker, turn.time, text, key))
        return said

    def _speaker(self, speaker: str, assistant: str, secrets: list[Redaction]) -> str:
        """Return a speaker as written; an assistant is never called as the user is."""
        name = self._clean(one_line(speaker, MAX_NAME_CHARS), "", secrets)
        if name and speaker == assistant and self._is_namesake(assistant):
            return ASSISTANT
        return name or self.folder.name

    def _is_namesake(self, assistant: str) -> bool:
        return assistant.casefold() == self.folder.name.casefold()

    def _key(self, turn: ImportedTurn, text: str) -> TurnKey:
        """Return by what a turn is known again: its id, else its words, with its time.

        Earlier versions told it by an open digest of its words before secrets were
        taken out.
        """
        if turn.id:
            id = one_line(turn.id, MAX_TITLE_CHARS)
            return TurnKey(id, certain=True, unique=turn.unique)
        words = " ".join(text.split())
        role = turn.speaker if turn.speaker == ASSISTANT else "user"
        former = digest(f"{role}\0{turn.text}", 16)
        if turn.time is None:
            return TurnKey(self.gate.digest(turn.speaker, words), former)
        moment = turn.time.isoformat()
        return TurnKey(self.gate.digest(turn.speaker, words, moment), former, True)

    def _origin(
        self,
        format_: str,
        item: ImportedConversation,
        title: str,
        said: Sequence[_Turn],
        began: datetime,
    ) -> str:
        """Return what names a conversation in the record and in its front matter.

        Without an id it is how it begins, with a number: that of the one kept before
        which it goes on, or which holds it already. One of another day goes on only
        where more than its opening is the same: people say hello every day. A history
        that a client has trimmed begins with the end of what is kept.
        """
        if item.id or not said:
            return self._origin_of_id(format_, item.id)
        first = item.turns[0]
        former = digest(f"{item.title}\0{first.speaker}\0{first.text}", 16)
        own = self.gate.digest(title, said[0].speaker, " ".join(said[0].text.split()))
        keys = [turn.key for turn in said]
        free = ""
        for opening in (former, own):
            for number in count(1):
                origin = f"{format_}:{opening}-{number}"
                known = self.origins.of(origin)
                if known is None:
                    free = origin
                    break
                is_same_day = f"{began:%Y-%m-%d}" in known.path or not known.path
                shared = min(len(known.parts), len(keys))
                if is_prefix_of_other(keys, known) and (
                    is_same_day or shared > OPENING_TURNS
                ):
                    return origin
        for origin in reversed(self.origins.with_part(keys[0].part, format_)):
            known = self.origins.of(origin) or Imported("")
            overlap = find_overlap(keys, known, whole=False)
            is_at_end = overlap.behind == len(known.parts) - 1
            is_trimmed = OPENING_TURNS <= overlap.known < len(known.parts)
            if is_at_end and is_trimmed and _is_nameless(origin):
                return origin
        return free

    def _origin_of_id(self, format_: str, id: str) -> str:
        plain = id if id == one_line(id) else digest(escape_controls(id), 16)
        origin = f"{format_}:{plain}"
        is_secret = self.gate.clean(plain).text != plain
        if is_secret and self.origins.of(origin) is None:
            return f"{format_}:{self.gate.digest(id)}"
        return origin

    def _without_copies(
        self, said: list[_Turn], item: ImportedConversation, origin: str
    ) -> list[_Turn]:
        """Return the turns that are not a copy of another conversation's."""
        format_ = origin.partition(":")[0]
        imported = self.origins.of(origin) or Imported("")
        own = set(imported.parts)
        said = [
            turn
            for turn in said
            if not turn.key.unique
            or turn.key.part in own
            or not {*self.origins.with_part(turn.key.part, format_)} - {origin}
        ]
        if not item.copies or any(turn.unique for turn in item.turns):
            return said
        copied = f"{format_}:{item.copies}"
        original = self.origins.of(copied)
        if original is None:
            return said
        path = self.origins.session(copied)
        if path is None:  # it was forgotten, and stays so
            return said[len(original.parts) :]
        session = self.folder.memory(path)
        same = 0
        there = _written_turns(session.lines, session.front_end)
        for turn, written in zip(said, there, strict=False):
            if turn.as_written() != written:
                break
            same += 1
        return said[same:]

    # -- sessions --------------------------------------------------------------------

    def _create_session(
        self,
        item: ImportedConversation,
        origin: str,
        title: str,
        began: datetime,
        said: Sequence[_Turn],
    ) -> str:
        """Write a new session; returns its path, in a dry run the one it would have."""
        name = slug(title) or slug(said[0].text) or "conversation"
        path = f"sessions/{began:%Y}/{began:%Y-%m-%d-%H%M}-{name}.md"
        if self.dry_run:
            return next(
                free
                for free in numbered(path)
                if free not in self._planned
                and next(self.folder.existing(free), None) is None
            )
        assistant = item.assistant
        if self._is_namesake(assistant):
            assistant = ""
        front = {
            "title": title and quoted(title),
            "assistant": quoted(assistant) if assistant else "",
            "origin": quoted(origin),
        }
        lines = [_lines(said, began.date())]
        return transcript.create(self.folder, name, began, lines, **front)

    def _extend_session(
        self, path: str, session: Memory | None, new: Sequence[_Turn]
    ) -> None:
        if session and new and not self.dry_run:
            self.folder.append(path, _lines(new, transcript.last_day(session)))

    def _fresh_turns(
        self,
        said: list[_Turn],
        imported: Imported | None,
        session: Memory | None,
        whole: bool,
    ) -> _Fresh:
        """Tell what of a conversation is not in its session yet.

        Args:
            said: the conversation's turns.
            imported: the record of it; None where that is lost.
            session: as it stands; None for one that a dry run would have written.
            whole: the turns begin where the conversation did.
        """
        there = _written_turns(session.lines, session.front_end) if session else []
        if imported is None:
            written = _overlap_as_written(said, there, whole)
            return _Fresh(said, None, written.known)
        overlap = _overlap_as_recorded([turn.key for turn in said], imported, whole)
        if not overlap.known and self._is_of_another_key(imported):
            overlap = replace(
                _overlap_as_written(said, there, whole), behind=len(imported.parts) - 1
            )
        known_parts = set(imported.parts)
        places = [
            place
            for place, turn in enumerate(said)
            if place >= overlap.known
            and not (turn.key.certain and turn.key.part in known_parts)
        ]
        fresh = [said[place] for place in places]
        behind = None
        if fresh and NO_PART < overlap.behind < len(imported.parts) - 1:
            behind = imported.parts[overlap.behind]
        unrecorded = 0
        if whole or overlap.known:
            before = said[: places[0]] if places else said
            unrecorded = _unrecorded(fresh, before, there, len(imported.parts))
        return _Fresh(fresh, behind, unrecorded)

    def _is_of_another_key(self, imported: Imported) -> bool:
        """Tell whether a part was digested with another key, as on another machine."""
        keyed = [part for part in imported.parts if KEYED_DIGEST.fullmatch(part)]
        if not keyed:
            return False
        own = self.gate.digest("").partition(".")[0]
        return any(not part.startswith(own) for part in keyed)

    def _record(
        self, origin: str, path: str, parts: list[str], behind: str | None = None
    ) -> None:
        if parts:
            self.origins.add(origin, path, parts, behind)

    def _report_secrets(self, what: str, secrets: Sequence[Redaction]) -> None:
        if secrets:
            count = f"{counted(len(secrets), 'secret')} left out: {kinds([*secrets])}"
            self.skip(what, f"taken, but {count}; --with-secrets takes all")

    # -- notes -----------------------------------------------------------------------

    def _take_note(self, note: ImportedNote, origin: str) -> None:
        """Give a note its own path, or the next free one.

        Where the very same bytes stand there, they are the note. One that was imported
        before is brought up to date, unless a person changed or deleted it here.
        """
        imported = self.origins.of(origin)
        text, secrets = self._cleaned_note(note.text)
        fingerprint = digest(text, 16)
        if not imported or imported.parts[-1] != fingerprint:
            self._report_secrets(note.path, secrets)
        if imported:
            self._update_note(note.path, text, origin, imported)
            return
        wanted = NOTES_FOLDER + self.gate.clean_path(note.path)
        self.folder.absolute(wanted)  # raises Refused where nothing is written, too
        place, path = "", wanted
        for path in numbered(wanted):
            place = next(self.folder.existing(path), "")
            if not place or self.folder.read(place) == text:
                break
        if not place and not self.dry_run:
            path = self.folder.create(path, text)
        report = self.report.unchanged if place else self.report.added
        report.append(ImportedMemory(self.folder.name, place or path, 0))
        self._record(origin, path, [fingerprint])
        if path != wanted:
            self.skip(note.path, f"taken as {path}: its own name is another note's")

    def _cleaned_note(self, data: bytes) -> tuple[bytes, list[Redaction]]:
        """Return a note without secrets, in its encoding, and what was taken out."""
        encoding = encoding_of(data)
        errors = "surrogateescape" if encoding == "utf-8" else "replace"
        cleaned = self.gate.clean(data.decode(encoding, errors))
        if not cleaned.secrets:
            return data, []
        return cleaned.text.encode(encoding, errors), cleaned.secrets

    def _update_note(
        self, name: str, text: bytes, origin: str, imported: Imported
    ) -> None:
        """Bring a note up to date that was imported before.

        Where the new text lacks lines of what is here, that is kept in the archive.
        """
        taken = imported.parts[-1]
        place = next(self.folder.existing(imported.path), None)
        if not place:
            self.skip(name, "imported before and deleted or moved since; left so")
            return
        here = self.folder.read(place)
        fingerprint = digest(text, 16)
        is_new = fingerprint != taken and here != text
        if is_new and digest(here, 16) != taken:
            what = f"changed, but so was {place} since it was imported"
            self.skip(name, f"{what}, which stays as it is")
            return
        if is_new:
            self._replace_note(place, here, text)
        report = self.report.updated if is_new else self.report.unchanged
        report.append(ImportedMemory(self.folder.name, place, 0))
        self._record(origin, imported.path, [fingerprint] * (fingerprint != taken))

    def _replace_note(self, place: str, here: bytes, text: bytes) -> None:
        remaining = iter(text.splitlines())
        if not all(line in remaining for line in here.splitlines()):
            kept = f"{ARCHIVE}/{live(place)}"
            if not self.dry_run:
                kept = self.folder.create(kept, here)  # under the next free name
            self.report.added.append(ImportedMemory(self.folder.name, kept, 0))
        if self.dry_run:
            return
        if not self.folder.edit(place, lambda data: text if data == here else None):
            raise Changed(f"{place} changed on disk meanwhile; import again.")


# -- turns as a session has them -----------------------------------------------------


def _lines(said: Sequence[_Turn], day: date | None) -> str:
    """Return turns as a transcript goes on with them behind a turn of `day`.

    Each of another day than the last has its date.
    """
    lines = []
    for turn in said:
        own_day = turn.time.date() if turn.time else day
        lines.append(turn.line(own_day if own_day != day else None))
        day = own_day
    return "".join(lines)


def _written_turns(lines: list[str], after: int = 0) -> list[str]:
    """Return each turn of a transcript in a form that can be compared."""
    return [
        "\0".join((turn.speaker, turn.time, turn.text)) for turn in turns(lines, after)
    ]


def _is_nameless(origin: str) -> bool:
    """Tell whether how a conversation began names it, as it had no id."""
    return _OPENING.fullmatch(origin.partition(":")[2]) is not None


def _overlap_as_recorded(
    keys: list[TurnKey], imported: Imported, whole: bool
) -> Overlap:
    if all(key.certain and not key.former for key in keys):
        return Overlap(0, len(imported.parts) - 1)  # each is known by its id
    return find_overlap(keys, imported, whole=whole)


def _overlap_as_written(said: list[_Turn], there: list[str], whole: bool) -> Overlap:
    """Find what of the turns stands in a session of which the record says nothing.

    Of a whole conversation, what comes before the last turn that is there was there
    too, and has been edited since.
    """
    written = [turn.as_written() for turn in said]
    if not whole:
        parents = range(NO_PART, len(there) - 1)
        kept = Imported("", there, list(parents))
        return find_overlap([TurnKey(one) for one in written], kept, whole=False)
    matcher = difflib.SequenceMatcher(None, there, written, autojunk=False)
    blocks = matcher.get_matching_blocks()
    ends = [block.b + block.size for block in blocks if block.size]
    return Overlap(max(ends, default=0), NO_PART)


def _unrecorded(
    fresh: list[_Turn], before: list[_Turn], there: list[str], recorded: int
) -> int:
    """Return how many of the fresh turns a run wrote that was killed before its record.

    They are the last of the session, behind the turn that came before them.
    """
    for length in range(min(len(fresh), len(there) - recorded), 0, -1):
        if [turn.as_written() for turn in fresh[:length]] != there[-length:]:
            continue
        rest = there[:-length]
        if not before or not rest or before[-1].as_written() == rest[-1]:
            return length
    return 0
