"""The intake: each conversation becomes a session, each note a memory, once.

Whatever was written may have been edited, moved or deleted since, and a run may have
been killed between the session and its record.
"""

import contextlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import NamedTuple

from filemem.errors import Changed
from filemem.importers.base import (
    EMPTY,
    THOUGHT,
    ImportedConversation,
    ImportedNote,
    ImportedTurn,
    LeftOut,
    Skipped,
)
from filemem.importers.identity import (
    Turn,
    as_lines,
    begins_alike,
    find_fresh,
    turns_of,
)
from filemem.llm.stream import without_thoughts
from filemem.store import transcript
from filemem.store.encodings import UTF_8, encoding_of
from filemem.store.folder import Folder
from filemem.store.frontmatter import quoted
from filemem.store.gate import KEYED_DIGEST, Gate
from filemem.store.imports import NOTE_LETTERS, Imported, Origins
from filemem.store.paths import ARCHIVE, live, slug
from filemem.store.roles import ASSISTANT
from filemem.text.plain import counted, digest, one_line
from filemem.text.redaction import Redaction, kinds

NOTES_FOLDER = "notes/"
MAX_NAME_CHARS = 100  # of a speaker
MAX_TITLE_CHARS = 200
# A digest of words, with a number; the second as earlier versions made it.
_DIGEST = re.compile(rf"{KEYED_DIGEST.pattern}(?:-\d+)?|[0-9a-f]{{16}}-\d+")
_FILE_MARK = re.compile(r"\[(?:image|file): [^]\n]{0,300}\]")


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
        left_out: what else was left out, counted by kind.
        notes: what git has to say.
    """

    added: list[ImportedMemory] = field(default_factory=list)
    updated: list[ImportedMemory] = field(default_factory=list)
    unchanged: list[ImportedMemory] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)
    notes: list[str] = field(default_factory=list)


class Intake:
    """The intake of one export for one user.

    Args:
        folder: whose memories these become.
        format_: of the export, with which the origin of each memory begins.
        written_at: when the export was written; a conversation that says nothing else
            was then.
        dry_run: report the same and write nothing.
        with_secrets: keep secrets, which are taken out otherwise.
    """

    def __init__(
        self,
        folder: Folder,
        format_: str,
        written_at: datetime,
        *,
        dry_run: bool = False,
        with_secrets: bool = False,
    ) -> None:
        self.folder = folder
        self.format = format_
        self.written_at = written_at
        self.dry_run = dry_run
        self.gate = Gate(folder, with_secrets=with_secrets, dry_run=dry_run)
        self.origins = Origins(folder, dry_run)
        self.report = ImportReport()
        self._planned = set[str]()  # the memories that a dry run would have written
        self._secrets = list[Redaction]()  # of the item at hand

    def skip(self, what: str, why: str) -> None:
        """Report what was left out or changed."""
        name = self.gate.clean(one_line(what)).text
        self.report.skipped.append(Skipped(name, one_line(why)))

    def take(self, item: ImportedConversation | ImportedNote) -> None:
        """Write what is new of one conversation or note, under the user's lock.

        Raises:
            Refused: it cannot be written.
            Changed: it changed on disk meanwhile.
        """
        self._secrets.clear()
        said: list[Turn] = []
        if isinstance(item, ImportedConversation):
            said = self._turns(item)
            if not said:
                self.report.left_out[EMPTY] += 1
                return
        with contextlib.nullcontext() if self.dry_run else self.folder.locked():
            if isinstance(item, ImportedNote):
                self._take_note(item)
            else:
                self._take_conversation(item, said)

    def _clean(self, text: str, before: str = "") -> str:
        """Return a text without its secrets, which are noted.

        Args:
            text: as it was said.
            before: the turn before, which may say what this one is.
        """
        cleaned = self.gate.clean(text.encode("utf-8", "replace").decode(), before)
        self._secrets += cleaned.secrets
        return cleaned.text

    def _report_secrets(self, what: str) -> None:
        """Tell how many secrets were left out of the item at hand, by kind.

        Args:
            what: the item's name.
        """
        if self._secrets:
            secrets = counted(len(self._secrets), "secret")
            why = f"taken, but {secrets} left out: {kinds(self._secrets)}"
            self.skip(what, f"{why}; --with-secrets takes all")

    def _met(self, met: list[ImportedMemory], path: str, turns: int = 0) -> None:
        """Report a memory.

        Args:
            met: the list of the report on which it belongs.
            path: of the memory.
            turns: how many it got.
        """
        met.append(ImportedMemory(self.folder.name, path, turns))
        if not self.dry_run:
            self.folder.tell("kept", turns)

    def _planned_at(self, path: str) -> str:
        """Return the path of a memory that a dry run does not write.

        Raises:
            Refused: none can be written there.
        """
        self.folder.absolute(path)
        self._planned.add(path)
        return path

    # -- conversations ---------------------------------------------------------------

    def _take_conversation(self, item: ImportedConversation, said: list[Turn]) -> None:
        """Add the turns that are not kept yet to their session, or begin one.

        A session that a person has deleted stays so, unless there is more of it.
        """
        title = one_line(without_thoughts(item.title), MAX_TITLE_CHARS)
        title = self._clean(title)
        name = title or one_line(item.id)
        origin = origin_of_id(self.gate, self.format, item.id)
        if not item.id:
            origin = self._origin_of_opening(item, title, said)
        said = self._without_copies(said, origin)
        if not said:
            self.report.left_out[EMPTY] += 1
            return
        imported = self.origins.of(origin)
        record = self._readable(imported or Imported(""))
        path = self.origins.session(origin) or ""
        session = self.folder.memory(path) if path else None
        if record.path in self._planned:
            path = record.path
        fresh = find_fresh(said, record, turns_of(session), whole=item.is_whole)
        new = fresh.new
        # Of one that was deleted what was said since is kept.
        is_since = len(new) < len(said) or not (item.is_whole or not record.parts)
        is_readable = session is None or session.encoding == UTF_8
        if imported and not path and not (new and is_since):
            path = imported.path
            # Its name may be forgotten, too.
            named = f" as {path}" if "/" in path else ""
            why = f"imported before{named} and deleted since; it stays deleted"
            self.skip(name, why)
        elif path and not new:
            self._met(self.report.unchanged, path)
        elif path and is_readable:
            self._met(self.report.updated, path, len(new))
            if session and not self.dry_run:
                self.folder.append(path, as_lines(new, transcript.last_day(session)))
        else:
            path = self._create_session(item, origin, title, new)
            self._met(self.report.added, path, len(new))
        if fresh.unrecorded:
            parts = [turn.part for turn in fresh.unrecorded]
            self.origins.add(origin, path, parts, fresh.behind)
        if new:
            self._report_secrets(name)

    def _began(self, item: ImportedConversation, said: Iterable[Turn]) -> datetime:
        times = (turn.time for turn in said if turn.time)
        return item.started or next(times, self.written_at)

    def _readable(self, imported: Imported) -> Imported:
        """Return a record without what this machine cannot make again.

        That are digests by another machine's key, and those of earlier versions.
        """
        parts = []
        for part in imported.parts:
            if not _DIGEST.fullmatch(part) or part[:4] == self.gate.digest("")[:4]:
                parts.append(part)
        if len(parts) == len(imported.parts):
            return imported
        return Imported("").grown(imported.path, parts, None)

    def _turns(self, item: ImportedConversation) -> list[Turn]:
        """Return the turns that have words, as they will stand in the session."""
        said = list[Turn]()
        seen = Counter[str]()
        before = ""
        for turn in item.turns:
            text = turn.text
            if turn.speaker and turn.speaker in (item.assistant, ASSISTANT):
                text = without_thoughts(text)
                if text != turn.text:
                    self.report.left_out[THOUGHT] += 1
            if not text.strip():
                continue
            clean = self._clean(text, before)
            before = text
            part = self._part(turn, clean)
            is_certain = bool(turn.id or turn.time)
            seen[part] += 1
            if is_certain and seen[part] > 1:
                part = f"{part}#{seen[part]}"
            speaker = self._speaker(turn.speaker, item.assistant)
            is_unique = turn.shared != ""
            said.append(Turn(speaker, turn.time, clean, part, is_certain, is_unique))
        return said

    def _speaker(self, speaker: str, assistant: str) -> str:
        """Return a speaker as written; an assistant is never called as the user is."""
        name = self._clean(one_line(speaker, MAX_NAME_CHARS))
        own_names = map(str.casefold, self.folder.own_names())
        if speaker == assistant and name.casefold() in own_names:
            return ASSISTANT
        return name or self.folder.person

    def _part(self, turn: ImportedTurn, text: str) -> str:
        """Return by what a turn is known again: its id, else its words and time."""
        words = [turn.speaker, " ".join(text.split())]
        if turn.id:
            part = one_line(turn.id, MAX_TITLE_CHARS)
            if turn.shared not in ("", turn.id):
                part += f"\t{self.gate.digest(turn.shared, *words)}"
            return part
        if turn.time:
            words.append(turn.time.isoformat())
        return self.gate.digest(*words)

    def _origin_of_opening(
        self, item: ImportedConversation, title: str, said: list[Turn]
    ) -> str:
        """Return the origin of a conversation without an id.

        It is that of one kept before with an equal beginning, else a digest of how it
        begins, with a number.
        """
        began = self._began(item, said)
        first = item.turns[0]
        former = digest(f"{item.title}\0{first.speaker}\0{first.text}", 16)
        origin = f"{self.format}:{former}-1"  # as earlier versions named it
        known = self.origins.of(origin)
        if known and f"{began:%Y-%m-%d}" in known.path:
            return origin
        keys = [turn.part for turn in said]
        for origin in reversed(self.origins.with_part(keys[0], self.format)):
            known = self.origins.of(origin)
            is_nameless = _DIGEST.fullmatch(origin.partition(":")[2])
            if known and is_nameless and begins_alike(keys, known, began):
                return origin
        words = " ".join(said[0].text.split())
        opening = self.gate.digest(title, said[0].speaker, words)
        origins = (f"{self.format}:{opening}-{number}" for number in count(1))
        return next(origin for origin in origins if not self.origins.of(origin))

    def _without_copies(self, said: list[Turn], origin: str) -> list[Turn]:
        """Return the turns that are not a copy of another conversation's."""
        kept = []
        for turn in said:
            owners = []
            if turn.is_unique:
                owners = self.origins.with_part(turn.part, self.format)
            if not owners or origin in owners:
                kept.append(turn)
        return kept

    def _create_session(
        self, item: ImportedConversation, origin: str, title: str, said: list[Turn]
    ) -> str:
        """Write a new session; returns its path, in a dry run the one it would have."""
        began = self._began(item, said)
        own = [turn.text for turn in said if turn.speaker == self.folder.person]
        texts = [_FILE_MARK.sub("", text) for text in own]
        names = map(slug, [title, *texts, said[0].text, "conversation"])
        name = next(filter(None, names))
        if self.dry_run:
            place = f"sessions/{began:%Y}/{began:%Y-%m-%d-%H%M}"
            return self._planned_at(f"{place}-{name}.md")
        assistant = item.assistant and self._speaker(item.assistant, item.assistant)
        self.origins.begin(origin)
        return transcript.create(
            self.folder,
            name,
            began,
            [as_lines(said, began.date())],
            title=title and quoted(title),
            assistant=assistant and quoted(assistant),
            origin=quoted(origin),
        )

    # -- notes -----------------------------------------------------------------------

    def _take_note(self, note: ImportedNote) -> None:
        """Give a note its own path, or the next free one.

        Where the very same bytes stand there, they are the note. One that was imported
        before is brought up to date, unless a person changed or deleted it here.
        """
        text = self._clean_note(note.text)
        fingerprint = digest(text, NOTE_LETTERS)
        path = NOTES_FOLDER + self.gate.clean_path(note.path)
        taken = ""
        origin = f"{self.format}:{note.id}"
        imported = self.origins.of(origin)
        if imported:
            path = imported.path
            taken = imported.parts[-1]
        place = next(self.folder.existing(path), "")
        here = self.folder.read(place) if place else b""
        if fingerprint != taken:
            self._report_secrets(note.path)
        if imported and not place:
            self.skip(note.path, "imported before and deleted or moved since; left so")
            return
        if place and (here == text or fingerprint == taken):
            self._met(self.report.unchanged, place)
        elif not imported:
            place = self._create(path, text)
            self._met(self.report.added, place)
        elif digest(here, NOTE_LETTERS) == taken:
            self._replace_note(place, here, text)
            self._met(self.report.updated, place)
        else:
            what = f"changed, but so was {place} since it was imported"
            self.skip(note.path, f"{what}, which stays as it is")
            return
        if fingerprint != taken:
            self.origins.add(origin, place, [fingerprint])

    def _create(self, path: str, data: bytes) -> str:
        """Write a new memory, under the next free name; return its path."""
        if self.dry_run:
            return self._planned_at(path)
        return self.folder.create(path, data)

    def _clean_note(self, data: bytes) -> bytes:
        """Return a note without secrets, in its encoding."""
        encoding = encoding_of(data)
        errors = "surrogateescape" if encoding == UTF_8 else "replace"
        cleaned = self.gate.clean(data.decode(encoding, errors))
        self._secrets += cleaned.secrets
        return cleaned.text.encode(encoding, errors) if cleaned.secrets else data

    def _replace_note(self, place: str, here: bytes, text: bytes) -> None:
        """Write a note anew; where lines of it are gone, archive what it was."""
        if set(here.splitlines()) - set(text.splitlines()):
            kept = self._create(f"{ARCHIVE}/{live(place)}", here)
            self._met(self.report.added, kept)
        if self.dry_run:
            return
        if not self.folder.edit(place, lambda data: text if data == here else None):
            raise Changed(f"{place} changed on disk meanwhile; import again.")


def origin_of_id(gate: Gate, format_: str, id: str) -> str:
    """Return what names a conversation in the record and in its front matter."""
    is_plain = id == one_line(id) == gate.clean(id).text
    return f"{format_}:{id if is_plain else gate.digest(id)}"
