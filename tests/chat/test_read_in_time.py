"""With a model a conversation is read once it has ended, in a process of its own, by
whatever door it came; the next chat tells in one line what came of that."""

import datetime as dt
import http.client
import json
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import COLD, clean, filemem, lay, without_rights
from reader import Reader, note
from scripted_server import ScriptedServer, Step, fail, say
from terminal import Terminal

from filemem import Store
from filemem.learn import background
from filemem.llm.client import OpenAIModel

SAID = "I live in Ghent."
LINE = "Kept of what was said: Ann lives in Ghent."
MORNING = "2026-11-20T09:45"
SOON = "2026-11-20T10:15"
LATER = "2026-11-20T11:45"
LONG_AGO = "2020-11-20T09:45"


class Ann:
    """A person whose model reads by a script, and says Fine to all else."""

    def __init__(self, home: Path, server: ScriptedServer) -> None:
        self.home = home
        self.env = clean(home) | server.environment
        self.reader = Reader(note("Ann lives in [[Ghent]].", "live in Ghent"))
        self.asked = threading.Event()
        self.fails = False
        self.reader_step: Callable[[dict[str, Any]], Step] | None = None
        server.default = self.answer

    def answer(self, body: dict[str, Any]) -> Step:
        if "You read conversations" not in json.dumps(body["messages"][0]):
            return say("Fine.")
        self.asked.set()
        if self.fails:
            return fail(401, "no")
        if self.reader_step:
            return self.reader_step(body)
        return self.reader.step(body)

    def filemem(self, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        store = ["--store", str(self.home / "store"), "--user", "ann"]
        return filemem(*words, *store, env=self.env, cwd=self.home, given=given)

    def say(self, text: str, at: str) -> str:
        """Say one message; return what is told beside the answer."""
        done = self.filemem("chat", "--new", "-m", text, "--today", at)
        assert done.returncode == 0, done.stderr
        return done.stderr

    @property
    def begun(self) -> Path:
        """What a command writes that comes by and begins to have something read."""
        return self.home / "store/ann/.filemem/reading"

    def waits_until_read(self) -> None:
        """Wait until the process that reads has left its news."""
        assert self.asked.wait(60)
        news = self.home / "store/ann/.filemem/news.txt"
        for _ in range(200):
            if news.exists():
                return
            self.filemem("consolidate", "--dry-run")


@pytest.fixture
def ann(tmp_path: Path, server: ScriptedServer) -> Iterator[Ann]:
    yield Ann(tmp_path, server)


def test_a_chat_is_read_when_it_ends(ann: Ann) -> None:
    """And none that is not over."""
    ann.say("I am still talking.", MORNING)
    words = ["filemem", "chat", "--new", "--today", MORNING]
    words += ["--store", str(ann.home / "store"), "--user", "ann"]
    with Terminal(words, ann.env, str(ann.home)) as term:
        term.expect("\n> ")
        term.type(f"{SAID}\r")
        term.expect("Fine.\n> ")
        term.type("/quit\r")
        assert term.end() == 0
    ann.waits_until_read()
    assert LINE in ann.say("Hello", SOON)
    assert "Kept" not in ann.say("Hello again", SOON)
    [told] = ann.reader.told
    assert SAID in told
    assert "still talking" not in told


def test_single_messages_are_read_when_nothing_has_followed_for_a_while(
    ann: Ann,
) -> None:
    ann.say(SAID, MORNING)
    ann.say("And?", SOON)
    began = time.monotonic()
    ann.say("Good night", LATER)
    ann.waits_until_read()
    assert SAID in ann.reader.told[0] and "And?" in ann.reader.told[0]
    assert LINE in ann.say("Hello", LATER)
    assert time.monotonic() - began < 60 and len(ann.reader.told) == 1


@pytest.mark.parametrize("fails", [False, True])
def test_a_folder_that_is_moved_while_it_is_read_is_not_begun_anew(
    ann: Ann, fails: bool
) -> None:
    memories = ann.home / "store/ann"
    aside = ann.home / "aside"
    ann.say(SAID, MORNING)

    def answer(body: dict[str, Any]) -> Step:
        if memories.exists():
            memories.rename(aside)
        if fails:
            return fail(401, "no")
        return ann.reader.step(body)

    ann.reader_step = answer
    ann.filemem("consolidate", "--for-later", "--today", LATER)
    assert aside.exists()
    assert not memories.exists()


def test_a_failure_waits_and_the_next_chat_says_the_remedy(ann: Ann) -> None:
    ann.fails = True
    ann.say(SAID, MORNING)
    ann.say("Good night", LATER)
    ann.waits_until_read()
    told = ann.say("Hello", LATER)
    assert "set a valid one" in told and "What was not read yet waits." in told
    assert f"{LATER[:10]}: gpt-x at" in told, "the day on which it failed"


def test_nothing_is_read_where_the_person_does_not_want_it(ann: Ann) -> None:
    config = ann.home / ".config/filemem/config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("consolidate: false\n")
    ann.say(SAID, MORNING)
    ann.say("Good night", LATER)
    ann.filemem("consolidate")
    assert len(ann.reader.told) == 1, "by hand alone"


@pytest.mark.parametrize(
    "words", ["remember 'I like tea.'", "search Ghent", "grep zzz --json", "status"]
)
def test_any_command_that_comes_by_has_read_what_has_ended(
    ann: Ann, words: str
) -> None:
    """Silently, and not again within a pause, however often one comes by."""
    ann.say(SAID, LONG_AGO)
    done = ann.filemem(*shlex.split(words))
    assert done.stderr == ""
    ann.waits_until_read()
    assert SAID in ann.reader.told[0]
    at = ann.begun.stat().st_mtime_ns
    assert LINE in ann.say("Hello", LONG_AGO)
    ann.filemem("list")
    assert ann.begun.stat().st_mtime_ns == at


@pytest.mark.parametrize(
    "words",
    [
        "search Ghent --today 2021-01-01",
        "list --as-of 2100-01-01",
        "status --all-users",
        "check --all-users",
        "forget Ghent --dry-run",
        "compact --dry-run",
        "sweep --dry-run",
        "maintain --dry-run",
        "users",
    ],
)
def test_no_other_command_has_anything_read(ann: Ann, words: str) -> None:
    """Nor one of another day than today, or of what git has.

    A file that is written as reading begins tells: it is there when the command ends.
    """
    ann.filemem("init", "--git")
    ann.say(SAID, LONG_AGO)
    named = [*shlex.split(words), "--store", str(ann.home / "store")]
    done = filemem(*named, env=ann.env, cwd=ann.home)
    assert done.returncode == 0, done.stderr
    assert not ann.begun.exists()


def test_nothing_is_read_in_passing_in_memories_that_cannot_be_written(
    ann: Ann,
) -> None:
    """And nothing is said of that.

    The command is a cold start without root's rights.
    """
    ann.say(SAID, LONG_AGO)
    memories = ann.home / "store/ann"
    words = [*without_rights(), *COLD, "list", "--store", str(memories.parent)]
    memories.chmod(0o500)
    try:
        done = subprocess.run(words, env=ann.env, capture_output=True, text=True)
    finally:
        memories.chmod(0o700)
    assert (done.returncode, done.stderr) == (0, "")
    assert not ann.begun.exists()


def test_nothing_is_read_in_passing_that_need_not_be(ann: Ann) -> None:
    """That is without anything that has ended, a model, or the person's wish."""
    ann.filemem("remember", "I like tea.", "--new")
    ann.filemem("list")
    assert not ann.begun.exists(), "what is remembered is kept already"
    ann.say(SAID, LONG_AGO)
    del ann.env["FILEMEM_MODEL"]
    ann.filemem("list")
    assert not ann.begun.exists(), "no model"
    ann.env["FILEMEM_MODEL"] = "gpt-x"
    config = ann.home / ".config/filemem/config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("consolidate: false\n")
    ann.filemem("list")
    assert not ann.begun.exists(), "by hand alone"


def test_nothing_is_read_in_passing_in_a_store_that_is_merely_found(ann: Ann) -> None:
    """It may be a stranger's.

    Once the person names it, it is theirs.
    """
    turn = f"---\nspeakers: {{ann: user}}\n---\n\n- **ann** 09:45: {SAID}\n"
    lay(ann.home, {"memory_store/ann/sessions/2020/2020-11-20-0945-x.md": turn})
    begun = ann.home / "memory_store/ann/.filemem/reading"
    found = ["search", "Ghent", "--user", "ann"]
    assert filemem(*found, env=ann.env, cwd=ann.home).returncode == 0
    assert not begun.exists()
    named = [*found, "--store", "memory_store"]
    assert filemem(*named, env=ann.env, cwd=ann.home).returncode == 0
    assert begun.exists()


def test_an_agent_that_asks_over_mcp_has_read_what_has_ended(ann: Ann) -> None:
    ann.say(SAID, LONG_AGO)
    arguments = {"name": "search_files", "arguments": {"query": "Ghent"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    asked = json.dumps(call)
    ann.filemem("mcp", "--today", LONG_AGO, given=asked)
    assert not ann.begun.exists(), "of another day than today"
    done = ann.filemem("mcp", given=f"{asked}\n{asked}\n")
    assert done.stdout.count("I live in Ghent") == 2
    ann.waits_until_read()
    assert LINE in ann.say("Hello", LONG_AGO)
    assert len(ann.reader.told) == 1


def test_an_agent_s_session_is_read_when_it_ends(ann: Ann) -> None:
    file = ann.home / "s-1.jsonl"
    message = {"role": "user", "content": SAID}
    line = {"timestamp": "2026-11-20T09:45:00Z", "uuid": "1", "type": "user"}
    file.write_text(json.dumps({**line, "message": message}) + "\n")
    event = {"hook_event_name": "SessionEnd", "session_id": "s-1"}
    given = json.dumps({**event, "transcript_path": str(file)})
    hook = ["mcp", "hook", "claude-code", "--wait", "--new", "--today", SOON]
    assert ann.filemem(*hook, given=given).returncode == 0
    ann.waits_until_read()
    user = Store(ann.home / "store").user("ann")
    background.leave_news(user._folder, "And more.", dt.datetime.now())
    event = {"hook_event_name": "SessionStart", "source": "startup"}
    begins = json.dumps(event)
    told = ann.filemem(*hook, given=begins).stdout
    assert LINE in told
    assert "And more." in told
    assert "Kept" not in ann.say("Hello", SOON)


def test_what_was_said_without_a_time_has_not_ended_at_once(
    tmp_path: Path, server: ScriptedServer
) -> None:
    """As clients of serve send it."""
    user = Store(tmp_path).user("ann")
    user.add_conversation([{"role": "user", "content": SAID}])
    now = dt.datetime.now().astimezone()
    model = OpenAIModel("x", server.base_url)
    assert not background.start(user._folder, model, now)


def test_serve_has_read_what_has_ended(ann: Ann) -> None:
    for package in ("starlette", "uvicorn"):
        pytest.importorskip(package, reason="needs filemem[serve]")
    ann.say(SAID, MORNING)
    key = ann.filemem("serve", "keys", "add", "ann").stdout.strip()
    command = [sys.executable, "-m", "filemem", "serve", "--port", "0"]
    command += ["--store", str(ann.home / "store")]
    served = subprocess.Popen(
        command, env=ann.env, stdout=subprocess.PIPE, text=True, cwd=ann.home
    )
    try:
        assert served.stdout
        url = served.stdout.readline().split("http://")[1].split()[0]
        body = {"model": "filemem", "messages": [{"role": "user", "content": "Hi."}]}
        connection = http.client.HTTPConnection(url.partition("/")[0], timeout=60)
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), head)
        assert connection.getresponse().status == 200
        ann.waits_until_read()
    finally:
        served.terminate()
        served.wait(60)
    assert SAID in ann.reader.told[0]
