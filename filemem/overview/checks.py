"""Every problem in a user's files, each with its remedy."""

import contextlib
import datetime as dt
import re
from collections.abc import Iterator
from typing import NamedTuple

from filemem.chat.core_memory import unheard
from filemem.errors import FilememError, Problem
from filemem.learn import profile
from filemem.store import saved_over
from filemem.store.config import ConfigError
from filemem.store.facts import MAX_FACT_CHARS
from filemem.store.fields import texts
from filemem.store.folder import BOOKKEEPING, Folder
from filemem.store.memory import (
    LARGEST,
    NAMELESS,
    REFERENCE,
    SOURCE_MARK,
    Memory,
    parse,
)
from filemem.store.paths import PROFILE, archived, live
from filemem.store.problems import problems_of, strays
from filemem.text.plain import counted, one_line
from filemem.work import Progress, no_progress

REFERENCES = ("source", "supersedes", "superseded_by")
_COPY = re.compile(
    r"(.+?)"
    r"(?:\.sync-conflict-[\w-]+"
    r"| \([^()]*(?:conflicted copy|case conflict|冲突)[^()]*\))"
    r"(\.\w+)$",
    re.IGNORECASE,
)
"""The name of a copy that a program for sharing files has made."""


def problems(
    folder: Folder, today: dt.date, progress: Progress = no_progress
) -> list[Problem]:
    """Return the problems of every memory and of what lies among them.

    Args:
        folder: whose files are checked.
        today: the day on which a wish must hold to be missed in prompts.
        progress: told how many files have been, of how many.

    Returns:
        The problems by path and line.
    """
    paths = folder.paths()
    references = _References(folder, paths)
    found = list(strays(folder))
    found += _saved_over(folder)
    found += _long_profile(folder)
    found += _unheard(folder, today)
    for done, path in enumerate(paths, 1):
        progress(done, len(paths))
        found += _conflict_copy(path)
        try:
            memory = parse(path, folder.read(path, LARGEST + 1))
        except (FilememError, OSError) as error:
            remedy = "put its permissions right, or delete it"
            found.append(Problem(path, 1, str(error).rstrip("."), remedy))
            continue
        found += problems_of(memory)
        found += references.problems(memory)
    return sorted(found)


def faults(folder: Folder, memory: Memory) -> list[Problem]:
    """Return the problems of one memory, what it refers to among them."""
    references = _References(folder, folder.paths())
    return [*problems_of(memory), *references.problems(memory)]


def _long_profile(folder: Folder) -> Iterator[Problem]:
    """Yield the profile, if it is longer than prompts have room for.

    It is then cut where it stands in one.
    """
    over = 0
    with contextlib.suppress(ConfigError):  # of which `check` tells by itself
        over = profile.excess(folder)
    if over:
        what = f"{over:,} tokens longer than prompts have room for"
        remedy = "shorten it, or have your model choose what stays: filemem maintain"
        yield Problem(PROFILE, 1, what, remedy)


def _unheard(folder: Folder, today: dt.date) -> Iterator[Problem]:
    """Yield each wish of the person's for which prompts have no room."""
    remedy = f"say it in {MAX_FACT_CHARS} characters, or delete others"
    for wish, path in unheard(folder, today).items():
        what = f"prompts have no room for this wish: {one_line(wish, 60)}"
        yield Problem(path, 1, what, remedy)


def _conflict_copy(path: str) -> Iterator[Problem]:
    """Yield a problem where a program for sharing files has made this copy."""
    copy = _COPY.match(path)
    if copy:
        original = one_line(copy[1] + copy[2])
        what = "a copy of a file that two machines had changed"
        remedy = f"bring both together in {original}, delete this"
        yield Problem(path, 1, what, remedy)


def _saved_over(folder: Folder) -> Iterator[Problem]:
    """Yield a problem for each file that lost turns, to an editor perhaps.

    The copies of these turns are put back by `filemem restore`.
    """
    for path, turns in saved_over.lost(folder).items():
        first = one_line(turns[0].text, 60)
        count = counted(len(turns), "turn that was kept is", "turns that were kept are")
        yield Problem(
            path,
            1,
            f"{count} not in it any more, saved over by an editor perhaps: {first}",
            f"put back with filemem restore {one_line(path)}, or if you deleted them "
            f"yourself, delete {BOOKKEEPING}/{saved_over.SAID}",
        )


class _Reference(NamedTuple):
    """What a memory refers to: the line that names it, the key, and its text."""

    line: int
    key: str
    text: str


def _references(memory: Memory) -> Iterator[_Reference]:
    """Yield what a memory refers to.

    Of the profile it is also what each line rests on.
    """
    for key in REFERENCES:
        if key in memory.metadata:
            for entry in texts(memory.front.get(key)):
                yield _Reference(memory.line_of(key), key, entry)
    if memory.path == PROFILE:
        for number, line in enumerate(memory.lines, 1):
            for source in SOURCE_MARK.findall(line):
                yield _Reference(number, "the line", source)


class _References:
    """Finds what front matter and the profile name and is nowhere, archived either.

    Args:
        folder: whose memories.
        paths: of all of them.
    """

    def __init__(self, folder: Folder, paths: list[str]) -> None:
        self._folder = folder
        self._paths = set(paths)
        self._line_counts: dict[str, int] = {}

    def problems(self, memory: Memory) -> Iterator[Problem]:
        """Yield what is wrong with the references of one memory."""
        for line, key, entry in _references(memory):
            fault = self._fault(entry)
            if fault:
                what = f"{key} names {one_line(entry, 80)}, which {fault}"
                yield Problem(memory.path, line, what, "correct or remove it")

    def _fault(self, entry: str) -> str:
        """Return what is wrong with a reference; empty if it leads to a line.

        A path that has moved to the archive, or out of it, still leads there.
        """
        match = REFERENCE.match(entry)
        if not match:
            return "" if entry == NAMELESS else "is not a path"
        path = match["path"]
        named = (path, live(path), archived(path))
        found = [path for path in named if path in self._paths]
        if not found:
            return "does not exist"
        if not match["line"]:
            return ""
        count = self._count_lines(found[0])
        if 1 <= int(match["line"]) <= count:
            return ""
        return f"has only {count} lines"

    def _count_lines(self, path: str) -> int:
        """Return the lines of a memory, 0 for one that cannot be read."""
        if path not in self._line_counts:
            memory = self._folder.find(path)
            count = len(memory.lines) if memory else 0
            self._line_counts[path] = count
        return self._line_counts[path]
