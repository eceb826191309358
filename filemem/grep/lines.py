"""grep over a user's memories: which lines match a regular expression, newest file first, archived files last.

A turn's line matches as the file has it, `- **Sam** 09:30: …`, or as the tools show it, `Sam: …`. A pattern is Python's `re` with
smart case, matched line by line, and never able to hang or exhaust the program.
"""

import contextlib
import datetime as dt
import itertools
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple, TypeVar

from filemem.errors import FilememError
from filemem.files import globs
from filemem.files.folder import CurrentConversation, Folder, Stat
from filemem.files.memory import TURN_HEAD, Memory, as_shown, is_archived, when_of
from filemem.grep.matcher import MEMORY, match_apart

LONGEST_PATTERN = 1_000  # characters, which take `re.compile` a second or so at most: sets of all there are
LONGEST_LINE = (
    1 << 24
)  # characters of a line that are searched; what a longer one holds behind them is not
SECONDS = 3.5  # that matching may take in all
PACE = 5e-8  # seconds a character that matching may take besides: what goes as fast as reading may go on for as long
STEPS = 200_000_000  # of matching that one line may need at worst to be matched in this process: under a second
MOST_PLACES = 5  # in one line that are told
BATCH = 1 << 21  # characters matched at a time

Key = TypeVar("Key")
_NO_LITERAL = re.compile(r"\\(?:N\{[^}]*\}|x..|u.{4}|U.{8}|.)|\(\?P[<=]\w+")
"""What has letters that stand for no letter of a line: escapes, names of groups."""
_PARSING = threading.Lock()  # what is done with warnings is of the whole process

# -- what a pattern costs at most, read off the tree that `re` itself parses (`re._parser`) -----------------------------------

Nodes = Iterable[tuple[Any, Any]]
"""A parsed sequence: pairs of an operation of `re._constants` and its argument."""

ENDLESS = 10**12
"""Ways that no one waits for; bounds are not counted further."""
FEW = 10
"""Rounds of a repeat: with fewer it is written out, with as many there may be as many as a line has characters."""

_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def _inside(argument: Any) -> list[Any]:
    """The sequences that an operation has in its argument: one of them matches, in its place."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    return (
        [body for part in argument for body in _inside(part)]
        if isinstance(argument, list | tuple)
        else []
    )


def _ways(nodes: Nodes) -> tuple[int, int]:
    """(ways, power): at one place of a line there are at most `ways` × length ** `power` ways to match, all of which a
    backtracking search may try, each in as many steps as the pattern has characters.

    A sequence multiplies ways, a branch adds them up, a repeat raises them to the power of its count.
    """
    ways, power = 1, 0
    for operation, argument in nodes:
        inner = [_ways(body) for body in _inside(argument)]
        count, within = (
            sum(count for count, _ in inner) or 1,
            max((more for _, more in inner), default=0),
        )
        if operation in _REPEATS and argument[1] < FEW and not within:
            ways *= (count + 1) ** argument[1]
        elif operation in _REPEATS:  # of one thing, or a repeat inside a repeat
            ways, power = ways if (count, within) == (1, 0) else ENDLESS, power + 1
        else:
            ways, power = ways * count, power + within + (operation is op.GROUPREF)
        ways = min(ENDLESS, ways)
    return ways, power


# -- patterns -----------------------------------------------------------------------------------------------------------


class PatternError(FilememError):
    """The pattern cannot be searched for: one sentence with what is wrong, where, and how to fix it."""


class Pattern:
    """What to search lines for, made by `compile_pattern`; it may serve several threads at once."""

    def __init__(self, text: str, regex: re.Pattern[str], nodes: Nodes) -> None:
        self.text = text
        self._regex = regex
        ways, power = _ways(nodes)
        self._longest = int((STEPS / ways / max(1, len(text))) ** (1 / (power + 1))) - 1
        """Characters of a line that is matched in this process; a longer one is matched in a child."""

    def places(self, line: str) -> list[tuple[int, int]]:
        """Where a matching line matches, MOST_PLACES at most; where finding that out might take long, where words of the
        pattern stand."""
        regex = self._regex
        if len(line) > self._longest:
            words = re.findall(r"\w{2,}", _NO_LITERAL.sub(" ", self.text)) or [line]
            regex = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
        return [
            match.span()
            for match in itertools.islice(regex.finditer(line), MOST_PLACES)
        ]

    def search(
        self, lines: Iterable[tuple[Key, str]], seconds: float = SECONDS
    ) -> Iterator[Key]:
        """The key of each line that matches, in order, some lines at a time.

        Lines come without their line ending. Only the first LONGEST_LINE characters of a line are searched. Raises
        PatternError when matching has taken `seconds`, PACE aside, or one line needs more than MEMORY bytes. A child may be
        started for each batch, so that many files are best searched as one stream of lines.
        """
        for batch in _batches(lines):
            started = time.monotonic()
            seconds += PACE * sum(len(line) for _, line in batch)
            far = [line for _, line in batch if len(line) > self._longest]
            there = iter(self._apart(far, seconds) if far else b"")
            found = []
            for key, line in batch:
                if time.monotonic() - started > seconds:
                    raise PatternError(_TOO_LONG)
                if (
                    next(there)
                    if len(line) > self._longest
                    else self._regex.search(line)
                ):
                    found.append(key)
            seconds -= time.monotonic() - started
            yield from found

    def _apart(self, lines: list[str], seconds: float) -> bytes:
        """One byte a line, 1 where it matches, else 0, from a process of its own."""
        try:
            return match_apart(self._regex.pattern, self._regex.flags, lines, seconds)
        except TimeoutError:
            raise PatternError(_TOO_LONG) from None
        except MemoryError:
            more = f"matching takes more than {MEMORY >> 20} MB"
            raise PatternError(
                f"pattern: {more}; simplify it: write [ab]* for (a|b)*, for example"
            ) from None
        except OSError as error:
            raise PatternError(
                f"pattern: the process that matches it failed ({error}); simplify it"
            ) from None


def _batches(lines: Iterable[tuple[Key, str]]) -> Iterator[list[tuple[Key, str]]]:
    """The lines, BATCH characters of them at a time."""
    batch: list[tuple[Key, str]] = []
    size = 0
    for key, line in lines:
        batch.append((key, line[:LONGEST_LINE]))
        size += len(line) + 1
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


_TOO_LONG = "pattern: matching takes too long; simplify it: avoid a repeat inside a repeat, (a+)+, and several .* in a row"


def compile_pattern(text: str) -> Pattern:
    """The pattern that `text` writes, in the syntax of Python's `re`; case counts only where it has a capital letter.

    Raises PatternError, also for a set that later versions of `re` will read otherwise (`[[a]`), and for a line break.
    """
    if len(text) > LONGEST_PATTERN:
        raise PatternError(
            f"pattern: {len(text):,} characters are too many; use at most {LONGEST_PATTERN:,}"
        )
    flags = (
        re.NOFLAG if any(map(str.isupper, _NO_LITERAL.sub("", text))) else re.IGNORECASE
    )
    try:
        with _PARSING, warnings.catch_warnings():
            warnings.simplefilter("error")
            nodes = _parser.parse(text, flags)
        found = Pattern(text, re.compile(text, flags), nodes)
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        what = (
            "groups nested too deeply" if isinstance(error, RecursionError) else error
        )
        raise PatternError(
            f"pattern: {what}; write \\ before a sign that means itself; the syntax is Python's re"
        ) from None
    if (op.LITERAL, ord("\n")) in list(nodes):
        raise PatternError(
            "pattern: a line break, and grep looks at one line at a time; search for one line's text"
        )
    return found


# -- lines -------------------------------------------------------------------------------------------------------------

PAGE = 50  # matching lines in one answer
_BEGINS = re.compile(r"[\^:]|\.(?![*+])|\\[AsSWDxuUN0]|\(\?(?!:)| (?![^\W\d_])")
"""What a pattern has that can match how the tools begin a turn and not how its file does."""
_BRACKET = re.compile(r"\[[^\[\]]*\d[^\[\]]*\]")
NEAR = 62  # days between a line's own and one that stands in brackets behind its words
MOST_HELD = 20_000_000  # characters of matching lines in one answer, however many lines are asked for


def lines_of(folder: Folder, path: str) -> list[str]:
    """The lines of a file as an editor numbers them; raises FilememError, also where it is no text."""
    memory = Memory(path, folder.read(path))
    if memory.binary:
        raise FilememError(f"{path} is not a text file; nothing in it can be shown.")
    return memory.lines


class Match(NamedTuple):
    """A line that matches, or, where `matches` is false, one of its context; `gap`: lines above it were left out."""

    path: str
    line: int
    text: str
    archived: bool
    matches: bool = True
    gap: bool = False


class GrepPage(NamedTuple):
    """One page of what grep found: `total` lines, so many `by_file`, of `files` looked at, `archived_files` of those archived.

    `next_offset` is where the next page begins, 0 where nothing is left; `notes` are whole sentences.
    """

    pattern: Pattern
    lines: list[Match]
    total: int
    by_file: dict[str, int]
    files: int
    archived_files: int
    offset: int
    next_offset: int
    notes: list[str]


def grep(
    folder: Folder,
    expression: str,
    *,
    path: str | None = None,
    said_by: Callable[[str], bool] | None = None,
    context: int = 0,
    offset: int = 0,
    page: int = PAGE,
    current: CurrentConversation | None = None,
    brackets: bool = False,
) -> GrepPage:
    """The matching lines from number `offset` on, `page` of them or as many as MOST_HELD is room for, with `context` lines
    around each; of the turns `said_by` some alone; where `brackets` are shown behind words for a day, the days in them count.

    Raises PatternError, FilememError for a glob of too many others, and NotFound where `path` names no file.
    """
    compiled = compile_pattern(expression)
    days = _days_of(compiled) if brackets else []
    stats = _chosen(folder, path)
    asked = _Sought(compiled, said_by, days, current)
    notes: list[str] = []
    held: list[Match] = []
    found: dict[str, int] = {}
    total = size = 0
    for match in _matches(folder, asked, stats, notes):
        if offset <= total < offset + page and size < MOST_HELD:
            held.append(match)
            size += len(match.text)
        total += 1
        found[match.path] = found.get(match.path, 0) + 1
    if offset and offset >= total:
        raise FilememError(
            f"offset {offset} is past the end: {total} lines match; use an offset from 0 to {max(0, total - 1)}."
        )
    end = offset + len(held)
    archived = sum(is_archived(name) for name in found)
    shown = list(_with_context(folder, held, context))
    return GrepPage(
        compiled,
        shown,
        total,
        found,
        len(stats),
        archived,
        offset,
        end if end < total else 0,
        notes,
    )


class _Sought(NamedTuple):
    """Which lines are searched for."""

    pattern: Pattern
    said_by: Callable[[str], bool] | None = None
    days: Sequence[dt.date] = ()
    current: CurrentConversation | None = None


def _days_of(compiled: Pattern) -> list[dt.date]:
    """The days that a pattern names."""
    from filemem.text import dates  # noqa: PLC0415  whose patterns take as long to import as a grep to run

    mentions = dates.mentioned(compiled.text.replace("\\b", " "), dt.date(2000, 12, 31))
    return [
        one.span.start
        for one in mentions
        if one.span.start == one.span.end and not one.relative
    ]


def _is_near(path: str, days: Iterable[dt.date]) -> bool:
    """Is a file dated about one of these days, whatever the year?"""
    when = when_of(path)
    return when is not None and any(
        abs((when.date.timetuple().tm_yday - day.timetuple().tm_yday + 182) % 365 - 182)
        <= NEAR
        for day in days
    )


def _chosen(folder: Folder, path: str | None) -> list[Stat]:
    """The files asked for, newest first, archived ones last. Raises NotFound if `path` names none."""
    wanted = globs.matcher(path) if path else None
    stats = [stat for stat in folder.files() if not wanted or wanted(stat.path)]
    if path and not stats:
        raise folder.no_match(path)
    return sorted(stats, key=newest_first)


def newest_first(stat: Stat) -> tuple[bool, int, int, str]:
    """The order of files for a reader: the newest first, by day and clock, archived ones last."""
    when = when_of(stat.path)
    clock = int(when.time.replace(":", "")) if when and when.time else -1
    return (
        is_archived(stat.path),
        -(when.date.toordinal() if when else 0),
        -clock,
        stat.path,
    )


def example(folder: Folder, path: str | None) -> str:
    """A line of the newest conversation among the files that `path` names, to show what lines look like; empty without one."""
    with contextlib.suppress(FilememError):
        paths = (stat.path for stat in _chosen(folder, path))
        newest = max(
            (path for path in paths if path.startswith("sessions/")), default=""
        )
        return next(
            (
                line
                for line in (lines_of(folder, newest) if newest else ())
                if TURN_HEAD.match(line)
            ),
            "",
        )
    return ""


def _matches(
    folder: Folder, asked: _Sought, stats: list[Stat], notes: list[str]
) -> Iterator[Match]:
    """Every matching line in the order of the files; what could not be read goes into `notes`."""
    found = asked.pattern.search(_lines(folder, asked, stats, notes))
    for (path, number, line), _ in itertools.groupby(
        found
    ):  # a line may match in several ways that it is shown in
        yield Match(path, number, line, is_archived(path))


def _lines(
    folder: Folder, asked: _Sought, stats: Iterable[Stat], notes: list[str]
) -> Iterator[tuple[tuple[str, int, str], str]]:
    """The lines of the files that may match, each with its path and number; a turn's also as the tools show it, and one with a
    word for a day with that day behind it."""
    begins, current = _BEGINS.search(asked.pattern.text), asked.current
    for stat in stats:
        near = _is_near(stat.path, asked.days)
        try:
            for number, line, day in _spoken(
                lines_of(folder, stat.path), asked, stat.path
            ):
                if current and current.path == stat.path and number >= current.line:
                    break
                yield (stat.path, number, line), line
                for shown in (
                    as_shown(line) if begins and line.startswith("- **") else ()
                ):
                    yield (stat.path, number, line), shown
                if near and day and (dated := _with_days(line, day)) != line:
                    yield (stat.path, number, line), dated
        except FilememError as error:
            notes.append(f"{stat.path} was passed over: {error}")


def _spoken(
    lines: list[str], asked: _Sought, path: str
) -> Iterator[tuple[int, str, dt.date | None]]:
    """The lines of the speakers asked for, each with the day from which its words count."""
    when, speaker = when_of(path), ""
    day = when.date if when and not when.month else None
    if asked.said_by is None and not asked.days:
        yield from ((number, line, day) for number, line in enumerate(lines, 1))
        return
    for number, line in enumerate(lines, 1):
        if head := TURN_HEAD.match(line):
            speaker = head[1]
            with contextlib.suppress(ValueError):
                day = dt.date.fromisoformat(head[2]) if head[2] else day
        elif line and not line.startswith("  "):
            speaker = ""
        if asked.said_by is None or (speaker and asked.said_by(speaker)):
            yield number, line, day


def _with_days(line: str, day: dt.date) -> str:
    """A line with the days in brackets that the tools show, each as it is shown and as ISO 8601 writes it."""
    from filemem.text import dates  # noqa: PLC0415  as above

    def both(bracket: re.Match[str]) -> str:
        found = [
            one.span.start
            for one in dates.mentioned(bracket[0], day)
            if one.span.start == one.span.end
        ]
        return " ".join(
            [bracket[0], *(f"[{one}] [{one.day} {one:%B %Y}]" for one in found)]
        )

    return _BRACKET.sub(both, dates.annotate(line, day))


def _with_context(folder: Folder, held: list[Match], context: int) -> Iterator[Match]:
    """The lines to show for a page of matches: around each up to `context` others, as the file has them now, no line twice."""
    for path, group in itertools.groupby(held, key=lambda match: match.path):
        matching, before = {match.line: match.text for match in group}, 0
        lines = lines_of(folder, path) if context else []
        near = {
            number
            for line in matching
            for number in range(line - context, line + context + 1)
        }
        for number in sorted(
            matching.keys() | {number for number in near if 0 < number <= len(lines)}
        ):
            gap = before > 0 and number > before + 1 and context > 0
            text = matching[number] if number in matching else lines[number - 1]
            yield Match(path, number, text, is_archived(path), number in matching, gap)
            before = number
