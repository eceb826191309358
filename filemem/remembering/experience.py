"""Experience: how the tools of agents fare, from what their calls did, as a lesson each that the program keeps in step.

The lines of such a lesson name the tool as who says them, so that none is taken for a wish of the person's; what a person adds to
the file stays, and a lesson that they delete is not written again.
"""

import datetime as dt
import re
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import archive, calls
from filemem.files.calls import MadeCall
from filemem.files.facts import set_fronts
from filemem.files.folder import Folder
from filemem.files.front import quoted
from filemem.files.memory import slug
from filemem.files.passages import format_turn
from filemem.text.plain import counted, one_line

WEIGHT = 0.2  # of the latest call in the success rate, an exponential average: the last five make two thirds of it
LEAST = 5  # calls of a tool before a lesson is made of them
FRESH, AGED = 90, 180  # days for which an error is told; without a call, after which the lesson goes to the archive
MOST_ERRORS = 5
NEAR = 5  # calls of a session after an error, among which what worked instead is looked for
_PARTICULAR = re.compile(r"\d+|(?:[\w.~-]*/)+[\w.-]*|'[^']*'|\"[^\"]*\"")


class FrequentError(NamedTuple):
    """An error by its latest wording: how often, when last, what was asked, and what worked instead soon after, if known."""

    error: str
    times: int
    last: dt.date
    asked: str
    worked: str


class Experience(NamedTuple):
    """How one tool fares: `rate` is the exponential average of success, `milliseconds` the mean time; frequent errors first."""

    tool: str
    calls: int
    rate: float
    milliseconds: int
    first: dt.date
    last: dt.date
    errors: list[FrequentError]

    @property
    def summed(self) -> str:
        """The tool's record in a line."""
        took = f", {self.milliseconds / 1000:.1f} s each" if self.milliseconds else ""
        return f"{counted(self.calls, 'call')} from {self.first} to {self.last}, {self.rate:.0%} succeed lately{took}"


def experiences(folder: Folder, today: dt.date) -> list[Experience]:
    """How every tool fares, the one used most first; errors within FRESH days of `today`."""
    tools: dict[str, list[MadeCall]] = {}
    sessions: dict[str, list[MadeCall]] = {}
    for call in calls.read(folder):
        if _day(call):
            tools.setdefault(call.tool, []).append(call)
            sessions.setdefault(call.session, []).append(call)
    followed = {one.id: said[n + 1 : n + 1 + NEAR] for said in sessions.values() for n, one in enumerate(said)}
    found = [_experience(tool, made, followed, today) for tool, made in tools.items()]
    return sorted(found, key=lambda one: (-one.calls, one.tool))


def _experience(tool: str, made: list[MadeCall], followed: dict[str, list[MadeCall]], today: dt.date) -> Experience:
    rate = float(not made[0].error)
    for call in made[1:]:
        rate += WEIGHT * (float(not call.error) - rate)
    kinds: dict[str, list[MadeCall]] = {}
    for call in made:
        if call.error and (today - (_day(call) or today)).days <= FRESH:
            kinds.setdefault(_PARTICULAR.sub("#", call.error.casefold()), []).append(call)
    errors = [_failing(failed, followed) for failed in kinds.values()]
    timed = [call.milliseconds for call in made if call.milliseconds]
    days = [day for call in made if (day := _day(call))]
    errors.sort(key=lambda one: (-one.times, one.error))
    mean = round(sum(timed) / len(timed)) if timed else 0
    return Experience(tool, len(made), rate, mean, min(days), max(days), errors[:MOST_ERRORS])


def _failing(failed: list[MadeCall], followed: dict[str, list[MadeCall]]) -> FrequentError:
    """The errors of one kind: the latest, with the latest way out of it."""
    last, worked = failed[-1], ""
    for call in failed:
        better = next((one for one in followed[call.id] if one.tool == call.tool and not one.error), None)
        worked = better.asked if better and better.asked != call.asked else worked
    return FrequentError(last.error, len(failed), _day(last) or dt.date.min, last.asked, worked)


def _day(call: MadeCall) -> dt.date | None:
    try:
        return dt.date.fromisoformat(call.at[:10])
    except ValueError:
        return None


# -- lessons -----------------------------------------------------------------------------------------------------------


def learn(folder: Folder, at: dt.datetime) -> tuple[list[str], list[str]]:
    """Bring the lessons on tools up to date; returns the paths that changed, and sentences."""
    paths, said, written = list[str](), list[str](), calls.lessons(folder)
    for one in experiences(folder, at.date()):
        if one.calls < LEAST:
            continue
        path = written.get(one.tool) or f"lessons/{one.first:%Y}/{one.first}-tool-{slug(one.tool) or 'unnamed'}.md"
        with folder.locked():
            here = next(archive.places(folder, path), "")
            if not here and one.tool in written:
                continue  # the person deleted it
            changed = _write(folder, here or path, one, new=not here)
            if one.tool not in written:
                calls.wrote(folder, one.tool, path)
        aged = (at.date() - one.last).days > AGED
        if here and aged != (here != path):  # it lies where it should not any more
            archive.move_in(folder, [path], at) if aged else archive.move_out(folder, [path])
            changed = True
        if changed:
            paths += [path, archive.archived(path)]
            said.append(f"{'Archived' if aged else 'Brought up to date'} {path}.")
    return paths, said


def _write(folder: Folder, path: str, one: Experience, *, new: bool) -> bool:
    """Write a tool's lesson, of one that is there only the program's own lines; did that change anything?"""
    lines = [format_turn(one.tool, "", said) for said in (f"{one.summed}.", *map(error_line, one.errors))]
    front = {"tool": quoted(one.tool), "calls": str(one.calls), "success": f"{one.rate:.2f}"}
    if new:
        head = "".join(f"{key}: {value}\n" for key, value in front.items())
        folder.create(path, f"---\n{head}---\n\n{''.join(lines)}")
        return True
    try:
        return bool(folder.edit(path, lambda data: _with(set_fronts(path, data, front), lines)))
    except (ValueError, FilememError):
        return False  # its YAML is broken, or it is no text: it stays as it is


def _with(data: bytes, lines: list[str]) -> bytes:
    """The file with these in the place of the program's lines, which begin as they do."""
    own = (lines[0].partition("**:")[0] + "**:").encode()
    end = b"\r\n" if b"\r\n" in data else b"\n"
    kept = data.splitlines(keepends=True)
    place = next((n for n, line in enumerate(kept) if line.startswith(own)), len(kept))
    rest = [line for line in kept if not line.startswith(own)]
    if place and place <= len(rest) and not rest[place - 1].endswith(b"\n"):
        rest[place - 1] += end
    return b"".join([*rest[:place], *(line.encode().replace(b"\n", end) for line in lines), *rest[place:]])


def error_line(failing: FrequentError) -> str:
    """An error in a line."""
    often = "once" if failing.times == 1 else f"{failing.times:,} times"
    then = f"; then worked: {one_line(failing.worked, calls.SHORT)}" if failing.worked else ""
    asked = f" on {one_line(failing.asked, calls.SHORT)}" if failing.asked else ""
    return f"failed {often}, last {failing.last}: {one_line(failing.error, calls.SHORT)}{asked}{then}"
