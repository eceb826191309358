"""With --purge-history no object of the repository says it any more, everything else that
was ever committed is as it was, and what stands in the way is said before anything is
touched."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from forgetting import WORD, forget, holding
from programs import lay
from repositories import START, copied, git, plain_git  # noqa: F401

from filemem import FilememError, Store, User
from filemem.forget.purge import objects
from filemem.git.history import History
from filemem.git.job_frame import JobFrame
from filemem.git.setup import set_up
from filemem.git.sync import sync
from filemem.store import recalls
from filemem.store.folder import Folder
from filemem.store.passages import format_turn
from filemem.store.users import StoreFolder

pytest.importorskip("git_filter_repo", reason="the extra purge is not installed")
TALK = "sessions/2026/2026-11-18-0900-a-beetle.md"
FACT = "facts/2026/2026-11-18-the-zyzzyva-of-mara.md"
CAT = "facts/2026/2026-11-17-the-cat.md"
CLEAN = "Nothing of this user's in git says it any more"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in a bigger repository with a history: told, distilled, moved, edited, on
    two branches, merged and tagged; another user says it, too."""
    top = tmp_path_factory.mktemp("top")
    git(top, "init", "--quiet")
    user = StoreFolder(top / "store").folder("mara")

    def commit(subject: str, *paths: str) -> None:
        JobFrame(History(user)).record(
            subject, paths, {"Job": "test", "Session": TALK}, START
        )

    lay(top, {"README": "Mine.\n", "store/bob/a.md": f"Bob keeps his own {WORD}.\n"})
    set_up(str(top / "store"), "mara", START)
    git(top, "add", "README", "store/bob", "store/.gitignore", "store/.gitattributes")
    git(top, "commit", "--quiet", "--message", f"Bob's {WORD} is not mara's")
    user.create(CAT, "The cat sleeps in the tuba case.\n")
    commit("Remember: The cat sleeps in the tuba case.", CAT)
    said = format_turn("mara", "09:01", f"I saw a {WORD} in the jar.")
    user.create(TALK, format_turn("mara", "09:00", "Good morning.") + said)
    commit(f"Talk with mara: I saw a {WORD} in", TALK)
    fact = f"Mara saw a {WORD} in a jar, and told nobody else about it."
    user.create(FACT, f"---\nsource: {TALK}:2\n---\n\n{fact}\n")
    recalls.note_recall(user, FACT, "open", START)
    commit(f"Remember: {fact}", FACT)
    git(top, "switch", "--quiet", "--create", "side")
    user.append(TALK, format_turn("mara", "09:02", "It rains."))
    commit("Talk on", TALK)
    git(top, "switch", "--quiet", "main")
    user.move({FACT: f"archive/{FACT}"})
    commit("Archive what has faded", FACT, f"archive/{FACT}")
    git(top, "merge", "--quiet", "--no-edit", "side")
    git(top, "tag", "--annotate", "heavy", "--message", "A tag on it")
    return top


@pytest.fixture
def mara(original: Path, tmp_path: Path) -> Folder:
    return StoreFolder(copied(original, tmp_path / "top") / "store").folder("mara")


def top(user: Folder) -> Path:
    return Path(user.store).parent


def saying(user: Folder, word: str = WORD) -> list[str]:
    """The kind of every object that holds the word, other people's files aside."""
    found = objects(History(user).repository)
    return [
        one.kind
        for one in found
        if word.encode() in one.data and b"Bob" not in one.data
    ]


def others_files(user: Folder) -> str:
    """All that was ever committed of everything but what goes."""
    kept = ("README", "store/bob", f"store/mara/{CAT}")
    return git(top(user), "log", "-p", "--format=%s", "main", "--", *kept)


def purged(user: Folder, *named: str) -> str:
    """Forget in history, too; what was said."""
    done = forget(user, *(named or ("--about", WORD)), "--yes", "--purge-history")
    assert done.return_value == 0, (done.output, done.exception)
    assert saying(user) == [] and CLEAN in done.output
    git(top(user), "fsck", "--full", "--strict")
    return done.output


def test_no_object_says_it_any_more_and_all_else_is_as_it_was(mara: Folder) -> None:
    before = others_files(mara)
    log = ("log", "--format=%H", "--reverse", "main")
    first = git(top(mara), *log).split()[:2]
    talk = mara.read(TALK)
    purged(mara, f"archive/{FACT}")
    assert others_files(mara) == before
    assert git(top(mara), *log).split()[:2] == first
    assert git(top(mara), "status", "--porcelain") == ""
    told = f"I saw a {WORD} in the jar.".encode()
    assert mara.read(TALK) == talk.replace(told, b"[forgotten]")
    assert "It rains." in git(top(mara), "show", f"main:store/mara/{TALK}")
    subjects = git(top(mara), "log", "--format=%s", "main")
    assert "The cat sleeps" in subjects and f"Bob's {WORD} is not" in subjects
    assert git(top(mara), "log", "--merges", "--format=%s", "main")


@pytest.mark.parametrize("named", [[f"archive/{FACT}"], ["--about", WORD]])
def test_what_was_forgotten_before_can_be_purged_later(
    mara: Folder, named: list[str]
) -> None:
    """By the same words, or the path that it had, of which the name then goes."""
    forget(mara, "--about", WORD, "--yes")
    assert saying(mara) and "Forgot" not in forget(mara, *named, "--yes").output
    again = [*named, "--yes", "--purge-history"]
    done = forget(mara, *again)
    assert done.return_value == 0 and "Git's history still has it" in done.output
    assert "tree" not in saying(mara)
    assert named[0] != "--about" or saying(mara) == []
    assert "It rains." in git(top(mara), "show", f"main:store/mara/{TALK}")
    assert forget(mara, *again).output == "Nothing was found.\n"


@pytest.mark.parametrize("name", ["mara", "lind"])
def test_a_whole_user_leaves_the_history(mara: Folder, name: str) -> None:
    """Under the names of before, too."""
    if name != "mara":
        mara = Store(mara.store).rename("mara", name)._folder
    done = forget(mara, "--whole-user", name, "--yes", "--purge-history")
    assert done.return_value == 0, (done.output, done.exception)
    assert saying(mara) == [] and saying(mara, "tuba case") == []
    kept = git(top(mara), "show", "main:store/bob/a.md")
    assert kept == f"Bob keeps his own {WORD}."


def test_a_repository_of_one_s_own_goes_with_its_user(tmp_path: Path) -> None:
    ann = StoreFolder(tmp_path / "store").folder("ann")
    ann.create("facts/a.md", f"A {WORD}.\n")
    set_up(ann.root, "ann", START)
    whole = ["--whole-user", "ann", "--yes"]
    assert forget(ann, *whole).return_value == 0
    said = git(ann.root, "log", "-1", "--format=%s")
    assert said == "Forget the memories of one user"
    assert [path.name for path in Path(ann.root).iterdir()] == [".git"]
    assert forget(ann, *whole, "--purge-history").return_value == 0
    assert not Path(ann.root).exists()


def test_a_sync_does_not_bring_it_back(tmp_path: Path) -> None:
    """Neither from a remote with the old history nor where another machine pushed it."""
    where = tmp_path / "store"
    other = tmp_path / "other"
    mara = StoreFolder(where).folder("mara")
    User(mara).remember(f"Saw a {WORD} in a jar.", today=START.date())
    set_up(str(where), "mara", START)
    git(tmp_path, "init", "--quiet", "--bare", "remote.git")
    git(where, "remote", "add", "origin", "../remote.git")
    sync(History(mara), None, START)
    git(tmp_path, "clone", "--quiet", "remote.git", "other")
    done = forget(mara, "--about", WORD, "--yes", "--purge-history")
    assert "git push --force" in done.output
    with pytest.raises(FilememError, match="purged here"):
        sync(History(mara), None, START)
    assert WORD not in git(where, "log", "--all", "-p")
    git(where, "push", "--quiet", "--force", "origin", "main")
    sync(History(mara), None, START)
    git(other, "commit", "--quiet", "--allow-empty", "--message", "Elsewhere")
    git(other, "push", "--quiet", "--force", "origin", "main")
    with pytest.raises(FilememError, match="purged here"):
        sync(History(mara), None, START)
    assert User(mara).grep(WORD) == []


def sh(user: Folder, command: str) -> None:
    subprocess.run(["sh", "-c", command], cwd=top(user), check=True)


@pytest.mark.parametrize(
    ("obstacle", "words"),
    [
        ("git worktree add -q ../other side", "a second work tree"),
        ("echo x >> README && git stash -q", "refs/stash"),
        ("git checkout -q --detach", "HEAD is detached"),
        ("git notes add -m 'A zyzzyva'", "refs/notes/commits"),
        ("git rev-parse HEAD > .git/MERGE_HEAD", "a merge is in progress"),
        ("git rev-parse HEAD > .git/shallow", "a shallow clone"),
    ],
)
def test_what_stands_in_the_way_is_said_before_anything_is_touched(
    mara: Folder, obstacle: str, words: str
) -> None:
    sh(mara, obstacle)
    before = {path: mara.read(path) for path in mara.paths()}
    head = git(top(mara), "rev-parse", "main")
    done = forget(mara, f"archive/{FACT}", "--yes", "--purge-history")
    assert words in str(done.exception)
    assert {path: mara.read(path) for path in mara.paths()} == before
    assert git(top(mara), "rev-parse", "main") == head


def test_what_else_is_staged_stays_so_and_what_is_changed_too(mara: Folder) -> None:
    """Of the user's own files the index has what was committed."""
    lay(top(mara), {"store/mara/notes/jar.md": f"A {WORD}.\n", "mine": "Staged.\n"})
    git(top(mara), "add", ".")
    lay(top(mara), {"store/mara/notes/jar.md": "Empty.\n", "README": "Edited.\n"})
    purged(mara)
    assert sorted(git(top(mara), "status", "--short").split("\n")) == [
        " M README",
        "?? store/mara/notes/",
        "A  mine",
    ]
    assert mara.read("notes/jar.md") == b"Empty.\n"


@pytest.mark.parametrize(
    ("left", "named"),
    [
        ("git branch the-zyzzyva", "refs/heads/the-zyzzyva"),
        ("git bundle create -q .git/a.bundle --all", "a.bundle: cannot be searched"),
        ("mkdir .git/lfs && echo A zyzzyva > .git/lfs/x", "[.]git/lfs/x:1: A zyzzyva"),
        (
            "git repack -a -d -q &&"
            " touch $(ls .git/objects/pack/*.pack | sed s/pack$/keep/)",
            "which no branch or tag names",
        ),
        (
            f"echo A {WORD} | gzip > store/mara/x.gz && git add store && "
            "git commit -qm x && git rm -q store/mara/x.gz && git commit -qm y",
            "blob .*store/mara/x.gz: cannot be searched",
        ),
    ],
)
def test_what_cannot_be_reached_is_named_and_nothing_is_claimed(
    mara: Folder, left: str, named: str
) -> None:
    sh(mara, left)
    done = forget(mara, "--about", WORD, "--yes", "--purge-history")
    assert re.search(f"Git still says it: [^\n]*(?:{named})", done.output), done.output
    assert CLEAN not in done.output and done.return_value == 1


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("git add . && rm x.md", {"x.md": f"A {WORD}."}),
        ("git gc --quiet", {"x.md": f"A {WORD}.\r\nIt rains.\r\n"}),
        (
            "git add . && git commit -qm x && git reset -q --hard HEAD~1",
            {"x.md": f"A {WORD}."},
        ),
        ("true", {".filemem/traces/x.jsonl": f'{{"answer": "A {WORD}."}}'}),
        ("true", {".filemem/vectors/x.vectors": f"A {WORD}."}),
        ("true", {"summaries/2026/x.md": f"# X\n\n- A {WORD}. ({TALK}:2)\n"}),
        ("true", {"profile.md": f"# Mara\n\n- A {WORD}. <!-- {FACT} -->\n- Rows.\n"}),
        ("true", {"facts/x.yaml": f"text: Tea.\nnote: [[{WORD.upper()}]]\n"}),
        ("true", {"facts/x.md": f"---\nown: {WORD}, {WORD}!\n---\nTea.\n"}),
        ("true", {"proposed/facts/2026-11-20-x.md": f"A {WORD}.\n"}),
        ("true", {"../bob/b.md": f"Bob's {WORD}, again.\n"}),
    ],
)
def test_success_is_true_whatever_has_kept_it(
    mara: Folder, command: str, files: dict[str, str]
) -> None:
    """Nothing of the user's has it any more."""
    lay(mara.root, files)
    sh(mara, f"cd store/mara && {command}")
    assert "Bob's" not in purged(mara)
    assert holding(mara.root) == []


def test_without_its_extra_it_is_named_and_nothing_is_deleted(
    mara: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "git_filter_repo", None)
    before = {path: mara.read(path) for path in mara.paths()}
    done = forget(mara, WORD, "--yes", "--purge-history")
    assert "pip install" in str(done.exception) and "[purge]'" in str(done.exception)
    assert {path: mara.read(path) for path in mara.paths()} == before
