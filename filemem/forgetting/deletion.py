"""Deletion on request: `plan` finds what goes, `carry_out` deletes it, `search` tells where the words still stand.

A memory goes with the turns that it names as its source, and with all that cites what goes: facts, lines of summaries and of
the profile, answers. Of a conversation, a summary, the profile or a note only the lines in question go; the others keep
their numbers. The plan is written down before it is begun, in a journal that is the last file to go and lies where git never
looks. Each step may be taken twice, so one that is cut off is finished by the next.
"""

import contextlib
import functools
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePath
from typing import NamedTuple

from filemem import index as indexes
from filemem.errors import FilememError, NotFound, Refused, in_words
from filemem.files import journal, safe
from filemem.files.folder import (
    BOOKKEEPING,
    Folder,
    JobDone,
    Progress,
    is_temporary_name,
    no_progress,
    numbered,
)
from filemem.files.memory import (
    ASSISTANT,
    DATED,
    LARGEST,
    NAMELESS,
    PROFILE,
    SOURCE_MARK,
    TURN_HEAD,
    Memory,
    Passage,
    archived,
    decode,
    live,
    renamed,
    slug,
    stem_of,
)
from filemem.git.history import LOGS, History
from filemem.text.plain import UNSEEN, counted, digest, one_line

FORGOTTEN = "[forgotten]"  # in the place of a text
MARK = "forgetting"  # the journal's file
CACHES = ("index", "vectors")  # rebuilt when they are needed
LEAST = 10  # bytes of a line from which on it is told from small talk
LOST = "cannot be searched, so nobody knows what it says"

_CJK = r"\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = rf"[^\W{_CJK}]"  # of a script that sets words apart
_GAPS = re.compile(r"[\s，。、；：！？“”「」《》…]+")
_ESCAPED, _ESCAPES = (
    re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))"),
    dict.fromkeys("nrt", " "),
)
_STRING = re.compile(
    r'("[a-z_]+"\s*:)|"(?:[^"\\]|\\.)*"'
)  # of JSON, and whether it is a key of the program's
_MARKS = re.compile(r"(?:[-*+>#\s]|\d{1,9}[.)]\s)*")  # of items, quotes and headings
_HEAD = re.compile(rf"\ufeff?(?:{TURN_HEAD.pattern}|{_MARKS.pattern})")
_NAMED = re.compile(
    rf"{DATED.pattern}[\w-]+|(?<![\d_a-zA-Z./-])[A-Za-z][\w./-]{{0,200}}/[\w-]{{1,200}}\.[A-Za-z]+"
)
# What the program sets beside a text: a turn's day and clock, a file's folder and day, a log's minute and verb, the lines cited.
_BESIDE = re.compile(
    r"(?<=\*\*)(?: \d{4}-\d\d-\d\d)?(?: \d\d?:\d\d)?(?=:)|(?<=\.md):\d[\d,-]*"
    r"|(?:(?:archive/)?(?:facts|sessions|lessons|summaries)/)?(?:(?<=/)\d{4}/)?\d{4}-\d\d-\d\d(?:-\d{4})?(?=-)"
    r"|\d{4}-\d\d-\d\dt\d\d:\d\d(?::\d\d)?(?: [a-z]+(?= ))?"
)
_PLACE = re.compile(r"(.*?)(?::(\d[\d,\s-]*))?", re.DOTALL)
_CITED = re.compile(r"[^\s,:()\[\]][^,:()\[\]]*\.\w+:\d[\d,-]*")
# How the files of gzip, zip, bzip2, xz, 7z, zstd, rar, pdf and bundles of git begin.
_PACKED = re.compile(
    rb"\x1f\x8b\x08|PK\x03\x04|BZh|\xfd7zXZ|7z\xbc\xaf|\(\xb5/\xfd|Rar!\x1a|%PDF-|# v[23] git bundle"
)


# -- what is looked for --------------------------------------------------------------------------------------------


class TextMatcher:
    """Words, all of which a text must hold as whole words, in a script without gaps as a part of it; or lines of what goes."""

    def __init__(self, about: str = "", lines: Iterable[str] = ()) -> None:
        self.about = about
        self.lines = set(lines)  # folded
        words = [
            word.strip(".,;:!?\"'()[]*")
            for word in _GAPS.split(_BESIDE.sub("", folded(about)))
        ]
        before, after = (
            rf"(?:(?<!{_LETTER})|(?!{_LETTER}))",
            rf"(?:(?!{_LETTER})|(?<!{_LETTER}))",
        )
        self._words = [
            re.compile(before + re.escape(w) + after)
            for w in words
            if re.search(r"[^\W_]", w)
        ]

    def __bool__(self) -> bool:
        """Is there anything to search for?"""
        return bool(self._words or self.lines)

    def add(self, text: str) -> None:
        """Search for the lines of a text, except short ones."""
        bare = (folded(_MARKS.sub("", line, count=1)) for line in text.split("\n"))
        self.lines.update(
            line for line in bare if len(line.encode()) >= LEAST and line != FORGOTTEN
        )

    def holds(self, text: str, *, words: bool = False) -> bool:
        """Does a text, as it stands or with the escapes of JSON undone, hold all the words, or (not `words`) one of the lines?"""
        texts = {folded(text)}
        if "\\" in text:
            texts.add(
                folded(
                    _ESCAPED.sub(
                        lambda m: (
                            chr(int(m[1], 16)) if m[1] else _ESCAPES.get(m[2], m[2])
                        ),
                        text,
                    )
                )
            )
        told = [_BESIDE.sub("", one) for one in texts] if self._words else []
        if any(all(word.search(one) for word in self._words) for one in told):
            return True
        return not words and any(line in one for one in texts for line in self.lines)

    def in_name(self, path: str) -> bool:
        """Does a file's name hold all the words?"""
        return self.holds(
            _BESIDE.sub("", PurePath(path).stem).replace("-", " "), words=True
        )


def folded(text: str) -> str:
    """Text as it is compared: in one normal form, without case and what nobody sees, white space as single spaces."""
    return " ".join(
        UNSEEN.sub("", unicodedata.normalize("NFC", text)).casefold().split()
    )


# -- the plan ------------------------------------------------------------------------------------------------------


class Finding(NamedTuple):
    """A place that holds what is looked for: a line (counted from 1) with its text; with line 0 a whole file, or its name, or why
    it was not searched. Of what goes, `why`; of lines that go the lines `old`, the first of which becomes `new` and the others
    empty; of a file that goes the digest of its bytes as the only `old`."""

    path: str
    line: int = 0
    text: str = ""
    why: str = "as asked"
    old: tuple[str, ...] = ()
    new: str = ""

    @property
    def place(self) -> str:
        """The path, with the line where it is one."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def __str__(self) -> str:
        return f"{one_line(self.place)}: {one_line(self.text, 80)}"


class DeletionPlan(NamedTuple):
    """What is to go; for the live path of a file the name that it gets, or nothing. `left` holds the words too, and stays;
    `records` are the program's own that lose lines. `everything`: the whole user goes; `purge`: git's history is rewritten, too.
    No default is ever changed."""

    items: list[Finding] = []
    names: dict[str, str] = {}
    matcher: TextMatcher = TextMatcher()
    left: list[Finding] = []
    records: list[str] = []
    everything: bool = False
    purge: bool = False

    def __bool__(self) -> bool:
        """Is there anything to delete?"""
        return bool(self.items or self.records or any(self.names.values()))

    def as_json(self) -> str:
        """The plan as it is written down."""
        return json.dumps(
            self, default=lambda matcher: [matcher.about, sorted(matcher.lines)]
        )


def from_json(text: str | bytes) -> DeletionPlan:
    """The plan that was written down; raises ValueError, TypeError or the like where it is none."""
    items, names, matcher, *rest = json.loads(text)
    kept = [
        Finding(path, line, text, why, tuple(old), new)
        for path, line, text, why, old, new in items
    ]
    return DeletionPlan(kept, names, TextMatcher(*matcher), *rest)


def plan(
    folder: Folder, *what: str, about: str = "", progress: Progress = no_progress
) -> DeletionPlan:
    """Everything that would go with memories, each a path or `path:line`, or with what contains the words, which `about` always
    is and `what` where it names nothing; nothing is changed. Raises NotFound for a path that names nothing."""
    cascade, words = _Cascade(folder, progress), about or " ".join(what)
    asked = [] if about else [item for one in what for item in cascade.at(one)]
    if not asked:
        matcher = cascade.matcher = TextMatcher(words)
        if not matcher:
            raise FilememError(
                f"{one_line(words, 60)} contains no word to search for; name one."
            )
        asked = [
            item
            for memory in cascade.memories.values()
            for item in matching(memory, matcher)
        ]
    return cascade.plan(asked)


def with_left(folder: Folder, found: DeletionPlan) -> DeletionPlan:
    """The plan extended to what it had left in readable files: their lines go too."""
    items, left = list(found.items), list[Finding]()
    for one in found.left:
        try:
            data = safe.read(f"{folder.root}/{one.path}", LARGEST) if one.line else b""
            items.append(
                _lines_of(
                    Memory(one.path, data),
                    Passage(one.line, one.line, "", "", one.text),
                )
            )
        except (FilememError, OSError, IndexError):
            left.append(one)
    return found._replace(items=items, left=left)


def matching(memory: Memory, matcher: TextMatcher) -> list[Finding]:
    """What of one memory holds all the words: its passages and the lines outside them, such as headings and front matter; the
    whole where it is one statement. The names of other memories in a text do not count."""

    def told(text: str) -> bool:
        return FORGOTTEN not in text and matcher.holds(
            _NAMED.sub(" ", text), words=True
        )

    if not matcher.holds(memory.text, words=True):
        return []
    inside = {
        n
        for passage in memory.passages
        for n in range(passage.line, passage.end_line + 1)
    }
    outside = [
        Passage(n, n, "", "", line)
        for n, line in enumerate(memory.lines, 1)
        if n not in inside
    ]
    found = [passage for passage in (*memory.passages, *outside) if told(passage.text)]
    return _items(memory, found) if found else []


def named(path: str, matcher: TextMatcher, lines: Iterable[str] = ()) -> bool:
    """Does the name of a dated file tell it: the words, or, as that of a conversation may, the beginning of one of the lines?"""
    start = DATED.match(os.path.basename(path))
    stem = (
        re.sub(r"-\d+$", "", PurePath(path).stem[start.end() :]) if start else ""
    )  # a second one has a number
    return bool(stem) and (
        matcher.in_name(path) or any(slug(one, 60).startswith(stem) for one in lines)
    )


def neutral_path(path: str, taken: Iterable[str]) -> str:
    """The path of a dated file with a name that says nothing; `taken` are live paths."""
    above, start, known = (
        path.removesuffix(name := os.path.basename(path)),
        DATED.match(name),
        set(taken),
    )
    neutral = f"{above}{start[0] if start else ''}{NAMELESS}{os.path.splitext(name)[1]}"
    return next(one for one in numbered(neutral) if live(one) not in known)


def _items(memory: Memory, told: Iterable[Passage]) -> list[Finding]:
    """Passages of a memory; the whole of it for none, and where it is one statement: a fact, a lesson, or front matter alone."""
    bare = bool(memory.passages) and memory.passages[-1].line < memory.front_end
    if (
        memory.kind not in ("facts", "lessons")
        and not memory.is_yaml
        and not bare
        and (found := list(told))
    ):
        return [_lines_of(memory, passage) for passage in found]
    return [Finding(memory.path, 0, memory.passages[0].text if memory.passages else "")]


def _lines_of(memory: Memory, told: Passage) -> Finding:
    """Lines of a memory: of front matter the value goes, of a summary or the profile all, else all but the head of the
    first. Raises IndexError where there is no such line."""
    (lines, _), line, end = _lines(memory.data), told.line, told.end_line
    if line < memory.front_end:
        line = end = max(2, line)
        key, colon, _ = lines[line - 1].partition(":")
        new = f"{key}: {NAMELESS}" if colon else f"# {NAMELESS}"
    else:
        head, gone = (
            _HEAD.match(lines[line - 1]),
            memory.kind == "summaries" or memory.path == PROFILE,
        )
        new = (
            "" if gone else f"{(head[0] if head else '').rstrip()} {FORGOTTEN}".lstrip()
        )
    return Finding(
        memory.path, line, told.text, old=tuple(lines[line - 1 : end]), new=new
    )


def _place(text: str) -> tuple[str, set[int]]:
    """The path and the lines that a citation names: none, or `12`, `12,15` or `12-14`."""
    match = _PLACE.fullmatch(text.strip())
    path, numbers = (match[1], match[2] or "") if match else ("", "")
    pairs = (
        part.partition("-") for part in re.findall(r"\d{1,9}(?:-\d{1,9})?", numbers)
    )
    spans = (
        (int(first), min(int(last or first), int(first) + 10_000))
        for first, _, last in pairs
    )
    return path, {n for first, last in spans for n in range(first, last + 1)}


class _Cascade:
    """What is to be deleted so far, by path and line; it grows until no further memory cites any of it."""

    def __init__(self, folder: Folder, progress: Progress = no_progress) -> None:
        self.folder, self.matcher = folder, TextMatcher()
        self.memories = dict[str, Memory]()
        self.going = dict[str, dict[int, Finding]]()
        self.left = list[Finding]()
        paths = folder.paths()
        for number, path in enumerate(paths, 1):
            progress(number, len(paths))
            with contextlib.suppress(FilememError, OSError):
                data = folder.read(
                    path, LARGEST + 1
                )  # one that is larger has no text here, and can go as a whole
                self.memories[path] = Memory(
                    path, data if len(data) <= LARGEST else b""
                )

    def at(self, what: str) -> list[Finding]:
        """The memory that a text names, or what stands at its lines; nothing where the text is words. Refused for a folder."""
        path, lines = _place(what)
        try:
            memory = self.memories[self.folder.locate(path)]
        except KeyError:
            raise Refused(
                f"{one_line(path)} cannot be read as a memory; check its permissions."
            ) from None
        except (NotFound, Refused):
            is_folder = os.path.isdir(
                f"{self.folder.root}/{path}"
            )  # as a word it stands in every record
            if is_folder or re.fullmatch(
                r"\S*/\S*|\S+\.(?:md|markdown|txt|ya?ml)", path
            ):
                raise
            return []
        found = [
            one
            for one in memory.passages
            if lines.intersection(range(one.line, one.end_line + 1))
        ]
        if lines and not found:
            raise NotFound(
                f"{what.strip()} says nothing; filemem open {memory.path} shows its lines."
            )
        return _items(memory, found)

    def plan(self, asked: list[Finding]) -> DeletionPlan:
        """The plan for what was asked for, with all that goes with it, and with what else the folder has of it."""
        for item in asked:
            self._ask(item)
        size = -1
        while size != (size := sum(map(len, self.going.values()))):
            for memory in self.memories.values():
                self._follow_to(memory)
        names = {
            live(path): "" for path, found in self.going.items() if 0 in found
        } | self._new_names()
        items = [item for found in self.going.values() for item in found.values()]
        gone = {
            (item.path, item.line + n) for item in items for n in range(len(item.old))
        }
        records = dict[str, None]()
        for one in search(self.folder, self.matcher):
            if one.path.startswith(f"{BOOKKEEPING}/"):
                records |= (
                    {one.path: None} if one.path.split("/")[1] not in CACHES else {}
                )
            elif one.path not in self.memories and is_temporary_name(
                os.path.basename(one.path)
            ):
                copy = Finding(one.path, why="a copy that a program has left")
                items += [copy] if copy not in items else []
            elif (one.path, one.line) not in gone and (
                one.line or live(one.path) not in names
            ):
                stays = names.get(live(one.path)) != ""
                if (
                    stays and one.line and one.path in self.memories
                ):  # which will not name the files that go any more
                    stays = self.matcher.holds(
                        os.fsdecode(renamed(os.fsencode(one.text), names))
                    )
                self.left += [one] if stays else []
        for n, item in enumerate(items):
            if not item.line:
                items[n] = item._replace(
                    old=(digest(safe.read(f"{self.folder.root}/{item.path}")),)
                )
        items.sort(key=lambda item: (bool(item.line), item.path, item.line))
        return DeletionPlan(items, names, self.matcher, self.left, list(records))

    def _ask(self, item: Finding) -> None:
        """Take what was named, and the turns that it came from, or the facts that a line of the profile rests on."""
        memory, text, cited = self.memories[item.path], "\n".join(item.old), list[str]()
        if self._take(item) and memory.kind != "sessions":
            if not item.line:
                cited = memory.sources
            elif (
                not self.matcher.about
            ):  # with words each passage says by itself what goes
                rests = SOURCE_MARK.search(text)
                cited = (
                    [rests[1]]
                    if rests
                    else _CITED.findall(text)
                    if memory.kind == "summaries"
                    else []
                )
        for entry in cited:
            with contextlib.suppress(FilememError):
                for source in self.at(entry):
                    if not _place(entry)[1] and item.path != PROFILE:
                        self.left.append(
                            Finding(
                                source.path, 0, "is named as its source, without a line"
                            )
                        )
                    elif FORGOTTEN not in source.text:
                        self._ask(source._replace(why=f"the source of {item.place}"))

    def _take(self, item: Finding) -> bool:
        """Mark it to go; False if it is marked already."""
        found = self.going.setdefault(item.path, {})
        if 0 in found or item.line in found:
            return False
        if not item.line:
            found.clear()
        found[item.line] = item
        if not self.matcher.about:
            for text in (
                [item.text]
                if item.line
                else [one.text for one in self.memories[item.path].passages]
            ):
                self.matcher.add(text)
        return True

    def _follow_to(self, memory: Memory) -> None:
        """Take a memory that was distilled from what goes, or its passages that cite it."""
        others = self.going if 0 not in self.going.get(memory.path, ()) else {}
        near = {
            live(path): one
            for path, one in others.items()
            if stem_of(path) in memory.data
        }
        if not near:
            return
        cited = re.compile(
            rf"(?<![\w-])({'|'.join(map(re.escape, near))})(?::\d[\d,\s-]*)?"
        )
        told = [
            *memory.passages,
            Passage(1, 1, ASSISTANT, "", "\n".join(memory.sources)),
        ]
        if memory.path == PROFILE:
            told = [
                Passage(number, number, "", "", line)
                for number, line in enumerate(memory.lines, 1)
            ]
        for one in told:
            for match in cited.finditer(one.text) if FORGOTTEN not in one.text else ():
                found, lines = near[match[1]], _place(match[0])[1]
                bare = one.speaker == ASSISTANT or bool(
                    SOURCE_MARK.search(one.text)
                )  # a file that goes is enough
                gone = {
                    n
                    for item in found.values()
                    for n in range(item.line, item.line + len(item.old))
                }
                if gone & lines or (0 in found and (lines or bare)):
                    for item in _items(
                        memory, [one]
                    ):  # as one line, as one alone may quote what stays
                        self._take(
                            item._replace(
                                why="cites it", text=" ".join(item.text.split())
                            )
                        )

    def _new_names(self) -> dict[str, str]:
        """The new live paths of files whose name tells what goes, by their old ones."""
        names, known = dict[str, str](), set(map(live, self.memories))
        for path in self.memories:
            found = self.going.get(path, {})
            if 0 not in found and named(
                path, self.matcher, [item.text for item in found.values()]
            ):
                names[live(path)] = live(neutral_path(path, known))
                known.add(names[live(path)])
        return names


# -- bytes without it ----------------------------------------------------------------------------------------------


@functools.lru_cache(2)
def _lines(data: bytes) -> tuple[list[str], str]:
    """The lines, each with its \\r, and how they become bytes again; Refused for broken UTF-16. Not to be changed."""
    codec = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(
        data[:2], "latin-1"
    )  # which keeps every byte
    try:
        return data.decode(codec, "surrogatepass").split("\n"), codec
    except UnicodeDecodeError:
        raise Refused(
            "the file is broken UTF-16; save it as UTF-8, then try again."
        ) from None


def without(data: bytes, items: Iterable[Finding]) -> bytes:
    """The file without these lines, wherever they are now: a person may have moved them meanwhile."""
    lines, codec = list(_lines(data)[0]), _lines(data)[1]
    for item in items:
        count, ends, place = (
            len(item.old),
            ["\r" * one.endswith("\r") for one in item.old],
            item.line - 1,
        )
        after, there = (
            (item.new + ends[0], *ends[1:]),
            tuple(lines[place : place + count]),
        )
        for start in (
            [place]
            if there == item.old
            else []
            if there == after
            else range(len(lines) - count + 1)
        ):
            if tuple(lines[start : start + count]) == item.old:
                lines[start : start + count] = after
    return "\n".join(lines).encode(codec, "surrogatepass")


def record_without(data: bytes, found: DeletionPlan) -> bytes:
    """A record's bytes without what tells of it: JSON keeps its lines, as some must never be done again; others go."""
    gone = {old for old, new in found.names.items() if not new}
    gone |= {live(item.place) for item in found.items if item.line}
    kept = list[bytes]()
    for line in data.splitlines(True):
        fields = os.fsdecode(line).strip().split("\t")
        text = os.fsdecode(
            line if found.matcher.lines else renamed(line, found.names)
        )  # a name may hold the words
        if text[:1] in ("{", "["):
            text = _STRING.sub(
                lambda one: (
                    one[0]
                    if one[1] or not found.matcher.holds(one[0])
                    else f'"{FORGOTTEN}"'
                ),
                text,
            )
        elif found.matcher.holds(text) or gone.intersection(
            [*fields, *(_place(one)[0] for one in fields)]
        ):
            continue
        kept.append(renamed(os.fsencode(text), found.names))
    return b"".join(kept)


def version_after(own: str, data: bytes, found: DeletionPlan) -> bytes:
    """A version of a user's file, as git has it, without what is to go."""
    if own.startswith(BOOKKEEPING + "/"):
        return record_without(data, found)
    with contextlib.suppress(FilememError):
        if len(data) <= LARGEST:
            after = without(
                data,
                [
                    item
                    for item in found.items
                    if item.line and live(item.path) == live(own)
                ],
            )
            more = matching(Memory(own, after), found.matcher)
            if any(not item.line for item in more):
                return f"{FORGOTTEN}\n".encode()
            data = without(after, more)
    return renamed(data, found.names)


# -- where it stands -----------------------------------------------------------------------------------------------


def search(folder: Folder, matcher: TextMatcher) -> list[Finding]:
    """Every place in the user's own folder, git's aside, that holds it; and every file that cannot be searched."""
    return search_under(folder.root, matcher, but=(f"{BOOKKEEPING}/{MARK}", ".git"))


def search_under(
    top: str, matcher: TextMatcher, but: Collection[str] = ()
) -> list[Finding]:
    """Every place under a folder that holds it, those paths aside, and what cannot be searched: what is packed, too large, not to
    be read, or a repository of its own. Links are not followed."""

    def closed(path: str, entry: "os.DirEntry[str]") -> bool:
        return (
            entry.name == ".git"
            or safe.too_far(path)
            or not os.access(entry.path, os.R_OK | os.X_OK)
        )

    found = list[Finding]()
    enters = safe.walk(
        top, lambda path, entry: path not in but and not closed(path, entry)
    )
    for path, entry in enters if matcher else ():
        if path in but:
            continue
        found += [Finding(path, 0, entry.name)] if matcher.in_name(entry.name) else []
        lost, data = entry.is_dir(follow_symlinks=False) and closed(path, entry), b""
        if entry.is_file(follow_symlinks=False):
            try:
                with open(entry.path, "rb") as file:
                    data = file.read(safe.MOST + 1)
                lost = len(data) > safe.MOST or _PACKED.match(data) is not None
            except OSError:
                lost = os.path.lexists(entry.path)
        found += [Finding(path[:200], 0, LOST)] if lost else []
        found += (
            Finding(path, line, text)
            for line, text in in_bytes(b"" if lost else data, matcher)
        )
    return sorted(found)


def in_bytes(data: bytes, matcher: TextMatcher) -> Iterator[tuple[int, str]]:
    """The lines that hold it, with their numbers; bytes that are no text hold some, too."""
    for text in (
        dict.fromkeys((decode(data), data.decode(errors="ignore")))
        if data.strip(b"\0")
        else ()
    ):
        if matcher.holds(text):
            yield from (
                (n, line.strip("\0\r"))
                for n, line in enumerate(text.split("\n"), 1)
                if matcher.holds(line)
            )
            return


# -- carrying it out -----------------------------------------------------------------------------------------------


def unfinished(folder: Folder) -> DeletionPlan | None:
    """The job that was cut off, if any; raises Refused for one that was not begun in this very folder: a stranger's store
    must not say what is deleted here."""
    place = folder.bookkeeping(MARK)
    if not os.path.lexists(place):
        return None
    written, _, kept = safe.read(place).partition(b"\n")
    what = "cannot be read"
    with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
        if int(written) == os.stat(folder.root).st_ino:
            return from_json(kept)
        what = "was not written here"
    raise Refused(f"{place} {what}; delete it, then forget what it was about again.")


def start(folder: Folder, found: DeletionPlan) -> DeletionPlan:
    """Write the plan down: from now on it will be carried out. Raises Refused where another has not come to its end."""
    if os.path.lexists(folder.bookkeeping(MARK)):
        raise Refused(
            "an earlier forget was interrupted; finish it with filemem forget, then try again."
        )
    folder.make()
    safe.write(
        folder.bookkeeping(MARK),
        f"{os.stat(folder.root).st_ino}\n{found.as_json()}".encode(),
    )
    return found


def carry_out(folder: Folder, found: DeletionPlan) -> JobDone:
    """Carry a plan out in the files, from the start or from where it was cut off, and look for what is left. The facts are what
    was `deleted`, files and lines as path:line, and what `stayed` and why, as a file does that a person has saved since. To be
    called while no other job is at work; see `jobs.delete`."""
    gone, stayed, items = list[str](), list[str](), dict[str, list[Finding]]()
    for item in found.items:
        items.setdefault(item.path, []).append(item)
    paths = [*items]
    with folder.locked():
        if found.everything:
            return _without_user(folder, found)
        beside = clear_records(folder, found)
        for path in dict.fromkeys([*paths, *(folder.paths() if found.names else ())]):
            try:
                if _reach(f"{folder.root}/{path}", items.get(path, []), found.names):
                    gone += [item.place for item in items.get(path, ())]
                    paths.append(path)
            except (
                NotFound,
                FileNotFoundError,
            ):  # moved, or gone, when the job was cut off
                continue
            except (FilememError, OSError) as error:
                stayed.append(f"{path} stays as it is: {in_words(error)}")
        for old, new in found.names.items():
            if new:
                folder.move(
                    {
                        path: new if path == old else archived(new)
                        for path in folder.standing(old)
                    }
                )
            paths += [old, archived(old), *([new, archived(new)] if new else [])]
        indexes.of(folder).discard()
        for name in CACHES:
            with contextlib.suppress(NotFound, FileNotFoundError):
                safe.remove(folder.bookkeeping(name))
    said = (
        [f"Forgot {place}." for place in gone]
        + [f"Cleared {', '.join(beside)}."] * bool(beside)
        + stayed
    )
    counts = Counter("passage" if item.line else "file" for item in found.items)
    left = search(folder, found.matcher)
    said += [f"Still says it: {one}" for one in left]
    if not found.matcher and counts:
        said.append("It is too short to be looked for elsewhere.")
    elif not left:
        said.append(f"Nothing in {one_line(folder.name)}'s folder says it any more.")
    subject = f"Forget {' and '.join(counted(counts[one], one) for one in sorted(counts)) or 'what records told'}"
    # A conversation that git has not yet is its chat's to commit: an undo would take it away with what was forgotten.
    theirs = {
        path for path in History(folder).untracked() if path.startswith("sessions/")
    } - {*found.names.values()}
    paths = [path for path in paths if path not in theirs] + [journal.RECALLS]
    return JobDone("forget", said, {"deleted": gone, "stayed": stayed}, paths, subject)


def _without_user(folder: Folder, found: DeletionPlan) -> JobDone:
    """Delete all of a user but the bookkeeping, in which the plan lies, save the logs, and, without a purge, their repository."""
    for name in {*os.listdir(folder.root), *LOGS} - {
        BOOKKEEPING,
        *[".git"] * (not found.purge),
    }:
        with contextlib.suppress(NotFound):
            safe.remove(f"{folder.root}/{name}")
    said = f"Deleted {one_line(folder.name)}, {counted(len(found.items), 'memory', 'memories')}."
    paths = [journal.RECALLS, *(item.path for item in found.items)]
    return JobDone(
        "forget",
        [said],
        {"deleted": [], "stayed": []},
        paths,
        "Forget the memories of one user",
    )


def _reach(where: str, items: list[Finding], names: dict[str, str]) -> bool:
    """Delete a file that goes, or take out of it the lines that go and the names of files; did that change anything? Raises
    Changed for a file that a person has saved since."""
    if safe.through_link(where):
        raise Refused(
            "a symbolic link leads there, which is not followed; delete that link."
        )
    if items and not items[0].line:
        safe.delete_if(where, lambda where: digest(safe.read(where)) == items[0].old[0])
        return True
    if not items:  # no text of one too large is known, nor whom it names; and one that may not be changed need not be
        with safe.settle(where) as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST or renamed(data, names) == data:
            return False
    return safe.edit(where, lambda data: renamed(without(data, items), names))


def end(folder: Folder, found: DeletionPlan) -> None:
    """Forget the plan, which has come to its end; a user who is gone loses the folder too, unless a repository stays there."""
    for above in {
        folder.root,
        *(os.path.dirname(f"{folder.root}/{item.path}") for item in found.items),
    }:
        safe.sync_folder(above)
    with contextlib.suppress(NotFound):
        safe.delete(folder.bookkeeping(MARK))
        safe.sync_folder(folder.bookkeeping())
    if found.everything:
        with contextlib.suppress(FilememError, OSError):
            safe.remove(
                folder.bookkeeping()
            )  # locks, and the note of a commit that must wait
        if not os.listdir(folder.root):
            safe.remove(folder.root)
        safe.sync_folder(folder.store)


def clear_records(folder: Folder, found: DeletionPlan) -> list[str]:
    """Take it out of every record of the program's own; says which."""
    said = list[str]()
    for path, entry in safe.walk(
        folder.bookkeeping(), lambda path, _: path not in CACHES
    ):
        where = folder.bookkeeping(path)
        if (
            entry.is_file(follow_symlinks=False)
            and path != MARK
            and not path.endswith("lock")
        ):
            with contextlib.suppress(
                NotFound, Refused
            ):  # too large, say, which the search names
                if found.matcher.in_name(path):
                    safe.delete(where)
                    said.append(f"{BOOKKEEPING}/{path}")
                elif safe.edit(where, lambda data: record_without(data, found)):
                    said.append(f"lines of {BOOKKEEPING}/{path}")
    return sorted(said)


# -- in sentences --------------------------------------------------------------------------------------------------


def planned(found: DeletionPlan) -> Iterator[str]:
    """What would go, one line each, and what would be left."""
    yield from ["These files go, and these lines say [forgotten]:"] * bool(found.items)
    yield from (f"  {one}  ({one.why})" for one in found.items)
    yield from (
        f"  {old} is renamed {new}, as its name told of it"
        for old, new in found.names.items()
        if new
    )
    yield from [f"Lines go from {', '.join(found.records)}."] * bool(found.records)
    yield from ["These hold it too, and stay unless you delete them:"] * bool(
        found.left
    )
    yield from (f"  {one}" for one in found.left)
