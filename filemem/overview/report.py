"""One page on a user's memories: who, what holds, what comes, what was said, what fades.

It is one HTML file without scripts that loads nothing, and follows from the files and
the day alone. Lists are cut, so that ten thousand memories fit on it.
"""

import base64
import datetime as dt
import hashlib
import html
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

from filemem.forget.sweep import MemoryState, day_after, memory_states
from filemem.overview.events import Event, timeline
from filemem.store import config, files
from filemem.store.facts import plain
from filemem.store.folder import Folder, Progress, no_progress
from filemem.store.memory import SOURCE_MARK, Memory, parse
from filemem.store.paths import PROFILE
from filemem.text.dayrange import DayRange
from filemem.text.plain import LINK, counted, one_line

GENERATOR = "filemem report"
MAX_FACTS = 300
MAX_TALKS = 100
MAX_COMING = 50
MAX_FADING = 20
MAX_TEXT_CHARS = 400
_OTHER = "Other"
_FORBIDDEN = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
"""What no document may hold, even spelt as a reference."""
_BULLET = re.compile(r"\s*(?:[-*+]|#{1,6})\s+")


@dataclass(frozen=True)
class _ReportRow:
    """One line of the page: when, what, and where it stands."""

    when: str
    text: str
    place: str


def page(
    folder: Folder, now: dt.datetime, progress: Progress = no_progress
) -> tuple[str, int]:
    """Return the page as of `now`, and how many memories there are."""
    today = now.date()
    states = sorted(memory_states(folder, today, progress), key=_newest_first)
    live = [state for state in states if not state.archived]
    archived = len(states) - len(live)
    name = _text(folder.name)
    counts = counted(len(live), "live memory", "live memories")
    parts = [
        f"<header><h1>{name}</h1><p>{counts}, {archived:,} archived, "
        f"as of {today}</p></header>",
        _section("Who", _who(folder)),
        _section("What holds", _topics(folder, live)),
        _section("What comes", _rows(_coming(folder, today), "Nothing is planned.")),
        _section(
            "What was talked about", _rows(_talks(folder, states), "Nothing yet.")
        ),
        _section("What fades", _fading(folder, live, today)),
        f"<footer><p>Written by {GENERATOR}. filemem status says why something fades; "
        "filemem list shows all.</p></footer>",
    ]
    head = _head(f"{folder.name}, {today}")
    body = "\n".join(parts)
    text = f'<!DOCTYPE html>\n<html lang="en">{head}<body>\n{body}\n</body></html>\n'
    return text, len(states)


def is_our_page(place: str) -> bool:
    """Return whether the file there is a page of this module."""
    if os.path.islink(place) or not os.path.isfile(place):
        return False
    mark = f'<meta name="generator" content="{GENERATOR}"'
    return mark.encode() in files.read(place, 2_000)


# -- what stands on it -----------------------------------------------------------------


def _newest_first(state: MemoryState) -> tuple[int, str]:
    return -state.date.toordinal() if state.date else 0, state.path


def _who(folder: Folder) -> str:
    """Return profile.md, its headings and lines without what they rest on."""
    profile = folder.find(PROFILE)
    parts = []
    for line in profile.body.split("\n") if profile else ():
        shown = plain(SOURCE_MARK.sub("", line)).rstrip()
        if shown:
            tag = "h3" if shown.startswith("#") else "p"
            parts.append(f"<{tag}>{_text(_BULLET.sub('', shown, count=1))}</{tag}>")
    return "\n".join(parts) or "<p>There is no profile yet.</p>"


def _topics(folder: Folder, live: list[MemoryState]) -> str:
    """Return the facts and lessons that hold, newest first, under their topics."""
    topics: dict[str, list[_ReportRow]] = {}
    holding = [state for state in live if _holds(state)]
    for state in holding[:MAX_FACTS]:
        memory = folder.find(state.path) or parse(state.path, b"")
        topics.setdefault(_topic(memory), []).append(
            _row(memory, str(state.date or ""))
        )
    others = topics.pop(_OTHER, None)
    if others:
        topics[_OTHER] = others
    parts = [f"<h3>{_text(topic)}</h3>{_rows(rows)}" for topic, rows in topics.items()]
    if len(holding) > MAX_FACTS:
        parts.append(f"<p>And {len(holding) - MAX_FACTS:,} more.</p>")
    return "\n".join(parts) or "<p>Nothing is known yet.</p>"


def _holds(state: MemoryState) -> bool:
    """Return whether a memory tells how things stand, and not what happened."""
    if state.kind not in ("facts", "lessons") or state.has_ended:
        return False
    return not any(map(state.front.get, ("kind", "superseded_by")))


def _topic(memory: Memory) -> str:
    """Return a memory's first tag, else the first name that it links to."""
    if memory.kind == "lessons":
        return "How to talk"
    tags = memory.metadata.get("tags")
    if tags:
        return str(tags if isinstance(tags, str) else tags[0])
    for passage in memory.passages:
        link = LINK.search(passage.text)
        if link:
            return link[1]
    return _OTHER


def _coming(folder: Folder, today: dt.date) -> list[_ReportRow]:
    days = DayRange(today.toordinal(), dt.date.max.toordinal())
    events = timeline(folder, lambda path: path.startswith("facts/"), days)
    to_come = [event for event in events if event.date >= today]
    return [_event_row(event) for event in to_come[:MAX_COMING]]


def _event_row(event: Event) -> _ReportRow:
    return _ReportRow(event.day(), event.text, f"{event.path}:{event.line}")


def _talks(folder: Folder, states: list[MemoryState]) -> list[_ReportRow]:
    """Return the last conversations by their titles, newest first."""
    rows = []
    talks = [state for state in states if state.kind == "sessions"]
    for state in talks[:MAX_TALKS]:
        memory = folder.find(state.path) or parse(state.path, b"")
        rows.append(_ReportRow(str(state.date or ""), memory.title, state.path))
    return rows


def _fading(folder: Folder, live: list[MemoryState], today: dt.date) -> str:
    """Return the curve, and what the next sweeps archive unless it is recalled."""
    threshold = config.of(folder).threshold
    fading = []
    for state in live:
        left = state.days_left(threshold, today)
        if left is not None and state.strength:
            fading.append((left, state.path, state.strength.retention))
    fading.sort()
    rows = []
    for left, path, _ in fading[:MAX_FADING]:
        memory = folder.find(path) or parse(path, b"")
        rows.append(_row(memory, str(day_after(today, left))))
    drawn = _curve(threshold, [retention for *_, retention in fading[:MAX_FADING]])
    return drawn + _rows(rows, "Nothing fades: what is known holds until replaced.")


def _curve(threshold: float, retentions: list[float]) -> str:
    """Return the forgetting curve as one line, with a dot for each that fades.

    Across is the time without recall in stabilities, down to the threshold.
    """
    end = -math.log(threshold)

    def point(retention: float) -> tuple[float, float]:
        across = -math.log(max(threshold, retention)) / end
        return 10 + 580 * across, 10 + 80 * (1 - retention)

    steps = [point(threshold ** (step / 40)) for step in range(41)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in steps)
    dots = ""
    for retention in retentions:
        x, y = point(retention)
        dots += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    told = (
        "Retention falls as exp(-t/S) with the time t without recall; "
        f"under {threshold:.0%} a memory is archived. A recall makes S larger."
    )
    return (
        f'<figure><svg viewBox="0 0 600 100" role="img" aria-label="{told}">'
        f'<polyline points="{line}"/>{dots}</svg>'
        f"<figcaption>{told} A dot: what fades next.</figcaption></figure>"
    )


def _row(memory: Memory, when: str) -> _ReportRow:
    """Return the row of a memory's first passage."""
    for passage in memory.passages[:1]:
        text = plain(" ".join(passage.text.split()))
        if passage.speaker:
            text = f"{passage.speaker}: {text}"
        return _ReportRow(when, text, f"{memory.path}:{passage.line}")
    return _ReportRow(when, memory.path, memory.path)


# -- HTML ------------------------------------------------------------------------------


def _text(said: str) -> str:
    """Return memory text as HTML that keeps its direction to itself."""
    visible = _FORBIDDEN.sub(
        "\N{REPLACEMENT CHARACTER}", one_line(said, MAX_TEXT_CHARS)
    )
    return f"<bdi>{html.escape(visible)}</bdi>"


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>\n{content}</section>"


def _rows(rows: Iterable[_ReportRow], empty: str = "") -> str:
    """Return a list of rows, or a sentence if there are none."""
    items = [
        f"<li><time>{row.when}</time> {_text(row.text)} <code>{_text(row.place)}</code></li>"
        for row in rows
    ]
    if not items:
        return f"<p>{empty}</p>"
    return "<ul>\n" + "\n".join(items) + "\n</ul>"


def _head(title: str) -> str:
    """Return a head that forbids all but the one style sheet, whatever a text holds."""
    style = (resources.files("filemem.data") / "report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    name = html.escape(_FORBIDDEN.sub("", one_line(title)))
    return (
        '<head><meta charset="utf-8"/>'
        f'<meta name="generator" content="{GENERATOR}"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{name}</title><style>{style}</style></head>"
    )
