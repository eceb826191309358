"""Blocks: what always stands in the prompt, profile.md and the files of `blocks/`, each with a limit, by priority."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files.config import Config
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE
from filemem.index.corpus import Corpus
from filemem.text import tokens
from filemem.text.plain import one_line

FOLDER = "blocks/"
LIMIT, PRIORITY = 500, 5  # tokens of a block that does not say; and of 1 to 10, 10 being the last to go
OF_PROFILE = 10  # the priority of profile.md, where it does not say
LONGEST_LABEL = 40  # characters


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
        return (
            kept
            if len(kept) == len(self.text)
            else f"{kept}\n[cut at {self.limit:,} tokens; open {self.path} shows all of it]"
        )


def read(folder: Folder, paths: Iterable[str], config: Config) -> list[Block]:
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
    text = memory.body
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


# -- what lies outside -----------------------------------------------------------------------------------------------

_NAMES = {"facts": "fact", "lessons": "lesson", "sessions": "session", "summaries": "summary"}


def outside(corpus: Corpus) -> str:
    """One line on what the prompt does not hold: how many memories of each kind, since when, which changed last."""
    counts, first, archived = Counter[str](), 0, 0
    for entry in corpus.entries():
        counts[entry.kind if entry.kind in _NAMES else "notes"] += entry.kind not in ("profile", FOLDER.rstrip("/"))
        first = min(filter(None, (first, entry.date)), default=0)
        archived += entry.archived
    if not counts.total():
        return "Nothing lies outside this prompt yet."
    said = ", ".join(_counted(counts))
    since = f" since {dt.date.fromordinal(first)}" if first else ""
    last = max(corpus.listing(), key=lambda stat: stat.changed)
    return f"Outside this prompt lie {said}{since}, {archived:,} of them archived; changed last: {one_line(last.path)}."


def _counted(counts: Counter[str]) -> Iterator[str]:
    for kind, name in {**_NAMES, "notes": "note"}.items():
        if count := counts[kind]:
            many = {"summary": "summaries"}.get(name, f"{name}s")
            yield f"{count:,} {name if count == 1 else many}"
