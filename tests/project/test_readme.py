"""The README's own lines work as they stand: on a machine with nothing but Python, in an agent, with any endpoint."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import sample, shell_command
from scripted_server import ScriptedServer, calls, say

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
UNSET = ("FILEMEM_", "OPENAI_", "GIT_", "XDG_", "PYTHON", "VIRTUAL_ENV")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(UNSET)
    }
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", **more}


def clone(folder: Path) -> Path:
    """What a clone of the repository holds."""
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def test_one_line_sets_up_and_runs_the_main_job(tmp_path: Path) -> None:
    """The first `sh` block, with a question where a person would type one."""
    line = blocks("sh")[0].strip()
    assert "\n" not in line
    env = environment(tmp_path)
    kept = {key: os.environ[key] for key in os.environ if key.startswith("PIP_")}
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=clone(tmp_path / "filemem"),
        env={**env, **kept, "HOME": os.environ["HOME"], "PIP_NO_COMPILE": "1"},
        input="What tea does Mara like now?",
        capture_output=True,
        text=True,
        check=False,
    )
    if re.search(
        r"Could not find a version|No matching distribution|Temporary failure|Max retries",
        done.stderr,
    ):
        pytest.skip("the package registry cannot be reached from here")
    assert done.returncode == 0, done.stderr
    first = done.stdout.partition("\n- ")[2].partition("\n- ")[0]
    assert "facts/2026/2026-03-14-prefers-oolong-tea.md:9" in first, done.stdout


def test_the_agent_in_python_answers(tmp_path: Path) -> None:
    """The Python block, and the agent of docs/python.md behind it, as one program."""
    sample(tmp_path / "memory_store")
    wanted = calls(
        ("search_files", {"query": "What tea does Mara like now?", "limit": 2})
    )
    with ScriptedServer(wanted, say("Oolong.")) as server:
        env = environment(
            tmp_path,
            OPENAI_BASE_URL=server.base_url,
            OPENAI_API_KEY="none",
            PYTHONPATH=str(ROOT),
        )
        manual = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        agent = manual.partition("```python agent\n")[2].partition("```")[0]
        program = "\n".join([*blocks("python"), agent])
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert re.search(
            r"^\S+:\d+  [Mm]ara: I sold the Vespa, .* florist in Braga\.$",
            done.stdout,
            re.MULTILINE,
        )
        assert done.stdout.endswith("\nOolong.\n")
        answer = server.requests[1].body["messages"][-1]
    assert answer["role"] == "tool"
    assert "prefers-oolong-tea.md" in answer["content"]


@pytest.mark.parametrize(
    "line", [line for line in "".join(blocks("sh")).split("\n") if "--model" in line]
)
def test_any_endpoint_serves(tmp_path: Path, line: str) -> None:
    """The lines that name a model, with an endpoint of ours in the place of theirs."""
    sample(tmp_path / "memory_store")
    with ScriptedServer(say("Oolong, since March.")) as server:
        env = environment(
            tmp_path, OPENAI_BASE_URL=server.base_url, PYTHONPATH=str(ROOT)
        )
        called = re.sub(
            r"OPENAI_BASE_URL=\S+",
            f"OPENAI_BASE_URL={server.base_url}",
            line.replace("…", "none"),
        )
        shell_command(tmp_path / "filemem")
        called = called.replace(".venv/bin/filemem", "./filemem")
        call = ["bash", "-c", called]
        done = subprocess.run(
            call, cwd=tmp_path, env=env, input="Tea?", capture_output=True, text=True
        )
        assert server.requests[0].body["model"] == re.search(r"--model (\S+)", line)[1]  # type: ignore[index]
    assert "Oolong, since March." in done.stdout, done.stderr


def test_the_pictures_show_what_the_commands_print_now() -> None:
    """Drawn from a real session, they are made anew with `python docs/demo.py`."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/demo.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_commands_of_contributing_work() -> None:
    """Its set-up is that of the README's tests, of its checks those that take no minutes run, and the one file is there."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    setup, checks = re.findall(r"^```sh\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    assert f"{setup} && {checks}\n" in blocks("sh")
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    run = [
        checks.replace(".venv/bin/pytest", "true"),
        *re.findall(r"`(\.venv/bin/pytest [^`]*)`", text),
    ]
    run[1] += " --collect-only"
    for command in run:
        said = subprocess.run(
            ["bash", "-c", command.replace(".venv/bin/", "")],
            cwd=ROOT,
            env=env,
            capture_output=True,
        )
        assert said.returncode == 0, said.stdout.decode() + said.stderr.decode()
