"""What a memory file says: its front matter, its lines, its passages; and how to change one line of it.

A file is only ever read here as bytes under a path; `folder` knows where it lies on disk. A mistake in a person's
file is a `Problem`, never an exception, and never hides the file's text.
"""

import contextlib
import datetime as dt
import functools
import itertools
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from filemem.errors import Problem, Refused
from filemem.store.roles import ASSISTANT as ASSISTANT
from filemem.store.roles import Role, role_of
from filemem.text.dates import mentioned
from filemem.text.plain import one_line, printable

KINDS = ("facts", "sessions", "lessons", "summaries")
ARCHIVE = "archive"
NAMELESS = "forgotten"  # in the place of a name
SPOKEN = ("sessions", "facts", "lessons")  # kinds whose files may hold turns
PROFILE = "profile.md"
IMPORTANCE = 5  # of a memory that does not say
LARGEST = (
    10_000_000  # bytes; a larger file is grepped and opened by line, but not ranked
)
LARGEST_YAML = 200_000  # characters; YAML takes a second for each million
# Front matter that describes the memory and says nothing to search for.
METADATA_KEYS = frozenset(
    "importance pinned source valid_from valid_until supersedes superseded_by confidence date created timezone "
    "origin assistant records actions".split()
)

NAMING = frozenset(
    "title aliases tags".split()
)  # front matter that names what the memory is about

# The same, of what the program writes into facts and lessons.
OF_FACTS = ("kind", "day", "retold_by", "said_by", "tool", "calls", "success")
SOURCE_MARK = re.compile(r"<!-- ((?:facts|lessons)/.+?) -->\s*$")
"""How a line of profile.md ends that the program wrote: with the memory that it rests on."""
REFERENCE = re.compile(r"(?P<path>.+?\.\w+)(?::(?P<line>\d{1,9}))?$")
"""A source, `path` or `path:line`."""
DATED = re.compile(r"\d{4}-\d\d-\d\d(?:-\d{4})?-")
"""How the name of a file begins that the program has named."""
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[-T_ ](\d{2})(\d{2})(?!\d))?(?!\d)")
# Eight digits are a day of the last century or of this one, not any number.
_OTHER_DATES = (
    re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)"),
    re.compile(r"(\d{4})_(\d\d)_(\d\d)(?!\d)"),
    re.compile(r"(\d{4})\.(\d\d)\.(\d\d)(?!\d)"),
    re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日"),
)
_DAY_NUMBER = re.compile(r"(\d\d)(?!\d)")  # a day's file in a month's folder
# As every session has it that filemem writes; to load it as YAML takes longer than to cut the body into passages.
_PLAIN_FRONT = re.compile(
    r"---\ndate: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\n(?:timezone: ([A-Za-z_]+/[A-Za-z_/-]+)\n)?---\n"
)
_NO_KEY = ("", *" \t#-]}")  # how a line begins that begins no key of a mapping


# -- the pieces of a file that a search returns: the turns of a transcript, each with its day, or paragraphs -----------------

FORGOTTEN = "[forgotten]"  # stands where a text was
NO_ANSWER = "[no answer]"  # stands for an answer that never came, so that no session holds a question alone
TURN_HEAD = re.compile(r"- \*\*(.+?)\*\*(?: (\d{4}-\d\d-\d\d))?(?: (\d{1,2}:\d{2}))?:")
_TURN = re.compile(
    rf"^{TURN_HEAD.pattern}(?: (.*)|)$((?:\n(?:  .*|[^\S\n]*$))*)", re.MULTILINE
)
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")
_HEADING = re.compile(r"#{1,6}\s")
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"(?:[.!?;]['\")\]]*(?=\s)|[。！？；…]+[”’」』）]*|\n)\s*")
WHOLE = 400  # characters of a passage up to which it is one window; a longer one is cut
PAUSE = 45  # minutes after which what is said no longer replies to what was said before
SHORTEST, LONGEST = (
    150,
    300,
)  # characters of a window: up to the first end of a sentence between


class Passage(NamedTuple):
    """The unit of search: lines `line` to `end_line` (from 1, inclusive); `context` is searched along but not shown. `day` is
    that of a turn that was said on another than the file's, else None."""

    line: int
    end_line: int
    speaker: str
    time: str
    text: str
    context: str = ""
    day: dt.date | None = None


def as_shown(line: str) -> list[str]:
    """A turn's first line as the tools show it: `Sam: …`, with its clock, and with its date, where it has them; else nothing."""
    match = TURN_HEAD.match(line)
    if not match:
        return []
    name, day, clock = match.groups()
    ends = dict.fromkeys(
        ("", clock and f" {clock}", day and f" {day}{f' {clock}' if clock else ''}")
    )
    return [f"{name}{end}:{line[match.end() :]}" for end in ends if end is not None]


def turns(
    lines: list[str], after: int = 0, day: dt.date | None = None
) -> list[Passage]:
    """The turns of a transcript of `day`, in order; what stands before one is its context, and what follows the last is cut
    into paragraphs. Nothing without a turn. A turn without a date is of the day of the one before it."""
    found: list[Passage] = []
    whole, start, end, head, own = "\n".join(lines[after:]), 0, 0, after + 1, None
    for match in _TURN.finditer(whole):
        about = ""
        if match.start() > end + 1:
            about = " ".join(
                line.strip("# ")
                for line in whole[end : match.start()].split("\n")
                if line.strip()
            )
        head += whole.count("\n", start, match.start())
        start, end = match.span()
        speaker, date, time, text, more = match.groups("")
        if more:
            rows = (row[2:] if row.startswith("  ") else "" for row in more.split("\n"))
            text = (text + "\n".join(rows)).rstrip("\n")
        if date and (named := _day(date)):
            own = None if named == day else named
        found.append(
            Passage(head, head + text.count("\n"), speaker, time, text, about, own)
        )
    if found and end < len(whole):
        found += paragraphs(lines, head + whole.count("\n", start, end))
    return found


def format_turn(speaker: str, time: str, text: str, day: dt.date | None = None) -> str:
    """One turn as a list item, with its last newline; `turns` reads it back, but for outer white space and controls. `day` is
    given where it is another than that of the turn before."""
    name = " ".join(printable(speaker).replace("*", " ").split()) or "unknown"
    first, *rest = (
        printable(text).replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    )
    body = "".join(f"  {line}\n" if line else "\n" for line in rest)
    said_at = "".join(
        f" {part}" for part in (day.isoformat() if day else "", time) if part
    )
    return f"- **{name}**{said_at}: {first}\n{body}"


def whole(lines: list[str], after: int) -> Iterator[Passage]:
    """The body as one passage; a long one by paragraph."""
    body = [n for n, line in enumerate(lines[after:], after + 1) if line.strip()]
    if not body:
        return
    text = "\n".join(lines[body[0] - 1 : body[-1]])
    if len(text) > 2000:
        yield from paragraphs(lines, after)
    else:
        yield Passage(body[0], body[-1], "", "", text)


def paragraphs(
    lines: list[str], after: int, *, dated: bool = False
) -> Iterator[Passage]:
    """Yield paragraphs and list items, each under its heading.

    A heading with nothing under it stands for itself.

    Args:
        lines: of the file.
        after: the line behind which they begin.
        dated: a heading that begins with a day dates what stands under it, up to the
            next of its rank.
    """
    heading: tuple[int, str] | None = None
    day: dt.date | None = None
    rank = 0  # of the heading that names the day
    used = True
    start, said = 0, list[str]()
    for number, line in enumerate([*lines[after:], "#  end"], after + 1):
        starts_new = _ITEM.match(line) or _HEADING.match(line)
        if start and (starts_new or not line.strip()):
            yield Passage(
                start,
                start + len(said) - 1,
                "",
                "",
                "\n".join(said),
                heading[1] if heading else "",
                day,
            )
            start, used = 0, True
        if _HEADING.match(line):
            if heading and not used:
                yield Passage(heading[0], heading[0], "", "", heading[1], "", day)
            heading, used = (number, line.strip("# ")), False
            signs = len(line) - len(line.lstrip("#"))
            named = day_of_heading(heading[1]) if dated else None
            if named or signs <= rank:
                day, rank = named, signs if named else 0
        elif line.strip():
            if not start:
                start, said = number, []
            said.append(line)


def day_of_heading(heading: str) -> dt.date | None:
    """Return the day with which a heading begins, with its year; else None."""
    text = heading.lstrip("[(")
    for mention in mentioned(text, dt.date.min)[:1] if text[:1].isalnum() else ():
        span = mention.span
        is_whole = mention.start == 0 and not mention.relative
        if is_whole and span.start == span.end and str(span.start.year) in text:
            return span.start
    return None


def pauses(times: Sequence[str]) -> list[bool]:
    """Whether each turn, by its clock, comes PAUSE minutes or longer after the one before it, or earlier in the day."""
    clocks = {time: int(time[:-3]) * 60 + int(time[-2:]) for time in set(times) if time}
    known = [
        *itertools.accumulate(
            times, lambda last, time: clocks.get(time, last), initial=-1
        )
    ]
    return [
        last >= 0 and not 0 <= clock - last < PAUSE
        for last, clock in itertools.pairwise(known)
    ]


def windows(text: str) -> list[tuple[int, int]]:
    """What of a passage's text is scored and shown, as places in it. A long one ends with a sentence, else a word, if it can."""
    found: list[tuple[int, int]] = []
    start, end = 0, len(text)
    while end - start > (LONGEST if found else WHOLE):
        sentence = _SENTENCE.search(text, start + SHORTEST, start + LONGEST)
        space = text.rfind(" ", start + SHORTEST, start + LONGEST) + 1
        found.append((start, sentence.end() if sentence else space or start + LONGEST))
        start = found[-1][1]
    return [*found, (start, end)] if start < end or not found else found


# -- the file itself -------------------------------------------------------------------------------------------------


class FileDate(NamedTuple):
    """The date at the head of a file name; `month` is true where it names no day, `time` is `HH:MM` or empty."""

    date: dt.date
    month: bool
    time: str


class Memory:
    """One file of a user, read: `path` is relative to the user's folder, with `/`."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.kind = kind_of(path)  # `profile` for profile.md, `notes` at the top
        self.archived = is_archived(path)
        self.is_yaml = path.endswith(
            (".yaml", ".yml")
        )  # the whole file is one YAML mapping

    def __repr__(self) -> str:
        first = next((passage.text for passage in self.passages), "")
        return f"<Memory {self.path}: {one_line(first, 60)}>"

    @functools.cached_property
    def when(self) -> FileDate | None:
        """The date of the file's name, else of its front matter (`date` or `created`), else None."""
        if named := when_of(self.path):
            return named
        value = _moment(self.front.get("date") or self.front.get("created"))
        day, time = (
            _day(value),
            f"{value:%H:%M}" if isinstance(value, dt.datetime) else "",
        )
        return FileDate(day, False, time) if day else None

    @property
    def date(self) -> dt.date | None:
        """The day of the memory, where it has one."""
        return self.when.date if self.when else None

    @property
    def day(self) -> dt.date | None:
        """The day that what it says counts from; None where its date is a month or it has none."""
        return self.when.date if self.when and not self.when.month else None

    @functools.cached_property
    def binary(self) -> bool:
        """Is this not text at all, such as a picture dropped in by mistake?"""
        return b"\0" in self.data[:65536] and not self.data.startswith(
            (b"\xff\xfe", b"\xfe\xff")
        )

    @functools.cached_property
    def text(self) -> str:
        """The file's text; bytes that are no UTF-8 are read as UTF-16, GB 18030 or Latin-1; empty for a binary file."""
        if self.binary:
            return ""
        text = decode(self.data)
        if "\n" in text:
            return text
        return text.replace("\r", "\n")  # how lines ended on old Macs

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines as an editor numbers them, without their ends."""
        lines = self.text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return (
            [line.removesuffix("\r") for line in lines] if "\r" in self.text else lines
        )

    @functools.cached_property
    def front_end(self) -> int:
        """The number of the line that closes the front matter, 0 where there is none."""
        if self.is_yaml or not self.lines or self.lines[0].rstrip() != "---":
            return 0
        return next(
            (
                n
                for n, line in enumerate(self.lines[1:], 2)
                if line.rstrip() in ("---", "...")
            ),
            0,
        )

    @functools.cached_property
    def front(self) -> dict[str, Any]:
        """The front matter as a mapping; empty where there is none or it is broken."""
        found = self._loaded[0] or {}
        return (
            {key: value for key, value in found.items() if key != "text"}
            if self.is_yaml
            else found
        )

    @functools.cached_property
    def _loaded(self) -> tuple[dict[str, Any] | None, list[Problem]]:
        """The mapping, None where it is broken, and its problems."""
        if (
            (plain := _PLAIN_FRONT.match(self.text))
            and not self.is_yaml
            and (date := _moment(plain[1]))
        ):
            return {"date": date} | ({"timezone": plain[2]} if plain[2] else {}), []
        source = "\n".join(
            [
                *(
                    self.lines
                    if self.is_yaml
                    else self.lines[1 : max(1, self.front_end - 1)]
                ),
                "",
            ]
        )
        if not source.strip():
            return {}, []
        if len(source) > LARGEST_YAML:
            large = f"over {LARGEST_YAML:,} characters, too large for YAML"
            return None, [Problem(self.path, 1, large, "keep it as Markdown")]
        # The yaml package takes a third of click's time to import, which a grep that reads no front matter need not pay.
        from filemem.store import front  # noqa: PLC0415

        return front.load(source, self.path, above=0 if self.is_yaml else 1)

    @property
    def _body(self) -> int:
        """The number of the line behind which the body stands; broken front matter counts as body, so as to be found."""
        return 0 if self._loaded[0] is None else self.front_end

    @property
    def body(self) -> str:
        """The text behind the front matter; of a YAML memory its `text`."""
        if self.is_yaml:
            return str((self._loaded[0] or {}).get("text") or "")
        return "\n".join(self.lines[self._body :])

    def line_of(self, key: str) -> int:
        """The line of a front matter key, 1 where it cannot be told."""
        lines = self.lines if self.is_yaml else self.lines[: self.front_end]
        named = re.compile(rf"[\"']?{re.escape(key)}[\"']?\s*:").match
        return next((number for number, line in enumerate(lines, 1) if named(line)), 1)

    @functools.cached_property
    def problems(self) -> list[Problem]:
        """The mistakes in this file, by line."""
        return sorted(self._problems())

    def _problems(self) -> Iterator[Problem]:
        wrong = functools.partial(Problem, self.path)
        if self.binary:
            yield wrong(
                1,
                "not a text file",
                "move it out of the memories, or describe it in a Markdown file",
            )
            return
        if len(self.data) > LARGEST:
            large = f"larger than {LARGEST // 1_000_000} MB: grep and open read it, search_files does not"
            yield wrong(1, large, "split it into smaller files")
            return
        if (encoding := encoding_of(self.data)) != "utf-8":
            yield wrong(1, f"not UTF-8, read as {encoding}", "save it as UTF-8")
        elif (
            at := self.text.find("\N{REPLACEMENT CHARACTER}")
        ) >= 0 and self.text.encode() not in self.data:
            line = self.text.count("\n", 0, at) + 1
            yield wrong(
                line,
                "bytes that are no UTF-8",
                "correct the characters shown as \N{REPLACEMENT CHARACTER}",
            )
        if (
            self.lines
            and self.lines[0].rstrip() == "---"
            and not self.front_end
            and not self.is_yaml
        ):
            yield wrong(
                1, "the front matter is never closed", "add a line with --- under it"
            )
        yield from self._loaded[1]
        named, when, own = (
            _DATE.match(self.path.rpartition("/")[2]),
            when_of(self.path),
            _day(self.front.get("date")),
        )
        if named and not when:
            what = f"the file's name starts with {named[0]}, which is not a date"
            yield wrong(1, what, "rename it with a real date, YYYY-MM-DD")
        if when and own and (own.replace(day=1) if when.month else own) != when.date:
            what = f"date is {own}, but the file's name says {str(when.date)[: 7 if when.month else 10]}"
            yield wrong(
                self.line_of("date"),
                what,
                "the name decides: rename the file or correct the key",
            )
        for key, (right, remedy) in _CHECKS.items():
            value = self.front.get(key)
            if remedy and value is not None and not right(value):
                yield wrong(
                    self.line_of(key), f"{key} is {one_line(repr(value), 40)}", remedy
                )

    def role(self, speaker: str) -> Role:
        """Tell whose words the turns of a speaker in this file are."""
        return role_of(speaker, self.front)

    def is_assistant(self, speaker: str) -> bool:
        """Tell whether a speaker of this file is an assistant."""
        return self.role(speaker) is Role.ASSISTANT

    def particular(self, key: str) -> Any:
        """A known front matter value if it is well-formed, else None."""
        value = self.front.get(key)
        right = value is not None and (key not in _CHECKS or _CHECKS[key][0](value))
        return (_day(value) or value) if right else None

    @functools.cached_property
    def particulars(self) -> dict[str, Any]:
        """What the front matter says that ranking and the sweep need: its well-formed values, dates in ISO form."""
        found = dict[str, Any]()
        if self.front.get("kind") in (
            "event",
            "plan",
        ):  # such a fact is over once its day is
            found["kind"] = self.front["kind"]
        for key in (one for one in self.front if one in _CHECKS and one not in NAMING):
            value = self.particular(key)
            if isinstance(value, list):
                found[key] = [str(entry) for entry in value]
            elif value is not None:
                found[key] = value.isoformat() if isinstance(value, dt.date) else value
        return found

    @property
    def sources(self) -> list[str]:
        """What it names as its source."""
        value = self.particular("source")
        return [
            str(entry)
            for entry in (
                value if isinstance(value, list) else [value] if value else []
            )
        ]

    @functools.cached_property
    def aliases(self) -> list[str]:
        """Other names of what this memory is about."""
        return list(_texts(self.front.get("aliases")))

    @functools.cached_property
    def title(self) -> str:
        """What the memory is called: its `title`, else the heading over all its text, else its file's name without a date."""
        return next(filter(None, self.titles), "")

    @functools.cached_property
    def titles(self) -> tuple[str, ...]:
        """What it calls itself, the heading over all its text, its file's name without the date; each may be empty."""
        name = self.path.rpartition("/")[2]
        dated = date_at_head(name)
        undated = name[dated.end :] if dated else name
        words = re.sub("[-_ ]+", " ", undated.rpartition(".")[0]).strip()
        given = " ".join(_texts(self.front.get("title"))).strip()
        body = self.lines[self._body :]
        first = next((line for line in body if line.strip()), "")
        rank, unfenced = (
            _HEADING.match(first),
            _FENCED.sub("", "\n".join(body)).split("\n"),
        )
        alone = (
            rank and sum(line.startswith(rank[0]) for line in unfenced) == 1
        )  # no other of the same rank
        return given, first.strip("# ") if alone else "", words

    @property
    def titled(self) -> bool:
        """Is this a note, in no folder of the program's, which speaks of what its title says without naming it again?"""
        return self.kind not in (*KINDS, "profile")

    @functools.cached_property
    def told_title(self) -> str:
        """The title of a note; empty if its path says the same."""
        path, words = (
            set(re.split(r"[\W_]+", text.casefold()))
            for text in (f"{self.path}.", self.title)
        )
        return self.title if self.titled and not words <= path else ""

    @functools.cached_property
    def passages(self) -> list[Passage]:
        """The file cut into what a search returns, in order: front matter by key, then its text, all of a note with its title."""
        entries = list(self._entries()) if self.front or self.is_yaml else []
        found: list[Passage] = []
        if not (
            entries and self.is_yaml
        ):  # turns, else a fact left whole, else paragraphs
            found = (
                turns(self.lines, self._body, self.day) if self.kind in SPOKEN else []
            )
            found = found or (
                list(whole(self.lines, self._body))
                if self.kind in ("facts", "lessons")
                else []
            )
            found = found or list(paragraphs(self.lines, self._body, dated=self.titled))
        if not found and not entries and self.front_end:
            found = [
                Passage(
                    1,
                    self.front_end,
                    "",
                    "",
                    " ".join(self.lines[1 : self.front_end - 1]),
                )
            ]
        named = " ".join(
            _texts(
                [
                    self.front[key]
                    for key in self.front
                    if key in NAMING and not self.is_yaml
                ]
            )
        )
        if named and (found or entries):
            first = (found or entries)[0]
            (found or entries)[0] = first._replace(
                context=f"{first.context} {named}".strip()
            )
        if not self.titled:
            return [*(_under(passage, self.title) for passage in entries), *found]
        about = " ".join(
            dict.fromkeys(word for title in self.titles for word in title.split())
        )
        return [_under(passage, about) for passage in (*entries, *found)]

    @functools.cached_property
    def windows(self) -> list[tuple[int, int, int]]:
        """What of the passages is scored: the place of each, and the places in its text where a window begins and ends."""
        texts = enumerate(passage.text for passage in self.passages)
        return [
            (n, *one)
            for n, text in texts
            for one in ([(0, len(text))] if len(text) <= WHOLE else windows(text))
        ]

    def _entries(self) -> Iterator[Passage]:
        """A passage for each key of the front matter or of a YAML memory, but those that describe or name it; none if broken."""
        mapping = self._loaded[0] or {}
        lines = self.lines if self.is_yaml else self.lines[: self.front_end - 1]
        above = 0 if self.is_yaml else 1
        ours = OF_FACTS if self.kind in ("facts", "lessons") else ()
        untold = METADATA_KEYS.union(() if self.is_yaml else NAMING, ours)
        starts = [
            n
            for n, line in enumerate(lines[above:], above + 1)
            if mapping and line[:1] not in _NO_KEY
        ]
        for start, after in itertools.pairwise([*starts, len(lines) + 1]):
            written = "\n".join(lines[start - 1 : after - 1]).rstrip()
            key, _, said = written.partition(":")
            key, end = key.strip().strip("\"'"), start + written.count("\n")
            if key in untold:
                continue
            value = mapping.get(key)
            several = value is not None and end > start
            if (
                isinstance(value, str | list | dict) or several
            ):  # YAML reads 07:30 as a number
                said = ", ".join(_texts(value))
            if said := said.strip():
                yield Passage(
                    start,
                    end,
                    "",
                    "",
                    said if self.is_yaml and key == "text" else f"{key}: {said}",
                )


def _under(passage: Passage, title: str) -> Passage:
    """A passage with the words of a title that are not over it yet."""
    known = passage.context.casefold().split()
    more = " ".join(word for word in title.split() if word.casefold() not in known)
    return (
        passage._replace(context=f"{more} {passage.context}".strip())
        if more
        else passage
    )


def is_archived(path: str) -> bool:
    """Does a path lie in the archive?"""
    return path.startswith(f"{ARCHIVE}/")


def live(path: str) -> str:
    """The path of a memory when it is not in the archive."""
    return path.removeprefix(f"{ARCHIVE}/")


def archived(path: str) -> str:
    """The path of a memory when it is in the archive."""
    return f"{ARCHIVE}/{live(path)}"


stem_of = functools.lru_cache(100_000)(lambda path: os.fsencode(PurePath(path).stem))


def renamed(data: bytes, names: dict[str, str]) -> bytes:
    """Bytes with every name of a forgotten file replaced: by its new one, else by a plain word."""
    edge = rb"[\w\x80-\xff-]"
    for old, new in names.items():
        if (stem := stem_of(old)) in data:
            path = (rb"%b" if new else rb"(?:archive/)?%b(?::\d[\d,-]*)?") % re.escape(
                os.fsencode(old)
            )
            data = re.sub(
                rb"(?<!%b)%b" % (edge, path), (new or NAMELESS).encode(), data
            )
            if DATED.match(PurePath(old).stem):
                name = rb"(?<!%b)%b(?!%b)" % (edge, re.escape(stem), edge)
                data = re.sub(name, (PurePath(new).stem or NAMELESS).encode(), data)
    return data


def kind_of(path: str) -> str:
    """The kind that a path decides."""
    parts = live(path).split("/")
    return parts[0] if len(parts) > 1 else "profile" if path == PROFILE else "notes"


def when_of(path: str) -> FileDate | None:
    """Return the date that a path decides; None where it names none.

    It is that at the head of the file's name, else that of the folders around it, as
    in `2026/03/12.md` or `2026-03-22/lease.md`.
    """
    *folders, name = path.split("/")
    dated = date_at_head(name)
    if dated:
        return dated.date
    number = _DAY_NUMBER.match(name)
    if number and len(folders) > 1:
        dated = date_at_head(f"{folders[-2]}-{folders[-1]}-{number[1]}")
        if dated:
            return dated.date
    for folder in reversed(folders):
        dated = date_at_head(folder)
        if dated and dated.end == len(folder) and not dated.date.month:
            return dated.date._replace(time="")
    return None


class DateAtHead(NamedTuple):
    """A date with which a name begins, and where in the name it ends."""

    date: FileDate
    end: int


def date_at_head(name: str) -> DateAtHead | None:
    """Read the date at the head of a name.

    It is `2026-11-20`, with a clock `2026-11-20-0930`, a month `2026-11`, or a day as
    other programs write it: `20261120`, `2026_11_20`, `2026.11.20`, `2026年11月20日`.
    """
    for form in (_DATE, *_OTHER_DATES):
        match = form.match(name)
        if not match:
            continue
        year, month, day, hour, minute = (*match.groups(""), "", "")[:5]
        with contextlib.suppress(ValueError):
            date = dt.date(int(year), int(month), int(day or 1))
            is_clock = day and hour and int(hour) < 24 and int(minute) < 60
            clock = f"{hour}:{minute}" if is_clock else ""
            return DateAtHead(FileDate(date, not day, clock), match.end())
    return None


def encoding_of(data: bytes) -> str:
    """`utf-8`, or what the bytes are read as instead; with a few broken bytes in it, or cut off, a text is still what it was."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    text = data.decode(errors="replace")
    if text.encode() == data or text.count("\ufffd") <= len(
        re.findall("[^\x00-\x7f\ufffd]", text)
    ):
        return "utf-8"
    # In GB 18030 many bytes over 0x7f stand in rows, though a character may end with a lower one; in Latin-1 they stand alone.
    runs = re.findall(rb"[\x80-\xff]+", data[:1_000_000])
    rows = 3 * sum(len(run) for run in runs if len(run) >= 4) > sum(map(len, runs))
    return (
        "gb18030"
        if rows and data.decode("gb18030", "replace").count("\ufffd") <= len(runs)
        else "latin-1"
    )


def decode(data: bytes) -> str:
    """The text of a file's bytes, without a byte order mark; never raises."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode(encoding_of(data), "replace").removeprefix("\ufeff")


def _codec(data: bytes) -> str:
    return {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(
        data[:2]
    ) or encoding_of(data)


def in_utf8(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """A file's bytes after a change to them as UTF-8 has them, in the encoding that it has; Refused for broken ones."""
    codec = _codec(data)
    if codec in ("utf-8", "latin-1"):
        return change(data)
    try:
        return change(data.decode(codec).encode()).decode().encode(codec)
    except UnicodeError:
        raise Refused(
            f"the file is broken {codec.upper()}; save it as UTF-8, then try again."
        ) from None


def extended(data: bytes, text: str) -> bytes:
    """A file's bytes with whole lines behind them, in the encoding that it has."""
    encoding = _codec(data)
    return (
        data
        + ("" if decode(data).endswith("\n") else "\n").encode(encoding)
        + text.encode(encoding, "replace")
    )


def slug(text: str, longest: int = 21) -> str:
    """A piece of a file name that a person would choose: letters and digits of any script, joined by hyphens. With a date and a
    time in front and `.md` behind, 21 of them make a name of at most 40 characters."""
    start = unicodedata.normalize("NFC", text[: 50 * longest]).lower()
    words = "".join(
        c if unicodedata.category(c)[0] in "LMN" else " " for c in start
    ).split()
    words = [
        word for word in words if any(c.isalnum() for c in word)
    ]  # a lone accent or emoji selector is invisible
    out = ""
    for word in words:
        longer = f"{out}-{word}" if out else word
        if len(longer) > longest or len(longer.encode()) > 2 * longest:
            break
        out = longer
    return out or (
        words[0].encode()[: 2 * longest].decode(errors="ignore")[:longest]
        if words
        else ""
    )


def _texts(value: Any) -> Iterator[str]:
    """The strings in a front matter value, nested ones too."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from (f"{key}: {text}" for text in _texts(entry))
    elif isinstance(value, list | tuple | set):
        for entry in value:
            yield from _texts(entry)
    elif value is not None:
        yield str(value)


def _moment(value: Any) -> dt.date | None:
    """A YAML date or time, in quotes and without seconds too, which YAML takes for text; None for anything else."""
    with contextlib.suppress(ValueError):
        if isinstance(value, str):
            value = (dt.date if len(value) == 10 else dt.datetime).fromisoformat(value)
    return value if isinstance(value, dt.date) else None


def _day(value: Any) -> dt.date | None:
    """The day of such a date or time."""
    found = _moment(value)
    return found.date() if isinstance(found, dt.datetime) else found


def _is(kind: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


_CHECKS: dict[str, tuple[Callable[[Any], object], str]] = {
    "importance": (
        lambda v: type(v) is int and 1 <= v <= 10,
        "importance is a whole number from 1 to 10",
    ),
    "confidence": (
        lambda v: type(v) in (int, float) and 0 <= v <= 1,
        "confidence is a number from 0 to 1",
    ),
    "pinned": (_is(bool), "pinned is true or false"),
    "tags": (_is(str | list), "tags are a list: [tea, family]"),
    "aliases": (_is(str | list), "aliases are a list: [NYC, Big Apple]"),
    "valid_from": (_day, "valid_from is a date: 2026-11-20"),
    "valid_until": (_day, "valid_until is a date: 2026-11-20"),
    "source": (
        _is(str | list),
        "source is path:line of where it was said, or a list of them",
    ),
    "supersedes": (_is(str | list), "supersedes is the path of the older memory"),
    "superseded_by": (_is(str), "superseded_by is the path of the newer memory"),
    "assistant": (_is(str), "assistant is the name of the speaker who is one"),
    "day": (_day, ""),  # of an event; a note's `day: Friday` is its own matter
}
