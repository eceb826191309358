"""What the model sees: named sections under budgets, then the recent turns as messages."""

import datetime as dt
import re
from collections.abc import Iterable
from importlib import resources
from typing import Any, NamedTuple

from filemem.files.folder import Folder
from filemem.files.passages import Passage
from filemem.files.transcript import ASSISTANT
from filemem.models.blocks import Block, fitting
from filemem.text import tokens
from filemem.text.plain import escape_controls, one_line
from filemem.tools.answers import today_heading

Message = dict[str, Any]
_MARK = re.compile(r"<(?=\s*/?\s*memory)", re.IGNORECASE)


class Section(NamedTuple):
    """One part of the prompt; an empty one is left out."""

    name: str
    text: str


def template(name: str) -> str:
    """The text of `filemem/prompts/<name>.md`."""
    return (resources.files("filemem") / "prompts" / f"{name}.md").read_text(encoding="utf-8")


def sections(
    folder: Folder,
    now: dt.datetime,
    wishes: Iterable[str],
    blocks: list[Section],
    pages: list[tuple[str, str]],
    summary: str,
    *,
    tools: bool,
) -> list[Section]:
    """The system prompt's sections: instructions, what the person wishes, the present, the blocks, the open files, the
    running summary.

    `tools` tells whether the model has the four tools, or gets passages with each message instead.
    """
    reading = template("tools" if tools else "passages").strip()
    present = f"Now it is {today_heading(now)}. You talk with {folder.name}."
    opened = "\n".join(data(path, text) for path, text in pages)
    parts = [
        Section("instructions", template("chat").strip().replace("{reading}", reading)),
        Section("wishes", wished(folder.name, wishes)),
        Section("present", present),
        *blocks,
        Section("open files", opened),
        Section("earlier in this conversation", data("summary", summary) if summary else ""),
    ]
    return [part for part in parts if part.text]


def wished(name: str, wishes: Iterable[str]) -> str:
    """How a person wishes to be talked with, as part of the instructions; empty where nothing is known of it."""
    said = "\n".join(f"- {_contained(wish)}" for wish in wishes)
    return template("wishes").strip().replace("{name}", one_line(name)).replace("{wishes}", said) if said else ""


def standing(found: list[Block], room: int) -> list[Section]:
    """The blocks as sections within `room` tokens, each with how full it is; the last says which were left out."""
    kept, gone = fitting(found, room)
    shown = [Section(block.label, f"{_contained(block.fill)}\n{data(block.path, block.shown)}") for block in kept]
    if not gone:
        return shown
    names = ", ".join(f"{_contained(block.label)} ({block.path})" for block in gone)
    return [*shown, Section("left out", f"Left out, as blocks may have {room:,} tokens in all: {names}.")]


def _contained(text: str) -> str:
    """A text of a file on one line, which can forge no mark."""
    return _MARK.sub("&lt;", one_line(text))


def data(path: str, text: str) -> str:
    """Memory text between marks that it cannot forge."""
    inside = _MARK.sub("&lt;", escape_controls(text))
    name = escape_controls(path).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<memory path="{name}">\n{inside}\n</memory>'


def messages(system: list[Section], turns: list[Passage]) -> list[Message]:
    """The request: one system message, then the turns; turns of one role in a row become one message."""
    out: list[Message] = [{"role": "system", "content": "\n\n".join(part.text for part in system)}]
    for turn in turns:
        role = "assistant" if turn.speaker == ASSISTANT else "user"
        if out[-1]["role"] == role:
            out[-1]["content"] += f"\n\n{turn.text}"
        else:
            out.append({"role": role, "content": turn.text})
    return out


def window(turns: list[Passage], budget: int) -> int:
    """The index of the first turn that still stands in the prompt: the longest tail within `budget` tokens.

    The last turn always stands, and the window opens with what a person said.
    """
    spent, start = 0, len(turns)
    while start and (spent + tokens.count(turns[start - 1].text) <= budget or start == len(turns)):
        start -= 1
        spent += tokens.count(turns[start].text)
    while start < len(turns) - 1 and turns[start].speaker == ASSISTANT:
        start += 1
    return start
