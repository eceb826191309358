"""The README's own lines work as they stand."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import clean, sample, shell_command
from scripted_server import ScriptedServer, calls, say
from terminal import Terminal

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
UNREACHED = (
    "Could not find a version|No matching distribution|Temporary failure|Max retries"
)
UNSET = ("FILEMEM_", "OPENAI_", "GIT_", "XDG_", "PYTHON", "VIRTUAL_ENV")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {
        name: text for name, text in os.environ.items() if not name.startswith(UNSET)
    }
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", **more}


def served(server: ScriptedServer) -> dict[str, str]:
    """Return what has a program ask a server, whatever the model."""
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}


def run(
    command: str, folder: Path, env: dict[str, str], given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell, or a program in Python of several."""
    call = ["bash", "-c", command]
    if "\n" in command:
        call = [sys.executable, "-c", command]
    return subprocess.run(
        call, cwd=folder, env=env, input=given, capture_output=True, text=True
    )


def clone(folder: Path) -> Path:
    """Copy what a clone of the repository holds."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def test_one_line_sets_up_and_runs_the_main_job(tmp_path: Path) -> None:
    """The first `sh` block, with a question where a person would type one."""
    line = blocks("sh")[0].strip()
    assert "\n" not in line
    pip = {name: text for name, text in os.environ.items() if name[:4] == "PIP_"}
    env = environment(Path.home(), PIP_NO_COMPILE="1", **pip)
    folder = clone(tmp_path / "filemem")
    done = run(line, folder, env, "What tea does Mara like now?")
    if re.search(UNREACHED, done.stderr):
        pytest.skip("the package registry cannot be reached from here")
    assert done.returncode == 0, done.stderr
    first = done.stdout.partition("\n- ")[2].partition("\n- ")[0]
    assert "facts/2026/2026-03-14-prefers-oolong-tea.md:9" in first, done.stdout


BEGIN = blocks("sh")[0].rpartition("&& ")[2].strip()
WALKS = {
    "english": [
        BEGIN,
        "Remember that my dentist is Dr Oda.",
        "/edit dentist",
        "Who is my dentist?",
        "/forget dentist",
        "/search dentist",
    ],
    "chinese": [
        BEGIN,
        "记住：我的牙医是Oda医生。",
        "/edit 牙医",
        "谁是我的牙医？",
        "/forget 牙医",
        "/search 牙医",
    ],
    "emoji": [
        BEGIN,
        "Remember: 🦷 is Dr Oda.",
        "/edit 🦷",
        "🦷?",
        "/forget 🦷",
        "/search 🦷",
    ],
    "words": [
        'filemem "My dentist is Dr Oda."',
        "filemem edit dentist",
        'filemem "Who is my dentist?"',
        "filemem forget dentist",
        "filemem search dentist",
    ],
    "folder": [
        BEGIN,
        "Good morning.",
        "/quit",
        "cd .local/share/filemem/memory_store/ann; mkdir facts",
        "echo 'My dentist is Dr Oda.' | tee facts/2026-11-20-dentist.md",
        "sed -i s/Oda/Ito/ facts/*.md",
        "filemem grep dentist",
        "filemem forget dentist",
        "filemem search dentist",
    ],
}
"""What somebody types who has read the README; the last three lines find and forget."""


@pytest.mark.parametrize("walk", WALKS)
def test_the_first_minutes_keep_correct_find_and_forget(
    tmp_path: Path, walk: str
) -> None:
    """In a shell of their own, with an editor that corrects a name."""
    editor = tmp_path / "bin/editor"
    shell_command(tmp_path / "bin/filemem")
    editor.write_text("#!/bin/sh\nfor file; do :; done; sed -i s/Oda/Ito/ $file\n")
    editor.chmod(0o700)
    path = f"{editor.parent}:{os.environ['PATH']}"
    env = clean(tmp_path, PATH=path, PS1="> ", LOGNAME="ann", EDITOR=str(editor))
    begin, *steps, find, forget, gone = WALKS[walk]
    lines = [
        (begin, "[Y/n]: "),
        *((step, "\n> ") for step in ("y", *steps)),
        (find, "Ito"),
        (forget, "[y/N]: "),
        ("y", "\n> "),
        (gone, "Nowhere in memory"),
    ]
    with Terminal(["/bin/sh"], env, str(tmp_path)) as term:
        term.expect("> ")
        for typed, told in lines:
            term.type(f"{typed}\r")
            term.expect(told)
            if told in ("Ito", "Nowhere in memory"):
                term.expect("\n> ")


def test_the_agent_in_python_answers(tmp_path: Path) -> None:
    """The Python block, and the agent of docs/python.md behind it, as one program."""
    sample(tmp_path / "memory_store")
    asked = {"query": "What tea does Mara like now?", "limit": 2}
    with ScriptedServer(calls(("search_files", asked)), say("Oolong.")) as server:
        env = environment(tmp_path, PYTHONPATH=str(ROOT), **served(server))
        manual = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        agent = manual.partition("```python agent\n")[2].partition("```")[0]
        done = run("\n".join([*blocks("python"), agent]), tmp_path, env)
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
    shell_command(tmp_path / "filemem")
    [model] = re.findall(r"--model (\S+)", line)
    with ScriptedServer(say("Oolong, since March.")) as server:
        env = environment(tmp_path, PYTHONPATH=str(ROOT), **served(server))
        url = f"OPENAI_BASE_URL={server.base_url}"
        called = re.sub(r"OPENAI_BASE_URL=\S+", url, line.replace("…", "none"))
        called = called.replace("filemem chat", "./filemem chat")
        done = run(called, tmp_path, env, "Tea?")
        assert server.requests[0].body["model"] == model
    assert "Oolong, since March." in done.stdout, done.stderr


def test_the_pictures_show_what_the_commands_print_now() -> None:
    """Drawn from a real session, they are made anew with `python docs/demo.py`."""
    done = run(f"{sys.executable} docs/demo.py --check", ROOT, {**os.environ})
    assert done.returncode == 0, done.stderr


def test_nothing_is_installed_from_where_nothing_is_published() -> None:
    """What `pip install` names is the clone, until the day of publication."""
    named = re.findall(r"pip install (?:-\S+ )*'?(\S)", README)
    assert len(named) >= 3
    assert set(named) == {"."}


def test_the_commands_of_contributing_work() -> None:
    """Its set-up is that of the README's tests; those that take no minutes run."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    setup, checks = re.findall(r"(?ms)^```sh\n(.*?)\n```$", text)
    assert f"{setup} && {checks}\n" in blocks("sh")
    [one] = re.findall(r"`(\.venv/bin/pytest [^`]*)`", text)
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in (
        checks.replace(".venv/bin/pytest", "true"),
        f"{one} --collect-only",
    ):
        done = run(command.replace(".venv/bin/", ""), ROOT, env)
        assert done.returncode == 0, done.stdout + done.stderr
