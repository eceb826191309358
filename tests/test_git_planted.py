"""A repository that came with a store runs nothing and sends nothing, whatever its configuration says, and a person hears
that it is not used. In the person's own repository memories are committed, and still nothing of its configuration runs.
"""

import os
import subprocess
from pathlib import Path

import pytest
from programs import clean, filemem
from repositories import START, git, named, plain_git, store  # noqa: F401

from filemem import Store, User
from filemem.history import History
from filemem.history.diary import CUT_OFF, sync
from filemem.history.git import MARK

HOOKS = "pre-commit commit-msg post-commit prepare-commit-msg pre-push reference-transaction post-index-change post-checkout"
COMMANDS = (
    ["remember", "Has a boat."],
    ["chat", "-m", "What tea?"],
    ["search", "tea"],
    ["grep", "tea"],
    ["maintain"],
    ["consolidate"],
    ["sync"],
    ["check"],
    ["edit", "profile.md"],
    ["report", "--output", "page.html"],
    ["undo"],
    ["log", "--about", "tea"],
    ["grep", "tea", "--as-of", "2026-11-20"],
    ["forget", "--about", "boat", "--yes", "--purge-history"],
)


def plant(folder: Path, evil: Path) -> None:
    """A configuration, hooks and attributes with everything in them that git knows to run; each leaves its name in `evil`."""
    evil.mkdir()
    hooks = evil.parent / "hooks"
    for place in (hooks, folder / ".git/hooks"):
        place.mkdir(exist_ok=True)
        for name in HOOKS.split():
            (place / name).write_text(f"#!/bin/sh\ntouch {evil}/{place.name}-{name}\n")
            (place / name).chmod(0o755)
    keys = "core.fsmonitor core.editor core.pager core.sshCommand core.askPass core.alternateRefsCommand diff.external pager.log "
    keys += (
        "diff.evil.textconv diff.evil.command filter.evil.process merge.evil.driver gpg.program gc.recentObjectsHook "
    )
    for key in f"{keys} credential.helper remote.origin.uploadpack remote.origin.receivepack".split():
        git(folder, "config", key, f"{'!' * (key == 'credential.helper')}touch {evil}/{key}")
    for key in ("filter.evil.clean", "filter.evil.smudge"):
        git(folder, "config", key, f"touch {evil}/{key}; cat")
    for key, value in {
        "core.hooksPath": str(hooks),
        "commit.gpgSign": "true",
        "log.showSignature": "true",
        "push.gpgSign": "true",
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::sh -c touch% {evil}/ext",
        "remote.origin.promisor": "true",
        "include.path": str(evil.parent / "included"),
    }.items():
        git(folder, "config", key, value)
    (evil.parent / "included").write_text(f'[filter "more"]\n\tclean = touch {evil}/included; cat\n')
    (folder / ".git/info/attributes").write_text("* filter=evil diff=evil merge=evil\n")
    with (folder / ".gitattributes").open("a") as attributes:
        attributes.write("**/sessions/** merge=union\n* filter=evil diff=evil merge=evil\n*.md filter=more\n")


def run(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    own = {"LOGNAME": "mara", "EDITOR": "true", "XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"]}
    return filemem(*words, "--store", "store", env=clean(home, **own, **more), cwd=home)


def strangers(home: Path, where: str) -> Path:
    """A store that is in git in somebody else's way: as a whole, or one user's folder."""
    mara = Store(home / "store").user("mara").folder
    User(mara).remember("Prefers oolong tea.", today=START.date())
    mara.create("profile.md", "# Mara\n")
    folder = home / "store" / where
    git(folder, "init", "--quiet")
    git(folder, "add", "."), git(folder, "commit", "--quiet", "-m", "Mine", "--date=2026-11-20T09:00")
    plant(folder, home / "evil")
    (Path(mara.root) / "profile.md").write_text("# Mara\n\n- Hates mud.\n")
    return folder


@pytest.mark.parametrize("where", ["", "mara"])
def test_a_strangers_repository_is_not_used(tmp_path: Path, where: str) -> None:
    """Nothing runs, no commit is made, nothing is sent; who asks of git, or makes it commit, is told."""
    folder = strangers(tmp_path, where)
    before = git(folder, "-c", "core.fsmonitor=", "rev-parse", "HEAD")
    for path in (tmp_path / "evil").iterdir():
        path.unlink()
    for words in COMMANDS:
        done = run(tmp_path, *words)
        assert not os.listdir(tmp_path / "evil"), words
        assert "Traceback" not in done.stderr, (words, done.stderr)
        if words[0] in ("remember", "sync", "undo", "check"):
            said = done.stdout + done.stderr
            assert "was not set up on this machine" in said, (words, said)
    assert (folder / ".git/refs/heads/main").read_text().strip() == before
    assert not (folder / ".git" / MARK).exists()


def test_in_the_persons_own_repository_nothing_of_its_configuration_runs(tmp_path: Path) -> None:
    """And every command does its work: hooks, filters, drivers and helpers are not there at all."""
    mara = store(tmp_path / "store")
    run(tmp_path, "remember", "Lives in Diss.")
    plant(tmp_path / "store", tmp_path / "evil")
    for words in COMMANDS:
        done = run(tmp_path, *words)
        assert not os.listdir(tmp_path / "evil"), words
        assert "Traceback" not in done.stderr, (words, done.stderr)
        if words[0] in ("remember", "chat", "undo"):
            assert "not committed" not in done.stderr, done.stderr
        if words[0] == "sync":
            assert done.returncode == 2 and "'ext' not allowed" in done.stderr, done.stderr
    assert mara.paths()


def test_a_remote_among_the_memories_is_refused(tmp_path: Path) -> None:
    """Its hooks would run on this machine."""
    mara = store(tmp_path / "store")
    git(mara.root, "init", "--quiet", "--bare", ".remote")
    hook = Path(mara.root) / ".remote/hooks/pre-receive"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    for url in ("mara/.remote", str(Path(mara.root) / ".remote"), f"file://{mara.root}/.remote"):
        git(tmp_path / "store", "config", "remote.origin.url", url)
        with pytest.raises(Exception, match="lies among the memories"):
            sync(History(mara), None, START)
    assert not (tmp_path / "ran").exists()


def test_a_repository_that_takes_the_place_of_the_persons_is_not_theirs(tmp_path: Path) -> None:
    """The path alone proves nothing, nor does a mark that somebody else has drawn."""
    mara = store(tmp_path / "store")
    os.rename(tmp_path / "store/.git", tmp_path / "gone")
    git(tmp_path / "store", "init", "--quiet")
    for mark in ("", "0" * 32 + "\n"):
        (tmp_path / "store/.git" / MARK).write_text(mark)
        note = History(mara).record("Keep", mara.paths(), {}, START).note
        assert "was not set up on this machine" in note
    (tmp_path / "store/.git").rename(tmp_path / "other")
    os.rename(tmp_path / "gone", tmp_path / "store/.git")
    assert (
        not History(mara).record("Keep", [User(mara).remember("Has a boat.", today=START.date()).path], {}, START).note
    )


def test_a_store_of_an_older_version_goes_on_once_it_is_named(tmp_path: Path) -> None:
    """What its jobs wrote meanwhile is committed then."""
    mara = store(tmp_path / "store")
    (tmp_path / "store/.git" / MARK).unlink()
    assert "filemem init --git" in run(tmp_path, "remember", "Has a boat.").stderr
    assert run(tmp_path, "remember", "Has a tent.").stderr == "", "it is said once"
    assert "nothing was changed" in run(tmp_path, "init", "--git", "store").stdout
    assert run(tmp_path, "remember", "Has a dog.").stderr == ""
    subjects = git(tmp_path / "store", "log", "--format=%s").split("\n")
    assert subjects[:2] == ["Remember: Has a dog.", CUT_OFF]
    assert git(mara.root, "status", "--short", ".") == ""


def test_a_remote_on_this_machine_runs_nothing_here(tmp_path: Path) -> None:
    """Neither its hooks nor what its configuration names."""
    mara = store(tmp_path / "store")
    git(tmp_path, "init", "--quiet", "--bare", "remote")
    git(tmp_path, "init", "--quiet", "--bare", "other")
    (tmp_path / "remote/objects/info/alternates").write_text(f"{tmp_path}/other/objects\n")
    git(tmp_path / "remote", "config", "core.alternateRefsCommand", f"touch {tmp_path}/ran; true")
    for name in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        hook = tmp_path / "remote/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(0o755)
    for url in (str(tmp_path / "remote"), f"file://{tmp_path}/remote", "../remote"):
        git(tmp_path / "store", "config", "remote.origin.url", url)
        History(mara).record("Keep", [User(mara).remember(f"Has {url}.", today=START.date()).path], {}, START)
        assert sync(History(mara), None, START).pushed
    assert not (tmp_path / "ran").exists()
