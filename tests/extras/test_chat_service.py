"""The chat service of the documents keeps what it answered, whatever kills it: each
user's own, to be exported and deleted whole."""

import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from scripted_server import ScriptedServer, say

from filemem import Store

for package in ("starlette", "uvicorn"):
    pytest.importorskip(package, reason="needs filemem[serve]")

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs/examples"
USERS = [
    "ann@example.com",
    "auth0|7",
    "外婆",
]
ANN = USERS[0]
MESSAGES = []
for number in range(50):
    user = USERS[number % 3]
    MESSAGES.append((user, f"message{number:02d}x"))


@contextmanager
def service(
    store: Path,
    model: ScriptedServer,
) -> Iterator[tuple[Any, str]]:
    """Run the service.

    Yields its process, and the address at which it listens.
    """
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "uvicorn",
            "chat_service:app",
            "--port=0",
        ],
        cwd=EXAMPLE,
        env={
            **os.environ,
            **model.environment,
            "CHAT_STORE": str(store),
            "PYTHONPATH": str(ROOT),
            "XDG_CONFIG_HOME": str(store.parent / "config"),
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    try:
        for line in process.stderr:
            listens = re.search(r"http://([\d.]+:\d+)", line)
            if listens:
                yield process, listens[1]
                break
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def messages_of(user: str) -> set[bytes]:
    """What a user says in this test."""
    return {text.encode() for name, text in MESSAGES if name == user}


def asked(
    address: str,
    method: str,
    path: str,
    body: Any = None,
) -> bytes:
    """Return what the service answers.

    Raises OSError for anything but 200, and where the service has ended.
    """
    data = None
    if body:
        data = json.dumps(body).encode()
    url = f"http://{address}/{urllib.parse.quote(path)}"
    request = urllib.request.Request(url, data, method=method)
    with urllib.request.urlopen(request, timeout=60) as response:
        return response.read()


def say_all(
    address: str,
    messages: list[tuple[str, str]],
) -> Iterator[tuple[str, str]]:
    """Send messages all at once, each in a chat of its own.

    Yields those that were answered, in the order in which they were.
    """

    def send(message: tuple[str, str]) -> tuple[str, str]:
        user, text = message
        asked(address, "POST", f"{user}/chats/{text}", {"text": text})
        return message

    with ThreadPoolExecutor(50) as clients:
        waiting = [clients.submit(send, one) for one in messages]
        for sent in as_completed(waiting):
            if not sent.exception():
                yield sent.result()


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    """An endpoint that says the same to everybody."""
    with ScriptedServer() as server:
        server.default = say("Noted.")
        yield server


def test_what_was_answered_survives_a_kill(
    model: ScriptedServer,
    tmp_path: Path,
) -> None:
    """Fifty clients at once, a kill midway, and a start anew."""
    folder = tmp_path / "store"
    answered = []
    with service(folder, model) as (process, address):
        for message in say_all(address, MESSAGES):
            answered.append(message)
            if len(answered) == 20:
                process.kill()
    assert 20 <= len(answered) < 50

    with service(folder, model) as (_, address):
        again = [one for one in MESSAGES if one not in answered]
        assert sorted(say_all(address, again)) == sorted(again)
        for user in USERS:
            page = asked(address, "GET", f"{user}/memories")
            found = set(re.findall(rb"message\d\dx", page))
            assert found == messages_of(user)


def test_a_user_is_exported_and_then_gone(
    model: ScriptedServer,
    tmp_path: Path,
) -> None:
    """The other store has the same memories; this one has no word of them left."""
    folder = tmp_path / "store"
    zipped = tmp_path / "ann.zip"
    with service(folder, model) as (_, address):
        assert len(list(say_all(address, MESSAGES))) == 50
        zipped.write_bytes(asked(address, "GET", f"{ANN}/export"))
        kept = json.loads(asked(address, "GET", f"{ANN}/memories"))
        gone = json.loads(asked(address, "DELETE", ANN))
    assert gone["deleted"] >= len(messages_of(ANN))
    assert gone["left"] == []
    left = b""
    for path in folder.rglob("*"):
        if path.is_file():
            left += path.read_bytes()
    for text in messages_of(ANN):
        assert text not in left
    for user in USERS[1:]:
        for text in messages_of(user):
            assert text in left

    other = Store(tmp_path / "other")
    other.import_(zipped, user="ann")
    memories = other.user("ann").memories()
    brought = {one.path: one.text for one in memories}
    assert brought == kept
