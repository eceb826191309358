"""What of the memory always stands in the prompt, read once a message: the person's preferences on how they are talked with, and
the blocks, which are profile.md and the files of blocks/, each with a limit.

Of preferences only what they said themselves in a chat or wrote by hand counts: no import, no note, no other speaker; and of a
folder that was not begun on this machine only once they have agreed to it (`trust`), as a store may be a stranger's.
"""

import datetime as dt
import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from filemem import index
from filemem.chat import recalling
from filemem.errors import FilememError, NotFound
from filemem.files import config, journal, trust
from filemem.files.facts import plain, sources
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.journal import PendingDeletion
from filemem.files.memory import PROFILE, SOURCE_MARK
from filemem.files.sections import under
from filemem.index.corpus import Corpus
from filemem.models import prompt
from filemem.search import filters
from filemem.text import tokens
from filemem.text.plain import one_line

MOST, LONGEST = 600, 400  # tokens of all preferences; characters of one
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
    def shown(self) -> str:
        """Its text, within its limit."""
        kept = tokens.clip(self.text, self.limit)
        cut = "" if kept == self.text else f"\n[cut at {self.limit:,} tokens; open {self.path} shows all of it]"
        return kept + cut

    @property
    def section(self) -> str:
        """It with how full it is: `persona 212/500`."""
        fill = f"{self.label} {self.size:,}/{self.limit:,}{', read only' if self.read_only else ''}"
        return f"{prompt.contained(fill)}\n{prompt.data(self.path, self.shown)}"


class CoreMemory(NamedTuple):
    """The preferences that are followed, and the blocks."""

    preferences: list[str]
    blocks: list[Block]


def core_memory(folder: Folder, today: dt.date) -> CoreMemory:
    """Read it from the files as they are now; blocks of the highest priority first."""
    corpus = index.of(folder).corpus()
    paths = [PROFILE, *(entry.path for entry in corpus.entries() if entry.path.startswith("blocks/"))]
    blocks = [block for path in dict.fromkeys(paths) if (block := _block(folder, path)).text]
    blocks.sort(key=lambda block: (-block.priority, block.path != PROFILE, block.path))
    followed = folder.trust.known(trust.wishes(folder.root), trust.WISHES)
    return CoreMemory(preferences(folder, corpus, today) if followed else [], blocks)


def _block(folder: Folder, path: str) -> Block:
    """The block at a path; one that cannot be read says why in its text."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    front, text = {}, ""
    try:
        memory = folder.memory(path)
        front, text = memory.front, _RESTS_ON.sub("", memory.body).strip()
    except NotFound:
        pass
    except FilememError as error:
        text = str(error)
    limit, priority = (config.of(folder).profile_tokens, OF_PROFILE) if path == PROFILE else (LIMIT, PRIORITY)
    limit, priority = (
        given if type(given := front.get(key)) is int and given > 0 else default
        for key, default in (("limit", limit), ("priority", priority))
    )
    label = one_line(str(front.get("label") or stem), LONGEST_LABEL)
    return Block(path, label, limit, priority, front.get("read_only") is True, text, tokens.count(text))


def block_sections(blocks: list[Block], room: int) -> list[tuple[str, str]]:
    """The blocks within `room` tokens, each with its label; the lowest priority goes first, the first block stays, and the last
    part says which were left out."""
    kept, gone = list(blocks), list[Block]()
    while len(kept) > 1 and sum(min(block.size, block.limit) for block in kept) > room:
        gone.insert(0, kept.pop())
    shown = [(block.label, block.section) for block in kept]
    if gone:
        names = ", ".join(f"{prompt.contained(block.label)} ({block.path})" for block in gone)
        shown.append(("left out", f"Left out, as blocks may have {room:,} tokens in all: {names}."))
    return shown


def preferences_section(name: str, said: Iterable[str]) -> str:
    """How a person wishes to be talked with, as part of the instructions; empty where nothing is known of it."""
    lines = "\n".join(f"- {prompt.contained(one)}" for one in said)
    template = prompt.template("preferences").strip().replace("{name}", one_line(name))
    return template.replace("{preferences}", lines) if lines else ""


def prompt_context(
    folder: Folder, message: str, today: dt.date, current: CurrentConversation | None = None, room: int = 0
) -> str:
    """What belongs into the prompt of a chat that is not filemem's: preferences, blocks, and within `room` tokens what a search
    for a message finds, all but preferences as data between marks."""
    stands = core_memory(folder, today)
    blocks = [text for _, text in block_sections(stands.blocks, config.of(folder).block_tokens)]
    said = message.strip() and room and recalling.recall(folder, [message], today, current, room, weak=False)
    found = prompt.data("search_files", said) if said else ""
    return "\n\n".join(filter(None, (preferences_section(folder.name, stands.preferences), *blocks, found)))


def preferences(folder: Folder, corpus: Corpus, today: dt.date) -> list[str]:
    """What stands, the newest first and within MOST tokens; then the person's own lines of the profile."""
    lessons = [one for one in corpus.entries() if one.kind == "lessons" and not one.archived]
    lessons.sort(key=lambda one: (one.date, one.path), reverse=True)
    standing = [one.path for one in lessons if not filters.lapse(one, today)]
    hidden, said, spent = journal.pending_deletions(folder), list[str](), 0
    imported = functools.cache(functools.partial(_imported, folder))
    told = (one for path in standing for one in _lesson(folder, path, hidden, imported))
    for one in itertools.chain(told, _written(folder)):
        spent += tokens.count(one)
        if spent > MOST:
            break
        said.append(one)
    return list(dict.fromkeys(said))


def _lesson(folder: Folder, path: str, hidden: PendingDeletion, imported: Callable[[str], bool]) -> Iterator[str]:
    """The preferences in one lesson; none where it goes back to what was imported or said by another."""
    try:
        memory = folder.memory(path)
        if "tool" in memory.front or any(imported(source.rpartition(":")[0] or source) for source in sources(memory)):
            return
    except FilememError:
        return
    for passage in memory.passages:
        own = passage.speaker.casefold() in ("", folder.name.casefold())
        if own and len(passage.text) <= LONGEST and not hidden.hides(path, passage.line):
            yield plain(" ".join(passage.text.split()))


def _imported(folder: Folder, path: str) -> bool:
    """Is the conversation at a path one that came from another program?"""
    try:
        return "origin" in folder.memory(folder.locate(path)).front
    except FilememError:
        return False


def _written(folder: Folder) -> Iterator[str]:
    """The person's own lines of the profile on how to talk with them; those of the program stand in the lessons."""
    try:
        lines = folder.memory(PROFILE).lines
    except FilememError:
        return
    for line in under(lines, "talk"):
        said = line.strip().lstrip("-*+").strip()
        if said and len(said) <= LONGEST and not SOURCE_MARK.search(line):
            yield plain(said)
