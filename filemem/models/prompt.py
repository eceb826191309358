"""What the model sees: named sections under budgets, then the recent turns as messages."""

import datetime as dt
import os
import re
from importlib import resources
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files.config import Config
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE
from filemem.files.passages import Passage
from filemem.files.transcript import ASSISTANT
from filemem.text import tokens
from filemem.text.plain import escape_controls
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
    folder: Folder, config: Config, now: dt.datetime, pages: list[tuple[str, str]], summary: str, *, tools: bool
) -> list[Section]:
    """The system prompt's sections: instructions, the present, the profile, the open files, the running summary.

    `tools` tells whether the model has the four tools, or gets passages with each message instead.
    """
    reading = template("tools" if tools else "passages").strip()
    present = f"Now it is {today_heading(now)}. You talk with {folder.name}."
    opened = "\n".join(data(path, text) for path, text in pages)
    parts = [
        Section("instructions", template("chat").strip().replace("{reading}", reading)),
        Section("present", present),
        Section("profile", profile(folder, config.profile_tokens)),
        Section("open files", opened),
        Section("earlier in this conversation", data("summary", summary) if summary else ""),
    ]
    return [part for part in parts if part.text]


def profile(folder: Folder, budget: int) -> str:
    """profile.md as data, cut at `budget` tokens with a word about it; empty where there is none."""
    try:
        text = folder.memory(PROFILE).text.strip() if os.path.lexists(folder.absolute(PROFILE)) else ""
    except FilememError as error:
        return str(error)
    kept = tokens.clip(text, budget)
    if len(kept) < len(text):
        kept = f"{kept}\n[cut at {budget} tokens; open {PROFILE} shows all of it]"
    return data(PROFILE, kept) if kept else ""


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
