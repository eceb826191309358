"""With --purge-history no object of the repository says it any more, everything else that was ever committed is as it was,
and what stands in the way is said before anything is touched."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from programs import lay
from repositories import START, copied, git, plain_git  # noqa: F401

from filemem import FilememError, Store, User
from filemem.cli import cli
from filemem.forget.purge import objects
from filemem.git.history import History
from filemem.git.setup import set_up
from filemem.git.sync import sync
from filemem.store import recalls
from filemem.store.folder import Folder
from filemem.store.passages import format_turn

pytest.importorskip("git_filter_repo", reason="the extra purge is not installed")
WORD = "zyzzyva"
TALK = "sessions/2026/2026-11-18-0900-a-beetle.md"
FACT = "facts/2026/2026-11-18-the-zyzzyva-of-mara.md"


def commit(user: Folder, subject: str, *paths: str) -> None:
    assert not History(user).record(
        subject, paths, {"Job": "test", "Session": TALK}, START
    )


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in a bigger repository with a history: told, distilled, moved, edited, on two branches, merged and tagged."""
    top = tmp_path_factory.mktemp("top")
    git(top, "init", "--quiet")
    (top / "README").write_text("Mine.\n")
    git(top, "add", "README")
    git(top, "commit", "--quiet", "--message", "Begin")
    user = Store(top / "store").user("mara").folder
    user.create(
        "facts/2026/2026-11-17-the-cat.md", "The cat sleeps in the tuba case.\n"
    )
    set_up(str(top / "store"), "mara", START)
    commit(
        user,
        "Remember: The cat sleeps in the tuba case.",
        "facts/2026/2026-11-17-the-cat.md",
    )
    (top / "store/bob").mkdir()
    (top / "store/bob/a.md").write_text(f"Bob keeps his own {WORD}.\n")
    git(top, "add", "store/bob/a.md")
    git(top, "commit", "--quiet", "--message", f"Bob's {WORD} is no business of mara's")
    said = format_turn("mara", "09:01", f"I saw a {WORD} in the jar.")
    user.create(TALK, format_turn("mara", "09:00", "Good morning.") + said)
    commit(user, f"Talk with mara: I saw a {WORD} in", TALK)
    user.create(
        FACT,
        f"---\nsource: {TALK}:2\n---\n\nMara saw a {WORD} in a jar, and told nobody else about it.\n",
    )
    recalls.note_recall(user, FACT, "open", START)
    commit(
        user,
        f"Remember: Mara saw a {WORD} in a jar, and told nobody else about it.",
        FACT,
    )
    git(top, "tag", "light")
    git(top, "switch", "--quiet", "--create", "side")
    user.append(TALK, format_turn("mara", "09:02", "It rains."))
    commit(user, "Talk on", TALK)
    git(top, "switch", "--quiet", "main")
    user.move({FACT: f"archive/{FACT}"})
    commit(user, "Archive what has faded", FACT, f"archive/{FACT}")
    git(top, "merge", "--quiet", "--no-edit", "side")
    git(top, "tag", "--annotate", "heavy", "--message", "A tag on it")
    return top


@pytest.fixture
def mara(original: Path, tmp_path: Path) -> Folder:
    return Store(copied(original, tmp_path / "top") / "store").user("mara").folder


def top(user: Folder) -> Path:
    return Path(user.store).parent


def run(user: Folder, *args: str) -> Result:
    words = ["--store", user.store, "--user", user.name, "forget", *args]
    home = {"HOME": user.store}
    return CliRunner().invoke(cli, words, env=home, standalone_mode=False)


def saying(where: Path, word: str = WORD) -> list[str]:
    """Every object that holds the word, other people's files aside."""
    found = []
    repository = History(Store(where / "store").user("mara").folder).repository
    for one in objects(repository):
        if word.encode() in one.data and b"Bob" not in one.data:
            found.append(f"{one.kind} {one.name}")
    return found


def trees(where: Path) -> set[str]:
    """What the commits of the branch have of everything but the memories in question."""
    listed = [
        git(where, "ls-tree", "-r", name).split("\n")
        for name in git(where, "rev-list", "main").split()
    ]
    return {
        "\n".join(line for line in lines if re.search("the-cat|bob|README", line))
        for lines in listed
    }


def test_no_object_says_it_any_more_and_all_else_is_as_it_was(mara: Folder) -> None:
    where = top(mara)
    before = trees(where)
    first = git(where, "log", "--format=%H", "--reverse", "main").split()[:4]
    work = {path: mara.read(path) for path in mara.paths()}
    result = run(mara, f"archive/{FACT}", "--yes", "--purge-history")
    assert result.return_value == 0, (result.output, result.exception)
    assert saying(where) == []
    assert trees(where) == before
    assert git(where, "log", "--format=%H", "--reverse", "main").split()[:4] == first
    assert git(where, "status", "--porcelain") == ""
    git(where, "fsck", "--full", "--strict")
    assert mara.read(TALK) == work[TALK].replace(
        f"I saw a {WORD} in the jar.".encode(), b"[forgotten]"
    )
    assert "It rains." in git(where, "show", f"main:store/mara/{TALK}")
    assert "Remember: The cat sleeps in the tuba case." in git(
        where, "log", "--format=%s", "main"
    )
    assert git(where, "log", "--merges", "--format=%s", "main")


@pytest.mark.parametrize("named", [[f"archive/{FACT}"], ["--about", WORD]])
def test_what_was_forgotten_before_can_be_purged_later(
    mara: Folder, named: list[str]
) -> None:
    """By the same words, or the path that it had."""
    where = top(mara)
    run(mara, "--about", WORD, "--yes")
    assert saying(where) and "Forgot" not in run(mara, *named, "--yes").output
    result = run(mara, *named, "--yes", "--purge-history")
    assert result.return_value == 0, (result.output, result.exception)
    assert "Git remembers it: " in result.output
    assert [
        said for said in saying(where) if named[0] == "--about" or "tree" in said
    ] == []
    assert "It rains." in git(where, "show", f"main:store/mara/{TALK}")
    git(where, "fsck", "--full", "--strict")
    assert (
        run(mara, *named, "--yes", "--purge-history").output == "Nothing was found.\n"
    )


def test_a_whole_user_leaves_the_history(mara: Folder) -> None:
    where = top(mara)
    result = run(mara, "--whole-user", "mara", "--yes", "--purge-history")
    assert result.return_value == 0, (result.output, result.exception)
    assert saying(where) == [] and saying(where, "tuba case") == []
    assert git(where, "ls-tree", "-r", "--name-only", "main", "store/mara") == ""
    assert git(where, "show", "main:store/bob/a.md") == f"Bob keeps his own {WORD}."
    git(where, "fsck", "--full", "--strict")


def test_a_repository_of_ones_own_goes_with_its_user(tmp_path: Path) -> None:
    ann = Store(tmp_path / "store").user("ann").folder
    ann.create("facts/a.md", f"A {WORD}.\n")
    set_up(ann.root, "ann", START)
    whole = ["--whole-user", "ann", "--yes"]
    assert run(ann, *whole).return_value == 0
    assert (
        git(ann.root, "log", "-1", "--format=%s") == "Forget the memories of one user"
    )
    assert [path.name for path in Path(ann.root).iterdir()] == [".git"]
    assert run(ann, *whole, "--purge-history").return_value == 0
    assert not Path(ann.root).exists()


def test_a_sync_does_not_bring_it_back(tmp_path: Path) -> None:
    """Neither from a remote that still has the old history nor where another machine has pushed it anew."""
    where = tmp_path / "store"
    mara = Store(where).user("mara").folder
    User(mara).remember(f"Saw a {WORD} in a jar.", today=START.date())
    set_up(str(where), "mara", START)
    git(tmp_path, "init", "--quiet", "--bare", "remote.git")
    git(where, "remote", "add", "origin", str(tmp_path / "remote.git"))
    sync(History(mara), None, START)
    git(tmp_path, "clone", "--quiet", "remote.git", "other")
    assert run(mara, "--about", WORD, "--yes", "--purge-history").return_value == 0
    with pytest.raises(FilememError, match="purged here"):
        sync(History(mara), None, START)
    assert WORD not in git(where, "log", "--all", "-p")
    git(where, "push", "--quiet", "--force", "origin", "main")
    assert (
        sync(History(mara), None, START)[-1] == "Everything is the same here and there."
    )
    git(
        tmp_path / "other",
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "Elsewhere",
    )
    git(tmp_path / "other", "push", "--quiet", "--force", "origin", "main")
    with pytest.raises(FilememError, match="purged here"):
        sync(History(mara), None, START)
    assert User(mara).grep(WORD) == []


@pytest.mark.parametrize(
    ("obstacle", "words"),
    [
        ("git worktree add -q ../other side", "several work trees"),
        ("echo x >> README && git stash -q", "stashed changes"),
        ("git checkout -q --detach", "HEAD is detached"),
        ("git notes add -m 'A zyzzyva'", "notes on commits"),
        ("git replace -f HEAD~1 HEAD~2", "replacement refs"),
        ("git rev-parse HEAD > .git/MERGE_HEAD", "a merge is in progress"),
    ],
)
def test_what_stands_in_the_way_is_said_before_anything_is_touched(
    mara: Folder, obstacle: str, words: str
) -> None:
    where = top(mara)
    subprocess.run(["sh", "-c", obstacle.replace("FACT", FACT)], cwd=where, check=True)
    before = (
        {path: mara.read(path) for path in mara.paths()},
        git(where, "rev-parse", "main"),
    )
    result = run(mara, f"archive/{FACT}", "--yes", "--purge-history")
    assert words in str(result.exception)
    assert (
        {path: mara.read(path) for path in mara.paths()},
        git(where, "rev-parse", "main"),
    ) == before


def fact(user: Folder, text: str) -> str:
    """A fact, remembered and so committed; its place on disk."""
    return user.absolute(User(user).remember(text, today=START.date()).path)


def purged(user: Folder, *named: str) -> str:
    result = run(user, *(named or ("--about", WORD)), "--yes", "--purge-history")
    assert result.return_value == 0, (result.output, result.exception)
    assert saying(top(user)) == []
    assert "Nothing of this user's in git says it any more" in result.output, (
        result.output
    )
    return result.output


def test_what_else_is_staged_stays_so_and_what_is_changed_too(mara: Folder) -> None:
    """Of the user's own files the index has what was committed."""
    where, staged = top(mara), Path(mara.root, "notes/jar.md")
    staged.parent.mkdir()
    staged.write_text(f"A {WORD} in the jar.\n\nKept.\n")
    (where / "mine").write_text("Staged.\n")
    git(where, "add", ".")
    staged.write_text("An empty jar.\n")
    (where / "README").write_text("Edited.\n")
    purged(mara)
    assert sorted(git(where, "status", "--short").split("\n")) == [
        " M README",
        "?? store/mara/notes/",
        "A  mine",
    ]
    assert staged.read_text() == "An empty jar.\n"


def test_what_nothing_names_and_what_git_left_behind_is_purged(mara: Folder) -> None:
    """A blob adrift, a commit that only a remote's copy names, and the messages last typed and fetched."""
    where = top(mara)
    git(where, "hash-object", "-w", "--stdin", stdin=f"A {WORD} adrift.\n".encode())
    Path(fact(mara, f"Saw a {WORD} on Tuesday.")).unlink()
    git(
        where,
        "update-ref",
        "refs/remotes/origin/main",
        lost := git(where, "rev-parse", "HEAD"),
    )
    git(where, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    git(where, "reset", "--quiet", "HEAD~1")
    for name in ("COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "MERGE_MSG"):
        (where / ".git" / name).write_text(f"{lost} A {WORD}\n")
    purged(mara)
    told = [
        path
        for path in (where / ".git").rglob("*")
        if path.is_file() and WORD.encode() in path.read_bytes()
    ]
    assert told == [] and git(where, "for-each-ref", "refs/remotes") == ""
    assert (
        run(mara, "--about", WORD, "--yes", "--purge-history").output
        == "Nothing was found.\n"
    )


@pytest.mark.parametrize(
    ("left", "named"),
    [
        ("git branch the-zyzzyva", "refs/heads/the-zyzzyva"),
        (
            "git bundle create -q .git/all.bundle --all",
            r"all.bundle  \(cannot be searched",
        ),
        (
            "mkdir -p .git/lfs && echo A zyzzyva > .git/lfs/x",
            "[.]git/lfs/x:1: A zyzzyva",
        ),
        (
            "git repack -a -d -q && touch $(ls .git/objects/pack/*.pack | sed s/pack$/keep/)",
            "which no branch or tag names",
        ),
    ],
)
def test_what_cannot_be_reached_is_named_and_nothing_is_claimed(
    mara: Folder, left: str, named: str
) -> None:
    where = top(mara)
    subprocess.run(["sh", "-c", left], cwd=where, check=True)
    result = run(mara, "--about", WORD, "--yes", "--purge-history")
    assert re.search(f"Git still says it: [^\n]*(?:{named})", result.output), (
        result.output
    )
    assert "Nothing of this user" not in result.output


# -- ten ways of keeping a text -----------------------------------------------------------------------------------


def _staged(user: Folder) -> None:
    path = Path(user.absolute(user.create("notes/staged.md", f"A {WORD}.\n")))
    git(top(user), "add", str(path))
    path.unlink()


def _in_reflog(user: Folder) -> None:
    fact(user, f"Saw a {WORD} on Tuesday.")
    git(top(user), "reset", "--quiet", "--hard", "HEAD~1")


def _stashed(user: Folder) -> None:
    user.append(TALK, f"A {WORD} again.\n")
    git(top(user), "stash", "--quiet")


def _kept(name: str, text: str) -> Callable[[Folder], None]:
    return lambda user: lay(user.root, {name: text})


KEPT: dict[str, tuple[Callable[[Folder], object], str]] = {
    "index": (_staged, ""),
    "pack": (lambda user: git(top(user), "gc", "--quiet"), ""),
    "reflog": (_in_reflog, ""),
    "stash": (_stashed, "it has stashed changes"),
    "worktree": (
        lambda user: git(top(user), "worktree", "add", "-q", "../other", "side"),
        "it has several work trees",
    ),
    "trace": (
        _kept(
            ".filemem/traces/2026-01-01-0900-x.jsonl",
            json.dumps({"answer": f"A {WORD}."}) + "\n",
        ),
        "",
    ),
    "vectors": (_kept(".filemem/vectors/x.vectors", f"A {WORD}."), ""),
    "summary": (
        _kept("summaries/2026/2026-11-x.md", f"# X\n\n- A {WORD}. ({TALK}:2)\n"),
        "",
    ),
    "profile": (
        _kept("profile.md", f"# Mara\n\n- Keeps a {WORD}. <!-- {FACT} -->\n- Rows.\n"),
        "",
    ),
    "another user": (
        _kept("../bob/b.md", f"Bob's {WORD}, again.\n"),
        "bob/a.md:1, bob/b.md:1",
    ),
}


@pytest.mark.parametrize("way", KEPT)
def test_success_is_true_whatever_has_kept_it(mara: Folder, way: str) -> None:
    """Either nothing of the user's has it any more, or the answer says what has it and the command fails."""
    keep, named = KEPT[way]
    keep(mara)
    words = [
        "--store",
        mara.store,
        "--user",
        "mara",
        "forget",
        WORD,
        "--yes",
        "--purge-history",
    ]
    done = CliRunner().invoke(
        cli, words, env={"HOME": mara.store}, standalone_mode=False
    )
    said = f"{done.output}{done.exception or ''}"
    own = [
        path
        for path in Path(mara.root).rglob("*")
        if path.is_file() and WORD.encode() in path.read_bytes()
    ]
    clean = not own and saying(top(mara)) == []
    assert named in said and "Bob's" not in said.replace("by", "")
    assert (
        clean
        == ("Nothing of this user's in git says it any more" in said)
        == ("Nothing in mara's folder" in said)
    )
    assert clean or (done.exception is not None and named)


def test_without_its_extra_it_is_named_and_nothing_is_deleted(
    mara: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "git_filter_repo", None)
    before = {path: mara.read(path) for path in mara.paths()}
    result = run(mara, WORD, "--yes", "--purge-history")
    assert (
        "pip install" in str(result.exception)
        and "[purge]'" in str(result.exception)
        and result.exit_code != 0
    )
    assert {path: mara.read(path) for path in mara.paths()} == before
