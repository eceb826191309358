"""Deleting what a plan names, and looking for what is left.

Records first, then files and lines by the level that the plan gave them. No step needs
what an earlier one deleted: so the same request finishes a deletion that was cut off.
"""

import contextlib
import errno
import functools
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from filemem import index as indexes
from filemem.errors import FilememError, NotFound, Refused, in_words
from filemem.forget.matching import (
    Matcher,
    Occurrence,
    is_record_of_other_form,
    occurrences,
    without_names,
)
from filemem.forget.plan import (
    CACHES,
    DeletionPlan,
    Removal,
    removals_with,
    split_lines,
    split_place,
)
from filemem.git.history import LOGS, NOTES, History
from filemem.store import files, logs, recalls
from filemem.store.folder import BOOKKEEPING, Folder, JobDone
from filemem.store.memory import LARGEST, parse
from filemem.store.passages import FORGOTTEN, TURN_HEAD
from filemem.store.paths import live
from filemem.text.plain import counted, digest, one_line

_FULL = (errno.ENOSPC, errno.EDQUOT)
OLD_JOURNAL = "forgetting"  # in which an earlier version wrote down what it had begun


@dataclass
class _Outcome:
    """What was deleted so far, and what stays because it could not be."""

    deleted: list[str] = field(default_factory=list)
    stayed: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)


def execute(folder: Folder, plan: DeletionPlan) -> JobDone:
    """Delete what a plan names.

    To be called while no other job is at work, and followed by `conclude` when the job
    has ended; `jobs.forget` does both.

    Returns:
        The facts `deleted` (files, and lines as path:line) and `stayed` (sentences on
        what could not be deleted, such as a file that a person has saved since).
    """
    if plan.whole_user:
        return _empty(folder, plan)
    done = _Outcome()
    with folder.locked():
        cleared = clear_records(folder, plan, skipped=(*CACHES, NOTES))
        _clear_caches(folder)
        _take_names_out(folder, plan, done)
        for level in sorted({item.level for item in plan.items}, reverse=True):
            _delete_level(folder, plan, level, done)
        _clear_caches(folder)  # a search may have come between
    said = [f"Forgot {place}." for place in done.deleted]
    if cleared:
        said.append(f"Cleared {', '.join(cleared)}.")
    facts = {"deleted": done.deleted, "stayed": done.stayed}
    return JobDone("forget", said, facts, _to_commit(folder, done), _subject(plan))


def conclude(folder: Folder, plan: DeletionPlan, done: JobDone) -> JobDone:
    """Look for what is left, once what `execute` has done is committed.

    Returns:
        What was done, with the fact `left`: what still says it, or cannot be searched.
    """
    if plan.whole_user:
        return done._replace(facts={**done.facts, "left": []})
    with folder.locked():  # notes of commits that wait have names of files
        clear_records(folder, plan, skipped=CACHES)
    left = [
        one
        for one in occurrences(folder.root, plan.matcher, (".git",))
        if not is_record_of_other_form(one)
        and one.path != f"{BOOKKEEPING}/{OLD_JOURNAL}"
    ]
    stayed = done.facts["stayed"]
    said = [*done.said, *stayed, *map(sentence_of, left)]
    if not plan.matcher and plan.items:
        said.append("It is too short to be looked for elsewhere.")
    elif not (left or stayed):
        said.append(f"Nothing in {one_line(folder.name)}'s folder says it any more.")
    facts = {**done.facts, "left": [str(one) for one in left]}
    return done._replace(said=said, facts=facts)


def sentence_of(occurrence: Occurrence) -> str:
    """Return what is to be said of a place that is left."""
    if occurrence.line:
        return f"Still says it: {occurrence}"
    return f"{one_line(occurrence.path)}: {occurrence.why}; rename, move or delete it."


def _subject(plan: DeletionPlan) -> str:
    kinds = Counter("passage" if item.line else "file" for item in plan.items)
    counts = [counted(kinds[kind], kind) for kind in sorted(kinds)]
    return f"Forget {' and '.join(counts) or 'what records told'}"


def _to_commit(folder: Folder, done: _Outcome) -> list[str]:
    """Return the paths of the commit. A conversation that git has not yet is its chat's
    to commit: an undo would take it away with what was forgotten."""
    drafts = History(folder).drafts()
    new = {path for path, blob in drafts.items() if not blob}
    new = {path for path in new if path.startswith("sessions/")}
    kept = [path for path in dict.fromkeys(done.written) if path not in new]
    return [*kept, recalls.RECALLS]


# -- files -----------------------------------------------------------------------------


def _delete_level(
    folder: Folder, plan: DeletionPlan, level: int, done: _Outcome
) -> None:
    """Delete the files and lines of one level, and make that durable."""
    by_path = dict[str, list[Removal]]()
    for item in plan.items:
        if item.level == level:
            by_path.setdefault(item.path, []).append(item)
    for path, items in by_path.items():
        with _reporting(path, done):
            _delete(f"{folder.root}/{path}", items)
            done.deleted += [item.place for item in items]
            done.written.append(path)
    for above in {os.path.dirname(f"{folder.root}/{path}") for path in by_path}:
        files.sync_folder(above)


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


def _delete(where: str, items: list[Removal]) -> None:
    """Delete a file, or lines of it.

    Raises:
        Changed: a person has saved it since.
        Refused: a link leads there.
    """
    if files.through_link(where):
        raise Refused(
            "a symbolic link leads there, which is not followed; delete that link."
        )
    whole = items[0]
    if whole.line:
        files.edit(where, lambda data: without(data, items))
    else:
        files.delete_if(where, lambda where: digest(files.read(where)) == whole.digest)


def without(data: bytes, items: Iterable[Removal]) -> bytes:
    """Return a file without these lines, wherever they are now: a person may have moved
    them. As many lines are left as there were."""
    split = split_lines(data)
    lines = list(split.lines)
    for item in items:
        count = len(item.old)
        after = [item.new, *[""] * (count - 1)]
        for number, line in enumerate(item.old):
            if line.endswith("\r"):
                after[number] += "\r"
        for start in _places_of(lines, item, after):
            lines[start : start + count] = after
    return split.joined(lines)


def _places_of(lines: list[str], item: Removal, after: list[str]) -> Iterator[int]:
    """Yield where the lines of a removal stand: where they were, else wherever they are
    now; nowhere if they are gone already."""
    count = len(item.old)
    start = item.line - 1
    there = lines[start : start + count]
    if there == [*item.old]:
        yield start
    elif there != after:
        for start in range(len(lines) - count + 1):
            if tuple(lines[start : start + count]) == item.old:
                yield start


def _take_names_out(folder: Folder, plan: DeletionPlan, done: _Outcome) -> None:
    """Take the names of files that go out of the memories that stay."""
    for path in folder.paths() if plan.gone else ():
        if live(path) in plan.gone:
            continue
        items = [item for item in plan.items if item.path == path]
        where = f"{folder.root}/{path}"
        with _reporting(path, done):
            data = files.read(where, LARGEST + 1)
            if len(data) <= LARGEST and unnamed(data, plan.gone, items) != data:
                change = functools.partial(unnamed, gone=plan.gone, items=items)
                files.edit(where, change)
                done.written.append(path)


def unnamed(data: bytes, gone: Iterable[str], items: Iterable[Removal] = ()) -> bytes:
    """Return a file without the names of files that are gone.

    Args:
        data: the file.
        gone: the live paths.
        items: what goes of this file, of which no line is touched.
    """
    named = [path for path in gone if stem_bytes(path) in data]
    if not named:
        return data
    try:
        split = split_lines(data)
    except Refused:
        return data
    kept = {line for item in items for line in item.old}
    lines = [
        line if line in kept else without_names(line, named) for line in split.lines
    ]
    return split.joined(lines)


def stem_bytes(path: str) -> bytes:
    """Return the name of a file without its extension, as UTF-8."""
    return os.fsencode(os.path.splitext(os.path.basename(path))[0])


def version_without(path: str, data: bytes, plan: DeletionPlan) -> bytes:
    """Return an earlier version of a user's file, as git has it, without what goes."""
    if path.startswith(f"{BOOKKEEPING}/"):
        return record_without(data, plan)
    with contextlib.suppress(FilememError):
        if len(data) <= LARGEST:
            lines = [item for item in plan.items if item.line]
            mine = [item for item in lines if live(item.path) == live(path)]
            data = without(data, mine)
            more = removals_with(parse(path, data), plan.matcher)
            if any(not item.line for item in more):
                return f"{FORGOTTEN}\n".encode()
            data = without(data, more)
    return unnamed(data, plan.gone)


# -- the program's own records ---------------------------------------------------------


def clear_records(
    folder: Folder, plan: DeletionPlan, skipped: Collection[str]
) -> list[str]:
    """Take it out of every record of the program's own; return what was changed."""
    said = list[str]()
    inside = files.walk(folder.bookkeeping(), lambda path, entry: path not in skipped)
    for path, entry in inside:
        is_file = entry.is_file(follow_symlinks=False)
        if not is_file or path == OLD_JOURNAL or path.endswith("lock"):
            continue
        where = folder.bookkeeping(path)
        with contextlib.suppress(NotFound, Refused):  # the search names what is left
            if plan.matcher.match_name(path) >= plan.matcher.least:
                files.delete(where)
                said.append(f"{BOOKKEEPING}/{path}")
            elif files.edit(where, lambda data: record_without(data, plan)):
                said.append(f"lines of {BOOKKEEPING}/{path}")
    return sorted(said)


def record_without(data: bytes, plan: DeletionPlan) -> bytes:
    """Return a record without what tells of what goes.

    Lines of JSON stay, as some tell what must never be done again; strings in them that
    say it become a mark. Turns that were noted, and other lines, go.
    """
    turns = {_said("\n".join(item.old)) for item in plan.items if item.line}
    places = {live(item.place) for item in plan.items}
    kept = list[bytes]()
    for raw in data.splitlines(keepends=True):
        line = os.fsdecode(raw)
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and _said(str(value.get("turn", ""))) in turns:
            continue
        if isinstance(value, dict | list):
            cleared = _value_without(value, plan)
            if cleared != value:
                raw = logs.line(cleared)
        elif plan.matcher.holds(line) or _names(line, places):
            continue
        else:
            raw = os.fsencode(without_names(line, plan.gone))
        kept.append(raw)
    return b"".join(kept)


def _said(turn: str) -> str:
    """Return what a turn says, without who and when."""
    return TURN_HEAD.sub("", turn, count=1).strip()


def _names(line: str, places: set[str]) -> bool:
    """Return whether a line of fields names a place that goes."""
    entries = line.strip().split("\t")
    named = {live(entry) for entry in entries}
    named |= {live(split_place(entry)[0]) for entry in entries}
    return not named.isdisjoint(places)


def _value_without(value: Any, plan: DeletionPlan) -> Any:
    """Return a JSON value without what goes; its keys are the program's, or paths."""
    if isinstance(value, dict):
        cleared = dict[str, Any]()
        for key, entry in value.items():
            name = _value_without(key, plan) if "/" in key else key
            cleared[name] = _value_without(entry, plan)
        return cleared
    if isinstance(value, list):
        return [_value_without(entry, plan) for entry in value]
    if not isinstance(value, str):
        return value
    if plan.matcher.holds(value):
        return FORGOTTEN
    return without_names(value, plan.gone)


def _clear_caches(folder: Folder) -> None:
    """Delete what is made anew when it is needed."""
    indexes.of(folder).discard()
    for name in CACHES:
        with contextlib.suppress(NotFound, FileNotFoundError):
            files.remove(folder.bookkeeping(name))


# -- a whole user ----------------------------------------------------------------------


def plan_whole_user(folder: Folder) -> DeletionPlan:
    """Return the plan that everything of a user goes."""
    items = [Removal(path) for path in folder.paths()]
    return DeletionPlan(items, whole_user=True)


def _empty(folder: Folder, plan: DeletionPlan) -> JobDone:
    """Delete all of a user but the bookkeeping, without its logs, and a repository."""
    stayed = list[str]()
    for name in (*os.listdir(folder.root), *LOGS):
        if name not in (BOOKKEEPING, ".git"):
            try:
                with contextlib.suppress(NotFound):
                    files.remove(f"{folder.root}/{name}")
            except OSError as error:
                stayed.append(f"{one_line(name)} stays: {in_words(error)}")
    files.sync_folder(folder.root)
    count = counted(len(plan.items), "memory", "memories")
    paths = [*LOGS, *(item.path for item in plan.items)]
    facts = {"deleted": [], "stayed": stayed, "left": []}
    said = [f"Deleted {one_line(folder.name)}, {count}.", *stayed]
    return JobDone("forget", said, facts, paths, "Forget the memories of one user")


def remove_folder(folder: Folder, *, repository: bool) -> None:
    """Remove the folder of a user whose memories are deleted, unless a repository of
    their own stays there."""
    names = [BOOKKEEPING, ".git"] if repository else [BOOKKEEPING]
    for name in names:
        with contextlib.suppress(NotFound):
            files.remove(f"{folder.root}/{name}")
    with contextlib.suppress(OSError):  # it is not empty
        os.rmdir(folder.root)
    files.sync_folder(folder.store)


# -- what an earlier version had begun -------------------------------------------------


def is_begun(folder: Folder) -> bool:
    """Return whether an earlier version was cut off in a deletion."""
    return os.path.lexists(folder.bookkeeping(OLD_JOURNAL))


def finish_old(folder: Folder) -> JobDone:
    """Finish a deletion that an earlier version had written down and not ended.

    One that was begun elsewhere is dropped: a store that somebody sent must not say what
    is deleted here. So is one of the whole user, which nothing but its own command does.

    Returns:
        What was done; it says nothing where there was nothing to finish.
    """
    nothing = JobDone("forget", [], {})
    if not is_begun(folder):
        return nothing
    place = folder.bookkeeping(OLD_JOURNAL)
    plan = _old_plan(files.read(place), folder)
    done = nothing._replace(
        said=["Dropped a forget that had been cut off; ask for it again."]
    )
    if plan.items:
        done = conclude(folder, plan, execute(folder, plan))
        first = "Finished a forget that had been cut off."
        done = done._replace(said=[first, *done.said])
    files.delete(place)
    return done


def _old_plan(written: bytes, folder: Folder) -> DeletionPlan:
    """Return the plan of a journal; an empty one where it is not to be carried out."""
    inode, _, text = written.partition(b"\n")
    with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
        if int(inode) == os.stat(folder.root).st_ino:
            items, _, (words, lines), _, _, whole_user, _ = json.loads(text)
            if not whole_user:
                matcher = Matcher(words)
                matcher.lines = set(lines)
                removals = [_old_item(*item) for item in items]
                return DeletionPlan(removals, matcher=matcher)
    return DeletionPlan()


def _old_item(
    path: str, line: int, text: str, why: str, old: list[str], new: str
) -> Removal:
    """Return a removal that was written down with its lines as Latin-1."""
    if not line:
        return Removal(path, 0, text, why, digest=old[0])
    return Removal(path, line, text, why, 0, tuple(map(_as_utf8, old)), _as_utf8(new))


def _as_utf8(line: str) -> str:
    with contextlib.suppress(UnicodeEncodeError):  # UTF-16 was kept as it is
        return line.encode("latin-1").decode("utf-8", "surrogateescape")
    return line
