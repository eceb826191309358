"""What is good to know as a conversation begins."""

import datetime as dt

from filemem import index
from filemem.chat.core_memory import core_memory
from filemem.learn import background
from filemem.llm import prompt
from filemem.overview.events import timeline
from filemem.search.validity import held_days
from filemem.store import transcript
from filemem.store.folder import Folder
from filemem.store.paths import PROFILE
from filemem.text.dayrange import DayRange
from filemem.text.plain import clip_tokens, one_line

SHORT_TOKENS = 90  # of wishes and of plans, twice that of the profile, in short

PLANS_DAYS = 60
NEWEST_TALKS = 8


def briefing(user: Folder, today: dt.date, *, short: bool = False) -> str:
    """Return what to know of a person before they say anything; '' for nothing.

    That is their wishes, the profile, plans of the next days, the newest conversations,
    and once what came of those that were read meanwhile.

    Args:
        user: whose memories.
        today: the day from which what is planned counts.
        short: without the conversations, and clipped to what a session begins with.
    """
    wishes, profile, _ = core_memory(user, today)
    plans = _plans(user, today)
    newest = transcript.newest(user)[:NEWEST_TALKS]
    if short:
        wishes = clip_tokens(wishes, SHORT_TOKENS)
        profile = clip_tokens(profile, 2 * SHORT_TOKENS)
        plans = clip_tokens(plans, SHORT_TOKENS)
        newest = []
    titles = []
    for path in newest:
        talk = user.find(path)
        if talk:
            titles.append(f"{path}  {one_line(talk.title, 100)}")
    parts = [
        wishes,
        prompt.data(PROFILE, profile),
        prompt.data("ahead", plans),
        prompt.data("newest conversations", "\n".join(titles)),
        prompt.data("news of filemem", background.take_news(user)),
    ]
    return "\n".join(part for part in parts if part)


def _plans(user: Folder, today: dt.date) -> str:
    """Return what facts say of the days to come, a line each.

    Args:
        user: whose facts.
        today: the first of these days.
    """
    first = today.toordinal()
    days = DayRange(first, first + PLANS_DAYS)
    coming = _coming(user, first)
    lines = []
    for one in timeline(user, coming, days):
        text = one_line(one.text, 100)
        lines.append(f"{one.day()} {text} ({one.path}:{one.line})")
    return "\n".join(lines)


def _coming(user: Folder, first: int) -> set[str]:
    """Return the paths of the live facts that hold, and name a day to come.

    Args:
        user: whose facts.
        first: of the days to come, as an ordinal.
    """
    found = set()
    for entry in index.of(user).corpus().files:
        held = held_days(entry)
        told = [last for _, _, last in entry.told]
        latest = max([held.first, *entry.days, *told])
        if entry.path.startswith("facts/") and latest >= first <= held.last:
            found.add(entry.path)
    return found
