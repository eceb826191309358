"""One page on a user's memories.

It tells who they are, what holds, what comes, what was talked about, what fades. It is
one HTML file without scripts that loads nothing, and follows from the files and
the day alone. Each list is cut, so that ten thousand memories fit on it.
"""

import base64
import datetime as dt
import hashlib
import html
import re
from collections.abc import Iterable, Iterator
from importlib import resources

from filemem.forget.states import MemoryState, day_after, memory_states
from filemem.overview.events import timeline
from filemem.store import config
from filemem.store.facts import plain
from filemem.store.folder import Folder, Progress, no_progress
from filemem.store.memory import SOURCE_MARK
from filemem.store.paths import PROFILE
from filemem.text.dayrange import DayRange
from filemem.text.plain import LINK, counted, one_line

GENERATOR = "filemem report"
MAX_ROWS = 200
MAX_TEXT_CHARS = 400
_FORBIDDEN = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
"""What no document may hold, even spelt as a reference."""
_MARK = re.compile(r"\s*(?:[-*+]|#{1,6})\s+")


def page(folder: Folder, now: dt.datetime, progress: Progress = no_progress) -> str:
    """Return the page.

    Args:
        folder: whose memories.
        now: the moment as of which it is.
        progress: told how many memories have been looked at.
    """
    today = now.date()
    states = sorted(memory_states(folder, today, progress), key=_newest_first)
    live = [state for state in states if not state.archived]
    counts = counted(len(live), "live memory", "live memories")
    parts = [
        _head(f"{folder.person}, {today}"),
        f"<body><header><h1>{_text(folder.person)}</h1><p>{counts},"
        f" {len(states) - len(live):,} archived, as of {today}</p></header>",
        _section("Who", _who(folder)),
        _section("What holds", _holding(folder, live)),
        _section("What comes", _coming(folder, today)),
        _section("What was talked about", _talks(folder, states)),
        _section("What fades", _fading(folder, live, today)),
        f"<footer><p>Written by {GENERATOR}. filemem status PATH says why something"
        " fades; filemem list shows all.</p></footer></body>",
    ]
    body = "\n".join(parts)
    return f'<!DOCTYPE html>\n<html lang="en">{body}</html>\n'


# -- what stands on it -----------------------------------------------------------------


def _newest_first(state: MemoryState) -> tuple[int, str]:
    """Return the key by which memories are sorted: what has no date comes first."""
    age = -state.date.toordinal() if state.date else 0
    return age, state.path


def _who(folder: Folder) -> Iterator[str]:
    """Yield the lines of profile.md without what they rest on."""
    profile = folder.find(PROFILE)
    if profile is None:
        return
    for line in profile.body.split("\n"):
        told = SOURCE_MARK.sub("", line)
        shown = _MARK.sub("", plain(told), count=1).strip()
        if shown:
            yield f"<li>{_text(shown)}</li>"


def _holding(folder: Folder, live: list[MemoryState]) -> Iterator[str]:
    """Yield what holds, by topic; a topic of one memory is none."""
    topics: dict[str, list[str]] = {}
    holding = [state for state in live if _holds(state)]
    for state in holding[:MAX_ROWS]:
        rows = topics.setdefault(_topic(folder, state), [])
        rows.append(_row(folder, state.path, state.date))
    other: list[str] = []
    for topic, rows in sorted(topics.items()):
        if len(rows) == 1:
            other += rows
            continue
        yield f"<li><h3>{_text(topic)}</h3></li>"
        yield from rows
    yield from other


def _holds(state: MemoryState) -> bool:
    """Return whether a memory tells how things stand, and not what happened."""
    if state.kind not in ("facts", "lessons") or state.has_ended:
        return False
    return not (state.front.get("kind") or state.front.get("superseded_by"))


def _topic(folder: Folder, state: MemoryState) -> str:
    """Return a memory's first tag, else what it links first, else its kind."""
    for tag in state.front.get("tags", []):
        return str(tag)
    memory = folder.find(state.path)
    link = LINK.search(memory.body) if memory else None
    return link[1] if link else state.kind


def _coming(folder: Folder, today: dt.date) -> Iterator[str]:
    """Yield what is planned, or ends, from today on."""
    days = DayRange(today.toordinal(), dt.date.max.toordinal())
    events = timeline(folder, lambda path: path.startswith("facts/"), days)
    to_come = [event for event in events if event.date >= today]
    for event in to_come[:MAX_ROWS]:
        yield _line(event.day(), event.text, f"{event.path}:{event.line}")


def _talks(folder: Folder, states: list[MemoryState]) -> Iterator[str]:
    """Yield the conversations, the newest first."""
    talks = [state for state in states if state.kind == "sessions"]
    for state in talks[:MAX_ROWS]:
        yield _row(folder, state.path, state.date)


def _fading(folder: Folder, live: list[MemoryState], today: dt.date) -> Iterator[str]:
    """Yield what the next sweeps archive unless it is recalled, soonest first.

    Behind the day is drawn how much of it is left.
    """
    threshold = config.of(folder).threshold
    fading = list[tuple[dt.date, str, float]]()
    for state in live:
        left = state.days_left(threshold, today)
        if left is not None and state.strength:
            day = day_after(today, left)
            fading.append((day, state.path, state.strength.retention))
    for day, path, retention in sorted(fading)[:MAX_ROWS]:
        yield _row(folder, path, day, f'<meter value="{retention:.2f}"></meter>')


def _row(folder: Folder, path: str, day: dt.date | None, drawn: str = "") -> str:
    """Return the row of a memory.

    It shows the first passage, of a conversation the title; of a file that has gone
    meanwhile the path alone.
    """
    when = f"{day or ''}{drawn}"
    memory = folder.find(path)
    if memory is None:
        return _line(when, "", path)
    if memory.kind == "sessions" or not memory.passages:
        return _line(when, memory.title, path)
    first = memory.passages[0]
    text = plain(" ".join(first.text.split()))
    return _line(when, text, f"{path}:{first.line}")


# -- HTML ------------------------------------------------------------------------------


def _text(said: str) -> str:
    """Return memory text as HTML that keeps its direction to itself."""
    shown = _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", one_line(said, MAX_TEXT_CHARS))
    return f"<bdi>{html.escape(shown)}</bdi>"


def _line(when: str, text: str, place: str) -> str:
    """Return a row: the day, what is told of it, and where that stands."""
    shown = _text(text)
    where = _text(place)
    return f"<li><time>{when}</time> {shown} <code>{where}</code></li>"


def _section(title: str, rows: Iterable[str]) -> str:
    """Return a section of some rows, or of a sentence if there are none."""
    content = "\n".join(rows)
    if not content:
        content = "<li>Nothing yet.</li>"
    return f"<section><h2>{title}</h2>\n<ul>\n{content}\n</ul></section>"


def _head(title: str) -> str:
    """Return a head that forbids all but the one style sheet, whatever a text holds."""
    sheet = resources.files("filemem.data") / "report.css"
    style = sheet.read_text(encoding="utf-8")
    digest = hashlib.sha256(style.encode()).digest()
    source = f"'sha256-{base64.b64encode(digest).decode()}'"
    policy = f"default-src 'none'; style-src {source}"
    name = html.escape(_FORBIDDEN.sub("", one_line(title)))
    return (
        '<head><meta charset="utf-8"/>'
        f'<meta name="generator" content="{GENERATOR}"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{name}</title><style>{style}</style></head>"
    )
