"""grep over a user's memories: the lines that match a regular expression, by file.

A turn's line matches as the file has it, `- **Sam** 09:30: …`, or as the tools show it,
`Sam: …`. A pattern is Python's `re` with smart case, matched line by line; all but
plain words in a process of its own, so that none can hang or exhaust the program.
"""

import datetime as dt
import re
import threading
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from filemem.errors import FilememError
from filemem.store import globs
from filemem.store.current import CurrentConversation
from filemem.store.folder import Folder, Stat
from filemem.store.memory import Memory, parse
from filemem.store.passages import TURN_HEAD
from filemem.store.paths import is_archived, when_of
from filemem.text import dates
from filemem.text.dayrange import DayRange
from filemem.text.spans import calendar_unit, in_words, one_day
from filemem.text.terms import fold
from filemem.tools.matcher import MEMORY_BYTES, Span, match_apart, spans_of

Key = TypeVar("Key")

MAX_PATTERN_CHARS = 1_000
"""`re.compile` takes a second or so of as many, at worst: sets of all characters."""
MATCH_SECONDS = 4.0  # of a processor, for each BATCH_CHARS
BATCH_CHARS = 1 << 23
PAGE_LINES = 50
MAX_PAGE_CHARS = 20_000_000  # of matching lines, however many lines are asked for

# -- patterns --------------------------------------------------------------------------


class PatternError(FilememError):
    """The pattern cannot be searched for; the sentence says why, and what to do."""


_NO_LITERAL = re.compile(r"\\(?:N\{[^}]*\}|x..|u.{4}|U.{8}|.)|\(\?P[<=]\w+")
"""What has letters that stand for no letter of a line: escapes, names of groups."""
_NO_BREAK = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\[^n]")
"""A set may name a line break: `[^\\n]` excludes it."""
_WORDS = re.compile(r"(?:\\b|[\w|-]| (?!\d))*")
"""Without repeats and groups a pattern is matched in one pass over a text. It matches
no turn as it is shown alone, where a name and a clock are one blank apart."""
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


class KeyedLine(NamedTuple, Generic[Key]):
    """A line to look at, without its ending, and a key of the caller's."""

    key: Key
    text: str


class MatchedLine(NamedTuple, Generic[Key]):
    """A line that matches: its key, and where in it."""

    key: Key
    spans: list[Span]


def search_lines(
    pattern: re.Pattern[str],
    lines: Iterable[KeyedLine[Key]],
    seconds: float = MATCH_SECONDS,
) -> Iterator[MatchedLine[Key]]:
    """Yield the lines that match, in order.

    Args:
        pattern: one that `compile_pattern` returned.
        lines: to look at.
        seconds: of a processor, in which each BATCH_CHARS of lines must be matched.

    Raises:
        PatternError: matching takes too long, or too much memory.
    """
    if _WORDS.fullmatch(pattern.pattern):  # spares the start of a process
        for key, text in lines:
            if pattern.search(text):
                yield MatchedLine(key, spans_of(pattern, text))
        return
    for batch in _batches(lines):
        texts = [line.text for line in batch]
        try:
            found = match_apart(pattern, texts, seconds)
        except TimeoutError:
            raise PatternError(_TOO_SLOW) from None
        except MemoryError:
            raise PatternError(_TOO_LARGE) from None
        except OSError as error:
            raise PatternError(
                f"pattern: the process that matches it failed ({error}); simplify it"
            ) from None
        for line, spans in zip(batch, found, strict=True):
            if spans:
                yield MatchedLine(line.key, spans)


def _batches(lines: Iterable[KeyedLine[Key]]) -> Iterator[list[KeyedLine[Key]]]:
    """Yield the lines, some BATCH_CHARS of them at a time."""
    batch: list[KeyedLine[Key]] = []
    size = 0
    for item in lines:
        batch.append(item)
        size += len(item.text) + 1
        if size >= BATCH_CHARS:
            yield batch
            batch = []
            size = 0
    if batch:
        yield batch


# -- what was found --------------------------------------------------------------------


@dataclass(frozen=True)
class Match:
    """A line that matches, or one of its context.

    Attributes:
        path: of its file.
        line: its number, from 1.
        text: all of it.
        archived: whether its file lies in the archive.
        matches: whether it matches itself.
        gap: whether lines above it were left out.
        spans: where it matches.
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
        offset: the first match on this page, counted from 0.
        next_offset: the first match of the next page; 0 if nothing is left.
        notes: sentences on what could not be read.
        case_counts: the pattern has a capital letter.
    """

    lines: list[Match]
    total: int
    by_file: dict[str, int]
    files: int
    offset: int
    next_offset: int
    notes: list[str]
    case_counts: bool


def grep(
    folder: Folder,
    expression: str,
    *,
    path: str | None = None,
    speakers: Collection[str] | None = None,
    days: DayRange | None = None,
    order: str = "newest",
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
        speakers: folded names; only their lines.
        days: the days asked for; lines without a day are left out.
        order: `newest` or `oldest` file first; archived files come last.
        context: lines around each match.
        offset: matches to skip.
        page: matches to show, fewer if they hold more than MAX_PAGE_CHARS; where one
            alone would be left, that too.
        current: the conversation going on, which is left out.
        brackets: also match the days that the tools show in brackets.

    Raises:
        PatternError: the expression cannot be searched for.
        NotFound: `path` names no file.
        FilememError: a glob of too many others, or an offset past the end.
    """
    pattern = compile_pattern(expression)
    names_days = brackets and _names_day(expression)
    stats = list(folder.files())
    if path:
        wanted = globs.matcher(path)
        stats = [stat for stat in stats if wanted(stat.path)]
        if not stats:
            raise folder.no_match(path)
    notes: list[str] = []
    scope = _Scope(speakers, days, current, names_days)
    forms = _forms(folder, by_day(stats, order), pattern, scope, notes)
    held: list[Match] = []
    by_file = Counter[str]()
    total = 0
    size = 0
    for match in _matches(pattern, forms):
        if offset <= total <= offset + page and size < MAX_PAGE_CHARS:
            held.append(match)
            size += len(match.text)
        total += 1
        by_file[match.path] += 1
    if len(held) > page and total > offset + page + 1:
        held.pop()
    if offset and offset >= total:
        raise FilememError(
            f"offset {offset} is past the end: {total} lines match; "
            f"use an offset from 0 to {max(0, total - 1)}."
        )
    end = offset + len(held)
    next_offset = end if end < total else 0
    if context:
        held = list(_with_context(folder, held, context))
    return GrepPage(
        lines=held,
        total=total,
        by_file=by_file,
        files=len(stats),
        offset=offset,
        next_offset=next_offset,
        notes=notes,
        case_counts=not pattern.flags & re.IGNORECASE,
    )


def by_day(stats: Iterable[Stat], order: str = "newest") -> list[Stat]:
    """Return files in order: live before archived, dated before undated, by day."""
    ordered = sorted(stats, key=lambda stat: stat.path)
    ordered.sort(key=_moment, reverse=order == "newest")
    ordered.sort(key=lambda stat: (is_archived(stat.path), not _moment(stat)))
    return ordered


def _moment(stat: Stat) -> str:
    """Return the day and clock in a file's path; '' if it has none."""
    when = when_of(stat.path)
    return f"{when.date} {when.time}" if when else ""


def _matches(
    pattern: re.Pattern[str], forms: Iterable[KeyedLine["_LineForm"]]
) -> Iterator[Match]:
    """Yield each line that matches in one of its forms."""
    last: _Line | None = None
    for found in search_lines(pattern, forms):
        form = found.key
        line = form.line
        if line is last:
            continue
        last = line
        spans = [
            (max(0, start + form.shift), max(0, end + form.shift))
            for start, end in found.spans
        ]
        if form.mention:
            spans = [form.mention]
        archived = is_archived(line.path)
        yield Match(line.path, line.number, line.text, archived, spans=tuple(spans))


# -- the lines to look at --------------------------------------------------------------


@dataclass(frozen=True)
class _Scope:
    """Which lines to look at, and whether the pattern names a day."""

    speakers: Collection[str] | None
    days: DayRange | None
    current: CurrentConversation | None
    names_days: bool

    def admits(self, speaker: str, days: DayRange | None) -> bool:
        """Say whether a line of this speaker and of these days is looked at."""
        if self.speakers is not None and fold(speaker) not in self.speakers:
            return False
        if self.days is None:
            return True
        return days is not None and self.days.overlaps(days)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file, and the days on which it was written, if they are known."""

    path: str
    number: int
    text: str
    days: DayRange | None


class _LineForm(NamedTuple):
    """A form in which a line may match.

    Attributes:
        line: as its file has it.
        shift: how many characters the form lacks at its head.
        mention: where in the line the day is named that is all of the form.
    """

    line: _Line
    shift: int = 0
    mention: Span | None = None


def _forms(
    folder: Folder,
    stats: Iterable[Stat],
    pattern: re.Pattern[str],
    scope: _Scope,
    notes: list[str],
) -> Iterator[KeyedLine[_LineForm]]:
    """Yield each line in the forms that may match: as it is, and as it is shown.

    `notes` gets a sentence for each file that cannot be read.
    """
    is_words = _WORDS.fullmatch(pattern.pattern) is not None
    for stat in stats:
        try:
            memory = text_file(folder, stat.path)
        except FilememError as error:
            notes.append(f"{stat.path} was passed over: {error}")
            continue
        if is_words and not scope.names_days and not pattern.search(memory.text):
            continue
        for line in _lines(memory, scope):
            yield KeyedLine(_LineForm(line), line.text)
            if not is_words:
                for shown in _as_shown(line.text):
                    form = _LineForm(line, len(line.text) - len(shown))
                    yield KeyedLine(form, shown)
            if scope.names_days:
                yield from _day_forms(line)


def _as_shown(line: str) -> list[str]:
    """Return a turn's first line in the ways the tools show it.

    These are `Sam: …`, with its clock, and with its date; nothing for another line.
    """
    head = TURN_HEAD.match(line)
    if not head:
        return []
    name, day, clock = head.groups("")
    ways = ([name], [name, clock], [name, day, clock])
    shown = dict.fromkeys(" ".join(filter(None, way)) for way in ways)
    return [f"{said}:{line[head.end() :]}" for said in shown]


def _day_forms(line: _Line) -> Iterator[KeyedLine[_LineForm]]:
    """Yield the days that the tools show in brackets, in words and as in ISO 8601."""
    if line.days is None or line.days.first < line.days.last:
        return
    written_on = dt.date.fromordinal(line.days.first)
    if dates.annotate(line.text, written_on) == line.text:
        return
    for mention in dates.mentioned(line.text, written_on):
        span = mention.span
        if mention.annotated and span.start == span.end:
            words = [in_words(span, chinese) for chinese in (False, True)]
            form = _LineForm(line, mention=(mention.start, mention.end))
            yield KeyedLine(form, f"[{words[0]}] [{words[1]}] [{span.start}]")


def _names_day(expression: str) -> bool:
    """Say whether a pattern names a single day, such as `4 August`."""
    mentions = dates.mentioned(expression.replace("\\b", " "), dt.date(2000, 12, 31))
    return any(
        mention.span.start == mention.span.end and not mention.relative
        for mention in mentions
    )


def _lines(memory: Memory, scope: _Scope) -> Iterator[_Line]:
    """Yield the lines of the speaker and days asked for."""
    path = memory.path
    days = _days_of_file(path)
    speaker = ""
    lines = memory.lines
    if scope.current and scope.current.path == path:
        lines = lines[: scope.current.line - 1]
    for number, text in enumerate(lines, 1):
        head = TURN_HEAD.match(text)
        if head:
            speaker = head[1]
            said_on = day_of_turn(head)
            if said_on:
                days = DayRange.of(one_day(said_on))
        elif text and not text.startswith("  "):
            speaker = ""
        has_words = not (memory.is_formal(number) or memory.is_link(number))
        if has_words and scope.admits(speaker, days):
            yield _Line(path, number, text, days)


def text_file(folder: Folder, path: str) -> Memory:
    """Return a file of any size as it is on disk now.

    Raises:
        FilememError: it cannot be read, or is not text.
    """
    memory = parse(path, folder.read(path))
    if memory.binary:
        raise FilememError(f"{path} is not a text file; nothing in it can be shown.")
    return memory


def _days_of_file(path: str) -> DayRange | None:
    """Return the day, or the days of the month, in a path; None if it has none."""
    when = when_of(path)
    if when is None:
        return None
    unit = "month" if when.day_unknown else "day"
    return DayRange.of(calendar_unit(unit, 0, when.date))


def day_of_turn(head: re.Match[str]) -> dt.date | None:
    """Return the day that the head of a turn writes; None if it writes none."""
    try:
        return dt.date.fromisoformat(head[2] or "")
    except ValueError:
        return None


# -- context ---------------------------------------------------------------------------


def _with_context(
    folder: Folder, matches: Iterable[Match], context: int
) -> Iterator[Match]:
    """Yield the matches with the lines around them, no line twice."""
    by_path: dict[str, dict[int, Match]] = {}
    for match in matches:
        by_path.setdefault(match.path, {})[match.line] = match
    for path, found in by_path.items():
        near: set[int] = set()
        for line in found:
            near.update(range(line - context, line + context + 1))
        last = 0
        for number, text in enumerate(text_file(folder, path).lines, 1):
            if number in near:
                beside = Match(path, number, text, is_archived(path), matches=False)
                gap = 0 < last < number - 1
                yield replace(found.get(number, beside), gap=gap)
                last = number
