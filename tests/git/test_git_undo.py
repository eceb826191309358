"""undo takes back just what one commit did, or nothing at all, and is finished by the next where it was cut off."""

import datetime as dt
import os
import subprocess
from pathlib import Path

import pytest
from forgetting import use_weekly
from programs import clean, filemem
from repositories import (
    START,
    copied,
    git,
    job,
    old_talks,
    plain_git,
    retelling,
    state,
    store,
    supersede,
    write,
)

from filemem import FilememError, Store, User, jobs
from filemem.git.commits import log
from filemem.git.history import History
from filemem.git.undo import undo
from filemem.learn.remember import remember
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

FACT = "facts/2026/2026-11-20-prefers-oolong-tea.md"


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    """A user with a profile of five paragraphs."""
    mara = store(tmp_path / "store")
    write(mara, "profile.md", "one\n\ntwo\n\nthree\n\nfour\n\nfive\n")
    job(mara, "Write the profile", "profile.md")
    return mara


# -- undo ----------------------------------------------------------------------------------------------------------


def test_what_was_done_since_stays(mara: Folder) -> None:
    """Later commits, and uncommitted edits of other files.

    The undo is a commit of its own, and names what it undoes.
    """
    place = write(mara, "profile.md", "ONE\n\ntwo\n\nthree\n\nfour\n\nfive\n")
    write(mara, "facts/new.md", "new\n")
    first = job(mara, "Change one", "profile.md", "facts/new.md")
    write(mara, "profile.md", "ONE\n\ntwo\n\nTHREE\n\nfour\n\nfive\n")
    job(mara, "Change three", "profile.md")
    write(mara, FACT, "By hand.\n")
    done = undo(History(mara), first[:10], START)
    assert place.read_text() == "one\n\ntwo\n\nTHREE\n\nfour\n\nfive\n"
    assert git(mara.root, "status", "--short") == f" M {FACT}"
    trailer = "--format=%an|%s|%(trailers:key=Undoes,valueonly)"
    noted = git(mara.root, "log", "-1", trailer)
    assert noted == f'filemem|Undo "Change one"|{first}\n'
    assert done.commit.commit == first
    said = ["Deleted facts/new.md.", "Changed profile.md back."]
    assert done.sentences == said and "facts/new.md" not in mara.paths()


def test_what_was_superseded_or_swept_is_live_again_after_an_undo_and_stays_so(
    mara: Folder,
) -> None:
    """With what was written since to a memory that moved."""
    first = remember(mara, "Mara lives in Porto.", START).paths[0]
    event = "facts/2026/2026-11-20-tea.md"
    write(mara, event, "---\nkind: event\n---\n\nHad tea.\n")
    job(mara, "Remember", first, event)
    new, paths = supersede(mara, first, "Mara lives in Faro.")
    commit = job(mara, "Remember", *paths)
    undo(History(mara), commit, START)
    assert first in mara.paths() and new not in mara.paths()
    late = START + dt.timedelta(days=400)
    use_weekly(mara, START.date(), late.date())
    jobs.sweep(mara, late)
    swept = git(mara.root, "rev-parse", "HEAD")
    mara.append(f"archive/{event}", "With figs.\n")
    job(mara, "Add figs", f"archive/{event}")
    undo(History(mara), swept, late)
    assert mara.read(event).endswith(b"With figs.\n")
    later = late + dt.timedelta(days=1)
    assert not jobs.sweep(mara, later, dry=True).facts["archived"]
    with pytest.raises(FilememError, match="nothing left"):
        undo(History(mara), swept, late)


def test_a_compaction_of_several_months_is_undone_whole_and_stays_so(
    mara: Folder,
) -> None:
    """And so is its undo."""
    talks = old_talks(mara)
    before = state(mara.root)
    jobs.compact(mara, START, model=retelling("The eel", "They caught one."))
    after = state(mara.root)
    assert "summaries/2026/2026-09-conversations.md" in after
    undo(History(mara), None, START)
    assert [*map(mara.find, talks)] != [None, None]
    undone = state(mara.root)
    assert {**undone, "": ""} == {**before, "": ""}
    again = jobs.compact(mara, START, model=retelling("The eel", "Again."))
    assert not again.facts["summaries"]
    undo(History(mara), "HEAD", START)
    assert {**state(mara.root), "": ""} == {**after, "": ""}


def test_undo_walks_back_and_an_undo_can_be_undone(mara: Folder) -> None:
    """Without a name it is the machine's last that still holds.

    Commits of a person are passed over.
    """
    for name in ("bicycle", "boat"):
        path = remember(mara, f"Has a {name}.", START).paths[0]
        job(mara, name, path)
    write(mara, "notes/hand.md", "by hand\n")
    git(mara.root, "add", "notes")
    git(mara.root, "commit", "--quiet", "-m", "By hand")
    subjects = [undo(History(mara), None, START).commit.subject for _ in range(2)]
    assert subjects == ["boat", "bicycle"] and not User(mara).grep("boat|bicycle")
    last = git(mara.root, "rev-parse", "HEAD")
    [said] = undo(History(mara), last, START).sentences
    assert said.startswith("Brought back ") and User(mara).grep("bicycle")
    assert undo(History(mara), None, START).commit.subject == "bicycle"


CLASHES = {
    "profile.md": "one\n\ntwo, later\n\nthree\n\nfour\n\nfive\n",
    "facts/new.md": "new and more\n",
    "facts/gone.md": "another\n",
}


@pytest.mark.parametrize("path", CLASHES)
@pytest.mark.parametrize("committed", [True, False])
def test_where_it_must_conflict_nothing_is_written(
    mara: Folder, path: str, committed: bool
) -> None:
    """The sentence names the file.

    One changed in the same line, one changed since it was new, one in the place of
    another that had gone.
    """
    gone = write(mara, "facts/gone.md", "to go\n")
    job(mara, "Prepare", "facts/gone.md")
    write(mara, "profile.md", "ONE\n\nTWO\n\nthree\n\nfour\n\nfive\n")
    write(mara, "facts/new.md", "new\n")
    gone.unlink()
    commit = job(mara, "Change much", *CLASHES)
    write(mara, path, CLASHES[path])
    if committed:
        job(mara, "A later change", path)
    before = state(mara.store)
    reason = "changed since" if committed else "uncommitted changes"
    with pytest.raises(FilememError, match=reason) as caught:
        undo(History(mara), commit, START)
    assert path in str(caught.value)
    assert state(mara.store) == before


def test_what_a_person_has_staged_is_not_lost(mara: Folder) -> None:
    """Also where the file itself is as it was committed."""
    write(mara, "facts/staged.md", "one\n")
    commit = job(mara, "Write", "facts/staged.md")
    write(mara, "facts/staged.md", "two\n")
    git(mara.root, "add", "-A")
    write(mara, "facts/staged.md", "one\n")
    with pytest.raises(FilememError, match="uncommitted changes in mara/facts/staged"):
        undo(History(mara), commit, START)
    assert git(mara.root, "show", ":mara/facts/staged.md") == "two"


def test_what_cannot_be_undone_is_said(mara: Folder) -> None:
    """A merge, a commit that is none, one that left nothing, and those of another user."""
    head = git(mara.root, "rev-parse", "HEAD")
    git(mara.root, "switch", "--quiet", "-c", "other", "HEAD~1")
    git(mara.root, "commit", "--quiet", "--allow-empty", "-m", "empty")
    git(mara.root, "merge", "--quiet", "-m", "merge", "main")
    undo(History(mara), head, START)
    bob = StoreFolder(Path(mara.root).parent).folder("bob")
    for user, name, words in (
        (mara, "--all", "is not a commit here"),
        (mara, "HEAD~1", "is a merge"),
        (mara, head, "nothing left"),
        (bob, None, "nothing left to undo"),
        (bob, head, "no commit of a job on these memories"),
    ):
        with pytest.raises(FilememError, match=words):
            undo(History(user), name, START)


def test_a_memory_that_git_has_and_the_disk_has_not_is_told_of(mara: Folder) -> None:
    """By check and by maintain, with the command that brings it back; of two that say the same each."""
    where = Path(mara.root).parent
    twin = mara.create("facts/twin.md", mara.read(FACT).decode())
    git(mara.root, "add", twin)
    git(mara.root, "commit", "--quiet", "-m", "A twin")
    for path in (FACT, twin):
        os.unlink(mara.absolute(path))
    for words in ("check", "maintain"):
        told = run(where, words).stdout
        assert all(
            f"{path}:1: git has this memory and the disk has not" in told
            for path in (FACT, twin)
        )


# -- log ----------------------------------------------------------------------------------------------


def test_log_follows_a_file_through_its_moves(mara: Folder) -> None:
    """A job's and a person's; of a folder it lists what concerns any file in it."""
    mara.move({FACT: f"archive/{FACT}"})
    job(mara, "Put away what has faded", FACT, f"archive/{FACT}", Job="sweep")
    write(mara, "facts/茶.md", "最喜欢乌龙茶, Emilie sagt\n")
    job(mara, "Learn about tea", "facts/茶.md", Job="chat", Session="sessions/x.md")

    def said(path: str) -> list[str]:
        return [commit.subject for commit in log(History(mara), path)]

    kept = ["Put away what has faded", "Begin to keep these memories in git"]
    assert said(FACT) == kept == said(f"archive/{FACT}")
    assert said("facts") == said("facts/茶.md") + said(FACT)
    who = [commit.who for commit in log(History(mara), limit=2)]
    assert who == ["filemem, chat, in sessions/x.md", "filemem, sweep"]
    git(mara.root, "mv", f"archive/{FACT}", "facts/乌龙.md")
    git(mara.root, "commit", "-qm", "By hand")
    assert said("facts/乌龙.md") == ["By hand", *kept]


def run(where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return filemem("--store", where, *arguments, env=clean(NO_COLOR="1"))


def test_an_edit_by_command_is_a_commit_that_can_be_undone(mara: Folder) -> None:
    """One that changes nothing is none; what was changed before is the person's."""
    where = Path(mara.root).parent

    def edited(path: str, change: str) -> str:
        env = clean(EDITOR=f"sed -i {change}")
        done = filemem("--store", where, "edit", path, env=env)
        assert done.returncode == 0, done.stderr
        return done.stderr

    profile = Path(mara.root, "profile.md")
    before = profile.read_text()
    edited("profile.md", "s/two/zwei/")
    assert git(where, "log", "-1", "--format=%s") == "Edit profile.md"
    edited("profile.md", "s/none/one/")
    assert run(where, "undo").stdout.endswith("Changed profile.md back.\n")
    assert profile.read_text() == before
    write(mara, "profile.md", "three\n")
    assert "not committed with this" in edited("profile.md", "s/three/drei/")
    git(where, "rm", "-qf", profile)
    git(where, "commit", "-qm", "By hand")
    edited("profile.md", "s/none/one/")
    assert git(where, "log", "-1", "--format=%s") == "Edit profile.md"


def test_the_commands_answer_in_words(mara: Folder) -> None:
    """log and undo, as a person and as a script asks."""
    where = Path(mara.root).parent
    write(mara, "facts/x.md", "Forged \x1b[31m line\n")
    job(mara, "Learn \x1b]0;x", "facts/x.md")
    for words in ("log", "log --json-lines", "log facts/", "log facts/x.md:1"):
        said = run(where, *words.split())
        assert said.returncode == 0 and "\x1b" not in said.stdout, words
    assert run(where, "undo").stdout.endswith("Deleted facts/x.md.\n")
    for words in ("undo zzzz", "log ../x", "log no.md"):
        said = run(where, *words.split())
        assert said.returncode == 2 and said.stderr.startswith("filemem: "), said
