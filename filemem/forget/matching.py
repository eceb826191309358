"""What is to be forgotten as a test of texts, and where in a folder such texts stand.

Words match together, in any order, each whole: a plain word ends where its letters end;
an address, a path, a number or a code also where what joins it to more begins, so that
`bob@example.com` is not found in `bob@example.com.uk`. In a script without gaps a word
matches anywhere. The same thing may stand in another form: with other separators, in
another case, without accents, with leading zeros.
"""

import enum
import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from filemem.errors import FilememError
from filemem.store import files
from filemem.store.encodings import decode
from filemem.store.folder import BOOKKEEPING
from filemem.store.passages import FORGOTTEN, TURN_HEAD, Passage, paragraphs, turns
from filemem.store.paths import DATED, slug
from filemem.text import terms
from filemem.text.plain import UNSEEN, one_line

MIN_LINE_BYTES = 10  # from which on a line is told from small talk
MIN_CODE_CHARS = 6  # letters and digits of a code that is known in another form
MAX_NAME_CHARS = 60  # of a line that the name of a file may begin with
MAX_WORD_CHARS = 99
MARKS = re.compile(r"(?:[-*+>#\s]|\d{1,9}[.)]\s)*")
"""How items, quotes and headings begin."""
HEAD = re.compile(rf"{TURN_HEAD.pattern}|{MARKS.pattern}")
"""How a line begins before what it says."""

_CJK = (
    r"\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W{_CJK}]"  # of a script that sets words apart; digits and _ too
_JOINT = r"[.@/\\+-]"  # what may join a word to more of the same name
_IDENTIFIER = re.compile(rf"\d|{_JOINT}")
_GAPS = re.compile(r"[\s，。、；：！？“”「」《》…]+")
_AROUND = ".,;:!?\"'()[]{}<>*"  # what may stand around a word
_QUOTES = re.compile("[\"'“”‘’]")
_PIECE = re.compile(r"\d+|[^\W\d_]+|@")
_SEPARATORS = r"[\s./\\()_-]{0,2}"
# What the program sets beside a text: a turn's day and clock, a file's folder and day,
# a log's minute and verb, the lines that are cited.
_BESIDE = re.compile(
    r"(?<=\*\*)(?: \d{4}-\d\d-\d\d)?(?: \d\d?:\d\d)?(?=:)|(?<=\.md):\d[\d,-]*"
    r"|(?:(?:archive/)?(?:facts|sessions|lessons|summaries)/)?(?:(?<=/)\d{4}/)?"
    r"\d{4}-\d\d-\d\d(?:-\d{4})?(?=-)"
    r"|\d{4}-\d\d-\d\dt\d\d:\d\d(?::\d\d)?(?: [a-z]+(?= ))?"
)
# How files of gzip, zip, bzip2, xz, 7z, zstd, rar, pdf and bundles of git begin.
_PACKED = re.compile(
    rb"\x1f\x8b\x08|PK\x03\x04|BZh|\xfd7zXZ|7z\xbc\xaf|\(\xb5/\xfd|Rar!\x1a|%PDF-"
    rb"|# v[23] git bundle"
)


class Held(enum.IntEnum):
    """How a text holds what is looked for."""

    NONE = 0
    OTHER_FORM = 1
    EXACT = 2


class Matcher:
    """A test of texts: for words, all of which must stand in one, or for whole lines.

    Args:
        words: what a person named; what holds no letter and no digit is left out.
        least: how well a text must hold it to be forgotten.
    """

    def __init__(self, words: str = "", least: Held = Held.EXACT) -> None:
        self.words = words
        self.least = least
        self.lines = set[str]()  # folded
        self._names = set[str]()  # that the program makes of them
        named = list[str]()
        for part in _GAPS.split(_BESIDE.sub("", folded(words))):
            word = part.strip(_AROUND).rstrip("/\\")
            if re.search(r"[^\W_]", word):
                named.append(word)
        telling = [word for word in named if _is_code(word)] or named
        self._exact = [_pattern(word, re.escape(word)) for word in named]
        self._forms = [_any_form(plain(word)) for word in telling]
        slugs = [slug(plain(word), MAX_WORD_CHARS).replace("-", " ") for word in named]
        self._in_names = [re.compile(_bounded(words, words)) for words in slugs]

    def __bool__(self) -> bool:
        """Return whether there is anything to look for."""
        return bool(self._exact or self.lines)

    def add_lines(self, text: str) -> None:
        """Look for the lines of a text as well, but for those that anybody says."""
        for line in text.split("\n"):
            bare = folded(MARKS.sub("", line, count=1))
            if len(bare.encode()) >= MIN_LINE_BYTES and bare != FORGOTTEN:
                self.lines.add(bare)
                self._names.add(slug(bare, MAX_NAME_CHARS))

    def match(self, text: str) -> Held:
        """Return how a text holds all words, or one of the lines."""
        whole = folded(text)
        if any(line in whole for line in self.lines):
            return Held.EXACT
        if not self._exact:
            return Held.NONE
        if _all_found(self._exact, _BESIDE.sub("", whole)):
            return Held.EXACT
        if _all_found(self._forms, _BESIDE.sub("", plain(text))):
            return Held.OTHER_FORM
        return Held.NONE

    def holds(self, text: str) -> bool:
        """Return whether a text is to be forgotten."""
        return self.match(text) >= self.least

    def is_told_by(self, name: str, text: str = "") -> bool:
        """Return whether the name of a file or folder has the words, or is what the
        program makes of the beginning of a line.

        Args:
            name: with its extension.
            text: what the file says; a name made of a line of it tells no more.
        """
        dated = DATED.match(name)
        title = name.removesuffix(".md")
        if dated:
            title = title[dated.end() :]
        title = re.sub(r"-\d+$", "", title)  # of a second file that begins so
        spaced = plain(re.sub(r"[\W_]+", " ", title))
        is_told = bool(self._in_names) and _all_found(self._in_names, spaced)
        if not (dated and title):
            return is_told
        is_told |= any(name.startswith(title) for name in self._names)
        if not is_told:
            return False
        lines = [HEAD.sub("", line, count=1) for line in text.split("\n")]
        return not any(title in slug(line, MAX_NAME_CHARS) for line in lines)

    def begins_line(self, text: str) -> bool:
        """Return whether a text is the beginning of a line, as a subject may be."""
        start = folded(text).rstrip("… ")
        is_long = len(start.encode()) >= MIN_LINE_BYTES
        return is_long and any(line.startswith(start) for line in self.lines)


def folded(text: str) -> str:
    """Return a text as it is compared: in one normal form, without case and what nobody
    sees, white space as single spaces."""
    visible = UNSEEN.sub("", unicodedata.normalize("NFC", text))
    return " ".join(visible.casefold().split())


def plain(text: str) -> str:
    """Return a text as other forms are compared: folded, without accents and quotation
    marks, Chinese in simplified characters."""
    parts = unicodedata.normalize("NFKD", folded(terms.simplified(text)))
    bare = "".join(c for c in parts if not unicodedata.combining(c))
    return _QUOTES.sub("", bare)


def _all_found(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    """Tell whether every pattern is found in a text."""
    return all(pattern.search(text) for pattern in patterns)


# -- patterns of words -----------------------------------------------------------------


def _pattern(word: str, form: str) -> re.Pattern[str]:
    """Return the pattern of a word that ends where the name ends.

    Args:
        word: an address, a path, a number, a code, or a plain word.
        form: the pattern of the form of it that is looked for.
    """
    if not _IDENTIFIER.search(word):
        return re.compile(_bounded(word, form))
    before = rf"(?<!{_LETTER})(?<!{_LETTER}{_JOINT})"
    after = rf"(?!{_LETTER})(?!{_JOINT}{_LETTER})"
    if word.isdigit():  # a part of 12,000 and of 12:30 is not that number
        before += r"(?<!\d[,:])"
        after += r"(?![,:]\d)"
    return re.compile(before + form + after)


def _bounded(word: str, form: str) -> str:
    """Return the pattern of words that end where their letters do."""
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, word) else ""
    after = rf"(?!{_LETTER})" if re.search(rf"{_LETTER}\Z", word) else ""
    return before + form + after


def _is_code(word: str) -> bool:
    """Tell whether a word tells by itself what is meant: an address, a long number."""
    known = sum(map(str.isalnum, word))
    has_digit = re.search(r"\d", word) is not None
    return "@" in word.strip("@") or (has_digit and known >= MIN_CODE_CHARS)


def _any_form(word: str) -> re.Pattern[str]:
    """Return the pattern of a plain word; of a code with other separators or leading
    zeros, too."""
    if not _is_code(word):
        return _pattern(word, re.escape(word))
    form = ""
    for piece in _PIECE.findall(word):
        if form and "@" not in (piece, form[-1]):
            form += _SEPARATORS
        if piece.isdigit():
            form += "0*" + _SEPARATORS.join(piece.lstrip("0") or "0")
        else:
            form += re.escape(piece)
    return _pattern(word, form)


# -- where it stands -------------------------------------------------------------------

UNREADABLE = "cannot be searched, so nobody knows what it says"
IN_NAME = "its name says it"
SAYS_IT = "says it"
OTHER_FORM = "in another form"


@dataclass(frozen=True, order=True)
class Occurrence:
    """A place that holds what is looked for, or that cannot be searched.

    Attributes:
        path: below the folder that was searched.
        line: from 1; 0 for the file itself.
        text: the line, empty where the place is no line.
        why: what is to be said of it.
    """

    path: str
    line: int
    text: str
    why: str

    @property
    def place(self) -> str:
        """The path, with the line where it is one."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def __str__(self) -> str:
        shown = f"{one_line(self.place)}: {one_line(self.text, 80)}".removesuffix(": ")
        return shown if self.why == SAYS_IT else f"{shown}  ({self.why})"


def occurrences(
    top: str, matcher: Matcher, skipped: Collection[str] = ()
) -> list[Occurrence]:
    """Return every place under a folder that holds what is looked for.

    A file that cannot be searched is one, too: packed, too large, not to be read, too
    deep, in a repository of its own. A record of the program's that names what says it
    in another form is none. Links are not followed.

    Args:
        top: the folder.
        matcher: what is looked for.
        skipped: paths below it that are left out.

    Returns:
        The places by path and line.
    """
    found = list[Occurrence]()
    if not matcher:
        return found

    def should_enter(path: str, entry: "os.DirEntry[str]") -> bool:
        return path not in skipped and not _is_closed(path, entry)

    for path, entry in files.walk(top, should_enter):
        if path not in skipped:
            found += _occurrences_of(path, entry, matcher)
    return sorted(found)


def _is_closed(path: str, entry: "os.DirEntry[str]") -> bool:
    """Tell whether a folder cannot be searched, or is git's."""
    barred = not os.access(entry.path, os.R_OK | os.X_OK)
    return entry.name == ".git" or files.too_far(path) or barred


def _occurrences_of(
    path: str, entry: "os.DirEntry[str]", matcher: Matcher
) -> Iterator[Occurrence]:
    """Yield the places in one file or folder that hold what is looked for."""
    in_name = Occurrence(path, 0, "", IN_NAME)
    unreadable = Occurrence(path[:200], 0, "", UNREADABLE)
    if not entry.is_file(follow_symlinks=False):
        if matcher.is_told_by(entry.name):
            yield in_name
        if entry.is_dir(follow_symlinks=False) and _is_closed(path, entry):
            yield unreadable
        return
    try:
        data = files.read(entry.path)
    except (FilememError, OSError):
        data = b""
        if os.path.lexists(entry.path):
            yield unreadable
    if _PACKED.match(data):
        data = b""
        yield unreadable
    of_program = f"/{BOOKKEEPING}/" in f"/{path}"
    is_said = False
    for passage, how in said_in(data, matcher, by_line=of_program):
        if how is Held.EXACT or not of_program:
            is_said = True
            why = SAYS_IT if how is Held.EXACT else OTHER_FORM
            yield Occurrence(path, passage.line, passage.text.strip("\0\r"), why)
    if not is_said and matcher.is_told_by(entry.name, decode(data)):
        yield in_name


def said_in(
    data: bytes, matcher: Matcher, *, by_line: bool = False
) -> Iterator[tuple[Passage, Held]]:
    """Yield what of a file holds what is looked for, and how.

    Args:
        data: the file.
        matcher: what is looked for.
        by_line: only lines; else also turns and paragraphs of which no line holds it
            alone.
    """
    for text in _readings(data):
        if not matcher.match(text):
            continue
        found = set[int]()
        for passage in _pieces(text.split("\n"), by_line=by_line):
            inside = range(passage.line, passage.end_line + 1)
            how = matcher.match(passage.text)
            if how and found.isdisjoint(inside):
                found.add(passage.line)
                yield passage, how
        if found:
            return


def _pieces(lines: list[str], *, by_line: bool) -> Iterator[Passage]:
    """Yield the lines, then what stands together in several of them."""
    for number, line in enumerate(lines, 1):
        yield Passage(number, number, "", "", line)
    if not by_line:
        yield from turns(lines) or paragraphs(lines, 0)


def _readings(data: bytes) -> Iterator[str]:
    """Yield the texts that the bytes of a file may be."""
    texts = [decode(data)]
    loose = data.decode(errors="ignore")
    if "\0" in loose or len(loose.encode()) < len(data):
        texts.append(loose)
        for codec in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
            texts.append(data.decode(codec, "ignore"))
    for text in texts:
        if "\n" not in text:  # on old Macs lines ended with CR alone
            text = text.replace("\r", "\n")
        yield text
