"""Files read by several processes make the index that one makes, whatever becomes of the processes."""

import contextlib
import json
import sys
import time
from pathlib import Path

import pytest
from programs import filemem

from filemem.files.places import Place, Reach
from filemem.index import building
from filemem.index.gathering import Gatherer
from filemem.index.segments import Builder

ASK = """
import json, sys
sys.executable = sys.argv[2]
from filemem.files.folder import Folder
from filemem.index import Index
told = []
corpus = Index(Folder(sys.argv[1], "ann")).corpus(lambda done, total: told.append((done, total)))
found = {word: [number for numbers, _ in corpus.postings(word) for number in numbers] for word in sys.argv[3:]}
words = {word: [corpus.file(number).path for number in numbers] for word, numbers in found.items()}
speaking = {word: corpus.speaker_names[corpus.speakers[numbers[0]]] for word, numbers in found.items()}
again = Index(Folder(sys.argv[1], "ann")).corpus()
print(json.dumps([corpus.files, words, speaking, told == sorted(told), told[-1], again.files]))
"""
FILES, SIZE = 12, 900_000


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions of some megabyte, each with a word and a speaker of its own: more than one chunk."""
    folder = tmp_path_factory.mktemp("store") / "ann"
    (folder / "sessions").mkdir(parents=True)
    for number in range(FILES):
        said = f"- **Speaker {number}** 09:00: The word{number} {'.' * SIZE}\n- **Ann** 09:01: So.\n"
        (folder / "sessions" / f"2026-05-{number + 1:02}-talk.md").write_text(said)
    assert FILES * SIZE > building.CHUNK_BYTES
    return folder


@pytest.mark.parametrize("python", [sys.executable, "/bin/false", "/bin/cat", "/nowhere/python"])
def test_every_file_is_read_once(root: Path, python: str) -> None:
    for old in (root / ".filemem").glob("index/*"):
        old.unlink()
    words = [f"word{number}" for number in range(FILES)]
    done = filemem("-c", ASK, root, python, *words)
    paths = {word: [f"sessions/2026-05-{number + 1:02}-talk.md"] for number, word in enumerate(words)}
    speakers = {word: f"speaker {number}" for number, word in enumerate(words)}
    assert json.loads(done.stdout) == [FILES, paths, speakers, True, [FILES, FILES], FILES]


def test_chunks_hold_every_file_once_in_order() -> None:
    sizes = [5_000_000, 5_000_000, 20_000_000, 1, 2, 3]
    wanted = [
        building.FileToRead("", str(number), building.array("q", [0, 0, size, 0])) for number, size in enumerate(sizes)
    ]
    found = list(building.chunks(wanted))
    assert [[int(file.name) for file in chunk] for chunk in found] == [[0], [1], [2], [3, 4, 5]]


def test_a_file_that_changed_the_moment_before_is_read_again_at_the_next_question(tmp_path: Path) -> None:
    """It may change once more within what its time can tell; an old file may not."""
    (tmp_path / "a.md").write_text("Likes tea.")
    gatherer = Gatherer()

    def settled(changed: int) -> bool:
        with contextlib.closing(Reach(Place(str(tmp_path)))) as reach:
            wanted = building.FileToRead("", "a.md", building.array("q", [0, changed | 1, 10, 0]))
            return building.take(reach, gatherer, Builder(gatherer.speakers), wanted)

    assert settled(time.time_ns() - 3_600_000_000_000)
    assert not all(settled(time.time_ns()) for _ in range(20)), "not even once within twenty milliseconds"
