"""A filemem that starts warm, as the tests start it, is as a cold one: what it is given, what it says and how it ends."""

import subprocess
from pathlib import Path

import pytest
from programs import COLD, clean, filemem

STATE = """
import json, os, signal, sys, threading, time
print(json.dumps({
    "group": os.getpgrp() == os.getpid(), "folder": os.getcwd(), "environment": dict(os.environ),
    "umask": os.umask(0o77), "zone": time.tzname, "words": sys.argv, "threads": threading.active_count(),
    "signals": [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
    "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "files": os.listdir("/proc/self/fd"),
    "streams": [(one.fileno(), one.encoding, one.line_buffering) for one in (sys.stdin, sys.stdout, sys.stderr)],
}, sort_keys=True))
sys.stderr.write(sys.stdin.read())
sys.exit(3)
"""


def cold(words: list[str], folder: Path, env: dict[str, str]) -> tuple[int, str, str]:
    command = [*(COLD[:1] if words[0] == "-c" else COLD), *words]
    done = subprocess.run(
        command,
        cwd=folder,
        env=env,
        input="Tea? 茶",
        capture_output=True,
        encoding="utf-8",
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["-c", STATE, "one"],
        ["--version"],
        ["nope"],
        ["grep", "tea"],
        ["chat", "--off-the-record"],
    ],
    ids=lambda words: words[0],
)
def test_it_is_given_says_and_ends_as_a_cold_one(
    tmp_path: Path, words: list[str]
) -> None:
    env = clean(tmp_path, TZ="Asia/Tokyo", LOGNAME="ann")
    done = filemem(*words, cwd=tmp_path, env=env, given="Tea? 茶")
    assert (done.returncode, done.stdout, done.stderr) == cold(words, tmp_path, env)
