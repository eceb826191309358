"""Every problem in one user's files: what is wrong, where, and how to fix it."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator

from filemem.errors import FilememError, Problem
from filemem.files import journal, transcript
from filemem.files.folder import BOOKKEEPING, Folder
from filemem.files.memory import LARGEST, REFERENCE, Memory, counterpart
from filemem.forgetting.deletion import MARK, NAMELESS
from filemem.grep import lines_of
from filemem.text.plain import counted, one_line

_COPY = re.compile(
    r"(?P<stem>.+?)(?:\.sync-conflict-[\w-]+| \([^()]*(?:conflicted copy|case conflict|冲突)[^()]*\))(?P<end>\.\w+)$",
    re.IGNORECASE,
)


def problems(folder: Folder, progress: Callable[[int, int], None] = lambda done, total: None) -> list[Problem]:
    """The problems of every memory and of what lies among them, by path and line."""
    paths = folder.paths()
    lengths: dict[str, int | None] = dict.fromkeys(paths)
    found = [*folder.strays(), *_beside(folder)]
    for done, path in enumerate(paths, 1):
        if match := _COPY.match(path):
            what = "a copy that a program for sharing files made where two machines had changed it"
            remedy = f"bring both together in {one_line(match['stem'] + match['end'])}, then delete this one"
            found.append(Problem(path, 1, what, remedy))
        try:
            memory = Memory(path, folder.read(path, LARGEST + 1))
            found += [*memory.problems, *_references(folder, memory, lengths)]
        except (FilememError, OSError) as error:
            found.append(Problem(path, 1, str(error).rstrip("."), "put its permissions right, or delete it"))
        if done % 100 == 0 or done == len(paths):
            progress(done, len(paths))
    return sorted(found)


def _beside(folder: Folder) -> Iterator[Problem]:
    """What is wrong with the bookkeeping, and what its logs say is amiss: a forgetting that was killed, turns that an editor has
    saved over."""
    place = folder.bookkeeping()
    if os.path.lexists(place) and (os.path.islink(place) or not os.path.isdir(place)):
        yield Problem(BOOKKEEPING, 1, "this is not a folder, so nothing can be kept here", "rename it")
    with contextlib.suppress(FilememError):
        if os.path.lexists(folder.bookkeeping(MARK)):
            remedy = "give the same filemem forget again, which finishes it"
            yield Problem(f"{BOOKKEEPING}/{MARK}", 1, "a forgetting was cut off", remedy)
    for path, gone in transcript.lost(folder).items():
        first = one_line(gone[0].partition(": ")[2], 60)
        count = counted(len(gone), "turn that was kept is", "turns that were kept are")
        mine = f"if you deleted them yourself, delete {BOOKKEEPING}/{journal.SAID}"
        remedy = f"put back with filemem restore {one_line(path)}, or {mine}"
        yield Problem(path, 1, f"{count} not in it any more, saved over by an editor perhaps: {first}", remedy)


def _references(folder: Folder, memory: Memory, lengths: dict[str, int | None]) -> Iterator[Problem]:
    """The paths that a memory's front matter names and that lead nowhere, in the archive either; `lengths` has the lines of each
    memory, as far as they have been counted."""

    def wrong(entry: str) -> str:
        match = REFERENCE.match(entry)
        if not match:
            return "is not a path"
        where = next((path for path in (match["path"], counterpart(match["path"])) if path in lengths), None)
        if where is None:
            return "does not exist"
        if not match["line"]:
            return ""
        try:
            count = lengths[where] = lengths[where] or len(lines_of(folder, where))
        except (FilememError, OSError):
            return "cannot be read"
        return "" if 1 <= int(match["line"]) <= count else f"has only {count} lines"

    for key in ("source", "supersedes", "superseded_by"):
        value = memory.particular(key)
        for entry in map(str, value if isinstance(value, list) else [] if value is None else [value]):
            if entry != NAMELESS and (fault := wrong(entry)):
                what = f"{key} names {one_line(entry, 80)}, which {fault}"
                yield Problem(memory.path, memory.line_of(key), what, "correct the path, or remove the key")
