"""Names and words in Chinese text, which shows neither by capitals nor by spaces.

What can be told to be a name: a surname where a name may begin, a foreign name by the characters that write its sounds, a
place by a list. Names that look like other words go unnoticed. Where words end, by a dictionary, and which of them only
join others: for questions, whose words are weighed and reported one by one; memories are searched by characters and pairs.
"""

import functools
import itertools
import re
from collections.abc import Iterator

from filemem.text import tables, terms

_WORDS = tables.words("names-zh.txt")
_SURNAMES = "|".join(
    f"{name}(?![{other}])" if other else name for name, _, other in (one.partition(":") for one in _WORDS["surnames"])
)
_BEFORE = rf"(?:^|(?<=[^\u4e00-\u9fff])|(?<=[{_WORDS['before'][0]}]))"
_OWN = re.compile(
    rf"{_BEFORE}(?:{_SURNAMES})(?![的了是在和与跟也都就很不])[\u4e00-\u9fff]"
    rf"(?:(?<=[小晓])[\u4e00-\u9fff]|(?![{_WORDS['follows'][0]}])[\u4e00-\u9fff])?"
)
_FOREIGN = re.compile(rf"(?!哈哈)[{''.join(_WORDS['sounds'])}]{{3,6}}|[\u30a1-\u30fa\u30fc]{{2,}}")
_PLACES = re.compile("|".join(_WORDS["places"]))


def names(text: str) -> Iterator[str]:
    """The names in a text, in simplified characters; behind a surname and one character, a third may be another word's."""
    folded = terms.fold(text)
    for pattern in (_OWN, _FOREIGN, _PLACES):
        yield from (match[0] for match in pattern.finditer(folded))


_RARE, _FREQUENT = 4.0, 14.0  # powers of two of the frequency of a character by itself, and of one that joins others
_ALL = 25.0  # and of all words together
_LONGEST = 4  # characters of a word of the dictionary


@functools.cache
def _table() -> tuple[dict[str, float], frozenset[str]]:
    """Words with the power of two of their frequency, and those that only join others."""
    weights: dict[str, float] = {}
    joining: frozenset[str] = frozenset()
    for line in tables.lines("words-zh.txt"):
        key, _, words = line.partition(" ")
        if key == "=":
            joining = frozenset(words.split())
        else:
            weights.update(dict.fromkeys(words.split(), float(key)))
    return weights, joining


@functools.lru_cache(maxsize=1024)
def segments(run: str) -> tuple[str, ...]:
    """The words of a run of Chinese, those together the likeliest; what no word covers character by character."""
    weights, joining = _table()
    # By end: how likely the words up to there are, where the last one begins.
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(run) + 1):
        found = []
        for start in range(max(0, end - _LONGEST), end):
            word = run[start:end]
            alone = end - start == 1
            weight = (_FREQUENT if word in joining else _RARE) if alone else weights.get(word, 0.0)
            if weight:
                found.append((best[start][0] + weight - _ALL, start))
        best.append(max(found))
    cuts = [len(run)]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    return tuple(run[start:end] for start, end in itertools.pairwise(cuts[::-1]))


def is_connective(word: str) -> bool:
    """Does a word only join others: a preposition, a pronoun, an adverb?"""
    return word in _table()[1]


def content(run: str) -> list[str]:
    """The pieces of a run between the words that only join others."""
    return ["".join(words) for joint, words in itertools.groupby(segments(run), is_connective) if not joint]
