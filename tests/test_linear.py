"""The work of a job grows with the length of a turn, a word or a session, and not with its square: four times the length takes
nowhere near sixteen times the time."""

import datetime as dt
import json
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from reader import Reader

from filemem import Store, User, jobs
from filemem.chat import CallFilter
from filemem.files.folder import Folder, StoreFolder
from filemem.files.memory import format_turn
from filemem.files.transcript import create
from filemem.importers import import_file
from filemem.overview import problems
from filemem.remembering import consolidation

AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
OLD = dt.datetime(2026, 5, 20, 9, 30, tzinfo=dt.UTC)
TOLD = (
    "I went to the market in Ghent with Tom on 3 May and bought {} apples. ",
    "My sister Anna lives in Bruges and likes tea {}. ",
    "The weather was fine all day long, said number {}. ",
)
MOST = 8  # times the work, of four times the length; quadratic work would take sixteen times as much


def english(size: int) -> list[str]:
    return ["".join(TOLD[n % 3].format(n) for n in range(size // 50))]


def chinese(size: int) -> list[str]:
    return ["".join(f"我妹妹住在布鲁日，她喜欢喝{n}杯茶。" for n in range(size // 18))]


def word(size: int) -> list[str]:
    return ["a" * size, *english(500)]


def session(size: int) -> list[str]:
    return [TOLD[n % 3].format(n) for n in range(size // 50)]


JOBS: dict[str, Callable[[Folder], object]] = {
    "compact": lambda user: jobs.compact(user, AT),
    "consolidate": lambda user: list(consolidation.run(user, AT, Reader(echo=True))),
    "search": lambda user: User(user).search_files("apples in Ghent with Anna"),
    "check": problems,
}


def spent(job: Callable[[Folder], object], said: list[str]) -> float:
    """Seconds of processor time for a job on a session of these turns."""
    with tempfile.TemporaryDirectory() as folder:
        user = Store(Path(folder)).user("mara").folder
        create(
            user,
            "talk",
            OLD,
            [*(format_turn("mara", "09:30", text) for text in said), format_turn("assistant", "09:31", "Ok.")],
        )
        before = resource.getrusage(resource.RUSAGE_SELF)
        job(user)
        after = resource.getrusage(resource.RUSAGE_SELF)
        return after.ru_utime - before.ru_utime


@pytest.mark.parametrize("told", [english, chinese, word, session], ids=lambda told: told.__name__)
@pytest.mark.parametrize("job", JOBS)
def test_the_work_grows_with_the_length(job: str, told: Callable[[int], list[str]]) -> None:
    spent(JOBS[job], told(1000))  # patterns compiled, tables read
    once = min(spent(JOBS[job], told(10_000)) for _ in range(2))
    assert any(spent(JOBS[job], told(40_000)) < MOST * once + 0.1 for _ in range(3))


def test_the_work_of_an_import_grows_with_the_tags_that_never_end(tmp_path: Path) -> None:
    def spent_on(tags: int) -> float:
        message = {"role": "user", "content": "I like tea. " + "<system-reminder>x " * tags}
        line = {"type": "user", "uuid": "u", "timestamp": "2026-05-04T12:00:00Z", "sessionId": "s", "message": message}
        file = tmp_path / f"{tags}.jsonl"
        file.write_text(json.dumps(line) + "\n", encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_SELF)
        import_file(StoreFolder(tmp_path / f"store-{tags}"), "claude-code", str(file), user="mara")
        return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before.ru_utime

    once = spent_on(4_000)
    assert spent_on(16_000) < MOST * once + 0.1


def test_the_work_of_a_search_grows_with_the_aliases_of_a_memory(tmp_path: Path) -> None:
    def spent_on(aliases: int) -> float:
        note = tmp_path / f"store-{aliases}/mara/notes/a.md"
        note.parent.mkdir(parents=True)
        note.write_text(f"---\naliases: [{', '.join(f'n{n}' for n in range(aliases))}]\n---\nTea.\n")
        before = resource.getrusage(resource.RUSAGE_SELF)
        assert Store(tmp_path / f"store-{aliases}").user("mara").search_files("tea with n7")
        return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before.ru_utime

    assert spent_on(4_000) < MOST * spent_on(1_000) + 0.1


@pytest.mark.parametrize("piece", [" ", "\t", "- ", "。", "`", "[", "{"])
def test_an_answer_that_streams_nothing_but_signs_costs_by_its_length(piece: str) -> None:
    def spent_on(pieces: int) -> float:
        screen, before = CallFilter(len), resource.getrusage(resource.RUSAGE_SELF)
        for _ in range(pieces):
            screen.feed(piece)
        return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before.ru_utime

    assert spent_on(2_000) < MOST * spent_on(500) + 0.1
