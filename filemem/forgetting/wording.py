"""What is to be forgotten, as it may stand elsewhere: the text, the words asked for, and the names of files that told it.

Lines of a file that are to say nothing more are cut: their text goes and the lines stay, so that each `path:line` still
holds. A line is told by its bytes, whatever the encoding: all but UTF-16 have ASCII's line ends and marks in common.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

from filemem.errors import Refused
from filemem.files.memory import ARCHIVE, decode
from filemem.files.passages import TURN_HEAD
from filemem.text import terms
from filemem.text.plain import UNSEEN

FORGOTTEN = "[forgotten]"  # in the place of a text
NAMELESS = "forgotten"  # in the place of a name
MARK = "forgetting"  # the journal's file
LINE, SENTENCE = 10, 24  # columns from which on a line of a memory, or a sentence of any text, is told from small talk
PIECE = 1000  # characters: a longer text is known by so many of its first
# Bytes of a file searched at a time, and again with the next; a PIECE fits, as JSON too.
WINDOW, OVERLAP = (1 << 22, 1 << 16)
CLAUSE, SIGNS = 16, 3  # characters of a Chinese clause at most, and of a wish at least, that are compared in any order
MANY = 300  # texts above which whole lines and sentences are compared, instead of looking for each text everywhere
_MARKS = re.compile(r"^[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+)?(?:\[[ xX]\][ \t]+)?")
_SPEAKER = re.compile(r"^\*\*[^*\n]+\*\*(?: \d{4}-\d\d-\d\d)?(?: \d{1,2}:\d{2})?:[ \t]*")
_CITED = re.compile(r"\.\w+:[\d, -]+")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_CLAUSES = re.compile(r"[,，。;；:：!！?？\s]+")
_WORD = re.compile(r"\w+")
_EDGE = rb"[\w\x80-\xff-]"
_DATED = re.compile(r"\d{4}-\d\d-\d\d.*[^\d-]")


class Wording:
    """Texts, words and names to look for. `names` gives for the live path of a file the one that it gets, or nothing.

    `share` is how much of the words asked for a text must hold, where they are more than three.
    """

    def __init__(self, about: str = "", share: float = 1.0) -> None:
        self.about = folded(about)
        self.share = share
        self._units = _units(about)
        self._signs = _signs(about)
        self.texts: set[str] = set()
        self.words: set[str] = set()  # that stand nowhere else in the memories; they give it away in a record
        self.names: dict[str, str] = {}

    def __bool__(self) -> bool:
        """Is there a text or a word to look for? What is very short would be found everywhere."""
        return bool(self.about or self.texts)

    def state(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        sets = {"texts": sorted(self.texts), "words": sorted(self.words), "names": self.names}
        return {"about": self.about, "share": self.share, **sets}

    @staticmethod
    def of(state: Mapping[str, Any]) -> "Wording":
        """The wording of which this is the state."""
        wording = Wording(state["about"], state["share"])
        wording.texts, wording.words, wording.names = set(state["texts"]), set(state["words"]), dict(state["names"])
        return wording

    def add(self, text: str, least: int = LINE) -> None:
        """Look for the lines of a text that are at least so many columns wide, and for its longer sentences."""
        for line in text.split("\n"):
            whole, *sentences = _parts(line)
            self.texts.update(part for part in (whole,) if width(part) >= least)
            self.texts.update(part for part in sentences if width(part) >= max(least, SENTENCE))

    def add_asked(self, text: str) -> None:
        """Look for those sentences of a text that hold all the words asked for."""
        parts = (part for line in text.split("\n") for part in _parts(line))
        self.texts.update(part for part in parts if width(part) >= LINE and self.has_words(part))

    def add_whole(self, text: str) -> None:
        """Look for a text as one piece."""
        whole = folded(_bare(text))[:PIECE]
        if width(whole) >= LINE:
            self.texts.add(whole)

    def repeats(self, text: str) -> bool:
        """Does another text hold one of these, as it stands or escaped as in JSON?"""
        both = {text, unescaped(text)}
        if len(self.texts) > MANY:
            return any(part in self.texts for one in both for line in one.split("\n") for part in _parts(line))
        return any(part in other for other in map(folded, both) for part in self.texts)

    def has_words(self, text: str) -> bool:
        """Does a text hold all the words that were asked for, or all but the smallest in some form of theirs?"""
        return bool(self.about) and any(map(self._has_words, {text, unescaped(text)}))

    def _has_words(self, text: str) -> bool:
        other = folded(text)
        if (self._units or self.share == 1) and all(_has(word, other) for word in self.about.split()):
            return True
        least = len(self._units) if len(self._units) <= 3 else math.ceil(len(self._units) * self.share)
        stems = _stems(text)
        if least and sum(not stems.isdisjoint(unit) for unit in self._units) >= least:
            return True
        loose = bool(self._signs) and self.share < 1
        return loose and any(self._signs <= set(clause) for clause in _CLAUSES.split(other) if len(clause) <= CLAUSE)

    def has_rare_word(self, text: str) -> bool:
        """Does a text hold a word that only this had?"""
        return bool(self.words) and not self.words.isdisjoint(words(unescaped(text)))

    def is_about(self, text: str) -> bool:
        """Does a text of bookkeeping hold anything of it: text, words or names?"""
        data = text.encode("utf-8", "replace")
        return self.repeats(text) or self.has_words(text) or self.has_rare_word(text) or self.renamed(data) != data

    def line_about(self, data: bytes) -> str:
        """The first line of bytes that still says it, on one line; empty where none does."""
        # Bytes that are no text hold some, too.
        for text in dict.fromkeys((decode(data), data.decode(errors="ignore"))) if data.strip(b"\0") else ():
            repeated = self.repeats(text)
            lines = text.split("\n") if repeated or self.has_words(text) else []
            said = (line for line in lines if line.strip() and (self.repeats(line) or self.has_words(line)))
            if found := next(said, text[:200] if repeated else "").strip("\0"):
                return found
        return ""

    def line_about_in_file(self, file: BinaryIO) -> str:
        """The same for an open file of any size."""
        tail = mark = b""
        while piece := file.read(WINDOW):
            line = self.line_about((mark if tail else b"") + tail + piece)
            if line:
                return line
            mark = mark or (piece[:2] if not tail and piece[:2] in (b"\xff\xfe", b"\xfe\xff") else b"")
            tail = (tail + piece)[-OVERLAP:]
        return ""

    def renamed(self, data: bytes) -> bytes:
        """Bytes with every name of a forgotten file replaced: by its new one, else by a plain word."""
        for old, new in self.names.items():
            stem = _stem(old)
            if stem.encode() not in data:
                continue
            after = rb"(?::\d[\d,-]*)?" if not new else rb""
            path = rb"(?<!" + _EDGE + rb")(?:" + (b"" if new else ARCHIVE.encode() + b"/") + rb")?"
            data = re.sub(path + re.escape(old.encode()) + after, (new or NAMELESS).encode(), data)
            if _DATED.match(stem):
                name = rb"(?<!" + _EDGE + rb")" + re.escape(stem.encode()) + rb"(?!" + _EDGE + rb")"
                data = re.sub(name, (_stem(new) or NAMELESS).encode(), data)
        return data

    def blanked(self, text: str) -> str:
        """A line such as a commit's subject with what it says of it taken out, where it was cut short too."""
        text = self.renamed(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
        lines = text.split("\n")
        return "\n".join(self._blanked(line) for line in lines)

    def _blanked(self, line: str) -> str:
        plain = folded(line)[-PIECE:]
        starts = [match.start() for match in re.finditer(r"(?<!\w)\w|[^\x00-\x7f]", plain)]
        ends = [plain[start:].rstrip("… ") for start in starts]
        cut = any(width(end) >= LINE and text.startswith(end) for end in ends for text in self.texts)
        if cut or self.repeats(line) or self.has_rare_word(line) or self.has_words(line):
            return f"{line.partition(':')[0]}: {FORGOTTEN}" if ": " in line else FORGOTTEN
        return line


def folded(text: str) -> str:
    """Text as it is compared: in one normal form, without case and what nobody sees, white space as single spaces."""
    return " ".join(UNSEEN.sub("", unicodedata.normalize("NFC", text)).casefold().split())


def words(text: str) -> set[str]:
    """The words of a text that could tell one memory from others: of four letters or two CJK characters at least."""
    return {word for word in set(_WORD.findall(folded(text))) if width(word) >= 4 and not word.isdecimal()}


def width(text: str) -> int:
    """The columns that a text takes: a CJK character tells about as much as two letters."""
    return len(text) if text.isascii() else sum(2 if ord(char) > 0x2E7F else 1 for char in text)


def unescaped(text: str) -> str:
    """Text with the escapes of JSON undone, as far as they matter for finding words in it."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else " " if m[2] in "nrt" else m[2], text)


def lines_named(text: str) -> set[int]:
    """The lines that the end of a citation names: `12`, `12,15` or `12-14`."""
    found: set[int] = set()
    for part in re.findall(r"\d{1,9}(?:-\d{1,9})?", text):
        first, _, last = part.partition("-")
        found.update(range(int(first), min(int(last or first), int(first) + 10_000) + 1))
    return found


def _stems(text: str) -> set[str]:
    """What the words of a text are compared by, stop words aside."""
    return {terms.stem(token) for token in set(terms.tokens(text)) if token not in terms.STOP}


def _units(text: str) -> list[set[str]]:
    """What a text must hold to be about some words: one of each set. A CJK character counts with a neighbour of its own."""
    units: list[set[str]] = []
    for word in dict.fromkeys(terms.words(text)):
        if not terms.is_cjk(word):
            units += [{terms.stem(word)}] if word not in terms.STOP else []
            continue
        telling = [char if char not in terms.STOP else " " for char in word]
        for at, char in enumerate(telling):
            pairs = {"".join(telling[start : start + 2]) for start in (at - 1, at) if start >= 0}
            pairs = {pair for pair in pairs if len(pair) == 2 and " " not in pair}
            units += [pairs or {char}] if char != " " else []
    return units


def _signs(text: str) -> set[str]:
    """The characters of a Chinese text of which another may make a clause, 踢我 of 把我踢出; none of what is too short for it."""
    found = {char for word in terms.words(text) for char in word if char not in terms.STOP}
    return found if len(found) >= SIGNS and all(map(terms.is_cjk, found)) else set()


def _has(words: str, text: str) -> bool:
    """Do folded words stand in a folded text, not merely within a longer word?"""
    if not words or words not in text:
        return False
    before, after = (r"(?<!\w)" if words[0].isascii() else ""), (r"(?!\w)" if words[-1].isascii() else "")
    return re.search(before + re.escape(words) + after, text) is not None


def _parts(line: str) -> Iterable[str]:
    bare = _bare(line)
    return (folded(part)[:PIECE] for part in (bare, *_SENTENCES.split(bare)))


def _bare(line: str) -> str:
    """A line without what marks it as an item, heading, turn or citation."""
    bare = _SPEAKER.sub("", _MARKS.sub("", line))
    before, _, cited = bare.rstrip().rpartition("(")
    return before.rstrip() if cited.endswith(")") and _CITED.search(cited[:PIECE]) else bare


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


_ITEM = r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+(?:\[[ xX]\][ \t]+)?)?"
_KEPT = re.compile(rf"\ufeff?(?:{TURN_HEAD.pattern}[ ]?|{_ITEM})")
_KEY = re.compile(r"\ufeff?[\w\"'-]+[ \t]*:[ \t]*")


class LineCut(NamedTuple):
    """Lines from `line` on (counted from 1) as they are, and what the first becomes; the others become empty."""

    line: int
    old: tuple[str, ...]
    new: str


def blanked_lines(data: bytes, line: int, end: int, *, gone: bool = False) -> LineCut:
    """Lines `line` to `end` of a file; what shows that the first is a turn, an item or a heading stays, unless it is `gone`."""
    old = tuple(_lines(data)[line - 1 : end])
    first = old[0].removesuffix("\r")
    mark = _KEPT.match(first)
    kept = (mark[0] if mark else "").rstrip() if not gone else ""
    return LineCut(line, old, "" if gone else f"{kept} {FORGOTTEN}".lstrip())


def blanked_value(data: bytes, line: int, word: str) -> LineCut:
    """A line of front matter, which keeps its key and gets a plain word as its value."""
    old = _lines(data)[line - 1]
    key = _KEY.match(old)
    return LineCut(line, (old,), f"{key[0] if key else '# '}{word}")


def apply_cuts(data: bytes, cuts: Iterable[LineCut]) -> bytes:
    """The file without what the cuts hold, where their lines are now: a person may have moved them meanwhile."""
    lines = _lines(data)
    for wanted in cuts:
        for start in _places(lines, wanted):
            for number, old in enumerate(wanted.old):
                end = "\r" if old.endswith("\r") else ""
                lines[start + number] = (wanted.new if number == 0 else "") + end
    codec = _codec(data)
    return "\n".join(lines).encode(codec, "surrogatepass" if codec != "latin-1" else "strict")


def _places(lines: list[str], wanted: LineCut) -> list[int]:
    """Where the lines of a cut begin, from 0: at their number, else wherever the same lines stand."""
    count = len(wanted.old)
    if tuple(lines[wanted.line - 1 : wanted.line - 1 + count]) == wanted.old:
        return [wanted.line - 1]
    return [at for at in range(len(lines) - count + 1) if tuple(lines[at : at + count]) == wanted.old]


def _codec(data: bytes) -> str:
    return {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "latin-1")


def _lines(data: bytes) -> list[str]:
    """The lines, each with its \\r; raises Refused for UTF-16 that is broken."""
    codec = _codec(data)
    try:
        return data.decode(codec, "surrogatepass" if codec != "latin-1" else "strict").split("\n")
    except UnicodeDecodeError:
        raise Refused("the file is broken UTF-16; save it as UTF-8, then try again.") from None
