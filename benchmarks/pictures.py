"""Draws the pictures of docs/forgetting.md anew: the curve, and a year of memories.

python benchmarks/pictures.py [FOLDER]
"""

import datetime as dt
import itertools
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from year import DAYS, START, Life, live  # noqa: E402  (the year that the test lives)

from filemem.text.retention import DEFAULT, strength  # noqa: E402

STYLE = """\
<style>
text { font: 13px sans-serif; fill: #333 } .axis { stroke: #999; fill: none } .page { fill: #fff }
.a { stroke: #0b6e99 } .b { stroke: #b3541e } .c { stroke: #4d7c2a } .d { stroke: #7a4aa0 } .e { stroke: #666 }
.line { fill: none; stroke-width: 2.2 } .gone { opacity: .22 } .dash { stroke: #c33; stroke-dasharray: 5 4 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .page { fill: #1b1e23 } .axis { stroke: #777 }
.a { stroke: #58b7e0 } .b { stroke: #f09a5f } .c { stroke: #9ccc65 } .d { stroke: #c39be6 } .e { stroke: #aaa } }
</style>
"""


def page(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """An SVG document that reads on a light and on a dark page."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">\n'
    body = "\n".join(parts)
    return (
        f'{head}<title>{title}</title>\n{STYLE}<rect class="page" width="{width}" height="{height}"/>\n{body}\n</svg>\n'
    )


def text(x: float, y: float, said: str, anchor: str = "start") -> str:
    """A word at a place."""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{said}</text>'


# -- the curve ---------------------------------------------------------------------------------------------------


GRADES = {1: "1", 3: "3", 5: "5", 7: "importance 7"}  # each label where its curve has fallen to 30 %
STEP = 3  # days between two points of a curve


def curve() -> str:
    """Retention over 360 days: four importances without a recall, and one memory that is recalled three times."""
    left, top, across, down, days = 60, 24, 620, 300, 360

    def place(day: float, kept: float) -> str:
        return f"{left + across * day / days:.1f},{top + down * (1 - kept):.1f}"

    def line(style: str, importance: int, recalls: tuple[int, ...] = ()) -> str:
        born = dt.date(2026, 1, 1)
        asked = [born + dt.timedelta(day) for day in recalls]
        points = []
        for day in range(0, days + 1, STEP):
            today = born + dt.timedelta(day)
            before = strength(born, [d for d in asked if d < today], today, importance)
            points.append(place(day, before.retention))
            if today in asked:
                points.append(place(day, 1))
        return f'<polyline class="line {style}" points="{" ".join(points)}"/>'

    fall = top + down * (1 - DEFAULT.threshold)
    parts = [f'<path class="axis" d="M{left},{top} V{top + down} H{left + across}"/>']
    parts += [text(left - 8, top + down * (1 - part / 4) + 4, f"{25 * part} %", "end") for part in range(5)]
    parts += [text(left + across * day / days, top + down + 20, str(day), "middle") for day in range(0, days + 1, 60)]
    parts += [
        text(left + across / 2, top + down + 40, "days since the memory was made", "middle"),
        f'<path class="dash" d="M{left},{fall:.0f} H{left + across}"/>',
        text(left + across, fall - 6, "under this line the sweep archives it", "end"),
        line("e", 1),
        line("e", 3),
        line("a", 5),
        line("b", 7),
        line("c", 3, (30, 80, 160)),
        *(text(left + across * (21.7 * grade + 4) / days, top + 0.7 * down, words) for grade, words in GRADES.items()),
        text(left + 312, top + 14, "importance 3, recalled on days 30, 80 and 160", "start"),
    ]
    return page(720, 380, "How a memory fades, and how recalls keep it", parts)


# -- the year ----------------------------------------------------------------------------------------------------

SORTS = {"standing": "b", "lesson": "b", "matter": "b", "pinned": "d", "source": "d"}
SORTS |= {"habit": "c", "plan": "a", "event": "a", "trifle": "e"}
WORDS = {
    "standing": "what stands: facts, lessons, what matters",
    "pinned": "pinned or cited",
    "habit": "habits",
    "event": "plans, then events",
    "trifle": "trifles (importance 1 to 3)",
}


def year(lives: list[Life]) -> str:
    """Each memory as a line over the year: bright while it is live, faint in the archive; a tick for each recall."""
    left, top, across, step = 20, 60, 900, 6
    order = sorted(lives, key=lambda life: (list(SORTS).index(life.sort), life.born))
    parts = [text(left, 20, "A year of memories: a line is one memory, a tick a recall; faint means in the archive")]
    x = left
    for sort, words in WORDS.items():
        parts += [f'<path class="line {SORTS[sort]}" d="M{x},38 h18"/>', text(x + 24, 42, words)]
        x += 50 + 6 * len(words)
    for row, life in enumerate(order):
        y = top + step * row
        parts += [_stretch(life, start, end, y, left, across) for start, end in _stretches(life)]
        dots = "".join(f"M{left + across * day / DAYS:.1f},{y - 1.6} v3.2" for day in life.recalled)
        parts += [f'<path class="{SORTS[life.sort]}" d="{dots}"/>'] if dots else []
    base = top + step * len(order) + 6
    for month in range(12):
        day = (START.replace(month=month + 1, day=1) - START).days
        parts.append(text(left + across * max(0, day) / DAYS, base + 12, f"{START.replace(month=month + 1, day=1):%b}"))
    return page(left + across + 20, base + 24, "A simulated year of memories", parts)


def _stretches(life: Life) -> list[tuple[int, int]]:
    """The days between a memory's changes of place; live and archived ones in turn."""
    turns = [life.born, *sorted([*life.archived, *life.restored]), DAYS]
    return list(itertools.pairwise(turns))


def _stretch(life: Life, start: int, end: int, y: float, left: int, across: int) -> str:
    style = SORTS[life.sort] + (" gone" if _stretches(life).index((start, end)) % 2 else "")
    return f'<path class="line {style}" d="M{left + across * start / DAYS:.1f},{y} H{left + across * end / DAYS:.1f}"/>'


def main(folder: str) -> None:
    """Write both pictures."""
    Path(folder, "forgetting-curve.svg").write_text(curve(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as root:
        Path(folder, "forgetting-year.svg").write_text(year(live(root)), encoding="utf-8")


if __name__ == "__main__":
    main(*(sys.argv[1:] or [str(ROOT / "docs")]))
