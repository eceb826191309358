"""Taking what a parser yields into a store: each conversation a session, each note a memory, each of them once."""

import contextlib
import errno
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, tzinfo
from itertools import count
from typing import Any, NamedTuple

from filemem.errors import Changed, FilememError, NotFound, Refused
from filemem.files import config, safe, transcript
from filemem.files.config import ConfigError
from filemem.files.folder import Folder, StoreFolder, numbered
from filemem.files.front import quoted
from filemem.files.journal import Imported, Origins
from filemem.files.memory import ARCHIVE, Memory, live, slug
from filemem.files.passages import Passage, format_turn, needed_day, turns
from filemem.importers import agent_logs, chatgpt, claude, locomo, markdown, openai_messages
from filemem.importers.exports import ImportedConversation, ImportedNote, ImportedTurn, Seen, Skipped
from filemem.text.plain import digest, escape_controls, one_line
from filemem.text.redaction import OwnPatterns, Redaction, kinds, redact

Parser = Callable[[str, tzinfo | None, Seen], Iterable[ImportedConversation | ImportedNote | Skipped]]
FORMATS: dict[str, Parser] = {
    "locomo": locomo.parse,
    "chatgpt": chatgpt.parse,
    "claude": claude.parse,
    "openai-jsonl": openai_messages.lines_of_messages,
    "claude-code": agent_logs.claude_code,
    "codex": agent_logs.codex,
    "agents-sessions": openai_messages.agents_sessions,
    "markdown": markdown.parse,
}
NOTES = "notes/"
CONFIGURED = "imported.json"
OPENING = 2  # turns with which conversations of several days may begin alike
LONGEST_NAME = 100  # characters of a speaker's name
LONGEST_TITLE = 200  # characters of a title
_LINE_ENDS = re.compile("\r\n|[\r\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_NO_SUCH_NAME = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)


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
    raise NotFound(f"there is no format {one_line(format, 40)}; take one of {', '.join(FORMATS)}.")


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
    user: str | None = None,
    zone: tzinfo | None = None,
    seen: Seen = lambda done, of: None,
    dry_run: bool = False,
    with_secrets: bool = False,
) -> ImportReport:
    """Take into `store` what the export at `path` holds and the store does not; a second run changes nothing.

    `format` is what `find_parser` knows. `user` gets what names no user of its own (only LoCoMo names them); times are written
    in `zone` (None: this machine's); `seen` hears how much of how much has been read. Secrets are taken out, and reported,
    unless `with_secrets` or the user's settings keep them. Raises NotFound, Refused or FilememError where `path` is no such
    export. What was taken before an error stays; the next run goes on from there.
    """
    intake = _Intake(store, user, dry_run, with_secrets)
    intake.file(format, path, zone, seen)
    return intake.report


def take_configured(folder: Folder, progress: Callable[[int, int], None], *, dry: bool = False) -> ImportReport:
    """Take in what `imports:` in `filemem.yaml` lists for this user: files that changed since the last time.

    `.filemem/imported.json` has the size and times of each file that was read to its end; without it all are read again, and
    nothing is taken twice. What cannot be read is said in the report and stops nothing else.
    """
    intake = _Intake(StoreFolder(folder.store, folder.trust), folder.name, dry, False)
    known: dict[str, list[int]] = {}
    with contextlib.suppress(FilememError, OSError, ValueError, RecursionError, TypeError):
        known = dict(json.loads(safe.read(folder.bookkeeping(CONFIGURED))))
    every = _configured(folder, intake.report.skipped)
    waiting = [(format, path, mark) for format, path, mark in every if not mark or known.get(path) != mark]
    for number, (format, path, mark) in enumerate(waiting):
        progress(number, len(waiting))
        try:
            intake.file(format, path, None, lambda done, of: None)
        except (FilememError, OSError) as error:
            intake.report.skipped.append(Skipped(one_line(path), str(error)))
            continue
        known[path] = mark
    if waiting and not dry:
        with folder.locked():
            safe.write(folder.bookkeeping(CONFIGURED), json.dumps(known).encode("utf-8", "surrogateescape"))
    return intake.report


def _configured(folder: Folder, skipped: list[Skipped]) -> Iterator[tuple[str, str, list[int]]]:
    """What the settings list for this user, folders of sessions file by file: the format, the path, and what tells that it
    changed, which a folder has not. Raises ConfigError for an entry without sense."""
    for entry in config.of(folder).imports:
        format, path = next((key, entry[key]) for key in entry if key != "user")
        try:
            find_parser(format)
        except NotFound as error:
            raise ConfigError(f"{config.NAME}: imports: {error}") from None
        if "user" not in entry and len(StoreFolder(folder.store).users()) > 1:
            raise ConfigError(
                f"{config.NAME}: the store has several users; say in imports whose {format} is: `user: NAME`."
            )
        if entry.get("user", folder.name) != folder.name:
            continue
        place = os.path.realpath(os.path.join(folder.store, os.path.expanduser(path)))
        try:
            sessions = agent_logs.FILES.get(format)  # of which each file stands alone
            for one in agent_logs.session_files(place, sessions) if sessions else [place]:
                found = os.stat(one)
                mark = [] if os.path.isdir(one) else [found.st_size, found.st_mtime_ns, found.st_ctime_ns]
                yield format, one, mark
        except (FilememError, OSError) as error:
            skipped.append(Skipped(one_line(path), str(error)))


def add_conversation(folder: Folder, messages: Iterable[Mapping[str, Any]], at: datetime, id: str, title: str) -> str:
    """Keep what is new of a conversation of OpenAI-style messages; returns its session's path, empty where nobody spoke.

    Raises Refused where it was kept before and a person has deleted it.
    """
    said = openai_messages.at_hand(messages, id, title, at)
    if said is None:
        return ""
    report = ImportReport([], [], [], [])
    person = _Person(folder, report, False, False)
    person.take(said if id else said._replace(id=person.own_id(said, at)), "added", "", at)
    taken = [*report.added, *report.updated, *report.unchanged]
    if not taken:
        raise Refused(f"{one_line(said.title or said.turns[0].text, 80)}: {report.skipped[-1].why}.")
    return taken[0].path


class _Intake:
    """An import of one or more files into a store, with one report; who was met looks once for what is there."""

    def __init__(self, store: StoreFolder, user: str | None, dry: bool, with_secrets: bool) -> None:
        self.store, self.user, self.how = store, user, (dry, with_secrets)
        self.report = ImportReport([], [], [], [])
        self.people: dict[str, _Person] = {}

    def file(self, format: str, path: str, zone: tzinfo | None, seen: Seen) -> None:
        """Take in one export."""
        path = os.path.realpath(path)
        if not os.path.exists(path):
            raise NotFound(f"{one_line(path)} does not exist; name the export's file or folder.")
        root = os.path.realpath(self.store.root)
        if os.path.isdir(path) and os.path.commonpath([path, root]) in (path, root):
            raise Refused(f"{one_line(path)} holds the store or lies in it; import from a folder of its own.")
        written = datetime.fromtimestamp(int(os.stat(path).st_mtime), UTC).astimezone(zone)
        for item in find_parser(format)(path, zone, seen):
            if isinstance(item, Skipped):
                self.report.skipped.append(Skipped(one_line(item.what), one_line(item.why)))
                continue
            name = (item.user if isinstance(item, ImportedConversation) else None) or self.user
            if not name:
                raise FilememError(
                    f"{one_line(path)} does not say whose memories these are; name the user with --user."
                )
            try:
                if name not in self.people:
                    self.people[name] = _Person(self.store.folder(name), self.report, *self.how)
                self.people[name].take(item, format, path, written)
            except (Refused, Changed) as error:
                title = item.path if isinstance(item, ImportedNote) else item.title or item.id
                self.report.skipped.append(Skipped(one_line(title), str(error)))


class _Person:
    """The import into one user's folder; a dry run reports the same and writes nothing."""

    def __init__(self, folder: Folder, report: ImportReport, dry: bool, with_secrets: bool) -> None:
        self.folder = folder
        self.report = report
        self.dry = dry
        self.redacts, self.own = config.of(folder).redact and not with_secrets, config.of(folder).own
        self.origins = Origins(folder)
        self._planned: set[str] = set()  # origins that a dry run would have added

    def own_id(self, said: ImportedConversation, at: datetime) -> str:
        """An id for a conversation without one: that of the one kept before which it goes on, or which holds it already.

        One of another day goes on only where more than its opening is the same: people say hello every day.
        """
        ids = [turn.id for turn in cleaned(said, self.folder.name).turns]
        day = f"{said.started or at:%Y-%m-%d}"
        for number in count(1):
            known = self.origins.of(f"added:{said.id}-{number}")
            if known is None:
                return f"{said.id}-{number}"
            alike = all(one == other for one, other in zip(known.parts, ids, strict=False))
            if alike and (day in known.path or not known.path or min(len(known.parts), len(ids)) > OPENING):
                return f"{said.id}-{number}"
        raise AssertionError("there is always a next number")

    def take(self, item: ImportedConversation | ImportedNote, format: str, root: str, written: datetime) -> None:
        """Write what is new of one conversation, or of one note of the folder `root`, under the user's lock; where nothing else
        says when a conversation was, it was when its export was `written`."""
        with contextlib.nullcontext() if self.dry else self.folder.locked():
            if isinstance(item, ImportedConversation):
                id = item.id if item.id == one_line(item.id) else _digest(os.fsencode(escape_controls(item.id)))
                first = next((turn.time for turn in item.turns if turn.time), written)
                self._conversation(item, f"{format}:{id}", item.started or first)
            else:
                id = item.id or _digest(os.fsencode(os.path.join(root, item.path)))
                self._note(item, f"{format}:{id}")

    # -- conversations -------------------------------------------------------------------------------------------

    def _conversation(self, item: ImportedConversation, origin: str, at: datetime) -> None:
        conversation = cleaned(item, self.folder.name)
        conversation, secrets = without_secrets(conversation, self.own) if self.redacts else (conversation, [])
        title, ids = conversation.title or one_line(item.id), [turn.id for turn in conversation.turns]
        imported, path = self.origins.of(origin), self.origins.session(origin)
        known = set(imported.parts) if imported else set[str]()
        if not ids:
            self._skip(title, "it has no turns")
        elif origin in self._planned:
            self._skip(title, "it stands in this export twice")
        elif imported and not path:
            self._skip(title, f"imported before{_as(imported.path)} and deleted since; it stays deleted")
        else:
            new = self._continue(path, conversation, known) if path else len(ids)
            path = path or self._begin(conversation, origin, at)
            self._record(origin, path, [id for id in ids if id not in known])
            if new:
                self._say_secrets(title, secrets)
            if item.left:
                self._skip(title, item.left)

    def _begin(self, conversation: ImportedConversation, origin: str, at: datetime) -> str:
        """Write a new session; returns its path."""
        title, said = conversation.title, conversation.turns
        name = slug(title) or slug(transcript.first_words(said[0].text)) or "conversation"
        front = f"title: {quoted(title)}\n" if title else ""
        front += f"assistant: {conversation.assistant}\n" if conversation.assistant else ""
        path = f"sessions/{at:%Y}/{at:%Y-%m-%d-%H%M}-{name}.md"
        if not self.dry:
            lines = written(said, at.date())
            path = transcript.create(self.folder, name, at, [lines], f"{front}origin: {quoted(origin)}\n")
        self.report.added.append(ImportedMemory(self.folder.name, path, len(said)))
        return path

    def _continue(self, path: str, conversation: ImportedConversation, known: set[str]) -> int:
        """Append to a session what it has not yet; returns the number of turns."""
        new: list[ImportedTurn] = []
        if any(turn.id not in known for turn in conversation.turns):
            session = self.folder.memory(path)
            new = missing(conversation, known, session)
            if new and not self.dry:
                self.folder.append(path, written(new, *transcript.last_said(session)))
        report = self.report.updated if new else self.report.unchanged
        report.append(ImportedMemory(self.folder.name, path, len(new)))
        return len(new)

    # -- notes ---------------------------------------------------------------------------------------------------

    def _note(self, note: ImportedNote, origin: str) -> None:
        imported = self.origins.of(origin)
        if self.redacts:
            text, secrets = redact(note.text.decode("utf-8", "surrogateescape"), self.own)
            note = note._replace(text=text.encode("utf-8", "surrogateescape"))
            if not imported or imported.parts[-1] != _digest(note.text):
                self._say_secrets(note.path, secrets)
        try:
            if imported:
                self._compare(note, origin, imported)
            else:
                self._put(note, origin)
        except OSError as error:
            if error.errno not in _NO_SUCH_NAME:
                raise
            self._skip(note.path, f"its name cannot be used here: {error.strerror}")

    def _put(self, note: ImportedNote, origin: str) -> None:
        """Give a note its own path, or the next free one; where the very same bytes stand there, they are the note."""
        for path in numbered(f"{NOTES}{_safe(note.path)}"):
            place = self.origins.place(path)
            if place and self.folder.read(place) != note.text:
                continue
            if not place and not self.dry:
                self._create(path, note.text)
            report = self.report.unchanged if place else self.report.added
            report.append(ImportedMemory(self.folder.name, place or path, 0))
            self._record(origin, path, [_digest(note.text)])
            if path != NOTES + note.path:
                self._skip(note.path, f"taken as {path}: its own name is another note's or cannot be used")
            return

    def _compare(self, note: ImportedNote, origin: str, imported: Imported) -> None:
        """Bring a note that was imported before up to date, unless a person changed or deleted it here."""
        digest, place = _digest(note.text), self.origins.place(imported.path)
        if not place:
            self._skip(note.path, f"imported before{_as(imported.path)} and deleted or moved since; left so")
            return
        here = self.folder.read(place)
        if digest != imported.parts[-1] and here != note.text and _digest(here) != imported.parts[-1]:
            self._skip(note.path, f"changed, but so was {place} since it was imported, which stays as it is")
            return
        new = digest != imported.parts[-1] and here != note.text
        if new and not self.dry:
            self._replace(place, here, note.text)
        (self.report.updated if new else self.report.unchanged).append(ImportedMemory(self.folder.name, place, 0))
        self._record(origin, imported.path, [digest] if digest != imported.parts[-1] else [])

    def _replace(self, path: str, old: bytes, new: bytes) -> None:
        """Put `new` in the place of `old`; where it lacks lines of `old`, that is kept in the archive."""
        if not _extends(old, new):
            self._create(
                f"{ARCHIVE}/{next(name for name in numbered(live(path)) if not self.origins.place(name))}", old
            )
        if not self.folder.edit(path, lambda data: new if data == old else None):
            raise Changed(f"{path} changed on disk meanwhile; import again.")

    def _create(self, path: str, data: bytes) -> None:
        """Write a new memory of these bytes."""
        place = self.folder.absolute(path)
        safe.make_folder(place.folder)
        safe.create(place, data)

    # -- both ----------------------------------------------------------------------------------------------------

    def _record(self, origin: str, path: str, parts: list[str]) -> None:
        """Remember what was taken; on a dry run for this run alone."""
        if self.dry:
            self._planned.add(origin)
        elif parts:
            self.origins.add(origin, path, parts)

    def _say_secrets(self, what: str, secrets: list[Redaction]) -> None:
        """Tell what was taken out of a memory."""
        if secrets:
            count = "one secret was" if len(secrets) == 1 else f"{len(secrets):,} secrets were"
            self._skip(what, f"taken, but {count} left out: {kinds(secrets)}; --with-secrets takes all")

    def _skip(self, what: str, why: str) -> None:
        self.report.skipped.append(Skipped(one_line(what), one_line(why)))


def _as(path: str) -> str:
    """How a report names a deleted memory, unless its name was to be forgotten, too."""
    return f" as {path}" if path else ""


def _safe(path: str) -> str:
    """A note's path with a hyphen for each character that no path in a store may hold."""
    return "".join("-" if c == "\\" or unicodedata.category(c) in ("Cc", "Cs") else c for c in path)


def _extends(old: bytes, new: bytes) -> bool:
    """Does `new` hold every line of `old`, in order?"""
    lines = iter(new.splitlines())
    return all(line in lines for line in old.splitlines())


def _digest(data: bytes) -> str:
    """Sixteen hexadecimal digits that name these bytes."""
    return digest(data, 16)


# -- turns as lines of a transcript --------------------------------------------------------------------------------------


def cleaned(conversation: ImportedConversation, person: str) -> ImportedConversation:
    """The conversation with `person` as the name of its own speaker.

    Line ends of every kind become newlines; other control characters and lone surrogates become U+FFFD. Turns whose
    text is empty are left out, and ids are made unique, so that each names one turn.
    """
    said, seen = [], Counter[str]()
    for turn in conversation.turns:
        text = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", _LINE_ENDS.sub("\n", turn.text))
        if text.strip():
            seen[turn.id] += 1
            id = turn.id if seen[turn.id] == 1 else f"{turn.id}#{seen[turn.id]}"
            speaker = _one_line(turn.speaker, LONGEST_NAME) or person
            said.append(turn._replace(speaker=speaker, text=text, id=_one_line(id, LONGEST_TITLE)))
    return conversation._replace(title=_one_line(conversation.title, LONGEST_TITLE), turns=said)


def without_secrets(
    conversation: ImportedConversation, own: OwnPatterns
) -> tuple[ImportedConversation, list[Redaction]]:
    """The conversation without keys, passwords and the like, and which there were."""
    title, gone = redact(conversation.title, own)
    said = []
    for turn in conversation.turns:
        text, found = redact(turn.text, own)
        said.append(turn._replace(text=text))
        gone += found
    return conversation._replace(title=title, turns=said), gone


def written(said: list[ImportedTurn], day: date | None, clock: str = "") -> str:
    """The turns as a transcript goes on with them behind a turn of `day` at `clock`: each of another day has its date."""
    lines = []
    for turn in said:
        own = needed_day(turn.time, day, clock) if turn.time else None
        lines.append(format_turn(turn.speaker, _clock(turn), turn.text, own))
        day, clock = own or day, _clock(turn) or clock
    return "".join(lines)


def missing(conversation: ImportedConversation, known: set[str], session: Memory) -> list[ImportedTurn]:
    """The turns that `session` does not have yet; `known` are the ids of all that were imported into it before.

    Turns beyond the number of those known were written without being recorded, so the very words tell which they are.
    With no record at all, what comes before the last turn that is there was there too, and has been edited since.
    """
    there = Counter([_said(passage) for passage in turns(session.lines, session.front_end)][len(known) :])
    new, found = list[ImportedTurn](), 0
    for turn in conversation.turns:
        key = _key(turn)
        if turn.id in known:
            continue
        if there[key]:
            there[key] -= 1
            found = len(new)
        else:
            new.append(turn)
    return new if known else new[found:]


def _key(turn: ImportedTurn) -> tuple[str, str, str]:
    """A turn as it reads once it is written."""
    return _said(turns(format_turn(turn.speaker, _clock(turn), turn.text).split("\n"))[0])


def _said(passage: Passage) -> tuple[str, str, str]:
    """Who said what, and when."""
    return passage.speaker, passage.time, passage.text


def _clock(turn: ImportedTurn) -> str:
    """A turn's time of day, or nothing."""
    return f"{turn.time:%H:%M}" if turn.time else ""


def _one_line(text: str, longest: int) -> str:
    """`text` on one line, without control characters, of at most `longest` characters."""
    return " ".join(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", _LINE_ENDS.sub(" ", text)).split())[:longest].strip()
