"""Deletion on request: `plan` finds what goes, `carry_out` deletes it, `search` tells where the words still stand.

A memory goes with the turns that it names as its source, and with all that cites what goes: facts, lines of summaries and of
the profile, answers. Of a conversation, a summary, the profile or a note only the lines in question go; the others keep
their numbers. What is set out to be done is written down before it begins, in a journal that is the last file to go and lies
where git never looks. Each step may be taken twice, so one that is cut off is finished by the next.
"""

import contextlib
import itertools
import json
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from filemem import index as indexes
from filemem.errors import FilememError, NotFound, Refused
from filemem.files import archive, safe
from filemem.files.archive import Progress, live, no_progress
from filemem.files.facts import sources
from filemem.files.folder import BOOKKEEPING, Folder, is_temporary_name
from filemem.files.memory import LARGEST, PROFILE, SOURCE_MARK, Memory, decode, kind_of, slug
from filemem.files.passages import TURN_HEAD, Passage
from filemem.files.transcript import ASSISTANT, first_words
from filemem.text.plain import UNSEEN, counted, one_line

FORGOTTEN = "[forgotten]"  # in the place of a text
NAMELESS = "forgotten"  # in the place of a name
MARK = "forgetting"  # the journal's file
CACHES = ("index", "vectors", "as-of", "running")  # made anew when they are needed
LEAST = 10  # bytes of a line from which on it is told from small talk
LONGEST_NAME = 1000  # characters of a word that may name a memory
ASKED, ITS_NAME = "as asked", "its name"

_CJK = r"\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = rf"[^\W{_CJK}]"  # of a script that sets words apart
_GAPS = re.compile(r"[\s，。、；：！？“”「」《》…]+")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_MARKS = re.compile(r"(?:[-*+>#\s]|\d{1,9}[.)]\s)+")
_DATED = re.compile(r"\d{4}-\d\d-\d\d(?:-\d{4})?-")
_NAMED = re.compile(r"\S*/\S+\.\w+(?::\d[\d,-]*)?|\b\d{4}-\d\d-\d\d-[^\s\]]+")  # a memory, by its path or its name
_PLACE = re.compile(r"(?P<path>\S.*?\.\w+)(?::(?P<lines>\d[\d,\s-]*))?")
_CITED = re.compile(r"[^\s,:()\[\]][^,:()\[\]]*\.\w+:\d[\d,-]*")
_KEPT = re.compile(
    rf"\ufeff?(?:{TURN_HEAD.pattern}[ ]?|[ \t]*(?:(?:[-*+>]|\d{{1,9}}[.)]|#{{1,6}})[ \t]+(?:\[[ xX]\][ \t]+)?)*)"
)
_KEY = re.compile(r"\ufeff?[\w\"'-]+[ \t]*:[ \t]*")
_EDGE = rb"[\w\x80-\xff-]"
# How the files of gzip, zip, bzip2, xz, 7z, zstd, rar, pdf and bundles of git begin.
_PACKED = re.compile(rb"\x1f\x8b\x08|PK\x03\x04|BZh|\xfd7zXZ|7z\xbc\xaf|\(\xb5/\xfd|Rar!\x1a|%PDF-|# v[23] git bundle")


# -- what is looked for --------------------------------------------------------------------------------------------


class TextMatcher:
    """Words, all of which a text must hold as whole words, in a script without gaps as a part of it; or lines of what goes."""

    def __init__(self, about: str = "", lines: Iterable[str] = ()) -> None:
        self.about = about
        self.lines = set(lines)  # folded
        words = [word.strip(".,;:!?\"'()[]*") for word in _GAPS.split(folded(about))]
        self._words = [re.compile(_whole(word)) for word in words if re.search(r"[^\W_]", word)]

    def __bool__(self) -> bool:
        """Is there anything to look for?"""
        return bool(self._words or self.lines)

    def add(self, text: str) -> None:
        """Look for the lines of a text, short ones aside."""
        bare = (folded(_MARKS.sub("", line, count=1) if _MARKS.match(line) else line) for line in text.split("\n"))
        self.lines.update(line for line in bare if len(line.encode()) >= LEAST and line != FORGOTTEN)

    def has_words(self, text: str) -> bool:
        """Does a text hold all the words?"""
        return bool(self._words) and any(all(word.search(one) for word in self._words) for one in _readings(text))

    def holds(self, text: str) -> bool:
        """Does a text hold all the words, or one of the lines?"""
        return self.has_words(text) or any(line in one for one in _readings(text) for line in self.lines)

    def begins(self, text: str) -> bool:
        """Does a text, such as a commit's subject, hold it, or end with the beginning of one of the lines, cut short?"""
        end = folded(text.partition(": ")[2]).rstrip("… ")
        return self.holds(text) or (len(end.encode()) >= LEAST and any(line.startswith(end) for line in self.lines))

    def in_name(self, path: str) -> bool:
        """Does a file's name hold all the words?"""
        return self.has_words(os.path.splitext(path.rpartition("/")[2])[0].replace("-", " "))


def folded(text: str) -> str:
    """Text as it is compared: in one normal form, without case and what nobody sees, white space as single spaces."""
    return " ".join(UNSEEN.sub("", unicodedata.normalize("NFC", text)).casefold().split())


def _readings(text: str) -> list[str]:
    """A text folded, as it stands and with the escapes of JSON undone."""
    plain = folded(text)
    if "\\" not in text:
        return [plain]
    undone = _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else " " if m[2] in "nrt" else m[2], text)
    return list(dict.fromkeys((plain, folded(undone))))


def _whole(word: str) -> str:
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, word) else ""
    return before + re.escape(word) + (rf"(?!{_LETTER})" if re.match(_LETTER, word[-1]) else "")


# -- the plan ------------------------------------------------------------------------------------------------------


class DeletionItem(NamedTuple):
    """Something to be forgotten: the lines `line` to `end` of a memory or, with line 0, a whole file; and why."""

    path: str
    line: int
    end: int
    text: str
    why: str

    @property
    def place(self) -> str:
        """The path, with the line where only lines go."""
        return f"{self.path}:{self.line}" if self.line else self.path


class LineCut(NamedTuple):
    """Lines from `line` on (counted from 1) as they are, and what the first becomes; the others become empty."""

    line: int
    old: tuple[str, ...]
    new: str


class Occurrence(NamedTuple):
    """A place that holds what is looked for, with that line; or, with line 0, a file's name, or why it was not searched."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{one_line(self.path)}{f':{self.line}' * bool(self.line)}: {one_line(self.text, 80)}"


class DeletionPlan(NamedTuple):
    """What is to go: whole files by path with the digest of their bytes, lines by path; for the live path of a file the
    name that it gets, or nothing. `every`: all that holds the words goes. `left` holds the words too, and stays; `records`
    are the program's own that lose lines; `notes` are sentences on what a person must look at. `everything`: the whole user goes;
    `purge`: git's history is rewritten, too.
    """

    items: list[DeletionItem]
    whole: dict[str, str]
    lines: dict[str, list[LineCut]]
    names: dict[str, str]
    matcher: TextMatcher
    every: bool = True
    left: list[Occurrence] = []  # never changed
    records: list[str] = []
    notes: list[str] = []
    everything: bool = False
    purge: bool = False

    def __bool__(self) -> bool:
        """Is there anything to delete?"""
        return bool(self.items or self.records)


def plan(
    folder: Folder,
    what: str = "",
    *,
    about: str = "",
    choose: Callable[[list[DeletionItem]], list[DeletionItem]] | None = None,
    progress: Progress = no_progress,
) -> DeletionPlan:
    """Everything that goes with a memory, a `path:line` of one, or all that holds the words; nothing is changed.

    `what` may be either, `about` is always words; of what holds them `choose` may pick some. Raises NotFound for a path that
    names nothing.
    """
    asked = None if about else _at_place(folder, what)
    if asked is not None:
        return _planned(folder, [asked], TextMatcher(), progress)
    matcher = TextMatcher(about or what)
    if not matcher:
        raise FilememError(f"{one_line(about or what, 60)} holds no word to look for; name one.")
    found = [item for memory in _memories(folder, progress) for item in matching(memory, matcher)]
    chosen = choose(found) if choose and found else found
    return _planned(folder, chosen, matcher, progress, every=len(chosen) == len(found))


def plan_turns(folder: Folder, places: Iterable[str]) -> DeletionPlan:
    """Everything that goes with some turns, each a `path:line`; raises NotFound where one names nothing."""
    asked = [_at_place(folder, place) for place in places]
    return _planned(folder, [item for item in asked if item], TextMatcher())


def _planned(
    folder: Folder,
    asked: list[DeletionItem],
    matcher: TextMatcher,
    progress: Progress = no_progress,
    every: bool = True,
) -> DeletionPlan:
    cascade = _Cascade(folder, matcher, progress)
    for item in asked:
        cascade.ask(item)
    cascade.follow()
    names = {live(path): "" for path in cascade.whole} | {live(old): live(new) for old, new in cascade.moved.items()}
    lines = {path: cuts for path in cascade.memories if path not in cascade.whole and (cuts := cascade.cuts(path))}
    going = {
        path: {n for cut in cuts for n in range(cut.line, cut.line + len(cut.old))} for path, cuts in lines.items()
    }
    left, records, copies = list[Occurrence](), list[str](), list[DeletionItem]()
    for found in search(folder, matcher) if asked or every else ():
        path, name = found.path, found.path.rpartition("/")[2]
        if path.startswith(BOOKKEEPING + "/"):
            records += [path] if path not in records and path.split("/")[1] not in CACHES else []
        elif path not in cascade.memories and is_temporary_name(name):
            copies += [DeletionItem(path, 0, 0, "", "a copy that a program has left")] if found.line else []
        elif path not in cascade.whole and path not in cascade.moved and found.line not in going.get(path, ()):
            left.append(found)
    copies = list(dict.fromkeys(copies))
    passages = sorted(item for found in cascade.lines.values() for item in found.values())
    renamed = [DeletionItem(path, 0, 0, "", ITS_NAME) for path in cascade.moved if path not in cascade.lines]
    whole = {path: safe.digest(folder.place / path) for path in [*cascade.whole, *(item.path for item in copies)]}
    items = [*cascade.whole.values(), *passages, *renamed, *copies]
    return DeletionPlan(items, whole, lines, names, matcher, every, left, records, cascade.notes)


def with_left(folder: Folder, found: DeletionPlan) -> DeletionPlan:
    """The plan with what it had left in files that can be read: their lines go too."""
    lines, items, left = dict(found.lines), list(found.items), list[Occurrence]()
    for one in found.left:
        try:
            data = safe.read(folder.place / one.path, LARGEST) if one.line else b""
            cut = blanked(data, one.line, one.line)
        except (FilememError, OSError, IndexError):
            left.append(one)
            continue
        lines[one.path] = [*lines.get(one.path, []), cut]
        items.append(DeletionItem(one.path, one.line, one.line, one.text, ASKED))
    return found._replace(lines=lines, items=items, left=left, every=True)


def matching(memory: Memory, matcher: TextMatcher) -> list[DeletionItem]:
    """What of one memory holds all the words: lines, or else its name."""
    found = list(passages_with(memory, matcher)) if matcher.has_words(memory.text) else []
    if not found and _DATED.match(memory.path.rpartition("/")[2]) and matcher.in_name(memory.path):
        return [DeletionItem(memory.path, 0, 0, "", ITS_NAME)]
    return [_whole_of(memory)] if found and _one_statement(memory) else found


def passages_with(memory: Memory, matcher: TextMatcher) -> Iterator[DeletionItem]:
    """The passages of a memory, and the lines outside them, such as headings and front matter, that hold all the words; the
    names of other memories in them aside."""

    def told(text: str) -> bool:
        nameless = (_NAMED.sub(" ", word) if len(word) <= LONGEST_NAME else word for word in re.split(r"(\s+)", text))
        return FORGOTTEN not in text and matcher.has_words(text) and matcher.has_words("".join(nameless))

    inside = {n for passage in memory.passages for n in range(passage.line, passage.end_line + 1)}
    for passage in memory.passages:
        if told(passage.text):
            yield DeletionItem(memory.path, passage.line, passage.end_line, passage.text, ASKED)
    for number, line in enumerate(memory.lines, 1):
        if number not in inside and told(line):
            yield DeletionItem(memory.path, number, number, line, ASKED)


def neutral_path(path: str, taken: Iterable[str]) -> str:
    """The path of a dated file with a name that says nothing; `taken` are live paths."""
    folder, _, name = path.rpartition("/")
    start, ending, known = _DATED.match(name), os.path.splitext(name)[1], set(taken)
    found = (f"{folder}/{start[0] if start else ''}{NAMELESS}{f'-{n}' * (n > 1)}{ending}" for n in itertools.count(1))
    return next(candidate for candidate in found if live(candidate) not in known)


def _at_place(folder: Folder, what: str) -> DeletionItem | None:
    """The memory that a text names, or what stands at one line of it; None where the text is words."""
    match = re.fullmatch(r"(.+?)(?::(\d{1,9}))?", what.strip(), re.DOTALL)
    try:
        memory = _read(folder, folder.locate(match[1] if match else ""))
    except (NotFound, Refused):
        if match and re.fullmatch(r"\S*/\S*|\S+\.(?:md|markdown|txt|ya?ml)", match[1]):
            raise
        return None
    if not match or not match[2]:
        return _whole_of(memory)
    passage = _passage(memory, int(match[2]))
    if passage is None:
        raise NotFound(f"{memory.path} says nothing on line {match[2]}; filemem open {memory.path} shows its lines.")
    return _item(memory, passage, ASKED)


def _memories(folder: Folder, progress: Progress) -> Iterator[Memory]:
    paths = folder.paths()
    for number, path in enumerate(paths, 1):
        progress(number, len(paths))
        with contextlib.suppress(FilememError, OSError):
            yield _read(folder, path)


def _read(folder: Folder, path: str) -> Memory:
    """A memory; one that is too large to be read has no text here, and can go as a whole."""
    data = folder.read(path, LARGEST + 1)
    return Memory(path, data if len(data) <= LARGEST else b"")


def _passage(memory: Memory, line: int) -> Passage | None:
    return next((p for p in memory.passages if p.line <= line <= p.end_line), None)


def _whole_of(memory: Memory, why: str = ASKED) -> DeletionItem:
    return DeletionItem(memory.path, 0, 0, memory.passages[0].text if memory.passages else "", why)


def _one_statement(memory: Memory) -> bool:
    """Is this one statement, to be deleted as a whole: a fact, a lesson, or front matter alone?"""
    bare = bool(memory.passages) and memory.passages[-1].line < memory.front_end
    return memory.kind in ("facts", "lessons") or memory.is_yaml or bare


def _item(memory: Memory, passage: Passage, why: str) -> DeletionItem:
    if _one_statement(memory):
        return _whole_of(memory, why)
    return DeletionItem(memory.path, passage.line, passage.end_line, passage.text, why)


class _Cascade:
    """What is to be deleted so far; it grows until no further memory cites any of it."""

    def __init__(self, folder: Folder, matcher: TextMatcher, progress: Progress) -> None:
        self.folder = folder
        self.matcher = matcher
        self.memories = {memory.path: memory for memory in _memories(folder, progress)}
        self.whole: dict[str, DeletionItem] = {}
        self.lines: dict[str, dict[int, DeletionItem]] = {}
        self.moved: dict[str, str] = {}
        self.notes: list[str] = []

    def ask(self, item: DeletionItem) -> None:
        """Take what was named, and the turns that it came from."""
        if item.why == ITS_NAME:
            self._rename(item.path)
            return
        memory = self.memories[item.path]
        self._take(item)
        cited = sources(memory) if not item.line and memory.kind != "sessions" else []
        if (
            item.line and not self.matcher.about and memory.kind != "sessions"
        ):  # with words each says by itself what goes
            line = "\n".join(memory.lines[item.line - 1 : item.end])
            rests = SOURCE_MARK.search(line)
            cited = [rests[1]] if rests else _CITED.findall(line) if memory.kind == "summaries" else []
        for entry in cited:
            self._take_source(item, entry)

    def _take_source(self, item: DeletionItem, entry: str) -> None:
        """Take the turns that a memory names as its source, or the fact that a line of the profile rests on."""
        match = _PLACE.fullmatch(entry)
        try:
            memory = self.memories[self.folder.locate(match["path"] if match else entry)]
        except (FilememError, KeyError):
            return
        if match and match["lines"]:
            for line in sorted(_lines_named(match["lines"])):
                passage = _passage(memory, line)
                if passage and FORGOTTEN not in passage.text:
                    self._take(_item(memory, passage, f"the source of {item.path}"))
        elif item.path == PROFILE:
            self.ask(_whole_of(memory, f"the source of {item.place}"))
        else:
            self.notes.append(f"{one_line(entry)} is named as its source without a line; look there for what was said.")

    def _take(self, item: DeletionItem) -> None:
        if item.path in self.whole or item.line in self.lines.get(item.path, {}):
            return
        if item.line:
            self.lines.setdefault(item.path, {})[item.line] = item
        else:
            self.lines.pop(item.path, None)
            self.whole[item.path] = item
        if not self.matcher.about:
            memory = self.memories[item.path]
            for text in [item.text] if item.line else [passage.text for passage in memory.passages]:
                self.matcher.add(text)

    def follow(self) -> None:
        """Take what cites it until there is no more; then give conversations whose name tells it another."""
        size = -1
        while size != len(self.whole) + sum(map(len, self.lines.values())):
            size = len(self.whole) + sum(map(len, self.lines.values()))
            for memory in self.memories.values():
                if memory.path not in self.whole:
                    self._follow_to(memory)
        for path, found in self.lines.items():
            memory = self.memories[path]
            for item in list(found.values()):
                if self.matcher.in_name(path) or slug(first_words(item.text), 60).startswith(
                    _DATED.sub("", _stem(path)) or "-"
                ):
                    self._rename(path)
            line = memory.episode_line
            if (
                memory.episode.text and line not in found
            ):  # it may tell any turn in other words; it is made anew of the rest
                found[line] = DeletionItem(path, line, line, memory.lines[line - 1], "cites it")

    def _follow_to(self, memory: Memory) -> None:
        """Take a memory that was distilled from it, or the passages that cite it."""
        near = [path for path in (*self.whole, *self.lines) if path.rpartition("/")[2].encode() in memory.data]
        if not near:
            return
        entries = [entry for entry in sources(memory) if self._cites(entry, near, bare=True)]
        if entries and _one_statement(memory):
            self._take(_whole_of(memory, f"distilled from {one_line(entries[0])}"))
            return
        if entries:
            self.notes.append(f"{memory.path} was made from {one_line(entries[0])}; read it through.")
        rests = ((n, SOURCE_MARK.search(line)) for n, line in enumerate(memory.lines, 1) if memory.path == PROFILE)
        for line, mark in rests:
            if mark and self._cites(mark[1], near, bare=True):
                self._take(DeletionItem(PROFILE, line, line, memory.lines[line - 1], f"rests on {mark[1]}"))
        for passage in memory.passages:
            if FORGOTTEN not in passage.text and self._cites(passage.text, near, bare=passage.speaker == ASSISTANT):
                self._take(_item(memory, passage, "cites it"))

    def _cites(self, text: str, near: list[str], *, bare: bool = False) -> bool:
        """Does a text name lines that go, or (`bare`) a file that goes?"""
        for path in near:
            gone = {n for item in self.lines.get(path, {}).values() for n in range(item.line, item.end + 1)}
            for match in re.finditer(rf"(?<![\w-]){re.escape(live(path))}(?::(\d[\d,\s-]*))?", text):
                if gone & _lines_named(match[1] or "") or (path in self.whole and (match[1] or bare)):
                    return True
        return False

    def _rename(self, path: str) -> None:
        if path not in self.moved and path not in self.whole and _DATED.match(path.rpartition("/")[2]):
            self.moved[path] = neutral_path(path, map(live, (*self.memories, *self.moved.values())))

    def cuts(self, path: str) -> list[LineCut]:
        """The lines of one memory that go."""
        memory = self.memories[path]
        return list(dict.fromkeys(cut(memory, item) for item in self.lines.get(path, {}).values()))


def _lines_named(text: str) -> set[int]:
    """The lines that the end of a citation names: `12`, `12,15` or `12-14`."""
    found: set[int] = set()
    for part in re.findall(r"\d{1,9}(?:-\d{1,9})?", text):
        first, _, last = part.partition("-")
        found.update(range(int(first), min(int(last or first), int(first) + 10_000) + 1))
    return found


def _stem(path: str) -> str:
    return os.path.splitext(path.rpartition("/")[2])[0]


# -- lines of a file -----------------------------------------------------------------------------------------------


def cut(memory: Memory, item: DeletionItem) -> LineCut:
    """How an item's lines go: of front matter the value, of a summary or the profile all, else all but what shows what they
    were."""
    if item.line < memory.front_end:
        old = _lines(memory.data)[max(2, item.line) - 1]
        key = _KEY.match(old)
        return LineCut(max(2, item.line), (old,), f"{key[0] if key else '# '}{NAMELESS}")
    return blanked(memory.data, item.line, item.end, gone=memory.kind == "summaries" or memory.path == PROFILE)


def blanked(data: bytes, line: int, end: int, *, gone: bool = False) -> LineCut:
    """Lines `line` to `end` of a file; what shows that the first is a turn, an item or a heading stays, unless it is `gone`."""
    old = tuple(_lines(data)[line - 1 : end])
    mark = _KEPT.match(old[0].removesuffix("\r"))
    return LineCut(line, old, "" if gone else f"{(mark[0] if mark else '').rstrip()} {FORGOTTEN}".lstrip())


def apply_cuts(data: bytes, cuts: Iterable[LineCut]) -> bytes:
    """The file without what the cuts hold, where their lines are now: a person may have moved them meanwhile."""
    lines = _lines(data)
    for wanted in cuts:
        count, at = len(wanted.old), wanted.line - 1
        starts = [at] if tuple(lines[at : at + count]) == wanted.old else range(len(lines) - count + 1)
        for start in starts:
            if tuple(lines[start : start + count]) == wanted.old:
                ends = ["\r" if old.endswith("\r") else "" for old in wanted.old]
                lines[start : start + count] = [wanted.new + ends[0], *ends[1:]]
    codec = _codec(data)
    return "\n".join(lines).encode(codec, "surrogatepass" if codec != "latin-1" else "strict")


def _codec(data: bytes) -> str:
    return {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "latin-1")  # which keeps every byte


def _lines(data: bytes) -> list[str]:
    """The lines, each with its \\r; raises Refused for UTF-16 that is broken."""
    codec = _codec(data)
    try:
        return data.decode(codec, "surrogatepass" if codec != "latin-1" else "strict").split("\n")
    except UnicodeDecodeError:
        raise Refused("the file is broken UTF-16; save it as UTF-8, then try again.") from None


def renamed(data: bytes, names: dict[str, str]) -> bytes:
    """Bytes with every name of a forgotten file replaced: by its new one, else by a plain word."""
    for old, new in names.items():
        stem = _stem(old)
        if stem.encode() not in data:
            continue
        before, after = (rb"", rb"") if new else (rb"(?:archive/)?", rb"(?::\d[\d,-]*)?")
        path = rb"(?<!" + _EDGE + rb")" + before + re.escape(old.encode()) + after
        data = re.sub(path, (new or NAMELESS).encode(), data)
        if _DATED.match(stem):
            name = rb"(?<!" + _EDGE + rb")" + re.escape(stem.encode()) + rb"(?!" + _EDGE + rb")"
            data = re.sub(name, (_stem(new) or NAMELESS).encode(), data)
    return data


# -- where it stands -----------------------------------------------------------------------------------------------


def search(folder: Folder, matcher: TextMatcher) -> list[Occurrence]:
    """Every place in the user's own folder, git's aside, that holds it; and every file that cannot be searched."""
    if not matcher:
        return []
    return list(search_under(str(folder.place), matcher, but=(f"{BOOKKEEPING}/{MARK}", ".git")))


def elsewhere(folder: Folder, matcher: TextMatcher) -> list[str]:
    """Places of the store outside the user's folder that hold it, as `user/path:line`: for the store's owner alone."""
    found = search_under(str(folder.above), matcher, but=(folder.name, ".git")) if matcher else ()
    return [f"{one_line(one.path)}{f':{one.line}' * bool(one.line)}" for one in found]


def search_under(top: str, matcher: TextMatcher, but: Iterable[str] = ()) -> Iterator[Occurrence]:
    """Every place under a folder that holds it, those paths aside; links are not followed, and each folder is seen once."""
    waiting, aside = [""], set(but)
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(os.path.join(top, prefix)) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                what = f"cannot be listed ({error.strerror}), so nobody knows what it says"
                yield Occurrence(prefix[:200].rstrip("/") or ".", 0, what)
            continue
        for entry in entries:
            path = prefix + entry.name
            if path in aside:
                continue
            if matcher.in_name(entry.name):
                yield Occurrence(path, 0, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if entry.name == ".git":
                    yield Occurrence(path, 0, "is a repository of its own, which nobody has searched")
                else:
                    waiting.append(f"{path}/")
            elif entry.is_file(follow_symlinks=False):
                yield from (Occurrence(path, line, text) for line, text in _in_file(entry.path, matcher))


def _in_file(where: str, matcher: TextMatcher) -> Iterator[tuple[int, str]]:
    """The lines of a file that hold it, with their numbers; with 0, why it cannot be searched."""
    try:
        with open(where, "rb") as file:
            if os.fstat(file.fileno()).st_size > safe.MOST:
                yield 0, f"is larger than {safe.MOST // 1_000_000} MB, so it was not searched"
                return
            data = file.read()
        if _PACKED.match(data):
            yield 0, "is compressed, so nobody knows what it says"
        yield from in_bytes(data, matcher)
    except FileNotFoundError:
        return
    except OSError as error:
        yield 0, f"cannot be read ({error.strerror}), so nobody knows what it says"


def in_bytes(data: bytes, matcher: TextMatcher) -> Iterator[tuple[int, str]]:
    """The lines that hold it, with their numbers; bytes that are no text hold some, too."""
    for text in dict.fromkeys((decode(data), data.decode(errors="ignore"))) if data.strip(b"\0") else ():
        if matcher.holds(text):
            yield from ((n, line.strip("\0\r")) for n, line in enumerate(text.split("\n"), 1) if matcher.holds(line))
            return


# -- apply ---------------------------------------------------------------------------------------------------------


class DeletionReport(NamedTuple):
    """What went: whole files, lines as path:line, records beside the memories; what stayed and why; the places in the user's
    folder that still hold it; a word about git; whether there was anything to look for elsewhere; and the commit's subject and
    paths."""

    deleted: list[str]
    redacted: list[str]
    beside: list[str]
    stayed: list[str]
    left: list[Occurrence]
    note: str
    sought: bool
    subject: str
    paths: list[str]


def unfinished(folder: Folder) -> DeletionPlan | None:
    """The job that was cut off, if any; raises Refused for one that was not begun in this very folder: a stranger's store
    must not say what is deleted here."""
    try:
        data = safe.read(folder.bookkeeping(MARK))
    except NotFound:
        return None
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        kept = json.loads(data)
        if kept["folder"] != os.stat(folder.root).st_ino:
            raise Refused(
                f"{folder.bookkeeping(MARK)} was not written here; delete it, then forget what it was about anew."
            )
        return from_json(kept)
    raise Refused(f"{folder.bookkeeping(MARK)} cannot be read; delete it, then forget what it was about anew.")


def start(folder: Folder, found: DeletionPlan) -> DeletionPlan:
    """Write the plan down: from now on it will be carried out. Returns it.

    Raises Refused where another has not come to its end.
    """
    if safe.exists(folder.bookkeeping(MARK)):
        raise Refused("an earlier forgetting was cut off; finish it with filemem forget, then try again.")
    folder.make()
    kept = {"folder": os.stat(folder.root).st_ino, **as_json(found)}
    safe.write(folder.bookkeeping(MARK), json.dumps(kept).encode())
    return found


def as_json(found: DeletionPlan) -> dict[str, Any]:
    """What of a plan is needed to carry it out."""
    texts = {"about": found.matcher.about, "texts": sorted(found.matcher.lines)}
    goes = {"whole": found.whole, "lines": found.lines, "names": found.names, "every": found.every}
    return {**goes, **texts, "all": found.everything, "purge": found.purge}


def from_json(kept: dict[str, Any]) -> DeletionPlan:
    """The plan that was kept; raises KeyError, ValueError and the like where it is none."""
    lines = {path: [LineCut(n, tuple(old), new) for n, old, new in cuts] for path, cuts in kept["lines"].items()}
    matcher = TextMatcher(kept["about"], kept["texts"])
    how = {"everything": kept["all"], "purge": kept["purge"]}
    return DeletionPlan([], kept["whole"], lines, kept["names"], matcher, kept["every"], **how)


def carry_out(folder: Folder, found: DeletionPlan) -> DeletionReport:
    """Carry a plan out in the files, from the start or from where it was cut off, and look for what is left. A file that a person
    has saved since stays, and is named. To be called while no other job is at work; see `jobs.running.delete`."""
    if found.everything:
        return _remove_user(folder, found)
    with folder.locked():
        beside = clear_records(folder, found)
        redacted, stayed = _redact(folder, found)
        touched = _rename(folder, found)
        deleted, changed = _delete(folder, found.whole)
        indexes.of(folder).discard()
        for name in CACHES:
            with contextlib.suppress(NotFound, FileNotFoundError):
                safe.remove(folder.bookkeeping(name))
    left = []
    for one in search(folder, found.matcher):
        if one.path.rpartition("/")[2].startswith(safe.TEMPORARY):  # left by a write that was cut off
            with contextlib.suppress(NotFound):
                safe.delete(folder.place / one.path)
        else:
            left.append(one)
    counts = (len(found.whole), "file"), (sum(map(len, found.lines.values())), "passage")
    subject = f"Forget {' and '.join(counted(*count) for count in counts if count[0]) or 'what records told'}"
    sought = bool(found.matcher) or not (found.whole or found.lines)
    paths = [*found.whole, *found.lines, *touched]
    return DeletionReport(deleted, redacted, beside, stayed + changed, left, "", sought, subject, paths)


def end(folder: Folder, found: DeletionPlan) -> None:
    """Forget the plan, which has come to its end; a user who is gone loses the folder too, unless a repository stays there."""
    with contextlib.suppress(NotFound):
        safe.delete(folder.bookkeeping(MARK))
        safe.sync_folder(folder.bookkeeping())
    if found.everything:
        with contextlib.suppress(FilememError, OSError):
            safe.remove(folder.bookkeeping())  # locks, and the note of a commit that must wait
        if not safe.names_in(folder.place):
            safe.remove(folder.place)
        safe.sync_folder(folder.above)


def _redact(folder: Folder, found: DeletionPlan) -> tuple[list[str], list[str]]:
    """Take the lines out of their files; a summary of which nothing is left goes too."""
    redacted: list[str] = []
    stayed: list[str] = []
    known = set(folder.paths())
    for path, wanted in found.lines.items():
        try:
            edit = folder.edit if path in known else lambda path, change: safe.edit(folder.place / path, change)
            if edit(path, lambda data, wanted=wanted: apply_cuts(data, wanted)):  # type: ignore[misc]
                redacted += [f"{path}:{one.line}" for one in wanted]
            if kind_of(path) == "summaries":
                summary = Memory(path, folder.read(path))
                if all(not line.strip() or line.startswith("#") for line in summary.lines[summary.front_end :]):
                    safe.delete(folder.place / path)
        except (NotFound, FileNotFoundError):  # moved, or gone, when the job was cut off
            continue
        except (FilememError, OSError) as error:
            stayed.append(f"{path} stays as it is: {error}")
    return redacted, stayed


def _rename(folder: Folder, found: DeletionPlan) -> list[str]:
    """Give conversations their new names, and let every memory that names a file which goes or moves say so no more."""
    touched = []
    for path in folder.paths():
        if found.names and path not in found.whole:
            with contextlib.suppress(FilememError, OSError):
                data = folder.read(path, LARGEST + 1)
                named = len(data) <= LARGEST and renamed(data, found.names) != data
                if named and folder.edit(path, lambda data: renamed(data, found.names)):
                    touched.append(path)
    for old, new in found.names.items():
        for prefix in ("", archive.archived("")) if new else ():
            with contextlib.suppress(FilememError, FileExistsError, FileNotFoundError):
                if os.path.lexists(folder.place / (prefix + old)):
                    folder.move(prefix + old, prefix + new)
                touched += [prefix + old, prefix + new]
    return touched


def _delete(folder: Folder, whole: dict[str, str]) -> tuple[list[str], list[str]]:
    """Delete files that are still what they were; returns those deleted, and sentences on those that stay."""
    deleted: list[str] = []
    stayed: list[str] = []
    for path, known in whole.items():
        try:
            safe.delete_if(folder.place / path, lambda where, known=known: safe.digest(where) == known)  # type: ignore[misc]
            deleted.append(path)
        except (NotFound, FileNotFoundError):
            continue
        except (FilememError, OSError) as error:
            stayed.append(f"{path} stays as it is: {error}")
    return deleted, stayed


# -- beside the memories -------------------------------------------------------------------------------------------


def clear_records(folder: Folder, found: DeletionPlan) -> list[str]:
    """Take it out of every record of the program's own, and delete the traces of conversations that lose something."""
    said = []
    touched = {_stem(path) for path in (*found.whole, *found.lines, *found.names)}
    aside = {MARK, *CACHES}
    for path in _records(str(folder.bookkeeping())):
        name, where = path.rpartition("/")[2], folder.bookkeeping(path)
        if path.split("/")[0] in aside or name.endswith("lock"):
            continue
        with contextlib.suppress(NotFound):
            if path.startswith("traces/") and (_stem(path) in touched or found.matcher.in_name(name)):
                safe.delete(where)
                said.append(f"{BOOKKEEPING}/{path}")
            elif safe.edit(where, lambda data, name=path: record_without(name, data, found)):  # type: ignore[misc]
                said.append(f"lines of {BOOKKEEPING}/{path}")
    return said


def _records(top: str) -> list[str]:
    """The files of the bookkeeping that are small enough to be edited."""
    return sorted(
        os.path.relpath(os.path.join(above, name), top)
        for above, _, names in os.walk(top)
        for name in names
        if stat.S_ISREG((status := os.lstat(os.path.join(above, name))).st_mode) and status.st_size <= safe.MOST
    )


def record_without(name: str, data: bytes, found: DeletionPlan) -> bytes:
    """A record's bytes without what tells of it: JSON keeps its lines, as some must never be done again; others go."""
    lines = (_line_without(line, found, by_name=name.endswith(".log")) for line in data.splitlines(True))
    return b"".join(line for line in lines if line is not None)


def _line_without(line: bytes, found: DeletionPlan, *, by_name: bool) -> bytes | None:
    if line[:1] in b"{[":
        with contextlib.suppress(ValueError):
            try:
                value = json.loads(line)
                new = _value_without(value, found)
            except RecursionError:
                return None
            return line if new == value else json.dumps(new, ensure_ascii=line.isascii()).encode() + b"\n"
    after = renamed(line, found.names)
    gone = any(old.encode() in line for old, new in found.names.items() if not new)
    cited = any(f"{path}:{one.line}".encode() in line for path, cuts in found.lines.items() for one in cuts)
    told = not by_name and found.matcher.holds(line.decode(errors="replace"))
    return None if gone or told or (cited and by_name) else after


def _value_without(value: Any, found: DeletionPlan) -> Any:
    """A JSON value with what its strings tell of it taken out; its keys are the program's own words, or paths."""
    if isinstance(value, list):
        return [_value_without(entry, found) for entry in value]
    if isinstance(value, dict):
        entries = [(_nameless(key, found), key, _value_without(entry, found)) for key, entry in value.items()]
        kept = {key: entry for name, key, entry in entries if name == key}
        return {name: entry for name, key, entry in entries if name == key or name not in kept}
    if not isinstance(value, str):
        return value
    return FORGOTTEN if found.matcher.holds(value) else _nameless(value, found)


def _nameless(text: str, found: DeletionPlan) -> str:
    return renamed(text.encode("utf-8", "surrogatepass"), found.names).decode("utf-8", "surrogatepass")


# -- a whole user --------------------------------------------------------------------------------------------------


def _remove_user(folder: Folder, found: DeletionPlan) -> DeletionReport:
    """Delete all in a user's folder but the journal; a repository of its own stays unless the history is to be purged."""
    with folder.locked():
        for name in safe.names_in(folder.place):
            if name not in (BOOKKEEPING, ".git") or (name == ".git" and found.purge):
                safe.remove(folder.place / name)
        for name in safe.names_in(folder.bookkeeping()):
            if name != MARK:
                safe.remove(folder.bookkeeping(name))
        safe.sync_folder(folder.root)
    gone = f"{one_line(folder.name)}, {counted(len(found.whole), 'memory', 'memories')}"
    return DeletionReport([gone], [], [], [], [], "", True, "Forget the memories of one user", [*found.whole])


# -- in sentences --------------------------------------------------------------------------------------------------

NOWHERE = "Nothing in {}'s folder says it any more."
TOO_SHORT = "It is too short to be looked for elsewhere; other files may say it."


def planned(found: DeletionPlan) -> Iterable[str]:
    """What would go, a line each, and what would be left."""
    whole = [item for item in found.items if not item.line and item.why != ITS_NAME]
    lines = [item for item in found.items if item.line]
    for heading, items in (("These files go:", whole), ("These passages go, their lines stay:", lines)):
        if items:
            yield heading
        for item in items:
            yield f"  {item.place}{f'  {one_line(item.text, 80)}' if item.text else ''}  ({item.why})"
    for old, new in found.names.items():
        if new:
            yield f"  {old} is renamed {new}, as its name told of it"
    if found.records:
        yield f"Lines go from {', '.join(found.records)}."
    if found.left:
        yield "These hold it too, and stay unless you delete them:"
    yield from (f"  {one}" for one in found.left)
    yield from found.notes


def report(done: DeletionReport, name: str) -> Iterable[str]:
    """Sentences on what was deleted, and what of it is still to be found in the folder of the user of this name."""
    yield from (f"Deleted {path}." for path in done.deleted)
    if done.redacted:
        yield f"Redacted {', '.join(done.redacted)}."
    if done.beside:
        yield f"Cleared {', '.join(done.beside)}."
    yield from done.stayed
    yield from (f"Still says it: {one}" for one in done.left)
    if not done.left:
        yield NOWHERE.format(one_line(name)) if done.sought else TOO_SHORT
