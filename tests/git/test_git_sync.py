"""A sync brings in and sends memories and nothing else, loses no line, and says in a sentence what stands in its way."""

import datetime as dt
import os
import re
from pathlib import Path

import pytest
from repositories import (
    START,
    commits_meanwhile,
    git,
    job,
    meanwhile,
    old_talks,
    plain_git,
    retelling,
    state,
    store,
    supersede,
    write,
)

from filemem import FilememError, Store, User, jobs, overview
from filemem.forget.plan import plan_deletion
from filemem.git.history import History
from filemem.git.setup import set_up
from filemem.git.sync import sync
from filemem.store import config, recalls
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

FACT = "facts/2026/2026-11-20-prefers-oolong-tea.md"
SAME = "What is committed is the same here and on origin."


@pytest.fixture
def machines(tmp_path: Path) -> list[Folder]:
    """Two machines of one person, synced, and a bare remote."""
    git(tmp_path, "init", "--quiet", "--bare", "remote")
    first = store(tmp_path / "one")
    git(tmp_path / "one", "remote", "add", "origin", str(tmp_path / "remote"))
    assert synced(first) == [SAME]
    git(tmp_path, "clone", "--quiet", "remote", "two")
    return [first, StoreFolder(tmp_path / "two").folder("mara")]


def change(user: Folder, path: str, text: str) -> None:
    """A job of the machine that leaves `text` in a file.

    It is committed.
    """
    write(user, path, text)
    job(user, f"Change {path}", path, Job="test")


def synced(user: Folder) -> list[str]:
    return sync(History(user), None, START)


def elsewhere(user: Folder, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the remote be one of another machine, whose hooks run there: git reaches it as by ssh."""
    ssh = top / "ssh"
    ssh.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    git(user.root, "remote", "set-url", "origin", f"elsewhere:{top}/remote")


TURNS = "- **mara** 09:00: My pin is 4711.\n- **mara** 09:01: Bye.\n"
NEW_TURN = "- **mara** 10:00: Back.\n"
REDACTED = TURNS.replace("My pin is 4711.", "[forgotten]")
PETS = "# Mara\n\n- Likes figs.\n"
PASTED = PETS + "- Has a dog.\n- Has a cat.\n"
TEA = "---\nimportance: 5\ntags: [tea]\n---\n\nOolong.\n"
# Files before, as one machine and as the other changes them (None deletes), and merged.
MERGES: dict[str, list[dict[str, str | None]]] = {
    "a redaction and an append": [
        {"sessions/t.md": TURNS},
        {"sessions/t.md": REDACTED},
        {"sessions/t.md": TURNS + NEW_TURN},
        {"sessions/t.md": REDACTED + NEW_TURN},
    ],
    "neighbouring lines, and lines added in one place": [
        {"profile.md": "- Porto\n- A nurse\n\n- figs\n"},
        {"profile.md": "- Lisbon\n- A nurse\n\n- figs\n- quinces\n"},
        {"profile.md": "- Porto\n- A pilot\n\n- figs\n- plums\n"},
        {"profile.md": "- Lisbon\n- A pilot\n\n- figs\n- plums\n- quinces\n"},
    ],
    "the same block pasted by both": [
        {"profile.md": PETS},
        {"profile.md": PASTED},
        {"profile.md": PASTED + "- Has a boat.\n"},
        {"profile.md": PASTED + "- Has a boat.\n"},
    ],
    "a folder archived and a fact added": [
        {"facts/trip/a.md": "By train.\n"},
        {"facts/trip/a.md": None, "archive/facts/trip/a.md": "By train.\n"},
        {"facts/trip/c.md": "On foot.\n"},
        {"archive/facts/trip/a.md": "By train.\n", "facts/trip/c.md": "On foot.\n"},
    ],
    "front matter changed on both": [
        {"facts/tea.md": TEA},
        {"facts/tea.md": TEA.replace("5", "7")},
        {"facts/tea.md": TEA.replace("[tea]", "[tea, cold]\npinned: true")},
        {
            "facts/tea.md": TEA.replace("5", "7").replace(
                "[tea]", "[tea, cold]\npinned: true"
            )
        },
    ],
    "archived on one, deleted on the other": [
        {"facts/tea.md": "Oolong.\n"},
        {"facts/tea.md": None, "archive/facts/tea.md": "Oolong.\n"},
        {"facts/tea.md": None},
        {},
    ],
    "one renames, one edits": [
        {"facts/tea.md": "Oolong.\n"},
        {"facts/tea.md": None, "facts/茶.md": "Oolong.\n"},
        {"facts/tea.md": "Oolong.\nCold.\n"},
        {"facts/tea.md": "Oolong.\nCold.\n", "facts/茶.md": "Oolong.\n"},
    ],
}


@pytest.mark.parametrize("what", MERGES)
def test_a_merge_keeps_both_changes(machines: list[Folder], what: str) -> None:
    *states, merged = MERGES[what]
    one, two = machines
    for user, files in zip((one, one, two), states, strict=True):
        for path, text in files.items():
            if text is None:
                Path(user.root, path).unlink()
            else:
                write(user, path, text)
        job(user, "Change", *files)
        if files is states[0]:
            synced(one), synced(two)
    synced(one), synced(two), synced(one)
    for user in machines:
        files = {path: user.read(path).decode() for path in user.paths()}
        assert files == {FACT: user.read(FACT).decode(), **merged}


def test_two_edits_of_one_line_both_stand_in_the_file(machines: list[Folder]) -> None:
    """Found and named.

    Of settings and front matter the later line counts, and the rest is in force. Of what
    is no text this machine's stays.
    """
    one, two = machines
    for user, tea, days in ((one, "black tea", 40), (two, "乌龙茶", 50)):
        settings = f"compact_after_days: {days}\nwindow_tokens: 99\n"
        Path(user.store, "filemem.yaml").write_text(settings)
        git(user.store, "add", "filemem.yaml")
        git(user.store, "commit", "--quiet", "-m", "Settings")
        change(user, FACT, f"---\nsource: x.md:1\n---\nPrefers {tea}.\n")
        change(user, "notes/picture.md", f"\0{tea}")  # which no lines tell apart
    synced(one)
    done = synced(two)
    assert [line.split()[0] for line in sorted(done[:-1])] == [
        "filemem.yaml",
        f"mara/{FACT}",
        "mara/notes/picture.md",
    ]
    assert git(two.root, "show", "HEAD^2:mara/notes/picture.md") == "\0black tea"
    synced(one)
    for user in machines:
        assert user.read("notes/picture.md") == "\0乌龙茶".encode()
        assert user.memory(FACT).lines[-2:] == ["Prefers 乌龙茶.", "Prefers black tea."]
        assert User(user).grep("black") and User(user).grep("乌龙茶")
        assert user.memory(FACT).front["source"] == "x.md:1"
        assert config.load(user.store).window_tokens == 99
    assert synced(two) == [SAME]


def test_what_each_machine_began_under_one_name_stands_in_one_memory(
    machines: list[Folder],
) -> None:
    """Every line of both once, whatever stands between two of them, and one front matter."""
    talk = "sessions/2026/2026-11-21-1000-茶.md"
    for user, tea in zip(machines, ("black", "绿茶"), strict=True):
        turns = f"- **mara** 10:00: hello\n- **mara** 10:00: {tea}\n"
        change(user, talk, f"---\ndate: 2026-11-21T10:00:0{len(tea)}\n---\n{turns}")
    change(machines[0], "profile.md", "- 苹果\n- 茶\n- 杏子\n")
    change(machines[1], "profile.md", "- 茶\n")
    synced(machines[0])
    *told, _ = synced(machines[1])
    named = [line.split()[0] for line in told]
    assert named == ["mara/profile.md", f"mara/{talk}"]
    synced(machines[0])
    for user in machines:
        said = [turn.text for turn in user.memory(talk).passages]
        assert said == ["hello", "绿茶", "black"]
        assert user.memory("profile.md").lines == ["- 苹果", "- 茶", "- 杏子"]
        assert not overview.problems(user, dt.date(2026, 11, 20))


def test_months_that_both_machines_summarised_have_each_conversation_once(
    machines: list[Folder],
) -> None:
    """With the lines of both; what one forgets of it goes on the other, too."""
    first, second = machines
    old_talks(first)
    synced(first)
    synced(second)
    jobs.compact(first, START, model=retelling("Bartholomew", "They caught an eel."))
    jobs.compact(second, START, model=retelling("The eel", "It was named."))
    for machine in (first, second, first):
        synced(machine)
    for month in ("08", "09"):
        summary = first.memory(f"summaries/2026/2026-{month}-conversations.md")
        assert summary.text.count("## ") == 1
        for told in ("**Bartholomew** – They caught an eel.", "It was named."):
            assert summary.text.count(told) == 1
        assert second.memory(summary.path).data == summary.data
    assert not jobs.compact(second, START, model=retelling("", "")).facts["summaries"]
    jobs.forget(first, plan_deletion(first, about="Bartholomew"), START)
    synced(first)
    synced(second)
    left = "".join(state(second.root).values())
    assert "Bartholomew" not in left and "bit my dad" in left


def test_deleted_here_and_changed_there_is_kept_and_told(
    machines: list[Folder],
) -> None:
    """The person decides."""
    one, two = machines
    (Path(one.root) / FACT).unlink()
    job(one, "Forget", FACT)
    change(two, FACT, "Prefers oolong tea, cold.\n")
    synced(one)
    assert "changed on the other; it is kept" in synced(two)[0]
    synced(one)
    assert one.read(FACT) == b"Prefers oolong tea, cold.\n"


def test_machines_that_began_apart_come_together(tmp_path: Path) -> None:
    """Each made its own repository, with a branch of another name.

    The remote of something else is refused.
    """
    for name in ("remote", "code"):
        git(tmp_path, "init", "--quiet", "--bare", name)
    one, two = store(tmp_path / "one"), store(tmp_path / "two")
    change(two, "facts/b.md", "b\n")
    git(two.root, "branch", "-m", "master")
    for user in (one, two, one):
        sync(History(user), str(tmp_path / "remote"), START)
    assert one.paths() == two.paths() and FACT in one.paths()
    git(tmp_path, "clone", "--quiet", "code", "work")
    work = tmp_path / "work"
    git(work, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    git(work, "push", "--quiet", "origin", "HEAD:refs/heads/main")
    with pytest.raises(FilememError, match="something other than memories"):
        sync(History(one), str(tmp_path / "code"), START)


# -- in the way ----------------------------------------------------------------------------------------------------


def test_a_late_push_is_tried_again(
    machines: list[Folder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine pushes between this one's fetch and its push.

    Nobody is forced, nothing is merged twice, what is recalled meanwhile is kept.
    """
    one, two = machines
    elsewhere(one, tmp_path, monkeypatch)
    for user, name in ((one, "here"), (two, "there")):
        recalls.note_recall(user, f"{name}.md", recalls.How.OPENED, START)
        change(user, f"facts/{name}.md", "a\n")
    log = Path(one.bookkeeping("recalls.log"))
    hook, done = tmp_path / "remote/hooks/pre-receive", tmp_path / "done"
    push = f'env -i PATH="$PATH" git -C {two.root} push --quiet origin HEAD:main'
    noted = f"sed s/here/meanwhile/ {log} > {done}; cat {done} >> {log}"
    hook.write_text(f"#!/bin/sh\ntest -e {done} || {{ {noted}; {push}; }}\n")
    hook.chmod(0o755)
    assert synced(one) == [SAME] and done.exists()
    assert sorted(re.findall(r"\w+(?=\.md)", log.read_text())) == [
        "here",
        "meanwhile",
        "there",
    ]
    merges = git(one.root, "log", "--merges", "--format=%s")
    assert merges == "Merge memories from origin"
    synced(two)
    assert git(one.root, "rev-parse", "HEAD") == git(two.root, "rev-parse", "HEAD")


def test_offline_and_a_remote_that_refuses_lose_nothing(
    machines: list[Folder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came in is there, what is committed waits, each in one sentence."""
    one, two = machines
    change(two, "facts/b.md", "b\n")
    synced(two)
    change(one, "facts/a.md", "a\n")
    (tmp_path / "remote").rename(tmp_path / "away")
    with pytest.raises(FilememError, match="cannot be reached"):
        synced(one)
    (tmp_path / "away").rename(tmp_path / "remote")
    elsewhere(one, tmp_path, monkeypatch)
    hook = tmp_path / "remote" / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(FilememError, match="did not take the push"):
        synced(one)
    assert one.read("facts/b.md") == b"b\n"
    hook.unlink()
    synced(one), synced(two)
    assert two.read("facts/a.md") == b"a\n"


@pytest.mark.parametrize("command", ["status", "update-index", "update-ref"])
@pytest.mark.parametrize("is_behind", [True, False])
def test_what_a_person_commits_during_a_sync_stays_on_the_branch(
    machines: list[Folder],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    is_behind: bool,
) -> None:
    """Whether the branch had only to be moved on, or was to be merged."""
    one, two = machines
    change(one, "facts/new.md", "new\n")
    synced(one)
    if not is_behind:
        change(two, "facts/other.md", "other\n")
    with monkeypatch.context() as patched:
        commits_meanwhile(patched, Path(two.store), command)
        synced(two)
    synced(one)
    assert git(one.root, "rev-parse", "HEAD") == git(two.root, "rev-parse", "HEAD")
    for user in machines:
        assert user.read("notes/own.md") == b"mine\n"
        assert user.read("facts/new.md") == b"new\n"
        assert git(user.root, "status", "--short") == ""
    assert "Mine" in git(two.root, "log", "--format=%s").split("\n")


@pytest.mark.parametrize("is_behind", [True, False])
def test_no_other_branch_is_taken_for_the_one_that_a_sync_began_on(
    machines: list[Folder], monkeypatch: pytest.MonkeyPatch, is_behind: bool
) -> None:
    """It lacks what both had in common: a merge there would take that from everybody."""
    one, two = machines
    git(two.root, "branch", "--quiet", "old")
    change(two, "facts/both.md", "both\n")
    synced(two), synced(one)
    change(one, "facts/new.md", "new\n")
    synced(one)
    if not is_behind:
        change(two, "facts/other.md", "other\n")
    with monkeypatch.context() as patched:
        meanwhile(patched, Path(two.store), "update-index", "git switch --quiet old")
        with pytest.raises(FilememError, match="moved to another branch"):
            synced(two)
    git(two.root, "switch", "--quiet", "main")
    synced(two), synced(one)
    assert one.paths() == two.paths()
    assert {"facts/both.md", "facts/new.md"} <= {*two.paths()}


@pytest.mark.parametrize("staged", [False, True])
def test_uncommitted_edits_stay_and_are_named(
    machines: list[Folder], staged: bool
) -> None:
    """Where such a file is to change nothing is written until they are committed."""
    one, two = machines
    change(one, "profile.md", "one\ntwo\n")
    synced(one), synced(two)
    mine = write(two, "profile.md", "one\ntwo, by hand\n")
    assert synced(two)[0] == "Not committed by you, so not sent: mara/profile.md."
    change(one, "profile.md", "ONE\ntwo\n")
    synced(one)
    if staged:
        git(two.root, "add", "profile.md")
    before = state(two.store)
    with pytest.raises(FilememError, match=r"uncommitted changes in mara/profile\.md"):
        synced(two)
    assert state(two.store) == before
    git(two.root, "commit", "--quiet", "-am", "Mine")
    synced(two)
    assert mine.read_text() == "ONE\ntwo, by hand\n"


@pytest.mark.parametrize("taken", ["notes/own.md", "notes/own.md/x.md"])
def test_a_file_that_git_ignores_is_not_written_over(
    machines: list[Folder], taken: str
) -> None:
    """Nor taken for a folder: it is named, and nothing is written until it is moved."""
    one, two = machines
    for path in ("facts/new.md", taken):
        change(one, path, "one\n")
    synced(one)
    mine = write(two, "notes/own.md", "mine\n")
    (Path(two.store) / ".git/info/exclude").write_text("notes/\n")
    before = state(two.store)
    with pytest.raises(FilememError, match=r"own\.md is in the way"):
        synced(two)
    assert state(two.store) == before
    mine.rename(mine.with_name("mine.md"))
    synced(two)
    assert two.read(taken) == two.read("facts/new.md") == b"one\n"
    assert mine.with_name("mine.md").read_text() == "mine\n"


@pytest.mark.parametrize("name", ["x.md", ".GIT"])
def test_a_remote_that_would_lead_elsewhere_is_refused(
    machines: list[Folder], name: str
) -> None:
    """A link in place of a memory, a path into `.git`: nothing is written."""
    one, two = machines
    blob = git(one.root, "hash-object", "-w", "--stdin", stdin=b"/etc/passwd")
    entry = f"120000 blob {blob}\t{name}\n"
    if name == ".GIT":
        inner = f"100644 blob {blob}\tconfig\n".encode()
        entry = f"040000 tree {git(one.root, 'mktree', stdin=inner)}\t{name}\n"
    tree = git(one.root, "mktree", stdin=entry.encode())
    commit = git(one.root, "commit-tree", tree, "-p", "HEAD", "-m", "x")
    git(one.root, "push", "--quiet", "origin", f"{commit}:refs/heads/main")
    with pytest.raises(FilememError, match="not a regular file"):
        synced(two)
    assert Path(two.root, FACT).exists()


def test_a_folder_that_is_a_link_is_not_written_through(
    machines: list[Folder], tmp_path: Path
) -> None:
    one, two = machines
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", Path(two.root) / "lessons")
    change(one, "lessons/x.md", "x\n")
    synced(one)
    with pytest.raises(FilememError, match="symbolic link"):
        synced(two)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_where_there_is_no_remote_or_other_work_too_the_command_is_told(
    tmp_path: Path,
) -> None:
    """The one that adds a remote; or those by which the memories travel with other people's work."""
    with pytest.raises(FilememError, match="remote add origin"):
        synced(store(tmp_path / "store"))
    git(tmp_path, "init", "--quiet", "project")
    where = tmp_path / "project" / "store"
    where.mkdir()
    set_up(str(where), "mara", START)
    with pytest.raises(FilememError, match="git pull and git push"):
        synced(StoreFolder(where).folder("mara"))


def test_every_url_of_a_remote_gets_what_is_pushed(
    machines: list[Folder], tmp_path: Path
) -> None:
    """What comes in is of the first of them, as with git."""
    git(tmp_path, "init", "--quiet", "--bare", "spare")
    first, second = machines
    git(first.root, "remote", "set-url", "--add", "origin", str(tmp_path / "spare"))
    change(first, FACT, "Prefers sencha.\n")
    change(second, "facts/2026/2026-11-20-cat.md", "Has a cat.\n")
    assert synced(second) == [SAME]
    assert synced(first) == [SAME]
    heads = {git(tmp_path / at, "rev-parse", "main") for at in ("remote", "spare")}
    assert heads == {git(first.root, "rev-parse", "HEAD")}
    assert first.memory("facts/2026/2026-11-20-cat.md").text == "Has a cat.\n"


def test_what_was_recalled_of_anybody_in_the_store_is_sent(
    machines: list[Folder],
) -> None:
    first, second = machines
    ben = Store(first.store).user("ben")
    path = ben.remember("Likes tea.", today=START.date()).path
    recalls.note_recall(ben._folder, path, recalls.How.OPENED, START)
    assert synced(first) == [SAME]
    assert synced(second) == [SAME]
    own = f"{second.store}/ben/.filemem/recalls.log"
    assert path in Path(own).read_text()
