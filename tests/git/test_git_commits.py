"""A job's commit holds what the job wrote and nothing of the person's; where git cannot commit, memory goes on without it.

What the job wrote is its memories and its lines in the logs of bookkeeping, which a clone needs too.
"""

import contextlib
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from crash_driver import arm
from programs import clean, filemem, lay
from repositories import (
    START,
    commits_meanwhile,
    git,
    job,
    plain_git,
    state,
    store,
    write,
)

from filemem import NotFound, Refused, Store, User
from filemem.forget.plan import plan_deletion
from filemem.git.history import ATTRIBUTES, IGNORE, History
from filemem.git.job_frame import RECOVERED, JobFrame, recover
from filemem.git.setup import set_up
from filemem.jobs import JobRun, forget
from filemem.learn.remember import remember
from filemem.store import person
from filemem.store.folder import BOOKKEEPING, Folder
from filemem.store.keys import add_key, find_user
from filemem.store.learned import LOG_NAME
from filemem.store.transcript import Transcript
from filemem.store.users import StoreFolder

FACT = "facts/2026/2026-11-20-prefers-oolong-tea.md"
LEDGER = f"{BOOKKEEPING}/{LOG_NAME}"  # what `remember` notes beside the memory
OWN = ("own\f\u2028.md", "own.md")  # how a person may call what is theirs


def learn(user: Folder, text: str = "Has a bicycle.") -> tuple[str, str]:
    """One job of the machine: a new fact, recorded.

    Its path, and what the job says of git.
    """
    path = remember(user, text, START).paths[0]
    return path, JobFrame(History(user)).record(
        f"Remember: {text}", [path], {"Job": "remember"}, START
    )


def files_of(where: Path, commit: str = "HEAD") -> set[str]:
    return set(git(where, "show", "--format=", "--name-only", commit).split("\n")) - {
        ""
    }


# -- setting up ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_in_another", [False, True])
def test_a_store_begins_with_what_is_there_under_the_persons_name(
    tmp_path: Path, is_in_another: bool
) -> None:
    """Bookkeeping that can be rebuilt, and editors' files, are not in it.

    So does one in a bigger repository, whose other files stay as they are.
    """
    where = tmp_path / "store"
    where.mkdir()
    if is_in_another:
        lay(tmp_path, {"code.py": "x = 1\n"})
        git(tmp_path, "init", "--quiet")
        git(tmp_path, "add", "code.py")
    (where / "filemem.yaml").write_text("# nothing\n")
    mara = StoreFolder(where).folder("mara")
    User(mara).remember("Prefers oolong tea.", today=START.date())
    User(mara).grep("tea")
    (where / "mara" / "facts" / "note.md.swp").write_text("half")
    lay(where, {"mara/own.filemem/recalls.log": "mine"})
    set_up(str(where), "mara", START)
    prefix = "store/" if is_in_another else ""
    assert files_of(where) == {
        f"{prefix}.gitattributes",
        f"{prefix}.gitignore",
        f"{prefix}filemem.yaml",
        f"{prefix}mara/{FACT}",
        f"{prefix}mara/{LEDGER}",
        f"{prefix}mara/.filemem/days.log",
    }
    assert (
        git(where, "log", "--format=%an <%ae>, by %cn")
        == "Mara Lind <mara@example.org>, by filemem"
    )
    assert git(where, "status", "--short", ".").split("\n") == [
        "?? mara/facts/note.md.swp",
        "?? mara/own.filemem/",
    ]
    if is_in_another:
        assert git(tmp_path, "status", "--short", "code.py") == "A  code.py"
    before = state(where)
    assert "nothing was changed" in set_up(str(where), "mara", START)[0]
    assert state(where) == before


def test_an_existing_repository_gets_only_the_missing_lines(tmp_path: Path) -> None:
    """What a person wrote stays, byte for byte; their files are left to them."""
    git(tmp_path, "init", "--quiet", "project")
    where = tmp_path / "project" / "memory"
    mine = b"*.bak\r\n" + IGNORE[0].encode()
    lay(where, {"own.txt": "mine"})
    (where / ".gitignore").write_bytes(mine)
    git(where, "add", ".gitignore")
    git(where, "commit", "--quiet", "-m", "Begin")
    set_up(str(where), "mara", START)
    now = (where / ".gitignore").read_bytes()
    assert now.startswith(mine + b"\n")
    assert now.decode().split()[1:] == [*IGNORE]
    assert tuple((where / ".gitattributes").read_text().splitlines()) == ATTRIBUTES
    assert git(where, "log", "--format=%s") == "Begin"
    status = git(where, "status", "--short").split("\n")
    assert status == [" M .gitignore", "?? .gitattributes", "?? own.txt"]


# -- what a commit holds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["own", "store", "bigger", "hidden", "worktree"])
def test_only_the_jobs_files_are_committed_wherever_the_repository_is(
    tmp_path: Path, kind: str
) -> None:
    """The user's folder, the store, a bigger repository, a hidden folder of one, a
    linked work tree.

    What a person has changed beside it stays theirs.
    """
    top = tmp_path / "top"
    git(tmp_path, "init", "--quiet", "top")
    (top / "code.py").write_text("x = 1\n")
    git(top, "add", "code.py")
    git(top, "commit", "--quiet", "-m", "Begin")
    places = {"own": "top/mara", "hidden": "top/.config/a", "worktree": "linked"}
    where = tmp_path / places.get(kind, "top/store")
    if kind == "worktree":
        git(top, "worktree", "add", "--quiet", str(where), "-b", "memories")
    where.mkdir(parents=True, exist_ok=True)
    if kind in ("own", "store"):
        git(where, "init", "--quiet")
    mara = StoreFolder(top if kind == "own" else where).folder("mara")
    set_up(str(where), "mara", START)
    git(where, "add", ".")
    git(where, "commit", "--quiet", "--allow-empty", "-m", "Memories")
    (top / "code.py").write_text("x = 2\n")
    path, recorded = learn(mara)
    here = Path(mara.root)
    assert not recorded
    shown = git(here, "rev-parse", "--show-toplevel")
    ours = {os.path.relpath(here / name, shown) for name in (path, LEDGER)}
    assert files_of(here) == ours
    noted = git(here, "log", "-1", "--format=%an|%s|%(trailers)")
    assert noted == "filemem|Remember: Has a bicycle.|Job: remember\n"
    assert git(top, "status", "--short", "code.py") == " M code.py"
    assert git(here, "status", "--short", ".") == ""


def test_a_persons_work_is_as_before(tmp_path: Path) -> None:
    """Index, bytes and status of other files stay, and no commit of a job has them.

    One is staged and edited again, one edited, one taken out of git, one renamed.
    """
    where = tmp_path / "store"
    mara = store(where)
    paths = [f"notes/{name}.md" for name in "abcd"]
    lay(mara.root, {path: f"{path}\nsecond line\n" for path in paths})
    job(mara, "Note", *paths)
    staged, edited, taken_out, renamed = (where / "mara" / path for path in paths)
    for place in (staged, edited):
        place.write_text("by hand\n")
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
        row for row in after.pop("").split("\n") if row.split("\t")[-1] not in ours
    ]
    assert {*index} <= {*before.pop("").split("\n")}
    assert {key: text for key, text in after.items() if key not in ours} == before


@pytest.mark.parametrize("staged", [True, False])
def test_a_file_that_a_person_has_changed_too_waits_for_their_commit(
    tmp_path: Path, staged: bool
) -> None:
    """Nothing of it is committed or staged, and the note names it."""
    mara = store(tmp_path / "store")
    file = write(mara, "profile.md", "one\n\ntwo\n\nthree\n")
    job(mara, "Profile", "profile.md")
    file.write_text("one\n\ntwo\n\nthree, by hand\n")
    if staged:
        git(file.parent, "add", file.name)
    index = git(file.parent, "ls-files", "--stage", "profile.md")
    with JobRun(mara, "test", START) as run:
        mara.edit("profile.md", lambda old: old.replace(b"one", b"one, by the job"))
        mara.create("facts/new.md", "new\n")
        [note] = run.commit("Change", ["profile.md", "facts/new.md"])
    assert "as it had changed before: profile.md" in note
    assert files_of(tmp_path / "store") == {"mara/facts/new.md"}
    assert file.read_text() == "one, by the job\n\ntwo\n\nthree, by hand\n"
    assert git(file.parent, "ls-files", "--stage", "profile.md") == index


# -- git in the way ------------------------------------------------------------------------------------------------


BEGIN_STATE = {
    "a merge is in progress": "git rev-parse HEAD > .git/MERGE_HEAD",
    "detached": "git checkout -q --detach",
    "index.lock": "touch .git/index.lock",
    "main.lock": "touch .git/refs/heads/main.lock",
}
END_STATE = (
    "rm -f .git/refs/heads/main.lock .git/MERGE_HEAD .git/index.lock;"
    " git switch -q main"
)


def test_every_state_of_a_repository_has_an_answer(tmp_path: Path) -> None:
    """Nothing is committed, the note says why; afterwards it goes with the next."""
    where = tmp_path / "store"
    mara = store(where)
    head = git(where, "rev-parse", "HEAD")
    for words, begin in BEGIN_STATE.items():
        subprocess.run(["sh", "-c", begin], cwd=where, check=True)
        done = filemem("--store", where, "remember", f"Learnt while: {words}")
        assert done.returncode == 0 and words in done.stdout, done
        assert User(mara).grep(words)
        subprocess.run(["sh", "-c", END_STATE], cwd=where, check=True)
    assert git(where, "rev-parse", "HEAD") == head
    assert filemem("--store", where, "remember", "And at last").stdout.count("\n") == 1
    subjects = git(where, "log", "--format=%s", f"{head}..HEAD", "--reverse")
    assert subjects.split("\n") == [RECOVERED, "Remember: And at last"]
    facts = [one for one in files_of(where, "HEAD^") if ".filemem" not in one]
    assert len(facts) == len(BEGIN_STATE)
    assert git(where, "status", "--short") == ""


def test_what_init_could_not_commit_is_committed_by_the_next_job(
    tmp_path: Path,
) -> None:
    """What a person has committed of it themselves meanwhile stays theirs."""
    for name in ("mine", "theirs"):
        where = tmp_path / name
        lay(where, {"mara/facts/own.md": "By hand.\n"})
        git(where, "init", "-q", "-b", "main")
        lay(where, {".git/refs/heads/main.lock": ""})
        failed = filemem("init", where, "--git")
        assert failed.returncode == 2 and "main.lock" in failed.stderr
        (where / ".git/refs/heads/main.lock").unlink()
        expected = ["Begin to keep these memories in git", "Remember: Has a dog."]
        if name == "theirs":
            git(where, "add", "-A"), git(where, "commit", "-qm", "All of it")
            expected[0] = "All of it"
        filemem("--store", where, "remember", "Has a dog.")
        subjects = git(where, "log", "--format=%s", "--reverse").split("\n")
        assert subjects == expected
        assert git(where, "status", "--short", "-uall") == ""


def test_who_has_no_name_of_their_own_can_set_up_git(tmp_path: Path) -> None:
    """Neither git knows them, nor is the login's name that of a person."""
    env = clean(tmp_path, LOGNAME="assistant", USER="assistant")
    git(tmp_path, "config", "--file", ".gitconfig", "user.name", " . ")
    done = filemem("init", "--git", env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "--user NAME" in done.stdout
    authors = git(tmp_path / "memory_store", "log", "--format=%an <%ae>")
    assert authors == "filemem <filemem@localhost>"


def test_without_git_everything_else_works(tmp_path: Path) -> None:
    """The fact is kept and found, and one line says what is missing.

    A repository that was not set up is no invitation.
    """
    git(tmp_path, "init", "--quiet")
    assert learn(StoreFolder(tmp_path / "plain").folder("mara"))[1] == ""
    assert git(tmp_path, "log", "--all", "--format=%H") == ""
    where = tmp_path / "store"
    store(where)
    given = ("--store", where, "--user", "mara")
    env = clean(PATH=str(tmp_path))
    kept = filemem("remember", "Has a bicycle.", *given, env=env)
    assert kept.returncode == 0 and "git is not installed" in kept.stdout
    assert "bicycle" in filemem("grep", "bicycle", *given, env=env).stdout
    said = filemem("log", *given, env=env)
    assert said.returncode == 2 and "git is not installed" in said.stderr


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


def test_a_further_id_of_what_is_known_is_committed(tmp_path: Path) -> None:
    where = tmp_path / "store"
    mara = User(store(where))
    mara.remember_all(["Has a boat."])
    mara.remember_all([{"text": "Has a boat!", "id": "m1"}])
    assert not git(where, "status", "--short")


def test_jobs_of_two_processes_all_get_their_commit(tmp_path: Path) -> None:
    """Twenty facts at once, each in a commit of its own."""
    where = tmp_path / "store"
    mara = store(where)
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
    recover(History(mara))
    assert git(where, "status", "--short") == ""
    added = git(where, "log", "-20", "--diff-filter=A", "--format=%h", "--name-only")
    facts = re.findall(r"^\w+\n\nmara/facts/.+", added, re.MULTILINE)
    assert len({*facts}) == 20
    assert git(where, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("theirs", [" M", "D "])
def test_what_a_job_wrote_that_was_cut_off_is_committed_by_the_next(
    tmp_path: Path, theirs: str
) -> None:
    """In the machine's name.

    What a person had changed or staged stays theirs, and what a job that goes on has
    written is its own to commit.
    """
    where = tmp_path / "store"
    mara = store(where)
    if theirs == "D ":
        git(where, "rm", "--quiet", f"mara/{FACT}")
    else:
        write(mara, FACT, "Prefers black tea.\n")
    lay(mara.root, {f"facts/{name}": "A note of her own.\n" for name in OWN})
    script = (
        "import datetime as dt, os, sys; from filemem import jobs\n"
        "from filemem.store.users import StoreFolder\n"
        "user = StoreFolder(sys.argv[1]).folder('mara')\n"
        "with jobs.JobRun(user, 'test', dt.datetime.now()):\n"
        "    user.create('facts/kayak.md', 'Has a kayak.'); os._exit(9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(where)], check=False)
    assert ended.returncode == 9
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
    own = [f"?? mara/facts/{name}" for name in OWN]
    assert status == [f"{theirs} mara/{FACT}", *own]
    assert not os.listdir(mara.bookkeeping("jobs"))


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


def test_a_user_s_new_name_is_a_commit_so_that_git_still_knows_their_memories(
    tmp_path: Path,
) -> None:
    """What only the person has, or git ignores, stays so; no proof is false."""
    mara = store(tmp_path / "store")
    mara.create("notes/own.md", "Mine.\n")
    (tmp_path / "store/.git/info/exclude").write_text("secret.md\n")
    mara.create("notes/secret.md", "Not for git.\n")
    here = Store(mara.store)
    lind = here.rename("mara", "lind")
    assert git(mara.store, "status", "--short") == "?? lind/notes/"
    for moment in (lind.now(), START):
        past = lind.as_of(moment)
        assert past.open_file(FACT).text
    assert not os.listdir(lind._folder.bookkeeping("jobs"))
    gone = here.delete("lind")
    [left] = gone.left
    assert left.startswith("Git's history still has it")


@pytest.mark.parametrize(
    ("is_noted", "is_committed"), [(True, True), (True, False), (False, False)]
)
def test_a_folder_renamed_by_hand_is_not_proven_gone_while_git_has_it(
    tmp_path: Path,
    is_noted: bool,
    is_committed: bool,
) -> None:
    """Nor where nothing on disk tells which name it had, as in a clone."""
    mara = store(tmp_path / "store")
    os.rename(mara.root, f"{mara.store}/lind")
    lind = Store(mara.store).user("lind")
    if is_noted:
        assert lind.info().name == "mara"
    else:
        os.unlink(f"{mara.store}/lind/{BOOKKEEPING}/names")
    if is_committed:
        git(mara.store, "add", "--all")
        git(mara.store, "commit", "--quiet", "--message", "By hand")
    *left, last = Store(mara.store).delete("lind").left
    assert last.startswith("Git ") and "the folder mara" in last
    remedy = "filemem forget --whole-user lind --purge-history removes it."
    still = f"Git's history still has it; {remedy}"
    assert left == [still] * is_noted


def test_what_git_has_by_a_name_that_another_has_now_is_named(tmp_path: Path) -> None:
    """Where it was renamed by hand, and nothing tells until when it was whose."""
    mara = store(tmp_path / "store")
    here = Store(mara.store)
    os.rename(mara.root, f"{mara.store}/lind")
    here.user("mara").remember("Keeps bees.")
    [left] = here.delete("lind").left
    assert "the folder mara, which was this user's and somebody else's" in left
    assert "(git log -- mara)" in left


def cut_off(here: Store, limit: int) -> int:
    """Give mara another name in a process that is killed; return its exit code.

    Args:
        here: the store.
        limit: the change before which it is killed, counted from 1.
    """
    child = os.fork()
    if not child:
        arm(limit)
        here.rename("mara", "lind")
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for lock in Path(here.root, ".git").rglob("*.lock"):
        lock.unlink()
    return status


def test_who_is_deleted_after_a_new_name_was_cut_off_leaves_nothing_by_either(
    tmp_path: Path,
) -> None:
    """Whoever takes one of the names is nobody whom this machine began."""
    for limit in itertools.count(1, 4):
        mara = store(tmp_path / str(limit))
        here = Store(mara.store)
        person.note_begun(f"{here.root}/mara")
        status = cut_off(here, limit)
        [name] = here.users()
        here.delete(name)
        for place in ("mara", "lind"):
            assert person.entry_of(f"{here.root}/{place}") == {}, limit
        if not status:
            break
    assert limit > 10


@pytest.mark.parametrize("has_newcomer", [False, True])
def test_a_new_name_that_is_cut_off_anywhere_is_finished_by_the_same_call(
    tmp_path: Path,
    has_newcomer: bool,
) -> None:
    """All is there and committed then, and git knows the memories by the old name.

    Whoever takes that name meanwhile gets neither a key nor a memory of theirs.
    """
    for limit in itertools.count(1, 4):
        mara = store(tmp_path / str(limit))
        here = Store(mara.store)
        key = add_key(here.root, "mara", START.date())
        status = cut_off(here, limit)
        [name] = here.users()
        assert find_user(here.root, key) == name, limit
        is_taken = has_newcomer and name == "lind"
        if is_taken:
            new = here.user("mara")
            new.remember("Keeps bees.")
            new_key = add_key(here.root, "mara", START.date())
        with contextlib.suppress(NotFound, Refused):  # it was done
            here.rename("mara", "lind")
        lind = here.user("lind")
        assert lind.info().name == "lind"
        assert find_user(here.root, key) == "lind", limit
        assert git(mara.store, "status", "--short") == "", limit
        assert lind.as_of(START).open_file(FACT).text
        if is_taken:
            assert find_user(here.root, new_key) == "mara"
            [fact] = new.memories("facts")
            assert "Keeps bees." in fact.text
            assert not new.check()
            with pytest.raises(NotFound):
                new.as_of(START)
        assert here.users() == ["lind", "mara"][: 1 + is_taken]
        assert here.delete("lind").left
        if not status:
            break
    assert limit > 10


def test_a_name_that_is_given_after_one_that_was_cut_off_goes_with_all_of_theirs(
    tmp_path: Path,
) -> None:
    """Whoever takes the first name gets no key, memory or trust of theirs."""
    for limit in itertools.count(1, 6):
        here = Store(store(tmp_path / str(limit)).store)
        key = add_key(here.root, "mara", START.date())
        person.note_begun(f"{here.root}/mara")
        status = cut_off(here, limit)
        [name] = here.users()
        ida = here.rename(name, "ida")
        new = here.user("mara")
        new.remember("Keeps bees.")
        assert find_user(here.root, key) == "ida", limit
        assert person.has_begun(f"{here.root}/ida"), limit
        assert not person.has_begun(f"{here.root}/mara"), limit
        with pytest.raises(NotFound):
            new.as_of(START)
        assert ida.as_of(START).open_file(FACT).text
        assert git(here.root, "status", "--short") == "", limit
        if not status:
            break
    assert limit > 10
