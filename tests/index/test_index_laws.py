"""Whatever happens to the files and to the index, the index says what the files say, as if it had been built this moment."""

import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from passages import indexed

from filemem.index import APART, ASKS, Corpus, Index
from filemem.index.snapshot import RETELLS
from filemem.store.folder import Folder
from filemem.store.memory import LARGEST, Memory
from filemem.store.passages import pauses
from filemem.text import terms

PATHS = [
    "sessions/2026/2026-05-04-0930-tea.md",
    "sessions/2026/2026-05-05-0930-walk.md",
    "facts/2026/2026-05-04-oolong.md",
    "facts/2026/2026-05-05-café.yaml",
    "lessons/short.md",
    "summaries/2026/2026-05.md",
    "profile.md",
    "a note.txt",
]
WORDS = [
    *"oolong Oolongs tea walked the 2026 乌龙茶 烏龍 café KAFE\u0301 ıstanbul".split(),
    "x" * 70,
]

Place = tuple[str, int]
Postings, Facts = dict[str, dict[Place, int]], dict[Place, tuple[int, int, str]]
PICKS = st.integers(0, 20)


def _lines() -> st.SearchStrategy[str]:
    said = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
    shapes = """\
- **Ann** 09:30: {}|- **Bob**: {}?|- **Bob** 08:10: {}|- **Ann** 2026-05-06 00:10: {}|## 2026-05-07|  {}||{}|# {}|- **Ann** 09:30:
- **Ann B** 9:31: {} [image: a cup of {}]|- **Ann**x|- {}|**Ann**: {}|- **An: n** 09:30: {}|  - **Ann** 09:30: {}|\t{}"""
    shapes = shapes.replace("\n", "|").split("|")
    shapes += ["- {} <!-- facts/tea.md -->", "- {} (a.md:3)"]
    shapes += [
        "[[tea house|{}]]",
        "text: {}",
        "tags: [{}, tea]",
        "- **Ünal** 10:00: {}",
    ]
    return st.builds(
        lambda shape, word: shape.replace("{}", word), st.sampled_from(shapes), said
    )


def _texts() -> st.SearchStrategy[bytes]:
    keys = """date: 2026-05-04|origin: x|origin: 'x: [y'|origin: "chat: 1"|origin: x: y|timezone: Asia/Shanghai"""
    keys = f"{keys}|tags: [tea, walk]|aliases: [NYC]|importance: 7|source: a.md:3|x: [|date: 'a".split(
        "|"
    )
    front = st.lists(st.sampled_from(keys), max_size=3).map(
        lambda lines: "\n".join(["---", *lines, "---", ""])
    )
    body, end = (
        st.lists(_lines(), max_size=8).map("\n".join),
        st.sampled_from(["", "\n", "\r\n"]),
    )
    whole = (
        st.tuples(st.one_of(st.just(""), front), body, end).map("".join).map(str.encode)
    )
    return st.one_of(
        whole,
        whole,
        st.sampled_from([b"", b"\0", b"caf\xe9 tea", "茶".encode("utf-16")]),
    )


def said_by_files(folder: Folder) -> tuple[Postings, Facts]:
    """Brute force: token -> (path, window) -> count; (path, window) -> length, flags, line and speaker."""
    postings: Postings = {}
    facts: Facts = {}
    for stat in folder.files():
        memory = folder.memory(stat.path)
        paused = pauses([passage.time for passage in memory.passages])
        cut = (
            memory.windows if not memory.binary and len(memory.data) <= LARGEST else []
        )
        for number, (place, start, end) in enumerate(cut):
            passage, text, at = (
                memory.passages[place],
                memory.passages[place].text[start:end],
                (stat.path, number),
            )
            counts, length = indexed(text)
            for token in terms.tokens(passage.context):
                if token not in terms.STOP:
                    counts[token] = counts.get(token, 0) + 1
            flags = ASKS * terms.ends_in_question(text)
            flags |= RETELLS * retells(memory, passage.text)
            told = (
                memory.passages[place - 1].context != passage.context
                and memory.kind == "summaries"
            )
            flags |= APART * bool(
                paused[place]
                or start
                or not number
                or told
                or stat.path == "profile.md"
            )
            facts[at] = (
                min(255, length),
                flags,
                f"{passage.line} {terms.fold(passage.speaker)}",
            )
            for token, count in counts.items():
                postings.setdefault(token, {})[at] = min(255, count)
    return postings, facts


def retells(memory: Memory, text: str) -> bool:
    """Does a passage tell again what stands elsewhere?"""
    marked = (
        memory.path == "profile.md"
        and re.search(r"<!-- facts/\w+\.md -->\s*$", text) is not None
    )
    linked = (
        memory.path.removeprefix("archive/").startswith("summaries/")
        and "a.md:3" in text
    )
    return marked or linked or "a.md:3" in str(memory.metadata.get("source"))


def said_by_index(corpus: Corpus, tokens: set[str]) -> Postings:
    """What the index has of the tokens, in the same form."""
    found = {}
    for token in tokens:
        places = [
            ((corpus.file(number).path, number - corpus.file(number).first), count)
            for number, count in zip(*corpus.postings(token)[:2], strict=True)
        ]
        assert len(places) == len(dict(places))
        if places:
            found[token] = dict(places)
            assert token in corpus.concept(terms.stem(token.removeprefix("[")))
    return found


def check(corpus: Corpus, folder: Folder) -> None:
    """The corpus says what the files say."""
    postings, facts = said_by_files(folder)
    every = {
        token
        for word in [*WORDS, "Ann", "cup", "house"]
        for token in terms.tokens(word)
    }
    every |= {"[" + token for token in every} | set(postings)
    assert said_by_index(corpus, every - terms.STOP) == postings
    known = {}
    for entry in corpus.entries():
        for number in range(entry.first, entry.first + entry.count):
            assert corpus.file(number).path == entry.path
            speaker = corpus.speaker_names[corpus.speakers[number]]
            said = f"{corpus.lines[number]} {speaker}"
            known[entry.path, number - entry.first] = (
                corpus.lengths[number],
                corpus.flags[number],
                said,
            )
    assert known == facts
    check_counts(corpus, postings, facts)
    stats = sorted(folder.files())
    assert sorted(stat.path for stat in corpus.entries()) == [
        stat.path for stat in stats
    ]
    assert (corpus.files, corpus.archived) == (
        len(stats),
        sum(stat.path.startswith("archive/") for stat in stats),
    )
    for entry in corpus.entries():
        date = folder.memory(entry.path).date
        assert entry.date == (date.toordinal() if date else 0)


def check_counts(corpus: Corpus, postings: Postings, facts: Facts) -> None:
    """What retells others is left out of what makes a word rare as long as it is the smaller half."""
    told = {at for at, (_, flags, _) in facts.items() if not flags & RETELLS}
    counted = told if 2 * len(told) >= len(facts) else set(facts)
    assert corpus.count == len(counted)
    assert corpus.mean_length == sum(facts[at][0] for at in counted) / max(
        1, len(counted)
    )
    for token, places in postings.items():
        assert corpus.frequency(token) == max(1, len(counted & places.keys()))


class Life(RuleBasedStateMachine):
    """A folder of memories that people and programs change, and indexes that are asked now and then."""

    @initialize(texts=st.lists(_texts(), min_size=len(PATHS), max_size=len(PATHS)))
    def begin(self, texts: list[bytes]) -> None:
        self.root = Path(tempfile.mkdtemp()) / "user"
        self.folder = Folder(str(self.root), "user")
        for path, text in zip(PATHS, texts, strict=True):
            self.write(path, text)
        self.old = Index(self.folder)

    def teardown(self) -> None:
        shutil.rmtree(self.root.parent)

    def file(self, pick: int) -> Path:
        """One of the files that there are."""
        paths = sorted(stat.path for stat in self.folder.files()) or [PATHS[0]]
        where = self.root / paths[pick % len(paths)]
        if not where.exists():
            self.write(PATHS[0], b"tea")
        return where

    @invariant()
    def the_old_index_is_right(self) -> None:
        check(self.old.corpus(), self.folder)

    @rule(path=st.sampled_from(PATHS), text=_texts())
    def write(self, path: str, text: bytes) -> None:
        where = self.root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(text)

    @rule(
        pick=PICKS,
        swap=st.sampled_from([(b"tea", b"cup"), (b"cup", b"tea"), (b"\n", b" ")]),
    )
    def edit_at_the_same_size_and_time(
        self, pick: int, swap: tuple[bytes, bytes]
    ) -> None:
        where = self.file(pick)
        before = where.stat()
        where.write_bytes(where.read_bytes().replace(*swap))
        os.utime(where, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(pick=PICKS, line=_lines())
    def append(self, pick: int, line: str) -> None:
        with open(self.file(pick), "a", encoding="utf-8") as file:
            file.write(line + "\n")

    @rule(pick=PICKS)
    def delete(self, pick: int) -> None:
        self.file(pick).unlink()

    @rule(pick=PICKS, other=st.sampled_from(PATHS))
    def rename(self, pick: int, other: str) -> None:
        (self.root / other).parent.mkdir(parents=True, exist_ok=True)
        os.replace(self.file(pick), self.root / other)

    @rule(pick=PICKS)
    def put_into_the_archive_or_back(self, pick: int) -> None:
        source = self.file(pick)
        path = str(source.relative_to(self.root))
        target = self.root / (
            path.removeprefix("archive/")
            if path.startswith("archive/")
            else f"archive/{path}"
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(source, target)

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
        check(Index(self.folder).corpus(), self.folder)

    @rule()
    def delete_the_index(self) -> None:
        shutil.rmtree(self.root / ".filemem")

    @rule()
    def begin_anew(self) -> None:
        self.old = Index(self.folder)

    @rule()
    def ask_another_process(self) -> None:
        check(Index(self.folder).corpus(), self.folder)

    @rule(pick=PICKS)
    def ask_where_nothing_can_be_written(self, pick: int) -> None:
        shutil.rmtree(self.root / ".filemem")
        (self.root / ".filemem").write_bytes(b"")
        index = Index(self.folder)
        for _ in range(2):
            check(index.corpus(), self.folder)
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
    lambda file, chance: file.write_bytes(
        file.read_bytes().replace(b'"version":"', b'"version":"9')
    ),
]

TestLife = Life.TestCase
SLOW = list(HealthCheck)
TestLife.settings = settings(
    max_examples=25, stateful_step_count=15, deadline=None, suppress_health_check=SLOW
)
