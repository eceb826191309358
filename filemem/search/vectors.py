"""Passages that mean what a question means, by the vectors of an embedding model: optional, beside the ranking by words.

Vectors lie in `.filemem/vectors/`, keyed by the text that was sent, so that what moves is not sent again. A question has what
is new sent with it, up to a number of texts; `maintain` has all. Without an answer from the endpoint words alone decide.
"""

import contextlib
import functools
import hashlib
import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping

from filemem.endpoint import BATCH, Embedder, ModelError
from filemem.errors import FilememError
from filemem.files import config, globs, journal, safe
from filemem.files.folder import Folder
from filemem.files.journal import PendingDeletion
from filemem.files.memory import Memory
from filemem.index import Index
from filemem.index.corpus import Corpus, IndexedFile
from filemem.search import evidence
from filemem.search.filters import Asked
from filemem.search.question import Query
from filemem.search.ranking import Scored
from filemem.search.vector_files import FOLDER, KEY, VectorFiles
from filemem.text import terms
from filemem.text.redaction import redact

NEW = 128  # texts that one question has embedded
PATIENCE = 20.0  # seconds without a byte until a question goes on without: a small machine embeds a batch in that
REST = 60.0  # seconds in which no question asks an endpoint again that has failed

WEIGHT = 0.25  # of the best score by words, what the passage most alike gets
LEAST, FEWEST = 0.9, 10  # of all passages, those least alike, which get nothing; but so many may get something
NEIGHBOUR = 0.3  # of how alike a passage is, what the more alike of its neighbours decides
REPEATS = 0.3  # what is left for a turn that asks, or quotes memory: nothing is so like a question as the question
_LISTING = "files.json"

Worth = Callable[[IndexedFile], float]


class Vectors:
    """The vectors of one user's memories, by the settings' model. Safe to use from several threads."""

    def __init__(self, folder: Folder, settings: config.Config) -> None:
        given = settings.embeddings or {}
        self.settings, self.place = settings, folder.place
        self._before, self._asking = given.get("passage_prefix", ""), given.get("query_prefix", "")
        self._folder = folder.bookkeeping(FOLDER)
        self._private = [globs.matcher(glob) for glob in given["except"]]
        place = given["model"], given.get("endpoint"), os.environ.get("OPENAI_API_KEY")
        self._patient, self._hasty = Embedder(*place, settings.timeout), Embedder(*place, PATIENCE)
        self._lock = threading.Lock()
        self._listed: dict[str, tuple[list[int], list[str]]] = {}  # by path its file's stats, and its passages' keys
        made = given["model"], settings.redact, [*settings.redact_also], [*settings.redact_never]
        self._made = repr(made)  # what a key depends on besides the text
        self._files = VectorFiles(self._folder, self._made)
        self._changed = False  # has the listing?
        self._rests, self._why = 0.0, ""

    # -- what is there, and what is new ---------------------------------------------------------------------------

    def _load(self) -> None:
        self._files.refresh()
        if not self._listed:
            with contextlib.suppress(
                FilememError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError
            ):
                facts = json.loads(safe.read(self._folder / _LISTING))
                if facts["made"] == self._made:
                    found = (
                        (path, (list(stats), list(map(str, keys)))) for path, (stats, keys) in facts["files"].items()
                    )
                    self._listed = dict(found)

    def _save(self) -> None:
        self._changed = False
        with contextlib.suppress(FilememError, OSError):
            safe.make_folder(self._folder)
            facts = {"made": self._made, "files": self._listed}
            safe.write(self._folder / _LISTING, json.dumps(facts, separators=(",", ":")).encode())

    def _texts(self, memory: Memory) -> Iterator[tuple[int, str]]:
        """What is sent for each passage of a file, without secrets, and its line."""
        for place, start, end in memory.windows:
            passage = memory.passages[place]
            named = passage.speaker or memory.told_title
            text = f"{named}: {passage.text[start:end]}" if named else passage.text[start:end]
            yield passage.line, self._before + self._sent(text)

    def _sent(self, text: str) -> str:
        return redact(text, self.settings.own)[0] if self.settings.redact else text

    def _key(self, text: str) -> str:
        data = f"{self._made}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=KEY).hexdigest()

    def _keys(self, corpus: Corpus, entry: IndexedFile) -> list[str] | None:
        """The keys of a file's passages, None where it is new, has changed, or is kept from the endpoint."""
        stats, keys = self._listed.get(entry.path, ([], []))
        return keys if stats == list(corpus.stats(entry.first)) and len(keys) == entry.count else None

    def _wanted(self, corpus: Corpus) -> Iterator[IndexedFile]:
        """The files with a passage that may have no vector, the newest first; none that the settings keep here."""
        for entry in sorted(corpus.entries(), key=lambda entry: (-entry.date, entry.path)):
            keys = self._keys(corpus, entry) if entry.count else []
            if (keys is None or not self._files.places.keys() >= set(keys)) and not self._kept_here(entry.path):
                yield entry

    def _kept_here(self, path: str) -> bool:
        return any(private(path) for private in self._private)

    def _missing(self, index: Index, corpus: Corpus, most: float) -> dict[str, str]:
        """Texts without a vector, by key: about so many, of whole files."""
        hidden: PendingDeletion = journal.pending_deletions(index.folder)
        found: dict[str, str] = {}
        for entry in self._wanted(corpus):
            if len(found) >= most:
                break
            with contextlib.suppress(FilememError):
                stats = corpus.stats(entry.first)
                texts = list(self._texts(index.shelf.memory(index.folder, entry.path, stats)))
                keys = [self._key(text) for _, text in texts]
                self._changed |= self._keys(corpus, entry) is None
                self._listed[entry.path] = [*stats], keys
                for key, (line, text) in zip(keys, texts, strict=True):
                    if key not in self._files.places and not hidden.hides(entry.path, line):
                        found[key] = text
        return found

    def _embed(self, embedder: Embedder, texts: Mapping[str, str]) -> None:
        """Have texts embedded, and keep their vectors; raises ModelError."""
        self._files.add([*texts], embedder.embed([*texts.values()]))

    def update(self, index: Index, progress: Callable[[int, int], None]) -> int:
        """Have every passage's vector, and no other; says how many are new. Raises ModelError, with what came kept."""
        corpus = index.corpus()
        with self._lock:
            self._load()
            missing = list(self._missing(index, corpus, float("inf")).items())
            for at in range(0, len(missing), BATCH):
                progress(at, len(missing))
                self._embed(self._patient, dict(missing[at : at + BATCH]))
            live = {entry.path for entry in corpus.entries() if not self._kept_here(entry.path)}
            self._listed = {path: listed for path, listed in self._listed.items() if path in live}
            with contextlib.suppress(FilememError, OSError):
                self._files.keep({key for _, keys in self._listed.values() for key in keys})
            self._save()
        return len(missing)

    # -- at a question --------------------------------------------------------------------------------------------

    def alike(self, index: Index, corpus: Corpus, text: str) -> dict[int, float]:
        """How alike each passage that has a vector is to a question, from -1 to 1; raises ModelError."""
        with self._lock:
            if time.monotonic() < self._rests:
                raise ModelError(self._why)
            try:
                (vector,) = self._hasty.embed([self._asking + self._sent(text)])
                self._load()
                self._files.use(len(vector))
                if new := self._missing(index, corpus, NEW):
                    self._embed(self._hasty, dict([*new.items()][:NEW]))
            except ModelError as error:
                self._rests, self._why = time.monotonic() + REST, str(error)
                raise
            if self._changed:
                self._save()
            likes, places = self._files.alike(vector), self._files.places
            found: dict[int, float] = {}
            for entry in corpus.entries():
                keys = self._keys(corpus, entry) or []
                near = _beside([likes[places[key]] if key in places else -1.0 for key in keys])
                found |= {entry.first + place: like for place, like in enumerate(near) if like > -1}
            return found


class Meaning:
    """What ranks the passages for one question by their vectors too; `notes` say why words alone decide, where they do."""

    def __init__(self, vectors: Vectors, index: Index, corpus: Corpus, text: str) -> None:
        self.notes: list[str] = []
        self._corpus = corpus
        self._ask = functools.cache(lambda: vectors.alike(index, corpus, text))

    def fused(self, query: Query, scored: list[Scored], asked: Asked, worth: Worth) -> list[Scored]:
        """The passages ranked by words and by meaning, those that have no word of the question among them."""
        if query.has_no_content_words or self.notes:
            return scored
        try:
            gains = self._gains(scored[0].score if scored else 1.0, asked, worth)
        except ModelError as error:
            self.notes = [f"{error} Found by words alone."]
            return scored
        units = evidence.units(query, [0.0] * len(query.words), 1.0, self._corpus.frequency)
        return _raised(scored, gains, evidence.TermCoverage(0.0, (), (), tuple(unit.text for unit in units)))

    def _gains(self, best: float, asked: Asked, worth: Worth) -> dict[int, float]:
        """What the passages most alike gain, of those asked for, by number."""
        alike, shown = self._ask(), dict[int, float]()
        for entry in self._corpus.entries():
            if factor := worth(entry):
                for number in range(entry.first, entry.first + entry.count):
                    if number in alike and _shown(self._corpus, entry, number, asked):
                        shown[number] = factor * _own(self._corpus, number)
        likes = sorted(alike[number] for number in shown)
        cut = min(int(LEAST * len(likes)), len(likes) - FEWEST) - 1
        floor = likes[max(cut, 0)] if len(likes) > 1 else -1.0
        span = (likes[-1] - floor if likes else 0.0) or 1.0
        unit = WEIGHT * best / span
        return {
            number: unit * factor * (alike[number] - floor) for number, factor in shown.items() if alike[number] > floor
        }


def _beside(likes: list[float]) -> list[float]:
    """How alike each passage of a file is, with its neighbours; -1 where it has no vector."""
    near = (max(pair) for pair in zip([-1.0, *likes], [*likes[1:], -1.0], strict=False))
    return [own + NEIGHBOUR * (other - own) * (min(own, other) > -1) for own, other in zip(likes, near, strict=False)]


def _shown(corpus: Corpus, entry: IndexedFile, number: int, asked: Asked) -> bool:
    """Is a passage among those that the filters ask for?"""
    spoken = asked.speakers is None or corpus.speakers[number] in asked.speakers
    return spoken and (asked.days is None or asked.days[0] <= entry.day(number) <= asked.days[1])


def _own(corpus: Corpus, number: int) -> float:
    return REPEATS if corpus.flags[number] & (terms.CITES | terms.IS_QUESTION) and corpus.speakers[number] else 1.0


def _raised(scored: list[Scored], gains: Mapping[int, float], lacks: evidence.TermCoverage) -> list[Scored]:
    """The passages with what they gain, best first, also those not found by words, which lack them all."""

    def raised(item: Scored) -> Scored:
        gain = gains.get(item.number, 0.0)
        return item._replace(
            score=round(item.score + gain, 6),
            parts=lambda: [*item.parts(), ("meaning", gain)] if gain else item.parts(),
        )

    known = {item.number for item in scored}
    others = [Scored(number, 0.0, lambda: lacks, lambda: []) for number in gains if number not in known]
    return sorted(map(raised, [*scored, *others]), key=lambda item: -item.score)


_of: "weakref.WeakKeyDictionary[Folder, Vectors]" = weakref.WeakKeyDictionary()


def of(folder: Folder) -> Vectors | None:
    """The vectors of a user's memories, None where the settings name no embedding model. Raises ConfigError."""
    settings = config.of(folder)
    known = _of.get(folder)
    if settings.embeddings and (known is None or known.settings is not settings or known.place != folder.place):
        known = _of[folder] = Vectors(folder, settings)
    return known if settings.embeddings else None
