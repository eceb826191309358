"""Every problem in one user's files: what is wrong, where, and how to put it right."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator

from filemem.errors import FilememError, Problem
from filemem.files import journal, passages, safe, transcript
from filemem.files.folder import BOOKKEEPING, Folder
from filemem.files.memory import LARGEST, REFERENCE, Memory, counterpart
from filemem.forgetting.deletion import MARK, NAMELESS
from filemem.grep import reading
from filemem.text.plain import one_line

_COPY = re.compile(
    r"(?P<stem>.+?)(?:\.sync-conflict-[\w-]+| \([^()]*(?:conflicted copy|case conflict|冲突)[^()]*\))(?P<end>\.\w+)$",
    re.IGNORECASE,
)


def problems(folder: Folder, progress: Callable[[int, int], None] = lambda done, total: None) -> list[Problem]:
    """The problems of every memory and of what lies among them, by path and line."""
    paths = folder.paths()
    known = set(paths)
    lengths: dict[str, int] = {}
    found = [*folder.strays(), *_no_bookkeeping(folder), *_cut_off(folder), *_lost(folder), *_hooks(folder)]
    for done, path in enumerate(paths, 1):
        try:
            memory = Memory(path, folder.read(path, LARGEST + 1))
        except (FilememError, OSError) as error:
            found.append(Problem(path, 1, str(error).rstrip("."), "put its permissions right, or delete it"))
            continue
        found += _copies(path)
        found += memory.problems
        found += _references(folder, memory, known, lengths)
        if done % 100 == 0 or done == len(paths):
            progress(done, len(paths))
    return sorted(found)


def _no_bookkeeping(folder: Folder) -> list[Problem]:
    """What stands where the program keeps its own folder: nothing can be written until it is gone."""
    place = folder.bookkeeping()
    if os.path.lexists(place) and (os.path.islink(place) or not os.path.isdir(place)):
        return [Problem(BOOKKEEPING, 1, "this is not a folder, so nothing can be kept here", "rename it")]
    return []


def _cut_off(folder: Folder) -> list[Problem]:
    """A forgetting that was killed: what it set out to delete may stand somewhere still."""
    with contextlib.suppress(FilememError):
        if safe.exists(folder.bookkeeping(MARK)):
            remedy = "give the same filemem forget again, which finishes it"
            return [Problem(f"{BOOKKEEPING}/{MARK}", 1, "a forgetting was cut off", remedy)]
    return []


def _lost(folder: Folder) -> Iterator[Problem]:
    """Turns that were kept and that an editor has saved over."""
    for path, gone in transcript.lost(folder).items():
        first = one_line(passages.as_shown(gone[0])[0].split(": ", 1)[-1], 60)
        count = "a turn that was kept is" if len(gone) == 1 else f"{len(gone):,} turns that were kept are"
        remedy = (
            f"put back with filemem restore {one_line(path)}, or let go with filemem restore --let-go {one_line(path)}"
        )
        yield Problem(path, 1, f"{count} not in it any more, saved over by an editor perhaps: {first}", remedy)


def _hooks(folder: Folder) -> Iterator[Problem]:
    """What a coding agent's hooks, which never say a word there, could not do."""
    for event, error in journal.failed_hooks(folder).items():
        what = f"the hook {one_line(event, 40)} of a coding agent failed: {one_line(error)}"
        yield Problem(f"{BOOKKEEPING}/{journal.HOOKS}", 1, what, "try the hooks with filemem mcp check")


def _copies(path: str) -> list[Problem]:
    """A second version of a memory that Syncthing, Dropbox or Nextcloud has put beside it; both are read and searched."""
    match = _COPY.match(path)
    if not match:
        return []
    remedy = f"bring both together in {one_line(match['stem'] + match['end'])}, then delete this one"
    return [Problem(path, 1, "a copy that a program for sharing files made where two machines had changed it", remedy)]


def _references(folder: Folder, memory: Memory, known: set[str], lengths: dict[str, int]) -> list[Problem]:
    """The paths that a memory's front matter names and that lead nowhere."""
    found = []
    for key in ("source", "supersedes", "superseded_by", "partly_superseded_by"):
        value = memory.particular(key)
        for entry in value if isinstance(value, list) else [value] if value is not None else []:
            if entry == NAMELESS:
                continue
            match = REFERENCE.match(str(entry))
            wrong = _wrong_reference(folder, match["path"], match["line"], known, lengths) if match else "is not a path"
            if wrong:
                what = f"{key} names {one_line(str(entry), 80)}, which {wrong}"
                found.append(Problem(memory.path, memory.line_of(key), what, "correct the path, or remove the key"))
    return found


def _wrong_reference(folder: Folder, path: str, line: str | None, known: set[str], lengths: dict[str, int]) -> str:
    """What is wrong with `path:line`; empty where it leads somewhere, in the archive too."""
    where = next((candidate for candidate in (path, counterpart(path)) if candidate in known), None)
    if where is None:
        return "does not exist"
    if line is None:
        return ""
    if where not in lengths:
        try:
            lengths[where] = reading.count(folder, where)
        except (FilememError, OSError):
            return "cannot be read"
    return f"has only {lengths[where]} lines" if int(line) > lengths[where] or int(line) < 1 else ""
