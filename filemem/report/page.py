"""The page of a report: one HTML file that needs nothing else, no script and no network, on a screen or on paper."""

import base64
import hashlib
from collections.abc import Iterable
from importlib import resources

from filemem.report import Report, charts
from filemem.report.markup import Html, Node, element, joined
from filemem.status import SOON, Kind

GENERATOR = "filemem report"
MOST_PROBLEMS, MOST_SUMMARIES, MOST_KINDS = 100, 60, 20


def page(report: Report) -> str:
    """The whole page. The same report gives the same page, byte for byte."""
    style = (resources.files("filemem.report") / "report.css").read_text(encoding="utf-8")
    parts = {
        "timeline": ("When the memories are of", _timeline(report)),
        "fading": ("How they fade", _fading(report)),
        "archive": ("What was put away", _archive(report)),
        "names": ("Names that are linked", _names(report)),
        "problems": ("Problems", _problems(report)),
    }
    menu = joined(element("a", title, href=f"#{name}") for name, (title, _) in parts.items())
    body = [
        element("header", *_header(report), element("nav", menu, aria_label="Sections")),
        element("main", *(_section(name, title, nodes) for name, (title, nodes) in parts.items())),
        element("footer", element("p", f"Written by {GENERATOR} from {report.user}'s files as of {report.today}.")),
    ]
    document = element("html", _head(report, style), element("body", *body), lang="en")
    return f"<!doctype html>\n{document}\n"


def ours(beginning: str) -> bool:
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


def _section(name: str, title: str, nodes: Iterable[Node]) -> Html:
    return element("section", element("h2", title), *nodes, id=name)


def _p(*said: Node) -> Html:
    return element("p", *said)


def _figure(picture: Html, *caption: Node) -> Html:
    return element("figure", element("div", picture, class_="wide"), element("figcaption", *caption))


def _table(caption: str, heads: list[str], rows: Iterable[Iterable[Node]]) -> Html:
    """A table whose first cell of each row is its head; `#` before a column's head says that it has numbers or dates."""
    named = [head.removeprefix("#") for head in heads]
    kinds = [{"class_": "number"} if head.startswith("#") else {} for head in heads]
    top = [element("th", head, scope="col", **kind) for head, kind in zip(named, kinds, strict=True)]
    body = []
    for first, *others in rows:
        cells = [element("td", cell, **kind) for cell, kind in zip(others, kinds[1:], strict=True)]
        body.append(element("tr", element("th", first, scope="row"), *cells))
    parts = [element("caption", caption), element("thead", element("tr", *top)), element("tbody", *body)]
    return element("div", element("table", *parts), class_="wide")


def _count(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _size(count: int) -> str:
    """Bytes as `filemem status` says them."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _path(path: str) -> Html:
    return element("code", element("bdi", path))


def _memory(title: str, path: str) -> Html:
    """A memory by what it says, with its path."""
    return joined([element("bdi", title), _path(path)], " ")


def _more(count: int, shown: int, how: str) -> list[Html]:
    """A word about what a table leaves out."""
    return [_p(f"And {count - shown:,} more; {how} lists all.")] if count > shown else []


# -- counts ------------------------------------------------------------------------------------------------------


def _header(report: Report) -> list[Html]:
    """Who, when, the figures at a glance, and the counts and sizes by kind."""
    total = _total(report.status.kinds.values())
    figures = [
        ("live", f"{total.live:,}", _size(total.live_bytes)),
        ("archived", f"{total.archived:,}", _size(total.archived_bytes)),
        ("tokens in every prompt", f"{sum(report.status.prompt_tokens.values()):,}", "before a word is said"),
        (f"fade within {SOON} days", f"{len(report.status.fading):,}", f"{report.going:,} at the next sweep"),
        ("problems", f"{len(report.problems):,}", "in the files"),
    ]
    glance = element(
        "dl",
        *(
            element("div", element("dt", name), element("dd", element("b", figure), element("span", note)))
            for name, figure, note in figures
        ),
    )
    title = element("h1", element("bdi", report.user), " ", element("small", f"memories as of {report.today}"))
    return [title, glance, element("div", _kinds(report.status.kinds), class_="medium")]


def _total(kinds: Iterable[Kind]) -> Kind:
    found = list(kinds)
    return Kind(*map(sum, zip(*found, strict=True))) if found else Kind(0, 0, 0, 0)


def _kinds(kinds: dict[str, Kind]) -> Html:
    """The counts and sizes by kind; folders beyond the largest twenty are added up."""
    largest = sorted(kinds, key=lambda name: (-kinds[name].live - kinds[name].archived, name))[:MOST_KINDS]
    rows = [(name, kinds[name]) for name in sorted(largest)]
    if len(kinds) > len(rows):
        rest = _total(kind for name, kind in kinds.items() if name not in largest)
        rows.append((_count(len(kinds) - len(rows), "other folder"), rest))
    rows.append(("all", _total(kinds.values())))
    heads = ["Kind", "#Live", "#Size", "#Archived", "#Size"]
    cells = (
        [name, f"{kind.live:,}", _size(kind.live_bytes), f"{kind.archived:,}", _size(kind.archived_bytes)]
        for name, kind in rows
    )
    return _table("Counts and sizes by kind", heads, cells)


# -- the sections ------------------------------------------------------------------------------------------------


def _timeline(report: Report) -> list[Html]:
    times = report.timeline
    if not times.bins:
        return [_p("There is no dated memory yet.")]
    spans = {1: "month", 3: "quarter", 12: "year"}.get(times.step, f"{times.step // 12} years")
    undated = f" Without a date, and left out: {times.undated:,}." if times.undated else ""
    caption = _figure(
        charts.timeline(times),
        element("span", "live", class_="key live"),
        element("span", "archived", class_="key gone"),
        f" A bar is a {spans}; each row has its own scale, and the figure at its highest bar.{undated}",
    )
    rows = [
        [times.name(place), *(f"{live:,} + {gone:,}" if live or gone else "" for live, gone in pairs)]
        for place, pairs in enumerate(zip(*times.bins.values(), strict=True))
        if any(map(any, pairs))
    ]
    table = _table("Live + archived memories", ["From", *(f"#{kind}" for kind in times.bins)], rows)
    return [caption, element("details", element("summary", "The same in figures"), table)]


def _fading(report: Report) -> list[Html]:
    found = [*_curves(report), *_spread(report)]
    count = len(report.status.fading)
    already = sum(day <= report.today for day, _ in report.status.fading)
    if not count:
        return [*found, _p(f"Nothing fades within {SOON} days.")]
    heads = ["Memory", "#Importance", "#Retention", "#Fades on", "#Then"]
    caption = f"What fades within {SOON} days: {count:,}, of which {already:,} have already"
    rows: Iterable[list[Node]] = (
        [
            _memory(row.title, row.path),
            row.importance,
            f"{row.retention:.2f}",
            str(row.ends) if row.ends > report.today else "already",
            row.fate,
        ]
        for row in report.fading
    )
    return [*found, _table(caption, heads, rows), *_more(count, len(report.fading), "filemem status --json")]


def _curves(report: Report) -> list[Html]:
    """The curves of what fades soonest, and of the strongest."""
    pinned, limit = _pinned(report), f"{report.threshold:g}"
    found = [_p(f"What never fades: {pinned}.")] if pinned and not report.soonest else []
    told = f"Retention without a further recall. Under {limit} the next sweep archives a memory; a flag names one, with the"
    told += " day on which it falls there, and in brackets how many more do alike."
    if report.soonest:
        picture = charts.curves("soonest", report.soonest, report.today, report.threshold, pinned)
        found.append(_figure(picture, told))
    if report.strongest:
        picture = charts.curves("strongest", report.strongest, report.today, report.threshold)
        found.append(_figure(picture, "The same of the strongest; an arrow stands for a day beyond the right edge."))
    return found


def _spread(report: Report) -> list[Html]:
    """How retention is spread, and what is exempt."""
    staying = ", ".join(f"{count:,} {reason}" for reason, count in sorted(report.status.staying.items()))
    exempt = f"Not fading: {staying}." if staying else ""
    count = sum(report.status.spread)
    if not count:
        return [_p(exempt)] if exempt else []
    told = f"Retention of the {_count(count, 'live memory that fades', 'live memories that fade')}. {exempt}"
    return [element("div", _figure(charts.spread(report.status.spread), told), class_="narrow")]


def _pinned(report: Report) -> str:
    """What never fades, for the line at the top."""
    count = report.status.staying.get("pinned", 0)
    if not count:
        return ""
    more = f" and {count - len(report.pinned):,} more" if count > len(report.pinned) else ""
    return f"pinned: {'; '.join(report.pinned)}{more}"


def _archive(report: Report) -> list[Html]:
    """When what was moved, and which summaries stand for what."""
    found: list[Html] = []
    if report.moved:
        heads = ["When", "#Faded", "#Compacted", "#Of these back"]
        rows = ([row.when, *(f"{count:,}" if count else "" for count in row[1:])] for row in report.moved)
        found.append(element("div", _table("Moved to the archive by a job", heads, rows), class_="medium"))
    if report.latest:
        rows = (
            [_memory(row.title, row.path), row.when, _path(row.summary) if row.summary else "faded"]
            for row in report.latest
        )
        found.append(_table("Put away last", ["Memory", "#When", "Why"], rows))
    if report.unlogged:
        told = _count(report.unlogged, "archived memory stands", "archived memories stand")
        found.append(_p(f"{told} in no log: put there by hand, or on a machine whose log did not come along."))
    if report.summaries:
        heads = ["Summary", "#Sources", "#Compacted on", "#From", "#To", "#Share"]
        rows = (
            [
                _path(row.path),
                f"{row.sources:,}",
                row.when or "by hand",
                _size(row.before),
                _size(row.after),
                f"{100 * row.after / row.before:.0f} %" if row.before else "",
            ]
            for row in report.summaries[:MOST_SUMMARIES]
        )
        found.append(_table("Summaries and what they stand for", heads, rows))
        found += _more(len(report.summaries), MOST_SUMMARIES, 'filemem list "summaries/**"')
    return found or [_p("Nothing has been archived or compacted yet.")]


def _names(report: Report) -> list[Html]:
    web = report.web
    if not web.names:
        return [_p("No memory links a name yet; write one in double brackets, as in [[Porto]], and it stands here.")]
    heads = ["Name", "#Memories", "Stands with"]
    rows = (
        [
            element("bdi", name.label),
            f"{name.files:,}",
            joined((element("bdi", near) for near in web.near(place)), ", "),
        ]
        for place, name in enumerate(web.names)
    )
    caption = f"The {len(web.names)} names in most memories" if web.total > len(web.names) else "Names by memories"
    told = f"{_count(web.total, 'name')} in all. A line joins two names that stand in one memory, the stronger the more often."
    return [element("div", _figure(charts.ring(web), told), _table(caption, heads, rows), class_="beside")]


def _problems(report: Report) -> list[Html]:
    if not report.problems:
        return [_p("None. Every file can be read as it is meant.")]
    rows = (
        [_path(f"{problem.path}:{problem.line}"), problem.what, problem.remedy]
        for problem in report.problems[:MOST_PROBLEMS]
    )
    table = _table("What is wrong, and how to put it right", ["Where", "What", "Remedy"], rows)
    return [table, *_more(len(report.problems), MOST_PROBLEMS, "filemem check")]
