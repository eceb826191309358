"""Words in Chinese text, which shows them by no spaces.

For questions, whose words are weighed one by one; memories are searched by characters
and pairs of them.
"""

import functools
import itertools

from filemem.text import tables
from filemem.text.terms import is_cjk

# Powers of two, of how frequent it is:
RARE_CHARACTER = 4.0  # a character by itself
JOINING_CHARACTER = 14.0  # one that joins other words
ALL_WORDS = 25.0  # all words together
MAX_WORD_CHARACTERS = 4


@functools.cache
def _weights() -> dict[str, float]:
    """Return how frequent each word is, as a power of two.

    One character by itself has no line, and what only joins others has none either.
    """
    found: dict[str, float] = {}
    for line in tables.lines("words-zh.txt"):
        key, *words = line.split()
        if key != "=":
            found |= dict.fromkeys(words, float(key))
    return found


@functools.cache
def _joining() -> frozenset[str]:
    """Return the words that only join others, which stand behind `=`."""
    for line in tables.lines("words-zh.txt"):
        if line.startswith("="):
            return frozenset(line[1:].split())
    return frozenset()


def _weight(word: str) -> float:
    """Return how frequent a word is, as a power of two; 0 if it is none."""
    if len(word) > 1:
        return _weights().get(word, 0.0)
    return JOINING_CHARACTER if word in _joining() else RARE_CHARACTER


@functools.lru_cache(maxsize=1024)
def segments(run: str) -> tuple[str, ...]:
    """Return the words of a run of Chinese: those that are together the likeliest.

    What no word covers stands character by character.
    """
    # By end: how likely the words up to there are, and where the last one begins.
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(run) + 1):
        found: list[tuple[float, int]] = []
        for start in range(max(0, end - MAX_WORD_CHARACTERS), end):
            weight = _weight(run[start:end])
            if weight:
                found.append((best[start][0] + weight - ALL_WORDS, start))
        best.append(max(found))
    words: list[str] = []
    end = len(run)
    while end:
        start = best[end][1]
        words.insert(0, run[start:end])
        end = start
    return tuple(words)


def is_unknown(piece: str) -> bool:
    """Tell whether a piece of Chinese is none the dictionary knows, as most names."""
    return is_cjk(piece) and len(segments(piece)) == len(piece) > 1


def chinese_content(run: str) -> list[str]:
    """Return the pieces of a run between the words that only join others."""
    pieces = itertools.groupby(segments(run), _joining().__contains__)
    return ["".join(words) for is_joint, words in pieces if not is_joint]
