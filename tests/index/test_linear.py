"""The work of a job grows with the length of a turn, a word or a session, and not with its square.

Sixteen times the length takes nowhere near 256 times the time.
"""

import datetime as dt
import gc
import json
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import lay
from reader import Reader

from filemem import Store, User, jobs
from filemem.cli.output import Wrapper
from filemem.forget.plan import plan_deletion
from filemem.importers import import_file
from filemem.learn import consolidate
from filemem.overview import problems
from filemem.store.folder import Folder
from filemem.store.passages import format_turn
from filemem.store.transcript import create
from filemem.store.users import StoreFolder

AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
OLD = dt.datetime(2026, 5, 20, 9, 30, tzinfo=dt.UTC)
TOLD = (
    "I went to the market in Ghent with Tom on 3 May and bought {} apples. ",
    "My sister Anna lives in Bruges and likes tea {}. ",
    "The weather was fine all day long, said number {}. ",
)
LONGER = 16  # times, the length that is compared
MOST = (
    40  # times the work that it may take; quadratic work would take 256 times as much
)


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
    "consolidate": lambda user: list(consolidate.run(user, AT, Reader(echo=True))),
    "search": lambda user: User(user).search_files("apples in Ghent with Anna"),
    "check": lambda user: problems(user, AT.date()),
}


def grows(work: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Does the work grow with the size? `work` prepares what is measured for a size. The least of several runs counts: the
    machine and the collector, which is put off, only ever add to the processor time of a run."""

    def spent(size: int) -> float:
        run = work(size)
        gc.collect()
        gc.disable()
        try:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
            run()
            return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
        finally:
            gc.enable()

    spent(size)  # patterns compiled, tables read
    once = min(spent(size) for _ in range(3))
    return any(spent(LONGER * size) < MOST * once + 0.1 for _ in range(3))


@pytest.mark.parametrize(
    "told", [english, chinese, word, session], ids=lambda told: told.__name__
)
@pytest.mark.parametrize("job", JOBS)
def test_the_work_grows_with_the_length(
    job: str, told: Callable[[int], list[str]]
) -> None:
    def work(size: int) -> Callable[[], object]:
        user = StoreFolder(Path(tempfile.mkdtemp(dir=place))).folder("mara")
        said = [
            *(format_turn("mara", "09:30", text) for text in told(size)),
            format_turn("assistant", "09:31", "Ok."),
        ]
        create(user, "talk", OLD, said)
        return lambda: JOBS[job](user)

    with tempfile.TemporaryDirectory() as place:
        assert grows(work, 2_500)


def test_the_work_of_forgetting_grows_with_the_number_of_memories(
    tmp_path: Path,
) -> None:
    def work(size: int) -> Callable[[], object]:
        user = StoreFolder(tempfile.mkdtemp(dir=tmp_path)).folder("mara")
        lay(
            user.root,
            {
                f"facts/2026-05-{n % 28 + 1:02}-ghent-{n}.md": f"Ghent, {n}.\n"
                for n in range(size)
            },
        )
        return lambda: plan_deletion(user, about="Ghent")

    assert grows(work, 300)


def test_the_work_of_an_import_grows_with_the_tags_that_never_end(
    tmp_path: Path,
) -> None:
    def work(tags: int) -> Callable[[], object]:
        message = {
            "role": "user",
            "content": "I like tea. " + "<system-reminder>x " * tags,
        }
        line = {
            "type": "user",
            "uuid": "u",
            "timestamp": "2026-05-04T12:00:00Z",
            "sessionId": "s",
            "message": message,
        }
        file = tmp_path / f"{tags}.jsonl"
        store = StoreFolder(tempfile.mkdtemp(dir=tmp_path))
        mara = store.folder("mara")
        file.write_text(json.dumps(line) + "\n", encoding="utf-8")
        return lambda: import_file(mara, "claude-code", str(file))

    assert grows(work, 1_000)


def test_the_work_of_a_search_grows_with_the_aliases_of_a_memory(
    tmp_path: Path,
) -> None:
    def work(aliases: int) -> Callable[[], object]:
        store = Path(tempfile.mkdtemp(dir=tmp_path))
        lay(
            store,
            {
                "mara/notes/a.md": f"---\naliases: [{', '.join(f'n{n}' for n in range(aliases))}]\n---\nTea.\n"
            },
        )
        return lambda: Store(store).user("mara").search_files("tea with n7")[0]

    assert grows(work, 250)


@pytest.mark.parametrize("piece", [" ", "\t", "- ", "。", "`", "[", "{", "a" * 40])
def test_an_answer_that_streams_nothing_but_signs_costs_by_its_length(
    piece: str,
) -> None:
    def work(pieces: int) -> Callable[[], object]:
        screen = Wrapper()
        return lambda: [screen.feed(piece) for _ in range(pieces)]

    # So many that even the fewer hold back as much as is ever held back.
    assert grows(work, 600)
