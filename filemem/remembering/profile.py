"""The program's own lines of profile.md, each with the memory that it rests on: `- Mara lives in Porto. <!-- facts/….md -->`.

A line without such a mark, or with one that a person has changed, is never touched. Pure functions.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from filemem.files.memory import SOURCE_MARK
from filemem.text import tokens
from filemem.text.statements.sentences import is_chinese

HEADINGS = {  # of the sections as `statements` names them, in the order of what stays longest where room is short
    "who": ("Who this is", "基本情况"),
    "health": ("Health", "健康"),
    "home": ("Home", "住处"),
    "work": ("Work", "工作"),
    "talk": ("How to talk", "怎么说话"),
    "family": ("Family", "家人"),
    "likes": ("Likes", "喜好"),
}
_MARK = re.compile(f"[-*+] .*{SOURCE_MARK.pattern}")
_ROOMY = 200  # characters of a line


IN_PLACE = "in place"  # of another line, and nowhere else


class ProfileChange(NamedTuple):
    """A memory that is new: its line goes under `heading` (empty: it gets none), in the place of those of `replaces`."""

    path: str
    heading: str
    line: str
    replaces: tuple[str, ...]


Revised = tuple[str, list[str]]  # the new text, and what the program leaves to the person, as sentences


def line(text: str, path: str, *, quoted: bool) -> str:
    """The profile's line about a memory: its words, in quotation marks where they are somebody's own, and the mark."""
    said = " ".join(text.split())
    said = said if len(said) <= _ROOMY else said[: _ROOMY - 1] + "…"
    if quoted:
        said = f"“{said}”" if is_chinese(said) else f'"{said}"'
    return f"- {said} <!-- {path} -->"


def revised(text: str, changes: Iterable[ProfileChange], own: Callable[[str, str], bool], budget: int) -> Revised:
    """The profile with the lines of new memories, within `budget` tokens; `own` says of a path and a line whether the
    program wrote that line so. Done twice, it changes nothing more.
    """
    end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    lines = text.split("\n")
    notes: list[str] = []
    changes = list(changes)
    gone = {path for change in changes for path in change.replaces}
    for change in changes:
        wanted = change._replace(heading="") if change.path in gone else change
        _put(lines, wanted, own, notes, end.removesuffix("\n"))
    dropped = _shortened(lines, own, budget)
    if dropped:
        notes.append(f"the profile has no room for {dropped} more line{'s' * (dropped > 1)}")
    return "\n".join(lines), notes


def followed(text: str, own: Callable[[str, str], bool], now: Callable[[str, str], str | None]) -> Revised:
    """The profile with each of the program's lines replaced by what `now` gives for its path and line, or left out for None."""
    lines, notes = text.split("\n"), list[str]()
    for number, path, said in reversed(marked(text)):
        wanted = now(path, said) if own(path, said) else said
        if wanted is None:
            del lines[number - 1]
            notes.insert(0, f"{path} is gone or holds no more, and so its line of profile.md goes")
        elif wanted != said:
            lines[number - 1] = lines[number - 1].replace(said, wanted)
            notes.insert(0, f"profile.md says what {path} says now")
    return "\n".join(lines), notes


def marked(text: str) -> list[tuple[int, str, str]]:
    """The lines with a mark: number from 1, path, line."""
    found = []
    for number, said in enumerate(text.split("\n"), 1):
        if match := _MARK.match(said.strip("\r")):
            found.append((number, match[1], said.strip("\r")))
    return found


def _put(lines: list[str], change: ProfileChange, own: Callable[[str, str], bool], notes: list[str], tail: str) -> None:
    """Bring one memory's line in, or into the place of what it replaces."""
    there = {path for _, path, _ in marked("\n".join(lines))}
    wanted = bool(change.heading) and change.path not in there
    for number, path, said in reversed(marked("\n".join(lines))):
        if path == change.path and change.heading and own(path, said):
            lines[number - 1] = change.line + tail  # it tells more than it did
        if path not in change.replaces:
            continue
        if not own(path, said):
            notes.append(f"profile.md:{number} is yours and says otherwise: {said.partition('<!--')[0].strip()}")
            wanted = False
        elif wanted:
            lines[number - 1] = change.line + tail
            wanted = False
        else:
            del lines[number - 1]
    if wanted and change.heading in HEADINGS:
        _insert(lines, change, tail)


def _insert(lines: list[str], change: ProfileChange, tail: str) -> None:
    """Put a line behind the last item of its section, which is made where there is none."""
    names = HEADINGS[change.heading]
    start = next((n for n, said in enumerate(lines) if _heads(said, names)), None)
    if start is None:
        title = names[1] if is_chinese(change.line.partition("<!--")[0]) else names[0]
        section = [f"## {title}{tail}", tail, change.line + tail, tail]
        later = list(HEADINGS.values())
        later = later[later.index(names) + 1 :]
        place = next((n for n, said in enumerate(lines) if any(_heads(said, other) for other in later)), None)
        if place is None:
            if lines and not lines[-1]:
                lines.pop()
            lines += [*([tail] if lines and lines[-1].strip() else []), *section[:3], ""]
        else:
            lines[place:place] = section
        return
    last = start
    for number in range(start + 1, len(lines)):
        if re.match(r"#{1,6}\s", lines[number]):
            break
        if lines[number].strip():
            last = number
    new = [change.line + tail] if last > start else [tail, change.line + tail]
    lines[last + 1 : last + 1] = new


def under(lines: Iterable[str], name: str) -> list[str]:
    """The lines below the heading of a section, up to the next heading."""
    found, inside = list[str](), False
    for said in lines:
        if re.match(r"#{1,6}\s", said):
            inside = _heads(said, HEADINGS[name])
        elif inside:
            found.append(said)
    return found


def _heads(said: str, names: tuple[str, str]) -> bool:
    match = re.match(r"#{1,6}\s+(.*?)\s*$", said)
    return match is not None and match[1].casefold().startswith(tuple(name.casefold() for name in names))


def _shortened(lines: list[str], own: Callable[[str, str], bool], budget: int) -> int:
    """Take out the program's lines that matter least until the text has at most `budget` tokens; how many went."""
    dropped = 0
    while tokens.count("\n".join(lines)) > budget:
        section, going = -1, None
        for number, said in enumerate(lines):
            found = next((place for place, names in enumerate(HEADINGS.values()) if _heads(said, names)), None)
            section = found if found is not None else section
            match = _MARK.match(said.strip("\r"))
            if match and own(match[1], said.strip("\r")) and (going is None or section > going[0]):
                going = (section, number)
        if going is None:
            break
        del lines[going[1]]
        dropped += 1
    return dropped
