"""What of the memory always stands in the prompt, read once a message: the person's preferences on how they are talked with, and
the profile.

Of preferences only what they said themselves in a chat or wrote by hand counts: no import, no note, no other speaker; and of a
folder that was not begun on this machine only once they have agreed to it (`trust`), as a store may be a stranger's.
"""

import contextlib
import datetime as dt
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from filemem import index
from filemem.chat import recalling
from filemem.errors import FilememError, NotFound
from filemem.files import config, journal, trust
from filemem.files.facts import plain, sources
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.memory import PROFILE, SOURCE_MARK
from filemem.files.sections import under
from filemem.index.corpus import Corpus
from filemem.models import prompt
from filemem.search import question
from filemem.text.plain import clip_tokens, count_tokens, one_line

MOST, LONGEST = 600, 400  # tokens of all preferences; characters of one
_RESTS_ON = re.compile(r"[ \t]*<!-- (?:facts|lessons)/\S+(?:, (?:facts|lessons)/\S+)* -->[ \t]*$", re.MULTILINE)


class CoreMemory(NamedTuple):
    """The preferences that are followed, and the profile, within its limit."""

    preferences: list[str]
    profile: str


def core_memory(folder: Folder, today: dt.date) -> CoreMemory:
    """Read it from the files as they are now; if the profile cannot be read, say why."""
    try:
        text = _RESTS_ON.sub("", folder.memory(PROFILE).body).strip()
    except FilememError as error:
        text = "" if isinstance(error, NotFound) else str(error)
    limit = config.of(folder).profile_tokens
    kept = clip_tokens(text, limit)
    shown = kept if kept == text else f"{kept}\n[cut at {limit:,} tokens; open {PROFILE} shows all of it]"
    followed = folder.trust.known(trust.wishes(folder.root), trust.WISHES)
    return CoreMemory(preferences(folder, index.of(folder).corpus(), today) if followed else [], shown)


def preferences_section(name: str, said: Iterable[str]) -> str:
    """How a person wants to be addressed, as part of the instructions; empty if nothing is known."""
    lines = "\n".join(f"- {prompt.contained(one)}" for one in said)
    template = prompt.template("preferences").strip().replace("{name}", one_line(name))
    return template.replace("{preferences}", lines) if lines else ""


def prompt_context(
    folder: Folder, message: str, today: dt.date, current: CurrentConversation | None = None, room: int = 0
) -> str:
    """What belongs into the prompt of a chat that is not filemem's: preferences, the profile, and within `room` tokens what a
    search for a message finds, all but preferences as data between marks."""
    stands = core_memory(folder, today)
    found = message.strip() and room and recalling.recall(folder, [message], today, current, room, weak=False)
    told = {PROFILE: stands.profile, "search_files": found}
    marked = (prompt.data(name, text) for name, text in told.items() if text)
    return "\n\n".join(filter(None, (preferences_section(folder.name, stands.preferences), *marked)))


def preferences(folder: Folder, corpus: Corpus, today: dt.date) -> list[str]:
    """What stands, the newest first and within MOST tokens; then the person's own lines of the profile."""
    lessons = [one for one in corpus.entries() if one.kind == "lessons" and not one.archived]
    lessons.sort(key=lambda one: (one.date, one.path), reverse=True)
    told = [said for one in lessons if not question.lapse(one, today) for said in _lesson(folder, one.path)]
    with contextlib.suppress(FilememError):
        for line in under(folder.memory(PROFILE).lines, "talk"):  # those of the program stand in the lessons
            said = line.strip().lstrip("-*+").strip()
            if said and len(said) <= LONGEST and not SOURCE_MARK.search(line):
                told.append(plain(said))
    spent, kept = 0, dict[str, None]()
    for one in told:
        spent += count_tokens(one)
        if spent > MOST:
            break
        kept[one] = None
    return list(kept)


def _lesson(folder: Folder, path: str) -> Iterator[str]:
    """The preferences in one lesson; none if it comes from an import or from someone else's words."""
    hidden = journal.pending_deletions(folder)
    with contextlib.suppress(FilememError):
        memory = folder.memory(path)
        behind = (folder.find(source.rpartition(":")[0] or source) for source in sources(memory))
        if {"tool", "said_by"} & memory.front.keys() or any(one and "origin" in one.front for one in behind):
            return
        for passage in memory.passages:
            own = passage.speaker.casefold() in ("", folder.name.casefold())
            if own and len(passage.text) <= LONGEST and not hidden.hides(path, passage.line):
                yield plain(" ".join(passage.text.split()))
