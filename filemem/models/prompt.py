"""What the model sees: blocks, which always stand there, each with a limit; other sections under budgets; the recent turns."""

import datetime as dt
import re
from collections.abc import Iterable
from importlib import resources
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files.config import Config
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE
from filemem.files.passages import Passage
from filemem.files.transcript import ASSISTANT
from filemem.text import tokens
from filemem.text.plain import escape_controls, one_line
from filemem.tools.answers import today_heading

BLOCKS = "blocks/"
LIMIT, PRIORITY = 500, 5  # tokens of a block that does not say; and of 1 to 10, 10 being the last to go
OF_PROFILE = 10  # the priority of profile.md, where it does not say
LONGEST_LABEL = 40  # characters


_RESTS_ON = re.compile(r"[ \t]*<!-- (?:facts|lessons)/\S+(?:, (?:facts|lessons)/\S+)* -->[ \t]*$", re.MULTILINE)


class Block(NamedTuple):
    """What one file brings into the prompt: `size` are the tokens of its whole text, of which `limit` are shown."""

    path: str
    label: str
    limit: int
    priority: int
    read_only: bool
    text: str
    size: int

    @property
    def fill(self) -> str:
        """How full it is: `persona 212/500`."""
        return f"{self.label} {self.size:,}/{self.limit:,}{', read only' if self.read_only else ''}"

    @property
    def shown(self) -> str:
        """Its text, within its limit."""
        kept = tokens.clip(self.text, self.limit)
        if len(kept) == len(self.text):
            return kept
        return f"{kept}\n[cut at {self.limit:,} tokens; open {self.path} shows all of it]"


def read_blocks(folder: Folder, paths: Iterable[str], config: Config) -> list[Block]:
    """The blocks of a user, those of the highest priority first; one that cannot be read says why in its text."""
    found = [_block(folder, path, config) for path in dict.fromkeys([PROFILE, *paths])]
    return sorted(
        (block for block in found if block.text), key=lambda block: (-block.priority, block.path != PROFILE, block.path)
    )


def _block(folder: Folder, path: str, config: Config) -> Block:
    stem = path.rpartition("/")[2].rpartition(".")[0]
    limit, priority = (config.profile_tokens, OF_PROFILE) if path == PROFILE else (LIMIT, PRIORITY)
    try:
        memory = folder.memory(path)
    except NotFound:
        return Block(path, stem, limit, priority, False, "", 0)
    except FilememError as error:
        return Block(path, stem, limit, priority, False, str(error), tokens.count(str(error)))
    front = memory.front
    text = _RESTS_ON.sub("", memory.body)
    label = one_line(str(front.get("label") or stem), LONGEST_LABEL)
    limit, priority = _number(front.get("limit"), limit), _number(front.get("priority"), priority)
    return Block(path, label, limit, priority, front.get("read_only") is True, text.strip(), tokens.count(text.strip()))


def _number(value: object, default: int) -> int:
    """A whole number above 0 of the front matter, else the default."""
    return value if type(value) is int and value > 0 else default


def fitting(blocks: list[Block], room: int) -> tuple[list[Block], list[Block]]:
    """The blocks that `room` tokens hold, and those left out: the lowest priority goes first, the first block stays."""
    kept, gone = list(blocks), list[Block]()
    while len(kept) > 1 and sum(min(block.size, block.limit) for block in kept) > room:
        gone.insert(0, kept.pop())
    return kept, gone


Message = dict[str, Any]
_MARK = re.compile(r"<(?=\s*/?\s*(?:memory|program|filemem))", re.IGNORECASE)
_PROGRAM = re.compile(r"<(?=\s*/?\s*program\s*>)", re.IGNORECASE)


class Section(NamedTuple):
    """One part of the prompt; an empty one is left out."""

    name: str
    text: str


def template(name: str) -> str:
    """The text of `filemem/prompts/<name>.md`."""
    return (resources.files("filemem") / "prompts" / f"{name}.md").read_text(encoding="utf-8")


def own_words() -> str:
    """All that the program itself says to models."""
    texts = (path for path in (resources.files("filemem") / "prompts").iterdir() if path.name.endswith(".md"))
    return "\n".join(path.read_text(encoding="utf-8") for path in texts)


class Prompt(NamedTuple):
    """What a model sees: `system` and the turns change little from one request to the next, so that endpoints can cache them;
    `beside` stands with the last message."""

    system: list[Section]
    turns: list[Passage]
    beside: list[Section]

    def messages(self) -> list[Message]:
        """The request: one system message, then the turns; turns of one role in a row become one message."""
        out: list[Message] = [{"role": "system", "content": "\n\n".join(part.text for part in self.system)}]
        for place, turn in enumerate(self.turns, 1):
            role = "assistant" if turn.speaker == ASSISTANT else "user"
            beside = [part.text for part in self.beside] if place == len(self.turns) and role == "user" else []
            text = "\n\n".join([*beside, _PROGRAM.sub("&lt;", turn.text)])
            if out[-1]["role"] == role:
                out[-1]["content"] += f"\n\n{text}"
            else:
                out.append({"role": role, "content": text})
        return out


def system_sections(
    name: str, wishes: Iterable[str], blocks: list[Section], summary: str, *, tools: bool
) -> list[Section]:
    """The system prompt's sections: the rules, what the person wishes, the blocks, the running summary.

    `tools` tells whether the model has the four tools, or gets passages with each message instead.
    """
    reading = template("tools" if tools else "passages").strip()
    rules = template("chat").strip().replace("{name}", _contained(name)).replace("{reading}", reading)
    parts = [
        Section("rules", rules),
        Section("wishes", wishes_section(name, wishes)),
        *blocks,
        Section("earlier in this conversation", data("summary", summary) if summary else ""),
    ]
    return [part for part in parts if part.text]


def program(done: Iterable[str], now: dt.datetime) -> str:
    """What the program says beside a message: what it did about it, and the time."""
    lines = [*done, f"Now it is {today_heading(now)}."]
    return "<program>\n" + "\n".join(_MARK.sub("&lt;", line) for line in lines) + "\n</program>"


def wishes_section(name: str, wishes: Iterable[str]) -> str:
    """How a person wishes to be talked with, as part of the instructions; empty where nothing is known of it."""
    said = "\n".join(f"- {_contained(wish)}" for wish in wishes)
    return template("wishes").strip().replace("{name}", one_line(name)).replace("{wishes}", said) if said else ""


def block_sections(found: list[Block], room: int) -> list[Section]:
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
