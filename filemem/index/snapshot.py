"""How a corpus is built file by file, and the file that keeps it.

The head of that file has the files and the names of speakers. Its tables are:

- lines, speakers, lengths, flags: by passage, as the corpus has them;
- keys: those of all tokens, a line each;
- sizes: by key how many bytes its postings are;
- packed: the postings of all keys, one after the other.
"""

import itertools
from array import array
from collections import Counter, defaultdict

from filemem.index import container
from filemem.index.corpus import (
    BYTES_OF_NUMBER,
    BYTES_OF_POSTING,
    Corpus,
    IndexedFile,
    key_of,
)
from filemem.text import terms

MAX_COUNT = 255
"""The most that is counted of a word in a passage, and of the words of a passage."""

_ARRAYS = {"lines": "I", "speakers": "I", "lengths": "B", "flags": "B"}
"""The tables by passage, with the code of their numbers' type."""

EMPTY = Corpus(
    [],
    [""],
    array("I"),
    array("I"),
    array("B"),
    array("B"),
    {},
)


def pack(corpus: Corpus, version: str) -> bytes:
    """Return the bytes of the file of a corpus.

    Args:
        corpus: what the file is to hold.
        version: what `unpack` asks for.
    """
    head = {
        "version": version,
        "speaker_names": corpus.speaker_names,
        "files": [list(vars(file).values()) for file in corpus.files],
    }
    tables = {name: getattr(corpus, name).tobytes() for name in _ARRAYS}
    tables["sizes"] = array("I", map(len, corpus.packed.values())).tobytes()
    tables["keys"] = b"\n".join(corpus.packed)
    tables["packed"] = b"".join(corpus.packed.values())
    return container.pack(head, tables)


def unpack(data: bytes, version: str) -> Corpus:
    """Return the corpus in the bytes of its file.

    Args:
        data: the bytes.
        version: under which they were packed.

    Raises:
        DamagedFile: they are none, or of another version.
        LookupError, TypeError, ValueError: somebody made them up.
    """
    head, tables = container.unpack(data, version)
    files: list[IndexedFile] = []
    for path, stats, *rest in head["files"]:
        files.append(IndexedFile(path, tuple(stats), *rest))
    keys = tables["keys"].split(b"\n")
    packed: dict[bytes, bytes] = {}
    start = 0
    for key, size in zip(keys, array("I", tables["sizes"]), strict=False):
        packed[key] = tables["packed"][start : start + size]
        start += size
    arrays = {name: array(kind, tables[name]) for name, kind in _ARRAYS.items()}
    return Corpus(
        files=files,
        speaker_names=head["speaker_names"],
        packed=packed,
        **arrays,
    )


class Builder:
    """Adds files to those of a corpus, which makes another one.

    A passage is added before its file.
    """

    def __init__(self, old: Corpus) -> None:
        self._new = Corpus(
            list(old.files),
            list(old.speaker_names),
            old.lines[:],
            old.speakers[:],
            old.lengths[:],
            old.flags[:],
            dict(old.packed),
        )
        self._speakers = {name: n for n, name in enumerate(old.speaker_names)}
        self._postings = defaultdict[str, list[int]](list)

    @property
    def next(self) -> int:
        """Return the number that the next passage will have."""
        return len(self._new.lines)

    def add_file(self, file: IndexedFile) -> None:
        """Add a file whose passages are there."""
        self._new.files.append(file)

    def add_passage(
        self, line: int, speaker: str, flags: int, said: list[str], more: list[str]
    ) -> None:
        """Add a passage.

        Args:
            line: its first line.
            speaker: who says it.
            flags: what is known of it.
            said: the tokens of its text, which make its length.
            more: other tokens to find it by.
        """
        passage = self.next
        for token in said + more:
            self._postings[token].append(passage)
        name = terms.fold(speaker)
        if name not in self._speakers:
            self._speakers[name] = len(self._speakers)
            self._new.speaker_names.append(name)
        self._new.lines.append(line)
        self._new.speakers.append(self._speakers[name])
        self._new.lengths.append(min(len(said), MAX_COUNT))
        self._new.flags.append(flags)

    def corpus(self) -> Corpus:
        """Return the corpus of all files; nothing can be added any more."""
        packed = self._new.packed
        terms.stems(self._postings)  # all at once
        for token, numbers in self._postings.items():
            key = key_of(token)
            packed[key] = _extended(packed.get(key, b""), numbers)
        return self._new


def _extended(packed: bytes, numbers: list[int]) -> bytes:
    """Return packed postings with later passages, each as often as it has the token.

    Args:
        packed: the postings.
        numbers: of the later passages, ascending.
    """
    counts = Counter(numbers)
    times = bytes(map(min, counts.values(), itertools.repeat(MAX_COUNT)))
    middle = len(packed) // BYTES_OF_POSTING * BYTES_OF_NUMBER
    more = array("I", counts).tobytes()
    return packed[:middle] + more + packed[middle:] + times
