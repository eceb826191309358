"""Whatever a repository's own configuration says, nothing of it runs, and memories are committed all the same."""

import os
import subprocess
from pathlib import Path

import pytest
from programs import clean, filemem
from repositories import START, git, job, plain_git, store

from filemem import Store, User
from filemem.git.history import History
from filemem.git.sync import sync

HOOKS = "pre-commit commit-msg post-commit prepare-commit-msg pre-push reference-transaction post-index-change".split()
# What git knows to run: its configuration, RAN standing for a command that leaves its name, and what has plain git run it.
KINDS: dict[str, tuple[dict[str, str], str]] = {
    "hooks of the repository": ({}, "commit --allow-empty -m x"),
    "hooks elsewhere": ({"core.hooksPath": "HOOKS"}, "commit --allow-empty -m x"),
    "a file system monitor": ({"core.fsmonitor": "RAN"}, "status"),
    "a filter": (
        {"filter.evil.clean": "RAN; cat", "filter.evil.smudge": "RAN; cat"},
        "add .",
    ),
    "an external diff": ({"diff.external": "RAN"}, "diff"),
    "a text converter": ({"diff.evil.textconv": "RAN; cat"}, "diff"),
    "a merge driver": ({"merge.evil.driver": "RAN"}, "merge other"),
    "an editor": ({"core.editor": "RAN"}, "commit --allow-empty"),
    "a way to reach others": ({"core.sshCommand": "RAN"}, "ls-remote ssh://nowhere/x"),
    "a helper for passwords": ({"credential.helper": "!RAN"}, "credential fill"),
    "a program that signs": (
        {"gpg.program": "PROGRAM", "commit.gpgSign": "true"},
        "commit --allow-empty -m x",
    ),
    "a command as remote": (
        {"remote.origin.url": "ext::sh -c RAN%", "protocol.ext.allow": "always"},
        "ls-remote origin",
    ),
    "a remote's other end": (
        {"remote.near.url": "NEAR", "remote.near.uploadpack": "RAN"},
        "ls-remote near",
    ),
}
COMMANDS = [
    *(
        ["remember", "Has a boat."],
        ["chat", "-m", "What tea?"],
        ["grep", "tea", "--as-of", "2026-11-20"],
    ),
    *map(
        str.split,
        "search tea|maintain|consolidate|sync|sync near|check|edit profile.md|undo".split(
            "|"
        ),
    ),
    *map(
        str.split, "log profile.md|forget --about boat --yes --purge-history".split("|")
    ),
]


def plant(
    folder: Path, evil: Path, kinds: dict[str, tuple[dict[str, str], str]]
) -> None:
    """Have a repository's own configuration, hooks and attributes run things; each leaves its name in `evil`."""
    evil.mkdir()
    for number, (name, (settings, _)) in enumerate(kinds.items()):
        ran, hooks = f"touch {evil}/{number}", evil.parent / f"hooks-{number}"
        place = folder / ".git/hooks" if name == "hooks of the repository" else hooks
        place.mkdir(exist_ok=True)
        for hook in [*HOOKS, "program"]:
            (place / hook).write_text(f"#!/bin/sh\n{ran}\n")
            (place / hook).chmod(0o755)
        words = {
            "HOOKS": str(hooks),
            "NEAR": str(evil.parent / "near"),
        }
        words |= {
            "RAN%": ran.replace(" ", "% "),
            "RAN": ran,
            "PROGRAM": str(hooks / "program"),
        }
        for key, value in settings.items():
            for word, meant in words.items():
                value = value.replace(word, meant)
            git(folder, "config", key, value)
    git(evil.parent, "init", "--quiet", "--bare", "near")
    (folder / ".git/info/attributes").write_text(
        "* filter=evil diff=evil merge=evil\n*.md filter=evil\n"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_planted_here_is_run_by_plain_git(tmp_path: Path, kind: str) -> None:
    """Else the tests below would show nothing."""
    git(tmp_path, "init", "--quiet", "repository")
    where = tmp_path / "repository"
    for branch, text in (("other", "one\n"), ("main", "two\n")):
        (where / "a.txt").write_text(text)
        git(where, "checkout", "--quiet", "--orphan", branch)
        git(where, "add", "."), git(where, "commit", "-qm", branch)
    (where / "a.txt").write_text("three\n")
    control = KINDS[kind][1].split()
    if "merge" in control:
        git(where, "checkout", "--", "."), control.append("--allow-unrelated-histories")
    plant(where, tmp_path / "evil", {kind: KINDS[kind]})
    (where / "a.txt").touch()
    subprocess.run(
        ["git", *control],
        cwd=where,
        input=b"protocol=https\nhost=x\n\n",
        capture_output=True,
        check=False,
        start_new_session=True,
    )
    assert os.listdir(tmp_path / "evil") == ["0"]


def run(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    own = {
        "LOGNAME": "mara",
        "EDITOR": "true",
        "XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"],
    }
    return filemem(*words, "--store", "store", env=clean(home, **own, **more), cwd=home)


def test_nothing_of_a_repositorys_configuration_runs(tmp_path: Path) -> None:
    """Every command does its work: hooks, filters, drivers and helpers are not there at all."""
    mara = store(tmp_path / "store")
    run(tmp_path, "remember", "Lives in Diss.")
    plant(tmp_path / "store", tmp_path / "evil", KINDS)
    for path in (tmp_path / "evil").iterdir():
        path.unlink()
    for words in COMMANDS:
        done = run(tmp_path, *words)
        assert not os.listdir(tmp_path / "evil") and "Traceback" not in done.stderr, (
            words,
            done.stderr,
        )
        if words[0] in ("remember", "chat", "undo"):
            assert "not committed" not in done.stdout + done.stderr, done
        if words == ["sync"]:
            assert done.returncode == 2 and "'ext' not allowed" in done.stderr, (
                done.stderr
            )
        if words == ["sync", "near"]:
            assert done.returncode == 0, done.stderr
    assert mara.paths()


def test_the_hooks_that_a_person_has_for_all_repositories_run_at_none_of_ours(
    tmp_path: Path,
) -> None:
    pytest.importorskip("git_filter_repo", reason="needs the extra purge")
    store(tmp_path / "store")
    settings = tmp_path / "settings"
    settings.write_text(f"[core]\n\thooksPath = {tmp_path}/hooks\n")
    (tmp_path / "hooks").mkdir()
    for name in HOOKS:
        (tmp_path / "hooks" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (tmp_path / "hooks" / name).chmod(0o755)
    for words in (
        ["remember", "Has a boat."],
        ["undo"],
        ["remember", "Has a canoe."],
        ["forget", "--about", "canoe", "--yes", "--purge-history"],
    ):
        done = run(tmp_path, *words, GIT_CONFIG_GLOBAL=str(settings))
        assert done.returncode == 0, done
        assert not (tmp_path / "ran").exists(), words


def test_a_remote_on_this_machine_runs_nothing_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its hooks nor what its configuration names, wherever it lies and however it is named; nor if it is only pushed to here."""
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH", str(ssh))
    mara = store(tmp_path / "store")
    git(tmp_path, "init", "--quiet", "--bare", "other")
    inside = Path(mara.root)
    for place in (
        tmp_path / "remote",
        tmp_path / "bare.git",
        inside / ".remote",
        inside / "x.git",
    ):
        git(tmp_path, "init", "--quiet", "--bare", str(place))
        (place / "objects/info/alternates").write_text(f"{tmp_path}/other/objects\n")
        git(place, "config", "core.alternateRefsCommand", f"touch {tmp_path}/ran; true")
        for name in (
            "pre-receive",
            "update",
            "post-receive",
            "post-update",
            "reference-transaction",
        ):
            (place / "hooks" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
            (place / "hooks" / name).chmod(0o755)
    for url in (
        str(tmp_path / "remote"),
        f"file://{tmp_path}/remote",
        "../remote",
        "mara/.remote",
        f"file://localhost{tmp_path}/bare.git",
        f"file://{tmp_path}/b%61re.git",
        "mara/x",
        f"elsewhere:{tmp_path}/remote",
    ):
        git(tmp_path / "store", "config", "remote.origin.url", url)
        if url.startswith("elsewhere"):
            here = str(tmp_path / "remote")
            git(tmp_path / "store", "config", "remote.origin.pushurl", here)
        job(mara, "Keep", mara.create(f"facts/{len(mara.paths())}.md", f"Has {url}.\n"))
        sync(History(mara), None, START)
        assert git(tmp_path / "store", "ls-remote", "origin", "main")
    assert not (tmp_path / "ran").exists()
