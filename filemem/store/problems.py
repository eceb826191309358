"""The mistakes in a memory's file, each with its line and its remedy."""

from collections.abc import Iterator

from filemem.errors import Problem
from filemem.store.encodings import UTF_8
from filemem.store.fields import FIELDS, day_of
from filemem.store.memory import LARGEST, Memory
from filemem.store.paths import starts_with_no_date, when_of
from filemem.text.plain import one_line

_REPLACED = "\N{REPLACEMENT CHARACTER}"


def problems_of(memory: Memory) -> list[Problem]:
    """Return what is wrong with a memory's file, by line."""
    if memory.binary:
        remedy = "move it out of the memories, or describe it in a Markdown file"
        return [Problem(memory.path, 1, "not a text file", remedy)]
    if len(memory.data) > LARGEST:
        what = f"larger than {LARGEST // 1_000_000} MB: grep and open read it"
        remedy = "split it into smaller files"
        return [Problem(memory.path, 1, f"{what}, search_files does not", remedy)]
    found = [*_in_text(memory), *memory.front_matter.problems]
    return sorted([*found, *_in_date(memory), *_in_fields(memory)])


def _in_text(memory: Memory) -> Iterator[Problem]:
    path = memory.path
    if memory.encoding != UTF_8:
        what = f"not UTF-8, read as {memory.encoding}"
        yield Problem(path, 1, what, "save it as UTF-8")
    elif _REPLACED in memory.text and memory.text.encode() not in memory.data:
        line = memory.text.count("\n", 0, memory.text.index(_REPLACED)) + 1
        remedy = f"correct the characters shown as {_REPLACED}"
        yield Problem(path, line, "bytes that are no UTF-8", remedy)
    is_opened = memory.text.startswith("---") and memory.lines[0].rstrip() == "---"
    if is_opened and not memory.front_end and not memory.is_yaml:
        what = "the front matter is never closed"
        yield Problem(path, 1, what, "add a line with --- under it")


def _in_date(memory: Memory) -> Iterator[Problem]:
    wrong = starts_with_no_date(memory.path)
    if wrong:
        what = f"the file's name starts with {wrong}, which is not a date"
        yield Problem(memory.path, 1, what, "rename it with a real date, YYYY-MM-DD")
    when = when_of(memory.path)
    day = day_of(memory.front.get("date"))
    if not when or not day:
        return
    named = f"{when.date:%Y-%m}" if when.day_unknown else str(when.date)
    if not str(day).startswith(named):
        what = f"date is {day}, but the file's name says {named}"
        remedy = "the name decides: rename the file or correct the key"
        yield Problem(memory.path, memory.line_of("date"), what, remedy)


def _in_fields(memory: Memory) -> Iterator[Problem]:
    for key, field in FIELDS.items():
        value = memory.front.get(key)
        if value is not None and field.rule and not field.is_valid(value):
            what = f"{key} is {one_line(repr(value), 40)}"
            remedy = f"{key} is {field.rule}"
            yield Problem(memory.path, memory.line_of(key), what, remedy)
