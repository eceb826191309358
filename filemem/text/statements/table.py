"""The table behind `statements`: what a sentence does, what is worth keeping, which relations have one value at a time.

It is `data/statements.toml`, to be read and changed there. A pattern is compiled when it is first asked for.
"""

import functools
import re
import tomllib
from typing import Any, NamedTuple

from filemem.text import tables
from filemem.text.terms import simplified

_CAPITAL = "(?-i:[A-Z])"


class Kind(NamedTuple):
    """What is worth keeping: `importance` from 1 to 10, `heading` names a section of the profile, empty for none."""

    name: str
    importance: int
    heading: str


@functools.cache
def rows(section: str) -> list[dict[str, Any]]:
    """The rows of a section, in the file's order, which is the order in which they are tried."""
    found: list[dict[str, Any]] = _table()[section]
    return found


@functools.cache
def kinds() -> dict[str, Kind]:
    """Every kind by its name, the one that is looked for first in front."""
    return {row["name"]: Kind(row["name"], row["importance"], row.get("heading", "")) for row in rows("kind")}


@functools.cache
def patterns(section: str, name: str, language: str) -> list[re.Pattern[str]]:
    """The patterns of one row for `en` or `zh`, with its lists of words filled in."""
    row = next(row for row in rows(section) if row["name"] == name)
    return [compiled(pattern) for pattern in row.get(language, ())]


@functools.cache
def asking(name: str, language: str) -> re.Pattern[str] | None:
    """What a question about a relation looks like; None where there is no such question."""
    row = next(row for row in rows("relation") if row["name"] == name)
    pattern = row.get(f"ask_{language}")
    return compiled(pattern) if pattern else None


def search(section: str, name: str, text: str, language: str) -> re.Match[str] | None:
    """The first match of any pattern of one row, in simplified characters."""
    text = simplified(text)
    found = (match for pattern in patterns(section, name, language) if (match := pattern.search(text)))
    match = next(found, None)
    # Who writes without capitals writes names so, too.
    if match is None and section in ("kind", "whose") and text.islower():
        found = (match for pattern in _small(section, name, language) if (match := pattern.search(text)))
        match = next(found, None)
    return match


@functools.cache
def _small(section: str, name: str, language: str) -> list[re.Pattern[str]]:
    """The patterns of one row that ask for a capital letter, asking for a small one instead."""
    row = next(row for row in rows(section) if row["name"] == name)
    wanted = [pattern for pattern in row.get(language, ()) if _CAPITAL in pattern]
    return [compiled(pattern.replace(_CAPITAL, "(?!@notname@)[a-z]")) for pattern in wanted]


def sign(name: str, text: str) -> re.Match[str] | None:
    """The first match of a sign, of either language, as one text may mix both."""
    return search("sign", name, text, "en") or search("sign", name, text, "zh")


def without(name: str, text: str) -> str:
    """The text with a space in the place of every match of a sign."""
    for pattern in [*patterns("sign", name, "en"), *patterns("sign", name, "zh")]:
        for match in reversed(list(pattern.finditer(simplified(text)))):
            text = f"{text[: match.start()]} {text[match.end() :]}"
    return text


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern for a text in simplified characters: its lists of words filled in, read without regard to case."""
    words = _table()["words"]
    while "@" in pattern:
        pattern = re.sub(r"@(\w+)@", lambda word: words[word[1]], pattern)
    return re.compile(simplified(pattern), re.IGNORECASE)


def in_standard_words(text: str) -> str:
    """The text with everyday spellings, words of a dialect and characters as the patterns have them: im is I'm, 佢 他, 對 对."""
    text = simplified(text)
    for sign, words, spoken in _spoken():
        if sign is None or sign.search(text):
            text = words.sub(lambda word, spoken=spoken: spoken[word[0].lower()], text)  # type: ignore[misc]
    return text


@functools.cache
def _spoken() -> list[tuple[re.Pattern[str] | None, re.Pattern[str], dict[str, str]]]:
    """What a text must hold for its words to be replaced, the words, and what stands for each."""
    section, found = _table()["spoken"], []
    for name in ("en", "yue", "zh"):
        meant = dict(pair.split(" = ") for pair in re.split(r",\s+", section[name]))
        words = "|".join(map(re.escape, sorted(meant, key=len, reverse=True)))
        pattern = rf"(?<![\w'])(?:{words})(?![\w'])" if name == "en" else words
        sign = section.get(f"{name}_signs")
        found.append((re.compile(sign) if sign else None, re.compile(pattern, re.IGNORECASE), meant))
    return found


@functools.cache
def loaded(name: str) -> dict[str, Any]:
    """A table of patterns in `data/`. A long pattern goes on in the next lines, each of which begins with `|`."""
    text = (tables.DATA / name).read_text(encoding="utf-8")
    return tomllib.loads(re.sub(r"\n +\|", "|", text))


def _table() -> dict[str, Any]:
    return loaded("statements.toml")
