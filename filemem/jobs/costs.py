"""What a job would ask of a model, counted without asking: the requests are those that it would send.

In the model's place somebody answers who keeps every turn as a fact and as much of a conversation as a summary may have. So the
tokens are about as many as a model that misses nothing would take; what comes of asking twice for a refused answer is left out.
"""

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from filemem.endpoint import Reply, ToolCall, Usage
from filemem.files import config
from filemem.files.folder import Folder
from filemem.files.transcript import ASSISTANT
from filemem.forgetting import compaction
from filemem.remembering import consolidation
from filemem.remembering.extraction import listener
from filemem.text import tokens

_TURN = re.compile(r"^\[(\d+)\] ([^:\n]+): (.+)$", re.MULTILINE)
_LABELLED = re.compile(r"^\[(\d+:\d+)\] (.+)$", re.MULTILINE)


class CountingModel:
    """Answers as a model that misses nothing would, and counts what that takes."""

    def __init__(self, name: str, counts: Counter[str], share: float) -> None:
        self.name = name
        self._counts = counts
        self._share = share

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The answer, whose tokens are counted with those of the question."""
        said = messages[-1]["content"]
        name = tools[0]["function"]["name"] if tools else ""
        answer = _summary(said, self._share) if not tools else _facts(said, name, first=len(messages) == 2)
        sent = sum(tokens.count(one["content"]) for one in messages) + tokens.count(json.dumps(tools) if tools else "")
        self._counts.update(requests=1, tokens_in=sent, tokens_out=tokens.count(answer))
        calls = (ToolCall("1", name, answer),) if tools else ()
        return Reply("" if tools else answer, calls, Usage(sent, 0), "stop")


def _facts(said: str, tool: str, *, first: bool) -> str:
    """The arguments of a tool: every new turn of a person as a fact, and nothing to add when asked again."""
    if tool != "keep":
        return '{"decisions": []}'
    turns = _TURN.findall(said.rpartition("New turns:")[2]) if first else []
    facts = [{"text": text, "lines": [int(line)]} for line, speaker, text in turns if speaker != ASSISTANT]
    return json.dumps({"facts": facts}, ensure_ascii=False)


def _summary(said: str, share: float) -> str:
    """The first turns of the conversations, up to a share of all."""
    turns, room, kept = _LABELLED.findall(said), share * len(said), list[str]()
    for label, text in turns:
        if not kept or len(text) <= room:
            kept.append(f"- {text} ({label})")
            room -= len(kept[-1])
    return "\n".join(kept)


def consolidating(folder: Folder, at: dt.datetime, name: str, counts: Counter[str]) -> None:
    """Count what consolidation would ask of a model of that name."""
    model = CountingModel(name, counts, config.of(folder).summary_share)
    for _ in consolidation.plan(folder, at, listener(model, lambda note: None)):
        pass


def compacting(folder: Folder, at: dt.datetime, name: str, counts: Counter[str], older_than: int | None = None) -> None:
    """Count what compaction would ask of a model of that name, but for the summaries of years that new ones lead to."""
    model = CountingModel(name, counts, config.of(folder).summary_share)
    for batch in compaction.plan(folder, at.date(), older_than).batches:
        compaction.asked(folder, batch.sources, model)
