"""A model that reads conversations by a script, for tests of remembering: in process, or behind an endpoint on loopback.

    reader = Reader(note("Nora lives in [[Porto]].", "moved to Porto", section="home"),
                    note("Nora lives in [[Faro]].", "moved to Faro", supersede="Porto"))

A note is made of the turns that are shown and hold its quote; `also` names further turns by words of theirs; `update` and
`supersede` name a memory by words of its. `Reader(echo=True)` makes every turn of a person a fact, word for word, with whatever
`more` says.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from scripted_server import Step, calls

from filemem.llm.model import Reply, ToolCall, Usage

Note = Callable[[str], dict[str, Any] | None]

_DAY = re.compile(r" (?<!\[ )\[(?!\[)[^\[\]]*\](?!\])")  # what a relative day meant
_TURN = re.compile(
    r"^\[(\d+:\d+)\] (\(read before\) )?([^:\n]+): (.*(?:\n  .*)*)$", re.MULTILINE
)
_MEMORY = re.compile(r"^(M\d+) \([^)]*\): (.*)$", re.MULTILINE)


def note(
    text: str,
    quote: str,
    also: str = "",
    update: str = "",
    supersede: str = "",
    **more: Any,
) -> Note:
    """A fact that a model notes where a new turn holds the quote.

    Args:
        text: of the fact.
        quote: words of the turn on which it rests.
        also: words of a further turn.
        update: words of a memory that it adds to.
        supersede: words of a memory that it replaces.
        more: what else the model says of it.
    """

    def made(told: str) -> dict[str, Any] | None:
        lines = []
        others = []
        for label, before, _, said in _TURN.findall(told):
            if not before and quote in _DAY.sub("", said):
                lines.append(label)
            if also and also in said:
                others.append(label)
        if not lines + others:
            return None
        found = {
            "action": "add",
            "text": text,
            "lines": lines + others,
            "quote": quote,
            "kind": "fact",
            "importance": 5,
        }
        changed = update or supersede
        for label, said in reversed(_MEMORY.findall(told)):
            if changed and changed in said:
                action = "update" if update else "supersede"
                found["action"] = action
                found["memory"] = label
        return {**found, **more}

    return made


class Reader:
    """Answers a request to read; `told` is what each was told."""

    name = "reader"

    def __init__(
        self, *notes: Note, echo: bool = False, forget: Any = (), **more: Any
    ) -> None:
        self.notes = notes
        self.echo = echo
        self.more = more
        self.forget = list(forget)
        self.told: list[str] = []

    def keep(self, told: str) -> dict[str, Any]:
        """The arguments of `keep` for what a request says."""
        self.told.append(told)
        facts = list(filter(None, (one(told) for one in self.notes)))
        known = told.partition("Conversation 1.")[0]
        for label, before, speaker, said in _TURN.findall(told):
            words = _DAY.sub("", said)
            is_person = speaker not in ("assistant", "tool")
            if self.echo and is_person and not before and words not in known:
                found = {
                    "action": "add",
                    "text": words,
                    "lines": [label],
                    "quote": words,
                    "kind": "fact",
                    **self.more,
                }
                facts.append(found)
        return {"facts": facts, "forget": self.forget}

    def ask(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Any
    ) -> Reply:
        """The answer, in the form of a tool call."""
        answer = json.dumps(self.keep(messages[-1]["content"]), ensure_ascii=False)
        call = ToolCall("1", "keep", answer)
        return Reply("", (call,), Usage(1000, 100), "tool_calls")

    def step(self, body: dict[str, Any]) -> Step:
        """The same as a step of a scripted server."""
        return calls(("keep", self.keep(body["messages"][-1]["content"])))
