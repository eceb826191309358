"""What is to be forgotten, as it may stand elsewhere: the text, the words asked for, and the names of files that told it."""

import re
import unicodedata
from collections.abc import Iterable

from filemem import terms
from filemem.memory import ARCHIVE, decode

FORGOTTEN = "[forgotten]"  # in the place of a text
NAMELESS = "forgotten"  # in the place of a name
LINE, SENTENCE = 10, 24  # columns from which on a line of a memory, or a sentence of any text, is told from small talk
MANY = 300  # texts above which whole lines and sentences are compared, instead of looking for each text everywhere
_MARKS = re.compile(r"^[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+)?(?:\[[ xX]\][ \t]+)?")
_SPEAKER = re.compile(r"^\*\*[^*\n]+\*\*(?: \d{1,2}:\d{2})?:[ \t]*")
_CITATION = re.compile(r"[ \t]*\([^()]*\.\w+:[\d, -]+[^()]*\)[ \t]*$")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_WORD = re.compile(r"\w+")
_EDGE = rb"[\w\x80-\xff-]"
_DATED = re.compile(r"\d{4}-\d\d-\d\d.*[^\d-]")


class Wording:
    """Texts, words and names to look for. `names` gives for the live path of a file the one that it gets, or nothing."""

    def __init__(self, about: str = "") -> None:
        self.about = folded(about)
        self._stems = _stems(about)
        self.texts: set[str] = set()
        self.words: set[str] = set()  # that stand nowhere else in the memories; they give it away in a record
        self.names: dict[str, str] = {}

    def add(self, text: str, least: int = LINE) -> None:
        """Look for the lines of a text that are at least so many columns wide, and for its longer sentences."""
        for line in text.split("\n"):
            whole, *sentences = _parts(line)
            self.texts.update(part for part in (whole,) if width(part) >= least)
            self.texts.update(part for part in sentences if width(part) >= max(least, SENTENCE))

    def add_asked(self, text: str) -> None:
        """Look for those sentences of a text that hold all the words asked for."""
        parts = (part for line in text.split("\n") for part in _parts(line))
        self.texts.update(part for part in parts if width(part) >= LINE and self.asks(part))

    def add_whole(self, text: str) -> None:
        """Look for a text as one piece."""
        whole = folded(_bare(text))
        if width(whole) >= LINE:
            self.texts.add(whole)

    def repeats(self, text: str) -> bool:
        """Does another text hold one of these, as it stands or escaped as in JSON?"""
        return any(map(self._repeats, {text, unescaped(text)}))

    def _repeats(self, text: str) -> bool:
        if len(self.texts) > MANY:
            return any(part in self.texts for line in text.split("\n") for part in _parts(line))
        other = folded(text)
        return any(part in other for part in self.texts)

    def asks(self, text: str) -> bool:
        """Does a text hold all the words that were asked for, or all but the smallest in some form of theirs?"""
        return bool(self.about) and any(map(self._asks, {text, unescaped(text)}))

    def _asks(self, text: str) -> bool:
        other = folded(text)
        whole = all(_has(word, other) for word in self.about.split())
        return whole or bool(self._stems and self._stems <= _stems(text))

    def hints(self, text: str) -> bool:
        """Does a text hold a word that only this had?"""
        return bool(self.words) and not self.words.isdisjoint(words(unescaped(text)))

    def tells(self, text: str) -> bool:
        """Does a text of bookkeeping hold anything of it: text, words or names?"""
        data = text.encode("utf-8", "replace")
        return self.repeats(text) or self.asks(text) or self.hints(text) or self.renamed(data) != data

    def stands_in(self, data: bytes) -> str:
        """The first line of a file's bytes that still says it, on one line; empty where none does."""
        text = decode(data)
        repeated = self.repeats(text)
        if not (repeated or self.asks(text)):
            return ""
        lines = (line for line in text.split("\n") if line.strip() and (self.repeats(line) or self.asks(line)))
        return next(lines, text[:200] if repeated else "")

    def renamed(self, data: bytes) -> bytes:
        """Bytes with every name of a forgotten file replaced: by its new one, else by a plain word."""
        for old, new in self.names.items():
            stem = _stem(old)
            if stem.encode() not in data:
                continue
            after = rb"(?::\d[\d,-]*)?" if not new else rb""
            path = rb"(?<!" + _EDGE + rb")(?:" + (b"" if new else ARCHIVE.encode() + b"/") + rb")?"
            data = re.sub(path + re.escape(old.encode()) + after, _said(new or NAMELESS), data)
            if _DATED.match(stem):
                name = rb"(?<!" + _EDGE + rb")" + re.escape(stem.encode()) + rb"(?!" + _EDGE + rb")"
                data = re.sub(name, _said(_stem(new) or NAMELESS), data)
        return data

    def blanked(self, text: str) -> str:
        """A line such as a commit's subject with what it says of it taken out, where it was cut short too."""
        text = self.renamed(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
        lines = text.split("\n")
        return "\n".join(self._blanked(line) for line in lines)

    def _blanked(self, line: str) -> str:
        plain = folded(line)
        starts = [match.start() for match in re.finditer(r"(?<!\w)\w|[^\x00-\x7f]", plain)]
        ends = [plain[start:].rstrip("… ") for start in starts]
        cut = any(width(end) >= LINE and text.startswith(end) for end in ends for text in self.texts)
        if cut or self.repeats(line) or self.hints(line) or self.asks(line):
            return f"{line.partition(':')[0]}: {FORGOTTEN}" if ": " in line else FORGOTTEN
        return line


def folded(text: str) -> str:
    """Text as it is compared: in one normal form, without case, white space as single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def words(text: str) -> set[str]:
    """The words of a text that could tell one memory from others: of four letters or two CJK characters at least."""
    return {word for word in _WORD.findall(folded(text)) if width(word) >= 4 and not word.isdecimal()}


def width(text: str) -> int:
    """The columns that a text takes: a CJK character tells about as much as two letters."""
    return sum(2 if ord(char) > 0x2E7F else 1 for char in text)


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


def _stems(text: str) -> frozenset[str]:
    """What the words of a text are compared by, stop words aside."""
    return frozenset(terms.stem(token) for token in terms.tokens(text) if token not in terms.STOP)


def _has(words: str, text: str) -> bool:
    """Do folded words stand in a folded text, not merely within a longer word?"""
    if not words or words not in text:
        return False
    before, after = (r"(?<!\w)" if words[0].isascii() else ""), (r"(?!\w)" if words[-1].isascii() else "")
    return re.search(before + re.escape(words) + after, text) is not None


def _parts(line: str) -> Iterable[str]:
    bare = _bare(line)
    return (folded(bare), *map(folded, _SENTENCES.split(bare)))


def _bare(line: str) -> str:
    """A line without what marks it as an item, heading, turn or citation."""
    return _CITATION.sub("", _SPEAKER.sub("", _MARKS.sub("", line)))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _said(name: str) -> bytes:
    """A replacement for re.sub that means just these bytes."""
    return name.encode().replace(b"\\", b"\\\\")
