"""A fact's file: its name, its text, and the edits that the program makes to it."""

import datetime as dt
import re
from collections.abc import Iterable, Mapping

from filemem.store.frontmatter import quoted, replaced
from filemem.store.memory import parse
from filemem.store.paths import slug, type_of
from filemem.text.plain import LINK, printable
from filemem.text.terms import CJK, LETTER, STOP

MAX_FACT_CHARS = 400  # of a fact, of its line in the profile, of a wish
MAX_NAME_CHARS = 26
MIN_NAME_WORDS = 3  # that stay, though the last of them tell nothing


def plain(text: str) -> str:
    """Return the text without the brackets of its links."""
    return LINK.sub(lambda link: link[1], text)


def name(kind: str, text: str, day: dt.date, owner: str = "") -> str:
    """Return the path of a new memory: its day and its first few words.

    Args:
        kind: the folder.
        text: what it says.
        day: its own.
        owner: whose memory it is; the name in front is left out.
    """
    said = _without_owner(plain(text), owner)
    words = slug(said, MAX_NAME_CHARS).split("-")
    while len(words) > MIN_NAME_WORDS and words[-1] in STOP:
        words.pop()
    return f"{kind}/{day:%Y}/{day}-{'-'.join(words) or type_of(kind)}.md"


def _without_owner(text: str, owner: str) -> str:
    if not owner:
        return text
    end = rf"(?:'s\b|\s*的|(?<=[{CJK}])(?=\d)|(?!{LETTER}))\s*"
    return re.sub(f"^{re.escape(owner)}{end}", "", text, flags=re.IGNORECASE)


def reference(paths: Iterable[str]) -> str:
    """Return one or more `path:line` as a YAML value on one line."""
    wanted = [quoted(path) for path in paths]
    if len(wanted) == 1:
        return wanted[0]
    return f"[{', '.join(wanted)}]"


def page(kind: str, text: str = "", front: Mapping[str, str] | None = None) -> str:
    """Return a memory's file, which names its kind first.

    Args:
        kind: the folder.
        text: what it says, if anything yet.
        front: YAML values of one line; empty ones go.
    """
    keys = {"type": type_of(kind), **(front or {})}
    head = "".join(f"{key}: {value}\n" for key, value in keys.items() if value)
    body = f"\n{printable(text)}\n" if text else ""
    return f"---\n{head}---\n{body}"


def set_front(path: str, data: bytes, key: str, value: str) -> bytes:
    """Return the file with a key set to a YAML value of one line, all else kept.

    Raises:
        ValueError: the YAML is broken, or the file is no text in UTF-8.
    """
    memory = parse(path, data)
    text = data.decode()
    body = text.removeprefix("\ufeff")
    mark = text.removesuffix(body)
    newline = "\r\n" if "\r\n" in text else "\n"
    if memory.is_yaml:
        return (mark + replaced(body, key, value, newline)).encode()
    lines = body.split("\n")
    if memory.front_end:
        head = f"{lines[0]}\n"
        front = "".join(f"{line}\n" for line in lines[1 : memory.front_end - 1])
        rest = "\n".join(lines[memory.front_end - 1 :])
    elif lines[0].rstrip() == "---":
        raise ValueError("the front matter is never closed")
    else:
        head = f"---{newline}"
        front = ""
        rest = head + body
    return (mark + head + replaced(front, key, value, newline) + rest).encode()


def with_body(path: str, data: bytes, text: str) -> bytes:
    """Return the file with another text behind its front matter.

    Raises:
        ValueError: that cannot be set.
    """
    memory = parse(path, data)
    if memory.is_yaml:
        return set_front(path, data, "text", quoted(text))
    front = data.split(b"\n")[: memory.front_end]
    gap = [b""] if front else []
    return b"\n".join([*front, *gap, f"{printable(text)}\n".encode()])


def superseded(path: str, data: bytes, by: str, until: dt.date) -> bytes:
    """Return the memory with what replaced it, and since when: its own day at least.

    Raises:
        ValueError: that cannot be set.
    """
    memory = parse(path, data)
    if memory.metadata.get("superseded_by") != by:
        data = set_front(path, data, "superseded_by", reference([by]))
        if "status" not in memory.front:
            data = set_front(path, data, "status", "deprecated")
    ended = memory.metadata.get("valid_until")
    until = max(until, memory.date or until)
    if ended and ended <= until:
        return data
    return set_front(path, data, "valid_until", str(until))


def linked_as(before: str, text: str) -> str:
    """Return a text with the names linked that were so before.

    Args:
        before: with links, such as `[[Porto]]`.
        text: whose first mention of each name becomes a link; one that has links of its
            own stays as it is.
    """
    if LINK.search(text):
        return text
    for link in LINK.finditer(before):
        name = re.escape(link[2] or link[1])
        # Not within another word, nor within a link that was made before.
        alone = rf"(?<![\w\[]){name}(?![\w\]|])"
        place = re.search(alone, text, re.ASCII)
        if place:
            text = text[: place.start()] + link[0] + text[place.end() :]
    return text
