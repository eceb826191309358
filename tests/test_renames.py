"""A memory that a person renames with git keeps everything: its line in the profile, its sources and links, its recalls."""

import json
import subprocess
from pathlib import Path

import pytest
from programs import clean, filemem

OLD, NEW = "facts/2026/2026-09-05-my-sister-ida-lives.md", "facts/2026/2026-09-05-妹妹.md"
CITING = {
    "profile.md": f"# a\n\n- Has a sister in Ghent. <!-- {OLD} -->\n",
    "notes/family.md": f"Of [[Ida]], see {OLD}:5, and not {OLD[:-3]}-on.md.\n",
    "facts/2026/2026-09-03-ida-baker.md": f"---\nsource: {OLD}:5\n---\n\nIda is a baker.\n",
    "notes/ghent.md": f"Where [[{OLD[11:-3]}]] leads.\n",
}


@pytest.mark.parametrize("how", ["git mv", "git mv, git commit", "mv"])
@pytest.mark.parametrize("command", ["check", "maintain"])
def test_what_names_a_renamed_memory_names_it_as_it_is_called_now(tmp_path: Path, command: str, how: str) -> None:
    env = clean(tmp_path)
    ann = tmp_path / "memory_store/ann"

    def run(*words: str) -> str:
        done = filemem(*words, "--today", "2026-09-05", cwd=tmp_path, env=env)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def git(*words: str) -> str:
        person = ["-c", "user.name=Ann", "-c", "user.email=ann@localhost"]
        done = subprocess.run(["git", *person, *words], cwd=ann, env=env, check=True, capture_output=True, text=True)
        return done.stdout

    run("init", "--git")
    run("remember", "My sister Ida lives in Ghent.", "--user", "ann")
    for path, text in CITING.items():
        (ann / path).parent.mkdir(parents=True, exist_ok=True)
        (ann / path).write_text(text)
    run("call", "open", json.dumps({"path": OLD}))
    git("add", "-A")
    git("commit", "-qm", "By hand")
    if how == "mv":
        (ann / OLD).rename(ann / NEW)
    else:
        git("mv", OLD, NEW)
    if "commit" in how:
        git("commit", "-qm", "Rename")
    assert f"{OLD} is now {NEW}, and called so in 4 files.\n" in run(command)
    for path, text in CITING.items():
        assert (ann / path).read_text() == text.replace(OLD, NEW).replace(f"[[{OLD[11:-3]}", f"[[{NEW[11:-3]}"), path
    theirs = git("diff", "HEAD", "--no-renames", "--name-only", "-z").split("\0")[
        :-1
    ]  # what is not committed is not for them
    assert theirs == [f"ann/{path}" for path in {"mv": [OLD], "git mv": [OLD, NEW]}.get(how, [])]
    assert NEW in (ann / ".filemem/recalls.log").read_text()
    assert run("check") == "5 files of 1 user: 0 problems.\n"
