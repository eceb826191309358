"""A memory kept from the last question is never shown once its file has changed, and not many are kept."""

import os
from pathlib import Path

import pytest

from filemem import Store, User, index
from filemem.index import memory_cache
from filemem.index.memory_cache import MemoryCache

OLD = 1_700_000_000_000_000_000  # nanoseconds: long ago
PATH = "sessions/2026-05-04-tea.md"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    where = tmp_path / "ann" / PATH
    where.parent.mkdir(parents=True)
    where.write_text("- **Ann** 09:00: The kettle is red.\n")
    os.utime(where, ns=(OLD, OLD))
    return Store(tmp_path)


def test_an_edit_that_keeps_size_and_time_is_shown(store: Store, tmp_path: Path) -> None:
    user = store.user("ann").folder
    for colour in ("red", "tan", "red", "sky"):
        where = tmp_path / "ann" / PATH
        where.write_text(f"- **Ann** 09:00: The kettle is {colour}.\n")
        os.utime(where, ns=(OLD, OLD))
        for _ in range(3):
            assert [hit.text for hit in User(user).search_files("kettle")] == [f"The kettle is {colour}."]


def test_what_changed_a_moment_ago_is_read_again(store: Store) -> None:
    user, kept = store.user("ann").folder, MemoryCache()
    found = user.root + "/" + PATH
    stats = (OLD, os.stat(found).st_ctime_ns, os.stat(found).st_size, os.stat(found).st_ino)
    assert kept.memory(user, PATH, stats) is not kept.memory(user, PATH, stats)
    settled = (OLD, OLD, *stats[2:])
    assert kept.memory(user, PATH, settled) is kept.memory(user, PATH, settled)
    assert kept.memory(user, PATH, (OLD, OLD + 1, *stats[2:])) is not kept.memory(user, PATH, settled)


def test_the_files_used_last_are_kept_up_to_a_size(store: Store, tmp_path: Path) -> None:
    user, kept = store.user("ann").folder, MemoryCache()
    size = memory_cache.MOST // 3 - 10

    def asked(name: str) -> object:
        where = tmp_path / "ann" / name
        if not where.exists():
            where.write_text("x" * size)
        return kept.memory(user, name, (OLD, OLD, size, 1))

    first, second, _ = asked("a.md"), asked("b.md"), asked("c.md")
    assert asked("a.md") is first
    asked("d.md")
    assert asked("a.md") is first
    assert asked("b.md") is not second


def test_after_the_cache_is_discarded_every_file_is_found_again(store: Store) -> None:
    """Also where the folders are watched, as they are from the second question on, and one has changed since."""
    user = store.user("ann")
    user.folder.create("facts/2026/2026-01-02-lamp.md", "The lamp is green.\n")
    for _ in range(3):
        assert user.search_files("kettle") and user.search_files("lamp")
    index.of(user.folder).discard()
    user.folder.create("facts/2026/2026-01-03-chair.md", "The chair is blue.\n")
    assert user.search_files("kettle") and user.search_files("lamp") and user.search_files("chair")
