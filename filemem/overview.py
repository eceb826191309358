"""Overviews for a person: every problem in the files, how many memories there are, what happened when, and one page to read.

The page is one HTML file that needs nothing else, no script and no network, on a screen or on paper. Everything follows from the
files, the logs of the jobs and the day: the same page for the same. Lists are cut, so that a page on ten thousand memories is as
long as one on some hundreds.
"""

import base64
import contextlib
import datetime as dt
import hashlib
import html
import itertools
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from typing import Any, NamedTuple

from filemem.chat import Conversation
from filemem.errors import FilememError, Problem
from filemem.files import config, journal, safe, transcript
from filemem.files.facts import plain
from filemem.files.folder import BOOKKEEPING, Folder, JobDone, Progress, no_progress
from filemem.files.memory import (
    IMPORTANCE,
    LARGEST,
    NAMELESS,
    PROFILE,
    REFERENCE,
    SOURCE_MARK,
    Memory,
    Passage,
    archived,
    live,
)
from filemem.forgetting.deletion import FORGOTTEN, MARK
from filemem.forgetting.sweeper import (
    MemoryStatus,
    Strength,
    after,
    days_until,
    standings,
)
from filemem.models.offline import OfflineModel
from filemem.text.dates import Span, mentioned, nearest, one_day
from filemem.text.plain import count_tokens, counted, escape_controls, one_line
from filemem.tools.grep import lines_of

# -- problems ----------------------------------------------------------------------------------------------------------

_COPY = re.compile(
    r"(?P<stem>.+?)(?:\.sync-conflict-[\w-]+| \([^()]*(?:conflicted copy|case conflict|冲突)[^()]*\))(?P<end>\.\w+)$",
    re.IGNORECASE,
)


def problems(folder: Folder, progress: Progress = no_progress) -> list[Problem]:
    """The problems of every memory and of what lies among them, by path and line."""
    paths = folder.paths()
    lengths: dict[str, int | None] = dict.fromkeys(paths)
    found = [*folder.strays(), *_beside(folder)]
    for done, path in enumerate(paths, 1):
        if match := _COPY.match(path):
            what = "a copy that a program for sharing files made where two machines had changed it"
            remedy = f"bring both together in {one_line(match['stem'] + match['end'])}, then delete this one"
            found.append(Problem(path, 1, what, remedy))
        try:
            memory = Memory(path, folder.read(path, LARGEST + 1))
            found += [*memory.problems, *_references(folder, memory, lengths)]
        except (FilememError, OSError) as error:
            found.append(
                Problem(
                    path,
                    1,
                    str(error).rstrip("."),
                    "put its permissions right, or delete it",
                )
            )
        progress(done, len(paths))
    return sorted(found)


def _beside(folder: Folder) -> Iterator[Problem]:
    """What is wrong with the bookkeeping, and what its logs say is amiss: a forgetting that was killed, turns that an editor has
    saved over."""
    place = folder.bookkeeping()
    if os.path.lexists(place) and (os.path.islink(place) or not os.path.isdir(place)):
        yield Problem(
            BOOKKEEPING,
            1,
            "this is not a folder, so nothing can be kept here",
            "rename it",
        )
    with contextlib.suppress(FilememError):
        if os.path.lexists(folder.bookkeeping(MARK)):
            remedy = "give the same filemem forget again, which finishes it"
            yield Problem(
                f"{BOOKKEEPING}/{MARK}", 1, "a forgetting was cut off", remedy
            )
    for path, gone in transcript.lost(folder).items():
        first = one_line(gone[0].partition(": ")[2], 60)
        count = counted(len(gone), "turn that was kept is", "turns that were kept are")
        mine = f"if you deleted them yourself, delete {BOOKKEEPING}/{journal.SAID}"
        remedy = f"put back with filemem restore {one_line(path)}, or {mine}"
        yield Problem(
            path,
            1,
            f"{count} not in it any more, saved over by an editor perhaps: {first}",
            remedy,
        )


def _references(
    folder: Folder, memory: Memory, lengths: dict[str, int | None]
) -> Iterator[Problem]:
    """The paths that a memory's front matter, or a line of the profile, names and that lead nowhere, in the archive either;
    `lengths` has the lines of each memory, as far as they have been counted."""

    def wrong(entry: str) -> str:
        match = REFERENCE.match(entry)
        if not match:
            return "is not a path"
        named = (match["path"], live(match["path"]), archived(match["path"]))
        where = next((path for path in named if path in lengths), None)
        if where is None:
            return "does not exist"
        if not match["line"]:
            return ""
        try:
            count = lengths[where] = lengths[where] or len(lines_of(folder, where))
        except (FilememError, OSError):
            return "cannot be read"
        return "" if 1 <= int(match["line"]) <= count else f"has only {count} lines"

    for key in ("source", "supersedes", "superseded_by"):
        value = memory.particular(key)
        for entry in map(
            str, value if isinstance(value, list) else [] if value is None else [value]
        ):
            if entry != NAMELESS and (fault := wrong(entry)):
                what = f"{key} names {one_line(entry, 80)}, which {fault}"
                yield Problem(
                    memory.path,
                    memory.line_of(key),
                    what,
                    "correct the path, or remove the key",
                )
    if memory.path == PROFILE:
        for number, line in enumerate(memory.lines, 1):
            mark = SOURCE_MARK.search(line)
            if mark and (fault := wrong(mark[1])):
                what = f"the line rests on {one_line(mark[1], 80)}, which {fault}"
                remedy = "correct the path, or delete the line"
                yield Problem(PROFILE, number, what, remedy)


# -- how many memories there are, and what fades -----------------------------------------------------------------------

SOON = 30  # days
MOST = 12  # lines of what fades


def status(
    folder: Folder,
    now: dt.datetime,
    progress: Progress = no_progress,
    *,
    brief: bool = False,
) -> JobDone:
    """How the memories stand now; `brief`: in one line.

    `kinds` counts the live and the archived memories of each kind, and their bytes; `fading` are the days and paths of what
    falls under the threshold within SOON days, soonest first; `staying` counts by reason what does not fade."""
    kinds, staying, fading = (
        dict[str, dict[str, int]](),
        Counter[str](),
        list[tuple[dt.date, str]](),
    )
    today, threshold = now.date(), config.of(folder).threshold
    for one in standings(folder, today, progress):
        kind = kinds.setdefault(
            one.kind, {"live": 0, "live_bytes": 0, "archived": 0, "archived_bytes": 0}
        )
        where = "archived" if one.archived else "live"
        kind[where] += 1
        kind[f"{where}_bytes"] += one.size
        if one.archived:
            continue
        if one.reason:
            staying[one.reason] += 1
        elif one.strength:
            left = math.ceil(one.strength.left(threshold, today))
            if left <= SOON:
                fading.append((today + dt.timedelta(max(0, left)), one.path))
    system = Conversation(folder, OfflineModel(), lambda: now).view().system
    tokens = {name: count_tokens(text) for name, text in system}
    told = {
        "kinds": dict(sorted(kinds.items())),
        "prompt_tokens": tokens,
        "fading": sorted(fading),
        "staying": staying,
    }
    alive, archived = (
        sum(kind[key] for kind in kinds.values()) for key in ("live", "archived")
    )
    counts = f"{alive:,} live, {archived:,} archived, {len(fading):,} fading within {SOON} days"
    return JobDone("", [counts] if brief else [*_in_words(told)], told)


def _in_words(found: dict[str, Any]) -> Iterator[str]:
    """The status as lines for a terminal."""
    for name, kind in found["kinds"].items():
        kept = (
            f", {kind['archived']:,} archived ({kind['archived_bytes'] / 1000:,.1f} kB)"
            if kind["archived"]
            else ""
        )
        yield f"{name:<10} {kind['live']:>7,} live ({kind['live_bytes'] / 1000:,.1f} kB){kept}"
    parts = ", ".join(
        f"{name} {count:,}" for name, count in found["prompt_tokens"].items()
    )
    yield f"In every prompt: {sum(found['prompt_tokens'].values()):,} tokens ({parts})."
    fading, staying = found["fading"], sorted(found["staying"].items())
    yield from ("", f"Fading within {SOON} days: {len(fading):,}.")
    yield from (f"  {day}  {path}" for day, path in fading[:MOST])
    if len(fading) > MOST:
        yield f"  and {len(fading) - MOST:,} more; --json lists them all."
    if staying:
        yield f"Not fading: {', '.join(f'{count:,} {reason}' for reason, count in staying)}."


# -- what happened when ------------------------------------------------------------------------------------------------

_DAY = re.compile(
    r"\d|[一二三四五六七八九十][日号]"
)  # "at Christmas" and "in May" say too little of a day
LONGEST_TOLD = 2_000  # characters of a passage that say what happened
LONGEST_SPAN = (
    31  # days of a span that dates an event; "in 2023" says too little of a day
)


class Event(NamedTuple):
    """What a memory tells of the days from `date` to `end`; `until` is the day on which it ceased to hold."""

    date: dt.date
    end: dt.date
    until: dt.date | None
    text: str
    path: str
    line: int
    archived: bool

    def day(self) -> str:
        """The day as a timeline shows it: `2026-05-08`, or `2026-05` for a whole month."""
        whole = (
            self.date.day == 1 and (self.end + dt.timedelta(1)).day == 1 < self.end.day
        )
        return f"{self.date:%Y-%m}" if whole else f"{self.date}"


def timeline(
    folder: Folder, wanted: Callable[[str], bool], days: tuple[int, int] | None = None
) -> list[Event]:
    """The events of the memories whose path is `wanted`, within some days, given as ordinals, if any; oldest first."""
    found = [
        event
        for path in folder.paths()
        if wanted(path)
        for event in _events(folder, path)
    ]
    if days:
        first, last = map(dt.date.fromordinal, days)
        found = [event for event in found if event.end >= first and event.date <= last]
    return sorted(
        found, key=lambda event: (event.date, event.end, event.path, event.line)
    )


def _events(folder: Folder, path: str) -> Iterator[Event]:
    """The first passage of a memory that was not forgotten as an event; none where it has no date at all, or cannot be read."""
    memory = folder.find(path)
    passage = (
        next((one for one in memory.passages if one.text != FORGOTTEN), None)
        if memory
        else None
    )
    if memory is None or passage is None or memory.date is None:
        return
    until = memory.particular("valid_until")
    text = plain(one_line(passage.text, LONGEST_TOLD))
    text = f"{passage.speaker}: {text}" if passage.speaker else text
    span = _told_of(memory, passage, passage.day or memory.date)
    yield Event(span.start, span.end, until, text, path, passage.line, memory.archived)


def _told_of(memory: Memory, passage: Passage, day: dt.date) -> Span:
    """The days that a memory tells of: since when it holds, else its event's, else the first date that it names, else its own. An
    event lasts as long as the date in the text that begins on its day."""
    since, event = memory.particular("valid_from"), memory.particular("day")
    if since or memory.kind == "sessions":
        return one_day(since or day)
    text = passage.text[:LONGEST_TOLD]
    named = (
        nearest(mention, day)
        for mention in mentioned(text, day)
        if mention.annotated
        or (not mention.relative and _DAY.search(text, mention.start, mention.end))
    )
    short = (span for span in named if (span.end - span.start).days <= LONGEST_SPAN)
    return next(
        (span for span in short if event in (None, span.start)), one_day(event or day)
    )


# -- one page to read --------------------------------------------------------------------------------------------------

DRAWN = (3, 5, 7)  # the importances whose curves are drawn
FACTS, EVENTS, ARCHIVED, FADING = (
    300,
    100,
    60,
    20,
)  # rows at most, of what holds, happened, is archived, fades
CHANGES = (
    "kind",
    "valid_from",
    "valid_until",
    "superseded_by",
)  # front matter of what happened on a day
GENERATOR = "filemem report"
_MARK = re.compile(
    r"(?:\s*([-*+]|#{1,6})\s)?\s*"
)  # with which a list item or a heading begins, if it is one
_FORBIDDEN = re.compile(
    "[\ufdd0-\ufdef\ufffe\uffff]"
)  # what no document may hold, even spelt as a reference


class Html(str):
    """Markup, which is put in as it is; what is none is text, and is escaped where it is put in."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str) -> Html:
    """One element. In names of attributes `_` stands for `-`, a last one for nothing (`class_`)."""

    def text(node: str) -> str:
        safe = _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", escape_controls(node))
        return node if isinstance(node, Html) else html.escape(safe)

    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
    )
    return Html(
        f"<{name}{given}/>"
        if name == "meta"
        else f"<{name}{given}>{''.join(map(text, children))}</{name}>"
    )


def _bdi(said: str) -> Html:
    """Memory text, which keeps its direction to itself."""
    return element("bdi", one_line(said, 400))


def _table(
    caption: str,
    heads: list[str],
    rows: Iterable[Iterable[str]],
    count: int = 0,
    how: str = "",
    none: str = "",
) -> list[Html]:
    """A table, the last column of which is paths; `#` before a column's head says that it has dates. Of more than its rows a word
    on how to see them all; without rows `none`."""
    kinds = [{"class_": "date"} if head.startswith("#") else {} for head in heads]
    top = [
        element("th", head.lstrip("#"), scope="col", **kind)
        for head, kind in zip(heads, kinds, strict=True)
    ]
    body = list[Html]()
    for *cells, path in rows:
        last = element("code", element("bdi", path))
        shown = zip([*cells, last], kinds, strict=True)
        body.append(element("tr", *(element("td", one, **kind) for one, kind in shown)))
    parts = [
        element("caption", caption),
        element("thead", element("tr", *top)),
        element("tbody", *body),
    ]
    more = (
        [element("p", f"And {count - len(body):,} more; {how} lists all.")]
        if count > len(body)
        else []
    )
    table = [element("div", element("table", *parts), class_="wide")] if body else []
    return [*table, *more] or [element("p", none)] * bool(none)


def page(
    folder: Folder, now: dt.datetime, progress: Progress = no_progress
) -> tuple[str, int]:
    """The whole page as of `now`, and how many memories it is on; `progress` is told the files checked, which takes longest."""
    today = now.date()
    found = sorted(
        standings(folder, today),
        key=lambda one: (-one.date.toordinal() if one.date else 0, live(one.path)),
    )
    threshold = config.of(folder).threshold
    fading = sorted(
        (one.strength.left(threshold, today), one.path, one.strength)
        for one in found
        if one.strength and not one.archived and not one.reason
    )
    archived = [one for one in found if one.archived]
    figures = {
        "live": len(found) - len(archived),
        "archived": len(archived),
        f"fade within {SOON} days": sum(math.ceil(left) <= SOON for left, *_ in fading),
        "problems in the files": (wrong := len(problems(folder, progress))),
    }
    parts = {
        "profile": ("Profile", _profile(folder)),
        "facts": ("What holds", _facts(folder, found)),
        "timeline": ("What happened when", _happened(folder, found)),
        "fading": ("What fades, and when", _fading(folder, fading, today)),
        "archive": ("What was archived, and why", _archived(folder, archived)),
    }
    menu = [element("a", title, href=f"#{name}") for name, (title, _) in parts.items()]
    glance = (
        element("div", element("dt", name), element("dd", f"{count:,}"))
        for name, count in figures.items()
    )
    title = element(
        "h1",
        element("bdi", folder.name),
        " ",
        element("small", f"memories as of {today}"),
    )
    hint = (
        [element("p", "filemem check lists the problems, each with its remedy.")]
        if wrong
        else []
    )
    content = [
        element("section", element("h2", title), *nodes, id=name)
        for name, (title, nodes) in parts.items()
    ]
    body = [
        element(
            "header",
            title,
            element("dl", *glance),
            *hint,
            element("nav", *menu, aria_label="Sections"),
        ),
        element("main", *content),
        element(
            "footer",
            element(
                "p", f"Written by {GENERATOR} from {folder.name}'s files as of {today}."
            ),
        ),
    ]
    text = element(
        "html",
        _head(f"{folder.name}'s memories, {today}"),
        element("body", *body),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{text}\n", len(found)


def is_our_page(place: str) -> bool:
    """Is the file there a page of this module?"""
    ours = os.path.isfile(place) and not os.path.islink(place)
    return (
        ours
        and f'<meta name="generator" content="{GENERATOR}"'.encode()
        in safe.read(place, 2_000)
    )


def _head(title: str) -> Html:
    """The head forbids all but the one style sheet, whatever a memory's text may hold."""
    style = (resources.files("filemem.data") / "report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="generator", content=GENERATOR),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}"/>'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Html(style)),
    )


def _first(folder: Folder, path: str) -> tuple[Memory, Html, str]:
    """A memory, what its first passage says, and where that stands; its path where it cannot be read."""
    memory = folder.find(path) or Memory(path, b"")
    passage = next(iter(memory.passages), Passage(1, 1, "", "", path))
    said = plain(" ".join(passage.text.split()))
    return (
        memory,
        _bdi(f"{passage.speaker}: {said}" if passage.speaker else said),
        f"{path}:{passage.line}",
    )


def _profile(folder: Folder) -> list[Html]:
    """profile.md: its headings, lists and paragraphs; without the marks of what a line rests on."""
    profile, found = folder.find(PROFILE), list[Html]()
    lines = profile.body.split("\n") if profile else ()
    shown = filter(None, (plain(SOURCE_MARK.sub("", line)).rstrip() for line in lines))
    for kind, group in itertools.groupby(
        shown, key=lambda line: _MARK.findall(line)[0][:1]
    ):
        said = [_bdi(_MARK.sub("", line, count=1)) for line in group]
        if kind and kind != "#":
            found.append(element("ul", *(element("li", line) for line in said)))
        else:
            found += [element("h3" if kind else "p", line) for line in said]
    return found or [element("p", "There is no profile yet.")]


def _facts(folder: Folder, found: list[MemoryStatus]) -> list[Html]:
    """The live facts and lessons that tell how things stand, the newest first: what is known of the person, and how to talk."""
    holding = [
        one.path
        for one in found
        if one.kind in ("facts", "lessons") and not one.archived
        if not any(map(one.particulars.get, ("kind", "superseded_by"))) and not one.over
    ]
    rows: dict[str, list[list[str]]] = {"facts": [], "lessons": []}
    for memory, said, where in (_first(folder, path) for path in holding[:FACTS]):
        days = (
            memory.particular("valid_from") or memory.date or "",
            memory.particular("valid_until") or "",
        )
        rows[memory.kind].append([said, *map(str, days), where])
    heads, more = (
        ["Memory", "#Since", "#Until", "Where"],
        len(holding) - len(rows["lessons"]),
    )
    facts = _table(
        "Facts",
        heads,
        rows["facts"],
        more,
        'filemem list "facts/**"',
        "Nothing is known yet.",
    )
    return [*facts, *_table("How to talk", heads, rows["lessons"])]


def _happened(folder: Folder, found: list[MemoryStatus]) -> list[Html]:
    """Events, plans and changes, newest first."""
    happened = [
        one
        for one in found
        if one.kind == "facts" and any(map(one.particulars.get, CHANGES))
    ]
    wanted = {one.path for one in happened[:EVENTS]}
    events = timeline(folder, wanted.__contains__)[::-1]
    rows = (
        [one.day(), str(one.until or ""), _bdi(one.text), f"{one.path}:{one.line}"]
        for one in events
    )
    heads, none = ["#When", "#Until", "Memory", "Where"], "Nothing that has a day yet."
    return _table(
        "Events, plans and changes",
        heads,
        rows,
        len(happened),
        "filemem timeline",
        none,
    )


def _fading(
    folder: Folder, fading: list[tuple[float, str, Strength]], today: dt.date
) -> list[Html]:
    """The curve; what the sweep archives next, unless it is recalled, and when."""
    drawn = _curve(config.of(folder), [strength for *_, strength in fading[:FADING]])
    shown = [(left, _first(folder, path)) for left, path, _ in fading[:FADING]]
    rows = (
        [said, str(after(today, max(0, math.ceil(left)))), where]
        for left, (_, said, where) in shown
    )
    caption, none = (
        "What fades next, unless it is recalled",
        "Nothing fades: what is known holds until replaced.",
    )
    return [
        drawn,
        *_table(
            caption,
            ["Memory", "#On", "Where"],
            rows,
            len(fading),
            "filemem status",
            none,
        ),
    ]


def _curve(shape: config.Config, next_: list[Strength]) -> Html:
    """How retention falls without recall, by importance, down to the threshold; a dot for each of those that fade next."""
    until = {
        worth: days_until(shape.stability_days * worth / IMPORTANCE, shape.threshold)
        for worth in DRAWN
    }
    end, least = max(until.values()), shape.threshold

    def at(days: float, left: float) -> list[str]:
        return (
            f"{32 + 320 * min(days, end) / end:.1f} {10 + 150 * (1 - left):.1f}".split()
        )

    def line(*points: tuple[float, float], **how: str) -> Html:
        return element(
            "path", d="M" + " L".join(" ".join(at(*point)) for point in points), **how
        )

    drawn = [
        line((0, 1), (0, 0), (end, 0), class_="axis"),
        line((0, least), (end, least), class_="threshold"),
    ]
    drawn += [
        line(*((days * n / 40, least ** (n / 40)) for n in range(41)))
        for days in until.values()
    ]
    labels = [
        (days, place, said)
        for n, days in until.items()
        for place, said in ((least, str(n)), (0, f"{days:.0f}"))
    ]
    for days, place, said in [*labels, (0, 1, "100%"), (0, least, f"{least:.0%}")]:
        x, y = at(days, place)
        drawn.append(
            element(
                "text", said, x=x, y=y, dy="-5" if place else "14", text_anchor="end"
            )
        )
    drawn += [
        element("circle", cx=x, cy=y, r="3")
        for x, y in (at(one.days, one.retention) for one in next_)
    ]
    told = (
        f"Retention R = exp(-t/S) of what fades, by the days t without recall, for importance {', '.join(map(str, DRAWN))}; "
        f"under {least:.0%} it is archived. A recall begins the curve anew, and makes it flatter."
    )
    picture = element("svg", *drawn, viewBox="0 0 360 182", role="img", aria_label=told)
    return element(
        "figure",
        picture,
        element("figcaption", told + " A dot: what fades next." * bool(next_)),
    )


def _archived(folder: Folder, archived: list[MemoryStatus]) -> list[Html]:
    """What the archive holds, put away last first, and why each memory is there."""
    summarised = journal.compacted(folder)

    def why(one: MemoryStatus) -> str:
        if by := one.particulars.get("superseded_by"):
            return f"superseded by {by}"
        compacted = summarised.get(live(one.path))
        if compacted:
            return f"summarised in {compacted.summary}"
        return "not recalled for long" if one.trail.archived else "put there by hand"

    when = {one.path: one.trail.archived[:10] for one in archived}
    latest = sorted(archived, key=lambda one: when[one.path], reverse=True)[:ARCHIVED]
    rows = (
        [_first(folder, path)[1], when[path], why(one), path]
        for one in latest
        for path in [one.path]
    )
    caption, how = "In the archive, where it still answers", 'filemem list "archive/**"'
    return _table(
        caption,
        ["Memory", "#Since", "Why", "Where"],
        rows,
        len(archived),
        how,
        "Nothing is in the archive.",
    )
