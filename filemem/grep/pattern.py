"""A grep pattern: Python's `re` with smart case, matched line by line, and never able to hang or exhaust the program."""

import contextlib
import itertools
import re
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from re import _constants as op  # type: ignore[attr-defined]
from typing import TypeVar

from filemem.errors import FilememError
from filemem.grep.matcher import MEMORY, Child
from filemem.text import expression

LONGEST_PATTERN = 1_000  # characters
LONGEST_LINE = 1 << 24  # characters of a line that are searched; what a longer one holds behind them is not
STARTING = 10.0  # seconds that a child may take to begin
SECONDS = 3.5  # that matching may take in all
PACE = 5e-8  # seconds a character that matching may take besides: what goes as fast as reading may go on for as long
STEPS = 10_000_000  # of matching that one line may need at worst to be matched in this process: under half a second
MOST_PLACES = 5  # in one line that are told
BATCH_LINES, BATCH_CHARS = 4_096, 1 << 18  # matched at a time
CLASS_WEIGHT = 4_000_000  # characters that all sets of a pattern may name; `re.compile` walks through every one of them

Key = TypeVar("Key")
_NO_LITERAL = re.compile(r"\\(?:N\{[^}]*\}|x..|u.{4}|U.{8}|.)|\(\?P[<=]\w+")
"""What has letters that stand for no letter of a line: escapes, names of groups."""
_PARSING = threading.Lock()  # what is done with warnings is of the whole process

_REMEDIES = {
    "missing )": "add the ), or to search for the character itself write \\(",
    "unbalanced parenthesis": "remove it, or to search for the character itself write \\)",
    "unterminated character set": "add the ], or to search for the character itself write \\[",
    "Possible": "to search for the characters themselves write \\[\\[, or \\ before each",
    "bad escape": "write the letter alone, or \\\\ for a backslash; the dialect is that of Python's re",
    "global flags": "write (?i) in front of all, or (?i:...) around what it is for",
    "look-behind": "give it a fixed length, or search without it",
    "bad character range": "write the lower end first, as in a-z",
    "min repeat": "write the lower bound first, as in a{2,5}",
    "the repetition number": "use a smaller one, or +",
    "redefinition": "rename one of the two groups",
    "": "to search for the character itself write \\ before it",
}
"""What to do about a message of `re` that begins so; the first that fits."""


class PatternError(FilememError):
    """The pattern cannot be searched for: one sentence with what is wrong, where, and how to fix it."""


class Pattern:
    """What to search lines for, made by `compile_pattern`; it may serve several threads at once."""

    def __init__(self, text: str, regex: re.Pattern[str], nodes: expression.Nodes) -> None:
        self.text = text
        self._regex = regex
        self._longest = expression.longest_line(nodes, STEPS)  # longer ones are matched in a child

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
        PatternError when matching has taken `seconds`, PACE aside, or one line needs more than MEMORY bytes. One child serves
        the whole search, so that many files are best searched as one stream of lines.
        """
        with contextlib.ExitStack() as held:
            child: Child | None = None
            for batch in _batches(lines):
                far = [line for _, line in batch if len(line) > self._longest]
                if far and child is None:
                    child = held.enter_context(contextlib.closing(self._child()))
                started = time.monotonic()
                seconds += PACE * sum(len(line) for _, line in batch)
                there = iter(self._there(child, far, seconds) if child and far else b"")
                found = []
                for key, line in batch:
                    if time.monotonic() - started > seconds:
                        raise PatternError(_TOO_LONG)
                    if next(there) if len(line) > self._longest else self._regex.search(line):
                        found.append(key)
                seconds -= time.monotonic() - started
                yield from found

    def _child(self) -> Child:
        """A child that has begun: how long a process takes for that says nothing of the pattern."""
        try:
            child = Child()
        except OSError as error:
            raise PatternError(f"pattern: no process can be started to match it ({error}); simplify it") from None
        self._there(child, [], STARTING)
        return child

    def _there(self, child: Child, lines: list[str], left: float) -> bytes:
        """One byte a line, 1 where it matches, else 0, from the child process; within the seconds left."""
        try:
            answer = child.ask((self._regex.pattern, self._regex.flags, lines), left)
        except TimeoutError:
            raise PatternError(_TOO_LONG) from None
        except OSError as error:
            raise PatternError(f"pattern: the process that matches it failed ({error}); simplify it") from None
        if answer is None:
            more = f"matching takes more than {MEMORY >> 20} MB"
            raise PatternError(f"pattern: {more}; simplify it: write [ab]* for (a|b)*, for example")
        return answer


def _batches(lines: Iterable[tuple[Key, str]]) -> Iterator[list[tuple[Key, str]]]:
    """The lines, BATCH_LINES or BATCH_CHARS of them at a time."""
    batch: list[tuple[Key, str]] = []
    size = 0
    for key, line in lines:
        batch.append((key, line[:LONGEST_LINE]))
        size += len(line)
        if size >= BATCH_CHARS or len(batch) >= BATCH_LINES:
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
            nodes = expression.parse(text, flags)
        if expression.weight(nodes) > CLASS_WEIGHT:
            raise PatternError("pattern: its sets name too many characters; use fewer or smaller ones, or .")
        found = Pattern(text, re.compile(text, flags), nodes)
    except re.error as error:
        raise _explained(error.msg, error.pos) from None
    except FutureWarning as warning:
        said, _, place = str(warning).partition(" at position ")
        raise _explained(said, int(place or 0)) from None
    except (OverflowError, RecursionError) as error:
        raise _explained(str(error) if isinstance(error, OverflowError) else "groups nested too deeply", None) from None
    if (op.LITERAL, ord("\n")) in list(nodes):
        raise PatternError("pattern: a line break, and grep looks at one line at a time; search for one line's text")
    return found


def _explained(message: str, at: int | None) -> PatternError:
    """A message of `re` about the character at an offset, with what to do; people count from 1."""
    remedy = next(remedy for beginning, remedy in _REMEDIES.items() if message.startswith(beginning))
    place = f" at character {at + 1}" if at is not None else ""
    return PatternError(f"pattern: {message}{place}; {remedy}")
