"""A fact's file: its name, its text, and the edits that the program makes to it."""

import datetime as dt
import re
from collections.abc import Iterable, Mapping

from filemem.store.frontmatter import quoted, replaced
from filemem.store.memory import parse
from filemem.store.paths import slug
from filemem.text.dates import mentioned
from filemem.text.plain import LINK, printable
from filemem.text.terms import CJK, LETTER, STOP, is_chinese

MAX_FACT_CHARS = 400  # of a fact, of its line in the profile, of a wish
MIN_TELLING_WORDS = 3  # of a clause that says enough to be a name
MIN_TELLING_SIGNS = 5  # of one in Chinese
MAX_SOURCES = 20  # that a memory names; what is told more often is certain enough
_CLAUSE = re.compile(r"(?<![A-Z])[,.;!?()—–]\s|[，。；！？（）]")


def plain(text: str) -> str:
    """Return the text without the brackets of its links."""
    return LINK.sub(lambda link: link[1], text)


def name(kind: str, text: str, day: dt.date, owner: str = "") -> str:
    """Return the path of a new memory: its day and a few words of its first clause.

    Args:
        kind: the folder.
        text: what it says; a day in front is left out.
        day: its own.
        owner: whose memory it is; the name in front is left out.
    """
    said = _without_day(_without_owner(plain(text), owner), day)
    clause = _CLAUSE.split(said, maxsplit=1)[0].strip()
    if is_chinese(clause):
        is_telling = len(clause) >= MIN_TELLING_SIGNS
        max_chars = 24
    else:
        is_telling = len(clause.split()) >= MIN_TELLING_WORDS
        max_chars = 26
    if not is_telling:
        clause = said
    words = slug(clause, max_chars).split("-")
    while len(words) > MIN_TELLING_WORDS and words[-1] in STOP:
        words.pop()
    return f"{kind}/{day:%Y}/{day}-{'-'.join(words) or kind.rstrip('s')}.md"


def _without_owner(text: str, owner: str) -> str:
    if not owner:
        return text
    end = rf"(?:'s\b|\s*的|(?<=[{CJK}])(?=\d)|(?!{LETTER}))\s*"
    return re.sub(f"^{re.escape(owner)}{end}", "", text, flags=re.IGNORECASE)


def _without_day(text: str, day: dt.date) -> str:
    for mention in mentioned(text, day)[:1]:
        is_one_day = mention.span.start == mention.span.end
        if mention.start == 0 and not mention.relative and is_one_day:
            return text[mention.end :].strip(" .。") or text
    return text


def reference(paths: Iterable[str]) -> str:
    """Return one or more `path:line` as a YAML value on one line."""
    wanted = [quoted(path) for path in paths]
    if len(wanted) == 1:
        return wanted[0]
    return f"[{', '.join(wanted)}]"


def page(text: str, front: Mapping[str, str]) -> str:
    """Return a memory's file; of `front`, YAML values of one line, empty ones go."""
    head = "".join(f"{key}: {value}\n" for key, value in front.items() if value)
    body = printable(text)
    if not head:
        return f"{body}\n"
    return f"---\n{head}---\n\n{body}\n"


def set_front(path: str, data: bytes, key: str, value: str) -> bytes:
    """Return the file with a key set to a YAML value of one line, all else kept.

    Raises:
        ValueError: the YAML is broken, or the file is no text in UTF-8.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    memory = parse(path, data)
    if memory.binary:
        raise ValueError("not a text file")
    newline = "\n"
    if text.count("\r\n") * 2 > text.count("\n"):
        newline = "\r\n"
    start = len(text) - len(text.removeprefix("\ufeff"))
    if memory.is_yaml:
        return (text[:start] + replaced(text[start:], key, value, newline)).encode()
    lines: list[str] = re.findall("[^\n]*\n|[^\n]+$", text)
    if memory.front_end:
        head = lines[0]
        front = "".join(lines[1 : memory.front_end - 1])
        rest = "".join(lines[memory.front_end - 1 :])
        return (head + replaced(front, key, value, newline) + rest).encode()
    if memory.lines and memory.lines[0].rstrip() == "---":
        raise ValueError("the front matter is never closed")
    fence = f"---{newline}"
    front = replaced("", key, value, newline)
    return (text[:start] + fence + front + fence + text[start:]).encode()


def with_body(path: str, data: bytes, text: str) -> bytes:
    """Return the file with another text behind its front matter.

    Raises:
        ValueError: the front matter is broken, or the file is no text in UTF-8.
    """
    memory = parse(path, data)
    if memory.is_yaml:
        return set_front(path, data, "text", quoted(text))
    if memory.front_matter.is_broken:
        raise ValueError("the front matter is broken")
    head = "".join(data.decode().splitlines(keepends=True)[: memory.front_end])
    gap = "\n" if head else ""
    return f"{head}{gap}{printable(text)}\n".encode()


def confirmed(path: str, data: bytes, named: Iterable[str], confidence: float) -> bytes:
    """Return the memory with further sources, and a confidence at least as given.

    Raises:
        ValueError: that cannot be set.
    """
    before = parse(path, data).sources
    after = list(dict.fromkeys([*before, *named]))[:MAX_SOURCES]
    if after != before:
        data = set_front(path, data, "source", reference(after))
    given = parse(path, data).metadata.get("confidence")
    if given is not None and given < confidence:
        data = set_front(path, data, "confidence", f"{confidence:g}")
    return data


def superseded(path: str, data: bytes, by: str, until: dt.date) -> bytes:
    """Return the memory with what replaced it, and since when.

    Raises:
        ValueError: that cannot be set.
    """
    memory = parse(path, data)
    if memory.metadata.get("superseded_by") != by:
        data = set_front(path, data, "superseded_by", reference([by]))
    ended = memory.metadata.get("valid_until")
    if ended and ended <= until:
        return data
    return set_front(path, data, "valid_until", str(until))
