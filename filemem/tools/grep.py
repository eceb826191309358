"""grep over a user's memories: the lines that match a regular expression, by file.

A turn's line matches as the file has it, `- **Sam** 09:30: …`, or as the tools show it,
`Sam: …`. A pattern is Python's `re` with smart case, matched line by line; all but plain
words in a process of its own, so that none can hang or exhaust the program.
"""

import contextlib
import datetime as dt
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

from filemem.errors import FilememError
from filemem.store import globs
from filemem.store.folder import CurrentConversation, Folder, Stat
from filemem.store.memory import parse
from filemem.store.passages import TURN_HEAD, as_shown
from filemem.store.paths import is_archived, when_of
from filemem.text.dayrange import DayRange
from filemem.tools.matcher import MEMORY_BYTES, Span, match_apart, spans_of

Key = TypeVar("Key")

MAX_PATTERN_CHARS = 1_000
"""`re.compile` takes a second or so of as many, at worst: sets of all characters."""
MATCH_SECONDS = 3.5
SECONDS_PER_CHAR = 5e-8
"""More time for more text: as long as reading it takes."""
BATCH_CHARS = 1 << 23
PAGE_LINES = 50
MAX_PAGE_CHARS = 20_000_000
"""Characters of matching lines in one answer, however many lines are asked for."""
NEAR_DAYS = 62
"""Between a line's own day and one that stands in brackets behind its words."""

# -- patterns --------------------------------------------------------------------------


class PatternError(FilememError):
    """The pattern cannot be searched for; the sentence says what is wrong and how to fix it."""


_NO_LITERAL = re.compile(r"\\(?:N\{[^}]*\}|x..|u.{4}|U.{8}|.)|\(\?P[<=]\w+")
"""What has letters that stand for no letter of a line: escapes, names of groups."""
_NO_BREAK = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\[^n]")
"""A set may name a line break: `[^\\n]` excludes it."""
_WORDS = re.compile(r"(?:\\b|[\w |-])*")
"""Without repeats and groups a pattern is matched in one pass over a line."""
_WARNINGS = threading.Lock()
"""How warnings are treated is a matter of the whole process."""
_TOO_SLOW = (
    "pattern: matching takes too long; simplify it: avoid a repeat inside a repeat, "
    "(a+)+, and several .* in a row"
)
_TOO_LARGE = (
    f"pattern: matching takes more than {MEMORY_BYTES >> 20} MB; simplify it: "
    "write [ab]* for (a|b)*, for example"
)


def compile_pattern(text: str) -> re.Pattern[str]:
    """Return the pattern that `text` writes, in the syntax of Python's `re`.

    Case counts only if it has a capital letter.

    Raises:
        PatternError: it is malformed, too long, names a line break, or has a set that
            later versions of `re` will read otherwise (`[[a]`).
    """
    if len(text) > MAX_PATTERN_CHARS:
        raise PatternError(
            f"pattern: {len(text):,} characters are too many; "
            f"use at most {MAX_PATTERN_CHARS:,}"
        )
    has_capital = any(map(str.isupper, _NO_LITERAL.sub("", text)))
    flags = re.NOFLAG if has_capital else re.IGNORECASE
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("error")
            pattern = re.compile(text, flags)
    except RecursionError:
        raise PatternError(
            "pattern: groups are nested too deeply; nest fewer"
        ) from None
    except (re.error, FutureWarning, OverflowError) as error:
        raise PatternError(
            f"pattern: {error}; write \\ before a sign that means itself; "
            "the syntax is Python's re"
        ) from None
    bare = _NO_BREAK.sub("", text)
    if "\n" in bare or "\\n" in bare:
        raise PatternError(
            "pattern: a line break, and grep looks at one line at a time; "
            "search for one line's text"
        )
    return pattern


class MatchedLine(NamedTuple):
    """A line that matches: its key, its text, and where in it."""

    key: object
    text: str
    spans: list[Span]


def search_lines(
    pattern: re.Pattern[str],
    lines: Iterable[tuple[object, str]],
    seconds: float = MATCH_SECONDS,
) -> Iterator[MatchedLine]:
    """Yield the lines that match, in order.

    Args:
        pattern: one that `compile_pattern` returned.
        lines: each with a key of the caller's, without its line ending.
        seconds: of a processor that all matching may take; long texts get more.

    Raises:
        PatternError: matching takes too long, or too much memory.
    """
    if _WORDS.fullmatch(pattern.pattern):  # spares the start of a process
        for key, text in lines:
            if pattern.search(text):
                yield MatchedLine(key, text, spans_of(pattern, text))
        return
    for batch in _batches(lines):
        texts = [text for _, text in batch]
        seconds += SECONDS_PER_CHAR * sum(map(len, texts))
        try:
            spans_of_lines, used = match_apart(pattern, texts, seconds)
        except TimeoutError:
            raise PatternError(_TOO_SLOW) from None
        except MemoryError:
            raise PatternError(_TOO_LARGE) from None
        except OSError as error:
            raise PatternError(
                f"pattern: the process that matches it failed ({error}); simplify it"
            ) from None
        seconds -= used
        for (key, text), spans in zip(batch, spans_of_lines, strict=True):
            if spans:
                yield MatchedLine(key, text, spans)


def _batches(lines: Iterable[tuple[Key, str]]) -> Iterator[list[tuple[Key, str]]]:
    """Yield the lines, some BATCH_CHARS of them at a time."""
    batch: list[tuple[Key, str]] = []
    size = 0
    for item in lines:
        batch.append(item)
        size += len(item[1]) + 1
        if size >= BATCH_CHARS:
            yield batch
            batch = []
            size = 0
    if batch:
        yield batch


# -- what was found --------------------------------------------------------------------


class Order(StrEnum):
    """Which files come first; archived files come last in either order."""

    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True)
class Match:
    """A line that matches, or, if `matches` is false, one of its context.

    `gap` says that lines above it were left out, `spans` where it matches.
    """

    path: str
    line: int
    text: str
    archived: bool
    matches: bool = True
    gap: bool = False
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class GrepPage:
    """One page of what grep found.

    Attributes:
        lines: the matches on this page with their context.
        total: matches in all.
        by_file: how many of them each path has, in the order of the answer.
        files: files looked at.
        archived_files: archived files with a match.
        offset: the first match on this page, counted from 0.
        next_offset: the first match of the next page; 0 if nothing is left.
        notes: sentences on what could not be read.
    """

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
    days: DayRange | None = None,
    order: str = Order.NEWEST,
    context: int = 0,
    offset: int = 0,
    page: int = PAGE_LINES,
    current: CurrentConversation | None = None,
    brackets: bool = False,
) -> GrepPage:
    """Return a page of the lines that match an expression.

    Args:
        folder: whose memories.
        expression: a regular expression; see `compile_pattern`.
        path: a glob; only these files.
        said_by: whether a name is that of the speaker asked for.
        days: the days asked for; lines without a day are left out.
        order: of the files.
        context: lines around each match.
        offset: matches to skip.
        page: matches to show, fewer if they hold more than MAX_PAGE_CHARS.
        current: the conversation going on, which is left out.
        brackets: also match the days that the tools show in brackets.

    Raises:
        PatternError: the expression cannot be searched for.
        NotFound: `path` names no file.
        FilememError: a glob of too many others, or an offset past the end.
    """
    pattern = compile_pattern(expression)
    stats = _files(folder, path, Order(order))
    reader = _LineReader(folder, said_by=said_by, days=days, current=current)
    if brackets:
        reader.named_days = _days_named(expression)
    held: list[Match] = []
    by_file: dict[str, int] = {}
    total = 0
    size = 0
    for match in _matches(pattern, reader.lines(stats, expression)):
        if offset <= total < offset + page and size < MAX_PAGE_CHARS:
            held.append(match)
            size += len(match.text)
        total += 1
        by_file[match.path] = by_file.get(match.path, 0) + 1
    if offset and offset >= total:
        raise FilememError(
            f"offset {offset} is past the end: {total} lines match; "
            f"use an offset from 0 to {max(0, total - 1)}."
        )
    end = offset + len(held)
    return GrepPage(
        lines=list(_with_context(folder, held, context)),
        total=total,
        by_file=by_file,
        files=len(stats),
        archived_files=sum(map(is_archived, by_file)),
        offset=offset,
        next_offset=end if end < total else 0,
        notes=reader.notes,
    )


def _files(folder: Folder, path: str | None, order: Order) -> list[Stat]:
    """Return the files asked for, in order; raise NotFound if `path` names none."""
    stats = list(folder.files())
    if path:
        wanted = globs.matcher(path)
        stats = [stat for stat in stats if wanted(stat.path)]
        if not stats:
            raise folder.no_match(path)
    return sorted(stats, key=oldest_first if order is Order.OLDEST else newest_first)


def newest_first(stat: Stat) -> tuple[bool, bool, int, str]:
    """Sort key: live before archived, dated before undated, the newest first."""
    archived, undated, minutes, path = oldest_first(stat)
    return archived, undated, -minutes, path


def oldest_first(stat: Stat) -> tuple[bool, bool, int, str]:
    """Sort key: live before archived, dated before undated, the oldest first."""
    when = when_of(stat.path)
    minutes = 0
    if when:
        minutes = when.date.toordinal() * 1441
        if when.time:
            hour, minute = when.time.split(":")
            minutes += 1 + int(hour) * 60 + int(minute)
    return is_archived(stat.path), when is None, minutes, stat.path


def _matches(
    pattern: re.Pattern[str], lines: Iterable[tuple[object, str]]
) -> Iterator[Match]:
    """Yield each line that matches in one of its forms."""
    last: object = None
    for found in search_lines(pattern, lines):
        line = found.key
        if line is last or not isinstance(line, _Line):
            continue
        last = line
        spans = [_span_in_file(line.text, found.text, span) for span in found.spans]
        archived = is_archived(line.path)
        yield Match(line.path, line.number, line.text, archived, spans=tuple(spans))


def _span_in_file(line: str, form: str, span: Span) -> Span:
    """Return where in the file's line the span of one of its forms is."""
    if form == line:
        return span
    return _place_in_file(line, form, span[0]), _place_in_file(line, form, span[1])


def _place_in_file(line: str, form: str, place: int) -> int:
    """Return where in a line a place in its form is.

    A form is shorter at its head, or has dates put in between.
    """
    if len(form) < len(line):
        return max(0, place + len(line) - len(form))
    passed = 0
    for char in form[:place]:
        if passed < len(line) and line[passed] == char:
            passed += 1
    return passed


# -- the lines to look at --------------------------------------------------------------

_HEAD_SIGNS = re.compile(r"[\^:]|\.(?![*+])|\\[AsSWDxuUN0]|\(\?(?!:)| (?![^\W\d_])")
"""What can match how the tools begin a turn, and not how its file does."""
_BRACKET = re.compile(r"\[[^\[\]]*\d[^\[\]]*\]")


class _Line(NamedTuple):
    path: str
    number: int
    text: str


class _LineReader:
    """Reads the lines that may match; `notes` says which files it could not read."""

    def __init__(
        self,
        folder: Folder,
        *,
        said_by: Callable[[str], bool] | None,
        days: DayRange | None,
        current: CurrentConversation | None,
    ) -> None:
        self._folder = folder
        self._said_by = said_by
        self._days = days
        self._current = current
        self.named_days: list[dt.date] = []
        self.notes: list[str] = []

    def lines(
        self, stats: Iterable[Stat], expression: str
    ) -> Iterator[tuple[_Line, str]]:
        """Yield each line in the forms that may match: as it is, and as it is shown."""
        heads = _HEAD_SIGNS.search(expression)
        for stat in stats:
            try:
                for line, day in self._chosen(stat.path):
                    yield line, line.text
                    if heads and line.text.startswith("- **"):
                        for shown in as_shown(line.text):
                            yield line, shown
                    if day and _is_near(day, self.named_days):
                        dated = _with_days(line.text, day)
                        if dated != line.text:
                            yield line, dated
            except FilememError as error:
                self.notes.append(f"{stat.path} was passed over: {error}")

    def _chosen(self, path: str) -> Iterator[tuple[_Line, dt.date | None]]:
        """Yield the lines of the speaker and days asked for, each with its day."""
        end = None
        if self._current and self._current.path == path:
            end = self._current.line - 1
        span = _days_of_file(path)
        texts = lines_of(self._folder, path)[:end]
        if not (self._said_by or self._days or self.named_days):
            for number, text in enumerate(texts, 1):
                yield _Line(path, number, text), None
            return
        speaker = ""
        for number, text in enumerate(texts, 1):
            head = TURN_HEAD.match(text)
            if head:
                speaker = head[1]
                span = _days_of_turn(head[2]) or span
            elif text and not text.startswith("  "):
                speaker = ""
            if self._is_spoken(speaker) and self._is_of_days(span):
                day = span[0] if span and span[0] == span[1] else None
                yield _Line(path, number, text), day

    def _is_spoken(self, speaker: str) -> bool:
        return self._said_by is None or (speaker != "" and self._said_by(speaker))

    def _is_of_days(self, span: tuple[dt.date, dt.date] | None) -> bool:
        if self._days is None:
            return True
        if span is None:
            return False
        return self._days.overlaps(DayRange(span[0].toordinal(), span[1].toordinal()))


def lines_of(folder: Folder, path: str) -> list[str]:
    """Return the lines of a file as an editor numbers them.

    Raises:
        FilememError: it cannot be read, or is not text.
    """
    memory = parse(path, folder.read(path))
    if memory.binary:
        raise FilememError(f"{path} is not a text file; nothing in it can be shown.")
    return memory.lines


def _days_of_file(path: str) -> tuple[dt.date, dt.date] | None:
    """Return the first and last day that a file's name has; None if it has none."""
    when = when_of(path)
    if when is None:
        return None
    if not when.month:
        return when.date, when.date
    next_month = (when.date.replace(day=1) + dt.timedelta(31)).replace(day=1)
    return when.date, next_month - dt.timedelta(1)


def _days_of_turn(written: str | None) -> tuple[dt.date, dt.date] | None:
    """Return the day that a turn's head writes, twice; None if it writes none."""
    with contextlib.suppress(ValueError):
        if written:
            day = dt.date.fromisoformat(written)
            return day, day
    return None


# -- days in brackets ------------------------------------------------------------------


def _days_named(expression: str) -> list[dt.date]:
    """Return the single days that a pattern names."""
    from filemem.text import dates  # noqa: PLC0415  takes as long to load as a grep takes

    text = expression.replace("\\b", " ")
    return [
        mention.span.start
        for mention in dates.mentioned(text, dt.date(2000, 12, 31))
        if mention.span.start == mention.span.end and not mention.relative
    ]


def _is_near(day: dt.date, named: Iterable[dt.date]) -> bool:
    """Return whether a day is about one of those named, whatever the year."""
    of_year = day.timetuple().tm_yday
    for other in named:
        apart = abs(of_year - other.timetuple().tm_yday)
        if min(apart, 365 - apart) <= NEAR_DAYS:
            return True
    return False


def _with_days(line: str, day: dt.date) -> str:
    """Return a line with the days in brackets that the tools show.

    Each stands there as it is shown, as ISO 8601 writes it, and in words.
    """
    from filemem.text import dates  # noqa: PLC0415  as above

    def spelt(bracket: re.Match[str]) -> str:
        forms = [bracket[0]]
        for mention in dates.mentioned(bracket[0], day):
            start = mention.span.start
            if start == mention.span.end:
                forms += [f"[{start}]", f"[{start.day} {start:%B %Y}]"]
        return " ".join(forms)

    return _BRACKET.sub(spelt, dates.annotate(line, day))


# -- context ---------------------------------------------------------------------------


def _with_context(folder: Folder, held: list[Match], context: int) -> Iterator[Match]:
    """Yield the matches with the lines around them, no line twice."""
    if not context:
        yield from held
        return
    by_path: dict[str, dict[int, Match]] = {}
    for match in held:
        by_path.setdefault(match.path, {})[match.line] = match
    for path, matches in by_path.items():
        texts = lines_of(folder, path)
        last = 0
        for number in _numbers_around(matches, context, len(texts)):
            gap = 0 < last < number - 1
            last = number
            found = matches.get(number)
            if found is None:
                text = texts[number - 1]
                yield Match(path, number, text, is_archived(path), False, gap)
            else:
                yield Match(
                    path, number, found.text, found.archived, True, gap, found.spans
                )


def _numbers_around(matches: Iterable[int], context: int, total: int) -> list[int]:
    """Return the numbers of lines within `context` of a match, in order."""
    numbers = set(matches)
    for line in matches:
        numbers.update(range(max(1, line - context), min(total, line + context) + 1))
    return sorted(numbers)
