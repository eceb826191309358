"""A memory that a person renames keeps everything: its line in the profile, its sources and links, its recalls."""

import json
import subprocess
from pathlib import Path

import pytest
from programs import clean, filemem, lay

OLD, NEW = (
    "facts/2026/2026-09-05-my-sister-ida-lives.md",
    "facts/2026/2026-09-05-妹妹.md",
)
BAKER, RENAMED = "facts/2026/2026-09-05-ida-is-a-baker.md", "notes/烤面包.md"
CITING = {
    "profile.md": f"# a\n\n- Has a sister in Ghent. <!-- {OLD} -->\n",
    "notes/family.md": f"Of [[Ida]], see {OLD}:5, and not {OLD[:-3]}-on.md.\n",
    "notes/ghent.md": f"Where [[{OLD[11:-3]}]] leads.\n",
}


@pytest.mark.parametrize("kept", ["in no git", "in git", "in git, committed"])
@pytest.mark.parametrize("command", ["check", "maintain"])
def test_what_names_a_renamed_memory_names_it_as_it_is_called_now(
    tmp_path: Path, command: str, kept: str
) -> None:
    env = clean(tmp_path)
    ann = tmp_path / "memory_store/ann"

    def run(*words: str) -> str:
        done = filemem(*words, "--today", "2026-09-05", cwd=tmp_path, env=env)
        assert done.returncode in (0, 1), (words, done.stderr)
        return done.stdout

    def git(*words: str) -> str:
        person = ["-c", "user.name=Ann", "-c", "user.email=ann@localhost"]
        done = subprocess.run(
            ["git", *person, *words],
            cwd=ann,
            env=env,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    run("init", *(["--git"] if kept != "in no git" else []))
    run("remember", "My sister Ida lives in Ghent.", "--user", "ann")
    run("remember", f"Ida is a baker, as {OLD} has it.", "--user", "ann")
    lay(ann, CITING)
    run("call", "open", json.dumps({"path": OLD}))
    if kept != "in no git":
        git("add", "-A")
        git("commit", "-qm", "By hand")
    said = (ann / BAKER).read_text()
    for old, new in ((OLD, NEW), (BAKER, RENAMED)):
        (ann / old).rename(ann / new)
    if kept == "in git, committed":
        git("add", "-A")
        git("commit", "-qm", "Rename")
    told = run(command)
    assert (
        f"{OLD} is now {NEW}, and called so in 4 files.\n" in told
        and f"{BAKER} is now {RENAMED}" in told
    )
    for path, text in {**CITING, RENAMED: said}.items():
        assert (ann / path).read_text() == text.replace(OLD, NEW).replace(
            f"[[{OLD[11:-3]}", f"[[{NEW[11:-3]}"
        ), path
    assert NEW in (ann / ".filemem/recalls.log").read_text()
    log = (ann / ".filemem/consolidated.jsonl").read_text()
    assert not {*CITING} & {json.loads(line).get("wrote") for line in log.splitlines()}
    if kept == "in git":  # what is the person's to commit is, with what it names
        left = git(
            "-c", "core.quotePath=false", "status", "--short", "-uall"
        ).splitlines()
        assert {line[3:] for line in left} == {OLD, BAKER, NEW, RENAMED}
        git("add", "-A")
        git("commit", "-qm", "Rename")
    assert kept == "in no git" or not git("status", "--short")
    assert "0 problems" in run("check") and "is now" not in run(command)


def test_what_is_to_be_forgotten_is_kept_back_under_another_name(
    tmp_path: Path,
) -> None:
    env, ann = clean(tmp_path), tmp_path / "memory_store/ann"
    assert filemem("init", cwd=tmp_path, env=env).returncode == 0
    for words in ("Remember that Ida keeps bees.", "forget that"):
        more = ["--resume"] if words == "forget that" else []
        assert (
            filemem(
                "chat", "--user", "ann", "-m", words, *more, cwd=tmp_path, env=env
            ).returncode
            == 0
        )
    [fact] = ann.rglob("facts/**/*.md")
    fact.rename(fact.with_name("2026-09-05-ida.md"))
    assert "2026-09-05-ida.md" in filemem("check", cwd=tmp_path, env=env).stdout
    assert (
        "bees"
        not in filemem(
            "call", "search_files", '{"query": "Ida bees"}', cwd=tmp_path, env=env
        ).stdout
    )
