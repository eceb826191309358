"""SIGTERM ends any job cleanly: exit code 143 and no traceback, its locks are free, no memory is lost or halved, and the next run
ends where an undisturbed one does."""

import json
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from programs import COLD, clean, filemem, lay
from scripted_server import ScriptedServer, hang

from filemem import Store
from filemem.store.passages import format_turn
from filemem.store.transcript import Transcript

TODAY = "2026-11-20"
JOBS = {  # the command, and the call that puts its files in their place
    "maintain": (["maintain"], "rename"),
    "import": (["import", "openai-jsonl", "EXPORT"], "rename"),
}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with ten old talks and thirty facts of past events; and an export of ten talks."""
    folder = tmp_path_factory.mktemp("full")
    lay(folder / "store/ann/.filemem", {"key": "0" * 64})  # so that digests are alike
    for number in range(30):
        day = f"2026-0{1 + number % 9}-{10 + number % 19}"
        said = f"My friend Tom{number} moved to Ghent in May and I bought {number} lamps there for my new flat."
        turns = format_turn("Ann", "09:30", said) + format_turn(
            "assistant", "09:31", "That sounds lovely. " * 30
        )
        lamp = f"---\nkind: event\nimportance: 1\n---\nBought lamp {number}.\n"
        lay(folder / "store/ann/facts/2026", {f"{day}-lamp-{number}.md": lamp})
        if number < 10:
            lay(
                folder / "store/ann/sessions/2026",
                {f"{day}-09{number:02}-talk-{number}.md": turns},
            )
    lines = [
        json.dumps({"messages": [{"role": "user", "content": f"I painted lamp {n}."}]})
        for n in range(10)
    ]
    (folder / "export.jsonl").write_text("\n".join(lines))
    return folder


def memories(store: Path) -> dict[str, bytes]:
    user = Store(store).user("ann").folder
    with user.job_lock(0.1), user.locked(0.1):  # both locks can be had at once
        return {path: user.read(path) for path in user.paths()}


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
@pytest.mark.parametrize("job", JOBS)
def test_a_job_ends_cleanly_and_the_next_run_finishes_it(
    full: Path, tmp_path: Path, job: str
) -> None:
    """The signal comes at a call near the beginning of what the job writes, and at one near the end."""
    given, call = JOBS[job]
    words = [str(full / "export.jsonl") if word == "EXPORT" else word for word in given]

    def traced(store: Path, *how: str) -> subprocess.CompletedProcess[str]:
        shutil.copytree(full / "store", store)
        command = [
            *COLD,
            *words,
            "--store",
            str(store),
            "--user",
            "ann",
            "--today",
            TODAY,
        ]
        env = clean(PYTHONDONTWRITEBYTECODE="1")  # else the first run makes more calls
        return subprocess.run(
            ["strace", "-qq", *how, *command],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )

    assert (
        traced(
            tmp_path / "undisturbed", "-e", f"trace={call}", "-o", f"{tmp_path}/calls"
        ).returncode
        == 0
    )
    calls = len(
        re.findall(rf"^{call}\(", (tmp_path / "calls").read_text(), re.MULTILINE)
    )
    wanted, before = memories(tmp_path / "undisturbed"), memories(full / "store")
    for number in (calls // 5 + 1, calls * 4 // 5):
        store = tmp_path / str(number)
        done = traced(
            store,
            "-o",
            "/dev/null",
            "-e",
            f"inject={call}:signal=SIGTERM:when={number}",
        )
        assert done.returncode == 143 and "Traceback" not in done.stderr, (number, done)
        left = memories(store)
        for path, data in before.items():
            assert data in (left.get(path), left.get(f"archive/{path}")) or wanted.get(
                path
            ) == left.get(path), path
        end = filemem(*words, "--store", store, "--user", "ann", "--today", TODAY)
        assert end.returncode == 0 and memories(store) == wanted, (job, number)


def test_a_chat_ends_cleanly_while_the_model_is_silent(tmp_path: Path) -> None:
    """The turn is kept, and the answer is marked as interrupted."""
    with ScriptedServer(hang()) as server:
        words = [
            "chat",
            "-m",
            "I like tea.",
            "--store",
            str(tmp_path),
            "--user",
            "ann",
            "--new",
        ]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        env = clean(**server.environment)
        chat = subprocess.Popen(
            [*COLD, *words], env=env, text=True, cwd=tmp_path, **pipes
        )
        while chat.poll() is None and not server.requests:
            pass
        chat.send_signal(signal.SIGTERM)
        _, errors = chat.communicate(timeout=60)
    assert (chat.returncode, "Traceback" in errors) == (143, False), errors
    user = Store(tmp_path).user("ann").folder
    (path,) = [path for path in user.paths() if path.startswith("sessions/")]
    assert [turn.text for turn in Transcript(user, path).turns()] == [
        "I like tea.",
        "[interrupted]",
    ]
    assert memories(tmp_path)
