"""A grep pattern: compiled with smart case, matched line by line, and never able to hang or exhaust the program."""

import itertools
import re
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from filemem.grep import expression
from filemem.grep.charclasses import has_odd_words
from filemem.grep.dialect import PatternError, Translation, mistake, translate
from filemem.grep.expression import Nodes, fold
from filemem.grep.matcher import MEMORY, Matcher

__all__ = ["LONGEST_LINE", "LONGEST_PATTERN", "SECONDS", "Pattern", "PatternError", "compile_pattern", "fold"]

LONGEST_PATTERN = 1_000
"""Characters in a pattern."""

LONGEST_LINE = 1 << 24
"""Characters of a line that are searched; what a longer one holds behind them is not."""

SECONDS = 3.5
"""Seconds that matching may take in all, with reading what a child matches; with starting and stopping, a search that is
given up takes under five."""

PACE = 5e-8
"""Seconds a character that matching in this process may take besides: what goes as fast as reading may go on for as long."""

STEPS = 10_000_000
"""Steps of matching that one line may need at worst to be matched in this process: under half a second."""

MOST_PLACES = 5
"""Places in one line that are told."""

BATCH_LINES = 4_096
BATCH_CHARS = 1 << 18
"""How many lines, or characters, are sent to the child at a time."""

Key = TypeVar("Key")
_Held = tuple[Key, str, re.Pattern[str], bool | None]  # a line by its key, what to match it with, whether it does

# The messages of `re` that a person can do something about: what is wrong, and what to do.
_REMEDIES = {
    "nothing to repeat": ("a repeat with nothing to repeat", "to search for the character itself put \\ in front"),
    "multiple repeat": ("a repeat of a repeat", "put the first one in a group, as in (?:a*)?, or put \\ in front"),
    "min repeat greater": ("a repeat whose bounds are the wrong way round", "write the lower first, as in a{2,5}"),
    "look-behind": ("a look-behind of varying length", "give it a fixed length, or search without it"),
    "redefinition of group": ("a group name that is used twice", "rename one of the two"),
    "the repetition number": ("a repeat count that is too large", "use a smaller one, or +"),
}


class _Expression(NamedTuple):
    """A compiled expression."""

    regex: re.Pattern[str]
    nodes: Nodes
    longest: int
    """The longest line, in characters, that is matched in this process; longer ones are in a child."""


class Pattern:
    """What to search lines for, made by `compile_pattern`; it may serve several threads at once."""

    __slots__ = ("_exact", "_fast", "_has_words", "_word", "ignores_case", "literals", "text")

    def __init__(self, text: str, word: bool) -> None:
        self.text = text
        self._word = word
        translation = translate(text, word=word)
        self.ignores_case = translation.ignores_case
        self._has_words = translation.has_words
        self._fast = _compiled(translation)
        self._exact: _Expression | None = None
        # The most telling first, so that most texts are turned down by one test.
        self.literals = sorted(expression.required(self._fast.nodes), key=expression.shortest, reverse=True)
        """Every line that matches holds, once folded (`fold`), one string of each of these sets."""

    def may_match(self, folded: str) -> bool:
        """False where no line of this text, folded by `fold`, can match."""
        for strings in self.literals:
            for string in strings:
                if string in folded:
                    break
            else:
                return False
        return True

    def places(self, line: str) -> list[tuple[int, int]]:
        """Where a matching line matches, MOST_PLACES at most; where finding that out might take long, where what it must hold
        stands; empty where that cannot be told either."""
        regex, _, longest = self._expression_for(line)
        if len(line) <= longest:
            return [match.span() for match in itertools.islice(regex.finditer(line), MOST_PLACES)]
        folded = fold(line)
        found = {(folded.find(string), len(string)) for strings in self.literals for string in strings}
        return sorted((at, at + length) for at, length in found if at >= 0)[:MOST_PLACES]

    def search(self, lines: Iterable[tuple[Key, str]], seconds: float = SECONDS) -> Iterator[Key]:
        """The key of each line that matches, in order, as they are found.

        Lines come without their line ending. Only the first LONGEST_LINE characters of a line are searched. Raises
        PatternError when matching has taken `seconds`, reading the lines that a child must match included, or one line
        needs more than MEMORY bytes. One child serves the whole search, so that many files are best searched as one
        stream of lines.
        """
        with _Search(seconds) as searching:
            held: list[_Held[Key]] = []
            waiting = read = 0
            for key, whole in lines:
                line = whole[:LONGEST_LINE]
                read += 1
                if self.literals and not self.may_match(fold(line)):
                    continue
                regex, _, longest = self._expression_for(line)
                here = len(line) <= longest
                matches = searching.here(regex, line) if here else None
                if here and not waiting:
                    if matches:
                        yield key
                    continue
                # What is matched already waits for the lines before it, so that all come out in order.
                searching.since = searching.since or time.monotonic()
                held.append((key, line, regex, matches))
                waiting += len(line)
                if waiting >= BATCH_CHARS or len(held) >= BATCH_LINES:
                    searching.spend((time.monotonic() - searching.since) * len(held) / read)
                    yield from searching.settle(held)
                    held, waiting, read = [], 0, 0
            yield from searching.settle(held)

    def _expression_for(self, line: str) -> _Expression:
        if not self._has_words or not has_odd_words(line):
            return self._fast
        if not self._exact:
            try:
                self._exact = _compiled(translate(self.text, word=self._word, exact=True))
            except PatternError:
                # Dozens of \\b make exact classes too large; then Python's word characters have to do.
                self._exact = self._fast
        return self._exact


class _Search:
    """One search: the seconds of matching that it has left, its child once it needs one, and since when (0: it needs none
    yet) lines are read for that, and what matched before them is taken."""

    __slots__ = ("child", "left", "seconds", "since")

    def __init__(self, seconds: float) -> None:
        self.seconds = self.left = seconds
        self.child: Matcher | None = None
        self.since = 0.0

    def __enter__(self) -> "_Search":
        return self

    def __exit__(self, *_: object) -> None:
        if self.child:
            self.child.close()

    def here(self, regex: re.Pattern[str], line: str) -> bool:
        started = time.monotonic()
        matches = regex.search(line) is not None
        self.spend(max(0.0, time.monotonic() - started - PACE * len(line)))
        return matches

    def spend(self, seconds: float) -> None:
        """Count some seconds; raises PatternError where there are none left."""
        self.left -= seconds
        if self.left < 0:
            raise self.too_long()

    def there(self, regex: re.Pattern[str], lines: list[str]) -> bytes:
        try:
            if not self.child:
                self.child = Matcher()
            started = time.monotonic()
            found = self.child.match(regex, lines, self.left)
        except TimeoutError:
            raise self.too_long() from None
        except MemoryError:
            raise PatternError(
                f"pattern: matching takes more than {MEMORY >> 20} MB; simplify it: write [ab]* for (a|b)*, for example"
            ) from None
        except OSError as error:
            raise PatternError(f"pattern: the process that matches it failed ({error}); simplify it") from None
        self.left -= time.monotonic() - started
        return found

    def settle(self, held: list[_Held[Key]]) -> Iterator[Key]:
        """The keys of what matches, in order, once the child has looked at the lines of which it is not known yet."""
        found: dict[re.Pattern[str], Iterator[int]] = {}
        for regex in {regex for _, _, regex, matches in held if matches is None}:
            lines = [line for _, line, wanted, matches in held if matches is None and wanted is regex]
            found[regex] = iter(self.there(regex, lines))
        self.since = time.monotonic()
        for key, _, regex, known in held:
            if next(found[regex]) if known is None else known:
                yield key

    def too_long(self) -> PatternError:
        return PatternError(
            f"pattern: matching takes longer than {self.seconds:g} s; simplify it: avoid a repeat inside a repeat, "
            "as in (a+)+, and several .* in a row"
        )


def compile_pattern(text: str, *, word: bool = False) -> Pattern:
    """The pattern that `text` writes, in the syntax of Python's `re` with ripgrep's smart case; `word` finds it only
    where no word character stands beside it. Raises PatternError."""
    if len(text) > LONGEST_PATTERN:
        raise PatternError(f"pattern: {len(text):,} characters are too many; use at most {LONGEST_PATTERN:,}")
    return Pattern(text, word)


def _compiled(translation: Translation) -> _Expression:
    flags = re.IGNORECASE if translation.ignores_case else re.NOFLAG
    try:
        regex = re.compile(translation.text, flags)
        nodes = expression.parse(translation.text, flags)
    except re.error as error:
        raise _explained(error.msg, translation.origin[error.pos or 0]) from None
    except OverflowError as error:
        raise _explained(str(error), translation.text.find("{")) from None
    return _Expression(regex, nodes, expression.longest_line(nodes, STEPS))


def _explained(message: str, at: int) -> PatternError:
    """A message of `re` about the character at offset `at`, in words that say what to do."""
    for beginning, (what, remedy) in _REMEDIES.items():
        if message.startswith(beginning):
            return mistake(what, at, remedy)
    return mistake(message, at, "write \\ before a character that stands for itself")
