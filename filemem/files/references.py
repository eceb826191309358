"""A text by reference: each piece of it that stands in a memory as path, line and place, the rest as it is.

So a trace can say what a model saw without copying it, and what is forgotten is gone there as well.
"""

import contextlib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files.folder import Folder

SHORTEST = 4  # characters of a piece that is looked for
_OVER = re.compile(r'<memory path="([^"]+)">|((?:[^\s/"]+/)*[^\s/"]+\.(?:md|ya?ml|txt))(?:  |$)')
_NUMBER = re.compile(r" *(\d+)[- ] ")
_ADDED = re.compile(r"( ?\[(?!\[)[^\[\]]*\](?!\])| … |…)")  # dates that the tools write, and what they left out

Part = str | list[str | int]  # a text, or path, line from 1, first character and length


class _FileLine(NamedTuple):
    path: str
    number: int
    text: str


class ByReference:
    """Texts of one user by reference, and again as texts; each memory is read once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._read: dict[str, list[_FileLine]] = {}

    def parts(self, text: str, paths: Sequence[str] = (), line: int = 1) -> list[Part]:
        """The parts of a text. Which memory a line is of, a heading or a mark over it tells, a number which line; else one
        of the memories at `paths` may hold it, the first from `line` on."""
        anywhere = [one for path in paths for one in self._lines(path)]
        found, over, at = list[Part](), self._lines(paths[0]) if paths else [], line - 1
        for place, shown in enumerate(text.split("\n")):
            if place:
                found.append("\n")
            if heading := _OVER.match(shown):
                over, at = self._lines(heading[1] or heading[2]), 0
                found.append(shown)
                continue
            number = _NUMBER.match(shown)
            start = number.end() if number and over else 0
            at = int(number[1]) if number and over else at + 1
            exact = over[at - 1 : at]
            found.append(shown[:start])
            found += _pieces(shown[start:], exact, over, anywhere)
        return _joined(found)

    def text(self, given: Iterable[Part]) -> str:
        """The text again, as the memories are now; what is gone of it is named."""
        out = []
        for part in given:
            if isinstance(part, str):
                out.append(part)
                continue
            path, number, start, length = str(part[0]), *map(int, part[1:4])
            line = next(iter(self._lines(path)[number - 1 : number]), None)
            out.append(line.text[start : start + length] if line else f"[gone: {path}:{number}]")
        return "".join(out)

    def _lines(self, path: str) -> list[_FileLine]:
        """The lines of a memory, wherever it lies now; none where it is gone."""
        if path not in self._read:
            self._read[path] = []
            with contextlib.suppress(FilememError):
                memory = self._folder.memory(self._folder.locate(path))
                self._read[path] = [_FileLine(path, number, text) for number, text in enumerate(memory.lines, 1)]
        return self._read[path]


def _pieces(text: str, *lines: list[_FileLine]) -> Iterator[Part]:
    """A line's pieces between what the tools add, each where it stands, whole or behind who says it."""
    for piece in _ADDED.split(text):
        for start in (0, piece.find(": ") + 2):
            wanted = piece[start:]
            line = (
                next((one for one in itertools.chain(*lines) if wanted in one.text), None)
                if len(wanted) >= SHORTEST
                else None
            )
            if line:
                yield piece[:start]
                yield [line.path, line.number, line.text.find(wanted), len(wanted)]
                break
        else:
            yield piece


def _joined(found: Iterable[Part]) -> list[Part]:
    """The parts with texts in a row made one, and no empty one."""
    out: list[Part] = []
    for part in found:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        elif part:
            out.append(part)
    return out
