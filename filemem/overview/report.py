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
import os
import re
from collections.abc import Iterable
from importlib import resources

from filemem.errors import FilememError
from filemem.files import config, journal, safe
from filemem.files.facts import plain
from filemem.files.folder import Folder, Progress, no_progress
from filemem.files.memory import IMPORTANCE, LARGEST, PROFILE, SOURCE_MARK, Memory, Passage, live
from filemem.forgetting.sweeper import YOUNG, MemoryStatus, Strength, after, days_until, standings
from filemem.overview import check, timeline
from filemem.overview.status import SOON
from filemem.text.plain import escape_controls, one_line

DRAWN = (3, 5, 7)  # the importances whose curves are drawn
FACTS, EVENTS, ARCHIVED, FADING = 300, 100, 60, 20  # rows at most, of what holds, happened, is archived, fades
CHANGES = ("kind", "valid_from", "valid_until", "superseded_by")  # front matter of what happened on a day
GENERATOR = "filemem report"
_FORBIDDEN = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")  # what no document may hold, even spelt as a reference


class Html(str):
    """Markup, which is put in as it is; what is none is text, and is escaped where it is put in."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str) -> Html:
    """One element. In names of attributes `_` stands for `-`, a last one for nothing (`class_`)."""

    def text(node: str) -> str:
        safe = _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", escape_controls(node))
        return node if isinstance(node, Html) else html.escape(safe)

    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{given}/>" if name == "meta" else f"<{name}{given}>{''.join(map(text, children))}</{name}>")


def _bdi(said: str) -> Html:
    """Memory text, which keeps its direction to itself."""
    return element("bdi", one_line(said, 400))


def _table(
    caption: str, heads: list[str], rows: Iterable[Iterable[str]], count: int = 0, how: str = "", none: str = ""
) -> list[Html]:
    """A table, the last column of which is paths; `#` before a column's head says that it has dates. Of more than its rows a word
    on how to see them all; without rows `none`."""
    kinds = [{"class_": "date"} if head.startswith("#") else {} for head in heads]
    top = [element("th", head.lstrip("#"), scope="col", **kind) for head, kind in zip(heads, kinds, strict=True)]
    body = list[Html]()
    for *cells, path in rows:
        last = element("code", element("bdi", path))
        body.append(
            element("tr", *(element("td", one, **kind) for one, kind in zip([*cells, last], kinds, strict=True)))
        )
    parts = [element("caption", caption), element("thead", element("tr", *top)), element("tbody", *body)]
    more = [element("p", f"And {count - len(body):,} more; {how} lists all.")] if count > len(body) else []
    table = [element("div", element("table", *parts), class_="wide")] if body else []
    return [*table, *more] or [element("p", none)] * bool(none)


def page(folder: Folder, now: dt.datetime, progress: Progress = no_progress) -> tuple[str, int]:
    """The whole page as of `now`, and how many memories it is on; `progress` is told the files checked, which takes longest."""
    today = now.date()
    found = sorted(standings(folder, today), key=lambda one: (-one.date.toordinal() if one.date else 0, live(one.path)))
    threshold = config.of(folder).threshold
    fading = sorted(
        (one.strength.left(threshold, today), one.path, one.strength)
        for one in found
        if one.strength and not one.archived and one.reason in ("", YOUNG)
    )
    archived = [one for one in found if one.archived]
    figures = {
        "live": len(found) - len(archived),
        "archived": len(archived),
        f"fade within {SOON} days": sum(math.ceil(left) <= SOON for left, *_ in fading),
        "problems in the files": (wrong := len(check.problems(folder, progress))),
    }
    parts = {
        "profile": ("Profile", _profile(folder)),
        "facts": ("What holds", _facts(folder, found)),
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
    text = element("html", _head(f"{folder.name}'s memories, {today}"), element("body", *body), lang="en")
    return f"<!DOCTYPE html>\n{text}\n", len(found)


def is_our_page(place: str) -> bool:
    """Is the file there a page of this module?"""
    ours = os.path.isfile(place) and not os.path.islink(place)
    return ours and f'<meta name="generator" content="{GENERATOR}"'.encode() in safe.read(place, 2_000)


def _head(title: str) -> Html:
    """The head forbids all but the one style sheet, whatever a memory's text may hold."""
    style = (resources.files("filemem.overview") / "report.css").read_text(encoding="utf-8")
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
    """A memory, what its first passage says, and where that stands; one that cannot be read says why."""
    try:
        memory = Memory(path, folder.read(path, LARGEST))
        passage = next(iter(memory.passages), Passage(1, 1, "", "", path))
    except (FilememError, OSError) as error:
        memory, passage = Memory(path, b""), Passage(1, 1, "", "", str(error))
    said = plain(" ".join(passage.text.split()))
    return memory, _bdi(f"{passage.speaker}: {said}" if passage.speaker else said), f"{path}:{passage.line}"


def _profile(folder: Folder) -> list[Html]:
    """profile.md: its headings, lists and paragraphs; without the marks of what a line rests on."""
    try:
        lines = folder.memory(PROFILE).lines
    except FilememError:
        lines = []
    found: list[Html] = []
    shown = filter(None, (plain(SOURCE_MARK.sub("", line)).rstrip() for line in lines))
    for kind, group in itertools.groupby(shown, key=lambda line: line[:1] in "-*+#" and line[0]):
        said = [_bdi(line.lstrip("-*+# ")) for line in group]
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
        days = (memory.particular("valid_from") or memory.date or "", memory.particular("valid_until") or "")
        rows[memory.kind].append([said, *map(str, days), where])
    heads, more = ["Memory", "#Since", "#Until", "Where"], len(holding) - len(rows["lessons"])
    facts = _table("Facts", heads, rows["facts"], more, 'filemem list "facts/**"', "Nothing is known yet.")
    return [*facts, *_table("How to talk", heads, rows["lessons"])]


def _happened(folder: Folder, found: list[MemoryStatus]) -> list[Html]:
    """Events, plans and changes, newest first."""
    happened = [one for one in found if one.kind == "facts" and any(map(one.particulars.get, CHANGES))]
    wanted = {one.path for one in happened[:EVENTS]}
    events = timeline.timeline(folder, wanted.__contains__)[::-1]
    rows = ([one.day(), str(one.until or ""), _bdi(one.text), f"{one.path}:{one.line}"] for one in events)
    heads, none = ["#When", "#Until", "Memory", "Where"], "Nothing that has a day yet."
    return _table("Events, plans and changes", heads, rows, len(happened), "filemem timeline", none)


def _fading(folder: Folder, fading: list[tuple[float, str, Strength]], today: dt.date) -> list[Html]:
    """The curve; what the sweep archives next, unless it is recalled, and when."""
    drawn = _curve(config.of(folder), [strength for *_, strength in fading[:FADING]])
    shown = [(left, _first(folder, path)) for left, path, _ in fading[:FADING]]
    rows = ([said, str(after(today, max(0, math.ceil(left)))), where] for left, (_, said, where) in shown)
    caption, none = "What fades next, unless it is recalled", "Nothing fades: what is known holds until replaced."
    return [drawn, *_table(caption, ["Memory", "#On", "Where"], rows, len(fading), "filemem status", none)]


def _curve(shape: config.Config, next_: list[Strength]) -> Html:
    """How retention falls without recall, by importance, down to the threshold; a dot for each of those that fade next."""
    until = {
        importance: days_until(shape.stability_days * importance / IMPORTANCE, shape.threshold) for importance in DRAWN
    }
    end, least = max(until.values()), shape.threshold

    def at(days: float, left: float) -> list[str]:
        return f"{32 + 320 * min(days, end) / end:.1f} {10 + 150 * (1 - left):.1f}".split()

    def line(*points: tuple[float, float], **how: str) -> Html:
        return element("path", d="M" + " L".join(" ".join(at(*point)) for point in points), **how)

    drawn = [line((0, 1), (0, 0), (end, 0), class_="axis"), line((0, least), (end, least), class_="threshold")]
    drawn += [line(*((days * n / 40, least ** (n / 40)) for n in range(41))) for days in until.values()]
    labels = [(days, place, said) for n, days in until.items() for place, said in ((least, str(n)), (0, f"{days:.0f}"))]
    for days, place, said in [*labels, (0, 1, "100%"), (0, least, f"{least:.0%}")]:
        x, y = at(days, place)
        drawn.append(element("text", said, x=x, y=y, dy="-5" if place else "14", text_anchor="end"))
    drawn += [element("circle", cx=x, cy=y, r="3") for x, y in (at(one.days, one.retention) for one in next_)]
    told = (
        f"Retention R = exp(-t/S) of what fades, by the days t without recall, for importance {', '.join(map(str, DRAWN))}; "
        f"under {least:.0%} it is archived. A recall begins the curve anew, and makes it flatter."
    )
    picture = element("svg", *drawn, viewBox="0 0 360 182", role="img", aria_label=told)
    return element("figure", picture, element("figcaption", told + " A dot: what fades next." * bool(next_)))


def _archived(folder: Folder, archived: list[MemoryStatus]) -> list[Html]:
    """What the archive holds, put away last first, and why each memory is there."""
    summarised = journal.compacted(folder)

    def why(one: MemoryStatus) -> str:
        if by := one.particulars.get("superseded_by"):
            return f"superseded by {by}"
        compacted = summarised.get(live(one.path))
        if compacted and compacted.state == journal.DONE:
            return f"summarised in {compacted.summary}"
        return "not recalled for long" if one.trail.archived else "put there by hand"

    when = {one.path: one.trail.archived[:10] for one in archived}
    latest = sorted(archived, key=lambda one: when[one.path], reverse=True)[:ARCHIVED]
    rows = ([_first(folder, path)[1], when[path], why(one), path] for one in latest for path in [one.path])
    caption, how = "In the archive, where it still answers", 'filemem list "archive/**"'
    return _table(caption, ["Memory", "#Since", "Why", "Where"], rows, len(archived), how, "Nothing is in the archive.")
