"""What a memory rests on, and whether that still stands: turns that were edited or deleted, memories that were superseded."""

from collections.abc import Iterable, Iterator

from filemem.errors import FilememError, Problem
from filemem.files import archive, facts
from filemem.files.archive import live
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, PROFILE, REFERENCE, Memory, is_archived, kind_of
from filemem.remembering import profile
from filemem.remembering.consolidation_log import ConsolidationLog, Origin, turn_digest

_GONE = "delete the line, or let filemem consolidate do it"
_LOOK = "see whether it still holds; then correct it, or delete it"


def problems(folder: Folder) -> Iterator[Problem]:
    """What memories rest on that does not stand any more, for a person to look at.

    Only memories as the program left them are checked, none that a person has edited.
    """
    log, seen, gone = ConsolidationLog(folder), dict[str, dict[str, int]](), dict[str, str]()
    for path, written in log.written.items():
        memory = archive.read(folder, path)
        if memory is None or not log.untouched(path, memory.data):
            continue
        named = [match for match in map(REFERENCE.match, facts.sources(memory)) if match]
        sessions = {live(match[1]) for match in named if kind_of(match[1]) == "sessions"}
        for what in _changed(folder, sessions, written.origins, seen):
            yield Problem(path, memory.line_of("source"), what, _LOOK)
    for path in folder.paths():
        if kind_of(path) in ("facts", "lessons", "summaries") and not is_archived(path):
            yield from _superseded(folder, path, gone)
    yield from _profile(folder, gone)


def _changed(
    folder: Folder, sessions: Iterable[str], origins: Iterable[Origin], seen: dict[str, dict[str, int]]
) -> Iterator[str]:
    """A phrase for the turns of a memory that are not in its sessions as they were."""
    sessions = sorted(sessions)
    for session in sessions:
        if session not in seen:
            seen[session] = _turns(folder, session)
    lost = [turn for turn, _ in origins if not any(turn in seen[session] for session in sessions)]
    if lost and all(seen[session] for session in sessions):  # that a source is gone altogether is told elsewhere
        yield f"{'a turn' if len(lost) == 1 else f'{len(lost)} turns'} that it rests on was edited or deleted since"


def _turns(folder: Folder, session: str) -> dict[str, int]:
    """The line of each turn of a session, by its digest."""
    memory = archive.read(folder, session)
    return {turn_digest(session, turn): turn.line for turn in (memory.passages if memory else ()) if turn.speaker}


def _superseded(folder: Folder, path: str, gone: dict[str, str]) -> Iterator[Problem]:
    """A problem for each superseded memory that a live one names as its source."""
    try:
        data = folder.read(path, LARGEST)
    except FilememError:
        return
    if b"source" not in data:
        return
    memory = Memory(path, data)
    for source in facts.sources(memory):
        match = REFERENCE.match(source)
        by = _replaced(folder, match[1], gone) if match and kind_of(match[1]) in ("facts", "lessons") else ""
        if by:
            yield Problem(path, memory.line_of("source"), f"it rests on {source}, which {by} superseded", _LOOK)


def _profile(folder: Folder, gone: dict[str, str]) -> Iterator[Problem]:
    """A problem for each line of the profile that rests on a memory which is gone or superseded."""
    memory = archive.read(folder, PROFILE)
    lines = profile.marked(memory.text) if memory else ()
    for number, path in ((number, path) for number, paths, _ in lines for path in paths):
        if not list(archive.places(folder, path)):
            yield Problem(PROFILE, number, f"the line rests on {path}, which is gone", _GONE)
            continue
        by = _replaced(folder, path, gone)
        if by:
            yield Problem(PROFILE, number, f"the line rests on {path}, which {by} superseded", _LOOK)


def _replaced(folder: Folder, path: str, gone: dict[str, str]) -> str:
    """What superseded a memory; empty where nothing did."""
    if path not in gone:
        memory = archive.read(folder, path)
        found = memory.particular("superseded_by") if memory and b"superseded_by" in memory.data else None
        gone[path] = str(found or "")
    return gone[path]
