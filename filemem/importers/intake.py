"""Taking what a parser yields into a store: each conversation a session, each note a memory, each of them once."""

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, tzinfo
from itertools import count
from typing import Any, NamedTuple

from filemem.errors import Changed, NotFound, Refused
from filemem.files import config, transcript
from filemem.files.folder import Folder, StoreFolder, numbered
from filemem.files.front import quoted
from filemem.files.journal import Origins
from filemem.files.memory import ARCHIVE, Memory, Passage, format_turn, live, needed_day, slug, turns
from filemem.importers import exports
from filemem.importers.exports import ImportedConversation, ImportedNote, ImportedTurn, Item, Skipped, modified
from filemem.text.plain import counted, digest, escape_controls, one_line
from filemem.text.redaction import Redaction, kinds, redact

Parser = Callable[[str, tzinfo | None], Iterable[Item]]
FORMATS: dict[str, Parser] = {
    "chatgpt": exports.chatgpt,
    "claude": exports.claude,
    "openai-jsonl": exports.openai_jsonl,
    **exports.AGENTS,
    "markdown": exports.markdown,
}
NOTES = "notes/"
OPENING = 2  # turns with which conversations of several days may begin alike
LONGEST_NAME, LONGEST_TITLE = 100, 200  # characters of a speaker's name, of a title


def find_parser(format: str) -> Parser:
    """The parser of a format: ours, else one that an installed package adds under the entry point filemem.importers.

    Raises NotFound, with the formats that there are.
    """
    if format in FORMATS:
        return FORMATS[format]
    from importlib import metadata  # noqa: PLC0415  slow to load, and needed for other people's formats only

    for found in metadata.entry_points(group="filemem.importers", name=format):
        parser: Parser = found.load()
        return parser
    what = f"there is no format {one_line(format, 40)}" if format else "no format is named"
    raise NotFound(f"{what}; take one of {', '.join(FORMATS)}.")


class ImportedMemory(NamedTuple):
    """One memory that an import met; `turns` is how many it added there, 0 for a note."""

    user: str
    path: str
    turns: int


class ImportReport(NamedTuple):
    """What an import did, or would do: memories added, updated, left as they are; what was left out or altered, why."""

    added: list[ImportedMemory]
    updated: list[ImportedMemory]
    unchanged: list[ImportedMemory]
    skipped: list[Skipped]


def import_file(
    store: StoreFolder,
    format: str,
    path: str,
    *,
    user: str,
    zone: tzinfo | None = None,
    dry_run: bool = False,
    with_secrets: bool = False,
) -> ImportReport:
    """Take into a user's memory what the export at `path` holds and the memory does not; a second run changes nothing.

    `format` is what `find_parser` knows; times are written in `zone` (None: this machine's). Secrets are taken out, and reported,
    unless `with_secrets` or the settings keep them. Raises NotFound, Refused or FilememError where `path` is no such export.
    What was taken before an error stays; the next run goes on from there.
    """
    intake = _Import(store.folder(user), dry_run, with_secrets)
    intake.file(format, path, zone)
    return intake.report


def add_conversation(folder: Folder, messages: Iterable[Mapping[str, Any]], at: datetime, id: str, title: str) -> str:
    """Keep what is new of a conversation of OpenAI-style messages; returns its session's path, empty where nobody spoke.

    Raises Refused where it was kept before and a person has deleted it.
    """
    turns = exports.spoken_messages([dict(message) for message in messages], at.tzinfo)
    if not turns:
        return ""
    intake = _Import(folder)
    intake.take(ImportedConversation(id, title, None, turns), "added", "", at)
    added, updated, unchanged, skipped = intake.report
    if taken := [*added, *updated, *unchanged]:
        return taken[0].path
    raise Refused(f"{one_line(title or turns[0].text, 80)}: {skipped[-1].why}.")


class _Import:
    """An import into one user's folder; a dry run reports the same and writes nothing."""

    def __init__(self, folder: Folder, dry: bool = False, with_secrets: bool = False) -> None:
        self.folder, self.dry = folder, dry
        self.redacts = config.of(folder).redact and not with_secrets
        self.origins = Origins(folder)
        self.report = ImportReport([], [], [], [])

    def skip(self, what: str, why: str) -> None:
        """Report what was left out or changed."""
        self.report.skipped.append(Skipped(one_line(what), one_line(why)))

    def file(self, format: str, path: str, zone: tzinfo | None) -> None:
        """Take in one export."""
        path, root = os.path.realpath(path), os.path.realpath(self.folder.store)
        if not os.path.exists(path):
            raise NotFound(f"{one_line(path)} does not exist; name the export's file or folder.")
        if os.path.isdir(path) and os.path.commonpath([path, root]) in (path, root):
            raise Refused(f"{one_line(path)} contains the store or lies in it; import from a separate folder.")
        for item in find_parser(format)(path, zone):
            if isinstance(item, Skipped):
                self.skip(*item)
                continue
            try:
                self.take(item, format, path, modified(path, zone))
            except (Refused, Changed) as error:
                self.skip(item.path if isinstance(item, ImportedNote) else item.title or item.id, str(error))

    def take(self, item: ImportedConversation | ImportedNote, format: str, root: str, written: datetime) -> None:
        """Write what is new of one conversation, or of one note of the folder `root`, under the user's lock; where nothing else
        says when a conversation was, it was when its export was `written`."""
        with contextlib.nullcontext() if self.dry else self.folder.locked():
            if isinstance(item, ImportedNote):
                self._note(item, f"{format}:{item.id or digest(os.fsencode(os.path.join(root, item.path)), 16)}")
            else:
                self._conversation(item, format, written)

    def _record(self, origin: str, path: str, parts: list[str]) -> None:
        if parts and not self.dry:
            self.origins.add(origin, path, parts)

    def _say_secrets(self, what: str, secrets: list[Redaction]) -> None:
        if secrets:
            count = f"{counted(len(secrets), 'secret')} left out: {kinds(secrets)}"
            self.skip(what, f"taken, but {count}; --with-secrets takes all")

    # -- conversations -------------------------------------------------------------------------------------------

    def _origin(self, format: str, item: ImportedConversation, said: list[ImportedTurn], at: datetime) -> str:
        """What names a conversation in the record; without an id how it begins, with a number: that of the one kept before which
        it goes on, or which holds it already.

        One of another day goes on only where more than its opening is the same: people say hello every day.
        """
        if item.id or not said:
            id = item.id if item.id == one_line(item.id) else digest(escape_controls(item.id), 16)
            return f"{format}:{id}"
        first, ids = item.turns[0], [turn.id for turn in said]
        opening = digest(f"{item.title}\0{first.speaker}\0{first.text}", 16)
        for number in count(1):
            known = self.origins.of(origin := f"{format}:{opening}-{number}")
            alike = known and all(one == other for one, other in zip(known.parts, ids, strict=False))
            same_day = known and (f"{at:%Y-%m-%d}" in known.path or not known.path)
            if not known or (alike and (same_day or min(len(known.parts), len(ids)) > OPENING)):
                break
        return origin

    def _cleaned(self, conversation: ImportedConversation) -> list[ImportedTurn]:
        """The turns with the user's name as their own speaker's and with ids that each name one; those without words left out."""
        said, seen = [], Counter[str]()
        for turn in conversation.turns:
            if turn.text.strip():
                seen[turn.id] += 1
                id = turn.id if seen[turn.id] == 1 else f"{turn.id}#{seen[turn.id]}"
                speaker = one_line(turn.speaker, LONGEST_NAME) or self.folder.name
                said.append(ImportedTurn(speaker, turn.time, turn.text, one_line(id, LONGEST_TITLE)))
        return said

    def _conversation(self, item: ImportedConversation, format: str, written_at: datetime) -> None:
        title, said, secrets = one_line(item.title, LONGEST_TITLE), self._cleaned(item), list[Redaction]()
        at = item.started or next((turn.time for turn in item.turns if turn.time), written_at)
        origin = self._origin(format, item, said, at)
        if self.redacts:
            texts = [redact(text) for text in (title, *(turn.text for turn in said))]
            secrets = [one for _, found in texts for one in found]
            title, *clean = (text for text, _ in texts)
            said = [turn._replace(text=text) for turn, text in zip(said, clean, strict=True)]
        named = title or one_line(item.id)
        imported, path = self.origins.of(origin), self.origins.session(origin)
        known = set(imported.parts) if imported else set[str]()
        if not said:
            return self.skip(named, "it has no turns")
        if imported and not path:
            named_before = f" as {imported.path}" if imported.path else ""  # its name was to be forgotten, too
            return self.skip(named, f"imported before{named_before} and deleted since; it stays deleted")
        fresh = [turn.id for turn in said if turn.id not in known]
        if path is None:  # a new session
            new, report = said, self.report.added
            name = slug(title) or slug(transcript.first_words(said[0].text)) or "conversation"
            front = {"title": quoted(title), "assistant": item.assistant, "origin": quoted(origin)}
            path = f"sessions/{at:%Y}/{at:%Y-%m-%d-%H%M}-{name}.md"
            if not self.dry:
                head = "".join(f"{key}: {value}\n" for key, value in front.items() if value.strip('"'))
                path = transcript.create(self.folder, name, at, [written(said, at.date())], head)
        else:
            session = self.folder.memory(path) if fresh else None
            new = missing(said, known, session) if session else []
            report = self.report.updated if new else self.report.unchanged
            if session and new and not self.dry:
                self.folder.append(path, written(new, *transcript.last_said(session)))
        report.append(ImportedMemory(self.folder.name, path, len(new)))
        self._record(origin, path, fresh)
        if new:
            self._say_secrets(named, secrets)
        return None

    # -- notes ---------------------------------------------------------------------------------------------------

    def _note(self, note: ImportedNote, origin: str) -> None:
        """Give a note its own path, or the next free one; where the very same bytes stand there, they are the note. One that was
        imported before is brought up to date, unless a person changed or deleted it here."""
        imported, text = self.origins.of(origin), note.text
        if self.redacts:
            clean, secrets = redact(text.decode("utf-8", "surrogateescape"))
            text = clean.encode("utf-8", "surrogateescape")
            if not imported or imported.parts[-1] != digest(text, 16):
                self._say_secrets(note.path, secrets)
        if imported:
            return self._update(note.path, text, origin, imported.path, imported.parts[-1])
        standing = ((path, next(self.folder.standing(path), "")) for path in numbered(NOTES + note.path))
        path, place = next((path, place) for path, place in standing if not place or self.folder.read(place) == text)
        if not place and not self.dry:
            path = self.folder.create(path, text)
        report = self.report.unchanged if place else self.report.added
        report.append(ImportedMemory(self.folder.name, place or path, 0))
        self._record(origin, path, [digest(text, 16)])
        if path != NOTES + note.path:
            self.skip(note.path, f"taken as {path}: its own name is another note's")
        return None

    def _update(self, name: str, text: bytes, origin: str, path: str, before: str) -> None:
        """Bring the note at `path`, which had the digest `before`, up to date; where the new text lacks lines of what is here,
        that is kept in the archive."""
        place, now = next(self.folder.standing(path), None), digest(text, 16)
        if not place:
            return self.skip(name, "imported before and deleted or moved since; left so")
        here = self.folder.read(place)
        new = now != before and here != text
        if new and digest(here, 16) != before:
            return self.skip(name, f"changed, but so was {place} since it was imported, which stays as it is")
        if new and not self.dry:
            lines = iter(text.splitlines())
            if not all(line in lines for line in here.splitlines()):
                self.folder.create(f"{ARCHIVE}/{live(place)}", here)  # under the next free name
            if not self.folder.edit(place, lambda data: text if data == here else None):
                raise Changed(f"{place} changed on disk meanwhile; import again.")
        (self.report.updated if new else self.report.unchanged).append(ImportedMemory(self.folder.name, place, 0))
        return self._record(origin, path, [now] if now != before else [])


# -- turns as lines of a transcript --------------------------------------------------------------------------------------


def written(said: list[ImportedTurn], day: date | None, clock: str = "") -> str:
    """The turns as a transcript goes on with them behind a turn of `day` at `clock`: each of another day has its date."""
    lines = []
    for turn in said:
        own = needed_day(turn.time, day, clock) if turn.time else None
        lines.append(_line(turn, own))
        day, clock = own or day, f"{turn.time:%H:%M}" if turn.time else clock
    return "".join(lines)


def missing(said: list[ImportedTurn], known: set[str], session: Memory) -> list[ImportedTurn]:
    """The turns that `session` does not have yet; `known` are the ids of all that were imported into it before.

    Turns beyond the number of those known were written without being recorded, so the very words tell which they are.
    With no record at all, what comes before the last turn that is there was there too, and has been edited since.
    """

    def as_written(passage: Passage) -> tuple[str, str, str]:
        return passage.speaker, passage.time, passage.text

    there = Counter([as_written(passage) for passage in turns(session.lines, session.front_end)][len(known) :])
    new, found = list[ImportedTurn](), 0
    for turn in said:
        key = as_written(turns(_line(turn).split("\n"))[0])
        if turn.id in known:
            continue
        if there[key]:
            there[key] -= 1
            found = len(new)
        else:
            new.append(turn)
    return new if known else new[found:]


def _line(turn: ImportedTurn, day: date | None = None) -> str:
    return format_turn(turn.speaker, f"{turn.time:%H:%M}" if turn.time else "", turn.text, day)
