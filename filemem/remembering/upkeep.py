"""The profile on disk, kept in step with the memories that its lines rest on; what in it is a person's is only reported."""

import contextlib
import datetime as dt
import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import archive, config
from filemem.files.facts import plain
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE
from filemem.remembering import ledger, profile
from filemem.remembering.comparison import Fact, FactIndex, States, display, said_in, same_value
from filemem.remembering.ledger import Ledger
from filemem.text.statements.relations import Topic
from filemem.text.statements.sentences import is_chinese


class Replacement(NamedTuple):
    """What a new memory settles, its words, and the facts that it supersedes."""

    path: str
    states: States
    text: str
    before: tuple[Fact, ...]


class ProfileSync(NamedTuple):
    """What was done to the profile: lines for the ledger, whether the file changed, sentences for the person."""

    entries: list[dict[str, Any]]
    changed: bool
    notes: list[str]


# -- what is the program's --------------------------------------------------------------------------------------------


def revise(folder: Folder, book: Ledger, changes: list[profile.ProfileChange]) -> ProfileSync:
    """Bring the lines of new memories in."""
    lines = {one.path: ledger.digest(one.line) for one in changes}
    said: list[str] = []

    def own(path: str, line: str) -> bool:
        name = ledger.digest(line)
        return name == lines.get(path) or name in book.lines.get(path, ())

    def change(data: bytes) -> bytes:
        text, said[:] = profile.revised(data.decode(), changes, own, config.of(folder).profile_tokens)
        return text.encode()

    if not changes:
        return ProfileSync([], False, [])
    if _read_only(folder):
        return ProfileSync([], False, [f"{PROFILE} says that it is read only, and is as it was"])
    try:
        with folder.locked():
            if not list(archive.places(folder, PROFILE)):
                if not any(one.heading for one in changes):
                    return ProfileSync([], False, [])
                folder.create(PROFILE, f"# {display(folder.name)}\n")
            changed = folder.edit(PROFILE, change)
        standing = {path for _, path, _ in profile.marked(folder.read(PROFILE).decode())}
    except (FilememError, UnicodeDecodeError) as error:
        return ProfileSync([], False, [f"{PROFILE} is as it was: {error}"])
    entries = [{"line": path, "digest": name} for path, name in lines.items() if path in standing]
    return ProfileSync(entries, bool(changed), said)


def sync_profile(folder: Folder, book: Ledger, today: dt.date) -> ProfileSync:
    """Have the program's lines follow the memories behind them: changed, deleted or set aside by a person, or expired."""
    try:
        if _read_only(folder) or not profile.marked(folder.memory(PROFILE).text):
            return ProfileSync([], False, [])
        said = list[str]()

        def own(path: str, line: str) -> bool:
            return ledger.digest(line) in book.lines.get(path, ())

        def change(data: bytes) -> bytes:
            now = functools.partial(_line_now, folder, book, today)
            text, said[:] = profile.followed(data.decode(), own, now)
            new = {*profile.marked(text)} - {*profile.marked(data.decode())}
            # Noted first, so that a run that is killed here leaves no line of the program's that it does not know.
            if new:
                book.add({"line": path, "digest": ledger.digest(line)} for _, path, line in new)
            return text.encode()

        return ProfileSync([], bool(folder.edit(PROFILE, change)), said)
    except (FilememError, UnicodeDecodeError):
        return ProfileSync([], False, [])


def _read_only(folder: Folder) -> bool:
    """Does the profile say that the program is to leave it alone?"""
    with contextlib.suppress(FilememError):
        return folder.memory(PROFILE).front.get("read_only") is True
    return False


def _line_now(folder: Folder, book: Ledger, today: dt.date, path: str, line: str) -> str | None:
    """The line as its memory would have it now; None where that is gone, superseded or expired."""
    try:
        memory = folder.memory(next(archive.places(folder, path), path))
    except NotFound:
        return None
    until = memory.particular("valid_until")
    if memory.particular("superseded_by") or (until and until < today):
        return None
    if book.untouched(path, memory.data):
        return line
    speaker, text = said_in(memory)
    return profile.line(text, path, quoted=bool(speaker))


# -- what is a person's -----------------------------------------------------------------------------------------------


def contradicted(known: FactIndex, settled: Iterable[Replacement]) -> Iterator[str]:
    """A sentence for each line of the profile that is a person's and says otherwise, or names what holds no more."""
    found = list(settled)
    if not found:
        return
    try:
        memory = known.user.memory(PROFILE)
    except FilememError:
        return
    own = {number for number, *_ in profile.marked(memory.text)}
    now = {topic: (value, one) for one in found for topic, value in one.states}
    for number, line in enumerate(memory.lines, 1):
        said = plain(line.lstrip("-*+ "))
        if not said or number in own:
            continue
        states = ((now[topic], value) for topic, value in known.states(said) if topic in now)
        other = next((one for (new, one), value in states if not same_value(value, new)), None)
        if other:
            yield f"{PROFILE}:{number} is yours and says otherwise than {other.path}: {said}"
        elif old := _outdated(said, found):
            yield f"{PROFILE}:{number} is yours and still names {old[0]}; see {old[1]}: {said}"


def _outdated(said: str, settled: Iterable[Replacement]) -> tuple[str, str] | None:
    """A name of what was superseded that a line has and the new memory has not, and the path of that memory."""
    for one in settled:
        states = ((topic, value) for fact in one.before for topic, value in fact.states if topic in dict(one.states))
        for name in (name for topic, value in states for name in _names(value, topic)):
            whole = re.escape(name) if is_chinese(name) else rf"\b{re.escape(name)}\b"
            if re.search(whole, said, re.I) and not re.search(whole, one.text, re.I):
                return name, one.path
    return None


def _names(value: str, topic: Topic) -> list[str]:
    """What names a value: its words with a capital, the whole of a Chinese one, the one word of a favourite."""
    if is_chinese(value) or (topic[1].startswith("favourite ") and value.isalpha()):
        return [value]
    return [word for word in re.findall(r"[^\W\d_]{3,}", value) if word[0].isupper()]
