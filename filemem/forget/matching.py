"""What is to be forgotten as a test of texts, and where in a folder such texts stand.

Words match together, in any order, each whole: a plain word ends where its letters end;
an address, a path, a number or a code also where what joins it to more begins, so that
`bob@example.com` is not found in `bob@example.com.uk`. In a script without gaps a word
matches anywhere, and so does an emoji, which is a word by itself. The same thing
matches in another form: with other separators, in another case, without accents, with
leading zeros, in the escapes of JSON, HTML and URLs.
"""

import html
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from filemem.errors import FilememError
from filemem.store import files
from filemem.store.encodings import decode
from filemem.store.fields import FORMAL
from filemem.store.folder import BOOKKEEPING
from filemem.store.passages import FORGOTTEN, TURN_HEAD, Passage, paragraphs, turns
from filemem.store.paths import DATED
from filemem.text import terms
from filemem.text.plain import UNSEEN, one_line

MIN_LINE_BYTES = 10  # from which on a line is told from small talk
MIN_CODE_CHARS = 6  # letters and digits of a code that is known in another form
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
_SIGN = re.compile(terms.SIGN)
_NO_WORD = re.compile(rf"(?:(?!{terms.SIGN})[\W_])+")
_GAPS = re.compile(r"[\s，。、；：！？「」《》…]+")
_AROUND = ".,;:!?\"'()[]{}<>*"  # what may stand around a word
_QUOTES = str.maketrans("“”‘’", "\"\"''")
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2})+")
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


class Matcher:
    """A test of texts: for words, all of which must stand in one, or for whole lines.

    Args:
        words: what a person named; what holds no letter, digit or emoji is left out.
    """

    def __init__(self, words: str = "") -> None:
        self.words = words
        self._lines = set[str]()
        named = list[str]()
        apart = _SIGN.sub(r" \g<0> ", plain(words))
        for part in _GAPS.split(_BESIDE.sub("", apart)):
            word = part.strip(_AROUND).rstrip("/\\")
            if _spaced(word):
                named.append(word)
        self._in_texts = [_pattern(word) for word in named]
        self._in_names = [_bounded(re.escape(_spaced(word))) for word in named]

    def __bool__(self) -> bool:
        """Return whether there is anything to look for."""
        return bool(self._in_texts or self._lines)

    def add_lines(self, text: str) -> None:
        """Look for the lines of a text as well, but for those that anybody says."""
        for line in text.split("\n"):
            bare = plain(MARKS.sub("", line, count=1))
            if len(bare.encode()) >= MIN_LINE_BYTES and bare != FORGOTTEN:
                self._lines.add(bare)

    def holds(self, text: str) -> bool:
        """Return whether a text holds all words, or one of the lines."""
        whole = plain(text)
        if any(line in whole for line in self._lines):
            return True
        return _all_found(self._in_texts, _BESIDE.sub("", whole))

    def reason(self, text: str) -> str:
        """Return why a text that holds it goes: as it was asked for, or in another
        form of the words."""
        given = [word.strip(_AROUND) for word in self.words.casefold().split()]
        is_exact = all(word in text.casefold() for word in given)
        return "as asked" if is_exact else "in another form"

    def is_told_by(self, name: str, text: str = "") -> bool:
        """Return whether the name of a file or folder has the words, or is what the
        program makes of the beginning of a line.

        Args:
            name: with its extension.
            text: what the file says; a name that stands in it tells no more.
        """
        dated = DATED.match(name)
        title = name[dated.end() :] if dated else name
        title = _spaced(title.removesuffix(".md"))
        is_told = _all_found(self._in_names, title)
        if dated:
            is_told |= self.begins_line(title)
        return is_told and title not in _spaced(text)

    def begins_line(self, text: str) -> bool:
        """Return whether a text is the beginning of a line, as a subject may be."""
        start = re.sub(r" \d+$", "", _spaced(text))  # a second file of a name has one
        is_long = len(start.encode()) >= MIN_LINE_BYTES
        lines = (_spaced(_SIGN.sub(" ", line)) for line in self._lines)
        return is_long and any(line.startswith(start) for line in lines)


def plain(text: str) -> str:
    """Return a text as it is compared: folded as search does, without what nobody sees,
    with straight quotes and single spaces."""
    visible = terms.fold(UNSEEN.sub("", _unescaped(text)))
    return " ".join(visible.translate(_QUOTES).split())


def _unescaped(text: str) -> str:
    """Return a text with the letters for which it has escapes: of JSON and YAML, of
    HTML, of URLs."""
    shown = _ESCAPES.sub(_letters, text) if "\\" in text else text
    return html.unescape(unquote(shown))


def _letters(escapes: re.Match[str]) -> str:
    """Return what some escapes stand for; an emoji may be two of them."""
    units = escapes[0].encode().decode("unicode_escape")
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _spaced(text: str) -> str:
    """Return a text as names are compared: its words and emoji."""
    return _NO_WORD.sub(" ", plain(text)).strip()


def _all_found(patterns: list[re.Pattern[str]], text: str) -> bool:
    """Tell whether there are patterns, and a text has them all."""
    return bool(patterns) and all(pattern.search(text) for pattern in patterns)


# -- patterns of words -----------------------------------------------------------------


def _pattern(word: str) -> re.Pattern[str]:
    """Return the pattern of a word that ends where the name ends.

    Args:
        word: an address, a path, a number, a code, or a plain word.
    """
    form = re.escape(word)
    if not _IDENTIFIER.search(word):
        return _bounded(form)
    before = rf"(?<!{_LETTER})(?<!{_LETTER}{_JOINT})"
    after = rf"(?!{_LETTER})(?!{_JOINT}{_LETTER})"
    if word.isdigit():  # a part of 12,000 and of 12:30 is not that number
        before += r"(?<!\d[,:])"
        after += r"(?![,:]\d)"
    if _is_code(word):
        form = f"(?:{form}|{_other_forms(word)})"
    return re.compile(before + form + after)


def _bounded(form: str) -> re.Pattern[str]:
    """Return the pattern of plain words that end where their letters do."""
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, form) else ""
    after = rf"(?!{_LETTER})" if re.search(rf"{_LETTER}\Z", form) else ""
    return re.compile(before + form + after)


def _is_code(word: str) -> bool:
    """Tell whether a word may be written otherwise: an address, a long number."""
    known = sum(map(str.isalnum, word))
    has_digit = re.search(r"\d", word) is not None
    return "@" in word.strip("@") or (has_digit and known >= MIN_CODE_CHARS)


def _other_forms(code: str) -> str:
    """Return the pattern of a code with other separators or leading zeros."""
    form = ""
    for piece in _PIECE.findall(code):
        if form and "@" not in (piece, form[-1]):
            form += _SEPARATORS
        if piece.isdigit():
            form += "0*" + _SEPARATORS.join(piece.lstrip("0") or "0")
        else:
            form += re.escape(piece)
    return form


# -- where it stands -------------------------------------------------------------------

UNREADABLE = "cannot be searched, so nobody knows what it says"
IN_NAME = "its name says it; rename, move or delete it"


@dataclass(frozen=True, order=True)
class Occurrence:
    """A place that holds what is looked for, or that cannot be searched.

    Attributes:
        path: below the folder that was searched.
        line: from 1; 0 for the file itself.
        text: the line, or what is to be said of the file.
    """

    path: str
    line: int
    text: str

    @property
    def place(self) -> str:
        """The path, with the line where it is one."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def __str__(self) -> str:
        return f"{one_line(self.place)}: {one_line(self.text, 80)}"


def occurrences(
    top: str, matcher: Matcher, skipped: Collection[str] = ()
) -> list[Occurrence]:
    """Return every place under a folder that holds what is looked for.

    A file that cannot be searched is one, too: packed, too large, not to be read, too
    deep, in a repository of its own. Links are not followed, but say where they lead.

    Args:
        top: the folder.
        matcher: what is looked for.
        skipped: paths below it that are left out.

    Returns:
        The places by path and line.
    """

    def should_enter(path: str, entry: "os.DirEntry[str]") -> bool:
        return path not in skipped and not _is_closed(path, entry)

    found = list[Occurrence]()
    for path, entry in files.walk(top, should_enter) if matcher else ():
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
    data = b""
    is_closed = entry.is_dir(follow_symlinks=False) and _is_closed(path, entry)
    try:
        if entry.is_symlink():
            data = os.fsencode(os.readlink(entry.path))
        elif entry.is_file(follow_symlinks=False):
            data = files.read(entry.path)
    except (FilememError, OSError):
        is_closed = os.path.lexists(entry.path)
    if is_closed or is_packed(data):
        yield Occurrence(path[:200], 0, UNREADABLE)
        data = b""
    of_program = f"/{BOOKKEEPING}/" in f"/{path}"
    passages = said_in(data, matcher, by_line=of_program)
    for passage in passages:
        yield Occurrence(path, passage.line, passage.text.strip("\0\r"))
    if not passages and matcher.is_told_by(entry.name, decode(data)):
        yield Occurrence(path, 0, IN_NAME)


def is_packed(data: bytes) -> bool:
    """Return whether a file is of a kind that packs what it says, or enciphers it."""
    return _PACKED.match(data) is not None


def said_in(data: bytes, matcher: Matcher, *, by_line: bool = False) -> list[Passage]:
    """Return what of a file holds what is looked for.

    Args:
        data: the file.
        matcher: what is looked for.
        by_line: only lines; else also turns and paragraphs of which no line holds it
            alone.
    """
    found = dict[int, Passage]()
    for text in _readings(data):
        if matcher.holds(text):
            lines = text.split("\n")
            lines = ["" if line.rstrip() in FORMAL else line for line in lines]
            for passage in _pieces(lines, by_line=by_line):
                inside = range(passage.line, passage.end_line + 1)
                if found.keys().isdisjoint(inside) and matcher.holds(passage.text):
                    found[passage.line] = passage
        if found:
            break
    return list(found.values())


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
