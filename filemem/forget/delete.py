"""Deleting what a plan names, and looking for what is left.

Records first, then the files and lines from the last of the plan to the first: what
cites goes before what is cited. So the same request finishes a deletion that was cut
off.
"""

import codecs
import contextlib
import errno
import functools
import itertools
import json
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from filemem import index as indexes
from filemem.errors import FilememError, NotFound, Refused, in_words
from filemem.forget.matching import occurrences
from filemem.forget.plan import (
    CACHES,
    NAMES_IT,
    DeletionPlan,
    Removal,
    removals_saying,
)
from filemem.forget.sections import note_sections, unchanged_sections
from filemem.git.history import History
from filemem.git.job_frame import NOTES
from filemem.store import files, recalls
from filemem.store.encodings import UTF_8, encoding_of
from filemem.store.folder import BOOKKEEPING, NAMES, Folder
from filemem.store.memory import parse
from filemem.store.passages import FORGOTTEN
from filemem.store.paths import live
from filemem.text.plain import counted, one_line
from filemem.work import JobDone

# Records that tell what must never be done again.
LASTING_RECORDS = ("imports.jsonl", "consolidated.jsonl")
KEPT_TO_THE_END = {NOTES, NAMES, "lock", "job.lock"}  # of a user who goes whole
_FULL = (errno.ENOSPC, errno.EDQUOT)


def delete(folder: Folder, plan: DeletionPlan) -> JobDone:
    """Delete what a plan names.

    To be called while no other job is at work, and followed by `conclude` when the job
    has ended; `jobs.forget` does both. Of a whole user the caller holds the lock until
    the folder is gone, too: a writer in between would lose its bookkeeping.

    Args:
        folder: whose memories.
        plan: what goes.

    Returns:
        The facts `deleted` (files, and lines as path:line) and `stayed` (sentences on
        what could not be deleted, such as a file that a person has saved since).
    """
    if plan.whole_user:
        return _delete_all(folder, plan)
    stayed = dict[str, str]()
    with folder.locked():
        _clear_records(folder, plan, skipped=(*CACHES, NOTES))
        sections = unchanged_sections(folder, {item.path for item in plan.items})
        last_first = reversed(plan.items)
        for path, items in itertools.groupby(last_first, lambda item: item.path):
            try:
                _delete(folder, path, list(items))
            except (FilememError, OSError) as error:
                if isinstance(error, OSError) and error.errno in _FULL:
                    raise  # nothing else can be written either
                stayed[path] = f"{one_line(path)} stays as it is: {in_words(error)}"
        note_sections(folder, sections)
        files_gone = [item.path for item in plan.items if not item.line]
        for name in set(map(os.path.dirname, files_gone)):
            files.sync_folder(f"{folder.root}/{name}")
        indexes.of(folder).discard()
        for name in CACHES:
            with contextlib.suppress(NotFound):
                files.remove(folder.bookkeeping(name))
    done = [item for item in plan.listed if item.path not in stayed]
    deleted = [item.place for item in done if item.why != NAMES_IT]
    said = [f"Forgot {place}." for place in deleted]
    facts = {"deleted": deleted, "stayed": [*stayed.values()]}
    subject = f"Forget {counted(len(deleted), 'place')}"
    paths = [*(item.path for item in done), recalls.RECALLS]
    return JobDone("forget", said, facts, paths, subject)


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
        return done
    with folder.locked():  # notes of commits that wait have names of files
        _clear_records(folder, plan, skipped=CACHES)
    left = occurrences(folder.root, plan.matcher, (".git",))
    stayed = done.facts["stayed"]
    said = [*done.said, *stayed, *(f"Still there: {one}" for one in left)]
    if not plan.matcher:
        said.append("It is too short to be looked for elsewhere.")
    elif not (left or stayed):
        said.append(f"Nothing in {one_line(folder.name)}'s folder says it any more.")
    facts = {**done.facts, "left": [str(one) for one in left]}
    return replace(done, said=said, facts=facts)


# -- files -----------------------------------------------------------------------------


def _delete(folder: Folder, path: str, items: list[Removal]) -> None:
    """Delete a file or lines of it, if it is there still; the caller syncs its folder.

    Args:
        folder: whose it is.
        path: of the file.
        items: its removals, the last first: one of the whole file, or some of lines.

    Raises:
        Changed: a person has saved it since the plan was made.
        Refused: a link leads there, or the file cannot be changed.
    """
    where = f"{folder.root}/{path}"
    whole = items[0]
    if files.through_link(where):
        raise Refused(
            "a symbolic link leads there, which is not followed; delete that link."
        )
    with contextlib.suppress(NotFound, FileNotFoundError):
        if whole.line:
            files.edit(where, lambda data: _without(data, items))
        else:
            files.delete_if(where, whole.digest)


def _without(data: bytes, items: Iterable[Removal]) -> bytes:
    """Return a file without some lines, wherever they are now.

    A person may have moved them. As many lines are left as there were, and all others
    are as they were.

    Args:
        data: the file.
        items: the removals of lines.

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
        new = [item.new, *[""] * (len(item.old) - 1)]
        for start in _places_of(shown, item):
            for at, text in enumerate(new, start):
                end = b"\r" if lines[at].endswith(b"\r") else b""
                lines[at] = text.encode(errors="replace") + end
    return mark + newline.join(lines)


def _places_of(lines: list[str], item: Removal) -> list[int]:
    """Return where the lines of a removal stand, from 0.

    That is where they were, else wherever they are now; nowhere if they are gone.
    """
    count = len(item.old)
    starts = [item.line - 1]
    if tuple(lines[item.line - 1 :][:count]) != item.old:
        starts = list(range(len(lines)))
    return [at for at in starts if tuple(lines[at : at + count]) == item.old]


def version_without(path: str, data: bytes, plan: DeletionPlan) -> bytes:
    """Return an earlier version of a user's file, as git has it, without what goes.

    Args:
        path: of the file, in the user's folder.
        data: the version; in another encoding than UTF-8 its lines stay.
        plan: what goes.
    """
    if path.startswith(f"{BOOKKEEPING}/"):
        return _record_without(data, plan, lasts=path.endswith(LASTING_RECORDS))
    with contextlib.suppress(FilememError):
        items = plan.lines_by_path.get(live(path), [])
        if plan.matcher.words:
            items = [*items, *removals_saying(parse(path, data), plan.matcher)]
        if not all(item.line for item in items):
            return f"{FORGOTTEN}\n".encode()
        data = _without(data, items)
    text = data.decode("utf-8", "surrogateescape")  # which keeps every byte
    return plan.names.without(text).encode("utf-8", "surrogateescape")


# -- the program's own records ---------------------------------------------------------


def _clear_records(
    folder: Folder, plan: DeletionPlan, skipped: Collection[str]
) -> None:
    """Take it out of every record of the program's own.

    What killed writes of the program have left among the memories is deleted.

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
    """Tell whether a folder is no repository's, whose files are git's."""
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
        line = plan.names.without(os.fsdecode(raw))
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
    """Return the plan that everything of a user goes; nothing is changed."""
    items = [Removal(path) for path in folder.paths()]
    return DeletionPlan(items, whole_user=True)


def _delete_all(folder: Folder, plan: DeletionPlan) -> JobDone:
    """Delete all of a user but a repository, and what the job is committed with.

    That goes with `users.remove_folder`.

    Args:
        folder: the user's.
        plan: that all goes.

    Returns:
        The facts as `delete` and `conclude` have them.
    """
    stayed = list[str]()
    there = folder.everything()
    known = list[str]()
    with contextlib.suppress(FilememError):  # of which the commit tells
        known = History(folder).committed()
    for name in (*os.listdir(folder.root), *_records(folder)):
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
    deleted = [one for one in there if not os.path.lexists(f"{folder.root}/{one}")]
    facts = {"deleted": deleted, "stayed": stayed, "left": []}
    paths = [*known, *deleted]
    return JobDone("forget", said, facts, paths, "Forget the memories of one user")


def _records(folder: Folder) -> list[str]:
    """Return the paths of the bookkeeping, but for what a job is committed with."""
    names = set(os.listdir(folder.bookkeeping())) - KEPT_TO_THE_END
    return [f"{BOOKKEEPING}/{name}" for name in names]
