"""A job's commit holds what the job wrote and nothing of the person's; where git cannot commit, memory goes on without it.

What the job wrote is its memories and its lines in the logs of bookkeeping, which a clone needs too.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import clean, filemem, lay
from repositories import (
    START,
    commits_meanwhile,
    git,
    plain_git,
    state,
    store,
    write,
)
from repositories import job as commit

from filemem import Store, User
from filemem.forget.plan import plan_deletion
from filemem.git.history import ATTRIBUTES, IGNORE, History
from filemem.git.job_frame import RECOVERED, JobFrame, recover
from filemem.git.setup import set_up
from filemem.jobs import JobRun, forget
from filemem.learn.log import LOG_NAME
from filemem.learn.remember import remember
from filemem.store.folder import BOOKKEEPING, Folder
from filemem.store.transcript import Transcript

FACT = "facts/2026/2026-11-20-prefers-oolong-tea.md"
LEDGER = f"{BOOKKEEPING}/{LOG_NAME}"  # what `remember` notes beside the memory
OWN = ("own\f\u2028.md", "own.md")  # how a person may call what is theirs


def learn(user: Folder, text: str = "Has a bicycle.") -> tuple[str, str]:
    """One job of the machine: a new fact, recorded."""
    path = remember(user, text, START).paths[0]
    return path, JobFrame(History(user)).record(
        f"Remember: {text}", [path], {"Job": "remember"}, START
    )


def files_of(where: Path, commit: str = "HEAD") -> set[str]:
    return set(git(where, "show", "--format=", "--name-only", commit).split("\n")) - {
        ""
    }


# -- setting up ----------------------------------------------------------------------------------------------------


def test_a_store_of_its_own_begins_with_what_is_there_under_the_persons_name(
    tmp_path: Path,
) -> None:
    """Bookkeeping that can be rebuilt, and editors' files, are not in it."""
    where = tmp_path / "store"
    where.mkdir()
    (where / "filemem.yaml").write_text("# nothing\n")
    mara = Store(where).user("mara").folder
    User(mara).remember("Prefers oolong tea.", today=START.date())
    User(mara).grep("tea")
    (where / "mara" / "facts" / "note.md.swp").write_text("half")
    lay(where, {"mara/own.filemem/recalls.log": "mine"})
    set_up(str(where), "mara", START)
    assert files_of(where) == {
        ".gitattributes",
        ".gitignore",
        "filemem.yaml",
        f"mara/{FACT}",
        f"mara/{LEDGER}",
        "mara/.filemem/days.log",
    }
    assert (
        git(where, "log", "--format=%an <%ae>, by %cn")
        == "Mara Lind <mara@example.org>, by filemem"
    )
    assert git(where, "status", "--short").split("\n") == [
        "?? mara/facts/note.md.swp",
        "?? mara/own.filemem/",
    ]
    before = state(where)
    assert "nothing was changed" in set_up(str(where), "mara", START)[0]
    assert state(where) == before


def test_an_existing_repository_gets_only_the_missing_lines(tmp_path: Path) -> None:
    """What a person wrote stays, byte for byte; their files, staged or not, are left to them."""
    git(tmp_path, "init", "--quiet", "project")
    where = tmp_path / "project" / "memory"
    where.mkdir()
    (where / ".gitignore").write_bytes(b"*.bak\r\n" + IGNORE[0].encode())
    (where / "own.txt").write_text("mine")
    (tmp_path / "project" / "code.py").write_text("x = 1\n")
    git(where, "add", ".gitignore", "../code.py")
    git(where, "commit", "--quiet", "-m", "Begin")
    (tmp_path / "project" / "code.py").write_text("x = 2\n")
    git(where, "add", "../code.py")
    set_up(str(where), "mara", START)
    assert (
        (where / ".gitignore")
        .read_bytes()
        .startswith(b"*.bak\r\n" + IGNORE[0].encode() + b"\n")
    )
    assert [line.encode() for line in IGNORE] == (
        where / ".gitignore"
    ).read_bytes().split()[1:]
    assert tuple((where / ".gitattributes").read_text().splitlines()) == ATTRIBUTES
    assert git(where, "log", "--format=%s") == "Begin"
    assert git(where, "status", "--short").split("\n") == [
        "M  ../code.py",
        " M .gitignore",
        "?? .gitattributes",
        "?? own.txt",
    ]


# -- what a commit holds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["own", "store", "bigger", "hidden", "submodule", "worktree"]
)
def test_only_the_jobs_files_are_committed_wherever_the_repository_is(
    tmp_path: Path, kind: str
) -> None:
    """The user's folder, the store, a bigger repository, a hidden folder of one, a submodule, a linked work tree."""
    top = tmp_path / "top"
    git(tmp_path, "init", "--quiet", "top")
    (top / "code.py").write_text("x = 1\n")
    git(top, "add", "code.py")
    git(top, "commit", "--quiet", "-m", "Begin")
    places = {
        "own": "top/mara",
        "hidden": "top/.config/a",
        "worktree": "linked",
        "submodule": "top/sub",
    }
    where = tmp_path / places.get(kind, "top/store")
    if kind == "worktree":
        git(top, "worktree", "add", "--quiet", str(where), "-b", "memories")
    elif kind == "submodule":
        git(tmp_path, "clone", "--quiet", "top", "source")
        git(
            top,
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            str(tmp_path / "source"),
            "sub",
        )
    where.mkdir(parents=True, exist_ok=True)
    if kind in ("own", "store"):
        git(where, "init", "--quiet")
    mara = Store(top if kind == "own" else where).user("mara").folder
    set_up(str(where), "mara", START)
    if kind not in ("own", "store"):
        git(where, "add", "."), git(where, "commit", "--quiet", "-m", "Memories")
    (top / "code.py").write_text("x = 2\n")
    status = git(top, "status", "--short", "code.py")
    path, recorded = learn(mara)
    here = Path(mara.root)
    assert not recorded
    shown = git(here, "rev-parse", "--show-toplevel")
    assert files_of(here) == {
        os.path.relpath(here / name, shown) for name in (path, LEDGER)
    }
    noted = git(here, "log", "-1", "--format=%an %ae %cn|%s|%(trailers)")
    assert (
        noted
        == "filemem filemem@localhost filemem|Remember: Has a bicycle.|Job: remember\n"
    )
    assert git(top, "status", "--short", "code.py") == status
    assert git(here, "status", "--short", ".") == ""


def test_a_persons_work_is_as_before(tmp_path: Path) -> None:
    """Whatever they have done to other files: index, bytes and status stay, and the job's commit has none of it."""
    where = tmp_path / "store"
    mara = store(where)
    paths = [f"notes/{name}.md" for name in "abcd"]
    for path in paths:
        mara.create(path, f"{path}\nsecond line\n")
    commit(mara, "Note", *paths)
    staged, edited, taken_out, renamed = (where / "mara" / path for path in paths)
    for text in ("by hand\n", "by hand, and once more\n"):
        staged.write_text(text)
        edited.write_text(text)
        git(where, "add", str(staged))
    staged.write_text("not staged\n")
    git(where, "rm", "--quiet", "--cached", str(taken_out))
    git(where, "mv", str(renamed), f"{renamed}.moved.md")
    before = state(where)
    status = git(where, "status", "--short")
    path, recorded = learn(mara)
    after = state(where)
    ours = {f"mara/{name}" for name in (path, LEDGER)}
    assert not recorded and files_of(where) == ours
    assert git(where, "status", "--short") == status
    index = [
        line for line in after.pop("").split("\n") if line.split("\t")[-1] not in ours
    ]
    assert {*index} <= {*before.pop("").split("\n")}
    assert {key: text for key, text in after.items() if key not in ours} == before


@pytest.mark.parametrize("staged", [True, False])
def test_a_file_that_a_person_has_changed_too_waits_for_their_commit(
    tmp_path: Path, staged: bool
) -> None:
    """Nothing of it is committed or staged, and the note names it. Their commit takes both."""
    mara = store(tmp_path / "store")
    file = write(mara, "profile.md", "one\n\ntwo\n\nthree\n")
    commit(mara, "Profile", "profile.md")
    file.write_text("one\n\ntwo\n\nthree, by hand\n")
    if staged:
        git(file.parent, "add", file.name)
    index = git(file.parent, "ls-files", "--stage", "profile.md")
    with JobRun(mara, "test", START) as run:
        mara.edit("profile.md", lambda old: old.replace(b"one", b"one, by the job"))
        mara.create("facts/new.md", "new\n")
        note = run.commit("Change", ["profile.md", "facts/new.md"])
    assert note == [
        "git: left for you to commit, as you had changed it too: profile.md"
    ]
    assert files_of(tmp_path / "store") == {"mara/facts/new.md"}
    assert file.read_text() == "one, by the job\n\ntwo\n\nthree, by hand\n"
    assert git(file.parent, "ls-files", "--stage", "profile.md") == index
    git(file.parent, "commit", "--quiet", "-am", "Mine")
    with JobRun(mara, "test", START) as run:
        mara.append("profile.md", "four\n")
        assert run.commit("Add four", ["profile.md"]) == []
    assert git(file.parent, "status", "--short") == ""


# -- git in the way ------------------------------------------------------------------------------------------------


def test_every_state_of_a_repository_has_an_answer(tmp_path: Path) -> None:
    """Nothing is committed, files stay as they are, the note says why; afterwards it goes with the next commit."""
    where = tmp_path / "store"
    mara = store(where)
    folder, head = where / ".git", git(where, "rev-parse", "HEAD")
    states = {
        "a merge is in progress": (
            lambda: (folder / "MERGE_HEAD").write_text(head),
            (folder / "MERGE_HEAD").unlink,
        ),
        "detached": (
            lambda: git(where, "checkout", "-q", "--detach"),
            lambda: git(where, "switch", "-q", "main"),
        ),
        "index.lock": ((folder / "index.lock").touch, (folder / "index.lock").unlink),
        "main.lock": (
            (folder / "refs/heads/main.lock").touch,
            (folder / "refs/heads/main.lock").unlink,
        ),
    }
    for words, (begin, end) in states.items():
        begin()
        index = git(where, "ls-files", "--stage")
        done = filemem("--store", where, "remember", f"Learnt while: {words}")
        assert done.returncode == 0 and words in done.stdout, done
        assert words == "main.lock" or git(where, "ls-files", "--stage") == index
        assert User(mara).grep(words)
        end()
    assert git(where, "rev-parse", "HEAD") == head
    assert filemem("--store", where, "remember", "And at last").stdout.count("\n") == 1
    subjects = git(where, "log", "--format=%s", f"{head}..HEAD", "--reverse").split(
        "\n"
    )
    assert subjects == [RECOVERED, "Remember: And at last"]
    assert (
        len({one for one in files_of(where, "HEAD^") if ".filemem" not in one})
        == len(states)
        and git(where, "status", "--short") == ""
    )


def test_without_git_everything_else_works(tmp_path: Path) -> None:
    """No `git` in the path: the fact is kept and found, and one line says what is missing. A person's own repository, which was
    not set up, is no invitation."""
    git(tmp_path, "init", "--quiet")
    assert learn(Store(tmp_path / "plain").user("mara").folder)[1] == ""
    assert git(tmp_path, "log", "--all", "--format=%H") == ""
    where = tmp_path / "store"
    store(where)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return filemem(
            "--store",
            where,
            "--user",
            "mara",
            *arguments,
            env=clean(PATH=str(tmp_path)),
        )

    kept = run("remember", "Has", "a", "bicycle.")
    assert kept.returncode == 0 and "git is not installed" in kept.stdout
    assert "bicycle" in run("grep", "bicycle").stdout
    said = run("log")
    assert (
        said.returncode == 2
        and "git is not installed" in said.stderr
        and "Traceback" not in said.stderr
    )


def test_where_no_note_can_be_written_the_memory_is_kept(tmp_path: Path) -> None:
    where = tmp_path / "store"
    mara = store(where)
    lay(mara.root, {".filemem/jobs": "a file in the place of the folder"})
    done = filemem("--store", where, "remember", "Has a boat.")
    assert done.returncode == 0 and "not committed yet" in done.stdout
    assert User(mara).grep("boat")


@pytest.mark.parametrize("command", ["read-tree", "commit-tree", "update-ref"])
@pytest.mark.parametrize("times", [1, 3])
def test_what_a_person_commits_meanwhile_stays_on_the_branch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, times: int
) -> None:
    """The job's commit comes after theirs, whenever theirs came in between."""
    where = tmp_path / "store"
    mara = store(where)
    note = commits_meanwhile(monkeypatch, where, command, times)
    path, said = learn(mara)
    assert said == "" and note.read_text() == "mine\n" * times
    subjects = git(where, "log", "--format=%s").split("\n")
    assert subjects[0] == "Remember: Has a bicycle."
    assert subjects[1 : times + 1] == ["Mine"] * times
    assert git(where, "show", "HEAD:mara/notes/own.md") == note.read_text().rstrip()
    assert git(where, "ls-files", f"mara/{path}") and not git(
        where, "status", "--short"
    )


def test_where_others_never_stop_committing_the_job_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of theirs is dropped; the next job commits what this one wrote."""
    where = tmp_path / "store"
    mara = store(where)
    with monkeypatch.context() as patched:
        commits_meanwhile(patched, where, "commit-tree", 99)
        with JobRun(mara, "test", START) as run:
            boat = mara.create("facts/boat.md", "Has a boat.\n")
            assert "others keep committing" in run.commit("Has a boat", [boat])[0]
    learn(mara)
    recover(History(mara))
    assert "Mine" in git(where, "log", "--format=%s").split("\n")
    assert git(where, "show", f"HEAD:mara/{boat}") == "Has a boat."
    assert git(where, "status", "--short") == ""


def test_jobs_of_two_processes_all_get_their_commit(tmp_path: Path) -> None:
    """Twenty facts at once, each in a commit of its own."""
    where = tmp_path / "store"
    store(where)
    before = int(git(where, "rev-list", "--count", "HEAD"))
    script = (
        "import sys; from filemem import Store\n"
        "user = Store(sys.argv[1]).user('mara')\n"
        "for n in range(10):\n"
        "    user.remember(f'{sys.argv[2]} {n}')\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(where), name])
        for name in ("one", "two")
    ]
    assert [process.wait() for process in running] == [0, 0]
    mara = Store(where).user("mara").folder
    recover(History(mara))
    assert git(where, "status", "--short") == ""
    commits = git(where, "rev-list", "HEAD").split("\n")[:-before]
    facts = [
        [name for name in files_of(where, commit) if "/facts/" in name]
        for commit in commits
    ]
    assert [len(names) for names in facts] == [1] * 20 and len(
        {name for names in facts for name in names}
    ) == 20
    assert git(where, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("theirs", [" M", " D", "D "])
def test_what_a_job_wrote_that_was_cut_off_is_committed_by_the_next(
    tmp_path: Path, theirs: str
) -> None:
    """In the machine's name, beside what a person had changed, deleted or staged, which stays theirs; what a job that goes on has
    written is its own to commit."""
    where = tmp_path / "store"
    mara = store(where)
    fact = where / "mara" / FACT
    _ = fact.write_text("Prefers black tea.\n") if theirs == " M" else fact.unlink()
    git(where, *(["rm", "--cached"] if theirs == "D " else ["status"]), f"mara/{FACT}")
    for name in OWN:
        (where / "mara" / "facts" / name).write_text("A note of her own.\n")
    script = "import datetime as dt, os, sys; from filemem import Store; from filemem.jobs import JobRun\n"
    script += "user = Store(sys.argv[1]).user('mara').folder\n"
    script += "with JobRun(user, 'test', dt.datetime.now()): user.create('facts/kayak.md', 'Has a kayak.'); os._exit(9)\n"
    assert (
        subprocess.run(
            [sys.executable, "-c", script, str(where)], check=False
        ).returncode
        == 9
    )
    with JobRun(mara, "test", START, exclusive=False) as run:
        mine = mara.create("facts/boat.md", "Has a boat.\n")
        assert filemem("--store", where, "remember", "Has a dog.").returncode == 0
        assert run.commit("Has a boat", [mine]) == []
    said = git(where, "log", "--format=%an: %s", "-3").split("\n")
    assert said == [
        "filemem: Has a boat",
        "filemem: Remember: Has a dog.",
        f"filemem: {RECOVERED}",
    ]
    assert files_of(where, "HEAD^^") == {"mara/facts/kayak.md"}
    status = git(where, "status", "-z", "--short", "-uall").split("\0")[:-1]
    assert status == [
        f"{theirs} mara/{FACT}",
        *(f"?? mara/facts/{name}" for name in OWN),
    ] and not os.listdir(mara.bookkeeping("jobs"))


def test_a_conversation_that_git_has_not_yet_is_left_to_its_chat_where_something_is_forgotten(
    tmp_path: Path,
) -> None:
    """An undo would take it away with what was forgotten."""
    mara = store(tmp_path / "store")
    talk = Transcript(mara)
    for text in ("Good morning.", "Oolong it is.", "And a bicycle."):
        talk.add("mara", text, START)
    done = forget(mara, plan_deletion(mara, "oolong"), START)
    assert done.facts["stayed"] == []
    assert "[forgotten]" in Path(mara.root, talk.path).read_text()
    assert files_of(tmp_path / "store") == {f"mara/{FACT}", f"mara/{LEDGER}"}
    git(tmp_path / "store", "revert", "--no-edit", "HEAD")
    assert "And a bicycle." in Path(mara.root, talk.path).read_text()


def test_no_later_commit_is_called_by_what_was_forgotten(tmp_path: Path) -> None:
    """It stays in the commits that were before."""
    where = tmp_path / "store"
    store(where)
    for words in (
        ["chat", "-m", "I dislike Bruno."],
        ["forget", "Bruno", "--yes"],
        ["chat", "-m", "Good morning.", "--resume"],
    ):
        filemem("--store", where, *words, env=clean())
    subjects = git(where, "log", "-3", "--format=%s").split("\n")
    assert subjects[0].startswith("Talk with mara")
    assert ["Bruno" in subject for subject in subjects] == [False, False, True]


def test_what_a_job_wrote_while_git_could_not_start_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draft of the person's does not."""
    mara = store(tmp_path / "store")
    Path(mara.root, "facts/draft.md").write_text("Mine, not finished.\n")
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", str(tmp_path / "nothing"))
        boat = User(mara).remember("Has a boat.", today=START.date()).path
    User(mara).remember("Has a bicycle.", today=START.date())
    assert f"mara/{boat}" in files_of(tmp_path / "store", "HEAD~1")
    assert History(mara).changes() == ["facts/draft.md"]


def test_a_mode_that_the_disk_cannot_keep_is_no_change(tmp_path: Path) -> None:
    mara = store(tmp_path / "store")
    git(tmp_path / "store", "config", "core.fileMode", "false")
    Path(mara.root, FACT).chmod(0o755)
    assert History(mara).changes() == []
