"""As of a day, every answer is that of a plain checkout of the day's last commit, line numbers included."""

import datetime as dt
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import filemem
from repositories import START, git, named, plain_git, state, store  # noqa: F401

from filemem import Store, Toolbox, User
from filemem.errors import NotFound, Refused
from filemem.files.folder import Folder
from filemem.history import History
from filemem.history.diary import as_of

YEAR = dt.date(2025, 1, 1)
WORDS = "tea coffee Kyoto Lisbon bicycle violin 乌龙茶 grandmother rain letter boat garden".split()


def day(number: int) -> dt.date:
    return YEAR + dt.timedelta(days=number)


def year_of_commits() -> Iterator[bytes]:
    """A stream for git fast-import: on most days up to three commits that write, change, move and delete memories."""
    chance, files = random.Random(7), dict[str, list[str]]()
    for number in range(365):
        for hour in sorted(chance.sample(range(24), chance.choice((0, 0, 0, 1, 1, 3)))):
            what, path, changes = chance.random(), chance.choice([*files, ""]), b""
            if not path or what < 0.5 - len(files) / 25:
                path = f"mara/facts/{day(number):%Y/%Y-%m-%d}-{chance.randint(0, 999)}.md"
                files[path] = [" ".join(chance.choices(WORDS, k=5)) for _ in range(chance.randint(1, 6))]
            elif what < 0.8:
                files[path].insert(chance.randint(0, len(files[path])), " ".join(chance.choices(WORDS, k=4)))
            else:  # moved, or deleted
                changes, lines = f"D {path}\n".encode(), files.pop(path)
                path = path.replace("mara/", "mara/archive/", 1) if what < 0.9 and "/archive/" not in path else ""
                files |= {path: lines} if path else {}
            if path:
                text = "".join(line + "\n" for line in files[path]).encode()
                changes += f"M 100644 inline {path}\ndata {len(text)}\n".encode() + text + b"\n"
            at = dt.datetime.combine(day(number), dt.time(hour, 30)).astimezone()
            head = f"commit refs/heads/main\ncommitter mara <m@x> {at:%s} {at:%z}\ndata 1\nx\n"
            yield head.encode() + changes + b"\n"


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a year behind it."""
    where = tmp_path_factory.mktemp("year") / "store"
    where.mkdir()
    git(where, "init", "--quiet")
    git(where, "fast-import", "--quiet", stdin=b"".join(year_of_commits()))
    git(where, "checkout", "--quiet", "-f", "main")
    named(where)
    return where


def answers(user: Folder, today: dt.date) -> list[object]:
    """What the tools and the interface say."""
    call = Toolbox(user, lambda: dt.datetime.combine(today, dt.time(12)).astimezone()).call
    said: list[object] = [call("grep", f'{{"pattern": "{pattern}", "context": 1}}') for pattern in ("tea|茶", "violin")]
    found = User(user).search_files("rain on the boat", limit=5, today=today)
    said += [User(user).grep("Kyoto"), [(hit.path, hit.line, hit.text, hit.score) for hit in found]]
    return [*said, [(path, user.read(path)) for path in user.paths()]]


def test_every_day_of_a_year_equals_a_plain_checkout(year: Path, tmp_path: Path) -> None:
    """The other side is `git worktree`, on the commit that a reader of `git log` would choose; asked at each tenth of them."""
    lines = git(year, "log", "--reverse", "--format=%H %cd", "--date=format-local:%Y-%m-%d").split("\n")
    last = {when: commit for commit, when in (line.split() for line in lines)}
    plain = tmp_path / "plain"
    git(year, "worktree", "add", "--quiet", "--detach", str(plain))
    mara, checkout, chosen = Store(year).user("mara").folder, "", 0
    for number in range(365):
        commit = last.get(str(day(number)), checkout)
        if not commit:
            with pytest.raises(NotFound):
                User(mara).as_of(day(number))
            continue
        past = as_of(mara, day(number))
        assert past.commit == commit
        if commit == checkout:
            continue
        checkout, chosen = commit, chosen + 1
        if chosen % 10:
            continue
        git(plain, "checkout", "--quiet", "--detach", commit)
        there = Store(plain).user("mara").folder
        assert answers(past, day(number)) == answers(there, day(number))
    assert git(year, "status", "--short") == ""


def test_the_past_can_be_read_and_not_written(tmp_path: Path) -> None:
    """Every way of writing is refused, nothing of the work tree changes, and a tool call leaves no recall."""
    mara = store(tmp_path / "store")
    before = state(tmp_path / "store")
    past = User(mara).as_of(START.date())
    with pytest.raises(Refused):
        past.remember("Something new")
    with pytest.raises(Refused):
        past.folder.append(past.folder.paths()[0], "more\n")
    past.tools().call("open", {"path": past.folder.paths()[0]})
    assert not os.path.exists(mara.bookkeeping("recalls.log"))
    assert state(tmp_path / "store") == before


def test_the_moment_is_local_and_on_the_line_of_the_branch(tmp_path: Path) -> None:
    """23:59 local time belongs to the day, and what was merged in later was not believed here before the merge."""
    where = tmp_path / "store"
    mara = store(where)
    git(where, "switch", "--quiet", "-c", "other")
    other = mara.create("facts/2026/2026-11-21-other.md", "from elsewhere\n")
    late = dt.datetime(2026, 11, 21, 23, 59, 58).astimezone()
    History(mara).record("x", [other], {}, late)
    assert User(mara).as_of(dt.date(2026, 11, 21)).grep("elsewhere")
    assert not User(mara).as_of(late - dt.timedelta(seconds=1)).grep("elsewhere")
    git(where, "switch", "--quiet", "main")
    merged = "2026-11-24T12:00:00Z"
    git(where, "merge", "--quiet", "--no-ff", "-m", "m", "other", GIT_COMMITTER_DATE=merged, GIT_AUTHOR_DATE=merged)
    assert not User(mara).as_of(dt.date(2026, 11, 22)).grep("elsewhere")
    assert User(mara).as_of(dt.date(2026, 11, 25)).grep("elsewhere")


def test_a_reading_command_has_as_of_and_a_writing_one_refuses(tmp_path: Path) -> None:
    """What it prints is what it printed then, and where that was is told beside it."""
    mara = store(tmp_path / "store")
    before = filemem("--store", mara.store, "grep", "tea", "--today", "2026-11-20").stdout
    History(mara).record("x", [mara.create("facts/2026/2026-11-21-tea.md", "More tea.\n")], {}, START + dt.timedelta(1))
    then = filemem("--store", mara.store, "grep", "tea", "--as-of", "2026-11-20")
    assert then.stdout == before and then.returncode == 0 and "Begin to keep" in then.stderr
    assert filemem("--store", mara.store, "remember", "x", "--as-of", "2026-11-20").returncode == 2
