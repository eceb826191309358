"""Deletion on request, second half: what `forget.plan` found goes, and with it all that filemem keeps beside the memories.

What was asked for goes last of the memories, so that after a kill the same command finds it and finishes; a mark, which
`filemem check` reports, stays until the caches are gone as well.
"""

import contextlib
import datetime as dt
import json
import os
import shutil
from collections.abc import Iterator
from typing import Any, NamedTuple

from filemem import archive, disk, recalls, trace
from filemem import index as indexes
from filemem.errors import FilememError
from filemem.folder import BOOKKEEPING
from filemem.forget import Plan, cuts
from filemem.forget.wording import Wording
from filemem.history import POSTPONED, Before, History, asof, worktree
from filemem.importers import origins
from filemem.memory import Memory, kind_of
from filemem.plain import one_line
from filemem.store import User

MARK = "forgetting"
_CACHES = (indexes.FOLDER, asof.FOLDER)


class Done(NamedTuple):
    """What went: whole files, lines as path:line, records beside the memories; what stayed and why; a word about git."""

    deleted: list[str]
    redacted: list[str]
    beside: list[str]
    stayed: list[str]
    note: str


def apply(user: User, found: Plan, at: dt.datetime) -> Done:
    """Carry the plan out and commit it. A file that a person has saved since the plan was made stays, and is named."""
    history = History(user)
    edits = {path: data for path, data in history.before(at).edits.items() if path not in found.whole}
    with archive.alone(user), user.locked():
        mark(user)
        beside = _records(user, found)
        redacted, stayed = _redact(user, found)
        renamed = _rename(user, found)
        deleted, changed = _delete(user, found.whole)
        beside += clear(user)
    stayed += changed
    what = [_count(number, noun) for number, noun in ((len(deleted), "file"), (len(redacted), "passage")) if number]
    subject = f"Forget {' and '.join(what) or 'what records told'}"
    touched = [*found.whole, *found.lines, *renamed]
    note = history.record(subject, touched, {"Job": "forget"}, at, Before(edits)).note
    return Done(deleted, redacted, beside, stayed, note)


def mark(user: User) -> None:
    """Note that something is being forgotten; without a word of what."""
    disk.write(user.bookkeeping(MARK), b"")


def unfinished(user: User) -> bool:
    """Was a forgetting cut off?"""
    return os.path.lexists(user.bookkeeping(MARK))


def clear(user: User) -> list[str]:
    """Delete the index and what was laid out of the past, then the mark; says what went."""
    said = []
    if os.path.isdir(user.bookkeeping(indexes.FOLDER)):
        user.index.discard()
        said.append("the index, which the next question builds anew")
    if asof.drop_all(user):
        said.append("the copies of past days")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(user.bookkeeping(MARK))
    disk.sync_folder(user.bookkeeping(""))
    return said


# -- the memories ------------------------------------------------------------------------------------------------


def _redact(user: User, found: Plan) -> tuple[list[str], list[str]]:
    """Take the lines out of their files; a summary of which nothing is left goes too."""
    redacted: list[str] = []
    stayed: list[str] = []
    for path, wanted in found.lines.items():
        try:
            user.edit(path, lambda data, wanted=wanted: cuts.apply(data, wanted))  # type: ignore[misc]
            redacted += [f"{path}:{cut.line}" for cut in wanted]
            data = user.read(path)
            if kind_of(path) == "summaries" and not any(passage for passage in _said(path, data)):
                worktree.remove(user.absolute(path), data)
        except (FilememError, OSError) as error:
            stayed.append(f"{path} stays as it is: {error}")
    return redacted, stayed


def _said(path: str, data: bytes) -> Iterator[str]:
    """The lines of a summary that are more than headings."""
    for line in Memory(path, data).lines[Memory(path, data).front_end :]:
        if line.strip() and not line.startswith("#"):
            yield line


def _rename(user: User, found: Plan) -> list[str]:
    """Give sessions their new names, and let every memory that names a file which goes or moves say so no more."""
    touched = []
    for path in user.paths():
        if path in found.whole:
            continue
        with contextlib.suppress(FilememError, OSError):
            if user.edit(path, found.wording.renamed):
                touched.append(path)
    for old, new in found.moved.items():
        with contextlib.suppress(FilememError, FileExistsError):
            user.move(old, new)
            touched += [old, new]
    return touched


def _delete(user: User, whole: dict[str, bytes]) -> tuple[list[str], list[str]]:
    """Delete files that are still what they were; returns those deleted, and sentences on those that stay."""
    deleted: list[str] = []
    stayed: list[str] = []
    for path, data in whole.items():
        try:
            worktree.remove(os.path.join(user.root, path), data)
            deleted.append(path)
        except (FilememError, OSError) as error:
            stayed.append(f"{path} stays as it is: {error}")
    return deleted, stayed


# -- beside the memories -----------------------------------------------------------------------------------------


def _records(user: User, found: Plan) -> list[str]:
    """Take it out of recalls, imports, traces, what was typed, and every other record."""
    for path, data in found.whole.items():
        if path[0] != ".":
            origins.forget(user, Memory(path, data))
    said = []
    for name in sorted(_kept(user)):
        stem = os.path.splitext(os.path.basename(name))[0]
        own = next((live for live in found.wording.names if os.path.splitext(os.path.basename(live))[0] == stem), None)
        where = user.bookkeeping(name)
        if name.startswith(trace.FOLDER + "/") and own:
            new = found.wording.names[own]
            if not new:
                os.unlink(where)
                said.append(f"{BOOKKEEPING}/{name}")
                continue
            target = f"{trace.FOLDER}/{os.path.splitext(os.path.basename(new))[0]}.jsonl"
            os.replace(where, user.bookkeeping(target))
            where = user.bookkeeping(target)
        gone = _without(where, name, found.wording)
        if gone:
            said.append(f"{_count(gone, 'line')} of {BOOKKEEPING}/{os.path.relpath(where, user.bookkeeping(''))}")
    return said


def _kept(user: User) -> Iterator[str]:
    """The files of bookkeeping that are no cache and no lock."""
    top = user.bookkeeping("")
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in _CACHES or folder != top]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), top)
            if not name.endswith("lock") and name != MARK and os.path.isfile(os.path.join(folder, name)):
                yield path


def _without(where: str, name: str, wording: Wording) -> int:
    """Take what tells of it out of a record on disk; returns the number of lines that did."""
    touched = 0

    def changed(data: bytes) -> bytes:
        nonlocal touched
        after, touched = record_without(name, data, wording)
        return after

    disk.edit(where, changed)
    return touched


def record_without(name: str, data: bytes, wording: Wording) -> tuple[bytes, int]:
    """A record's bytes without the lines that tell of it, or with what they must keep; and how many lines did."""
    change = {origins.RECORD: _import, POSTPONED: _job}.get(name, _line)
    lines = data.splitlines(True)
    after = [change(line, wording) for line in lines]
    touched = sum(new != old for new, old in zip(after, lines, strict=True))
    return b"".join(line for line in after if line is not None), touched


def _line(line: bytes, wording: Wording) -> bytes | None:
    """A line of a log with the new names of what moved; None where it names what is gone, or tells of it."""
    if any(_names(old, line) for old, new in wording.names.items() if not new):
        return None
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(line)
        new = _renamed(value, wording)
        if new != value:
            line = json.dumps(new, ensure_ascii=line.isascii()).encode() + b"\n"
    line = wording.renamed(line)
    return None if wording.tells(line.decode(errors="replace")) else line


def _renamed(value: Any, wording: Wording) -> Any:
    """A JSON value with new names in its strings."""
    if isinstance(value, str):
        return wording.renamed(value.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    if isinstance(value, list):
        return [_renamed(entry, wording) for entry in value]
    if isinstance(value, dict):
        return {key: _renamed(entry, wording) for key, entry in value.items()}
    return value


def _names(path: str, line: bytes) -> bool:
    """Does a line hold a path, as it is or as JSON has it?"""
    return path.encode() in line or json.dumps(path)[1:-1].encode() in line


def _import(line: bytes, wording: Wording) -> bytes:
    """A line of the record of imports, which must stay, with the new name of what it speaks of."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        entry = json.loads(line)
        new = wording.names.get(archive.live(entry["path"]))
        if new is not None:
            return json.dumps({**entry, "path": new}).encode() + b"\n"
    return line


def _job(line: bytes, wording: Wording) -> bytes | None:
    """A job that waits for its commit, with nothing of it in its message or files."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        job = json.loads(line)
        trailers = {key: wording.blanked(value) for key, value in job["trailers"].items()}
        gone = {path for path in job["files"] if archive.live(path) in wording.names}
        files = {path: digest for path, digest in job["files"].items() if path not in gone}
        new = {**job, "subject": wording.blanked(job["subject"]), "trailers": trailers, "files": files}
        return line if new == job else json.dumps(new).encode() + b"\n"
    return None


# -- a whole user ------------------------------------------------------------------------------------------------


def remove_user(user: User, at: dt.datetime, *, with_git: bool) -> Done:
    """Delete a user's folder; a repository of its own stays unless `with_git`."""
    history = History(user)
    owned = os.path.lexists(os.path.join(user.root, ".git"))
    history.before(at)
    paths = user.paths()
    with archive.alone(user), user.locked():
        for name in sorted(os.listdir(user.root), key=lambda name: name == BOOKKEEPING):
            where = os.path.join(user.root, name)
            if name == ".git" and not with_git:
                continue
            if os.path.isdir(where) and not os.path.islink(where):
                shutil.rmtree(where)
            else:
                os.unlink(where)
        if not os.listdir(user.root):
            os.rmdir(user.root)
    disk.sync_folder(user.store.root)
    note = ""
    if not (owned and with_git):
        note = history.record(
            "Forget the memories of one user", [*paths, recalls.NAME], {"Job": "forget"}, at, Before()
        ).note
    left = user.bookkeeping("")
    if not owned and os.path.isdir(left):  # a commit that must wait has left a note of what went
        shutil.rmtree(user.root)
    return Done([f"{one_line(user.name)}, {_count(len(paths), 'memory')}"], [], [], [], note)


def _count(number: int, noun: str) -> str:
    plural = {"memory": "memories"}.get(noun, noun + "s")
    return f"{number:,} {noun if number == 1 else plural}"


# -- what still says it ------------------------------------------------------------------------------------------


def remaining(user: User, wording: Wording) -> list[str]:
    """Every file under the store, the repositories aside, that still says it, in its bytes or its name."""
    found = []
    for folder, folders, names in os.walk(user.store.root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            where = os.path.join(folder, name)
            path = os.path.relpath(where, user.store.root)
            try:
                data = disk.read(where)
            except (FilememError, OSError):
                continue
            line = wording.stands_in(data) or wording.stands_in(
                os.fsencode(os.path.splitext(name)[0].replace("-", " "))
            )
            if line:
                found.append(f"{one_line(path)}: {one_line(line, 80)}")
    return sorted(found)
