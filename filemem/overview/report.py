"""A report on a user's memories: one HTML page that needs nothing else, no script and no network, on a screen or on paper.

Everything follows from the files, the logs of the jobs and the day: the same page for the same. Lists are cut, so that a page on
ten thousand memories is as long as one on some hundreds.
"""

import base64
import datetime as dt
import hashlib
import html
import itertools
import math
import re
from collections.abc import Iterable
from importlib import resources

from filemem.errors import FilememError
from filemem.files import archive, config, sections
from filemem.files.archive import Progress, no_progress
from filemem.files.facts import plain
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, PROFILE, SOURCE_MARK, Memory
from filemem.files.passages import Passage
from filemem.files.sections import Compacted
from filemem.forgetting.sweeper import YOUNG, MemoryStatus, after, curve, standings
from filemem.overview import check, timeline
from filemem.overview.status import SOON
from filemem.text.plain import escape_controls, one_line
from filemem.text.retention import IMPORTANCE, Curve, Strength, days_until, retention

DRAWN = (3, 5, 7)  # the importances whose curves are drawn
FACTS, EVENTS, ARCHIVED, FADING = 300, 100, 60, 20  # rows at most, of what holds, happened, is archived, fades
CHANGES = ("kind", "valid_from", "valid_until", "superseded_by")  # front matter of what happened on a day
GENERATOR = "filemem report"
_HEAD = 20_000  # bytes of a file in which its first words are looked for

# -- markup: what is none by type is text, and is escaped where it is put in -----------------------------------------------

_ALONE = frozenset({"meta"})  # elements without an end
# What no HTML document may hold, even spelt as a reference: the non-characters of Unicode.
_FORBIDDEN = re.compile(
    "[\ufdd0-\ufdef" + "".join(chr(n << 16 | 0xFFFE) + chr(n << 16 | 0xFFFF) for n in range(17)) + "]"
)


class Html(str):
    """Markup, which is put in as it is."""

    __slots__ = ()


Node = str | int | float
"""Markup, or text or a number that becomes text."""


def element(name: str, /, *children: Node, **attributes: Node) -> Html:
    """One element. In names of attributes `_` stands for `-`, a last one for nothing (`class_`)."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{_text(value)}"' for key, value in attributes.items())
    if name in _ALONE:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{''.join(map(_text, children))}</{name}>")


def _text(node: Node) -> Html:
    """A node as markup: text escaped, a fraction with one decimal place at most."""
    if isinstance(node, Html):
        return node
    if isinstance(node, float):
        return Html(f"{node:.1f}".removesuffix(".0"))
    return Html(html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", escape_controls(str(node)))))


def _bdi(said: str) -> Html:
    """Memory text, which keeps its direction to itself."""
    return element("bdi", one_line(said, 400))


def _path(path: str) -> Html:
    return element("code", element("bdi", path))


def _table(caption: str, heads: list[str], rows: Iterable[Iterable[Node]]) -> Html:
    """A table; `#` before a column's head says that it has dates or numbers."""
    kinds = [{"class_": "date"} if head.startswith("#") else {} for head in heads]
    top = [element("th", head.lstrip("#"), scope="col", **kind) for head, kind in zip(heads, kinds, strict=True)]
    body = (
        element("tr", *(element("td", cell, **kind) for cell, kind in zip(row, kinds, strict=True))) for row in rows
    )
    parts = [element("caption", caption), element("thead", element("tr", *top)), element("tbody", *body)]
    return element("div", element("table", *parts), class_="wide")


def _more(count: int, shown: int, how: str) -> list[Html]:
    """A word about what is left out."""
    return [element("p", f"And {count - shown:,} more; {how} lists all.")] if count > shown else []


# -- the page --------------------------------------------------------------------------------------------------------------


def page(folder: Folder, now: dt.datetime, progress: Progress = no_progress) -> tuple[str, int]:
    """The whole page as of `now`, and how many memories it is on; `progress` is told the files checked, which takes longest."""
    today = now.date()
    found = sorted(standings(folder, today), key=lambda one: (-one.entry.date, archive.live(one.entry.path)))
    threshold = curve(config.of(folder)).threshold
    fading = [
        (one.strength.left(threshold, today), one)
        for one in found
        if one.strength and not one.entry.archived and one.reason in ("", YOUNG)
    ]
    fading.sort(key=lambda pair: (pair[0], pair[1].entry.path))
    archived = [one for one in found if one.entry.archived]
    figures = {
        "live": len(found) - len(archived),
        "archived": len(archived),
        f"fade within {SOON} days": sum(math.ceil(left) <= SOON for left, _ in fading),
        "problems in the files": (wrong := len(check.problems(folder, progress))),
    }
    parts = {
        "profile": ("Profile", _profile(folder)),
        "facts": ("What holds", _facts(folder, [one for one in found if _holds(one, today)])),
        "timeline": ("What happened when", _happened(folder, found)),
        "fading": ("What fades, and when", _fading(folder, fading, today)),
        "archive": ("What was archived, and why", _archived(folder, archived)),
    }
    menu = [element("a", title, href=f"#{name}") for name, (title, _) in parts.items()]
    glance = (element("div", element("dt", name), element("dd", f"{count:,}")) for name, count in figures.items())
    title = element("h1", element("bdi", folder.name), " ", element("small", f"memories as of {today}"))
    hint = [element("p", "filemem check lists the problems, each with its remedy.")] if wrong else []
    content = [element("section", element("h2", title), *nodes, id=name) for name, (title, nodes) in parts.items()]
    body = [
        element("header", title, element("dl", *glance), *hint, element("nav", *menu, aria_label="Sections")),
        element("main", *content),
        element("footer", element("p", f"Written by {GENERATOR} from {folder.name}'s files as of {today}.")),
    ]
    head = _head(f"{folder.name}'s memories, {today}")
    return f"<!doctype html>\n{element('html', head, element('body', *body), lang='en')}\n", len(found)


def is_our_page(beginning: str) -> bool:
    """Does a file that begins so look like a page of this module?"""
    return f'<meta name="generator" content="{GENERATOR}">' in beginning


def _head(title: str) -> Html:
    """The head forbids all but the one style sheet, whatever a memory's text may hold."""
    style = (resources.files("filemem.overview") / "report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="generator", content=GENERATOR),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Html(style)),
    )


def _first(folder: Folder, path: str, most: int = _HEAD) -> tuple[Memory, Passage]:
    """A memory and its first passage; one that cannot be read says why."""
    try:
        memory = Memory(path, folder.read(path, most))
        return memory, next(iter(memory.passages), Passage(1, 1, "", "", path))
    except (FilememError, OSError) as error:
        return Memory(path, b""), Passage(1, 1, "", "", str(error))


def _said(passage: Passage) -> Html:
    """What a passage says, and who says it, on one line."""
    said = plain(" ".join(passage.text.split()))
    return _bdi(f"{passage.speaker}: {said}" if passage.speaker else said)


# -- the person, and what holds --------------------------------------------------------------------------------------------


def _profile_lines(folder: Folder) -> list[str]:
    try:
        return folder.memory(PROFILE).lines
    except FilememError:
        return []


def _profile(folder: Folder) -> list[Html]:
    """profile.md: its headings, lists and paragraphs; without the marks of what a line rests on."""
    found: list[Html] = []
    shown = filter(None, (plain(SOURCE_MARK.sub("", line)).rstrip() for line in _profile_lines(folder)))
    for kind, lines in itertools.groupby(shown, key=lambda line: line[:1] in "-*+#" and line[0]):
        said = [line.lstrip("-*+# ") for line in lines]
        if kind == "#":
            found += [element("h3", _bdi(line)) for line in said if line]
        elif kind:
            found.append(element("ul", *(element("li", _bdi(line)) for line in said)))
        else:
            found += [element("p", _bdi(line)) for line in said]
    return found or [element("p", "There is no profile yet.")]


def _holds(one: MemoryStatus, today: dt.date) -> bool:
    """Is it a live fact or lesson that tells how things stand today?"""
    told = one.entry.particulars
    if (
        one.entry.archived
        or one.entry.kind not in ("facts", "lessons")
        or told.get("kind")
        or told.get("superseded_by")
    ):
        return False
    return not "" < told.get("valid_until", "") < str(today)


def _facts(folder: Folder, holding: list[MemoryStatus]) -> list[Html]:
    """What holds, the newest first: what is known of the person, and how to talk with them."""
    found: list[Html] = []
    shown = [_first(folder, one.entry.path, LARGEST) for one in holding[:FACTS]]
    for kind, caption in (("facts", "Facts"), ("lessons", "How to talk")):
        rows: list[list[Node]] = [
            [
                _said(passage),
                str(memory.particular("valid_from") or memory.date or ""),
                str(memory.particular("valid_until") or ""),
                _path(f"{memory.path}:{passage.line}"),
            ]
            for memory, passage in shown
            if memory.kind == kind
        ]
        found += [_table(caption, ["Memory", "#Since", "#Until", "Where"], rows)] if rows else []
    return [*found, *_more(len(holding), len(shown), 'filemem list "facts/**"')] or [
        element("p", "Nothing is known yet.")
    ]


# -- what happened, fades and is archived ------------------------------------------------------------------------------------


def _happened(folder: Folder, found: list[MemoryStatus]) -> list[Html]:
    """Events, plans and changes, newest first."""
    happened = [one for one in found if one.entry.kind == "facts" and any(map(one.entry.particulars.get, CHANGES))]
    wanted = {one.entry.path for one in happened[:EVENTS]}
    events = timeline.timeline(folder, wanted.__contains__)[::-1]
    rows = (
        [event.day(), str(event.until or ""), _bdi(event.text), _path(f"{event.path}:{event.line}")] for event in events
    )
    shown = [_table("Events, plans and changes", ["#When", "#Until", "Memory", "Where"], rows)] if events else []
    return [*shown, *_more(len(happened), len(events), "filemem timeline")] or [
        element("p", "Nothing that has a day yet.")
    ]


def _fading(folder: Folder, fading: list[tuple[float, MemoryStatus]], today: dt.date) -> list[Html]:
    """The curve; what the sweep archives next, unless it is recalled, and when."""
    drawn = _curve(curve(config.of(folder)), [one.strength for _, one in fading[:FADING] if one.strength])
    if not fading:
        return [element("p", "Nothing fades: what is known holds until something replaces it."), drawn]
    rows: list[list[Node]] = []
    for left, one in fading[:FADING]:
        memory, passage = _first(folder, one.entry.path)
        day = after(today, max(0, math.ceil(left)))
        rows.append([_said(passage), str(day), _path(f"{memory.path}:{passage.line}")])
    shown = _table("What fades next, unless it is recalled", ["Memory", "#On", "Where"], rows)
    return [drawn, shown, *_more(len(fading), len(rows), "filemem status")]


def _curve(shape: Curve, next_: list[Strength]) -> Html:
    """How retention falls without recall, by importance, down to the threshold; a dot for each of those that fade next."""
    stabilities = {importance: shape.stability * importance / IMPORTANCE for importance in DRAWN}
    end = days_until(stabilities[max(DRAWN)], shape.threshold)
    wide, high = 320, 150  # of the field, in the drawing's units

    def at(days: float, left: float) -> str:
        return f"{32 + wide * min(days, end) / end:.1f} {10 + high * (1 - left):.1f}"

    def label(days: float, left: float, said: str, **how: Node) -> Html:
        x, y = at(days, left).split()
        return element("text", said, x=x, y=y, **how)

    drawn = [element("path", d=f"M{at(0, 1)} V{10 + high} H{32 + wide}", class_="axis")]
    drawn += [element("path", d=f"M{at(0, shape.threshold)} H{32 + wide}", class_="threshold")]
    for importance, stability in stabilities.items():
        until = days_until(stability, shape.threshold)
        points = (at(until * n / 40, retention(until * n / 40, stability)) for n in range(41))
        drawn.append(element("path", d="M" + " L".join(points)))
        drawn.append(label(until, shape.threshold, str(importance), dy=-5, text_anchor="end"))
        drawn.append(label(until, 0, f"{until:.0f}", dy=14, text_anchor="end"))
    drawn += [label(0, left, f"{left:.0%}", dx=-4, dy=4, text_anchor="end") for left in (1.0, shape.threshold)]
    for one in next_:
        x, y = at(one.days, one.retention).split()
        drawn.append(element("circle", cx=x, cy=y, r=3))
    told = (
        f"Retention R = exp(-t/S) of what fades, by the days t without recall, for importance {', '.join(map(str, DRAWN))}; "
        f"under {shape.threshold:.0%} it is archived. A recall begins the curve anew, and makes it flatter."
    )
    picture = element("svg", *drawn, viewBox=f"0 0 {wide + 40} {high + 32}", role="img", aria_label=told)
    return element("figure", picture, element("figcaption", told + " A dot: what fades next." * bool(next_)))


def _archived(folder: Folder, archived: list[MemoryStatus]) -> list[Html]:
    """What the archive holds, put away last first, and why each memory is there."""
    summarised = sections.compacted(folder)
    when = {one.entry.path: one.trail.archived[:10].decode(errors="replace") for one in archived}
    latest = sorted(archived, key=lambda one: when[one.entry.path], reverse=True)[:ARCHIVED]
    rows: list[list[Node]] = [
        [
            _said(_first(folder, one.entry.path)[1]),
            when[one.entry.path],
            _why(one, summarised.get(archive.live(one.entry.path))),
            _path(one.entry.path),
        ]
        for one in latest
    ]
    shown = (
        [_table("In the archive, where it still answers", ["Memory", "#Since", "Why", "Where"], rows)] if rows else []
    )
    more = _more(len(archived), len(rows), 'filemem list "archive/**"')
    return [*shown, *more] or [element("p", "Nothing is in the archive.")]


def _why(one: MemoryStatus, compacted: Compacted | None) -> str:
    if by := one.entry.particulars.get("superseded_by"):
        return f"superseded by {by}"
    if compacted and compacted.state == sections.DONE:
        return f"summarised in {compacted.summary}"
    return "not recalled for long" if one.trail.archived else "put there by hand"
