"""What a memory file says: its front matter, its lines, its passages; and how to change one line of it.

A file is only ever read here as bytes under a path; where it lies on disk is `folder`'s affair. A mistake in a person's
file is a `Problem`, never an exception, and never hides the file's text.
"""

import datetime as dt
import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

KINDS = ("facts", "sessions", "lessons", "summaries")
ARCHIVE = "archive"
PROFILE = "profile.md"
LARGEST = 10_000_000  # bytes; a larger file is grepped and opened by line, but not ranked
PARTICULARS = frozenset(
    "importance pinned source valid_from valid_until supersedes superseded_by confidence date timezone origin".split()
)  # front matter that describes the memory and says nothing to search for

_TURN = re.compile(r"- \*\*(.+?)\*\*(?: (\d{1,2}:\d{2}))?:(?: (.*)|)$")
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[-T_ ](\d{2})(\d{2})(?!\d))?(?!\d)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")
_HEADING = re.compile(r"#{1,6}\s")
_LINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_YAML_ERRORS = (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError)


class Problem(NamedTuple):
    """A mistake in a person's file: where it is, what is wrong, how to put it right."""

    path: str
    line: int
    what: str
    remedy: str


class Passage(NamedTuple):
    """The unit of search: lines `line` to `end_line` (from 1, inclusive); `context` is searched along but not shown."""

    line: int
    end_line: int
    speaker: str
    time: str
    text: str
    context: str = ""


class When(NamedTuple):
    """The date at the head of a file name; `month` is true where it names no day, `time` is `HH:MM` or empty."""

    date: dt.date
    month: bool
    time: str


class Memory:
    """One file of a user, read: `path` is relative to the user's folder, with `/`."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.archived = path.startswith(ARCHIVE + "/")
        self._problems: list[Problem] = []

    @property
    def kind(self) -> str:
        """The first folder's name, the archive's own aside; `profile` for profile.md, `notes` at the top."""
        return kind_of(self.path)

    @functools.cached_property
    def when(self) -> When | None:
        """The date of the file's name, else of its front matter (`date` or `created`), else None."""
        named = when_of(self.path)
        if named:
            return named
        value = self.front.get("date", self.front.get("created"))
        if isinstance(value, dt.datetime):
            return When(value.date(), False, f"{value:%H:%M}")
        return When(value, False, "") if isinstance(value, dt.date) else None

    @property
    def date(self) -> dt.date | None:
        """The day of the memory, where it has one."""
        return self.when.date if self.when else None

    @functools.cached_property
    def binary(self) -> bool:
        """Is this no text at all, a picture dropped in by mistake?"""
        return b"\0" in self.data[:65536] and not self.data.startswith((b"\xff\xfe", b"\xfe\xff"))

    @functools.cached_property
    def text(self) -> str:
        """The file's text; bytes that are no UTF-8 are read as UTF-16, GB 18030 or Latin-1; empty for a binary file."""
        return "" if self.binary else decode(self.data)

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines as an editor numbers them, without their ends."""
        lines = [line.removesuffix("\r") for line in self.text.split("\n")]
        if lines[-1] == "":
            lines.pop()
        return lines

    @functools.cached_property
    def is_yaml(self) -> bool:
        """Is the whole file one YAML mapping?"""
        return self.path.endswith((".yaml", ".yml"))

    @functools.cached_property
    def front_end(self) -> int:
        """The number of the line that closes the front matter, 0 where there is none."""
        if self.is_yaml or not self.lines or self.lines[0].rstrip() != "---":
            return 0
        for number, line in enumerate(self.lines[1:], 2):
            if line.rstrip() in ("---", "..."):
                return number
        return 0

    @functools.cached_property
    def front(self) -> dict[str, Any]:
        """The front matter as a mapping; empty where there is none or it is broken."""
        front = self._mapping
        return {key: value for key, value in front.items() if key != "text"} if self.is_yaml else front

    @functools.cached_property
    def _mapping(self) -> dict[str, Any]:
        if not self.is_yaml and not self.front_end:
            return {}
        source = "\n".join(self.lines if self.is_yaml else self.lines[1 : self.front_end - 1])
        try:
            value = yaml.load(source, Loader=_Loader)
        except _YAML_ERRORS as error:
            self._yaml_problem(error)
            return {}
        if isinstance(value, dict) and not _aliased(source):
            return {str(key): entry for key, entry in value.items()}
        if value is not None:
            wrong = "uses anchors and aliases" if isinstance(value, dict) else "is no mapping of keys to values"
            self._problem(1, f"the YAML {wrong}", "write it as plain `key: value` lines")
        return {}

    def _yaml_problem(self, error: BaseException) -> None:
        mark = getattr(error, "problem_mark", None)
        line = (mark.line + 1 if mark else 1) + (0 if self.is_yaml else 1)
        what = " ".join((getattr(error, "problem", None) or str(error) or type(error).__name__).split())
        self._problem(
            min(line, max(1, len(self.lines))),
            f"broken YAML: {what}",
            "mend this line; the text stays searchable meanwhile",
        )

    def _problem(self, line: int, what: str, remedy: str) -> None:
        self._problems.append(Problem(self.path, line, what, remedy))

    def line_of(self, key: str) -> int:
        """The line of a front matter key, 1 where it cannot be told."""
        last = len(self.lines) if self.is_yaml else self.front_end
        for number, line in enumerate(self.lines[:last], 1):
            if re.match(rf"[\"']?{re.escape(key)}[\"']?\s*:", line):
                return number
        return 1

    @functools.cached_property
    def problems(self) -> list[Problem]:
        """Every mistake in this file, by line."""
        if self.binary:
            return [
                Problem(
                    self.path, 1, "not a text file", "move it out of the memories, or describe it in a Markdown file"
                )
            ]
        if len(self.data) > LARGEST:
            self._problem(
                1,
                f"larger than {LARGEST // 1_000_000} MB: grep and open read it, search_files does not",
                "split it into smaller files",
            )
            return self._problems
        if encoding_of(self.data) != "utf-8":
            self._problem(1, f"not UTF-8, read as {encoding_of(self.data)}", "save it as UTF-8")
        if self.lines and self.lines[0].rstrip() == "---" and not self.front_end and not self.is_yaml:
            self._problem(1, "the front matter is never closed", "add a line with --- under it")
        self._mapping  # noqa: B018  reading it finds its problems
        self._check_name()
        self._check_values()
        return sorted(self._problems, key=lambda problem: problem.line)

    def _check_name(self) -> None:
        named = _DATE.match(self.path.rsplit("/", 1)[-1])
        if named and not when_of(self.path):
            self._problem(
                1, f"the file's name starts with {named[0]}, which is no date", "rename it with a real date, YYYY-MM-DD"
            )
        value = self.front.get("date")
        own = value.date() if isinstance(value, dt.datetime) else value
        when = when_of(self.path)
        if when and isinstance(own, dt.date) and not when.month and own != when.date:
            self._problem(
                self.line_of("date"),
                f"date is {own}, but the file's name says {when.date}",
                "the name decides: rename the file or correct the key",
            )

    def _check_values(self) -> None:
        for key, (right, remedy) in _CHECKS.items():
            value = self.front.get(key)
            if value is not None and not right(value):
                self._problem(self.line_of(key), f"{key} is {_short(value)}", remedy)

    def particular(self, key: str) -> Any:
        """A known front matter value where it is well-formed, else None."""
        value = self.front.get(key)
        check = _CHECKS.get(key)
        return value if value is not None and (check is None or check[0](value)) else None

    @functools.cached_property
    def aliases(self) -> list[str]:
        """Other names of what this memory is about."""
        return list(_texts(self.front.get("aliases")))

    @functools.cached_property
    def links(self) -> list[tuple[int, str]]:
        """Every `[[link]]` with its line."""
        return [(n, match[1].strip()) for n, line in enumerate(self.lines, 1) for match in _LINK.finditer(line)]

    @functools.cached_property
    def passages(self) -> list[Passage]:
        """The file cut into what a search returns, in order."""
        if self.is_yaml:
            return list(self._yaml_passages())
        context = " ".join(
            text for key, value in self.front.items() if key not in PARTICULARS for text in _texts(value)
        )
        found = list(turns(self.lines, self.front_end)) if self.kind == "sessions" else []
        if self.kind in ("facts", "lessons") and not found:
            found = list(_whole(self.lines, self.front_end))
        found = found or list(_paragraphs(self.lines, self.front_end))
        if not found and self.lines and self.front_end:
            found = [Passage(1, self.front_end, "", "", " ".join(self.lines[1 : self.front_end - 1]))]
        if found and context:
            first = found[0]
            found[0] = first._replace(context=f"{first.context} {context}".strip())
        return found

    def _yaml_passages(self) -> Iterator[Passage]:
        starts = [n for n, line in enumerate(self.lines, 1) if line[:1] not in ("", " ", "\t", "#", "-")]
        broken = not self._mapping
        for start, after in zip(starts, [*starts[1:], len(self.lines) + 1], strict=True):
            end = start + len("\n".join(self.lines[start - 1 : after - 1]).rstrip().split("\n")) - 1
            key, _, rest = self.lines[start - 1].partition(":")
            if key in PARTICULARS and not broken:
                continue
            value = self._mapping.get(key.strip("\"'"))
            said = "\n".join([rest, *self.lines[start:end]]) if value is None else ", ".join(_texts(value))
            label = "" if key == "text" else f"{key}: "
            if said.strip() or broken:
                yield Passage(start, end, "", "", (label + said.strip()) if not broken else self.lines[start - 1])


def kind_of(path: str) -> str:
    """The kind that a path decides."""
    parts = path.removeprefix(ARCHIVE + "/").split("/")
    if len(parts) == 1:
        return "profile" if path == PROFILE else "notes"
    return parts[0]


def when_of(path: str) -> When | None:
    """The date that a path decides: `2026-11-20-…`, `2026-11-20-0930-…` or `2026-11…`; None where it names none."""
    match = _DATE.match(path.rsplit("/", 1)[-1])
    if not match:
        return None
    year, month, day, hour, minute = match.groups()
    try:
        date = dt.date(int(year), int(month), int(day or 1))
    except ValueError:
        return None
    clock = f"{hour}:{minute}" if day and hour and int(hour) < 24 and int(minute) < 60 else ""
    return When(date, not day, clock)


def encoding_of(data: bytes) -> str:
    """`utf-8`, or what the bytes are read as instead."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        data.decode()
        return "utf-8"
    except UnicodeDecodeError:
        pass
    # In GB 18030 text a byte over 0x7f is followed by a second byte; in Latin-1 text accented letters stand alone.
    runs = re.findall(rb"[\x80-\xff]+", data[:1_000_000])
    if sum(len(run) >= 4 for run in runs) * 2 > len(runs):
        try:
            data.decode("gb18030")
            return "gb18030"
        except UnicodeDecodeError:
            pass
    return "latin-1"


def decode(data: bytes) -> str:
    """The text of a file's bytes, without a byte order mark; never raises."""
    encoding = encoding_of(data)
    return data.decode("utf-8-sig" if encoding == "utf-8" else encoding, "replace")


def turns(lines: list[str], after: int = 0) -> Iterator[Passage]:
    """The turns of a transcript, in order; what stands before the first one is its context. Nothing without a turn."""
    start, speaker, time, said = 0, "", "", [""]
    context: list[str] = []
    for number, line in enumerate(lines[after:], after + 1):
        match = _TURN.match(line)
        if match:
            if start:
                yield _turn(start, speaker, time, said, context)
                context = []
            start, speaker, time, said = number, match[1], match[2] or "", [match[3] or ""]
        elif start and (line.startswith("  ") or not line.strip()):
            said.append(line[2:] if line.startswith("  ") else "")
        elif start:
            yield _turn(start, speaker, time, said, context)
            start, context = 0, [line]
        elif line.strip():
            context.append(line)
    if start:
        yield _turn(start, speaker, time, said, context)


def _turn(start: int, speaker: str, time: str, said: list[str], context: list[str]) -> Passage:
    while len(said) > 1 and not said[-1]:
        said.pop()
    return Passage(
        start, start + len(said) - 1, speaker, time, "\n".join(said), " ".join(line.strip("# ") for line in context)
    )


def format_turn(speaker: str, time: str, text: str) -> str:
    """One turn as a list item, with its last newline; `turns` reads the same text back, outer white space aside."""
    name = " ".join(speaker.replace("*", " ").split()) or "unknown"
    first, *rest = (
        text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}").strip().split("\n")
    )
    body = "".join(f"  {line}\n" if line.strip() else "\n" for line in rest)
    return f"- **{name}**{' ' + time if time else ''}: {first}\n{body}"


def _whole(lines: list[str], after: int) -> Iterator[Passage]:
    """The body as one passage; a long one by paragraph."""
    body = [n for n, line in enumerate(lines[after:], after + 1) if line.strip()]
    if not body:
        return
    text = "\n".join(lines[body[0] - 1 : body[-1]])
    if len(text) > 2000:
        yield from _paragraphs(lines, after)
    else:
        yield Passage(body[0], body[-1], "", "", text)


def _paragraphs(lines: list[str], after: int) -> Iterator[Passage]:
    """Paragraphs and list items, each under its headings; a heading with nothing under it stands for itself."""
    heading: tuple[int, str] | None = None
    used = True
    start, said = 0, list[str]()
    for number, line in enumerate([*lines[after:], "#  end"], after + 1):
        starts_new = _ITEM.match(line) or _HEADING.match(line)
        if start and (starts_new or not line.strip()):
            yield Passage(start, start + len(said) - 1, "", "", "\n".join(said), heading[1] if heading else "")
            start, used = 0, True
        if _HEADING.match(line):
            if heading and not used:
                yield Passage(heading[0], heading[0], "", "", heading[1])
            heading, used = (number, line.strip("# ")), False
        elif line.strip():
            if not start:
                start, said = number, []
            said.append(line)


def set_front(data: bytes, key: str, value: str) -> bytes:
    """The file with a front matter key set to a YAML scalar, every other byte kept; ValueError where it is broken."""
    memory = Memory("x.md", data)
    newline = b"\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n"
    entry = f"{key}: {value}".encode()
    if encoding_of(data) == "utf-16" or memory.binary:
        raise ValueError("not UTF-8")
    if not memory.front_end:
        if memory.lines and memory.lines[0].rstrip() == "---":
            raise ValueError("the front matter is never closed")
        mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        return mark + newline.join([b"---", entry, b"---", b""]) + data[len(mark) :]
    return set_line(data, memory.front_end, entry, key.encode(), newline)


def set_line(data: bytes, last: int, entry: bytes, key: bytes, newline: bytes) -> bytes:
    """Put `entry` in the place of the key's line or lines above line `last`, or insert it there."""
    lines = data.split(b"\n")
    for at in range(1, last - 1):
        if re.match(rb"[\"']?" + re.escape(key) + rb"[\"']?\s*:", lines[at]):
            after = at + 1
            while after < last - 1 and lines[after][:1] in (b" ", b"\t", b"-"):
                after += 1
            end = b"\r" if lines[at].endswith(b"\r") else b""
            return b"\n".join([*lines[:at], entry + end, *lines[after:]])
    end = newline[:-1]
    return b"\n".join([*lines[: last - 1], entry + end, *lines[last - 1 :]])


def slug(text: str, longest: int = 60) -> str:
    """A piece of a file name that a person would choose: letters and digits of any script, joined by hyphens."""
    words = "".join(
        c if unicodedata.category(c)[0] in "LMN" else " " for c in unicodedata.normalize("NFC", text).lower()
    ).split()
    out = ""
    for word in words:
        longer = f"{out}-{word}" if out else word
        if len(longer) > longest or len(longer.encode()) > 2 * longest:
            break
        out = longer
    return out or (words[0].encode()[: 2 * longest].decode(errors="ignore")[:longest] if words else "")


def quoted(text: str) -> str:
    """A YAML scalar on one line for any text."""
    plain = re.fullmatch(r"[^\W\d_][\w /.+-]*", text) and not text.endswith(" ") and yaml.safe_load(text) == text
    return text if plain else yaml.safe_dump(text, default_style='"', allow_unicode=True, width=1_000_000).rstrip("\n")


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The strings in a front matter value, nested ones too."""
    if isinstance(value, dict) and depth < 8:
        for key, entry in value.items():
            yield from (f"{key}: {text}" for text in _texts(entry, depth + 1))
    elif isinstance(value, list | tuple | set) and depth < 8:
        for entry in value:
            yield from _texts(entry, depth + 1)
    elif value is not None:
        yield str(value)


def _aliased(source: str) -> bool:
    """Does the YAML repeat nodes by reference? Such text can grow without bound when its values are read out."""
    return bool(re.search(r"(?:^|[\s\[{,:-])\*[\w-]", source)) and any(
        isinstance(event, yaml.AliasEvent) for event in yaml.parse(source, Loader=_Loader)
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _is_number(value: Any, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


_CHECKS: dict[str, tuple[Any, str]] = {
    "importance": (lambda v: isinstance(v, int) and _is_number(v, 1, 10), "importance is a whole number from 1 to 10"),
    "confidence": (lambda v: _is_number(v, 0, 1), "confidence is a number from 0 to 1"),
    "pinned": (lambda v: isinstance(v, bool), "pinned is true or false"),
    "tags": (lambda v: isinstance(v, str | list), "tags are a list: [tea, family]"),
    "aliases": (lambda v: isinstance(v, str | list), "aliases are a list: [NYC, Big Apple]"),
    "valid_from": (lambda v: isinstance(v, dt.date), "valid_from is a date: 2026-11-20"),
    "valid_until": (lambda v: isinstance(v, dt.date), "valid_until is a date: 2026-11-20"),
    "source": (lambda v: isinstance(v, str | list), "source is path:line of where it was said, or a list of them"),
    "supersedes": (lambda v: isinstance(v, str | list), "supersedes is the path of the older memory"),
    "superseded_by": (lambda v: isinstance(v, str), "superseded_by is the path of the newer memory"),
}
