"""A memory that a person renames with git keeps everything: its line in the profile, its sources and links, its recalls."""

import json
import subprocess
from pathlib import Path

import pytest
from programs import clean, filemem, lay

OLD, NEW = "facts/2026/2026-09-05-my-sister-ida-lives.md", "facts/2026/2026-09-05-妹妹.md"
BAKER, RENAMED = "facts/2026/2026-09-03-ida-baker.md", "facts/2026/2026-09-03-烤面包.md"
CITING = {
    "profile.md": f"# a\n\n- Has a sister in Ghent. <!-- {OLD} -->\n",
    "notes/family.md": f"Of [[Ida]], see {OLD}:5, and not {OLD[:-3]}-on.md.\n",
    BAKER: f"---\nsource: {OLD}:5\n---\n\nIda is a baker.\n",
    "notes/ghent.md": f"Where [[{OLD[11:-3]}]] leads.\n",
}


@pytest.mark.parametrize("how", ["git mv", "git mv, git commit", "mv"])
@pytest.mark.parametrize("command", ["check", "maintain"])
def test_what_names_a_renamed_memory_names_it_as_it_is_called_now(tmp_path: Path, command: str, how: str) -> None:
    env = clean(tmp_path)
    ann = tmp_path / "memory_store/ann"

    def run(*words: str, code: int = 0) -> str:
        done = filemem(*words, "--today", "2026-09-05", cwd=tmp_path, env=env)
        assert done.returncode == code, (words, done.stderr)
        return done.stdout

    def git(*words: str) -> str:
        person = ["-c", "user.name=Ann", "-c", "user.email=ann@localhost"]
        done = subprocess.run(["git", *person, *words], cwd=ann, env=env, check=True, capture_output=True, text=True)
        return done.stdout

    run("init", "--git")
    run("remember", "My sister Ida lives in Ghent.", "--user", "ann")
    lay(ann, CITING)
    run("call", "open", json.dumps({"path": OLD}))
    git("add", "-A")
    git("commit", "-qm", "By hand")
    for old, new in ((OLD, NEW), (BAKER, RENAMED)):
        _ = (ann / old).rename(ann / new) if how == "mv" else git("mv", old, new)
    if "commit" not in how:  # what is not committed is not for them: what it names waits, and it is not missed
        told = run("check", code=1)
        assert f"{OLD} is now {NEW}, and called so in 3 files.\n" in told
        assert "1 problem." in told and "left" not in told
        assert "1 problem." in run("check", code=1) and (ann / RENAMED).read_text() == CITING[BAKER]
        assert git("diff", "HEAD", "--diff-filter=d", "--name-only").count("facts/") == (0 if how == "mv" else 2)
        git("add", "-A")
    git("commit", "-qm", "Rename")
    assert f"{OLD} is now {NEW}, and called so in {4 if 'commit' in how else 1} file" in run(command)
    for path, text in CITING.items():
        path = RENAMED if path == BAKER else path
        assert (ann / path).read_text() == text.replace(OLD, NEW).replace(f"[[{OLD[11:-3]}", f"[[{NEW[11:-3]}"), path
    assert not git("status", "--short") and NEW in (ann / ".filemem/recalls.log").read_text()
    assert run("check") == "5 files of 1 user: 0 problems.\n"
