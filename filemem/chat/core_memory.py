"""What stands in every prompt: the profile, and how the person wishes to be talked to.

Of wishes only what they said themselves in a chat or wrote by hand counts: no import,
no note, no other speaker; and none of a store that merely lies where they stand, as it
may be a stranger's.
"""

import contextlib
import datetime as dt
from collections.abc import Iterator
from typing import NamedTuple

from filemem import index
from filemem.chat.window import Part, rules
from filemem.errors import FilememError, NotFound
from filemem.learn.profile import sources, successor
from filemem.llm import prompt
from filemem.search.validity import held_days
from filemem.store import config
from filemem.store.facts import MAX_FACT_CHARS, plain
from filemem.store.folder import Folder
from filemem.store.memory import SOURCE_MARK
from filemem.store.passages import turns
from filemem.store.paths import PROFILE, Kind
from filemem.store.profile_sections import BEGIN, END, HEADING, under
from filemem.text.plain import clip_tokens, count_tokens, one_line

WISHES_WAIT = (
    "What {} says on how to talk with you is read as data, as this store only lies"
    " here; if it is yours, name it with --store or FILEMEM_STORE."
)
MAX_PREFERENCES_TOKENS = 600  # of all of them


class CoreMemory(NamedTuple):
    """What always stands in the prompt; '' stands for what is not there.

    Attributes:
        wishes: the part of the instructions on how to talk.
        profile: the rest of the profile.
        told: the paths of the memories that the profile tells; none of one that is cut.
    """

    wishes: str
    profile: str
    told: frozenset[str]

    def parts(self, person: str, *, has_tools: bool) -> list[Part]:
        """Return what stands in every prompt of a chat with a person of this name."""
        parts = [
            Part("rules", rules(person, has_tools=has_tools)),
            Part("preferences", self.wishes),
            Part("profile", prompt.data(PROFILE, self.profile)),
        ]
        return [part for part in parts if part.text]


def core_memory(folder: Folder, today: dt.date) -> CoreMemory:
    """Return the core memory, read from the files as they are now.

    The profile is cut where it is longer than `profile_tokens` of the settings; of one
    that cannot be read it says why.

    Args:
        folder: whose memory it is.
        today: the day on which a wish must hold, and what is told must not be over.
    """
    wishes = preferences(folder, today) if folder.is_own else []
    try:
        text, told = _read_profile(folder, today, wishes)
    except NotFound:
        text, told = _Profile("", frozenset())
    except FilememError as error:
        text, told = _Profile(str(error), frozenset())
    limit = config.of(folder).profile_tokens
    profile = clip_tokens(text, limit)
    if profile != text:
        profile += f"\n[cut at {limit:,} tokens; open {PROFILE} shows all of it]"
        told = frozenset()
    return CoreMemory(_instructions(folder, wishes), profile, told)


def _instructions(folder: Folder, wishes: list[str]) -> str:
    """Return how the person wishes to be talked to, as instructions; '' for no wish."""
    if not wishes:
        return ""
    shown = [prompt.contained(wish, MAX_FACT_CHARS) for wish in wishes]
    listed = "\n".join(f"- {wish}" for wish in shown)
    told = prompt.template("preferences").strip()
    told = told.replace("{name}", one_line(folder.person))
    return told.replace("{preferences}", listed)


class _Profile(NamedTuple):
    """The profile's text, and the paths of the memories behind its lines."""

    text: str
    told: frozenset[str]


def _read_profile(folder: Folder, today: dt.date, wishes: list[str]) -> _Profile:
    """Return the profile as a prompt has it: each line with its number.

    Marks of sources are left out, blank lines, and the wishes, which the prompt has
    already; so are lines about what is over or gone, and the headings that nothing
    stands under.

    Args:
        folder: whose profile it is.
        today: the day by which something is over.
        wishes: those that the prompt has.

    Raises:
        FilememError: it cannot be read.
    """
    shown: list[str] = []
    told: set[str] = set()
    headings: dict[int, str] = {}  # by their rank; nothing stands under them yet
    memory = folder.memory(PROFILE)
    lines = memory.body.split("\n")
    first = len(memory.lines) - len(lines) + 1
    for number, line in enumerate(lines, first):
        said = plain(SOURCE_MARK.sub("", line)).rstrip()
        behind = sources(line)
        if wish_of(said) in ("", BEGIN, END, *wishes):
            continue
        if not all(successor(folder, path, today) for path in behind):
            continue
        if HEADING.match(said):
            rank = len(said) - len(said.lstrip("#"))
            headings = {one: headings[one] for one in headings if one < rank}
            headings[rank] = said
        else:
            shown += headings.values()
            headings = {}
            # The number stands in the bullet's place, and costs no more.
            shown.append(f"{number}. {said.removeprefix('- ')}")
            told.update(behind)
    return _Profile("\n".join(shown), frozenset(told))


def preferences(folder: Folder, today: dt.date) -> list[str]:
    """Return the wishes that stand, newest first, then the person's own profile lines.

    Args:
        folder: whose wishes.
        today: the day on which a lesson must hold.

    Returns:
        Each wish once; those are left out that are longer than MAX_FACT_CHARS, or come
        after MAX_PREFERENCES_TOKENS.
    """
    kept = []
    spent = 0
    for wish in _wishes(folder, today):
        if len(wish) > MAX_FACT_CHARS:
            continue
        spent += count_tokens(wish)
        if spent > MAX_PREFERENCES_TOKENS:
            break
        kept.append(wish)
    return kept


def unheard(folder: Folder, today: dt.date) -> dict[str, str]:
    """Return the wishes that stand and for which prompts have no room.

    Args:
        folder: whose wishes.
        today: the day on which a lesson must hold.

    Returns:
        The path of each.
    """
    wishes = _wishes(folder, today)
    for wish in preferences(folder, today):
        del wishes[wish]
    return wishes


def wait_for_a_name(folder: Folder, today: dt.date) -> bool:
    """Tell whether wishes stand in a store that was neither named nor begun here.

    They are read as data there.
    """
    return not folder.is_own and bool(preferences(folder, today))


def _wishes(folder: Folder, today: dt.date) -> dict[str, str]:
    """Return the path of each wish: the newest first, then the profile's."""
    wishes: dict[str, str] = {}
    for path in _lessons(folder, today):
        for wish in _lesson(folder, path):
            wishes.setdefault(wish, path)
    for wish in _profile_wishes(folder):
        wishes.setdefault(wish, PROFILE)
    return wishes


def _lessons(folder: Folder, today: dt.date) -> Iterator[str]:
    """The paths of the lessons that hold today, the newest first."""
    lessons = []
    for entry in index.of(folder).corpus().files:
        if entry.kind == Kind.LESSONS and not entry.archived:
            lessons.append(entry)
    lessons.sort(key=lambda entry: (entry.date, entry.path), reverse=True)
    for entry in lessons:
        if held_days(entry).holds(today.toordinal()):
            yield entry.path


def _lesson(folder: Folder, path: str) -> Iterator[str]:
    """The wishes in one lesson; none where it comes from someone else's words."""
    with contextlib.suppress(FilememError):
        memory = folder.memory(path)
        if {"tool", "said_by"} & memory.front.keys():
            return
        names = {"", *map(str.casefold, folder.own_names())}
        # One of an earlier version quotes a turn, which may be another's.
        quoted = turns(memory.lines, memory.front_end, memory.day)
        for passage in quoted or memory.passages:
            if passage.speaker.casefold() in names:
                yield wish_of(" ".join(passage.text.split()))


def _profile_wishes(folder: Folder) -> Iterator[str]:
    """The person's own lines in the profile's section on how to talk with them.

    Those that the program wrote cite a source, and stand in the lessons.
    """
    with contextlib.suppress(FilememError):
        for line in under(folder.memory(PROFILE).lines, "talk"):
            wish = wish_of(line)
            if wish and not SOURCE_MARK.search(line):
                yield wish


def wish_of(line: str) -> str:
    """Return what a line says as a wish, without its bullet and its links."""
    return plain(line.strip().lstrip("-*+").strip())
