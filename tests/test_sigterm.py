"""SIGTERM ends any job cleanly: exit code 143 and no traceback, its locks are free, no memory is lost or halved, and the next run
ends where an undisturbed one does."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Program, clean
from scripted_server import ScriptedServer, hang

from filemem import Store
from filemem.files import archive
from filemem.files.passages import format_turn
from filemem.files.transcript import Transcript

TODAY = "2026-11-20"
TOWNS = ("Ghent", "Porto", "Leeds", "Oslo", "Turin", "Cadiz", "Brno", "Graz")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with thirty old talks and a hundred facts of past events; and an export of fifty talks."""
    folder = tmp_path_factory.mktemp("full")
    ann = folder / "store" / "ann"
    for number in range(100):
        day = f"2026-0{1 + number % 9}-{10 + number % 19}"
        said = f"My friend Tom{number} moved to {TOWNS[number % 8]} in May and I bought {number} lamps there for my new flat."
        turns = format_turn("Ann", "09:30", said) + format_turn("assistant", "09:31", "That sounds lovely. " * 30)
        talk = ann / f"sessions/2026/{day}-09{number % 60:02}-talk-{number}.md"
        fact = ann / f"facts/2026/{day}-lamp-{number}.md"
        lamp = f"---\nkind: event\nimportance: 1\n---\nBought lamp {number}.\n"
        for place, text in ((fact, lamp), (talk, turns))[: 2 if number < 30 else 1]:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    lines = [
        json.dumps(
            {"messages": [{"role": "user", "content": f"I painted lamp {n}."}, {"role": "assistant", "content": "Ah."}]}
        )
        for n in range(50)
    ]
    (folder / "export.jsonl").write_text("\n".join(lines))
    return folder


JOBS: dict[str, tuple[list[str], str]] = {  # the command, and where its files appear
    "compact": (["compact"], "archive/sessions"),
    "sweep": (["sweep"], "archive/facts"),
    "maintain": (["maintain"], "archive/sessions"),
    "import": (["import", "openai-jsonl", "EXPORT"], "sessions/2026"),
}


def start(folder: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    given = [str(folder.parent / "full/export.jsonl") if word == "EXPORT" else word for word in words]
    where = ["--store", str(folder), "--user", "ann", "--today", TODAY]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return Program([*given, *where], env=clean(FILEMEM_TRUST="1", **env), text=True, cwd=folder, **pipes)


def ended(job: subprocess.Popen[str], ready: Callable[[], bool]) -> tuple[int, str]:
    """Send SIGTERM once the job is `ready`, or has ended; its exit code and what it said in error."""
    while job.poll() is None and not ready():
        pass
    job.send_signal(signal.SIGTERM)
    _, errors = job.communicate(timeout=60)
    return job.returncode, errors


def size(place: Path) -> int:
    """How many files are under a folder, or lines in a file."""
    if place.is_file():
        return place.read_bytes().count(b"\n")
    return sum(len(files) for _, _, files in os.walk(place))


def memories(store: Path) -> dict[str, bytes]:
    user = Store(store).user("ann").folder
    return {path: user.read(path) for path in user.paths()}


def free(store: Path) -> bool:
    """Can both locks be had at once?"""
    user = Store(store).user("ann").folder
    with archive.job_lock(user, 0.1), user.locked(0.1):
        return True


@pytest.mark.parametrize("job", JOBS)
def test_a_job_ends_cleanly_and_the_next_run_finishes_it(full: Path, tmp_path: Path, job: str) -> None:
    (tmp_path / "full").symlink_to(full)
    words, grows = JOBS[job]
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(full / "store", undisturbed)
    assert start(undisturbed, *words).wait(120) == 0
    wanted, before = memories(undisturbed), memories(full / "store")
    codes = []
    for number, after in enumerate((1, 12) * 6):  # again where the job was faster than the signal
        if number > 1 and 143 in codes:
            break
        store = tmp_path / str(number)
        shutil.copytree(full / "store", store)
        place = store / "ann" / grows
        begin = size(place)
        code, errors = ended(start(store, *words), lambda place=place, most=begin + after: size(place) >= most)  # type: ignore[misc]
        codes.append(code)
        assert "Traceback" not in errors, errors
        assert code in (0, 143, -signal.SIGTERM), (code, errors)
        assert free(store)
        left = memories(store)
        for path, data in before.items():
            assert data in (left.get(path), left.get(f"archive/{path}")) or wanted.get(path) == left.get(path), path
        assert start(store, *words).wait(120) == 0
        assert memories(store) == wanted, (job, number)
    assert 143 in codes, codes


def test_a_chat_ends_cleanly_while_the_model_is_silent(tmp_path: Path) -> None:
    """The turn is kept, and the answer is marked as interrupted."""
    with ScriptedServer(hang()) as server:
        chat = start(tmp_path, "chat", "-m", "I like tea.", **server.environment)
        code, errors = ended(chat, lambda: bool(server.requests))
    assert (code, "Traceback" in errors) == (143, False), errors
    user = Store(tmp_path).user("ann").folder
    (path,) = [path for path in user.paths() if path.startswith("sessions/")]
    assert [turn.text for turn in Transcript(user, path).turns()] == ["I like tea.", "[interrupted]"]
    assert free(tmp_path)
