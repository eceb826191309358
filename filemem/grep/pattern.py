"""A grep pattern: Python's `re` with smart case, matched line by line, and never able to hang or exhaust the program."""

import itertools
import re
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, TypeVar

from filemem.errors import FilememError
from filemem.grep.matcher import MEMORY, match_apart

LONGEST_PATTERN = 1_000  # characters, which take `re.compile` a second or so at most: sets of all there are
LONGEST_LINE = 1 << 24  # characters of a line that are searched; what a longer one holds behind them is not
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
    return [body for part in argument for body in _inside(part)] if isinstance(argument, list | tuple) else []


def _ways(nodes: Nodes) -> tuple[int, int]:
    """(ways, power): at one place of a line there are at most `ways` × length ** `power` ways to match, all of which a
    backtracking search may try, each in as many steps as the pattern has characters.

    A sequence multiplies ways, a branch adds them up, a repeat raises them to the power of its count.
    """
    ways, power = 1, 0
    for operation, argument in nodes:
        inner = [_ways(body) for body in _inside(argument)]
        count, within = sum(count for count, _ in inner) or 1, max((more for _, more in inner), default=0)
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
        return [match.span() for match in itertools.islice(regex.finditer(line), MOST_PLACES)]

    def search(self, lines: Iterable[tuple[Key, str]], seconds: float = SECONDS) -> Iterator[Key]:
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
                if next(there) if len(line) > self._longest else self._regex.search(line):
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
            raise PatternError(f"pattern: {more}; simplify it: write [ab]* for (a|b)*, for example") from None
        except OSError as error:
            raise PatternError(f"pattern: the process that matches it failed ({error}); simplify it") from None


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


_TOO_LONG = (
    "pattern: matching takes too long; simplify it: avoid a repeat inside a repeat, (a+)+, and several .* in a row"
)


def compile_pattern(text: str) -> Pattern:
    """The pattern that `text` writes, in the syntax of Python's `re`; case counts only where it has a capital letter.

    Raises PatternError, also for a set that later versions of `re` will read otherwise (`[[a]`), and for a line break.
    """
    if len(text) > LONGEST_PATTERN:
        raise PatternError(f"pattern: {len(text):,} characters are too many; use at most {LONGEST_PATTERN:,}")
    flags = re.NOFLAG if any(map(str.isupper, _NO_LITERAL.sub("", text))) else re.IGNORECASE
    try:
        with _PARSING, warnings.catch_warnings():
            warnings.simplefilter("error")
            nodes = _parser.parse(text, flags)
        found = Pattern(text, re.compile(text, flags), nodes)
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        what = "groups nested too deeply" if isinstance(error, RecursionError) else error
        raise PatternError(
            f"pattern: {what}; write \\ before a sign that means itself; the syntax is Python's re"
        ) from None
    if (op.LITERAL, ord("\n")) in list(nodes):
        raise PatternError("pattern: a line break, and grep looks at one line at a time; search for one line's text")
    return found
