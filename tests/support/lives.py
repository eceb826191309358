"""Lives that a capable model has read: made-up messages of months, and what it answered.

    python tests/support/lives.py NAME

has the model at OPENAI_BASE_URL read recordings/NAME.yaml anew, and records its answers.
A life's messages are kept as conversations (a pause of two hours ends one), and are
read when a month ends or some 2,000 tokens wait, as `maintain` would. The answers stand
in recordings/NAME.answers.jsonl, one a request, below a line that says when, by which
prompt, and by what kind of model.
"""

import datetime as dt
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
from filemem.learn.outcome import Applied
from filemem.llm import prompt
from filemem.llm.client import OpenAIModel
from filemem.llm.model import Model, Reply
from filemem.store.folder import Folder
from filemem.store.learned import LearnLog
from filemem.store.transcript import Transcript
from filemem.text.plain import count_tokens, digest
from filemem.text.quotes import comparable

RECORDINGS = Path(__file__).with_name("recordings")
PAUSE = dt.timedelta(hours=2)
WAITING_TOKENS = 2_000
# A memory or a turn that a request shows, under the label by which an answer names it.
_LABELLED = re.compile(
    r"^(?:(?P<memory>M\d+) \([^)]*\)|\[(?P<turn>\d+:\d+)\])(?P<text>.*(?:\n  .*)*)$",
    re.MULTILINE,
)


class Read(NamedTuple):
    """What became of a life.

    The person's memories, what each request did, and how much was asked.
    """

    folder: Folder
    done: list[Applied]
    conversations: int
    requests: int = 0
    tokens: int = 0


def life(name: str) -> dict[str, Any]:
    """A made-up life."""
    text = (RECORDINGS / f"{name}.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
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
    period = "%Y-%m-%d" if told.get("apart") else "%Y-%m"
    done = list[Applied]()
    talks = list(conversations(told["messages"]))
    last = talks[0][0][0]
    for said in talks:
        is_later = f"{said[0][0]:{period}}" != f"{last:{period}}"
        if is_later or waiting_tokens(user._folder) >= WAITING_TOKENS:
            done += consolidate.run(user._folder, said[0][0], model)
            forget(user._folder)
        session = Transcript(user._folder)
        for at, text in said:
            session.add(user.name, text, at)
            last = at
    done += consolidate.run(user._folder, last, model)
    return Read(user._folder, done, len(talks))


def waiting_tokens(folder: Folder) -> int:
    """How much no model has read."""
    turns = sessions.unread(folder, LearnLog.of(folder))
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
    lines = (RECORDINGS / f"{name}.answers.jsonl").read_text("utf-8").splitlines()
    answers = [json.loads(line) for line in lines[1:]]
    steps = [calls((one["tool"], one["arguments"])) for one in answers]
    with ScriptedServer(*steps) as server:
        found = read(root, name, OpenAIModel("recorded", server.base_url))
        asked = [request.body["messages"] for request in server.requests]
    shown = [asked_for(messages) for messages in asked]
    assert shown == [one["asked"] for one in answers], f"record {name} anew"
    texts = [str(message["content"]) for messages in asked for message in messages]
    return found._replace(requests=len(asked), tokens=sum(map(len, texts)) // 4)


def asked_for(messages: list[dict[str, Any]]) -> str:
    """A digest of what a request shows under labels, without the program's brackets."""
    told = [
        f"{found['memory'] or found['turn']} {comparable(found['text'])}"
        for found in _LABELLED.finditer(messages[-1]["content"])
    ]
    return digest("\n".join(told), 12)


class Recorder:
    """A model whose answers are written down."""

    def __init__(self, model: Model, file: Path) -> None:
        self.name = model.name
        self._model = model
        self._file = file
        head = {
            "recorded": str(dt.date.today()),
            "prompt": digest(prompt.template("consolidate"), 12),
            "model": "a capable model of 2026, unnamed",
        }
        file.write_text(json.dumps(head) + "\n")

    def ask(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Any
    ) -> Reply:
        """The model's answer."""
        reply = self._model.ask(messages, tools, on_text)
        [call] = reply.calls
        arguments = json.loads(call.arguments)
        asked = asked_for(messages)
        line = {"asked": asked, "tool": call.name, "arguments": arguments}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return reply


if __name__ == "__main__":
    endpoint = OpenAIModel(
        "agent",
        os.environ["OPENAI_BASE_URL"],
        os.environ.get("OPENAI_API_KEY"),
        3000,
    )
    for wanted in sys.argv[1:]:
        recorder = Recorder(endpoint, RECORDINGS / f"{wanted}.answers.jsonl")
        with tempfile.TemporaryDirectory() as place:
            for applied in read(Path(place), wanted, recorder).done:
                for one in applied.decisions:
                    print(one.action, one.claim.text, one.reason)
                print("\n".join(applied.notes), applied.error)
