"""Deletion on request, second half: delete what `deletion.plan` found, in the memories and in filemem's own records.

What a forgetting has set out to do is written down before it begins, in a journal that is the last file to go and lies where
git never looks. Each step may be taken twice, so one that is cut off is finished by the next.
"""

import contextlib
import datetime as dt
import json
import os
import stat
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from filemem import index as indexes
from filemem.errors import FilememError, NotFound, Refused
from filemem.files import archive, disk, origins, recalls, running, trace
from filemem.files.folder import BOOKKEEPING, Folder
from filemem.files.memory import LARGEST, Memory, kind_of
from filemem.files.places import Place, files, names_in, remove, spot
from filemem.forgetting.deletion import DeletionPlan, other_files
from filemem.forgetting.wording import MARK, LineCut, Wording, apply_cuts
from filemem.history import POSTPONED, History, UncommittedChanges, asof
from filemem.search import vector_files
from filemem.text.plain import counted, one_line


class DeletionJob(NamedTuple):
    """A plan; whether it is about everything of a user (`all`), whether all that holds the words asked for goes (`every`) or
    only what was chosen of it, whether git's history is rewritten; and the files in which a person had uncommitted changes.
    """

    plan: DeletionPlan
    all: bool = False
    every: bool = False
    purge: bool = False
    edited: tuple[str, ...] = ()

    @property
    def paths(self) -> list[str]:
        """Every path that the plan touches, new names too."""
        return [*self.plan.whole, *self.plan.lines, *self.plan.moved, *self.plan.moved.values()]


def unfinished(folder: Folder) -> DeletionJob | None:
    """The job that was cut off, if any; raises Refused for one that was not begun in this very folder: a stranger's store
    must not say what is deleted here."""
    try:
        data = disk.read(folder.bookkeeping(MARK))
    except NotFound:
        return None
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        kept = json.loads(data)
        if kept["folder"] != os.stat(folder.root).st_ino:
            raise Refused(
                f"{folder.bookkeeping(MARK)} was not written here; delete it, then forget what it was about anew."
            )
        plan = kept["plan"]
        lines = {
            path: [LineCut(line, tuple(old), new) for line, old, new in cuts] for path, cuts in plan["lines"].items()
        }
        found = DeletionPlan([], plan["whole"], lines, plan["moved"], Wording.of(plan["wording"]), [])
        return DeletionJob(found, kept["all"], kept["every"], kept["purge"], tuple(kept["edited"]))
    raise Refused(f"{folder.bookkeeping(MARK)} cannot be read; delete it, then forget what it was about anew.")


def end(folder: Folder) -> None:
    """Forget the job, which has come to its end."""
    with contextlib.suppress(NotFound):
        disk.delete(folder.bookkeeping(MARK))
        disk.sync_folder(folder.bookkeeping())


CACHES = (indexes.FOLDER, asof.FOLDER, vector_files.FOLDER)
# How the files of gzip, zip, bzip2, xz, 7z, zstd, rar, pdf and those of git begin.
_PACKED = (
    *(b"\x1f\x8b\x08", b"PK\3\4", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"(\xb5/\xfd", b"Rar!\x1a", b"%PDF-"),
    *(b"PACK\0\0\0", b"\x78\1", b"# v2 git bundle", b"# v3 git bundle"),
)


class ErasureReport(NamedTuple):
    """What went: whole files, lines as path:line, records beside the memories; what stayed and why; a word about git; and
    whether it was long enough to be looked for elsewhere."""

    deleted: list[str]
    redacted: list[str]
    beside: list[str]
    stayed: list[str]
    note: str
    sought: bool


def apply(folder: Folder, found: DeletionPlan, at: dt.datetime) -> ErasureReport:
    """Carry the plan out and commit it. A file that a person has saved since the plan was made stays, and is named."""
    job, edits = start_job(folder, DeletionJob(found), at)
    done = erase(folder, job, at, edits)
    end(folder)
    return done


def start_job(folder: Folder, job: DeletionJob, at: dt.datetime) -> tuple[DeletionJob, UncommittedChanges]:
    """Write the job down: from now on it will be done. Returns it with the files that a person is at work on, and these.

    Raises Refused where another has not come to its end.
    """
    edits = History(folder).before(at).edits
    edits = {path: data for path, data in edits.items() if path not in job.plan.whole}
    job = job._replace(edited=tuple(edits))
    if disk.exists(folder.bookkeeping(MARK)):
        raise Refused("an earlier forgetting was cut off; finish it with filemem forget, then try again.")
    plan = job.plan
    kept = {"whole": plan.whole, "lines": plan.lines, "moved": plan.moved, "wording": plan.wording.state()}
    folder.make()
    where = os.stat(folder.root).st_ino
    disk.write(folder.bookkeeping(MARK), json.dumps({**job._asdict(), "plan": kept, "folder": where}).encode())
    return job, UncommittedChanges(edits)


def erase(folder: Folder, job: DeletionJob, at: dt.datetime, before: UncommittedChanges | None = None) -> ErasureReport:
    """Carry a job out in the files, and commit that; without `before` it is one that was cut off."""
    found = job.plan
    with archive.job_lock(folder), folder.locked():
        beside = _records(folder, found)
        redacted, stayed = _redact(folder, found)
        renamed = _rename(folder, found)
        deleted, changed = _delete(folder, found.whole)
        _delete_temporaries(folder, found)
        beside += clear(folder)
    stayed += changed
    counts = (len(found.whole), "file"), (sum(map(len, found.lines.values())), "passage")
    subject = f"Forget {' and '.join(counted(*count) for count in counts if count[0]) or 'what records told'}"
    before = before or UncommittedChanges(dict.fromkeys(job.edited))
    note = History(folder).record(subject, [*job.paths, *renamed], {"Job": "forget"}, at, before).note
    return ErasureReport(deleted, redacted, beside, stayed, note, bool(found.wording))


def clear_note(folder: Folder, found: DeletionPlan) -> None:
    """Take what was forgotten out of notes on postponed commits; to be called when no history has it any more."""
    with folder.locked():
        _records(folder, found)


def clear(folder: Folder) -> list[str]:
    """Delete the index, the vectors and what was laid out of the past; says what went."""
    said = []
    if disk.exists(folder.bookkeeping(indexes.FOLDER)):
        indexes.of(folder).discard()
        said.append("the index, which the next question builds anew")
    if asof.drop_all(folder):
        said.append("the copies of past days")
    if vector_files.drop(folder):
        said.append("the vectors, which questions and filemem maintain have made anew")
    return said


# -- the memories ------------------------------------------------------------------------------------------------


def _redact(folder: Folder, found: DeletionPlan) -> tuple[list[str], list[str]]:
    """Take the lines out of their files; a summary of which nothing is left goes too."""
    redacted: list[str] = []
    stayed: list[str] = []
    for path, wanted in found.lines.items():
        try:
            if folder.edit(path, lambda data, wanted=wanted: apply_cuts(data, wanted)):  # type: ignore[misc]
                redacted += [f"{path}:{cut.line}" for cut in wanted]
            if kind_of(path) == "summaries":
                summary = Memory(path, folder.read(path))
                if all(not line.strip() or line.startswith("#") for line in summary.lines[summary.front_end :]):
                    disk.delete(folder.place / path)
        except NotFound:  # moved, or gone, when the job was cut off
            continue
        except (FilememError, OSError) as error:
            stayed.append(f"{path} stays as it is: {error}")
    return redacted, stayed


def _rename(folder: Folder, found: DeletionPlan) -> list[str]:
    """Give sessions their new names, and let every memory that names a file which goes or moves say so no more."""
    touched = []
    for path in folder.paths():
        if path in found.whole:
            continue
        with contextlib.suppress(FilememError, OSError):
            data = folder.read(path, LARGEST + 1)
            named = len(data) <= LARGEST and found.wording.renamed(data) != data
            if named and folder.edit(path, found.wording.renamed):
                touched.append(path)
    for old, new in found.moved.items():
        with contextlib.suppress(FilememError, FileExistsError):
            folder.move(old, new)
            touched += [old, new]
    return touched


def _delete(folder: Folder, whole: dict[str, str]) -> tuple[list[str], list[str]]:
    """Delete files that are still what they were; returns those deleted, and sentences on those that stay."""
    deleted: list[str] = []
    stayed: list[str] = []
    for path, known in whole.items():
        try:
            disk.delete_if(folder.place / path, lambda where, known=known: disk.digest(where) == known)  # type: ignore[misc]
            deleted.append(path)
        except (NotFound, FileNotFoundError):
            continue
        except (FilememError, OSError) as error:
            stayed.append(f"{path} stays as it is: {error}")
    return deleted, stayed


def _delete_temporaries(folder: Folder, found: DeletionPlan) -> None:
    """Delete what a write that was cut off has left in the folders, where it tells of what went."""
    old = [line.encode() for cuts_ in found.lines.values() for cut in cuts_ for line in cut.old if line.strip()]
    cut_off = [path for path in other_files(folder) if path.rpartition("/")[2].startswith(disk.TEMPORARY)]
    for path in cut_off:
        where = folder.place / path
        with contextlib.suppress(FilememError, OSError):
            data = disk.read(where, LARGEST)
            if (
                found.wording.line_about(data)
                or disk.digest(where) in found.whole.values()
                or any(map(data.count, old))
            ):
                disk.delete(where)


# -- beside the memories -----------------------------------------------------------------------------------------


def _records(folder: Folder, found: DeletionPlan) -> list[str]:
    """Take what was forgotten out of recalls, imports, traces, input history and every other record."""
    for path in found.whole:
        with contextlib.suppress(FilememError, OSError):  # gone when the job was cut off, and so in the record already
            origins.forget(folder, Memory(path, disk.read(folder.place / path, LARGEST)))
    said = []
    renamed = {os.path.splitext(os.path.basename(old))[0]: new for old, new in found.wording.names.items()}
    for name in sorted(files(folder.bookkeeping(), lambda inner: inner not in CACHES)):
        if name.endswith("lock") or name == MARK:
            continue
        stem = os.path.splitext(os.path.basename(name))[0]
        where = folder.bookkeeping(name)
        if name.startswith(running.FOLDER + "/"):  # in a model's words, which no wording tells
            disk.delete(where)
            continue
        if name.startswith(trace.FOLDER + "/") and stem in renamed:
            new = renamed[stem]
            if not new:
                disk.delete(where)
                said.append(f"{BOOKKEEPING}/{name}")
                continue
            target = f"{trace.FOLDER}/{os.path.splitext(os.path.basename(new))[0]}.jsonl"
            disk.replace(where, folder.bookkeeping(target))
            where = folder.bookkeeping(target)
        if gone := _without(where, name, found.wording):
            said.append(f"{counted(gone, 'line')} of {BOOKKEEPING}/{os.path.relpath(where, folder.bookkeeping())}")
    return said


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
    gone = [old for old, new in wording.names.items() if not new]
    # A path stands there as it is, or as JSON has it.
    if any(old.encode() in line or json.dumps(old)[1:-1].encode() in line for old in gone):
        return None
    said: str | None = None
    told: list[str] = []  # without the keys, which are the program's own words

    def renamed(text: str) -> str:
        told.append(wording.renamed(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass"))
        return told[-1]

    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(line)
        new = _changed(value, renamed)
        said = "\n".join(told)
        if new != value:
            line = json.dumps(new, ensure_ascii=line.isascii()).encode() + b"\n"
    line = wording.renamed(line)
    return None if wording.is_about(line.decode(errors="replace") if said is None else said) else line


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with its strings changed."""
    if isinstance(value, list):
        return [_changed(entry, change) for entry in value]
    if isinstance(value, dict):
        return {key: _changed(entry, change) for key, entry in value.items()}
    return change(value) if isinstance(value, str) else value


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


def remove_user(folder: Folder, job: DeletionJob, at: dt.datetime) -> ErasureReport:
    """Delete all in a user's folder but the journal; a repository of its own stays unless the history is to be purged."""
    history = History(folder)
    owned = os.path.lexists(os.path.join(folder.root, ".git"))
    history.before(at)
    with archive.job_lock(folder), folder.locked():
        for name in names_in(folder.place):
            if name not in (BOOKKEEPING, ".git") or (name == ".git" and job.purge):
                remove(folder.place / name)
        for name in names_in(folder.bookkeeping()):
            if name != MARK:
                remove(folder.bookkeeping(name))
        disk.sync_folder(folder.root)
    note = ""
    if not (owned and job.purge):
        subject = "Forget the memories of one user"
        note = history.record(
            subject, [*job.plan.whole, recalls.NAME], {"Job": "forget"}, at, UncommittedChanges()
        ).note
    gone = f"{one_line(folder.name)}, {counted(len(job.plan.whole), 'memory', 'memories')}"
    return ErasureReport([gone], [], [], [], note, bool(job.plan.wording))


def end_user(folder: Folder) -> None:
    """Delete the journal of a user's deletion, and with it the folder, unless a repository stays there."""
    end(folder)
    with contextlib.suppress(FilememError, OSError):
        remove(folder.bookkeeping())  # locks, and the note of a commit that must wait
    if not names_in(folder.place):
        remove(folder.place)
    disk.sync_folder(folder.above)


# -- what still says it ------------------------------------------------------------------------------------------


def files_still_saying(folder: Folder, wording: Wording) -> list[str]:
    """Every file under the store, without repositories, whose bytes or name still hold the wording, or that cannot be read;
    with the line that does."""
    root = os.path.realpath(folder.above)
    found = still_saying(root, wording, but=(".git",), aside=folder.bookkeeping(MARK))
    return [f"{one_line(os.path.relpath(where, root))}: {one_line(line, 80)}" for where, line in found.items()]


def still_saying(root: str, wording: Wording, but: Collection[str] = (), aside: str = "") -> dict[str, str]:
    """The files under a folder that say it, or cannot be read, each with the line that does; folders named `but`, and the
    file `aside`, are passed over."""
    unread: list[str] = []
    top = Place(os.path.realpath(root))
    found = {}

    def searched(folder: str) -> bool:
        inner, name = folder.count("/") > 1, folder.rpartition("/")[2]  # than the store's and the users'
        if inner and name == ".git":
            found[str(top / folder)] = "is a repository of its own, which nobody has searched"
        return name != ".git" if inner else name not in but

    for path in sorted(files(top, searched, unread.append, plain=False)):
        if top / path != aside and (line := _line_of(top / path, wording)):
            found[str(top / path)] = line
    return found | {top / path: "cannot be listed, so nobody knows what it says" for path in unread}


def _line_of(where: Place, wording: Wording) -> str:
    """The line of a file, or its name, that holds the wording, or why the file cannot be searched; empty for none."""
    name = os.path.splitext(os.path.basename(where))[0]
    try:
        said = wording.line_about(os.fsencode(name.replace("-", " ")))
        with spot(where) as at:
            if said or not stat.S_ISREG(at.status().st_mode):  # a link, a pipe: no bytes of this folder
                return said
        with open(disk.open_regular(where), "rb") as file:
            line = wording.line_about_in_file(file)
            file.seek(0)
            return line or ("is compressed, so nobody knows what it says" if file.read(16).startswith(_PACKED) else "")
    except (NotFound, FileNotFoundError):
        return ""
    except (Refused, OSError):
        return "cannot be read, so nobody knows what it says"


NOWHERE = "No file of the store says it any more."
TOO_SHORT = "It is too short to be looked for elsewhere; other files may say it."


def planned(found: DeletionPlan) -> Iterable[str]:
    """What would go, a line each."""
    whole = [item for item in found.items if not item.line]
    lines = [item for item in found.items if item.line]
    for heading, items in (("These files go:", whole), ("These passages go, their lines stay:", lines)):
        if items:
            yield heading
        for item in items:
            text = f"  {one_line(item.text, 80)}" if item.text else ""
            yield f"  {item.place}{text}  ({item.why})"
    for old, new in found.moved.items():
        yield f"  {old} is renamed {new}, as its name told of it"
    yield from found.notes


def report(done: ErasureReport, still: list[str]) -> Iterable[str]:
    """Sentences on what was deleted, and what of it is still to be found."""
    yield from (f"Deleted {path}." for path in done.deleted)
    if done.redacted:
        yield f"Redacted {', '.join(done.redacted)}."
    if done.beside:
        yield f"Cleared {', '.join(done.beside)}."
    yield from done.stayed
    for line in still:
        yield f"Still says it: {line}"
    if not still:
        yield NOWHERE if done.sought else TOO_SHORT
