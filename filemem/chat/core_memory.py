"""What of the memory always stands in the prompt, read once a message: how the person wishes to be talked with, and the blocks.

Of wishes only what they said themselves in a chat or wrote by hand counts: no import, no note, no other speaker; and of a folder
that was not begun on this machine only once they have agreed to it (`trust`), as a store may be a stranger's.
"""

import datetime as dt
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from filemem import index
from filemem.chat import recalling
from filemem.errors import FilememError
from filemem.files import config, journal, trust
from filemem.files.facts import plain, sources
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.journal import PendingDeletion
from filemem.files.memory import PROFILE, SOURCE_MARK
from filemem.files.sections import under
from filemem.index.corpus import Corpus
from filemem.models import prompt
from filemem.models.prompt import Block
from filemem.search import filters
from filemem.text import tokens

MOST, LONGEST = 600, 400  # tokens of all wishes; characters of one


class CoreMemory(NamedTuple):
    """The wishes that are followed, and the blocks."""

    wishes: list[str]
    blocks: list[Block]


def core_memory(folder: Folder, today: dt.date) -> CoreMemory:
    """Read it from the files as they are now."""
    corpus = index.of(folder).corpus()
    kept = [entry.path for entry in corpus.entries() if entry.path.startswith(prompt.BLOCKS)]
    followed = folder.trust.known(trust.wishes(folder.root), trust.WISHES)
    said = wishes(folder, corpus, today) if followed else []
    return CoreMemory(said, prompt.read_blocks(folder, kept, config.of(folder)))


def prompt_context(
    folder: Folder, message: str, today: dt.date, current: CurrentConversation | None = None, room: int = 0
) -> str:
    """What belongs into the prompt of a chat that is not filemem's: wishes, blocks, and within `room` tokens what a search for a
    message finds, all but wishes as data between marks."""
    stands = core_memory(folder, today)
    blocks = prompt.block_sections(stands.blocks, config.of(folder).block_tokens)
    said = message.strip() and room and recalling.recall(folder, [message], today, current, room, weak=False)
    found = prompt.data("search_files", said) if said else ""
    parts = [prompt.wishes_section(folder.name, stands.wishes), *(block.text for block in blocks), found]
    return "\n\n".join(filter(None, parts))


def wishes(folder: Folder, corpus: Corpus, today: dt.date) -> list[str]:
    """What stands, the newest first and within MOST tokens; then the person's own lines of the profile."""
    lessons = [one for one in corpus.entries() if one.kind == "lessons" and not one.archived]
    lessons.sort(key=lambda one: (one.date, one.path), reverse=True)
    standing = [one.path for one in lessons if not filters.lapse(one, today)]
    hidden, said, spent = journal.pending_deletions(folder), list[str](), 0
    imported = functools.cache(functools.partial(_imported, folder))
    told = (wish for path in standing for wish in _lesson(folder, path, hidden, imported))
    for wish in itertools.chain(told, _written(folder)):
        spent += tokens.count(wish)
        if spent > MOST:
            break
        said.append(wish)
    return list(dict.fromkeys(said))


def _lesson(folder: Folder, path: str, hidden: PendingDeletion, imported: Callable[[str], bool]) -> Iterator[str]:
    """The wishes of one lesson; none where it goes back to what was imported or said by another."""
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
