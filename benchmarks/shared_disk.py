"""What holds and what it costs where machines share a store: two that write the same users, a user moved and killed, one user's
inodes, bytes and fsyncs.

    python benchmarks/shared_disk.py [PART ...]

The parts are machines, machines-and-moves, moves, costs, neighbours, looks. A machine here is a process in namespaces of its own
for mounts, network and host name, with the store mounted at a place of its own; all share one kernel, and so its locks: a file
server's are not measured. `moves` has strace kill `users move` right before each system call that changes anything, and before
some others: four minutes, the rest two. Exit code 1 where anything is lost or torn.
"""

import contextlib
import functools
import json
import os
import re
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from generate import sessions

from filemem import Store, User
from filemem.files import moving, shards
from filemem.files.folder import Folder
from filemem.files.store import StoreFolder
from filemem.files.trust import Trust
from filemem.forgetting.erasure import CACHES

USERS, WRITES = 10, 1_000  # of each machine
SESSION, FACT, COUNT = "sessions/2026/2026-11-20-0930-both.md", "facts/2026/2026-11-20-the-same.md", "counted.md"
TURN = re.compile(rb"- \*\*(one|two)\*\* 09:30: (\d+) (x+)\n")
ISOLATED = [*"unshare --mount --net --uts".split(), *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
CHANGING = {
    *(
        "write",
        "fsync",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
        "unlinkat",
        "rmdir",
        "mkdir",
        "mkdirat",
        "symlinkat",
    ),
    *("flock", "link", "linkat", "ftruncate", "utimensat", "fchown", "fchmod", "exit_group"),
}
SPARED = 25
COUNTED = {"fsync": "fsync", "open": "open", "replace": "rename", "rename": "rename", "link": "rename"}
MOVED = "import os, sys; import shared_disk as s; os.access('/begun', 0); s.moved(sys.argv[1], sys.argv[2])"


def opened(top: Path | str) -> Store:
    return Store(top, Trust(given=True))


def disks(place: Path, count: int = 2) -> Path:
    """A store of some shards, begun and empty."""
    for number in range(count):
        (place / f"disk{number}").mkdir(parents=True)
        (place / f"disk{number}" / "filemem.yaml").touch()
    (place / "top").mkdir()
    (place / "top/filemem.yaml").write_text(f"stores: [{', '.join(f'../disk{number}' for number in range(count))}]\n")
    return place / "top"


# -- two machines ------------------------------------------------------------------------------------------------


def machines(*, shuffled: bool = False) -> tuple[list[str], int]:
    """Turns appended, facts created under one name, a number counted up, by two at once, while a third reads; `shuffled`: and a
    fourth moves the users from disk to disk."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        top = disks(place / "shared")
        users = [f"user{number}" for number in range(USERS)]
        for user in users:
            folder = opened(top).user(user).folder
            folder.create(SESSION, "")
            folder.create(COUNT, "0\n")
        isolated = _isolated()
        begun = time.monotonic()
        writing = [_machine(place, who, "write", isolated) for who in ("one", "two")]
        beside = [_machine(place, "three", "read", isolated)]
        beside += [_machine(place, "four", "shuffle", isolated)] if shuffled else []
        ended = [json.loads(_end(process)) for process in writing]
        seconds = time.monotonic() - begun
        for process in beside:
            process.stdin.write("end\n")  # type: ignore[union-attr]
        read, *others = (json.loads(_end(process)) for process in beside)
        wrong = sum(_lost(opened(top).user(user)) for user in users) + read["torn"]
        waits = sorted(wait for one in ended for wait in one["waits"])
        lines = [
            f"two machines ({'namespaces of their own, ' * bool(isolated)}hosts {', '.join(one['host'] for one in ended)})"
            f" made {2 * WRITES:,} writes to the same {USERS} users in {seconds:.1f} s: lost or torn {wrong}",
            f"a write took {_ms(statistics.median(waits))}, one in a hundred {_ms(waits[len(waits) * 99 // 100])},"
            f" the slowest {_ms(waits[-1])}",
            f"meanwhile a third read {read['reads']:,} times: torn {read['torn']}, slowest {_ms(read['slowest'])}",
        ]
        lines += [f"meanwhile a fourth moved one of them {one['moves']:,} times" for one in others]
        return lines, wrong


def _isolated() -> list[str]:
    """The beginning of a command on a machine of its own; empty where the system does not permit it."""
    try:
        permitted = subprocess.run([*ISOLATED, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        permitted = False
    return ISOLATED if permitted else []


def _machine(place: Path, who: str, what: str, isolated: list[str]) -> "subprocess.Popen[str]":
    """A process on a machine that has the disks mounted at a place of its own, and runs a part of this file."""
    shared, mine = place / "shared", place / who
    mine.mkdir()
    run = [sys.executable, __file__, what, str((mine if isolated else shared) / "top"), who]
    script = 'hostname "$1" && mount --bind "$2" "$3" && shift 3 && exec "$@"'
    call = [*isolated, "sh", "-c", script, "sh", who, str(shared), str(mine), *run] if isolated else run
    return subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _end(process: "subprocess.Popen[str]") -> str:
    said = process.communicate()[0]
    assert process.returncode == 0, "a machine failed"
    return said


def write(top: str, who: str) -> dict[str, object]:
    """One machine's writes, in turn to each user."""
    store, waits = opened(top), []
    for number in range(WRITES):
        folder, line = store.user(f"user{number % USERS}").folder, f"- **{who}** 09:30: {number} {'x' * 60}\n"
        begun = time.monotonic()
        kind = number // USERS % 3
        if kind == 0:
            folder.append(SESSION, line)
        elif kind == 1:
            folder.create(FACT, line)
        else:
            folder.edit(COUNT, lambda data: b"%d\n" % (int(data) + 1))
        waits.append(time.monotonic() - begun)
    return {"host": os.uname().nodename, "waits": waits}


def read(top: str, who: str) -> dict[str, object]:
    """Read all users again and again, until told to end; how often, and what was torn."""
    store, torn, times = opened(top), 0, list[float]()
    while not select.select([sys.stdin], [], [], 0)[0]:
        for number in range(USERS):
            folder, begun = store.user(f"user{number}").folder, time.monotonic()
            turns, count = folder.read(SESSION), folder.read(COUNT)
            times.append(time.monotonic() - begun)
            torn += TURN.sub(b"", turns) != b"" or re.fullmatch(rb"\d+\n", count) is None
    return {"reads": len(times), "torn": torn, "slowest": max(times)}


def shuffle(top: str, who: str) -> dict[str, object]:
    """Move each user to the other disk, again and again, until told to end."""
    moves, store, moving.GRACE = 0, StoreFolder(top, Trust(given=True)), 0.05
    while not select.select([sys.stdin], [], [], 0)[0]:
        name = f"user{moves % USERS}"
        other = next(one for one in store.shards.listed() if one.place != store.folder(name).above)
        moving.apply(store, name, other.entry, CACHES)
        moves += 1
        time.sleep(0.3)
    return {"moves": moves}


def _lost(user: User) -> int:
    """How many of the writes of both are not there as they were written, or twice."""
    wanted = Counter((kind, who) for who in ("one", "two") for kind in _kinds(user))
    facts = [user.folder.read(path) for path in user.folder.paths() if path.startswith("facts/")]
    found = {0: TURN.findall(user.folder.read(SESSION)), 1: [one for data in facts for one in TURN.findall(data)]}
    right = sum(abs(sum(wanted[kind, who] for who in ("one", "two")) - len(set(found[kind]))) for kind in (0, 1))
    twice = sum(len(one) - len(set(one)) for one in found.values())
    return right + twice + abs(wanted[2, "one"] + wanted[2, "two"] - int(user.folder.read(COUNT)))


def _kinds(user: User) -> list[int]:
    return [number // USERS % 3 for number in range(WRITES) if f"user{number % USERS}" == user.name]


# -- moves that are killed ---------------------------------------------------------------------------------------


def moves() -> tuple[list[str], int]:
    """`users move` killed right before each of its system calls, then finished by the next."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        begin = Path(name, "begin")
        folder = opened(disks(begin)).user("ann").folder
        other = "../disk1" if folder.above.endswith("disk0") else "../disk0"
        for path in ("profile.md", "facts/2026/2026-11-20-tea.md", "sessions/2026/2026-11-20-0930-both.md"):
            folder.create(path, f"- **ann** 09:30: {path}\n")
        subprocess.run(["git", "init", "-q", "--template=", folder.root], check=True)
        wanted, kills, wrong = _whole(folder.root), Counter[str](), 0
        for call, number in _calls(Path(name), begin, other):
            place = Path(name, "killed")
            shutil.copytree(begin, place, symlinks=True)
            _traced(place, other, f"inject={call}:signal=SIGKILL:when={number}")
            store = opened(place / "top")
            there = store.users() == ["ann"] and _whole(store.user("ann").folder.root) == wanted
            moved(place / "top", other)
            ended = _whole(place / other[3:] / "ann") == wanted and len([*place.glob("disk*/ann")]) == 1
            wrong += not there or not ended or any(place.glob("*/.filemem-*-ann"))
            kills[call] += 1
            shutil.rmtree(place)
        told = ", ".join(f"{call} {count}" for call, count in kills.most_common())
        lines = [
            f"users move killed at {kills.total():,} system calls ({told}):"
            f" not one whole copy that is found, or not finished by the next: {wrong}"
        ]
        return lines, wrong


def moved(top: Path | str, to: str) -> None:
    moving.apply(StoreFolder(top, Trust(given=True)), "ann", to, CACHES)


def _environment() -> dict[str, str]:
    here = Path(__file__).resolve().parent
    return {**os.environ, "PYTHONPATH": f"{here.parent}:{here}"}


def _traced(place: Path, to: str, *how: str) -> "subprocess.CompletedProcess[bytes]":
    options = [word for one in how for word in ("-e", one)]
    call = [
        "strace",
        "-f",
        "-qq",
        "-o",
        f"{place}.calls",
        *options,
        sys.executable,
        "-c",
        MOVED,
        str(place / "top"),
        to,
    ]
    return subprocess.run(call, env=_environment(), capture_output=True, check=False)


def _calls(place: Path, begin: Path, to: str) -> Iterator[tuple[str, int]]:
    """The system calls of a move, each with its number among those of that name in the process: all that change anything, and one
    in SPARED of those that only look. Those of Python's start are left out."""
    copy = place / "counted"
    shutil.copytree(begin, copy, symlinks=True)
    told = _traced(copy, to, "trace=all")
    assert told.returncode == 0, told.stderr
    seen, begun = Counter[str](), False
    for line in Path(f"{copy}.calls").read_text().splitlines():
        match = re.match(r"\d+ +(\w+)\(", line)
        if match:
            seen[match[1]] += 1
            begun |= '"/begun"' in line
            if begun and (match[1] in CHANGING or "O_CREAT" in line or seen[match[1]] % SPARED == 0):
                yield match[1], seen[match[1]]


def _whole(root: Path | str) -> dict[str, bytes]:
    locks = ("lock", "job.lock", "filemem.lock")
    found = (path for path in Path(root).rglob("*") if path.is_file() and path.name not in locks)
    return {str(path.relative_to(root)): path.read_bytes() for path in found if ".filemem/index" not in str(path)}


# -- what a user costs -------------------------------------------------------------------------------------------


def costs() -> tuple[list[str], int]:
    """One user with ten sessions: what lies on the disk, what a write and a job sync, what an index in memory takes."""
    with tempfile.TemporaryDirectory() as name:
        root, lines = Path(name), []
        for number in range(50):
            _filled(root / f"user{number}")
        store = Store(root)
        for _, act in _acts(store.user("user49")):  # what is imported and compiled is so from now on
            act()
        user = store.user("user0")
        lines.append(f"ten sessions as they were said: {_size(root / 'user0')}")
        for what, act in _acts(user):
            with _counted() as counts:
                begun = time.monotonic()
                act()
            told = ", ".join(f"{call} {counts[call]}" for call in ("fsync", "rename", "open"))
            lines.append(f"{what}: {told}; {_ms(time.monotonic() - begun)}")
        lines.append(f"after these: {_size(root / 'user0')}")
        lines.append(f"of that the index: {_size(root / 'user0/.filemem/index')}")
        lines += _in_git(root / "user47")
        users = [store.user(f"user{number}") for number in range(1, 49)]
        users[0].search_files("yesterday about the kettle")
        before = _resident()
        for one in users[1:]:
            one.search_files("yesterday about the kettle")
        lines.append(f"a user whose index is in memory takes {(_resident() - before) / len(users[1:]) / 1024:,.0f} KiB")
        anew = (Store(root).user(one.name) for one in users[1:])
        cold = _times(lambda: next(anew).search_files("yesterday about the kettle"), len(users) - 1)
        warm = _times(lambda: users[1].search_files("yesterday about the kettle"), 200)
        lines.append(
            f"a search of a user at hand {_ms(warm[100])}, of one whose index is on the disk {_ms(cold[len(cold) // 2])}"
        )
        return lines, 0


def _in_git(root: Path) -> Iterator[str]:
    """What a repository of the user's own adds: at its beginning, after fifty facts with a commit each, and packed."""
    run = [sys.executable, "-c", "from filemem.cli import main; main()", "--store", root.parent, "--user", root.name]
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run([*run, "init", "--git"], check=True, env=_environment(), capture_output=True)
    yield f"a repository of the user's own: {_size(root / '.git')}"
    for number in range(50):
        subprocess.run(
            [*run, "remember", f"Has read book {number}."], check=True, env=_environment(), capture_output=True
        )
    yield f"after fifty commits: {_size(root / '.git')}"
    subprocess.run(["git", "-C", root, "gc", "-q"], check=True)
    yield f"packed by git gc: {_size(root / '.git')}"


def _filled(root: Path) -> None:
    for path, text in sessions(10, seed=len(root.name)):
        where = root / path.partition("/")[2]
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text)


def _acts(user: User) -> Iterator[tuple[str, Callable[[], object]]]:
    turn = "- **Ann** 09:30: I live in Porto and play the viola.\n"
    yield "the first search, which builds the index", lambda: user.search_files("yesterday")
    yield "a search again", lambda: user.search_files("yesterday")
    yield "a first turn", lambda: user.folder.create(SESSION, turn)
    yield "a turn more", lambda: user.folder.append(SESSION, turn)
    yield "a fact remembered", lambda: user.remember("Prefers oolong tea.")
    yield "maintain, the first time", lambda: user.maintain()
    yield "maintain, with nothing to do", lambda: user.maintain()


@contextlib.contextmanager
def _counted() -> Iterator[Counter[str]]:
    """Counts the calls of the system that cost most, while it holds."""
    found, plain = Counter[str](), {name: getattr(os, name) for name in COUNTED}
    for name, told in COUNTED.items():
        setattr(os, name, _counting(plain[name], told, found))
    yield found
    for name, call in plain.items():
        setattr(os, name, call)


def _counting(call: Callable[..., object], name: str, found: Counter[str]) -> Callable[..., object]:
    def counted(*given: object, **named: object) -> object:
        found[name] += 1
        return call(*given, **named)

    return counted


def _size(root: Path) -> str:
    """Inodes, bytes and the bytes that the disk gives them."""
    every = [root.lstat(), *(path.lstat() for path in root.rglob("*"))]
    files = [one for one, path in zip(every[1:], root.rglob("*"), strict=True) if path.is_file()]
    taken = sum(one.st_blocks for one in every) * 512
    return f"{len(every)} inodes ({len(files)} files), {sum(one.st_size for one in files):,} bytes, {taken:,} on disk"


def _resident() -> int:
    """The bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# -- neighbours ------------------------------------------------------------------------------------------------------


def neighbours() -> tuple[list[str], int]:
    """How long a quiet user's turns and searches take while others on the same disk write as fast as they can."""
    with tempfile.TemporaryDirectory() as name:
        root, lines = Path(name), []
        for number in range(5):
            _filled(root / f"user{number}")
        quiet = Store(root).user("user0")
        quiet.folder.create(SESSION, "")
        quiet.search_files("yesterday")
        for loud in (0, 1, 4):
            others = [_loud(root, f"user{number + 1}") for number in range(loud)]
            turns = _times(lambda: quiet.folder.append(SESSION, "- **Ann** 09:30: I live in Porto.\n"), 100)
            searches = _times(lambda: quiet.search_files("yesterday"), 100)
            for other in others:
                other.kill()
                other.communicate()
            told = ", ".join(
                f"{what} {_ms(times[50])}, one in twenty {_ms(times[95])}"
                for what, times in (("a turn", turns), ("a search", searches))
            )
            lines.append(f"beside {loud} who write without a pause: {told}")
        return lines, 0


def _loud(root: Path, name: str) -> "subprocess.Popen[str]":
    """A process that writes turns until it is killed; it has begun."""
    script = (
        "import sys; from filemem import Store; folder = Store(sys.argv[1]).user(sys.argv[2]).folder\n"
        "folder.create(sys.argv[3], ''); print('begun', flush=True)\n"
        "while True: folder.append(sys.argv[3], '- **Ben** 09:30: ' + 'loud ' * 40 + chr(10))"
    )
    call = [sys.executable, "-c", script, root, name, SESSION]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True, env=_environment())
    assert process.stdout and process.stdout.readline()
    return process


def _times(act: Callable[[], object], times: int) -> list[float]:
    """The seconds that each of some calls took, in order of length."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        act()
        found.append(time.perf_counter() - begun)
    return sorted(found)


# -- finding a user ----------------------------------------------------------------------------------------------


def looks() -> tuple[list[str], int]:
    """What it takes to find a user and to list them all, in one folder and on eight disks."""
    with tempfile.TemporaryDirectory() as name:
        place, lines, users = Path(name), [], 10_000
        top = disks(place, 8)
        sharded, plain = StoreFolder(top, Trust(given=True)), StoreFolder(place / "plain")
        (place / "plain").mkdir()
        for number in range(users):
            os.mkdir(f"{sharded.shards.home(f'user{number}').place}/user{number}")
            os.mkdir(place / "plain" / f"user{number}")
        astray = next(one for one in (place / "disk0").iterdir() if one.is_dir())
        last = min(sharded.shards.listed(), key=lambda one: shards.score(one.entry, astray.name))
        astray.rename(Path(last.place, astray.name))
        for what, store, user in (
            ("in one folder", plain, "user7"),
            ("on eight disks, by the formula", sharded, "user7"),
            ("on eight disks, elsewhere and not registered", sharded, astray.name),
            ("on eight disks, nowhere", sharded, "nobody"),
        ):
            lines.append(f"finding a user {what}: {_micros(functools.partial(store.folder, user))}")
        moved = [f"moved{number}: ../disk0\n" for number in range(users)]
        (top / "moved.txt").write_text(f"user7: {sharded.shards.home('user7').entry}\n{''.join(moved)}")
        lines.append(f"finding one of 10,000 in the registry: {_micros(lambda: sharded.folder('user7'))}")
        fresh = StoreFolder(top, Trust(given=True)).shards
        lines.append(f"reading that registry, when it has changed: {_micros(fresh.moved, 1)}")
        for what, store in (("in one folder", plain), ("on eight disks", sharded)):
            held = _micros(functools.partial(_hold, store.folder("user8")))
            listed = _ms(_times(store.users, 1)[0])
            lines.append(f"{what}: a user's lock taken and given back {held}, {users:,} users listed {listed}")
        return lines, 0


def _hold(folder: Folder) -> None:
    with folder.locked():
        pass


def _micros(act: Callable[[], object], times: int = 2_000) -> str:
    return f"{_times(act, times)[times // 2] * 1e6:,.0f} µs"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"


MACHINES = {"write": write, "read": read, "shuffle": shuffle}
PARTS = {
    "machines": machines,
    "machines-and-moves": functools.partial(machines, shuffled=True),
    "moves": moves,
    "costs": costs,
    "neighbours": neighbours,
    "looks": looks,
}


def main(chosen: list[str]) -> int:
    if chosen and chosen[0] in MACHINES:
        print(json.dumps(MACHINES[chosen[0]](*chosen[1:])))
        return 0
    every = 0
    for part in chosen or PARTS:
        lines, wrong = PARTS[part]()
        print("\n".join(lines), flush=True)
        every += wrong
    return bool(every)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
