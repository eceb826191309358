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
from pathlib import PurePath

from filemem.errors import FilememError
from filemem.store import files
from filemem.store.encodings import decode
from filemem.store.folder import BOOKKEEPING
from filemem.store.memory import NAMELESS
from filemem.store.passages import FORGOTTEN, TURN_HEAD, Passage, paragraphs, turns
from filemem.store.paths import DATED, live, slug
from filemem.text import terms
from filemem.text.plain import UNSEEN, one_line

SHORTEST_LINE_BYTES = 10  # from which on a line is told from small talk
SHORTEST_CODE = 6  # letters and digits of a code that is known in another form
SHORTEST_NUMBER = 7  # digits of a number that is
MARKS = re.compile(r"(?:[-*+>#\s]|\d{1,9}[.)]\s)*")
"""How items, quotes and headings begin."""

_CJK = (
    r"\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W{_CJK}]"  # of a script that sets words apart; digits and _ too
_JOINT = r"[.@/\\+-]"  # what may join a word to more of the same name
_GAPS = re.compile(r"[\s，。、；：！？“”「」《》…]+")
_AROUND = ".,;:!?\"'()[]{}<>*"  # what may stand around a word
_QUOTES = re.compile("[\"'“”‘’]")
_PIECE = re.compile(r"\d+|[^\W\d_]+|[\W_]+")
_SEPARATORS = r"[\s./\\()_-]{0,2}"
_NUMBER = re.compile(r"-\d+\Z")  # of a second file that begins so
_HOST = re.compile(r"(?:[a-z]+://)?(?:www\.)?")
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
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


class Held(enum.IntEnum):
    """How a text holds what is looked for."""

    NONE = 0
    OTHER_FORM = 1
    EXACT = 2


class Matcher:
    """A test of texts: for words, all of which must stand in one, or for whole lines.

    Args:
        words: what a person named; what holds no letter and no digit is left out.

    Attributes:
        least: how well a text must hold it to be forgotten.
    """

    def __init__(self, words: str = "") -> None:
        self.words = words
        self.least = Held.EXACT
        self.lines = set[str]()  # folded
        split = _GAPS.split(_BESIDE.sub("", folded(words)))
        named = [word.strip(_AROUND).rstrip("/\\") for word in split]
        named = [word for word in named if re.search(r"[^\W_]", word)]
        self._exact = [re.compile(_whole(word)) for word in named]
        slugs = [slug(word, 2 * len(word) + 9).replace("-", " ") for word in named]
        self._named = [re.compile(_bounded(words)) for words in slugs]
        telling = [word for word in named if _is_telling(plain(word))]
        self._forms = [re.compile(_any_form(plain(word))) for word in telling or named]

    def __bool__(self) -> bool:
        """Return whether there is anything to look for."""
        return bool(self._exact or self.lines)

    def add_lines(self, text: str) -> None:
        """Look for the lines of a text as well, but for those that anybody says."""
        for line in text.split("\n"):
            bare = folded(MARKS.sub("", line, count=1))
            if len(bare.encode()) >= SHORTEST_LINE_BYTES and bare != FORGOTTEN:
                self.lines.add(bare)

    def match_words(self, text: str) -> Held:
        """Return how a text holds the words; NONE where only lines are looked for."""
        if not self._exact:
            return Held.NONE
        if all_found(self._exact, _BESIDE.sub("", folded(text))):
            return Held.EXACT
        if all_found(self._forms, _BESIDE.sub("", plain(text))):
            return Held.OTHER_FORM
        return Held.NONE

    def match(self, text: str) -> Held:
        """Return how a text holds the words or one of the lines."""
        found = self.match_words(text)
        if found is not Held.EXACT and self.lines:
            whole = folded(text)
            if any(line in whole for line in self.lines):
                return Held.EXACT
        return found

    def holds(self, text: str) -> bool:
        """Return whether a text is to be forgotten."""
        return self.match(text) >= self.least

    def match_name(self, name: str, text: str = "") -> Held:
        """Return how the name of a file or folder holds the words, or begins a line.

        Args:
            name: with its extension.
            text: what the file says; a name that begins a line of it tells no more.
        """
        stem = PurePath(name).stem
        spaced = re.sub("[-_]", " ", _BESIDE.sub("", stem))
        found = max(self.match_words(name), self.match_words(spaced))
        if self._named and all_found(self._named, spaced.casefold()):
            found = Held.EXACT
        dated = DATED.match(stem)
        start = _NUMBER.sub("", stem[dated.end() :]) if dated else ""
        if start and _begins(start, self.lines):
            found = Held.EXACT
        if found and start and text and _begins(start, _bare_lines(text)):
            return Held.NONE
        return found


def _begins(start: str, lines: Iterable[str]) -> bool:
    """Return whether a file's name is how the program would name one of these lines."""
    return any(slug(line, 60).startswith(start) for line in lines)


def _bare_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text without the signs and names before them."""
    for line in text.split("\n"):
        said = TURN_HEAD.sub("", line)
        yield MARKS.sub("", said, count=1)


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


def all_found(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    """Return whether every pattern is found in a text."""
    return all(pattern.search(text) for pattern in patterns)


# -- patterns of words -----------------------------------------------------------------


def _whole(word: str) -> str:
    """Return the pattern of a word that ends where the name ends."""
    if re.search(rf"\d|{_JOINT}", word):
        before, after = _bounds(word)
        return before + re.escape(word) + after
    return _bounded(word)


def _bounded(words: str) -> str:
    """Return the pattern of words that end where their letters do."""
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, words) else ""
    after = rf"(?!{_LETTER})" if re.search(rf"{_LETTER}\Z", words) else ""
    return before + re.escape(words) + after


def _bounds(word: str) -> tuple[str, str]:
    """Return what may not stand before and behind an address, a path or a number."""
    before = rf"(?<!{_LETTER})(?<!{_LETTER}{_JOINT})"
    after = rf"(?!{_LETTER})(?!{_JOINT}{_LETTER})"
    if word.isdigit():  # a part of 12,000 and of 12:30 is not that number
        before += r"(?<!\d[,:])"
        after += r"(?![,:]\d)"
    return before, after


def _is_telling(word: str) -> bool:
    """Return whether a word tells by itself what is meant: an address, a path, a code."""
    known = [c for c in word if c.isalnum()]
    if "@" in word.strip("@") or (re.search(r"[/\\]", word) and _joints(word) > 1):
        return True
    return any(c.isdigit() for c in known) and len(known) >= _shortest(word)


def _joints(word: str) -> int:
    return len(re.findall(r"[./\\]", word))


def _shortest(word: str) -> int:
    """Return from how many letters and digits on a code is known in another form."""
    return SHORTEST_CODE if re.search(r"[^\W\d]", word) else SHORTEST_NUMBER


def _any_form(word: str) -> str:
    """Return the pattern of a plain word in any of its forms."""
    word = word[_HOST.match(word).end() :].lstrip("@#") or word  # type: ignore[union-attr]
    if not re.search(rf"\d|{_JOINT}", word):
        return _whole(word)
    pieces = _PIECE.findall(re.sub(r"\+[^@]*(?=@)", "", word))
    numbers = sum(piece.isdigit() for piece in pieces)
    known = sum(c.isalnum() for c in word)
    flexible = numbers > 0 and known >= _shortest(word)
    solid = all(piece.isalnum() for piece in pieces)
    pattern = ""
    for piece in pieces:
        if piece.isdigit() and (not pattern or numbers > 2):
            pattern += "0*"
            piece = piece.lstrip("0") or "0"
        if flexible and solid:
            between = _SEPARATORS if pattern else ""
            pattern += between + _SEPARATORS.join(map(re.escape, piece))
        elif piece.isalnum():
            pattern += re.escape(piece)
        else:
            pattern += _separator(piece, flexible=flexible)
    before, after = _bounds(word)
    return rf"{before}(?:www\.|\+\d{{1,3}}[\s.-]?)?{pattern}{after}"


def _separator(piece: str, *, flexible: bool) -> str:
    """Return the pattern of what stands between the letters and digits of a word."""
    if piece == "@":
        return r"(?:\+[^@\s]*)?@"
    if re.fullmatch(r"[/\\]+", piece):
        return r"[/\\]+"
    if flexible:
        return _SEPARATORS
    return re.escape(piece)


def without_names(text: str, gone: Iterable[str]) -> str:
    """Return a text in which the names of files that are gone are a plain word: they may
    tell what was forgotten.

    Args:
        text: with paths, with or without lines, or links by the name alone.
        gone: the paths of the files.
    """
    named = [path for path in gone if PurePath(path).stem in text]
    for path in named:
        place = rf"(?:archive/)?{re.escape(live(path))}(?::\d[\d,-]*)?"
        text = re.sub(rf"(?<![\w-]){place}", NAMELESS, text)
    for stem in {PurePath(path).stem for path in named}:
        if DATED.match(stem):
            text = re.sub(rf"(?<![\w-]){re.escape(stem)}(?![\w-])", NAMELESS, text)
    return text


# -- where it stands -------------------------------------------------------------------

UNREADABLE = "cannot be searched, so nobody knows what it says"
IN_NAME = "its name says it"
SAYS_IT = "says it"
OTHER_FORM = "in another form"


@dataclass(frozen=True)
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
    """Return every place under a folder that holds it, by path, and every file that
    cannot be searched: packed, too large, not to be read, too deep, a repository of its
    own. Links are not followed; `skipped` paths are left out."""
    found = list[Occurrence]()

    def entered(path: str, entry: "os.DirEntry[str]") -> bool:
        return path not in skipped and not _is_closed(path, entry)

    for path, entry in files.walk(top, entered) if matcher else ():
        if path not in skipped:
            found += _occurrences_of(path, entry, matcher)
    return sorted(found, key=lambda one: (one.path, one.line))


def is_record_of_other_form(one: Occurrence) -> bool:
    """Return whether a record of the program's names what says it in another form."""
    return one.why == OTHER_FORM and one.path.startswith(f"{BOOKKEEPING}/")


def _is_closed(path: str, entry: "os.DirEntry[str]") -> bool:
    barred = not os.access(entry.path, os.R_OK | os.X_OK)
    return entry.name == ".git" or files.too_far(path) or barred


def _occurrences_of(
    path: str, entry: "os.DirEntry[str]", matcher: Matcher
) -> Iterator[Occurrence]:
    if not entry.is_file(follow_symlinks=False):
        if matcher.match_name(entry.name):
            yield Occurrence(path, 0, "", IN_NAME)
        if entry.is_dir(follow_symlinks=False) and _is_closed(path, entry):
            yield Occurrence(path[:200], 0, "", UNREADABLE)
        return
    try:
        data = files.read(entry.path)
        is_read = not _PACKED.match(data)
    except (FilememError, OSError):
        is_read = not os.path.lexists(entry.path)
        data = b""
    if not is_read:
        data = b""
        yield Occurrence(path, 0, "", UNREADABLE)
    if matcher.match_name(entry.name) and matcher.match_name(entry.name, decode(data)):
        yield Occurrence(path, 0, "", IN_NAME)
    of_program = f"/{BOOKKEEPING}/" in f"/{path}"  # its records are read by the line
    for line, text, how in lines_with(data, matcher, by_line=of_program):
        why = SAYS_IT if how is Held.EXACT else OTHER_FORM
        yield Occurrence(path, line, text, why)


def lines_with(
    data: bytes, matcher: Matcher, *, by_line: bool = False
) -> Iterator[tuple[int, str, Held]]:
    """Yield the lines of a file that hold it, each with its number, and unless it is read
    `by_line` the first lines of turns and paragraphs of which no line holds it alone."""
    for text in _readings(data):
        if not matcher.match(text):
            continue
        found = set[int]()
        for passage in _pieces(text.split("\n"), by_line=by_line):
            inside = range(passage.line, passage.end_line + 1)
            how = matcher.match(passage.text)
            if how and found.isdisjoint(inside):
                found.add(passage.line)
                yield passage.line, passage.text.strip("\0\r"), how
        if found:
            return


def _pieces(lines: list[str], *, by_line: bool) -> Iterator[Passage]:
    """Yield the lines, then what stands together in several of them."""
    for number, line in enumerate(lines, 1):
        yield Passage(number, number, "", "", line)
    together = [] if by_line else turns(lines) or paragraphs(lines, 0)
    for passage in together:
        if passage.end_line > passage.line:
            yield passage


def _readings(data: bytes) -> Iterator[str]:
    """Yield the texts that the bytes of a file may be."""
    if not data.strip(b"\0"):
        return
    first = decode(data)
    yield _with_newlines(first)
    loose = data.decode(errors="ignore")
    if loose == first:
        if b"\0" not in data:
            return
    else:
        yield _with_newlines(loose)
    for codec in _WIDE:
        yield _with_newlines(data.decode(codec, "ignore"))


def _with_newlines(text: str) -> str:
    """Return a text whose lines end with CR alone with newlines."""
    return text if "\n" in text else text.replace("\r", "\n")
