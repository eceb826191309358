"""A fact's or lesson's file: its name, its text with no more front matter than it needs, the edits that the program makes."""

import datetime as dt
import re
from collections.abc import Iterable, Mapping

from filemem.files.front import quoted, replaced
from filemem.files.memory import Memory, encoding_of, slug
from filemem.text.dates import mentioned
from filemem.text.plain import LINK, printable
from filemem.text.terms import CJK, LETTER, STOP, is_chinese

SOURCES = 20  # that a memory names at most; what is told more often than that is certain enough
_CLAUSE = re.compile(r"(?<![A-Z])[,.;!?()—–]\s|[，。；！？（）]")


def plain(text: str) -> str:
    """The text without the brackets of its links."""
    return LINK.sub(lambda link: link[1], text)


def name(kind: str, text: str, day: dt.date, owner: str = "") -> str:
    """The path of a new memory: date and a few words of its first clause, the owner's name in front left out, then a day."""
    whose = rf"^{re.escape(owner)}(?:'s\b|\s*的|(?<=[{CJK}])(?=\d)|(?!{LETTER}))\s*"
    said = re.sub(whose, "", plain(text), flags=re.I) if owner else plain(text)
    for one in mentioned(said, day)[:1]:
        if not (one.start or one.relative) and one.span.start == one.span.end:
            said = said[one.end :].strip(" .。") or said
    first = _CLAUSE.split(said, maxsplit=1)[0].strip()
    zh = is_chinese(first)
    whole = len(first) >= 5 if zh else len(first.split()) >= 3
    words = slug(first if whole else said, 24 if zh else 26).split("-")
    while len(words) > 3 and words[-1] in STOP:
        words.pop()
    return f"{kind}/{day:%Y}/{day}-{'-'.join(words) or kind.rstrip('s')}.md"


def reference(paths: Iterable[str]) -> str:
    """One or more `path:line` as a YAML value on one line."""
    wanted = [quoted(path) for path in paths]
    return wanted[0] if len(wanted) == 1 else f"[{', '.join(wanted)}]"


def page(text: str, front: Mapping[str, str]) -> str:
    """The file of a memory; `front` are YAML values on one line each, empty ones left out."""
    head = "".join(f"{key}: {value}\n" for key, value in front.items() if value)
    body = printable(text)
    return f"---\n{head}---\n\n{body}\n" if head else f"{body}\n"


def set_front(path: str, data: bytes, key: str, value: str) -> bytes:
    """The file with a front matter key set to a YAML value on one line, every other byte kept; raises ValueError where that
    cannot be done: the YAML is broken, or the file is no text."""
    memory = Memory(path, data)
    encoding = encoding_of(data)
    text = data.decode(encoding) if encoding != "utf-16" and not memory.binary else ""
    if text.encode(encoding) != data:
        raise ValueError("not UTF-8")
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    start, end = len(text) - len(text.removeprefix("\ufeff")), len(text)
    if not memory.is_yaml and not memory.front_end:
        if memory.lines and memory.lines[0].rstrip() == "---":
            raise ValueError("the front matter is never closed")
        fence = f"---{newline}"
        return (
            text[:start]
            + fence
            + replaced("", key, value, newline)
            + fence
            + text[start:]
        ).encode(encoding)
    if not memory.is_yaml:
        lines = text.split("\n")
        start, end = (
            sum(len(line) + 1 for line in lines[:count])
            for count in (1, memory.front_end - 1)
        )
    return (
        text[:start] + replaced(text[start:end], key, value, newline) + text[end:]
    ).encode(encoding)


def confirmed(path: str, data: bytes, named: Iterable[str], confidence: float) -> bytes:
    """The memory with further sources and another confidence, all else kept; raises ValueError where that cannot be done."""
    before = Memory(path, data).sources
    after = list(dict.fromkeys([*before, *named]))[:SOURCES]
    if after != before:
        data = set_front(path, data, "source", reference(after))
    given = Memory(path, data).particular("confidence")
    return (
        set_front(path, data, "confidence", f"{confidence:g}")
        if given is not None and given < confidence
        else data
    )


def superseded(path: str, data: bytes, by: str, until: dt.date) -> bytes:
    """The memory with what replaced it and since when. Raises ValueError where that cannot be set."""
    memory = Memory(path, data)
    if memory.particular("superseded_by") != by:
        data = set_front(path, data, "superseded_by", reference([by]))
    ended = memory.particular("valid_until")
    return (
        data
        if ended and ended <= until
        else set_front(path, data, "valid_until", str(until))
    )
