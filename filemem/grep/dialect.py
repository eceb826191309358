"""The language of a grep pattern: Python's `re`, and what ripgrep also accepts, translated into it.

Where the two read the same text differently (`[[a]`, `[a&&b]`, `\\<`) the pattern is refused: a search that
quietly means something else would look like "nothing there". One difference is left on purpose: without regard to case
`re` takes the Turkish dotless and dotted i for an i, and ripgrep does not.
"""

import unicodedata
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.grep.charclasses import SPACE, Ranges, complement, posix_named, property_named, word_characters

DEPTH = 50
"""Groups inside groups that a pattern may have; `re` itself gives up at some hundreds."""

CLASS_WEIGHT = 4_000_000
"""Characters that all classes of a pattern may name together: `re.compile` walks through every one of them."""

_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}


class PatternError(FilememError):
    """The pattern cannot be searched for: one sentence with what is wrong, where, and how to put it right."""


class Translation(NamedTuple):
    """A pattern as `re` reads it, and what must be known of its source."""

    text: str
    origin: list[int]
    """For each character of `text`, and for its end, the offset in the source that it comes from."""
    ignores_case: bool
    """What smart case says: there is a literal, and none is upper-case."""
    has_words: bool
    """It asks for word characters or their edges, so that `exact` makes a difference."""


def mistake(what: str, at: int, remedy: str) -> PatternError:
    """The error for the character at offset `at`; people count from 1."""
    return PatternError(f"pattern: {what} at character {at + 1}; {remedy}")


def translate(pattern: str, *, word: bool = False, exact: bool = False) -> Translation:
    """`pattern` in the syntax of `re`; raises PatternError for what no dialect reads, or each in its own way.

    With `word` a match has no word character beside it. With `exact` the word characters are ripgrep's in every line;
    without, only in those without `charclasses.has_odd_words`, but matched much faster.
    """
    reader = _Reader(pattern, exact)
    if word:
        reader.emit(reader.not_beside_word("?<!") + "(?:", 0)
    while reader.at < len(pattern):
        reader.read_item()
    reader.finish()
    if word:
        reader.emit(")" + reader.not_beside_word("?!"), len(pattern))
    origin = [*reader.origin, len(pattern)]
    return Translation("".join(reader.pieces), origin, reader.literal and not reader.upper, reader.has_words)


class _Reader:
    """Goes through a pattern once, from `at`, and collects the translated pieces."""

    __slots__ = (
        "at",
        "exact",
        "has_words",
        "literal",
        "open_flags",
        "opened_at",
        "origin",
        "pieces",
        "source",
        "upper",
        "weight",
    )

    def __init__(self, source: str, exact: bool) -> None:
        self.source = source
        self.exact = exact
        self.has_words = False
        self.at = 0
        self.pieces: list[str] = []
        self.origin: list[int] = []
        self.literal = self.upper = False
        self.weight = 0
        self.opened_at: list[int] = []
        # One entry for the whole pattern and for each open group: the `(?i)` that hold until it ends. `re` has
        # flags in mid-pattern only as groups, `(?i:...)`, which `|` and the group's end have to close.
        self.open_flags: list[list[str]] = [[]]

    def emit(self, piece: str, at: int) -> None:
        self.pieces.append(piece)
        self.origin.extend([at] * len(piece))

    def note_literal(self, char: str) -> None:
        self.literal = True
        self.upper = self.upper or char.isupper()

    def emit_literal(self, char: str, at: int) -> None:
        if char == "\n":
            raise mistake(
                "a line break", at, "grep looks at one line at a time: search for one line's text, with context"
            )
        self.note_literal(char)
        self.emit(char if char.isalnum() else f"\\U{ord(char):08x}", at)

    def read_item(self) -> None:
        at, char = self.at, self.source[self.at]
        if char == "\\":
            self.read_escape()
        elif char == "[":
            self.read_class()
        elif char == "(":
            self.read_group()
        elif char == ")":
            self.close_group()
        elif char == "{":
            self.read_braces()
        else:
            self.at += 1
            if char == "|":
                flags = self.open_flags[-1]
                self.emit(")" * len(flags) + "|" + "".join(flags), at)
            elif char in "^$.*+?":
                self.emit(char, at)
            else:
                self.emit_literal(char, at)

    def finish(self) -> None:
        if self.opened_at:
            raise mistake(
                "a group that is never closed, opened", self.opened_at[-1],
                "add the missing ), or to search for the character itself write \\(",
            )  # fmt: skip
        self.emit(")" * len(self.open_flags[0]), len(self.source))

    # Groups and repeats

    def read_braces(self) -> None:
        at, end = self.at, self.source.find("}", self.at)
        counts = self.source[at + 1 : end] if end > 0 else ""
        if counts and set(counts) <= set("0123456789,") and counts.count(",") < 2:
            self.emit(self.source[at : end + 1], at)
            self.at = end + 1
        else:
            self.emit_literal("{", at)
            self.at += 1

    def close_group(self) -> None:
        if not self.opened_at:
            raise mistake(
                "a ) that closes nothing", self.at, "remove it, or to search for the character itself write \\)"
            )
        self.opened_at.pop()
        self.emit(")" * len(self.open_flags.pop()) + ")", self.at)
        self.at += 1

    def open_group(self, head: str, length: int) -> None:
        if len(self.opened_at) == DEPTH:
            raise mistake(f"a group more than {DEPTH} groups deep", self.at, "simplify the pattern")
        self.emit(head, self.at)
        self.opened_at.append(self.at)
        self.open_flags.append([])
        self.at += length

    def read_group(self) -> None:
        source, at = self.source, self.at
        if not source.startswith("(?", at):
            return self.open_group("(", 1)
        for head in ("(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"):
            if source.startswith(head, at):
                return self.open_group(head, len(head))
        for head, tail in (("(?P<", ">"), ("(?<", ">"), ("(?(", ")"), ("(?P=", ")"), ("(?#", ")")):
            if source.startswith(head, at):
                return self.read_named(head, tail)
        return self.read_flags()

    def read_named(self, head: str, tail: str) -> None:
        """A group with a name, a test of a group, a reference to one by name, or a comment."""
        at, end = self.at, self.source.find(tail, self.at) + 1
        if not end:
            raise mistake(f"{head} without its {tail}", at, "to search for the characters themselves write \\(\\?")
        if head in ("(?P<", "(?<"):
            self.open_group("(?P<" + self.source[at + len(head) : end], end - at)
        elif head == "(?(":
            self.open_group(self.source[at:end], end - at)
        else:
            self.emit("" if head == "(?#" else self.source[at:end], at)
            self.at = end

    def read_flags(self) -> None:
        at = self.at
        end = at + 2
        while self.source[end : end + 1].isalpha() or self.source[end : end + 1] == "-":
            end += 1
        switched_on, _, switched_off = self.source[at + 2 : end].partition("-")
        known = set(switched_on) <= set("imsu") and set(switched_off) <= set("ims") and end > at + 2
        if not known or self.source[end : end + 1] not in (":", ")"):
            raise mistake(
                "a (? that begins nothing known", at,
                "groups are (...), (?:...), (?P<name>...), flags (?i), (?m), (?s); for the characters write \\(\\?",
            )  # fmt: skip
        # `u` is how `re` reads text anyway, and it accepts the letter only alone.
        flags = "".join(sorted(set(switched_on) - {"u"})) + ("-" + switched_off if switched_off else "")
        head = f"(?{flags}:"
        if self.source[end] == ":":
            self.open_group(head, end + 1 - at)
        else:
            self.emit(head, at)
            self.open_flags[-1].append(head)
            self.at = end + 1

    # Escapes

    def read_escape(self) -> None:
        at, char = self.at, self.escaped()
        if char in "dDAZ":
            self.emit("\\" + char, at)
        elif char in "wW":
            self.emit(self.word_class(negated=char == "W"), at)
        elif char in "bB":
            self.emit(self.word_edge(char == "b"), at)
        elif char in "sS":
            self.emit(f"[{'^' * (char == 'S')}{self.class_text(SPACE)}]", at)
        elif char == "z":
            self.emit("\\Z", at)
        elif char in "pP":
            self.emit(f"[{self.class_text(self.read_property(char == 'P', at))}]", at)
        elif char in "123456789":
            self.emit("\\" + char, at)
        else:
            self.emit_literal(self.read_character(char, at), at)

    def escaped(self) -> str:
        """The character after the backslash at `at`, and `at` behind it."""
        if self.at + 1 == len(self.source):
            raise mistake("a lone backslash", self.at, "to search for the character itself write \\\\")
        self.at += 2
        return self.source[self.at - 1]

    def read_character(self, char: str, at: int) -> str:
        """The character that an escape such as `\\t`, `\\.`, `\\x{4e00}` stands for."""
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char in _HEX_DIGITS or char == "N":
            return self.read_code(char, at)
        if char == "0":
            return "\0"
        if char in "<>":
            raise mistake(
                f"\\{char}, which programs read differently", at, f"write {char} alone, or \\b for a word's edge"
            )
        if char.isascii() and char.isalnum():
            raise mistake(f"\\{char}, which is no known escape", at, f"write {char} alone, or \\\\ for a backslash")
        return char

    def read_code(self, kind: str, at: int) -> str:
        source, start = self.source, self.at
        try:
            if source.startswith("{", start):
                end = source.index("}", start)
                self.at = end + 1
                name = source[start + 1 : end]
                return unicodedata.lookup(name) if kind == "N" else chr(int(name, 16))
            digits = source[start : start + _HEX_DIGITS[kind]]
            if len(digits) == _HEX_DIGITS[kind]:
                self.at = start + len(digits)
                return chr(int(digits, 16))
        except (KeyError, ValueError, OverflowError):
            pass
        raise mistake(f"\\{kind} without a character's code", at, "write it as \\x41, \\u4e00 or \\x{1f375}")

    def read_property(self, negated: bool, at: int) -> Ranges:
        """The characters of `\\p{Han}` or `\\pL`; `self.at` is behind the `p`."""
        name = self.source[self.at : self.at + 1]
        self.at += 1
        if name == "{":
            end = self.source.find("}", self.at)
            name = self.source[self.at : end] if end > 0 else ""
            self.at = end + 1
        if name.startswith("^"):
            name, negated = name[1:], not negated
        found = property_named(name)
        if not found:
            raise mistake(
                "a \\p{...} that is not known here",
                at,
                "known are categories such as \\p{L}, \\p{Lu} or \\p{N}, and \\p{Han}, \\p{Hiragana}, \\p{Katakana}",
            )
        return complement(found) if negated else found

    # Words

    def word_class(self, negated: bool = False) -> str:
        self.has_words = True
        if not self.exact:
            return "\\W" if negated else "\\w"
        # Both cases of every letter are in it: to fold them would only take time.
        return f"(?-i:[{'^' * negated}{self.class_text(word_characters())}])"

    def word_edge(self, wanted: bool) -> str:
        if self.exact:
            word = self.word_class()
            edge, none = ("?=", "?!") if wanted else ("?!", "?=")
            return f"(?:(?<={word})({none}{word})|(?<!{word})({edge}{word}))"
        self.has_words = True
        # `re` finds no \B in an empty line; ripgrep does.
        return "\\b" if wanted else "(?!\\b)"

    def not_beside_word(self, look: str) -> str:
        return f"({look}{self.word_class()})"

    # Classes

    def read_class(self) -> None:
        start = self.at
        self.at += 1
        negated = self.source.startswith("^", self.at)
        self.at += negated
        self.emit("[^" if negated else "[", start)
        first = self.at
        while not self.source.startswith("]", self.at) or self.at == first:
            at = self.at
            low, text = self.read_class_item(start)
            if self.source.startswith("-", self.at) and self.source[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high, _ = self.read_class_item(start)
                if not low or not high or high < low:
                    raise mistake("a range without two ends in order", at, "write it as a-z, or \\- for a dash")
                text = self.class_text(((ord(low), ord(high)),))
            self.emit(text, at)
        self.emit("]", self.at)
        self.at += 1

    def read_class_item(self, start: int) -> tuple[str, str]:
        """A character of a class and its translation; for a class inside it (`\\d`, `[:alpha:]`) no character."""
        at, source = self.at, self.source
        char = source[at : at + 1]
        if not char:
            raise mistake(
                "a [ that is never closed", start, "add the missing ], or to search for the character itself write \\["
            )
        if char == "[":
            return "", self.class_text(self.read_posix())
        if source[at : at + 2] in ("&&", "--", "~~"):
            raise mistake(f"{char * 2} inside [...]", at, f"write one {char}, or \\{char} twice for the characters")
        if char == "\\":
            char = self.escaped()
            if char in "pP":
                return "", self.class_text(self.read_property(char == "P", at))
            if char in "wW" and self.exact:
                return "", self.class_text(word_characters() if char == "w" else complement(word_characters()))
            if char in "dDwW":
                self.has_words = self.has_words or char in "wW"
                return "", "\\" + char
            if char in "sS":
                return "", self.class_text(SPACE if char == "s" else complement(SPACE))
            char = "\b" if char == "b" else self.read_character(char, at)
        else:
            self.at += 1
        self.note_literal(char)
        return char, self.class_text(((ord(char), ord(char)),))

    def read_posix(self) -> Ranges:
        at = self.at
        end = self.source.find(":]", at + 2)
        name = self.source[at + 2 : end] if self.source.startswith("[:", at) and end > 0 else ""
        found = posix_named(name)
        if not found:
            raise mistake(
                "a [ inside [...]",
                at,
                "to search for the characters themselves write \\[ and \\], for a class such as [[:alpha:]]",
            )
        self.at = end + 2
        return found

    def class_text(self, ranges: Ranges) -> str:
        self.weight += sum(max(0, min(high, 0xFFFF) - low + 1) for low, high in ranges)
        if self.weight > CLASS_WEIGHT:
            raise PatternError("pattern: its classes name too many characters; use fewer or smaller ones")
        return "".join(f"\\U{low:08x}-\\U{high:08x}" if low < high else f"\\U{low:08x}" for low, high in ranges)
