"""Real repositories for tests: git as a person at the keyboard runs it, with no settings but those given here."""

import datetime as dt
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from filemem import User
from filemem.git.history import History
from filemem.git.job_frame import JobFrame
from filemem.git.setup import set_up
from filemem.learn.remember import remember
from filemem.store import files
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder
from filemem.testing import FakeModel

SETTINGS = "[user]\n\tname = Mara Lind\n\temail = mara@example.org\n[init]\n\tdefaultBranch = main\n"
START = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)


@pytest.fixture(autouse=True, scope="module")
def plain_git(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Git that knows one person and nothing else of this machine."""
    path = tmp_path_factory.mktemp("settings") / "gitconfig"
    path.write_text(SETTINGS)
    before = {
        key: os.environ.get(key) for key in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
    }
    os.environ |= {"GIT_CONFIG_GLOBAL": str(path), "GIT_CONFIG_NOSYSTEM": "1"}
    yield
    for key, value in before.items():
        if value is None:
            del os.environ[key]
        else:
            os.environ[key] = value


def git(
    where: Path | str,
    *arguments: str,
    stdin: bytes = b"",
    fails: bool = False,
    **environment: str,
) -> str:
    """What a git command prints; it must succeed, or fail where that is expected."""
    call = ["git", "-C", str(where), *arguments]
    done = subprocess.run(
        call,
        input=stdin,
        capture_output=True,
        env=os.environ | environment,
        start_new_session=True,  # no terminal to ask at
    )
    assert fails == (done.returncode != 0), (arguments, done.stdout, done.stderr)
    return done.stdout.decode().removesuffix("\n")


def store(where: Path, user: str = "mara") -> Folder:
    """A store with one memory, kept in git."""
    where.mkdir()
    mara = StoreFolder(where).folder(user)
    User(mara).remember("Prefers oolong tea.", today=START.date())
    set_up(str(where), user, START)
    return mara


def write(user: Folder, path: str, text: str) -> Path:
    """Let the machine write a memory, as its jobs do."""
    place = user.absolute(path)
    files.make_folder(os.path.dirname(place))
    files.write(place, text.encode())
    return Path(place)


def job(
    user: Folder,
    subject: str,
    *paths: str,
    at: dt.datetime = START,
    **trailers: str,
) -> str:
    """Record what a job of the machine's wrote; its commit."""
    before = git(user.root, "rev-parse", "HEAD")
    frame = JobFrame(History(user))
    assert frame.record(subject, paths, {"Job": "test", **trailers}, at) == ""
    commit = git(user.root, "rev-parse", "HEAD")
    assert commit != before
    return commit


def supersede(user: Folder, old: str, text: str) -> tuple[str, list[str]]:
    """Put a fact into the archive with a new one in its place, as jobs do; the new path, and all that were touched."""
    new = remember(user, text, START).paths[0]
    user.move({old: f"archive/{old}"})
    mark = f"---\nsuperseded_by: {new}\nvalid_until: 2026-11-20\n".encode()
    user.edit(
        f"archive/{old}",
        lambda data: mark + (data[4:] if data[:4] == b"---\n" else b"---\n" + data),
    )
    return new, [old, f"archive/{old}", new]


TALK = """\
- **mara** 09:00: We caught an eel and named it Bartholomew.
- **mara** 09:01: It bit my dad under the old mill bridge.
"""


def old_talks(user: Folder) -> list[str]:
    """Keep a conversation of each of two months long ago; their paths."""
    paths = []
    for month in ("08", "09"):
        path = f"sessions/2026/2026-{month}-03-0900-the-eel.md"
        write(user, path, TALK)
        paths.append(path)
    job(user, "Talk", *paths)
    return paths


def retelling(title: str, text: str) -> FakeModel:
    """A model that tells a line with a title of each of the old talks."""
    lines: list[dict[str, object]] = []
    for number in (1, 2):
        turns = [f"{number}:1"]
        lines.append({"title": title, "text": text, "turns": turns})
    return FakeModel(json.dumps({"lines": lines}))


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, where: Path, command: str, act: str, times: int = 1
) -> None:
    """Let a person act right before filemem's git does `command`, the first `times`; in their lines `git` is their own."""
    real, bin, done = shutil.which("git"), where.parent / "bin", where.parent / "done"
    others = ("DIR", "COMMON_DIR", "WORK_TREE", "OBJECT_DIRECTORY", "INDEX_FILE")
    unset = " ".join(f"-u GIT_{name}" for name in others)
    bin.mkdir(exist_ok=True)
    (bin / "git").write_text(
        f"""#!/bin/sh
git() {{ env {unset} {real} -C {where} "$@"; }}
case " $* " in *" {command} "*)
    if [ "$(cat {done} 2>/dev/null | wc -l)" -lt {times} ]; then
        echo >> {done}
        {act}
    fi
esac
exec {real} "$@"
"""
    )
    (bin / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin}:{os.environ['PATH']}")


def commits_meanwhile(
    monkeypatch: pytest.MonkeyPatch, where: Path, command: str, times: int = 1
) -> Path:
    """Let a person so commit a note, to which a line is added each time; the note."""
    note = where / "mara" / "notes" / "own.md"
    act = f"mkdir -p {note.parent}; echo mine >> {note}; git add {note}; git commit --quiet -m Mine"
    meanwhile(monkeypatch, where, command, act, times)
    return note


def copied(repository: Path, place: Path) -> Path:
    """A copy of a repository with its work tree."""
    shutil.copytree(repository, place, symlinks=True)
    return place


def state(where: Path | str) -> dict[str, str]:
    """All that a person has in the repository beside commits: the index, the branch, every byte of the work tree."""
    found = {"": git(where, "ls-files", "--stage") + git(where, "symbolic-ref", "HEAD")}
    for path in sorted(Path(where).rglob("*")):
        inside = path.relative_to(where).as_posix()
        if (
            path.is_file()
            and ".git/" not in f"{inside}/"
            and "/.filemem/" not in f"/{inside}"
        ):
            found[inside] = path.read_bytes().decode("latin-1")
    return found
