"""SIGTERM ends any job cleanly: exit code 143 and no traceback, its locks are free, no
memory is lost or halved, and the next run ends where an undisturbed one does."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from programs import COLD, clean, filemem, lay
from scripted_server import ScriptedServer, hang

from filemem.store.passages import format_turn
from filemem.store.transcript import Transcript
from filemem.store.users import StoreFolder

SUPPORT = str(Path(__file__).parents[1] / "support")
# The program, which ends itself before its change of a number.
PROGRAM = f"""
import os, signal, sys
sys.path.insert(0, {SUPPORT!r})
from crash_driver import arm
from filemem.cli import main
arm(int(sys.argv.pop(1)), lambda: os.kill(os.getpid(), signal.SIGTERM))
main()
"""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with old talks and facts of past events, and an export of ten talks."""
    folder = tmp_path_factory.mktemp("full")
    ann = folder / "store/ann"
    lay(
        ann / ".filemem",
        {"key": "0" * 64},
    )  # so that digests are alike
    for number in range(6):
        day = f"2026-0{1 + number}-10"
        lamp = f"---\nkind: event\nimportance: 1\n---\nBought lamp {number}.\n"
        said = f"My friend Tom{number} moved to Ghent and I bought {number} lamps."
        turns = format_turn("Ann", "09:30", said)
        turns += format_turn(
            "assistant",
            "09:31",
            "That sounds lovely. " * 30,
        )
        lay(ann / "facts/2026", {f"{day}-lamp.md": lamp})
        lay(
            ann / "sessions/2026",
            {f"{day}-0930-talk.md": turns},
        )
    talks = [[{"role": "user", "content": f"I painted lamp {n}."}] for n in range(10)]
    lines = [json.dumps({"messages": messages}) for messages in talks]
    (folder / "export.jsonl").write_text("\n".join(lines))
    return folder


def memories(store: Path) -> dict[str, bytes]:
    user = StoreFolder(store).folder("ann")
    with user.job_lock(0.1), user.locked(0.1):  # both locks can be had at once
        return {path: user.read(path) for path in user.paths()}


@pytest.mark.parametrize(
    "job",
    ["maintain", "import openai-jsonl EXPORT"],
)
def test_a_job_ends_cleanly_and_the_next_run_finishes_it(
    full: Path, tmp_path: Path, job: str
) -> None:
    words = job.replace(
        "EXPORT",
        str(full / "export.jsonl"),
    ).split()

    def run(store: Path, *program: str) -> subprocess.CompletedProcess[str]:
        where = [
            "--store",
            str(store),
            "--user",
            "ann",
            "--today",
            "2026-11-20",
        ]
        return filemem(*program, *words, *where)

    wanted = tmp_path / "undisturbed"
    shutil.copytree(full / "store", wanted)
    assert run(wanted).returncode == 0
    for change in (3, 20, 45):
        store = tmp_path / str(change)
        shutil.copytree(full / "store", store)
        done = run(store, "-c", PROGRAM, str(change))
        assert (done.returncode, "Traceback" in done.stderr) == (143, False), done
        left = memories(store)
        for path, data in memories(full / "store").items():
            assert data in (left.get(path), left.get(f"archive/{path}")), path
        assert run(store).returncode == 0
        assert memories(store) == memories(wanted), change


def test_a_chat_ends_cleanly_while_the_model_is_silent(tmp_path: Path) -> None:
    """The turn is kept, and the answer is marked as interrupted."""
    where = [
        "--store",
        str(tmp_path),
        "--user",
        "ann",
        "--new",
    ]
    with ScriptedServer(hang()) as server:
        chat = subprocess.Popen(
            [*COLD, "chat", "-m", "I like tea.", *where],
            env=clean(**server.environment),
            text=True,
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while chat.poll() is None and not server.requests:
            pass
        chat.send_signal(signal.SIGTERM)
        _, errors = chat.communicate(timeout=60)
    assert (chat.returncode, "Traceback" in errors) == (143, False), errors
    user = StoreFolder(tmp_path).folder("ann")
    (path,) = [path for path in user.paths() if path.startswith("sessions/")]
    said = [
        turn.text
        for turn in Transcript(
            user,
            path,
        ).turns()
    ]
    assert said == ["I like tea.", "[interrupted]"]
    assert memories(tmp_path)
