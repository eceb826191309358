"""Whatever happens to the files and to the index, it says what one made anew would say."""

import os
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from filemem.index import Corpus, Index
from filemem.store.folder import Folder
from filemem.text import terms

PATHS = [
    "sessions/2026/2026-05-04-0930-tea.md",
    "sessions/2026/2026-05-05-0930-walk.md",
    "facts/2026/2026-05-04-oolong.md",
    "facts/2026/2026-05-05-café.yaml",
    "summaries/2026/2026-05.md",
    "profile.md",
    "a note.txt",
]
WORDS = [
    *"oolong Oolongs tea cup walked the 2026 乌龙茶 烏龍 café KAFE\u0301".split(),
    "x" * 70,
]
LINES = [
    "- **Ann** 09:30: {}",
    "- **Bob**: {}?",
    "- **Ann** 2026-05-06 00:10: {}",
    "- **assistant** 9:31: {} [image: a cup of {}]",
    "  {}",
    "",
    "# {}",
    "## 2026-05-07",
    "- {} <!-- facts/tea.md -->",
    "- {} (a.md:3)",
    "[[tea house|{}]]",
    "text: {}",
]
FRONT = ["date: 2026-05-04", "tags: [tea]", "aliases: [NYC]", "source: a.md:3", "x: ["]
PICKS = st.integers(0, 20)
SAID = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


def _line(shape: str, said: str) -> str:
    return shape.replace("{}", said)


def _text(front: list[str], lines: list[str]) -> bytes:
    head = ["---", *front, "---"] if front else []
    return "\n".join([*head, *lines]).encode()


ONE_LINE = st.builds(_line, st.sampled_from(LINES), SAID)
TEXTS = st.one_of(
    st.builds(
        _text,
        st.lists(st.sampled_from(FRONT), max_size=3),
        st.lists(ONE_LINE, max_size=8),
    ),
    st.sampled_from([b"", b"\0", b"caf\xe9 tea", "茶".encode("utf-16")]),
)


def says(corpus: Corpus) -> object:
    """What a corpus says, whatever numbers it gives to files and speakers."""
    held: dict[str, dict[tuple[str, int], int]] = {}
    tokens = [token for word in [*WORDS, "Ann"] for token in terms.tokens(word)]
    for token in tokens:
        held[token] = {}
        for number, times in zip(*corpus.postings(token), strict=True):
            entry = corpus.file(number)
            held[token][entry.path, number - entry.first] = times
    known: dict[str, object] = {}
    for entry in corpus.files:
        passages = [
            (
                corpus.lines[number],
                corpus.speaker_names[corpus.speakers[number]],
                corpus.lengths[number],
                corpus.flags[number],
                entry.day(number),
            )
            for number in entry.numbers
        ]
        known[entry.path] = (passages, entry.days, entry.particulars)
    names = sorted(corpus.names), {*filter(None, corpus.names_heard)}
    return held, known, corpus.count, corpus.mean_length, names


class Life(RuleBasedStateMachine):
    """Memories that people and programs change, and indexes that are asked of them."""

    @initialize(texts=st.lists(TEXTS, min_size=len(PATHS), max_size=len(PATHS)))
    def begin(self, texts: list[bytes]) -> None:
        self.root = Path(tempfile.mkdtemp()) / "user"
        self.folder = Folder(str(self.root), "user")
        for path, text in zip(PATHS, texts, strict=True):
            self.write(path, text)
        self.old = Index(self.folder)

    def teardown(self) -> None:
        shutil.rmtree(self.root.parent)

    def check(self, index: Index) -> None:
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place, "user")
            shutil.copytree(self.root, copy, ignore=lambda *_: [".filemem"])
            fresh = Index(Folder(str(copy), "user")).corpus()
            assert says(index.corpus()) == says(fresh)

    def file(self, pick: int) -> Path:
        """One of the files that there are."""
        paths = self.folder.paths() or [PATHS[0]]
        where = self.root / paths[pick % len(paths)]
        if not where.exists():
            self.write(PATHS[0], b"tea")
        return where

    @invariant()
    def the_old_index_is_right(self) -> None:
        self.check(self.old)

    @rule()
    def ask_another_process(self) -> None:
        self.check(Index(self.folder))

    @rule()
    def begin_anew(self) -> None:
        self.old = Index(self.folder)

    @rule(path=st.sampled_from(PATHS), text=TEXTS)
    def write(self, path: str, text: bytes) -> None:
        where = self.root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(text)

    @rule(pick=PICKS, words=st.sampled_from([(b"tea", b"cup"), (b"cup", b"tea")]))
    def edit_at_the_same_size_and_time(
        self, pick: int, words: tuple[bytes, bytes]
    ) -> None:
        where = self.file(pick)
        before = where.stat()
        where.write_bytes(where.read_bytes().replace(*words))
        os.utime(where, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(pick=PICKS, line=ONE_LINE)
    def append(self, pick: int, line: str) -> None:
        with open(self.file(pick), "a", encoding="utf-8") as file:
            file.write(line + "\n")

    @rule(pick=PICKS)
    def delete(self, pick: int) -> None:
        self.file(pick).unlink()

    @rule(pick=PICKS, path=st.sampled_from([*PATHS, "archive/facts/2026-05-04-a.md"]))
    def rename(self, pick: int, path: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        os.replace(self.file(pick), self.root / path)

    @rule(folder=st.sampled_from(["sessions", "facts/2026", "archive"]))
    def move_a_folder(self, folder: str) -> None:
        if (self.root / folder).exists():
            shutil.rmtree(self.root / "other", ignore_errors=True)
            os.replace(self.root / folder, self.root / "other")

    @rule(seed=st.integers(0, 1 << 30))
    def damage_the_index(self, seed: int) -> None:
        chance = random.Random(seed)
        for file in sorted((self.root / ".filemem").rglob("*")):
            if file.is_file() and chance.random() < 0.7:
                chance.choice(_DAMAGES)(file, chance)
        self.check(Index(self.folder))

    @rule()
    def delete_the_index(self) -> None:
        shutil.rmtree(self.root / ".filemem")

    @rule(pick=PICKS)
    def ask_where_nothing_can_be_written(self, pick: int) -> None:
        shutil.rmtree(self.root / ".filemem")
        (self.root / ".filemem").write_bytes(b"")
        index = Index(self.folder)
        for _ in range(2):
            self.check(index)
            self.append(pick, "- **Ann** 09:30: tea")
        (self.root / ".filemem").unlink()


def _flip(file: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(min(len(data), 3)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


_DAMAGES: list[Callable[[Path, random.Random], object]] = [
    _flip,
    lambda file, chance: os.truncate(file, chance.randrange(file.stat().st_size + 1)),
    lambda file, chance: file.unlink(),
    lambda file, chance: file.write_bytes(b"filemem index 0\n" + chance.randbytes(64)),
]

TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=25,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
