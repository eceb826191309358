"""From text to search terms: folding, tokens, English stems, word lists. Pure functions; the word lists are files in `data/`.

A token is what the index holds: a folded word, or of a run of Chinese, Japanese or Korean its characters and its pairs of
neighbouring characters. A stem is what a question's words are compared by.
"""

import functools
import itertools
import operator
import re
import threading
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

# -- the tables in `data/`, which are there to be read and changed: words, and patterns put together of named parts ----------

DATA = Path(__file__).parents[1] / "data"


def table_lines(name: str) -> tuple[str, ...]:
    """The lines of a table, without blank ones and those that begin with `#`."""
    text = (DATA / name).read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and line[0] != "#")


@functools.cache
def table_rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a table, columns two or more spaces apart; the indented lines under a row are its last column."""
    blocks = re.findall(
        r"^(\S.*)((?:\n +.*)*)", "\n".join(table_lines(name)), re.MULTILINE
    )
    return tuple(
        (*re.split(" {2,}", head), *filter(None, [re.sub(r"\n +", "", under)]))
        for head, under in blocks
    )


@functools.cache
def table_words(name: str) -> dict[str, list[str]]:
    """The words of a table by their heads, of which each may begin several lines: `head: word, word`."""
    found: dict[str, list[str]] = {}
    for line in table_lines(name):
        head, _, words = line.partition(": ")
        found.setdefault(head, []).extend(words.split(", "))
    return found


class Patterns:
    """Patterns in which ‹name› stands for a part: one that a table of patterns names in two columns, or one of `more`."""

    def __init__(self, table: str, more: Callable[[], dict[str, str]]) -> None:
        self._table, self._more = table, more
        self._made: dict[str, re.Pattern[str]] = {}

    @functools.cached_property
    def parts(self) -> dict[str, str]:
        """The parts by name."""
        return (
            dict(row for row in table_rows(self._table) if len(row) == 2) | self._more()
        )

    def expanded(self, pattern: str) -> str:
        """The pattern with every part in it written out."""
        while "‹" in pattern:
            pattern = re.sub("‹([^›]+)›", lambda found: self.parts[found[1]], pattern)
        return pattern

    def __call__(self, pattern: str) -> re.Pattern[str]:
        """The pattern, whatever case letters have."""
        if pattern not in self._made:
            # ASCII keeps \b between 天 and y, \d free of other scripts' digits, the folding of case out of Unicode's odd pairs.
            self._made[pattern] = re.compile(
                self.expanded(pattern), re.IGNORECASE | re.ASCII
            )
        return self._made[pattern]


# -- terms ------------------------------------------------------------------------------------------------------------

CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
LETTER = rf"[^\W{CJK}]"  # of a script that writes words apart; CJK names stand within a row of other characters
_WORDS = table_words("words.txt")
STOP = frozenset(_WORDS["stop"])
ASKING = frozenset(_WORDS["asking"])

_LONGEST = 64  # characters of a token; a longer one is cut into several
_ASCII_WORDS = bytes(
    ord(chr(n).lower()) if n < 128 and chr(n).isalnum() else 32 for n in range(256)
)  # else a space
# All of them, in strides from space to space.
_SHORT_WORDS = re.compile(f"(?s:(?>.{{0,{_LONGEST}}} )*+.{{0,{_LONGEST}}})")
_WORD = re.compile(f"[{CJK}]+|[^\\W_{CJK}]{{1,{_LONGEST}}}")
_IS_CJK = re.compile(f"[{CJK}]")
_LATIN = re.compile("[A-Za-z]+")
_MARKS = re.compile("[\u0300-\u036f]+")
_CAPTION = re.compile(
    r"\[(?:image|photo|picture|video|图片|照片|图像|视频)\s*[:：]([^\[\]\n]*)\]",
    re.IGNORECASE,
)

_QUESTION = re.compile(r"[?？][^.!。！?？]{0,25}$|[吗呢][。~～\s]*$")


# -- tokens ------------------------------------------------------------------------------------------------------


def fold(text: str) -> str:
    """Lower case, compatibility forms unified, accents off, traditional Chinese characters as simplified ones."""
    if text.isascii():
        return text.lower()
    return simplified(
        unicodedata.normalize(
            "NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
        )
    )


def simplified(text: str) -> str:
    """The text with each traditional Chinese character as its simplified one, so that it is as long as before."""
    if text.isascii():
        return text
    any_traditional, table = _traditional()
    return text.translate(table) if any_traditional.search(text) else text


def tokens(text: str) -> list[str]:
    """The folded tokens of `text` in order; a CJK run gives each character and each pair: 喝茶 gives 喝, 喝茶, 茶."""
    if text.isascii():
        folded = text.encode().translate(_ASCII_WORDS).decode()
        if _SHORT_WORDS.fullmatch(folded):
            return folded.split()
        return [
            word[at : at + _LONGEST]
            for word in folded.split()
            for at in range(0, len(word), _LONGEST)
        ]
    found = []
    for word in _WORD.findall(fold(text)):
        if not word.isascii() and _IS_CJK.match(word):
            found += cjk_tokens(word)
        else:
            found.append(word)
    return found


def cjk_tokens(run: str) -> list[str]:
    """The characters of a CJK run, each followed by its pair with the next one."""
    found = [""] * (2 * len(run) - 1)
    found[::2] = run
    found[1::2] = map(operator.add, run, run[1:])
    return found


def words(text: str) -> list[str]:
    """The folded words of `text` in order, a CJK run in one piece."""
    return _WORD.findall(fold(text))


def content(text: str) -> set[str]:
    """The stems of the words that carry meaning, captions aside; of Chinese the pairs of characters."""
    found = tokens(split_captions(text)[0])
    return {*stems(token for token in found if len(token) > 1 and token not in STOP)}


def is_chinese(text: str) -> bool:
    """Whether most of the text's words are CJK characters."""
    return len(_IS_CJK.findall(text)) > len(_LATIN.findall(text))


def is_cjk(token: str) -> bool:
    """Whether a token comes from a CJK run."""
    return not token.isascii() and _IS_CJK.match(token) is not None


def split_captions(text: str) -> tuple[str, str]:
    """What was said, and what the `[image: …]` parts show."""
    if "[" not in text:
        return text, ""
    parts = _CAPTION.split(text)
    return " ".join(parts[::2]), "\n".join(parts[1::2])


def shorten_captions(text: str, wanted: Collection[str]) -> str:
    """The text with each caption that holds none of these stems shortened to what it is of: `[image …]`."""

    def shorter(match: re.Match[str]) -> str:
        asked = any(
            stem(token) in wanted for token in tokens(match[1]) if token not in STOP
        )
        return (
            match[0] if asked else f"{match[0].partition(':')[0].partition('：')[0]} …]"
        )

    return _CAPTION.sub(shorter, text) if "[" in text else text


def ends_in_question(text: str) -> bool:
    """Say whether what is said, captions aside, ends in a question."""
    ending = split_captions(text)[0][-30:]
    if ending.isascii() and "?" not in ending:
        return False
    return _QUESTION.search(ending) is not None


# -- word lists --------------------------------------------------------------------------------------------------


@functools.cache
def _traditional() -> tuple[re.Pattern[str], dict[int, str]]:
    """Any traditional character, which is sooner looked for than each is looked up; and their simplified ones."""
    groups = " ".join(table_lines("traditional.txt")).split()
    table = {
        ord(traditional): group[0] for group in groups for traditional in group[1:]
    }
    return re.compile(f"[{''.join(map(chr, table))}]"), table


@functools.cache
def _same() -> dict[str, str]:
    rows = [line.split() for line in table_lines("same.txt")]
    stemmed = _porter([first for first, *_ in rows])
    return {word: stemmed[row[0]] for row in rows for word in row}


@functools.cache
def _related() -> dict[str, dict[str, tuple[list[str], list[str]]]]:
    """By its first three letters each word, with the words used instead of it, and the members of the kind that it names."""
    found: defaultdict[str, dict[str, tuple[list[str], list[str]]]] = defaultdict(dict)
    for first, *others in map(str.split, table_lines("related.txt")):
        for word, near in ((first, others), *((other, [first]) for other in others)):
            found[word[:3]].setdefault(word, ([], []))[0].extend(near)
    for names, members in (line.split(":") for line in table_lines("kinds.txt")):
        for name in names.split():
            found[name[:3]].setdefault(name, ([], []))[1].extend(members.split())
    return found


def related(token: str) -> tuple[list[str], list[str]]:
    """The stems of words that may be said for `token`, and of everyday members of the kind that it names; each sorted."""
    stemmed = stem(token)
    known = [
        item
        for key in {token[:3], stemmed[:3]}
        for item in _related().get(key, {}).items()
    ]
    same = [told for word, told in known if stem(word) == stemmed]
    inside = {stem(other) for _, members in same for other in members} - {stemmed}
    others = {stem(other) for near, _ in same for other in near} - {stemmed} - inside
    return sorted(others), sorted(inside)


# -- English stems -----------------------------------------------------------------------------------------------
# By Porter's algorithm of 1980, as SQLite's FTS5 has it; words that it takes for two are one in same.txt.

_STEMS: dict[str, str] = {}  # by token
_STEMMING = threading.Lock()
_MOST_STEMS = 200_000  # kept at a time


def stem(token: str) -> str:
    """The form that a token shares with its inflections and irregular forms; a CJK token is its own stem."""
    return _STEMS.get(token) or stems([token])[0]


def stems(found: Iterable[str]) -> list[str]:
    """The stem of each of some tokens, which takes less time than one by one."""
    wanted = list(found)
    if new := [token for token in dict.fromkeys(wanted) if token not in _STEMS]:
        same, known = _same(), _porter([token for token in new if token.isascii()])
        if len(_STEMS) > _MOST_STEMS:
            _STEMS.clear()
        _STEMS.update(
            (
                one,
                same.get(one) or same.get(one.removesuffix("s")) or known.get(one, one),
            )
            for one in new
        )
    return [_STEMS.get(token) or stem(token) for token in wanted]


def _porter(words: list[str]) -> dict[str, str]:
    """The stems of words of ASCII letters and digits."""
    words = [word for word in words if word.isalnum()]
    with _STEMMING:
        table = _stemmer()
        table.execute("INSERT INTO words(words) VALUES ('delete-all')")
        table.execute("INSERT INTO words(word) VALUES (?)", (" ".join(words),))
        found = [
            one for (one,) in table.execute("SELECT term FROM stems ORDER BY offset")
        ]
    return dict(zip(words, found, strict=True))


@functools.cache
def _stemmer() -> "sqlite3.Connection":
    import sqlite3  # noqa: PLC0415  a grep does without

    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    made.execute(
        "CREATE VIRTUAL TABLE words USING fts5(word, content='', tokenize='porter ascii')"
    )
    made.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, instance)")
    return made


# -- words in Chinese text, which shows them by no spaces ------------------------------------------------------------------
# Where they end, by a dictionary, and which of them only join others: for questions, whose words are weighed and reported one by
# one; memories are searched by characters and pairs.

_RARE, _FREQUENT = (
    4.0,
    14.0,
)  # powers of two of the frequency of a character by itself, and of one that joins others
_ALL = 25.0  # and of all words together
_LONGEST_WORD = 4  # characters of a word of the dictionary


@functools.cache
def _dictionary() -> tuple[dict[str, float], frozenset[str], frozenset[str]]:
    """Words with the power of two of their frequency, those that only join others, and those that any question may have."""
    rows = {
        words[0]: words[1:] for words in map(str.split, table_lines("words-zh.txt"))
    }
    joining, asking = frozenset(rows.pop("=")), frozenset(rows.pop("+"))
    return (
        {word: float(key) for key, words in rows.items() for word in words},
        joining,
        asking,
    )


@functools.lru_cache(maxsize=1024)
def segments(run: str) -> tuple[str, ...]:
    """The words of a run of Chinese, those together the likeliest; what no word covers character by character."""
    weights, joining, _ = _dictionary()
    # By end: how likely the words up to there are, where the last one begins.
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(run) + 1):
        found = []
        for start in range(max(0, end - _LONGEST_WORD), end):
            word = run[start:end]
            alone = end - start == 1
            weight = (
                (_FREQUENT if word in joining else _RARE)
                if alone
                else weights.get(word, 0.0)
            )
            if weight:
                found.append((best[start][0] + weight - _ALL, start))
        best.append(max(found))
    cuts = [len(run)]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    return tuple(run[start:end] for start, end in itertools.pairwise(cuts[::-1]))


def is_unknown(piece: str) -> bool:
    """Is this a piece of Chinese that the dictionary does not know, a name mostly?"""
    return is_cjk(piece) and len(segments(piece)) == len(piece) > 1


def chinese_content(run: str) -> list[str]:
    """The pieces of a run between the words that only join others."""
    pieces = itertools.groupby(segments(run), _dictionary()[1].__contains__)
    return ["".join(words) for joint, words in pieces if not joint]
