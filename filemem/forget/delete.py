"""Deleting what a plan names, and looking for what is left.

Records first, then files and lines by the level that the plan gave them: what cites
goes before what is cited. So the same request finishes a deletion that was cut off.
"""

import codecs
import contextlib
import errno
import functools
import itertools
import json
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from filemem import index as indexes
from filemem.errors import FilememError, NotFound, Refused, in_words
from filemem.forget.matching import Occurrence, occurrences
from filemem.forget.plan import (
    CACHES,
    DeletionPlan,
    Removal,
    removals_saying,
    without_names,
)
from filemem.git.history import LOGS
from filemem.git.job_frame import NOTES
from filemem.store import files, recalls
from filemem.store.encodings import UTF_8, encoding_of
from filemem.store.folder import BOOKKEEPING, Folder, JobDone
from filemem.store.memory import parse
from filemem.store.passages import FORGOTTEN
from filemem.store.paths import live
from filemem.text.plain import counted, digest, one_line

# Records that tell what must never be done again.
LASTING_RECORDS = ("imports.jsonl", "consolidated.jsonl")
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class _Outcome:
    """How far a deletion has come.

    Attributes:
        deleted: the places that are gone.
        stayed: a sentence on each file that could not be changed.
        written: the paths of the files that were.
    """

    deleted: list[str] = field(default_factory=list)
    stayed: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)


def delete(folder: Folder, plan: DeletionPlan) -> JobDone:
    """Delete what a plan names.

    To be called while no other job is at work, and followed by `conclude` when the job
    has ended; `jobs.forget` does both.

    Args:
        folder: whose memories.
        plan: what goes.

    Returns:
        The facts `deleted` (files, and lines as path:line) and `stayed` (sentences on
        what could not be deleted, such as a file that a person has saved since).
    """
    if plan.whole_user:
        return _delete_all(folder, plan)
    done = _Outcome()
    with folder.locked():
        _clear_records(folder, plan, skipped=(*CACHES, NOTES))
        _take_names_out(folder, plan, done)
        for level in sorted({item.level for item in plan.items}, reverse=True):
            items = [item for item in plan.items if item.level == level]
            for path, there in itertools.groupby(items, lambda item: item.path):
                with _reporting(path, done):
                    _delete(folder, path, list(there), plan, done)
            for path in {os.path.dirname(item.path) for item in items}:
                with contextlib.suppress(FileNotFoundError):
                    files.sync_folder(f"{folder.root}/{path}")
        indexes.of(folder).discard()
        for name in CACHES:
            with contextlib.suppress(NotFound):
                files.remove(folder.bookkeeping(name))
    said = [f"Forgot {place}." for place in done.deleted]
    facts = {"deleted": done.deleted, "stayed": done.stayed}
    subject = f"Forget {counted(len(done.deleted), 'place')}"
    return JobDone("forget", said, facts, [*done.written, recalls.RECALLS], subject)


def conclude(folder: Folder, plan: DeletionPlan, done: JobDone) -> JobDone:
    """Look for what is left, once what `delete` has done is committed.

    Args:
        folder: whose memories.
        plan: what was to go.
        done: what `delete` returned.

    Returns:
        What was done, with the fact `left`: what still says it, or cannot be searched.
    """
    if plan.whole_user:
        return done._replace(facts={**done.facts, "left": []})
    with folder.locked():  # notes of commits that wait have names of files
        _clear_records(folder, plan, skipped=CACHES)
    left = occurrences(folder.root, plan.matcher, (".git",))
    stayed = done.facts["stayed"]
    said = [*done.said, *stayed, *map(_sentence, left)]
    if not plan.matcher:
        said.append("It is too short to be looked for elsewhere.")
    elif not (left or stayed):
        said.append(f"Nothing in {one_line(folder.name)}'s folder says it any more.")
    facts = {**done.facts, "left": [str(one) for one in left]}
    return done._replace(said=said, facts=facts)


def _sentence(occurrence: Occurrence) -> str:
    """Return what is to be said of a place that is left."""
    if occurrence.line:
        return f"Still says it: {occurrence}"
    return f"{one_line(occurrence.path)}: {occurrence.why}; rename, move or delete it."


# -- files -----------------------------------------------------------------------------


@contextlib.contextmanager
def _reporting(path: str, done: _Outcome) -> Iterator[None]:
    """Note why a file stays as it is; one that is gone already does not stay."""
    try:
        yield
    except (NotFound, FileNotFoundError):
        return
    except (FilememError, OSError) as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            raise  # nothing else can be written either
        done.stayed.append(f"{one_line(path)} stays as it is: {in_words(error)}")


def _delete(
    folder: Folder, path: str, items: list[Removal], plan: DeletionPlan, done: _Outcome
) -> None:
    """Delete a file, whose folder the caller syncs, or lines of it.

    Args:
        folder: whose it is.
        path: of the file.
        items: its removals: one of the whole file, or some of lines.
        plan: all that goes.
        done: to which they are added.

    Raises:
        Changed: a person has saved it since the plan was made.
        Refused: a link leads there, or the file cannot be changed.
    """
    where = f"{folder.root}/{path}"
    if files.through_link(where):
        raise Refused(
            "a symbolic link leads there, which is not followed; delete that link."
        )
    whole = items[0]
    if whole.line:
        files.edit(where, lambda data: _without(data, items, plan))
    else:
        files.delete_if(where, lambda path: digest(files.read(path)) == whole.digest)
    done.deleted += [item.place for item in items]
    done.written.append(path)


def _without(data: bytes, items: Iterable[Removal], plan: DeletionPlan) -> bytes:
    """Return a file without some lines, wherever they are now.

    A person may have moved them. As many lines are left as there were, and all others
    are as they were.

    Args:
        data: the file, in which names of files that go were taken out before.
        items: the lines.
        plan: all that goes.

    Raises:
        Refused: it is in another encoding than UTF-8.
    """
    encoding = encoding_of(data)
    if encoding != UTF_8:
        raise Refused(
            f"{encoding.upper()} is never rewritten; save it as UTF-8, then try again."
        )
    newline = b"\n" if b"\n" in data or b"\r" not in data else b"\r"
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    lines = data.removeprefix(mark).split(newline)
    shown = [line.decode(errors="replace").removesuffix("\r") for line in lines]
    for item in items:
        old = [without_names(line, plan.gone) for line in item.old]
        new = [item.new, *[""] * (len(old) - 1)]
        for start in _places_of(shown, item.line - 1, old, new):
            for at, text in enumerate(new, start):
                end = b"\r" if lines[at].endswith(b"\r") else b""
                lines[at] = text.encode(errors="replace") + end
    return mark + newline.join(lines)


def _places_of(
    lines: list[str], at: int, old: list[str], new: list[str]
) -> Iterator[int]:
    """Yield where lines stand.

    That is where they were, else wherever they are now; nowhere if they are gone.

    Args:
        lines: of the file.
        at: where they were, from 0.
        old: the lines.
        new: what they become.
    """
    there = lines[at : at + len(old)]
    if there == old:
        yield at
    elif there != new:
        for start in range(len(lines) - len(old) + 1):
            if lines[start : start + len(old)] == old:
                yield start


def _take_names_out(folder: Folder, plan: DeletionPlan, done: _Outcome) -> None:
    """Take the names of files that go out of the memories that stay."""
    if not plan.gone:
        return
    change = functools.partial(_without_names, plan=plan)
    for path in folder.paths():
        if live(path) not in plan.gone:
            with _reporting(path, done):
                if files.edit(f"{folder.root}/{path}", change):
                    done.written.append(path)


def _without_names(data: bytes, plan: DeletionPlan) -> bytes:
    """Return a file without the names of files that go."""
    text = data.decode("utf-8", "surrogateescape")  # which keeps every byte
    return without_names(text, plan.gone).encode("utf-8", "surrogateescape")


def version_without(path: str, data: bytes, plan: DeletionPlan) -> bytes:
    """Return an earlier version of a user's file, as git has it, without what goes."""
    if path.startswith(f"{BOOKKEEPING}/"):
        return _record_without(data, plan, lasts=path.endswith(LASTING_RECORDS))
    with contextlib.suppress(FilememError):
        items = [one for one in plan.items if one.line and live(one.path) == live(path)]
        if plan.matcher.words:
            items += removals_saying(parse(path, data), plan.matcher)
        if not all(item.line for item in items):
            return f"{FORGOTTEN}\n".encode()
        data = _without(_without_names(data, plan), items, plan)
    return data


# -- the program's own records ---------------------------------------------------------


def _clear_records(
    folder: Folder, plan: DeletionPlan, skipped: Collection[str]
) -> None:
    """Take it out of every record of the program's own, and delete what killed writes
    of the program have left among the memories.

    Args:
        folder: whose records.
        plan: what goes.
        skipped: names in the bookkeeping that are left as they are.
    """
    for path, entry in files.walk(folder.root, _is_not_git):
        above, _, name = path.partition("/")
        is_record = above == BOOKKEEPING and name.partition("/")[0] not in skipped
        if not entry.is_file(follow_symlinks=False) or name.endswith("lock"):
            continue
        with contextlib.suppress(NotFound, Refused):  # the search names what is left
            is_told = is_record and plan.matcher.is_told_by(entry.name)
            if is_told or entry.name.startswith(files.OURS):
                files.delete(entry.path)
            elif is_record:
                lasts = name in LASTING_RECORDS
                change = functools.partial(_record_without, plan=plan, lasts=lasts)
                files.edit(entry.path, change)


def _is_not_git(path: str, entry: "os.DirEntry[str]") -> bool:
    return entry.name != ".git"


def _record_without(data: bytes, plan: DeletionPlan, *, lasts: bool) -> bytes:
    """Return a record without the lines that say it, or tell of a place that goes.

    Args:
        data: the record.
        plan: what goes.
        lasts: a line that only names a file that goes stays, without that name.
    """
    kept = list[bytes]()
    for raw in data.splitlines(keepends=True):
        line = without_names(os.fsdecode(raw), plan.gone)
        entry: Any = line.strip().split("\t")
        if line.startswith(("{", "[")):
            with contextlib.suppress(ValueError, RecursionError):
                entry = json.loads(line)
        texts = list(_strings(entry))
        is_told = plan.matcher.holds("\n".join(texts))
        if isinstance(entry, dict) and entry.get("session") in plan.shortened:
            is_told = True
        if not lasts:
            is_told |= os.fsencode(line) != raw
            is_told |= not plan.places.isdisjoint(map(live, texts))
        if not is_told:
            kept.append(os.fsencode(line))
    return b"".join(kept)


def _strings(value: Any) -> Iterator[str]:
    """Yield the strings in a JSON value; its keys are the program's."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings([*value.values()])
    elif isinstance(value, list):
        for entry in value:
            yield from _strings(entry)


# -- a whole user ----------------------------------------------------------------------


def plan_whole_user(folder: Folder) -> DeletionPlan:
    """Return the plan that everything of a user goes."""
    items = [Removal(path) for path in folder.paths()]
    return DeletionPlan(items, whole_user=True)


def _delete_all(folder: Folder, plan: DeletionPlan) -> JobDone:
    """Delete all of a user but the bookkeeping, of which the logs go, and a repository.

    What the job is committed with goes with `remove_folder`.
    """
    stayed = list[str]()
    for name in (*os.listdir(folder.root), *LOGS):
        if name in (BOOKKEEPING, ".git"):
            continue
        try:
            with contextlib.suppress(NotFound):
                files.remove(f"{folder.root}/{name}")
        except OSError as error:
            stayed.append(f"{one_line(name)} stays: {in_words(error)}")
    files.sync_folder(folder.root)
    count = counted(len(plan.items), "memory", "memories")
    said = [f"Deleted {one_line(folder.name)}, {count}.", *stayed]
    facts = {"deleted": [], "stayed": stayed, "left": []}
    paths = [*LOGS, *(item.path for item in plan.items)]
    return JobDone("forget", said, facts, paths, "Forget the memories of one user")


def remove_folder(folder: Folder, *, repository: bool) -> None:
    """Remove what is left of the folder of a user whose memories are deleted.

    Args:
        folder: the user's.
        repository: remove a repository of their own, too; else it stays.
    """
    for name in (BOOKKEEPING, ".git"):
        if name == BOOKKEEPING or repository:
            with contextlib.suppress(NotFound):
                files.remove(f"{folder.root}/{name}")
    with contextlib.suppress(OSError):  # it is not empty
        os.rmdir(folder.root)
    files.sync_folder(folder.store)
