"""What is good to know as a conversation begins."""

import datetime as dt
import os

from filemem.chat.core_memory import core_memory
from filemem.llm import prompt
from filemem.overview.events import timeline
from filemem.store import transcript
from filemem.store.folder import Folder
from filemem.store.paths import PROFILE
from filemem.text.dayrange import DayRange
from filemem.text.plain import clip_tokens, one_line

# Of what a session begins with.
WISHES_TOKENS = 100
PLANS_TOKENS = 80
PROFILE_TOKENS = 180

NEWEST_FACTS = 100  # that are looked at for plans
PLANS_DAYS = 60
NEWEST_TALKS = 8


def briefing(user: Folder, today: dt.date, *, short: bool = False) -> str:
    """Return what to know of a person before they say anything; '' for nothing.

    That is their wishes, the profile, plans of the next days, and the newest
    conversations.

    Args:
        user: whose memories.
        today: the day from which what is planned counts.
        short: without the conversations, and clipped to what a session begins with.
    """
    wishes, profile, _ = core_memory(user, today)
    plans = _plans(user, today)
    newest = transcript.newest(user)[:NEWEST_TALKS]
    if short:
        wishes = clip_tokens(wishes, WISHES_TOKENS)
        profile = clip_tokens(profile, PROFILE_TOKENS)
        plans = clip_tokens(plans, PLANS_TOKENS)
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
    ]
    return "\n".join(part for part in parts if part)


def _plans(user: Folder, today: dt.date) -> str:
    """Return what the newest facts say of the days to come, a line each.

    Args:
        user: whose facts.
        today: the first of these days.
    """
    facts = [path for path in user.paths() if path.startswith("facts/")]
    newest = sorted(facts, key=os.path.basename)[-NEWEST_FACTS:]
    first = today.toordinal()
    days = DayRange(first, first + PLANS_DAYS)
    events = timeline(user, newest.__contains__, days)
    lines = []
    for one in events:
        if not one.until:
            text = one_line(one.text, 100)
            lines.append(f"{one.day()} {text} ({one.path}:{one.line})")
    return "\n".join(lines)
