"""A store that an older filemem wrote, with its bookkeeping and its history in git, is read, searched, summarised and restored.

old_store.tar.gz was made by the commands of filemem as it was before its bookkeeping was made simpler: two talks, two facts that
were asked for, a conversation that was imported, what consolidation made of them, a summary, a recall from the archive, a wish to
forget that waits for its yes, an undo, and a temporary file of a write that was cut off.
"""

import tarfile
from pathlib import Path

import pytest
from programs import clean, filemem

PACKED = Path(__file__).parents[1] / "support/old_store.tar.gz"
SESSION = "archive/sessions/2026/2026-03-02-0930-i-live-in-porto-and-work-as-a-cellist-in-the-city.md"
EXPORT = (
    '{"messages": [{"role": "user", "timestamp": "2026-04-05T19:00:00", "content": "My cat is called Bento."}, '
    '{"role": "assistant", "timestamp": "2026-04-05T19:01:00", "content": "A lovely name."}]}\n'
)


class Old:
    """The store, unpacked, and commands in it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        with tarfile.open(PACKED) as packed:
            packed.extractall(place, filter="data")
        self.mara = place / "old_store/mara"

    def __call__(self, *words: str) -> str:
        env = clean(self.place, TZ="UTC", GIT_CONFIG_GLOBAL="/dev/null")
        done = filemem(
            "--store",
            "old_store",
            "--today",
            "2027-06-01",
            *words,
            cwd=self.place,
            env=env,
        )
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    def texts(self) -> dict[str, bytes]:
        """Every memory by its name, wherever it lies."""
        found = (
            path for path in self.mara.rglob("*.md") if ".filemem" not in path.parts
        )
        return {path.name: path.read_bytes() for path in found}


@pytest.fixture
def old(tmp_path: Path) -> Old:
    return Old(tmp_path)


def test_it_is_read_and_searched(old: Old) -> None:
    assert "allergic to hazelnuts" in old("search", "What is Mara allergic to?")
    assert "上海" in old("search", "妹妹住在哪里")
    assert "2026-03-02-0930" in old("grep", "cellist in the city", "--json-lines")
    assert "240 euros" in old("call", "grep", '{"pattern": "euros"}')
    assert "cellist" in old("open", SESSION)
    assert "Remember: Mara is allergic to hazelnuts." in old("log")


def test_what_was_done_is_not_done_again(old: Old) -> None:
    """Neither consolidated, nor summarised, nor imported a second time. A conversation of
    which all was hidden is summarised now."""
    before = old.texts()
    (old.place / "export.jsonl").write_text(EXPORT)
    assert "0 added" in old("import", "openai-jsonl", "export.jsonl")
    old("compact")
    after = old.texts()
    assert after.keys() - before.keys() == {"2026-06-conversations.md"}
    assert before.items() <= after.items()


def test_jobs_go_on_from_its_records(old: Old) -> None:
    """What was opened in the archive comes back, as the log of recalls says; nothing is lost by any job."""
    before = old.texts()
    old("maintain")
    assert (old.mara / SESSION.removeprefix("archive/")).exists()
    assert {
        item for item in before.items() if item[0][:2] == "20"
    } <= old.texts().items()


def test_it_is_restored_and_undone(old: Old) -> None:
    before = (old.mara / SESSION).read_bytes()
    assert old("restore", SESSION).startswith("Restored ")
    assert (old.mara / SESSION.removeprefix("archive/")).read_bytes() == before
    old("remember", "Mara plays chess.")
    assert "plays chess" in old("search", "chess")
    old("undo")
    assert "plays chess" not in old("search", "chess")
