"""Every problem in a user's files, each with its remedy."""

import contextlib
import os
import re
from collections.abc import Iterator

from filemem.errors import FilememError, Problem
from filemem.store import saved_over
from filemem.store.folder import BOOKKEEPING, Folder, Progress, no_progress
from filemem.store.memory import (
    LARGEST,
    NAMELESS,
    REFERENCE,
    SOURCE_MARK,
    Memory,
    parse,
)
from filemem.store.paths import PROFILE, archived, live
from filemem.store.problems import problems_of
from filemem.text.plain import counted, one_line
from filemem.tools.grep import text_file

OLD_JOURNAL = "forgetting"  # in which earlier versions noted what they deleted
_COPY = re.compile(
    r"(?P<stem>.+?)"
    r"(?:\.sync-conflict-[\w-]+"
    r"| \([^()]*(?:conflicted copy|case conflict|冲突)[^()]*\))"
    r"(?P<end>\.\w+)$",
    re.IGNORECASE,
)
"""The name of a copy that a program for sharing files has made."""


def problems(folder: Folder, progress: Progress = no_progress) -> list[Problem]:
    """Return the problems of every memory and of what lies among them.

    They come by path and line. `progress` is told how many files are checked.
    """
    paths = folder.paths()
    references = _References(folder, paths)
    found = [*folder.strays(), *_bookkeeping_problems(folder), *_saved_over(folder)]
    for done, path in enumerate(paths, 1):
        found += _conflict_copy(path)
        try:
            memory = parse(path, folder.read(path, LARGEST + 1))
            found += [*problems_of(memory), *references.problems(memory)]
        except (FilememError, OSError) as error:
            what = str(error).rstrip(".")
            remedy = "put its permissions right, or delete it"
            found.append(Problem(path, 1, what, remedy))
        progress(done, len(paths))
    return sorted(found)


def _conflict_copy(path: str) -> Iterator[Problem]:
    match = _COPY.match(path)
    if match:
        original = one_line(match["stem"] + match["end"])
        yield Problem(
            path,
            1,
            "a copy that a program for sharing files made where two machines had "
            "changed it",
            f"bring both together in {original}, then delete this one",
        )


def _bookkeeping_problems(folder: Folder) -> Iterator[Problem]:
    place = folder.bookkeeping()
    if os.path.lexists(place) and (os.path.islink(place) or not os.path.isdir(place)):
        what = "this is not a folder, so nothing can be kept here"
        yield Problem(BOOKKEEPING, 1, what, "rename it")
    with contextlib.suppress(FilememError):
        if os.path.lexists(folder.bookkeeping(OLD_JOURNAL)):
            remedy = "ask filemem forget for it again, then delete this file"
            what = "an earlier version was cut off in a forget"
            yield Problem(f"{BOOKKEEPING}/{OLD_JOURNAL}", 1, what, remedy)


def _saved_over(folder: Folder) -> Iterator[Problem]:
    """Yield a problem for each file that lost turns, to an editor perhaps."""
    for path, turns in saved_over.lost(folder).items():
        first = one_line(turns[0].partition(": ")[2], 60)
        count = counted(len(turns), "turn that was kept is", "turns that were kept are")
        yield Problem(
            path,
            1,
            f"{count} not in it any more, saved over by an editor perhaps: {first}",
            f"put back with filemem restore {one_line(path)}, or if you deleted them "
            f"yourself, delete {BOOKKEEPING}/{saved_over.SAID}",
        )


class _References:
    """Finds what front matter names and is nowhere, in the archive either."""

    KEYS = ("source", "supersedes", "superseded_by")

    def __init__(self, folder: Folder, paths: list[str]) -> None:
        self._folder = folder
        self._paths = set(paths)
        self._line_counts: dict[str, int] = {}

    def problems(self, memory: Memory) -> Iterator[Problem]:
        for key in self.KEYS:
            value = memory.metadata.get(key)
            if value is None:
                continue
            entries = value if isinstance(value, list) else [value]
            for entry in map(str, entries):
                fault = self._fault(entry)
                if fault:
                    yield Problem(
                        memory.path,
                        memory.line_of(key),
                        f"{key} names {one_line(entry, 80)}, which {fault}",
                        "correct the path, or remove the key",
                    )
        for number, line in enumerate(memory.lines, 1):
            mark = SOURCE_MARK.search(line) if memory.path == PROFILE else None
            fault = self._fault(mark[1]) if mark else ""
            if mark and fault:
                what = f"the line rests on {one_line(mark[1], 80)}, which {fault}"
                yield Problem(PROFILE, number, what, "correct the path, or the line")

    def _fault(self, entry: str) -> str:
        """Return what is wrong with a reference; empty if it leads to a line."""
        if entry == NAMELESS:
            return ""
        match = REFERENCE.match(entry)
        if not match:
            return "is not a path"
        named = (match["path"], live(match["path"]), archived(match["path"]))
        found = [path for path in named if path in self._paths]
        if not found:
            return "does not exist"
        if not match["line"]:
            return ""
        try:
            count = self._count_lines(found[0])
        except (FilememError, OSError):
            return "cannot be read"
        if 1 <= int(match["line"]) <= count:
            return ""
        return f"has only {count} lines"

    def _count_lines(self, path: str) -> int:
        if path not in self._line_counts:
            self._line_counts[path] = len(text_file(self._folder, path).lines)
        return self._line_counts[path]
