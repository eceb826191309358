"""Lives that a capable model has read: made-up messages of months, and what it answered, recorded to be replayed.

    python tests/support/lives.py NAME    has the model at OPENAI_BASE_URL read recordings/NAME.yaml anew, and records its answers

A life's messages are kept as conversations (a pause of two hours ends one), and are read when a month ends or some 2,000 tokens
wait, as `maintain` would. The answers stand in recordings/NAME.answers.jsonl, one a request, below a line that says when, by
which prompt, and by what kind of model.
"""

import datetime as dt
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from scripted_server import ScriptedServer, calls

from filemem import Store
from filemem.learn import consolidate, proposals, remember, sessions
from filemem.learn.log import LearnLog
from filemem.learn.outcome import Applied
from filemem.llm import prompt
from filemem.llm.client import OpenAIModel
from filemem.llm.model import Model, Reply
from filemem.store.folder import Folder
from filemem.store.transcript import Transcript
from filemem.text.plain import count_tokens
from filemem.text.quotes import comparable

RECORDINGS = Path(__file__).with_name("recordings")
PAUSE, WAITING = dt.timedelta(hours=2), 2_000


class Read(NamedTuple):
    """What became of a life: the person's memories, what each request did, and what was asked."""

    folder: Folder
    done: list[Applied]
    conversations: int
    requests: int
    tokens: int


def life(name: str) -> dict[str, Any]:
    """A made-up life."""
    found: dict[str, Any] = yaml.safe_load(
        (RECORDINGS / f"{name}.yaml").read_text("utf-8")
    )
    return found


def conversations(
    messages: list[dict[str, str]],
) -> Iterator[list[tuple[dt.datetime, str]]]:
    """The messages of a life, those of one conversation together."""
    said: list[tuple[dt.datetime, str]] = []
    for message in messages:
        at = dt.datetime.fromisoformat(message["day"]).replace(tzinfo=dt.UTC)
        if said and (at - said[-1][0] >= PAUSE or message.get("read")):
            yield said
            said = []
        said.append((at, message["text"]))
    yield said


def read(root: Path, name: str, model: Model) -> Read:
    """Live a life in a store at `root`, read by a model."""
    told = life(name)
    user = Store(root).user(told["name"])
    done, count, last = list[Applied](), 0, None
    for said in conversations(told["messages"]):
        month = said[0][0].strftime("%Y-%m")
        apart = told.get("apart") and last and last != said[0][0].date()
        if (
            apart
            or (last and last.strftime("%Y-%m") != month)
            or waiting_tokens(user.folder) >= WAITING
        ):
            done += consolidate.run(user.folder, said[0][0], model)
            forget(user.folder)
        session = Transcript(user.folder)
        for at, text in said:
            session.add(user.name, text, at)
        count, last = count + 1, said[-1][0].date()
    done += consolidate.run(user.folder, said[-1][0], model)
    return Read(user.folder, done, count, 0, 0)


def waiting_tokens(folder: Folder) -> int:
    """How much no model has read."""
    turns = sessions.unread(folder, LearnLog(folder))
    return sum(count_tokens(turn.shown) for turn in turns if turn.has_words)


def forget(folder: Folder) -> None:
    """Say yes to each wish to forget, as the person does who told it."""
    for found in proposals.waiting(folder):
        for place in found.forgets:
            Path(folder.root, place).unlink(missing_ok=True)
        if found.forgets:
            remember.reject(folder, found)


def replayed(root: Path, name: str) -> Read:
    """The same with the recorded answers, over HTTP."""
    head, *answers = map(
        json.loads,
        (RECORDINGS / f"{name}.answers.jsonl").read_text("utf-8").splitlines(),
    )
    steps = [calls((one["tool"], one["arguments"])) for one in answers]
    with ScriptedServer(*steps) as server:
        found = read(root, name, OpenAIModel("recorded", server.base_url))
        assert len(server.requests) == len(steps), (
            name,
            len(server.requests),
            "requests, not",
            len(steps),
            head,
        )
        sizes = [
            sum(len(str(one["content"])) for one in request.body["messages"])
            for request in server.requests
        ]
        shown = [request.body["messages"][-1]["content"] for request in server.requests]
    assert [digest(labelled(told)) for told in shown] == [
        one["asked"] for one in answers
    ], "record it anew"
    return found._replace(requests=len(steps), tokens=sum(sizes) // 4)


def labelled(request: str) -> str:
    """What a request shows under a label, by which an answer names it: memories and turns, without the program's brackets."""
    found = re.findall(
        r"^(?:(M\d+) \([^)]*\)|\[(\d+:\d+)\])(.*(?:\n  .*)*)$", request, re.MULTILINE
    )
    return "\n".join(
        f"{memory or turn} {comparable(said)}" for memory, turn, said in found
    )


def digest(text: str) -> str:
    """What names a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Recorder:
    """A model whose answers are written down."""

    def __init__(self, model: Model, file: Path) -> None:
        self.name, self._model, self._file = model.name, model, file
        version = digest(prompt.template("consolidate"))
        head = {
            "recorded": str(dt.date.today()),
            "prompt": version,
            "model": "a capable model of 2026, unnamed",
        }
        file.write_text(json.dumps(head) + "\n")

    def ask(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Any
    ) -> Reply:
        """The model's answer."""
        reply = self._model.ask(messages, tools, on_text)
        [call] = reply.calls
        asked = digest(labelled(messages[-1]["content"]))
        line = {
            "asked": asked,
            "tool": call.name,
            "arguments": json.loads(call.arguments),
        }
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return reply


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as place:
            recorder = Recorder(
                OpenAIModel(
                    "agent",
                    os.environ["OPENAI_BASE_URL"],
                    os.environ.get("OPENAI_API_KEY"),
                    3000,
                ),
                RECORDINGS / f"{wanted}.answers.jsonl",
            )
            for applied in read(Path(place), wanted, recorder).done:
                for one in applied.decisions:
                    print(one.action, one.claim.text, one.reason)
                print("\n".join(applied.notes), applied.error)
