"""What holds when things go wrong: processes that are killed, errors of the system, full disks, many writers.

    python benchmarks/reliability.py [PART ...]

The parts are kills, kills-in-git, errors, full-disks, writers; all of them take some ten minutes on two cores. Prints one line a
part: how often something was done, and how often a byte that a person or a conversation had written was lost, or a job was not
finished by its next run. Exit code 1 where a number that should be 0 is not.
"""

import contextlib
import datetime as dt
import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))

import crash_driver
from crash_driver import TALK, arm

from filemem import User, jobs
from filemem import index as indexes
from filemem.errors import Busy, FilememError
from filemem.forget.plan import plan_deletion
from filemem.git.history import LOGS, History
from filemem.git.setup import set_up
from filemem.git.sync import sync
from filemem.git.undo import undo
from filemem.importers import import_file
from filemem.jobs import forget
from filemem.learn.remember import Asked, remember, remember_all
from filemem.store import saved_over
from filemem.store.folder import Folder
from filemem.store.memory import parse
from filemem.store.transcript import Transcript
from filemem.store.users import StoreFolder

AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
NEW = "sessions/2026/2026-11-19-0930-the-boat.md"
KILLS = 220  # at most, of one job: evenly spread over all of its changes to the disk
GIT_KILLS = 100
ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES)
ROOM = (0, 4096, 12288, 24576, 49152, 98304)  # bytes left on a disk
WRITING = 25.0  # seconds for which six processes and two editors write
FILES = {
    "sessions/2026/2026-09-03-0930-the-loom.md": TALK.format(
        "Yesterday I bought a loom from Old Hannah for 85 pounds."
    ),
    "sessions/2026/2026-09-17-1105-the-eel.md": TALK.format(
        "We caught an eel under the mill bridge."
    ),
    NEW: TALK.format("I live in Bruges now, and my sister Ida has a boat."),
    "facts/2026/2026-09-17-eel.md": "---\nkind: event\nimportance: 1\n---\nAte eels.\n",
    "facts/2026/2026-09-18-wool.md": "---\nimportance: 1\n---\nBought wool in Diss.\n",
    "facts/2026/2026-09-19-key.md": "---\npinned: true\nsource: facts/2026/2026-09-18-wool.md:1\n---\nThe key is 1234.\n",
    "facts/2026/2026-10-01-home.md": "Ann lives in Ghent.\n",
    "archive/facts/2026/2026-07-02-owl.md": "An owl nests in the barn.\r\n",
    "profile.md": "Ann, weaver. No numbers before nine.\n",
}
FILES |= {
    f"facts/2026/2026-08-{10 + n}-fair.md": f"---\nkind: event\nimportance: 1\n---\nFair {n}.\n"
    for n in range(18)
}
FILES |= {
    f"sessions/2026/2026-{month:02}-11-1800-letter.md": TALK.format(
        f"My aunt Agnes wrote {month} letters from Dedham."
    )
    for month in range(2, 9)
}


# -- the jobs ----------------------------------------------------------------------------------------------------


def _turn(text: str, path: str = NEW) -> Callable[[Folder], object]:
    return lambda user: Transcript(user, path).add("Ann", text, AT)


def _imported(user: Folder, *, in_git: bool = False) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        talk = {
            "created_at": AT.isoformat(),
            "messages": [{"role": "user", "content": "I keep two goats."}],
        }
        file.write(json.dumps(talk))
        file.flush()
        if in_git:
            jobs.imported(user, "openai-jsonl", file.name, AT)
        else:
            import_file(user, "openai-jsonl", file.name)


def _forgotten(user: Folder) -> None:
    forget(user, plan_deletion(user, "Hannah"), AT)


def _undone(user: Folder) -> None:
    """Take back the sweep that `_fill_git` has done, unless a killed run has come so far."""
    commit = Path(user.store).with_name("commit").read_text()
    try:
        undo(History(user), commit, AT)
    except FilememError as error:
        if "nothing left" not in str(error):
            raise


def _synced(user: Folder) -> None:
    sync(History(user), str(Path(user.store).with_name("remote")), AT)


FACTS = [
    Asked("I collect stamps.", id="m1"),
    Asked("I keep bees.", id="m2"),
    Asked("I have a boat.", id="m3"),
]
JOBS: dict[str, Callable[[Folder], object]] = {
    "a first turn": _turn("Hello, I painted the boat.", ""),
    "a turn": _turn("I painted the boat."),
    "a long turn": _turn("I painted the boat. " * 600),
    "remember": lambda user: remember(user, "I collect stamps from Malta.", AT),
    "remember all": lambda user: remember_all(user, FACTS, AT),
    "remember otherwise": lambda user: remember(user, "Ann lives in Bruges.", AT),
    **crash_driver.JOBS,
    "restore turns": lambda user: saved_over.put_back(user, NEW),
    "import": _imported,
    "forget": _forgotten,
}
LATER = AT + dt.timedelta(days=300)
IN_GIT: dict[str, Callable[[Folder], object]] = {  # begin in a store kept in git
    "git remember": lambda user: jobs.remembered(user, FACTS, AT),
    "git talk": lambda user: User(user).add_conversation(
        [{"role": "user", "content": "I keep two goats."}], at=AT, id="goats"
    ),
    "git import": lambda user: _imported(user, in_git=True),
    "git consolidate": lambda user: jobs.read_conversations(
        user, AT, crash_driver.READER
    ),
    "git compact": lambda user: jobs.compact(user, LATER),
    "git sweep": lambda user: jobs.sweep(user, LATER),
    "git maintain": lambda user: jobs.maintain(user, LATER, None),
    "git restore": crash_driver.JOBS["restore"],
    "git forget": _forgotten,
    "git undo": _undone,
    "git sync": _synced,
}
DRAFT = "facts/2026/2026-10-01-home.md"  # to which a person has added a line there
APPENDS = ("a first turn", "a turn", "a long turn")  # done again, these say it twice


@contextlib.contextmanager
def _stores() -> Iterator[Path]:
    """A folder, in memory where the system has one, with the store `begin/store` in it."""
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    ) as name:
        _fill(Path(name, "begin/store"))
        yield Path(name)


def _fill(root: Path) -> None:
    user = StoreFolder(root).folder("ann")
    for path, text in FILES.items():
        Path(user.root, path).parent.mkdir(parents=True, exist_ok=True)
        Path(user.root, path).write_bytes(text.encode())
    user.make()
    before = user.read(NEW)
    Transcript(user, NEW).add("Ann", "A turn that an editor saves over.", AT)
    Path(user.absolute(NEW)).write_bytes(before)
    list(indexes.of(user).corpus().files)


def _git(where: Path, *arguments: str) -> str:
    """What a git command of a person's prints."""
    person = [
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@example.org",
        "-C",
        str(where),
    ]
    done = subprocess.run(["git", *person, *arguments], check=True, capture_output=True)
    return done.stdout.decode().strip()


def _fill_git(place: Path) -> None:
    """The same store in git, the name of its last commit, a sweep, and a remote to which another machine has added a turn."""
    store = place / "store"
    none = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "XDG_CONFIG_HOME": str(place / "config"),
    }
    os.environ |= none  # no settings of this machine
    _fill(store)
    set_up(str(store), "ann", AT)
    _git(place, "clone", "--quiet", "--bare", "store", "remote")
    _git(place, "clone", "--quiet", "remote", "other")
    with open(place / "other/ann" / NEW, "a") as file:
        file.write("- **Ann** 10:02: From another machine: the boat is called Heron.\n")
    _git(place / "other", "commit", "--quiet", "--all", "--message", "Elsewhere")
    _git(place / "other", "push", "--quiet")
    shutil.rmtree(place / "other")
    jobs.sweep(StoreFolder(store).folder("ann"), AT)
    (place / "commit").write_text(_git(store, "rev-parse", "HEAD"))
    with open(store / "ann" / DRAFT, "a") as file:
        file.write("A line of her own, not committed.\n")


def memories(root: Path) -> dict[str, bytes]:
    user = StoreFolder(root).folder("ann")
    return {path: user.read(path) for path in user.paths()}


def told(memories: dict[str, bytes]) -> dict[str, bytes]:
    """Memories without what depends on the minute in which they were written."""
    return {
        re.sub(r"-11-2\d-\d{4}-", "-", path): re.sub(
            rb"(date|origin): .*|(?<=\*\* )\d\d:\d\d", b"", data
        )
        for path, data in memories.items()
    }


def lost(before: dict[str, bytes], after: dict[str, bytes], job: str) -> list[str]:
    """The lines of bodies that no memory has any more, those aside that a job is there to delete."""
    there = {line.strip() for data in after.values() for line in data.split(b"\n")}
    gone = []
    for path, data in before.items():
        body = parse(path, data).lines[parse(path, data).front_end :]
        told = [
            line for line in body if not job.endswith("forget") or "Hannah" not in line
        ]
        gone += [
            f"{path}: {line}" for line in told if line.strip().encode() not in there
        ]
    return gone


# -- a child that fails at one change ----------------------------------------------------------------------------


def attempted(
    root: Path, job: str, limit: int, then: Callable[[], None]
) -> tuple[int, int]:
    """Do a job in a child that does `then` before its change with the number `limit`: its exit code, and how many it made."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            made = arm(limit, then)
            try:
                _job(job)(StoreFolder(root).folder("ann"))
                code = 0
            except (FilememError, OSError):
                code = 2
            _write(tell, str(made()).encode())
        finally:
            os._exit(code)
    os.close(tell)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(told, "rb") as rest:
        return status, int(rest.read() or 0)


def _job(name: str) -> Callable[[Folder], object]:
    return IN_GIT.get(name) or JOBS[name]


_write = os.write  # as it is before a child is armed


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def failing(code: int) -> Callable[[], None]:
    def fail() -> None:
        raise OSError(code, os.strerror(code), "injected")

    return fail


_ENDS = {-signal.SIGKILL: "killed", 2: "said so", 0: "went on"}


def _spread(changes: int, most: int) -> list[int]:
    step = max(1, -(-changes // most))
    return list(range(1, changes + 1, step))


def _begun(job: str) -> str:
    """The name of the folder with the store in which a job begins."""
    return "git" if job in IN_GIT else "begin"


def _left_in_git(store: Path) -> list[str]:
    """What is not committed; what is new in the logs goes with the next job."""
    if not (store / ".git").exists():
        return []
    status = _git(store, "status", "--porcelain", "-uall").splitlines()
    return [line.strip() for line in status if not line.endswith(LOGS)]


def _tried(
    folder: Path,
    job: str,
    points: list[tuple[int, Callable[[], None]]],
    found: Counter[str],
) -> None:
    """Have a job fail at each point, look at what is left, do it again, and compare with an undisturbed run."""
    first = folder / _begun(job)
    begin = memories(first / "store")
    undisturbed = folder / f"{job}-undisturbed"
    shutil.copytree(first, undisturbed)
    _job(job)(StoreFolder(undisturbed / "store").folder("ann"))
    wanted, uncommitted = (
        memories(undisturbed / "store"),
        _left_in_git(undisturbed / "store"),
    )
    for limit, then in points:
        store = folder / "attempt/store"
        shutil.copytree(first, store.parent)
        status, _ = attempted(store, job, limit, then)
        found["done"] += 1
        found[_ENDS.get(status, "broke")] += 1
        gone = lost(begin, memories(store), job)
        _job(job)(StoreFolder(store).folder("ann"))
        after = memories(store)
        gone += lost(begin, after, job)
        found["lost"] += bool(gone)
        same = (
            not lost(wanted, after, job)
            if job in APPENDS
            else told(after) == told(wanted)
        )
        unfinished = not same or _left_in_git(store) != uncommitted
        found["not finished"] += unfinished
        if gone or unfinished:
            differ = [path for path, data in after.items() if wanted.get(path) != data]
            left = _left_in_git(store)
            print(f"  {job} at change {limit}: {gone[:2] or differ[:4]} {left}")
        shutil.rmtree(store.parent)


def _failing_everywhere(
    most: int, then: Callable[[int], Callable[[], None]], jobs: tuple[str, ...]
) -> Counter[str]:
    """Jobs failing at up to `most` of their changes; `then` gives what happens at the point with a number, from 0."""
    found = Counter[str]()
    with _stores() as folder:
        _fill_git(folder / "git")
        for job in jobs:
            shutil.copytree(folder / _begun(job), folder / "count")
            _, changes = attempted(folder / "count/store", job, -1, killed)
            shutil.rmtree(folder / "count")
            points = [
                (limit, then(number))
                for number, limit in enumerate(_spread(changes, most))
            ]
            _tried(folder, job, points, found)
            found["jobs"] += 1
    return found


def kills() -> Counter[str]:
    """Each job killed with SIGKILL right before a write, rename, link, unlink, mkdir, truncation, fsync or creating open."""
    return _failing_everywhere(KILLS, lambda _: killed, tuple(JOBS))


def kills_in_git() -> Counter[str]:
    """Each job in a store kept in git, likewise, and right before a start of git."""
    return _failing_everywhere(GIT_KILLS, lambda _: killed, tuple(IN_GIT))


def errors() -> Counter[str]:
    """Each job with an error of the system at one such call."""
    return _failing_everywhere(
        12, lambda number: failing(ERRORS[number % 3]), tuple(JOBS)
    )


# -- full disks --------------------------------------------------------------------------------------------------


def full_disks() -> Counter[str]:
    """Each job on a file system with next to no room, then with room again."""
    found = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        for job in JOBS:
            for room in ROOM:
                if subprocess.run(
                    ["mount", "-t", "tmpfs", "-o", "size=1m", "none", name], check=False
                ).returncode:
                    return found
                try:
                    _on_full_disk(Path(name), job, room, found)
                finally:
                    subprocess.run(["umount", "-l", name], check=True)
    return found


def _on_full_disk(disk: Path, job: str, room: int, found: Counter[str]) -> None:
    _fill(disk / "store")
    before = memories(disk / "store")
    with open(disk / "filler", "wb", buffering=0) as filler:
        while (free := shutil.disk_usage(disk).free - room) > 0:
            filler.write(b"\0" * free)
    status, _ = attempted(disk / "store", job, -1, killed)
    found["done"] += 1
    found["said so" if status == 2 else "went on"] += 1
    gone = lost(before, memories(disk / "store"), job)
    (disk / "filler").unlink()
    _job(job)(StoreFolder(disk / "store").folder("ann"))
    gone += lost(before, memories(disk / "store"), job)
    found["lost"] += bool(gone)
    if gone:
        print(f"  {job} with {room} bytes of room: {gone[:2]}")


# -- six processes, two editors ----------------------------------------------------------------------------------


def _child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:  # noqa: BLE001  whatever it is
        traceback.print_exc()
        os._exit(1)  # else it would take the stores of all with it
    os._exit(0)


def _speaker(root: Path, path: str, name: str, end: float, acknowledged: Path) -> None:
    """Say turn after turn, noting each once it was kept; where others are, again."""
    talk, number = Transcript(StoreFolder(root).folder("ann"), path), 0
    with open(acknowledged, "w", buffering=1) as log:
        while time.monotonic() < end:
            try:
                talk.add(name, f"{name} turn {number}", AT)
            except Busy:
                continue
            log.write(f"{name} turn {number}\n")
            number += 1


def _editor(place: Path, end: float, *, in_place: bool, dice: random.Random) -> None:
    """Load and save a file over and over: in place with a pause behind the truncation, or by a rename."""
    while time.monotonic() < end:
        text = place.read_text()
        time.sleep(dice.random() * 0.2)
        if in_place:
            with open(place, "r+") as file:
                file.truncate(0)
                time.sleep(0.06 + dice.random() * 0.1)
                file.write(text)
        else:
            aside = place.with_name(place.name + "~")
            aside.write_text(text)
            os.replace(aside, place)
        time.sleep(0.5)


def writers() -> Counter[str]:
    """Six processes that keep turns, three of them in one session, while two editors save that session, one of them slowly in
    place; how many turns were acknowledged, saved over, noticed, and are there once they were put back."""
    found = Counter[str]()
    with _stores() as folder:
        root, end = folder / "begin/store", time.monotonic() + WRITING
        shared = Path(StoreFolder(root).folder("ann").absolute(NEW))
        other = Path(
            StoreFolder(root)
            .folder("ann")
            .absolute("sessions/2026/2026-09-17-1105-the-eel.md")
        )
        paths = [NEW, NEW, NEW, "sessions/2026/2026-09-17-1105-the-eel.md", "", ""]
        logs = [folder / f"log-{n}" for n in range(6)]
        children = [
            _child(lambda n=n, path=path: _speaker(root, path, f"P{n}", end, logs[n]))  # type: ignore[misc]
            for n, path in enumerate(paths)
        ]
        children.append(
            _child(lambda: _editor(shared, end, in_place=True, dice=random.Random(1)))
        )
        children.append(
            _child(lambda: _editor(other, end, in_place=False, dice=random.Random(2)))
        )
        for child in children:
            found["broke off"] += (
                os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
            )
        turns = [line for log in logs for line in log.read_text().splitlines()]
        found["done"] = len(turns)
        user = StoreFolder(root).folder("ann")
        found["saved over"] = len(_absent(root, turns))
        noticed = saved_over.lost(user)
        texts = {turn.text for gone in noticed.values() for turn in gone}
        for one in _absent(root, turns):
            found["noticed"] += one in texts
        for path in noticed:
            saved_over.put_back(user, path)
        found["lost"] = len(_absent(root, turns))
    return found


def _absent(root: Path, turns: list[str]) -> list[str]:
    there = {
        line.rpartition(": ")[2]
        for data in memories(root).values()
        for line in data.decode().splitlines()
    }
    return [turn for turn in turns if turn not in there]


PARTS = {
    "kills": kills,
    "kills-in-git": kills_in_git,
    "errors": errors,
    "full-disks": full_disks,
    "writers": writers,
}
BAD = ("lost", "broke", "not finished", "broke off")


def main(chosen: list[str]) -> int:
    if unknown := [name for name in chosen if name not in PARTS]:
        raise SystemExit(
            f"there is no part {unknown[0]}; take some of {', '.join(PARTS)}.\n\n{__doc__}"
        )
    wrong = 0
    for name in chosen or PARTS:
        start = time.monotonic()
        found = PARTS[name]()
        wrong += sum(found[key] for key in BAD)
        told = ", ".join(
            f"{key} {found[key]:,}"
            for key in dict.fromkeys([*found, "lost"])
            if key != "done"
        )
        print(
            f"{name:11} {found['done']:6,} {told} ({time.monotonic() - start:.0f} s)",
            flush=True,
        )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
