"""The page of a report: one HTML file that needs nothing else, no script and no network, on a screen or on paper."""

import base64
import hashlib
import html
import itertools
import re
from collections.abc import Iterable
from importlib import resources

from filemem.overview.report.contents import Chart, Report, ShownFact
from filemem.overview.status import SOON
from filemem.text.plain import escape_controls, one_line

GENERATOR = "filemem report"
WIDTH, TALL, BAR, LABEL = 960, 140, 26, 64  # of the chart: its size, a bar's width at most, what a label needs


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
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items())
    if name in _ALONE:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{''.join(map(text, children))}</{name}>")


def joined(nodes: Iterable[Node]) -> Html:
    """Some nodes in a row."""
    return Html("".join(map(text, nodes)))


def text(node: Node) -> Html:
    """A node as markup: text escaped, a fraction with one decimal place at most."""
    if isinstance(node, Html):
        return node
    if isinstance(node, float):
        return Html(f"{node:.1f}".removesuffix(".0"))
    return Html(html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", escape_controls(str(node)))))


# -- the page --------------------------------------------------------------------------------------------------------------


def page(report: Report) -> str:
    """The whole page. The same report gives the same page, byte for byte."""
    style = (resources.files("filemem.overview.report") / "report.css").read_text(encoding="utf-8")
    parts = {
        "profile": ("Profile", _profile(report)),
        "facts": ("What holds", _facts(report)),
        "timeline": ("What happened when", _timeline(report)),
        "faded": ("What faded, and why", _faded(report)),
    }
    menu = joined(element("a", title, href=f"#{name}") for name, (title, _) in parts.items())
    sections = [element("section", element("h2", title), *nodes, id=name) for name, (title, nodes) in parts.items()]
    body = [
        element("header", *_header(report), element("nav", menu, aria_label="Sections")),
        element("main", *sections),
        element("footer", element("p", f"Written by {GENERATOR} from {report.user}'s files as of {report.today}.")),
    ]
    document = element("html", _head(report, style), element("body", *body), lang="en")
    return f"<!doctype html>\n{document}\n"


def is_our_page(beginning: str) -> bool:
    """Does a file that begins so look like a page of this module?"""
    return f'<meta name="generator" content="{GENERATOR}">' in beginning


def _head(report: Report, style: str) -> Html:
    """The head forbids all but the one style sheet, whatever a memory's text may hold."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="generator", content=GENERATOR),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{report.user}'s memories, {report.today}"),
        element("style", Html(style)),
    )


def _p(*said: Node) -> Html:
    return element("p", *said)


def _bdi(said: str) -> Html:
    """Memory text, which keeps its direction to itself."""
    return element("bdi", one_line(said, 400))


def _path(path: str) -> Html:
    return element("code", element("bdi", path))


def _table(caption: str, heads: list[str], rows: Iterable[Iterable[Node]]) -> Html:
    """A table; `#` before a column's head says that it has dates."""
    kinds = [{"class_": "date"} if head.startswith("#") else {} for head in heads]
    top = [element("th", head.lstrip("#"), scope="col", **kind) for head, kind in zip(heads, kinds, strict=True)]
    body = (
        element("tr", *(element("td", cell, **kind) for cell, kind in zip(row, kinds, strict=True))) for row in rows
    )
    parts = [element("caption", caption), element("thead", element("tr", *top)), element("tbody", *body)]
    return element("div", element("table", *parts), class_="wide")


def _more(count: int, shown: int, how: str) -> list[Html]:
    """A word about what is left out."""
    return [_p(f"And {count - shown:,} more; {how} lists all.")] if count > shown else []


def _header(report: Report) -> list[Html]:
    """Who, when, the figures at a glance."""
    figures = {
        "live": report.live,
        "archived": report.archived,
        f"fade within {SOON} days": report.fading_soon,
        "problems in the files": report.problems,
    }
    glance = (element("div", element("dt", name), element("dd", f"{count:,}")) for name, count in figures.items())
    title = element("h1", element("bdi", report.user), " ", element("small", f"memories as of {report.today}"))
    hint = [_p("filemem check lists the problems, each with its remedy.")] if report.problems else []
    return [title, element("dl", *glance), *hint]


def _profile(report: Report) -> list[Html]:
    """profile.md: its headings, lists and paragraphs; its first heading is the page's own."""
    found: list[Html] = []
    for kind, lines in itertools.groupby(filter(None, report.profile), key=lambda line: line[:1] in "-*+#" and line[0]):
        said = [line.lstrip("-*+# ") for line in lines]
        if kind == "#":
            found += [element("h3", _bdi(line)) for line in said if line]
        elif kind:
            found.append(element("ul", *(element("li", _bdi(line)) for line in said)))
        else:
            found += [_p(_bdi(line)) for line in said]
    return found or [_p("There is no profile yet.")]


def _facts(report: Report) -> list[Html]:
    heads = ["Memory", "#Since", "#Until", "Where"]
    found = [_table(topic, heads, map(_row, facts)) for topic, facts in report.topics.items()]
    shown = sum(map(len, report.topics.values()))
    return [*found, *_more(report.holding, shown, 'filemem list "facts/**"')] or [_p("Nothing is known yet.")]


def _row(fact: ShownFact) -> list[Node]:
    return [_bdi(fact.text), str(fact.day or ""), str(fact.until or ""), _path(fact.where)]


def _timeline(report: Report) -> list[Html]:
    """The one picture, and below it what happened, newest first."""
    found = [_chart(report.chart)] if report.chart.bins else [_p("There is no dated memory yet.")]
    if report.events:
        rows = (
            [event.day(), str(event.until or ""), _bdi(event.text), _path(f"{event.path}:{event.line}")]
            for event in report.events
        )
        found.append(_table("Events, plans and changes", ["#When", "#Until", "Memory", "Where"], rows))
    return [*found, *_more(report.happened, len(report.events), "filemem timeline")]


def _faded(report: Report) -> list[Html]:
    found: list[Html] = []
    if report.fading:
        rows = ([_bdi(fact.text), str(max(day, report.today)), _path(fact.where)] for day, fact in report.fading)
        found.append(_table("What fades next, unless it is recalled", ["Memory", "#On", "Where"], rows))
        found += _more(report.fading_soon, len(report.fading), "filemem status --json")
    if report.faded:
        gone: Iterable[list[Node]] = ([_bdi(g.text), g.when, g.why, _path(g.path)] for g in report.faded)
        found.append(_table("In the archive, where it still answers", ["Memory", "#Since", "Why", "Where"], gone))
        found += _more(report.archived, len(report.faded), 'filemem list "archive/**"')
    return found or [_p("Nothing has faded, and nothing is going to soon.")]


def _chart(chart: Chart) -> Html:
    """A bar for each month: what is live, and what is archived on top of it."""
    wide = WIDTH / len(chart.bins)
    top = max(map(sum, chart.bins))
    thick = min(BAR, max(2.0, wide - 2))
    parts = [element("line", x1=0, x2=WIDTH, y1=TALL, y2=TALL, class_="base")]
    for place, (live, gone) in enumerate(chart.bins):
        x, y = (place + 0.5) * wide - thick / 2, float(TALL)
        shapes = [element("title", f"{chart.name(place)}: {live:,} live, {gone:,} archived")]
        for class_, count in (("live", live), ("gone", gone)):
            height = (TALL - 20) * count / top
            y -= height
            shapes += [element("rect", x=x, y=y, width=thick, height=height, class_=class_)] if count else []
        parts.append(element("g", *shapes))
    for place in range(0, len(chart.bins), max(1, int(LABEL // wide) + (wide < LABEL))):
        parts.append(element("text", chart.name(place), x=(place + 0.5) * wide, y=TALL + 18, text_anchor="middle"))
    told = f"Memories by date from {chart.name(0)} to {chart.name(len(chart.bins) - 1)}, {top:,} at the highest bar."
    box = f"0 0 {WIDTH} {TALL + 28}"
    picture = element(
        "svg", element("title", told, id="chart"), *parts, viewBox=box, role="img", aria_labelledby="chart"
    )
    spans = {1: "month", 3: "quarter", 12: "year"}.get(chart.step, f"{chart.step // 12} years")
    undated = f" Without a date, and left out: {chart.undated:,}." if chart.undated else ""
    keys = [element("span", name, class_=f"key {name}") for name in ("live", "archived")]
    caption = element("figcaption", *keys, f" A bar is a {spans}, {top:,} memories at the highest.{undated}")
    return element("figure", element("div", picture, class_="wide"), caption)
