"""The index is a cache: damaged, locked, deleted or cut off, it makes no answer wrong."""

import datetime as dt
import os
import re
import signal
import stat
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from programs import lay

from filemem.index import Corpus, Index
from filemem.index.container import DamagedFile
from filemem.index.corpus import APART, ASKS
from filemem.index.snapshot import unpack
from filemem.index.updates import RACY_NS
from filemem.store import files
from filemem.store.folder import Folder
from filemem.text import terms
from filemem.text.dayrange import DayRange

TALK = "sessions/2026/2026-05-04-0930-tea.md"
WALK = "sessions/2026/2026-05-05-1000-walk.md"
FILES = {
    TALK: "- **Ann** 09:30: I tried oolong tea.\n"
    "- **Bob** 09:31: Which oolong? [image: a tea pot]\n"
    "- **assistant** 10:31: Oolong, oolong!\n",
    WALK: "- **Ann** 10:00: We walked.\n",
    "facts/2026-05-05-city.md": "---\naliases: [NYC]\n---\n# New York City\n",
    "archive/facts/2024-01-02-old.md": "Drank coffee.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A user with a few memories of every kind."""
    lay(tmp_path / "ann", FILES)
    return Folder(str(tmp_path / "ann"), "ann")


def places(corpus: Corpus, token: str) -> dict[tuple[str, int], int]:
    """Where a token stands: (path, line) -> count."""
    found: dict[tuple[str, int], int] = {}
    for number, count in zip(*corpus.postings(token), strict=True):
        found[corpus.file(number).path, corpus.lines[number]] = count
    return found


def answers(corpus: Corpus) -> object:
    """Everything that a corpus says of its files, but for the numbers it gives them."""
    tokens = sorted(set(terms.tokens(" ".join(FILES.values()))))
    held = [(token, places(corpus, token)) for token in tokens]
    return held, sorted(one.path for one in corpus.files)


def where(folder: Folder) -> Path:
    return Path(folder.bookkeeping("index"))


def write_fact(folder: Folder, day: int, text: str) -> None:
    lay(folder.root, {f"facts/2026-05-{day:02}-new.md": text})


def test_a_file_without_a_day_is_of_no_day(folder: Folder) -> None:
    lay(folder.root, {"notes/undated.md": "Fed the cat.\n"})
    dated = Index(folder).corpus().dated(DayRange(-14, dt.date.max.toordinal()))
    assert sorted(entry.path for entry in dated) == sorted(FILES)


def test_what_the_index_knows_of_passages(folder: Folder) -> None:
    """Captions are words to find a passage by, and make it no longer."""
    corpus = Index(folder).corpus()
    [talk] = [entry for entry in corpus.files if entry.path == TALK]
    _first, second, third = talk.numbers
    assert [corpus.lengths[number] for number in talk.numbers] == [3, 1, 2]
    assert [corpus.flags[number] & APART for number in (second, third)] == [0, APART]
    assert corpus.flags[second] & ASKS and corpus.by_assistant(third)
    assert places(corpus, "oolong") == {(TALK, 1): 1, (TALK, 2): 1, (TALK, 3): 2}
    assert places(corpus, "pot") == {(TALK, 2): 1}
    assert corpus.names == [("new york city", "nyc")]
    assert (len(corpus.files), corpus.archived, corpus.count) == (4, 1, 6)


def test_a_damaged_byte_anywhere_is_noticed(folder: Folder) -> None:
    Index(folder).corpus()
    whole = (where(folder) / "snapshot").read_bytes()
    version = re.search(rb'"version":"(\w+)"', whole)
    assert version and unpack(whole, version[1].decode())
    for place, byte in enumerate(whole):
        flipped = whole[:place] + bytes([byte ^ 1]) + whole[place + 1 :]
        for spoilt in (whole[:place], flipped):
            with pytest.raises(DamagedFile):
                unpack(spoilt, version[1].decode())


def test_what_somebody_made_up_ends_no_question(folder: Folder) -> None:
    """A snapshot whose check is right, with all kinds of wrong in it."""
    right = answers(Index(folder).corpus())
    snapshot = where(folder) / "snapshot"
    body = snapshot.read_bytes()[4:]
    renamed = body.replace(b"2026-05", b"2025-05")
    deep = b"[" * 100_000 + b"\n"
    for made_up in (renamed, deep, b'{"version":1}\n', body + b"\xff" * 64, b"[]\n"):
        snapshot.write_bytes(zlib.crc32(made_up).to_bytes(4) + made_up)
        assert answers(Index(folder).corpus()) == right
    os.truncate(snapshot, 1 << 33)
    assert answers(Index(folder).corpus()) == right
    assert snapshot.stat().st_size < 1 << 20


def test_who_holds_the_lock_delays_nobody_for_long(folder: Folder) -> None:
    Index(folder).corpus()
    with files.lock(folder.bookkeeping("index/lock")):
        write_fact(folder, 6, "A zebra.\n")
        index = Index(folder)
        assert places(index.corpus(), "zebra")
        write_fact(folder, 7, "Two zebras.\n")
        assert places(index.corpus(), "zebras") and places(index.corpus(), "zebra")
    write_fact(folder, 8, "Three zebras.\n")
    for one in (index, Index(folder)):
        assert len(places(one.corpus(), "zebras")) == 2


def test_a_link_in_the_place_of_the_index_is_not_followed(
    folder: Folder, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path(folder.bookkeeping("")).mkdir()
    where(folder).symlink_to(tmp_path / "elsewhere")
    assert places(Index(folder).corpus(), "oolong")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_nothing_of_a_deleted_file_stays_once_discarded(folder: Folder) -> None:
    index = Index(folder)
    index.corpus()
    assert b"walked" in (where(folder) / "snapshot").read_bytes()
    Path(folder.root, WALK).unlink()
    index.discard()
    assert not where(folder).exists()
    right = answers(index.corpus())
    assert b"walked" not in (where(folder) / "snapshot").read_bytes()
    assert answers(Index(folder).corpus()) == right
    assert places(index.corpus(), "oolong") and not places(index.corpus(), "walked")


def test_a_file_of_this_moment_may_change_unseen_and_is_read_anew(
    folder: Folder,
) -> None:
    """A coarse clock would list it with the same stats."""
    path = folder.create("facts/tick.md", "Has a cat.\n")
    place = Path(folder.absolute(path))
    index = Index(folder)
    for number in range(50):
        place.write_text(f"Has {number} cats.")
        found = place.stat()
        stats = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
        index.memory(path, stats)
        is_of_this_moment = time.time_ns() - found.st_ctime_ns < RACY_NS
        place.write_text(f"Has {number} dogs.")
        if is_of_this_moment:
            assert index.memory(path, stats).body == f"Has {number} dogs."


def test_nobody_else_may_read_the_index(folder: Folder) -> None:
    Index(folder).corpus()
    modes = {stat.S_IMODE(file.stat().st_mode) for file in where(folder).iterdir()}
    assert modes == {0o600}
    for place in (where(folder), where(folder).parent):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


_CHILD = """
import sys
from pathlib import Path
from filemem.store.folder import Folder
from filemem.index import Index
folder = Folder(sys.argv[1], "ann")
word = sys.argv[2]
print("ready", flush=True)
for number in range(int(sys.argv[3])):
    path = Path(folder.root, "facts", f"2026-05-06-{word}-{number}.md")
    path.write_text(f"zebra {word}\\n")
    assert Index(folder).corpus().frequency(word) == number + 1
"""


def _child(folder: Folder, word: str, times: int) -> "subprocess.Popen[str]":
    call = [sys.executable, "-c", _CHILD, folder.root, word, str(times)]
    return subprocess.Popen(call, stdout=subprocess.PIPE, text=True)


def test_two_processes_use_it_at_once(folder: Folder) -> None:
    children = [_child(folder, word, 30) for word in ("lion", "tiger")]
    for child in children:
        with child:
            child.communicate(timeout=60)
        assert child.returncode == 0
    corpus = Index(folder).corpus()
    words = ("zebra", "lion", "tiger")
    assert [corpus.frequency(word) for word in words] == [60, 30, 30]


def test_a_kill_at_any_moment_leaves_a_right_index(folder: Folder) -> None:
    facts = Path(folder.root, "facts")
    for number in range(5):
        with _child(folder, f"lion{number}", 10_000) as child:
            assert child.stdout and child.stdout.readline() == "ready\n"
            while len(list(facts.glob(f"*lion{number}-*"))) < 3 * number:
                pass
            child.send_signal(signal.SIGKILL)
        whole = [file for file in facts.glob("*-lion*") if file.stat().st_size]
        assert Index(folder).corpus().frequency("zebra") == len(whole)
    assert {file.name for file in where(folder).iterdir()} == {"lock", "snapshot"}
