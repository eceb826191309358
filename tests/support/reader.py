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

_DAY = re.compile(r" (?<!\[ )\[(?!\[)[^\[\]]*\](?!\])")  # what a relative day meant
Note = Callable[[str], dict[str, Any] | None]
_TURN = re.compile(
    r"^\[(\d+:\d+)\] (\(read before\) )?([^:\n]+): (.*(?:\n  .*)*)$", re.M
)
_MEMORY = re.compile(r"^(M\d+) \([^)]*\): (.*)$", re.M)


def note(
    text: str,
    quote: str,
    also: str = "",
    update: str = "",
    supersede: str = "",
    **more: Any,
) -> Note:
    """A fact that a model notes where a new turn holds the quote."""

    def made(told: str) -> dict[str, Any] | None:
        turns = [
            (label, said)
            for label, before, _, said in _TURN.findall(told)
            if not before
        ]
        lines = [label for label, said in turns if quote in _DAY.sub("", said)]
        lines += [
            label for label, _, _, said in _TURN.findall(told) if also and also in said
        ]
        memory = next(
            (
                label
                for label, said in _MEMORY.findall(told)
                if (update or supersede or "\0") in said
            ),
            "",
        )
        action = (
            "update"
            if update and memory
            else "supersede"
            if supersede and memory
            else "add"
        )
        found = {
            "action": action,
            "text": text,
            "lines": lines,
            "quote": quote,
            "kind": "fact",
            "importance": 5,
        }
        return (
            {**found, **({"memory": memory} if memory else {}), **more}
            if lines[:1]
            else None
        )

    return made


class Reader:
    """Answers a request to read; `asked` are the requests, `told` what each was told."""

    name = "reader"

    def __init__(
        self, *notes: Note, echo: bool = False, forget: Any = (), **more: Any
    ) -> None:
        self.notes, self.echo, self.more, self.forget = notes, echo, more, list(forget)
        self.told: list[str] = []

    def keep(self, told: str) -> dict[str, Any]:
        """The arguments of `keep` for what a request says."""
        self.told.append(told)
        facts = [found for one in self.notes if (found := one(told))]
        if self.echo:
            known = told.partition("Conversation 1.")[0]
            for label, before, speaker, said in _TURN.findall(told):
                words = _DAY.sub("", said)
                if (
                    not before
                    and speaker not in ("assistant", "tool")
                    and words not in known
                ):
                    found = {
                        "action": "add",
                        "text": words,
                        "lines": [label],
                        "quote": words,
                        "kind": "fact",
                    }
                    facts.append({**found, **self.more})
        return {"facts": facts, "forget": self.forget}

    def ask(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Any
    ) -> Reply:
        """The answer, in the form of a tool call."""
        answer = json.dumps(self.keep(messages[-1]["content"]), ensure_ascii=False)
        return Reply(
            "", (ToolCall("1", "keep", answer),), Usage(1000, 100), "tool_calls"
        )

    def step(self, body: dict[str, Any]) -> Step:
        """The same as a step of a scripted server."""
        return calls(("keep", self.keep(body["messages"][-1]["content"])))
