"""The intake: each conversation becomes a session, each note a memory, once.

Whatever was written may have been edited, moved or deleted since, and a run may have
been killed between the session and its record.
"""

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
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
    find_fresh,
    goes_on,
    turns_of,
)
from filemem.llm.stream import ThoughtFilter
from filemem.store import transcript
from filemem.store.encodings import UTF_8, encoding_of
from filemem.store.folder import Folder
from filemem.store.frontmatter import quoted
from filemem.store.gate import KEYED_DIGEST, Gate
from filemem.store.imports import Imported, Origins
from filemem.store.memory import Memory
from filemem.store.paths import ARCHIVE, live, numbered, slug
from filemem.store.roles import ASSISTANT
from filemem.text.plain import counted, digest, one_line
from filemem.text.redaction import Redaction, kinds

NOTES_FOLDER = "notes/"
MAX_NAME_CHARS = 100  # of a speaker
MAX_TITLE_CHARS = 200
# A digest of words, with a number; the second as earlier versions made it.
_DIGEST = re.compile(rf"{KEYED_DIGEST.pattern}(?:-\d+)?|[0-9a-f]{{16}}-\d+")
_REASONING = re.compile(r'<details type="reasoning".*?</details>', re.DOTALL)


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
    """

    added: list[ImportedMemory] = field(default_factory=list)
    updated: list[ImportedMemory] = field(default_factory=list)
    unchanged: list[ImportedMemory] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)


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
        self.person = folder.person
        self._own_names = set(map(str.casefold, folder.own_names()))
        self._planned = set[str]()  # sessions that a dry run would have written
        self._secrets = list[Redaction]()  # of the item at hand

    def skip(self, what: str, why: str) -> None:
        """Report what was left out or changed."""
        name = self.gate.clean(one_line(what)).text
        self.report.skipped.append(Skipped(name, one_line(why)))

    def take(
        self,
        item: ImportedConversation | ImportedNote,
        format_: str,
        written_at: datetime,
        *,
        whole: bool = True,
    ) -> None:
        """Write what is new of one conversation or note, under the user's lock.

        Args:
            item: what was read.
            format_: of the export, with which its origin begins.
            written_at: when the export was written; a conversation that says nothing
                else was then.
            whole: the item begins where the conversation did.

        Raises:
            Refused: it cannot be written.
            Changed: it changed on disk meanwhile.
        """
        self._secrets.clear()
        with contextlib.nullcontext() if self.dry_run else self.folder.locked():
            if isinstance(item, ImportedNote):
                self._take_note(item, f"{format_}:{item.id}")
            else:
                self._take_conversation(item, format_, written_at, whole)

    def _clean(self, text: str, before: str = "") -> str:
        cleaned = self.gate.clean(text.encode("utf-8", "replace").decode(), before)
        self._secrets += cleaned.secrets
        return cleaned.text

    def _report_secrets(self, what: str) -> None:
        if self._secrets:
            secrets = counted(len(self._secrets), "secret")
            why = f"taken, but {secrets} left out: {kinds(self._secrets)}"
            self.skip(what, f"{why}; --with-secrets takes all")

    # -- conversations ---------------------------------------------------------------

    def _take_conversation(
        self,
        item: ImportedConversation,
        format_: str,
        written_at: datetime,
        whole: bool,
    ) -> None:
        title = self._clean(one_line(item.title, MAX_TITLE_CHARS))
        said = self._turns(item)
        origin = self.origin_of_id(format_, item.id)
        if said and not item.id:
            began = _began(item, said, written_at)
            origin = self._origin_of_opening(format_, item, title, said, began)
        said = self._without_copies(said, origin)
        if not said:
            self.report.left_out[EMPTY] += 1
            return
        imported = self.origins.of(origin)
        record = self._readable(imported) if imported else Imported("")
        path = self.origins.session(origin)
        session = self.folder.memory(path) if path else None
        if imported and imported.path in self._planned:
            path = imported.path
        fresh = find_fresh(said, record, turns_of(session), whole=whole)
        is_known = len(fresh.new) < len(said)
        is_old = not fresh.new if is_known else whole or not record.parts
        name = title or one_line(item.id)
        if imported and not path and is_old:
            # Its name may be forgotten, too.
            named = f" as {imported.path}" if "/" in imported.path else ""
            why = f"imported before{named} and deleted since; it stays deleted"
            self.skip(name, why)
            self._secrets.clear()
            path = imported.path
        elif path and (not fresh.new or _is_utf8(session)):
            report = self.report.updated if fresh.new else self.report.unchanged
            report.append(ImportedMemory(self.folder.name, path, len(fresh.new)))
            if session and fresh.new and not self.dry_run:
                lines = as_lines(fresh.new, transcript.last_day(session))
                self.folder.append(path, lines)
        else:
            began = _began(item, fresh.new, written_at)
            path = self._create_session(item.assistant, origin, title, began, fresh.new)
            new = ImportedMemory(self.folder.name, path, len(fresh.new))
            self.report.added.append(new)
        if fresh.unrecorded:
            parts = [turn.part for turn in fresh.unrecorded]
            self.origins.add(origin, path, parts, fresh.behind)
        if fresh.new:
            self._report_secrets(name)

    def _readable(self, imported: Imported) -> Imported:
        """Return a record without what this machine cannot make again.

        That are digests by another machine's key, and those of earlier versions.
        """
        if not any(map(_DIGEST.fullmatch, imported.parts)):
            return imported
        own = self.gate.digest("").partition(".")[0]
        parts = []
        for part in imported.parts:
            if part.startswith(own) or not _DIGEST.fullmatch(part):
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
            if turn.speaker in (item.assistant, ASSISTANT) and turn.speaker:
                text = _without_thoughts(text)
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
        if speaker == assistant and name.casefold() in self._own_names:
            return ASSISTANT
        return name or self.person

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

    def origin_of_id(self, format_: str, id: str) -> str:
        """Return what names a conversation in the record and in its front matter."""
        is_plain = id == one_line(id) == self.gate.clean(id).text
        return f"{format_}:{id if is_plain else self.gate.digest(id)}"

    def _origin_of_opening(
        self,
        format_: str,
        item: ImportedConversation,
        title: str,
        said: Sequence[Turn],
        began: datetime,
    ) -> str:
        """Return the origin of a conversation without an id.

        It is that of one kept before which it goes on, or which holds it already, else
        a digest of how it begins, with a number.
        """
        first = item.turns[0]
        former = digest(f"{item.title}\0{first.speaker}\0{first.text}", 16)
        origin = f"{format_}:{former}-1"  # as earlier versions named it
        known = self.origins.of(origin)
        if known and f"{began:%Y-%m-%d}" in known.path:
            return origin
        keys = [turn.part for turn in said]
        for origin in reversed(self.origins.with_part(keys[0], format_)):
            known = self.origins.of(origin)
            is_nameless = _DIGEST.fullmatch(origin.partition(":")[2])
            if known and is_nameless and goes_on(keys, known, began):
                return origin
        words = " ".join(said[0].text.split())
        opening = self.gate.digest(title, said[0].speaker, words)
        for number in itertools.count(1):
            origin = f"{format_}:{opening}-{number}"
            if self.origins.of(origin) is None:
                break
        return origin

    def _without_copies(self, said: list[Turn], origin: str) -> list[Turn]:
        """Return the turns that are not a copy of another conversation's."""
        format_ = origin.partition(":")[0]
        kept = []
        for turn in said:
            owners = self.origins.with_part(turn.part, format_)
            if not turn.is_unique or not owners or origin in owners:
                kept.append(turn)
        return kept

    # -- sessions --------------------------------------------------------------------

    def _create_session(
        self,
        assistant: str,
        origin: str,
        title: str,
        began: datetime,
        said: Sequence[Turn],
    ) -> str:
        """Write a new session; returns its path, in a dry run the one it would have."""
        name = slug(title) or slug(said[0].text) or "conversation"
        if self.dry_run:
            wanted = f"sessions/{began:%Y}/{began:%Y-%m-%d-%H%M}-{name}.md"
            paths = (path for path in numbered(wanted) if path not in self._planned)
            free = next(path for path in paths if not any(self.folder.existing(path)))
            self._planned.add(free)
            return free
        front = {"title": title and quoted(title)}
        if assistant:
            front["assistant"] = quoted(self._speaker(assistant, assistant))
        front["origin"] = quoted(origin)
        lines = [as_lines(said, began.date())]
        return transcript.create(self.folder, name, began, lines, **front)

    # -- notes -----------------------------------------------------------------------

    def _take_note(self, note: ImportedNote, origin: str) -> None:
        """Give a note its own path, or the next free one.

        Where the very same bytes stand there, they are the note. One that was imported
        before is brought up to date, unless a person changed or deleted it here.
        """
        text = self._clean_note(note.text)
        fingerprint = digest(text, 16)
        imported = self.origins.of(origin)
        taken = imported.parts[-1] if imported else ""
        path = NOTES_FOLDER + self.gate.clean_path(note.path)
        if imported:
            path = imported.path
        self.folder.absolute(path)  # raises Refused where nothing is written, too
        place = next(self.folder.existing(path), "")
        here = self.folder.read(place) if place else b""
        if fingerprint != taken:
            self._report_secrets(note.path)
        if imported and not place:
            why = "imported before and deleted or moved since; left so"
            self.skip(note.path, why)
            return
        is_here = bool(place) and (here == text or fingerprint == taken)
        if imported and not is_here and digest(here, 16) != taken:
            what = f"changed, but so was {place} since it was imported"
            self.skip(note.path, f"{what}, which stays as it is")
            return
        report = self.report.unchanged
        if imported and not is_here:
            report = self.report.updated
            self._replace_note(place, here, text)
        elif not is_here:
            report = self.report.added
            place = path
            if not self.dry_run:
                place = self.folder.create(path, text)  # under the next free name
        report.append(ImportedMemory(self.folder.name, place, 0))
        if fingerprint != taken:
            self.origins.add(origin, place, [fingerprint])

    def _clean_note(self, data: bytes) -> bytes:
        """Return a note without secrets, in its encoding."""
        encoding = encoding_of(data)
        errors = "surrogateescape" if encoding == UTF_8 else "replace"
        cleaned = self.gate.clean(data.decode(encoding, errors))
        self._secrets += cleaned.secrets
        return cleaned.text.encode(encoding, errors) if cleaned.secrets else data

    def _replace_note(self, place: str, here: bytes, text: bytes) -> None:
        """Write a note anew; where lines of it are gone, archive what it was."""
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


def _without_thoughts(text: str) -> str:
    """Return an assistant's words without what it thought, as clients mark that."""
    spoken = ThoughtFilter(lambda piece: None)
    spoken.feed(text, final=True)
    return _REASONING.sub("", spoken.text)


def _is_utf8(session: Memory | None) -> bool:
    """Tell whether a session may be added to; in another encoding it never is."""
    return session is None or encoding_of(session.data) == UTF_8


def _began(
    item: ImportedConversation, said: Iterable[Turn], written_at: datetime
) -> datetime:
    times = (turn.time for turn in said if turn.time)
    return item.started or next(times, written_at)
