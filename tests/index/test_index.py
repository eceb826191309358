"""The index is a cache: damaged, locked, deleted or cut off, it never makes an answer wrong, and it cleans up."""

import os
import re
import signal
import stat
import struct
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

import pytest
from programs import lay

from filemem.index import Corpus, Index
from filemem.index.container import DamagedFile
from filemem.index.snapshot import Snapshot
from filemem.store import files
from filemem.store.folder import Folder
from filemem.text import terms

TURNS = "- **Ann** 09:30: I tried oolong tea.\n- **Bob** 09:31: Which oolong? [image: a tea pot]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A user with a few memories of every kind."""
    files = {
        "sessions/2026/2026-05-04-0930-tea.md": TURNS,
        "sessions/2026/2026-05-05-1000-walk.md": "- **Ann** 10:00: We walked.\n  For hours.\n",
        "facts/2026/2026-05-04-oolong.md": "---\nimportance: 7\nvalid_until: 2026-06-01\n---\n\nPrefers oolong.\n",
        "facts/2026-05-05-city.md": "---\naliases: [NYC, Big Apple]\n---\n# New York City\n\nLives there.\n",
        "archive/facts/2024-01-02-old.md": "Drank coffee.\n",
    }
    lay(tmp_path / "ann", files)
    return Folder(str(tmp_path / "ann"), "ann")


def places(corpus: Corpus, token: str) -> Counter[tuple[str, int]]:
    """Where a token stands: (path, line) -> count."""
    return Counter(
        {
            (corpus.file(number).path, corpus.lines[number]): count
            for number, count in zip(*corpus.postings(token)[:2], strict=True)
        }
    )


def answers(corpus: Corpus) -> object:
    """Everything that a corpus says of its files, but for the numbers that it gives them."""
    tokens = sorted(
        {
            *terms.tokens(TURNS),
            *terms.tokens("walked hours prefers lives new york city coffee"),
        }
    )
    held = [(token, places(corpus, token), corpus.frequency(token)) for token in tokens]
    return held, sorted(one.path for one in corpus.entries())


def test_what_ranking_asks_of_a_file(folder: Folder) -> None:
    corpus = Index(folder).corpus()
    entries = {entry.path: entry for entry in corpus.entries()}
    fact = entries["facts/2026/2026-05-04-oolong.md"]
    assert (fact.kind, fact.archived, fact.count) == ("facts", False, 1)
    assert fact.particulars == {"importance": 7, "valid_until": "2026-06-01"}
    assert entries["archive/facts/2024-01-02-old.md"].archived
    assert (corpus.files, corpus.archived, corpus.count) == (5, 1, 6)
    assert corpus.names == [("new york city", "nyc", "big apple")]
    assert corpus.near("oolonh") == ["oolong"]
    assert corpus.concept("tea") == ["[tea", "tea"]


def test_a_damaged_byte_anywhere_is_noticed(folder: Folder) -> None:
    """By the snapshot itself: a file that was changed just now is read anew, whatever the index says of it."""
    Index(folder).corpus()
    whole = Path(folder.bookkeeping("index/snapshot")).read_bytes()
    version = re.search(rb'"version":"(\w+)"', whole)[1].decode()
    for place, byte in enumerate(whole):
        for spoilt in (
            whole[:place],
            whole[:place] + bytes([byte ^ 1]) + whole[place + 1 :],
        ):
            with pytest.raises(DamagedFile):
                Snapshot.unpack(spoilt, version)


def test_another_process_that_holds_the_lock_delays_nobody_for_long(
    folder: Folder,
) -> None:
    Index(folder).corpus()
    with files.lock(folder.bookkeeping("index/lock")):
        (Path(folder.root) / "facts/2026-05-06-new.md").write_text("A zebra.\n")
        index = Index(folder)
        assert places(index.corpus(), "zebra")
        (Path(folder.root) / "facts/2026-05-07-new.md").write_text("Two zebras.\n")
        assert places(index.corpus(), "zebras") and places(index.corpus(), "zebra")
    (Path(folder.root) / "facts/2026-05-08-new.md").write_text("Three zebras.\n")
    assert len(places(index.corpus(), "zebras")) == 2
    assert len(places(Index(folder).corpus(), "zebras")) == 2


def test_a_link_in_the_place_of_the_index_is_not_followed(
    folder: Folder, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path(folder.bookkeeping("")).mkdir()
    Path(folder.bookkeeping("index")).symlink_to(tmp_path / "elsewhere")
    assert places(Index(folder).corpus(), "oolong")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_nothing_of_a_deleted_file_stays_once_discarded(folder: Folder) -> None:
    index = Index(folder)
    index.corpus()
    where = Path(folder.bookkeeping("index"))
    assert any(b"walked" in file.read_bytes() for file in where.iterdir())
    (Path(folder.root) / "sessions/2026/2026-05-05-1000-walk.md").unlink()
    index.discard()
    right = answers(index.corpus())
    assert not any(b"walked" in file.read_bytes() for file in where.iterdir())
    assert answers(Index(folder).corpus()) == right
    assert places(index.corpus(), "oolong") and not places(index.corpus(), "walked")


def test_nobody_else_may_read_the_index(folder: Folder) -> None:
    Index(folder).corpus()
    where = Path(folder.bookkeeping("index"))
    assert {stat.S_IMODE(file.stat().st_mode) for file in where.iterdir()} == {0o600}
    assert {stat.S_IMODE(place.stat().st_mode) for place in (where, where.parent)} == {
        0o700
    }


def test_what_somebody_made_up_ends_no_question(folder: Folder) -> None:
    """A snapshot whose check is right and whose postings point nowhere, a head of nested brackets, and one without an end."""
    Index(folder).corpus()
    right, where = (
        answers(Index(folder).corpus()),
        Path(folder.bookkeeping("index/snapshot")),
    )
    magic, head = where.read_bytes()[:16], where.read_bytes()[24:]
    for made_up in (
        head.replace(b"2026-05", b"2025-05"),
        b"[" * 100_000,
        b'{"version":1}',
        head + b"\xff" * 64,
    ):
        sizes = struct.pack("<II", zlib.crc32(made_up), len(made_up))
        where.write_bytes(magic + sizes + made_up)
        assert answers(Index(folder).corpus()) == right
    os.truncate(where, 1 << 33)
    assert answers(Index(folder).corpus()) == right
    assert where.stat().st_size < 1 << 20


def test_speakers_beyond_what_two_bytes_count_are_told_apart(folder: Folder) -> None:
    said = "".join(f"- **u{number}**: tea\n" for number in range(70_000))
    Path(folder.root, "sessions").mkdir(exist_ok=True)
    Path(folder.root, "sessions/2026-05-06-crowd.md").write_text(said)
    for corpus in (
        Index(folder).corpus(),
        Index(folder).corpus(),
    ):  # as read, and from the snapshot
        (crowd,) = (
            entry for entry in corpus.entries() if entry.path.endswith("crowd.md")
        )
        assert corpus.speaker_names[corpus.speakers[crowd.numbers[-1]]] == "u69999"


_CHILD = """
import sys
from pathlib import Path
from filemem.store.folder import Folder
from filemem.index import Index
folder = Folder(sys.argv[1], "ann")
print("ready", flush=True)
for number in range(int(sys.argv[3])):
    Path(folder.root, "facts", f"2026-05-06-{sys.argv[2]}-{number}.md").write_text(f"zebra {sys.argv[2]}\\n")
    assert Index(folder).corpus().frequency(sys.argv[2]) == number + 1
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
    assert (
        corpus.frequency("zebra"),
        corpus.frequency("lion"),
        corpus.frequency("tiger"),
    ) == (60, 30, 30)


def test_a_kill_at_any_moment_leaves_a_right_index(folder: Folder) -> None:
    for number in range(5):
        with _child(folder, f"lion{number}", 10_000) as child:
            assert child.stdout and child.stdout.readline() == "ready\n"
            while (
                len(list((Path(folder.root) / "facts").glob(f"*lion{number}-*")))
                < 3 * number
            ):
                pass
            child.send_signal(signal.SIGKILL)
        written = len(list((Path(folder.root) / "facts").glob("*-lion*-*.md")))
        empty = sum(
            not file.stat().st_size
            for file in (Path(folder.root) / "facts").glob("*-lion*-*.md")
        )
        assert Index(folder).corpus().frequency("zebra") == written - empty
    assert {file.name for file in Path(folder.bookkeeping("index")).iterdir()} == {
        "lock",
        "snapshot",
    }
