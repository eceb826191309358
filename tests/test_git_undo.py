"""undo takes back just what one commit did, or nothing at all; log, diff and blame tell the truth about each line."""

import datetime as dt
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import clean, filemem
from repositories import START, git, plain_git, state, store  # noqa: F401

from filemem import FilememError, Store, User
from filemem.files.folder import Folder
from filemem.forgetting import sweeper
from filemem.history import History, log
from filemem.history.undo import undo
from filemem.remembering import remembering

FACT = "facts/2026/2026-11-20-prefers-oolong-tea.md"


def job(user: Folder, subject: str, *paths: str, **trailers: str) -> str:
    commit = History(user).record(subject, paths, trailers, START).commit
    assert commit
    return commit


def write(user: Folder, path: str, text: str) -> Path:
    place = Path(user.root) / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    """A user with a profile of five paragraphs."""
    mara = store(tmp_path / "store")
    write(mara, "profile.md", "one\n\ntwo\n\nthree\n\nfour\n\nfive\n")
    job(mara, "Write the profile", "profile.md")
    return mara


# -- undo ----------------------------------------------------------------------------------------------------------


def test_what_was_done_since_stays(mara: Folder) -> None:
    """A commit in the middle is taken back, later ones and uncommitted edits stay, these uncommitted."""
    write(mara, "profile.md", "ONE\n\ntwo\n\nthree\n\nfour\n\nfive\n")
    first = job(mara, "Change one", "profile.md")
    write(mara, "profile.md", "ONE\n\ntwo\n\nTHREE\n\nfour\n\nfive\n")
    job(mara, "Change three", "profile.md")
    place = write(mara, "profile.md", "ONE\n\ntwo\n\nTHREE\n\nfour\n\nfive, by hand\n")
    done = undo(History(mara), first[:10], START)
    assert place.read_text() == "one\n\ntwo\n\nTHREE\n\nfour\n\nfive, by hand\n"
    assert git(mara.root, "show", "HEAD:./profile.md") == "one\n\ntwo\n\nTHREE\n\nfour\n\nfive"
    assert (
        git(mara.root, "log", "-1", "--format=%an|%s|%(trailers:key=Undoes,valueonly)")
        == f'filemem|Undo "Change one"|{first}\n'
    )
    assert done.commit.commit == first and done.said == ["Changed profile.md back."]


def test_what_a_person_wrote_right_beside_it_stays(mara: Folder) -> None:
    """Lines above and below those that the machine added and changed."""
    write(mara, "profile.md", "one\n\nTWO\n\nthree\n\nfour\n\nfive\n\n## Likes\n\n- figs\n")
    job(mara, "Remember figs", "profile.md")
    place = write(mara, "profile.md", "one\nby hand\nTWO\n\nthree\n\nfour\n\nfive\n\n## Likes\n\n- figs\n- rain\n")
    undo(History(mara), "", START)
    assert place.read_text() == "one\nby hand\ntwo\n\nthree\n\nfour\n\nfive\n- rain\n"
    assert git(mara.root, "show", "HEAD:./profile.md") == "one\n\ntwo\n\nthree\n\nfour\n\nfive"


def test_a_move_is_moved_back_with_what_was_written_since(mara: Folder) -> None:
    """So a sweep or a compaction can be undone."""
    mara.move("profile.md", "archive/profile.md")
    mara.move(FACT, f"archive/{FACT}")
    swept = job(mara, "Sweep", "profile.md", "archive/profile.md", FACT, f"archive/{FACT}")
    mara.append("archive/profile.md", "six\n")
    job(mara, "Add six", "archive/profile.md")
    undo(History(mara), swept, START)
    assert mara.paths() == [FACT, "profile.md"] and mara.read("profile.md").endswith(b"five\nsix\n")
    assert git(mara.root, "status", "--short") == ""


def test_what_was_superseded_is_live_again_after_an_undo_and_stays_so(mara: Folder) -> None:
    """Little of the short fact is left in its archived copy, which says what replaced it; and what a sweep took comes back."""
    first = User(mara).remember("Mara lives in Porto.", today=START.date()).path
    before = mara.read(first)
    job(mara, "Remember", first)
    told = remembering.remember(mara, "Mara lives in Faro.", START)
    commit = job(mara, "Remember", *told.paths)
    assert f"archive/{first}" in mara.paths() and first not in mara.paths()
    job(mara, "Note", mara.create("notes.md", "Later.\n"))
    undo(History(mara), commit, START)
    assert mara.read(first) == before and f"archive/{first}" not in mara.paths()
    assert told.memory.path not in mara.paths() and git(mara.root, "status", "--short") == ""
    job(mara, "Tea", mara.create("facts/2026/2026-11-20-tea.md", "---\nkind: event\n---\n\nHad tea.\n"))
    late = START + dt.timedelta(days=400)
    sweeper.apply(mara, plan := sweeper.plan(mara, late.date()), late)
    swept = job(mara, "Sweep", *(path for move in plan.going for path in (move.path, f"archive/{move.path}")))
    undo(History(mara), swept, late)
    assert [move.path for move in plan.going] == ["facts/2026/2026-11-20-tea.md"]
    assert {first, "facts/2026/2026-11-20-tea.md"} <= set(mara.paths())
    assert not sweeper.plan(mara, late.date() + dt.timedelta(days=1)).going


def test_undo_walks_back_and_an_undo_can_be_undone(mara: Folder) -> None:
    """Without a name it is the last commit of the machine that still holds; a person's are passed over."""
    User(mara).remember("Has a bicycle.", today=START.date())
    bicycle = job(mara, "Bicycle", "facts/2026/2026-11-20-has-a-bicycle.md")
    User(mara).remember("Has a boat.", today=START.date())
    job(mara, "Boat", "facts/2026/2026-11-20-has-a-boat.md")
    write(mara, "notes/hand.md", "by hand\n")
    git(mara.root, "add", "notes")
    git(mara.root, "commit", "--quiet", "-m", "By hand")
    subjects = [undo(History(mara), "", START).commit.subject for _ in range(2)]
    assert subjects == ["Boat", "Bicycle"] and not User(mara).grep("boat|bicycle")
    last = git(mara.root, "rev-parse", "HEAD")
    assert undo(History(mara), last, START).said == ["Brought back facts/2026/2026-11-20-has-a-bicycle.md."]
    assert User(mara).grep("bicycle") and undo(History(mara), "", START).commit.commit == bicycle


CLASHES = {
    "the same line": ("profile.md", "one\n\ntwo, later\n\nthree\n\nfour\n\nfive\n", "the same lines have been changed"),
    "added, then changed": ("facts/new.md", "new and more\n", "what was added has been changed since"),
    "a file in its place": ("facts/gone.md", "another\n", "there is another file in its place"),
}


@pytest.mark.parametrize("what", CLASHES)
@pytest.mark.parametrize("committed", [True, False])
def test_where_it_must_conflict_nothing_is_written(mara: Folder, what: str, committed: bool) -> None:
    """The sentence names the file and the commit that is in the way."""
    write(mara, "facts/gone.md", "to go\n")
    job(mara, "Prepare", "facts/gone.md")
    write(mara, "profile.md", "ONE\n\nTWO\n\nthree\n\nfour\n\nfive\n")
    write(mara, "facts/new.md", "new\n")
    (Path(mara.root) / "facts/gone.md").unlink()
    commit = job(mara, "Change much", "profile.md", "facts/new.md", "facts/gone.md")
    path, text, words = CLASHES[what]
    write(mara, path, text)
    if committed:
        job(mara, "A later change", path)
    before = state(Path(mara.root).parent)
    with pytest.raises(FilememError) as caught:
        undo(History(mara), commit, START)
    assert path in str(caught.value) and words in str(caught.value)
    assert ("A later change" if committed else "not committed yet") in str(caught.value)
    assert state(Path(mara.root).parent) == before


def test_what_cannot_be_undone_is_said(mara: Folder) -> None:
    """A merge, a commit that is none, one that left nothing, and a user who has no commits."""
    with pytest.raises(FilememError, match="is no commit here"):
        undo(History(mara), "--all", START)
    head = git(mara.root, "rev-parse", "HEAD")
    git(mara.root, "switch", "--quiet", "-c", "other", "HEAD~1")
    git(mara.root, "commit", "--quiet", "--allow-empty", "-m", "empty")
    git(mara.root, "merge", "--quiet", "-m", "merge", "main")
    with pytest.raises(FilememError, match="is a merge"):
        undo(History(mara), "HEAD", START)
    undo(History(mara), head, START)
    with pytest.raises(FilememError, match="nothing left"):
        undo(History(mara), head, START)
    bob = Store(Path(mara.root).parent).user("bob").folder
    with pytest.raises(FilememError, match="no commit that could be undone"):
        undo(History(bob), "", START)


LINES = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(versions=st.lists(LINES, min_size=3, max_size=3))
def test_undo_of_the_last_is_the_state_before_it(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[str]]
) -> None:
    """Byte for byte, whatever was written."""
    mara = store(tmp_path_factory.mktemp("world") / "store")
    held = []
    for number, version in enumerate(versions):
        write(mara, "notes/x.md", "\n".join(version))
        write(mara, f"notes/{number}.md", f"{number}\n")
        job(mara, "Change", "notes/x.md", f"notes/{number}.md")
        held.append({path: mara.read(path) for path in mara.paths()})
    for before in (held[1], held[0]):
        undo(History(mara), "", START)
        assert {path: mara.read(path) for path in mara.paths()} == before
        assert git(mara.root, "status", "--short") == ""


# -- log, blame, diff ----------------------------------------------------------------------------------------------


def test_log_follows_a_file_through_its_moves_and_finds_words(mara: Folder) -> None:
    """--about wants every word, capital or not, in what was added, taken out or said; a move adds nothing."""
    mara.move(FACT, f"archive/{FACT}")
    job(mara, "Put away what has faded", FACT, f"archive/{FACT}", Job="sweep")
    write(mara, "facts/茶.md", "最喜欢乌龙茶, Émilie sagt\n")
    job(mara, "Learn about tea", "facts/茶.md", Job="chat", Session="sessions/x.md")

    def said(path: str = "", about: str = "") -> list[str]:
        return [commit.subject for commit in log.log(History(mara), path, about)]

    assert said(FACT) == ["Put away what has faded", "Begin to keep these memories in git"] == said(f"archive/{FACT}")
    assert said("facts") == said("facts/茶.md") + said(FACT)
    assert said(about="OOLONG") == ["Begin to keep these memories in git"]
    assert said(about="乌龙茶 émilie") == ["Learn about tea"] and said(about="oolong 乌龙茶") == []
    assert said(about="faded") == ["Put away what has faded"] and said(about="(a.*+") == []
    assert len(log.log(History(mara), limit=2)) == 2
    who = [commit.who for commit in log.log(History(mara))]
    assert who == ["filemem, chat, in sessions/x.md", "filemem, sweep", "filemem", "Mara Lind"]


def test_blame_names_person_conversation_and_job_for_each_line_on_disk(mara: Folder) -> None:
    """Uncommitted lines are told as such, and a move hides nothing."""
    mara.append("profile.md", "six\n")
    job(mara, "Talk", "profile.md", Job="chat", Session="sessions/2026/x.md")
    write(mara, "profile.md", mara.read("profile.md").decode().replace("three", "three, by hand"))
    git(mara.root, "commit", "--quiet", "-am", "By hand")
    mara.move("profile.md", "notes.md")
    job(mara, "Move", "profile.md", "notes.md")
    mara.append("notes.md", "seven\n")
    lines = {
        line.text: (line.line, line.commit.who if line.commit else "") for line in log.blame(History(mara), "notes.md")
    }
    assert lines["one"] == (1, "filemem") and lines["three, by hand"] == (5, "Mara Lind")
    assert lines["six"] == (10, "filemem, chat, in sessions/2026/x.md") and lines["seven"] == (11, "")
    write(mara, "new.md", "a\nb\n")
    assert [(line.line, line.text, line.commit) for line in log.blame(History(mara), "new.md")] == [
        (1, "a", None),
        (2, "b", None),
    ]


def test_diff_shows_new_files_too_and_leaves_the_index_alone(mara: Folder) -> None:
    """Paths are the memories' own, bookkeeping is left out."""
    write(mara, "facts/new.md", "new\n")
    write(mara, "profile.md", "one\n")
    Path(mara.bookkeeping("recalls.log")).write_text("x\n")
    before = state(Path(mara.root).parent)
    shown = log.diff(History(mara))
    assert "+++ b/facts/new.md\n@@ -0,0 +1 @@\n+new" in shown and "-three" in shown and "recalls" not in shown
    assert "profile" not in log.diff(History(mara), path="facts")
    assert state(Path(mara.root).parent) == before
    assert "+five" in log.diff(History(mara), "HEAD") and "new.md" not in log.diff(History(mara), "HEAD")


def run(where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return filemem("--store", where, *arguments, env=clean(NO_COLOR="1"))


def test_the_commands_answer_in_words(mara: Folder) -> None:
    """log, diff, blame, undo, as a person and as a script asks."""
    where = Path(mara.root).parent
    hostile = "Forged \x1b[31m line"
    write(mara, "facts/x.md", hostile + "\n")
    job(mara, "Learn \x1b]0;x", "facts/x.md")
    for arguments in (["log"], ["diff", "HEAD"], ["blame", "facts/x.md"], ["log", "--json"]):
        said = run(where, *arguments)
        assert said.returncode == 0 and "\x1b" not in said.stdout and not said.stderr, arguments
    assert run(where, "diff").returncode == 1 and run(where, "log", "--about", "nowhere").returncode == 1
    assert "facts/x.md" in run(where, "diff", "HEAD").stdout
    said = run(where, "undo")
    assert said.returncode == 0 and said.stdout.endswith("Deleted facts/x.md.\n")
    for arguments in (
        ["undo", "zzzz"],
        ["blame", "../x"],
        ["diff", "/etc/passwd"],
        ["log", "../x"],
        ["log", "no.md"],
        ["diff", "no"],
    ):
        said = run(where, *arguments)
        assert said.returncode == 2 and said.stderr.startswith("filemem: ") and "Traceback" not in said.stderr, said
    (where.parent / "bare").mkdir()
    Store(where.parent / "bare").user("mara").remember("x", today=dt.date(2026, 11, 20))
    for arguments in (["log"], ["undo"], ["blame", "facts"], ["sync"], ["diff"]):
        assert run(where.parent / "bare", *arguments).returncode == 2
