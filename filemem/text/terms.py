"""From text to search terms: folding, tokens, English stems, words that are related.

A token is what the index holds: a folded word, or of a run of Chinese, Japanese or
Korean its characters and its pairs of neighbouring characters. A stem is what the words
of a question are compared by. The word lists are files in `data/`.
"""

import functools
import operator
import re
import threading
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from filemem.text import tables

if TYPE_CHECKING:
    import sqlite3

CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
LETTER = rf"[^\W{CJK}]"
"""A letter of a script that writes words apart; names in CJK stand within a row."""

_WORDS = tables.parts("words.txt")
STOP = frozenset(_WORDS["stop"].replace(", ", ",").split(","))
ASKING = frozenset(_WORDS["asking"].split(", "))

MAX_TOKEN_CHARACTERS = 64  # a longer word is cut into several
MAX_STEMS = 200_000  # that are kept
QUESTION_CHARACTERS = 30  # at the end of a text, in which its question mark stands

# Signs that are asked for alone; what code, links and names are full of counts where it
# stands alone.
_ASCII_SIGN = r"[$%]|(?<!\S)[#&+=@](?!\S)"
_ASCII_WORD = re.compile(f"[a-z0-9]{{1,{MAX_TOKEN_CHARACTERS}}}|{_ASCII_SIGN}")
# Emoji, symbols and signs of currencies, each a word; of a flag its two letters.
SIGN = (
    "[\U0001f1e6-\U0001f1ff]{2}"
    "|[¢£¥§©®°\u20a0-\u20e3\u2190-\u24ff\u25a0-\u2bff\u3030\u303d"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)
_WORD = re.compile(
    f"[{CJK}]+|[^\\W_{CJK}]{{1,{MAX_TOKEN_CHARACTERS}}}|{SIGN}|{_ASCII_SIGN}"
)
# max_retries, build-cache: a letter first, so that no date is one.
_COMPOUND = re.compile(f"[^\\W\\d_{CJK}][^\\W_{CJK}]*+(?:[-_][^\\W_{CJK}]++)+")
_IS_CJK = re.compile(f"[{CJK}]")
_LATIN = re.compile("[A-Za-z]+")
_ACCENTS = re.compile("[\u0300-\u036f]+|(?<=l)·(?=l)")  # of col·lecció, too
# Letters that no accent makes, each before what people type who have no key for it.
_TYPED = {
    pair[0]: pair[1:]
    for pair in (
        "łl đd ðd øo ıi ħh ŧt ŋng þth æae œoe ĸk ɓb ɗd ƙk əe ɛe ɔo ɖd ɣg ƴy ɲn ɨi ʉu "
        "ƀb ɫl"
    ).split()
}
_UNTYPED = re.compile(f"[{''.join(_TYPED)}]")
CAPTION = re.compile(
    r"\[(?:image|photo|picture|video|图片|照片|图像|视频)\s*[:：]([^\[\]\n]*)\]",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？][^.!。！?？]{0,25}$|[吗呢][。~～\s]*$")


# -- tokens ------------------------------------------------------------------------


def fold(text: str) -> str:
    """Return a text in lower case, in one form, without accents, in simplified Chinese.

    Compatibility forms, such as full-width letters, become the plain ones, and letters
    that few keyboards have what is typed for them: Łódź is lodz.
    """
    if text.isascii():
        return text.lower()
    text = text.replace("‼", "❗").replace("⁉", "❗")  # which else are mere ! and ?
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    plain = _UNTYPED.sub(lambda letter: _TYPED[letter[0]], plain)
    return simplified(unicodedata.normalize("NFC", plain))


def simplified(text: str) -> str:
    """Return a text of the same length with simplified Chinese characters."""
    if text.isascii():
        return text
    return _traditional().sub(lambda sign: _simplified()[sign[0]], text)


@functools.cache
def _traditional() -> re.Pattern[str]:
    return re.compile(f"[{''.join(_simplified())}]")


@functools.cache
def _simplified() -> dict[str, str]:
    """Return the simplified character for each traditional one."""
    found: dict[str, str] = {}
    for group in " ".join(tables.lines("traditional.txt")).split():
        found |= dict.fromkeys(group[1:], group[0])
    return found


def tokens(text: str) -> list[str]:
    """Return the folded tokens of a text in order.

    A run of CJK gives each character and each pair: 喝茶 gives 喝, 喝茶, 茶.
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    found: list[str] = []
    for word in words(text):
        found += cjk_tokens(word) if is_cjk(word) else [word]
    return found


def cjk_tokens(run: str) -> list[str]:
    """Return the characters of a CJK run, each followed by its pair with the next."""
    found = [""] * (2 * len(run) - 1)
    found[::2] = run
    found[1::2] = map(operator.add, run, run[1:])
    return found


def words(text: str) -> list[str]:
    """Return the folded words of a text in order, a CJK run in one piece."""
    return _WORD.findall(fold(text))


def compounds(text: str) -> list[list[str]]:
    """Return the folded names of a text that `-` or `_` joins, each in its parts.

    As max, retries for max_retries; at most MAX_TOKEN_CHARACTERS of a name in all.
    """
    if "-" not in text and "_" not in text:
        return []
    joined = " ".join(word for word in text.split() if "-" in word or "_" in word)
    names = _COMPOUND.findall(fold(joined))
    return [re.split("[-_]+", name[:MAX_TOKEN_CHARACTERS]) for name in names]


def content(text: str) -> set[str]:
    """Return the stems of the words that carry meaning, of CJK of every token.

    What captions say is left out.
    """
    found = tokens(CAPTION.sub(" ", text))
    return set(stems(token for token in found if token not in STOP))


def is_chinese(text: str) -> bool:
    """Tell whether most of the words of a text are CJK characters."""
    return len(_IS_CJK.findall(text)) > len(_LATIN.findall(text))


def is_cjk(token: str) -> bool:
    """Tell whether a token comes from a CJK run."""
    return not token.isascii() and _IS_CJK.match(token) is not None


def shorten_captions(text: str, wanted: Collection[str]) -> str:
    """Return a text whose captions say only what they are of: `[image …]`.

    Args:
        text: which may have captions, as in `[image: a red car]`.
        wanted: stems; a caption that holds one of them stays whole.
    """
    shortened = text
    for match in CAPTION.finditer(text):
        shown = [token for token in tokens(match[1]) if token not in STOP]
        if not any(stem(token) in wanted for token in shown):
            sort = re.split("[:：]", match[0], maxsplit=1)[0]
            shortened = shortened.replace(match[0], f"{sort} …]")
    return shortened


def ends_in_question(text: str) -> bool:
    """Tell whether what is said ends in a question."""
    return _QUESTION.search(text[-QUESTION_CHARACTERS:]) is not None


# -- English stems -----------------------------------------------------------------
# By Porter's algorithm of 1980, as SQLite's FTS5 has it; words that it takes for two
# are one in same.txt.

_STEMS: dict[str, str] = {}  # by token
_STEMMING = threading.Lock()


def stem(token: str) -> str:
    """Return the form that a token shares with its inflections; of CJK the token."""
    return _STEMS.get(token) or stems([token])[0]


def stems(found: Iterable[str]) -> list[str]:
    """Return the stem of each token, in their order.

    It is quicker than to ask for one after the other.
    """
    wanted = list(found)
    new = [token for token in dict.fromkeys(wanted) if token not in _STEMS]
    if new:
        if len(_STEMS) > MAX_STEMS:
            _STEMS.clear()
            new = list(dict.fromkeys(wanted))
        same = _same()
        known = _porter([token for token in new if token.isascii()])
        for token in new:
            one = same.get(token) or same.get(token.removesuffix("s"))
            _STEMS[token] = one or known.get(token, token)
    return [_STEMS[token] for token in wanted]


@functools.cache
def _same() -> dict[str, str]:
    """Return one stem for all words of each line of a table."""
    groups = [line.split() for line in tables.lines("same.txt")]
    stemmed = _porter([group[0] for group in groups])
    return {word: stemmed[group[0]] for group in groups for word in group}


def _porter(words: list[str]) -> dict[str, str]:
    """Return the stems of words, by word.

    Args:
        words: in ASCII; those with other signs than letters and digits are left out.
    """
    wanted = [word for word in words if word.isalnum()]
    with _STEMMING:
        table = _stemmer()
        table.execute("INSERT INTO words(words) VALUES ('delete-all')")
        table.execute("INSERT INTO words(word) VALUES (?)", (" ".join(wanted),))
        found = table.execute("SELECT term FROM stems ORDER BY offset").fetchall()
    return {word: term for word, (term,) in zip(wanted, found, strict=True)}


@functools.cache
def _stemmer() -> "sqlite3.Connection":
    import sqlite3  # noqa: PLC0415  a grep does without

    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    porter = "fts5(word, content='', tokenize='porter ascii')"
    made.execute(f"CREATE VIRTUAL TABLE words USING {porter}")
    made.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, instance)")
    return made


# -- words that are related --------------------------------------------------------


def related(token: str) -> tuple[str, ...]:
    """Return the stems of what else a word of a question may be called, sorted.

    Args:
        token: the word, in any inflection.
    """
    stemmed = stem(token)
    return tuple(sorted(_related().get(stemmed, set()) - {stemmed}))


@functools.cache
def _related() -> dict[str, set[str]]:
    """Return by stem the stems of words that may be said for it.

    What is related is so both ways; what names a kind, as `pet` does, has its members,
    of which none stands for the kind.
    """
    lines = tables.lines("related.txt")
    stems(" ".join(lines).split())  # at once
    found = defaultdict[str, set[str]](set)
    for line in lines:
        first, *others = stems(line.split())
        found[first].update(others)
        for other in others:
            found[other].add(first)
    for line in tables.lines("kinds.txt"):
        names, _, members = line.partition(":")
        for name in stems(names.split()):
            found[name].update(stems(members.split()))
    return found
