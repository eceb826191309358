"""What of the memory is always in the prompt: read once for each message, however many steps its answer takes."""

import datetime as dt
from typing import NamedTuple

from filemem import index
from filemem.chat import wishes
from filemem.files import config
from filemem.files.folder import Folder
from filemem.models import prompt
from filemem.models.prompt import Block


class CoreMemory(NamedTuple):
    """How the person wishes to be talked with, the paths of their `lessons`, the blocks, and a line on what lies outside."""

    wishes: list[str]
    lessons: list[str]
    blocks: list[Block]
    outside: str


def core_memory(folder: Folder, today: dt.date) -> CoreMemory:
    """Read it from the files as they are now; wishes only where the person has agreed to follow this folder's."""
    corpus = index.of(folder).corpus()
    lessons = [entry.path for entry in corpus.entries() if entry.kind == "lessons" and not entry.archived]
    kept = [entry.path for entry in corpus.entries() if entry.path.startswith(prompt.BLOCKS)]
    said = wishes.wishes(folder, corpus, today) if wishes.followed(folder) else []
    return CoreMemory(said, lessons, prompt.read_blocks(folder, kept, config.of(folder)), prompt.outside_line(corpus))
