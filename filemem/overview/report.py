"""One page on a user's memories.

It tells who they are, what holds, what comes, what was talked about, what fades. It is
one HTML file without scripts that loads nothing, and follows from the files and
the day alone. Each list is cut, so that ten thousand memories fit on it.
"""

import datetime as dt
import html
import re
from collections.abc import Iterator
from importlib import resources
from string import Template

from filemem.forget.states import MemoryState, day_after, memory_states
from filemem.overview.events import timeline
from filemem.store import config
from filemem.store.facts import plain
from filemem.store.folder import Folder
from filemem.store.memory import SOURCE_MARK
from filemem.store.paths import DISTILLED, OWN_KINDS, PROFILE, Kind
from filemem.text.dayrange import DayRange
from filemem.text.plain import LINK, counted, one_line
from filemem.work import Progress, no_progress

MAX_ROWS = 200
MAX_TEXT_CHARS = 400
_MARK = re.compile(r"\s*(?:[-*+]|#{1,6})\s+")
"""Markdown's mark before an entry of a list, or a heading."""


def page(folder: Folder, now: dt.datetime, progress: Progress = no_progress) -> str:
    """Return the page, as HTML.

    Args:
        folder: whose memories.
        now: the moment as of which it is.
        progress: told how many memories have been looked at.

    Returns:
        A page of HTML that needs nothing else.

    Raises:
        ConfigError: the store's settings are broken.
    """
    today = now.date()
    # The newest first, and last what has no date.
    states = list(memory_states(folder, today, progress))
    states.sort(key=lambda state: state.path)
    states.sort(key=lambda state: state.date or dt.date.min, reverse=True)
    live = [state for state in states if not state.archived]
    talks = [one.path for one in states if one.kind == Kind.SESSIONS][:MAX_ROWS]
    days_of_talk = timeline(folder, talks)[::-1]
    template = resources.files("filemem.data") / "report.html"
    return Template(template.read_text("utf-8")).substitute(
        person=_text(folder.person),
        live=counted(len(live), "live memory", "live memories"),
        archived=f"{len(states) - len(live):,}",
        day=today,
        who="".join(_who(folder)),
        holds="".join(_holding(folder, live)),
        comes="".join(_coming(folder, live, today)),
        talks="".join(_row(folder, one.path, one.date) for one in days_of_talk),
        fades="".join(_fading(folder, live, today)),
    )


def _who(folder: Folder) -> Iterator[str]:
    """Yield the lines of profile.md, without what they rest on.

    Markdown's marks before a line, and empty lines, are left out.
    """
    profile = folder.find(PROFILE)
    lines = profile.body.split("\n") if profile else []
    for line in lines:
        told = SOURCE_MARK.sub("", line)
        shown = _MARK.sub("", plain(told), count=1).strip()
        if shown:
            yield f"<li>{_text(shown)}</li>"


def _holding(folder: Folder, live: list[MemoryState]) -> Iterator[str]:
    """Yield what holds, by topic.

    Topics of several memories come first, each under its heading; the others follow.

    Args:
        folder: whose memories.
        live: those outside the archive, the newest first.
    """
    topics: dict[str, list[str]] = {}
    holding = [state for state in live if _holds(state)]
    for state in holding[:MAX_ROWS]:
        rows = topics.setdefault(_topic(folder, state), [])
        rows.append(_row(folder, state.path, state.date))
    single = [topic for topic in topics if len(topics[topic]) == 1]
    shared = sorted(topics.keys() - set(single))
    for topic in shared:
        yield f"<li><h3>{_text(topic)}</h3></li>"
        yield from topics[topic]
    if shared and single:
        yield "<li><h3>Other</h3></li>"
    for topic in sorted(single):
        yield from topics[topic]


def _holds(state: MemoryState) -> bool:
    """Return whether a memory tells how things stand, and not what happened.

    A lesson is among them.
    Nothing that has ended, or that another memory has replaced, does.
    """
    if state.kind not in DISTILLED:
        return False
    return not (state.front.get("kind") or state.is_past)


def _topic(folder: Folder, state: MemoryState) -> str:
    """Return a memory's first tag, else what it links first, else its kind.

    Args:
        folder: whose memory it is.
        state: how it stands.
    """
    for tag in state.front.get("tags", []):
        return str(tag)
    memory = folder.find(state.path)
    link = LINK.search(memory.body) if memory else None
    return link[1] if link else state.kind


def _coming(folder: Folder, live: list[MemoryState], today: dt.date) -> Iterator[str]:
    """Yield what facts and notes tell of the days from today on, soonest first.

    Args:
        folder: whose memories.
        live: those outside the archive.
        today: the first of these days.
    """
    others = OWN_KINDS - {Kind.FACTS}
    plans = {state.path for state in live if state.kind not in others}
    days = DayRange(today.toordinal(), dt.date.max.toordinal())
    for event in timeline(folder, plans, days)[:MAX_ROWS]:
        yield _line(event.day(), event.text, f"{event.path}:{event.line}")


def _fading(folder: Folder, live: list[MemoryState], today: dt.date) -> Iterator[str]:
    """Yield what the next sweeps archive unless it is recalled, soonest first.

    Behind the day is drawn how much of it is left.

    Args:
        folder: whose memories.
        live: those outside the archive.
        today: the day from which it is counted.
    """
    threshold = config.of(folder).threshold
    fading = []
    for state in live:
        left = state.days_left(threshold, today)
        if left is not None and state.strength:
            retention = state.strength.retention
            fading.append((day_after(today, left), state.path, retention))
    for day, path, retention in sorted(fading)[:MAX_ROWS]:
        yield _row(folder, path, f'{day}<meter value="{retention:.2f}"></meter>')


def _row(folder: Folder, path: str, day: dt.date | str | None) -> str:
    """Return the row of a memory.

    It shows the first passage, of a conversation the title; of a file that has gone
    meanwhile the path alone.

    Args:
        folder: whose memory it is.
        path: of its file.
        day: what stands before it, its own day or another, as HTML.
    """
    memory = folder.find(path)
    if memory is None:
        return _line(day, "", path)
    if memory.kind == Kind.SESSIONS or not memory.passages:
        return _line(day, memory.title, path)
    first = memory.passages[0]
    return _line(day, plain(first.text), f"{path}:{first.line}")


# -- HTML ------------------------------------------------------------------------------


def _text(said: str) -> str:
    """Return memory text as HTML that keeps its direction to itself.

    Whatever it holds stays text; a long one is cut.
    """
    shown = html.escape(one_line(said, MAX_TEXT_CHARS))
    return f"<bdi>{shown}</bdi>"


def _line(day: dt.date | str | None, text: str, place: str) -> str:
    """Return a row as HTML: the day, what is told of it, and where that stands.

    Args:
        day: as HTML, or None for nothing.
        text: what is told, in a line.
        place: the path, perhaps with a line.
    """
    when = f"<time>{day or ''}</time>"
    return f"<li>{when} {_text(text)} <code>{_text(place)}</code></li>\n"
