"""The names of files that go, and the texts that name them.

Each name is looked up by its last word, so that a text is read once however many files
go.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePath

from filemem.store.memory import NAMELESS
from filemem.store.paths import DATED

_WORD = re.compile(r"[\w-]+")
_WORD_BEFORE_SUFFIX = re.compile(r"[\w-]+(?=\.)")


def last_word(path: str) -> str:
    """Return the word that ends the name of a file; "" where a sign ends it."""
    stem = PurePath(path).stem
    words = _WORD.findall(stem)
    return words[-1] if words and stem.endswith(words[-1]) else ""


def words_of_paths(text: str) -> set[str]:
    """Return the last words of all files whose paths a text has, and other words."""
    return set(_WORD_BEFORE_SUFFIX.findall(text))


class FileNames:
    """The names of some files.

    Args:
        paths: of the files, in the user's folder.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = defaultdict[str, list[str]](list)
        for path in sorted(paths):
            self._paths[last_word(path)].append(path)

    def without(self, text: str) -> str:
        """Return a text in which the names are a plain word.

        They may tell what was forgotten.

        Args:
            text: with paths, with or without lines, or links by the name alone.
        """
        if not self._paths:
            return text
        words = dict.fromkeys(["", *_WORD.findall(text)])
        paths = [path for word in words for path in self._paths.get(word, ())]
        named = [path for path in paths if PurePath(path).stem in text]
        for path in named:
            place = rf"(?<![\w-])(?:archive/)?{re.escape(path)}(?::\d[\d,-]*)?"
            text = re.sub(place, NAMELESS, text)
        for stem in dict.fromkeys(PurePath(path).stem for path in named):
            if DATED.match(stem):
                text = re.sub(rf"(?<![\w-]){re.escape(stem)}(?![\w-])", NAMELESS, text)
        return text
