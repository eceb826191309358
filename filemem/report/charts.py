"""The pictures of a report, as SVG with text that can be read, and titles that tell each part's figures.

Sizes are in the units of the view box, which are pixels where there is room. Colours are the style sheet's, by class.
"""

import datetime as dt
import itertools
import math
from collections.abc import Callable

from filemem.report import Line, Timeline
from filemem.report.links import Web
from filemem.report.markup import Html, element, short

WIDTH = 960
_ROW, _LEFT, _BAR = 58, 96, 26  # of the timeline
_PLOT, _EDGE, _LANE = 250, 44, 21  # of the curves
_RING, _RADIUS, _PAIRS = 640, 178, 150  # of the names: the box, the circle, lines at most
LEVEL = 18  # names around the circle at most whose letters stand level
_TICKS = (1, 2, 7, 14, 30, 61, 91, 182)  # days between dates on an axis


def _picture(name: str, told: str, box: str, *parts: Html) -> Html:
    """A picture in a view box, with a sentence for those who hear it; `name` are its classes."""
    own = f"{name.rpartition(' ')[2]}-title"
    title = element("title", told, id=own)
    return element("svg", title, *parts, viewBox=box, role="img", aria_labelledby=own, class_=name)


def _label(x: float, y: float, said: str, class_: str = "", **more: str) -> Html:
    return element("text", said, x=float(x), y=float(y), **({"class_": class_} if class_ else {}), **more)


def _rule(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


# -- timeline ----------------------------------------------------------------------------------------------------


def timeline(times: Timeline) -> Html:
    """A row of bars for each kind: what is live, and what is archived on top of it; each row has a scale of its own."""
    count = max(map(len, times.bins.values()))
    wide = (WIDTH - _LEFT - 28) / count
    every = next(n for n in itertools.count(1) if n * wide >= (44 if times.step >= 12 else 64))
    parts = []
    bottom = len(times.bins) * _ROW
    for place in range(0, count, every):
        x = _LEFT + (place + 0.5) * wide
        parts.append(_label(x, bottom + 20, times.name(place), "tick", text_anchor="middle"))
    for row, (kind, bins) in enumerate(times.bins.items()):
        parts.append(_bars(times, kind, bins, (row + 1) * _ROW, wide))
    first, last = times.name(0), times.name(count - 1)
    told = f"Memories by date from {first} to {last}, a row of bars for each kind: {', '.join(times.bins)}."
    return _picture("timeline", told, f"0 0 {WIDTH} {bottom + 28}", *parts)


def _bars(times: Timeline, kind: str, bins: list[tuple[int, int]], base: float, wide: float) -> Html:
    """The bars of one kind, over its line."""
    top = max(live + gone for live, gone in bins) or 1
    thick = min(_BAR, max(2.0, wide - 2))
    parts = [_label(0, base - 4, short(kind, 13), "kind"), _rule(_LEFT, base, WIDTH, base, "base")]
    peak = next(place for place, pair in enumerate(bins) if sum(pair) == top) if any(map(sum, bins)) else -1
    for place, (live, gone) in enumerate(bins):
        if not live + gone:
            continue
        x = _LEFT + (place + 0.5) * wide - thick / 2
        tall, above = (_ROW - 22) * live / top, (_ROW - 22) * gone / top
        shapes = [element("title", f"{times.name(place)}, {kind}: {live:,} live, {gone:,} archived")]
        for class_, y, height in (("live", base - tall, tall), ("gone", base - tall - above, above)):
            if height:
                shapes.append(element("rect", x=x, y=y, width=thick, height=max(0.7, height), class_=class_))
        parts.append(element("g", *shapes))
        if place == peak:
            parts.append(_label(x + thick / 2, base - tall - above - 4, f"{top:,}", "tick", text_anchor="middle"))
    return element("g", *parts)


# -- curves ------------------------------------------------------------------------------------------------------


def curves(name: str, lines: list[Line], today: dt.date, threshold: float, pinned: str = "") -> Html:
    """Retention by day, each curve with a flag where it falls under the threshold; `pinned` stands on a line at the top."""
    begin = min(today, *(line.points[0][0] for line in lines))
    end = max(today + dt.timedelta(7), *(line.points[-1][0] for line in lines))
    scale = (WIDTH - _EDGE - 32) / max(1, (end - begin).days)  # room for half a date at the right

    def across(day: dt.date) -> float:
        return _EDGE + (day - begin).days * scale

    def down(retention: float) -> float:
        return 26 + _PLOT * (1 - retention)

    parts = _frame(across(today), down, threshold, pinned)
    for days in _ticks(begin, end, today, scale):
        day = today + dt.timedelta(days)
        said, class_ = (str(day), "tick") if days else ("today", "tick now")
        parts.append(_rule(across(day), down(0), across(day), down(0) + 4, "base"))
        parts.append(_label(across(day), down(0) + 17, said, class_, text_anchor="middle"))
    for row, line in enumerate(reversed(lines)):
        path = " ".join(f"{across(day):.1f},{down(left):.1f}" for day, left in line.points)
        day, left = line.points[-1]
        lane = down(0) + 44 + row * _LANE
        shapes = [element("title", f"{_flag(line)}: falls under {threshold:g} on {line.ends}")]
        shapes.append(element("polyline", points=path, class_="curve"))
        shapes.append(_rule(across(day), down(left), across(day), lane - 4, "drop"))
        shapes.append(element("circle", cx=across(day), cy=down(left), r=3.5, class_="dot"))
        shapes.append(_landing(across(day), lane, line, beyond=line.ends > day))
        parts.append(element("g", *shapes, class_="faded" if line.ends <= today else "fading"))
    told = f"Retention of {len(lines)} groups of memories by day, from {begin} to {end}; below {threshold:g} one is archived."
    return _picture(f"curves {name}", told, f"0 0 {WIDTH} {down(0) + 44 + len(lines) * _LANE:.0f}", *parts)


def _frame(today: float, down: Callable[[float], float], threshold: float, pinned: str) -> list[Html]:
    """The axis of retention, the threshold, the line of what never fades, and the day."""
    parts = []
    for value in (0.0, 0.5, 1.0):
        parts.append(_rule(_EDGE, down(value), WIDTH, down(value), "steady" if value == 1 and pinned else "base"))
        parts.append(_label(_EDGE - 8, down(value) + 4, f"{value:g}", "tick", text_anchor="end"))
    parts.append(_rule(_EDGE, down(threshold), WIDTH, down(threshold), "threshold"))
    parts.append(_label(_EDGE - 8, down(threshold) + 4, f"{threshold:g}", "tick now", text_anchor="end"))
    parts.append(_rule(today, down(1), today, down(0), "today"))
    if pinned:
        parts.append(_label(WIDTH, down(1) - 8, short(pinned, 130), "note", text_anchor="end"))
    return parts


def _flag(line: Line) -> str:
    return line.title if line.many == 1 else f"{line.title} (and {line.many - 1:,} alike)"


def _landing(x: float, y: float, line: Line, *, beyond: bool) -> Html:
    """The date and name of a curve, beside the end of its line: to the right where there is room."""
    more = "" if line.many == 1 else f" (+{line.many - 1:,})"
    said = [element("tspan", f"{line.ends}{' →' if beyond else ''} ", class_="when"), short(line.title, 52), more]
    beside = {} if x < WIDTH * 0.52 else {"text_anchor": "end"}
    return element("text", *said, x=x + (-6 if beside else 6), y=float(y), class_="halo", **beside)


def _ticks(begin: dt.date, end: dt.date, today: dt.date, scale: float) -> list[int]:
    """The days from today, before and after, that get a date on the axis."""
    step = next((days for days in _TICKS if days * scale >= 88), _TICKS[-1])
    before, after = (today - begin).days // step, (end - today).days // step
    return [number * step for number in range(-before, after + 1)]


def spread(counts: list[int]) -> Html:
    """How many memories have how much left: a bar for each step of retention from 0 to 1."""
    top, wide, tall = max(counts) or 1, 300 / len(counts), 96
    parts = [_rule(0, tall + 18, 300, tall + 18, "base")]
    for place, count in enumerate(counts):
        low, high = place / len(counts), (place + 1) / len(counts)
        height = tall * count / top
        y = tall + 18 - height
        shapes = [element("title", f"retention {low:g} to {high:g}: {count:,}")]
        if count:
            shapes.append(element("rect", x=place * wide + 1.5, y=y, width=wide - 3, height=height, class_="live"))
            shapes.append(_label((place + 0.5) * wide, y - 4, f"{count:,}", "tick", text_anchor="middle"))
        parts.append(element("g", *shapes))
    for value, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        parts.append(_label(300 * value, tall + 33, f"{value:g}", "tick", text_anchor=anchor))
    told = "How many live memories have how much retention: " + ", ".join(
        f"{count:,} from {place / len(counts):g}" for place, count in enumerate(counts) if count
    )
    return _picture("spread", told, f"0 0 300 {tall + 38}", *parts)


# -- names -------------------------------------------------------------------------------------------------------


def ring(web: Web) -> Html:
    """The names around a circle, with a line between two that stand in one memory, the stronger the more often."""
    middle, top = _RING / 2, web.names[0].files
    angles = {place: 2 * math.pi * turn / len(web.ring) - math.pi / 2 for turn, place in enumerate(web.ring)}
    points = {
        place: (middle + _RADIUS * math.cos(angle), middle + _RADIUS * math.sin(angle))
        for place, angle in angles.items()
    }
    strongest = sorted(web.pairs, key=lambda pair: (-web.pairs[pair], pair))[:_PAIRS]
    most = max((web.pairs[pair] for pair in strongest), default=1)
    parts = []
    for one, other in reversed(strongest):
        (x1, y1), (x2, y2) = points[one], points[other]
        pull = math.dist(points[one], points[other]) / (4 * _RADIUS)  # to the middle: 0 for neighbours, 0.5 across
        cx, cy = (pull * middle + (1 - pull) * ends / 2 for ends in (x1 + x2, y1 + y2))
        share = web.pairs[one, other] / most
        told = f"{web.names[one].label} and {web.names[other].label}: {web.pairs[one, other]:,}"
        parts.append(
            element(
                "path",
                element("title", told),
                d=f"M{x1:.1f} {y1:.1f}Q{cx:.1f} {cy:.1f} {x2:.1f} {y2:.1f}",
                stroke_width=0.8 + 3.2 * share,
                stroke_opacity=f"{0.25 + 0.6 * share:.2f}",
                class_="pair",
            )
        )
    for place in web.ring:
        parts.append(_name(web, place, angles[place], 3 + 6 * math.sqrt(web.names[place].files / top)))
    told = f"The {len(web.names)} names that most memories link to, with lines between those that stand together."
    cut = middle - _RADIUS - 40 if len(web.ring) <= LEVEL else 0.0
    box = f"0 {cut:.0f} {_RING} {_RING - 2 * cut:.0f}"
    return _picture("ring", told, box, *parts)


def _name(web: Web, place: int, angle: float, size: float) -> Html:
    """A name at its place on the circle: level where there are few, along the ray where there are many."""
    label, files = web.names[place]
    middle, out = _RING / 2, _RADIUS + 14
    right = math.cos(angle) > -1e-9
    turned: dict[str, str] = {"text_anchor": "start" if right else "end"}
    x, y = middle + out * math.cos(angle), middle + out * math.sin(angle) + 4
    if len(web.ring) > LEVEL:
        degrees = math.degrees(angle) + (0 if right else 180)
        turned["transform"] = f"rotate({degrees:.1f} {x:.1f} {y - 4:.1f})"
    elif abs(math.cos(angle)) < 0.2:
        turned["text_anchor"] = "middle"
        y += 8 * math.sin(angle)
    told = f"{label}: {files:,} memor{'y' if files == 1 else 'ies'}"
    at = {"cx": middle + _RADIUS * math.cos(angle), "cy": middle + _RADIUS * math.sin(angle)}
    shapes = [element("title", told), element("circle", r=size, class_="dot", **at)]
    return element("g", *shapes, _label(x, y, short(label, 19), "", **turned))
