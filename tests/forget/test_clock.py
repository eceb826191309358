"""The clock of fading runs on the days on which a person uses their memory, and a sweep
never archives much at once without a yes."""

import datetime as dt
import json
from pathlib import Path

import pytest
from programs import clean, filemem, lay
from terminal import Terminal

from filemem import Store, User, jobs, overview
from filemem.store import recalls
from filemem.store.usage import days_of_use

BEGAN = dt.date(2026, 1, 1)
EVENT = "---\nkind: event\n---\nHad tea.\n"
STANDING = "---\nsource: sessions/x.md:1\n---\nRows on Mondays.\n"


@pytest.fixture
def ann(tmp_path: Path) -> User:
    return Store(tmp_path / "store").user("ann")


def day(number: int) -> dt.date:
    return BEGAN + dt.timedelta(number)


def used(user: User, *numbers: int) -> None:
    """Have the person have talked on some days."""
    days = "".join(f'{{"day": "{day(number)}"}}\n' for number in numbers)
    lay(user._folder.root, {".filemem/days.log": days})


def swept(user: User, number: int, **how: object) -> dict[str, list[str]]:
    at = dt.datetime.combine(day(number), dt.time(3))
    facts: dict[str, list[str]] = jobs.sweep(user._folder, at, **how).facts  # type: ignore[arg-type]
    return facts


def events(count: int, number: int = 0) -> dict[str, str]:
    """Events of some days in a row."""
    names = (f"facts/2026/{day(number + one)}-{one}.md" for one in range(count))
    return dict.fromkeys(names, EVENT)


def run(user: User, *words: str) -> str:
    where = ("--store", user._folder.store, "--user", "ann")
    return filemem(*words, *where, env=clean()).stdout


def test_nothing_fades_while_nobody_talks(ann: User) -> None:
    """Eight months later the events of a month are as they were a week after it."""
    lay(ann._folder.root, events(30))
    used(ann, *range(30))
    for later in (37, 270, 3000):
        assert swept(ann, later)["archived"] == []
    used(ann, *range(250))
    assert (
        "facts/2026/2026-01-01-0.md"
        in swept(ann, 250, large=jobs.Large.ALL)["archived"]
    )


def test_in_a_store_of_before_every_day_counts_until_its_first_day_of_use(
    ann: User,
) -> None:
    lay(ann._folder.root, {"facts/2026-01-01-x.md": EVENT})
    used(ann, 200)
    assert swept(ann, 207)["archived"] == []
    assert swept(ann, 3000)["archived"] == []
    used(ann, 201, 205, 208)
    assert swept(ann, 208)["archived"] == ["facts/2026-01-01-x.md"]


def test_a_days_use_is_noted_once(ann: User, tmp_path: Path) -> None:
    """A turn, a remembered fact, a search of their own at a terminal."""
    run(ann, "chat", "-m", "I row.", "--today", "2026-03-01T09:30", "--new")
    run(ann, "chat", "-m", "I ski.", "--today", "2026-03-01T10:30")
    ann.remember("Likes tea.", today=day(60))
    assert days_of_use(ann._folder) == {day(59), day(60)}
    words = ["filemem", "grep", "tea", "--store", ann._folder.store]
    with Terminal(words, clean(), str(tmp_path)) as term:
        term.expect("Likes tea")
        assert term.end() == 0
    ann.add_conversation([{"role": "user", "content": "I dive."}], id="now")
    log = Path(ann._folder.bookkeeping("days.log")).read_text()
    assert len(log.splitlines()) == 3


def test_what_is_no_use(ann: User, tmp_path: Path) -> None:
    """Jobs, searches of a script, the past days of an import, what an assistant says.

    Nor what is said off the record.
    """
    lay(ann._folder.root, {"facts/2026-01-01-x.md": EVENT})
    said = {"role": "user", "content": "I row.", "created_at": "2026-02-01T09:00:00"}
    lay(tmp_path, {"old.jsonl": json.dumps({"messages": [said]}) + "\n"})
    run(ann, "import", "openai-jsonl", str(tmp_path / "old.jsonl"))
    assert ann._folder.paths()[1:], "it was imported"
    for words in ("maintain --today 2026-03-02", "search tea", "status"):
        run(ann, *words.split())
    run(ann, "chat", "-m", "I dive.", "--off-the-record")
    answer = {"role": "assistant", "content": "You row."}
    ann.add_conversation([answer], id="machine")
    assert days_of_use(ann._folder) == set()


def test_a_file_that_a_job_finds_changed_is_a_use_of_that_day(ann: User) -> None:
    """Once, and none of what was there before, or is the program's."""
    lay(ann._folder.root, {"notes/a.md": "Tea.\n"})
    ann.remember("Likes tea.", today=day(0))
    swept(ann, 1)
    ann.remember("Likes rum.", today=day(2))
    swept(ann, 3)
    assert days_of_use(ann._folder) == {day(0), day(2)}
    lay(ann._folder.root, {"notes/a.md": "Tea, and cake.\n"})
    swept(ann, 9)
    swept(ann, 10)
    assert days_of_use(ann._folder) == {day(0), day(2), day(9)}


def test_of_the_profile_what_the_person_wrote_is_a_use(ann: User) -> None:
    """The program's block is none, nor the heading over it."""
    lay(ann._folder.root, {"notes/a.md": "Tea.\n"})
    swept(ann, 1)
    block = """# Ann

<!-- filemem -->
- Likes {}. <!-- facts/x.md -->
<!-- /filemem -->
"""
    lay(ann._folder.root, {"profile.md": block.format("tea")})
    swept(ann, 2)
    lay(ann._folder.root, {"profile.md": block.format("rum")})
    swept(ann, 3)
    assert days_of_use(ann._folder) == set()
    own = f"{block}\nI row.\n"
    lay(ann._folder.root, {"profile.md": own})
    swept(ann, 4)
    assert days_of_use(ann._folder) == {day(4)}


def test_notes_that_were_imported_are_no_use(ann: User, tmp_path: Path) -> None:
    """Until the person changes one.

    What lay there before counts as seen.
    """
    lay(ann._folder.root, {"notes/a.md": "Tea.\n"})
    swept(ann, 1)
    lay(tmp_path / "vault", {"2020-01-01.md": "Rum.\n"})
    run(ann, "import", "markdown", str(tmp_path / "vault"))
    assert ann._folder.paths()[1:], "it was imported"
    swept(ann, 2)
    assert days_of_use(ann._folder) == set()
    lay(ann._folder.root, {ann._folder.paths("notes")[0]: "Rum, and cake.\n"})
    swept(ann, 3)
    assert days_of_use(ann._folder) == {day(3)}


def test_what_a_hook_takes_in_days_later_was_said_on_its_own_days(ann: User) -> None:
    then = dt.datetime.now() - dt.timedelta(3)
    said = {"role": "user", "content": "I row.", "created_at": then.isoformat()}
    ann.add_conversation([said], id="late")
    assert days_of_use(ann._folder) == {then.date()}


def test_a_memory_fades_from_the_day_on_which_it_came(ann: User) -> None:
    """Ten years that were imported do not fade at the first sweep.

    Nor later where nobody ever talks.
    """
    old = dt.date(2016, 5, 1)
    ann.remember("Had tea.", importance=3, today=dt.date(2026, 3, 1))
    [path] = ann._folder.paths()
    dated = path.replace("2026-03-01", f"{old}").replace("/2026/", "/2016/")
    ann._folder.move({path: dated})
    log = Path(ann._folder.bookkeeping("consolidated.jsonl"))
    log.write_text(log.read_text().replace(path, dated))
    Path(ann._folder.bookkeeping("days.log")).unlink()
    assert swept(ann, 60 + 3000)["archived"] == [], "nobody has talked since"
    used(ann, *range(60, 200))
    assert swept(ann, 60)["archived"] == []
    assert swept(ann, 60 + 125)["archived"] == [dated]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("The regatta is from 5 to 7 December 2026.", "2026-12-07"),
        ("In Rome in November 2026.", "2026-11-30"),
        ("2026年12月3日到5日在上海出差。", "2026-12-05"),
    ],
)
def test_a_plan_fades_from_the_last_day_that_it_names(
    ann: User, text: str, last: str
) -> None:
    """Even a trifle is not archived before its day."""
    told = ann.remember(text, importance=1, today=BEGAN)
    used(ann, *range(365))
    assert f"It fades from {last}" in run(ann, "status", told.path)
    assert swept(ann, 330)["archived"] == []


def test_standing_facts_fade_eight_times_as_slowly_and_what_you_said_never(
    ann: User,
) -> None:
    """Without a recall a fact of a talk is archived after 1,658 days of use."""
    facts = {
        "facts/2026-01-01-told.md": STANDING,
        "facts/2026-01-01-weighty.md": STANDING.replace(
            "---\n", "---\nimportance: 9\n", 1
        ),
        "facts/2026-01-01-mine.md": "Rows on Mondays.\n",
    }
    lay(ann._folder.root, facts)
    ann.remember("Never fades.", importance=5, today=BEGAN)
    used(ann, *range(1660))
    assert swept(ann, 1657)["archived"] == []
    assert swept(ann, 1658)["archived"] == ["facts/2026-01-01-told.md"]
    ann.tools().call("open", {"path": "facts/2026-01-01-told.md"})


# -- much at once ----------------------------------------------------------------------


def test_a_large_sweep_waits_for_a_yes(ann: User) -> None:
    """Twenty are never many. `status` says how many wait, until they are archived."""
    lay(ann._folder.root, events(20))
    assert len(swept(ann, 400)["archived"]) == 20
    lay(ann._folder.root, events(60, 20))
    at = ("--today", "2026-12-31")
    said = run(ann, "sweep", *at)
    waits = "60 faded facts wait for your yes: filemem sweep --yes"
    assert waits in said and "Archived" not in said
    assert waits in run(ann, "status", *at)
    assert run(ann, "sweep", "--yes", *at).count("Archived") == 60
    assert "wait for your yes" not in run(ann, "status", *at)


def test_a_large_sweep_of_what_has_ended_waits_too_and_a_small_one_never(
    ann: User,
) -> None:
    """However many were archived of late."""
    at = ("--today", "2026-12-31")
    ended = "---\nvalid_until: 2026-06-30\n---\nRows.\n"
    names = (f"facts/2026/2026-05-01-{number}.md" for number in range(60))
    lay(ann._folder.root, dict.fromkeys(names, ended))
    assert "60 faded facts wait for your yes" in run(ann, "sweep", *at)
    assert run(ann, "sweep", "--yes", *at).count("Archived") == 60
    lay(ann._folder.root, events(25))
    assert run(ann, "sweep", "--yes", *at).count("Archived") == 25
    lay(ann._folder.root, events(5, 90))
    assert run(ann, "sweep", *at).count("Archived") == 5


def test_the_next_chat_says_how_many_wait(ann: User) -> None:
    lay(ann._folder.root, events(60))
    swept(ann, 400)
    command = ["filemem", "chat", "--store", ann._folder.store]
    with Terminal(command, clean(), ann._folder.store) as term:
        term.expect("60 faded facts wait for your yes: filemem sweep --yes")


def test_a_night_archives_the_fifth_that_faded_longest_ago(ann: User) -> None:
    """And no more within thirty days, however many nights there are."""
    lay(ann._folder.root, events(150))
    for number, expected in ((400, 30), (401, 0), (420, 0), (431, 24)):
        at = dt.datetime.combine(day(number), dt.time(3))
        before = len(ann._folder.paths())
        done = jobs.maintain(ann._folder, at, None)
        [sweep] = [one for one in done if one.job == "sweep"]
        assert len(sweep.facts["archived"]) == expected, number
        assert len(ann._folder.paths()) == before
        first = sorted(events(150))[0]
        assert number > 400 or first in sweep.facts["archived"]


# -- too soon --------------------------------------------------------------------------


def test_status_tells_what_came_out_of_the_archive_and_what_would_have_kept_it(
    ann: User,
) -> None:
    lay(ann._folder.root, events(10))
    paths = sorted(events(10))
    swept(ann, 300)
    at = dt.datetime.combine(day(400), dt.time(9))
    for path in paths[:2]:
        recalls.note_recall(ann._folder, path, recalls.How.OPENED, at)
        recalls.note_recall(ann._folder, path, recalls.How.CITED, at)
    said = "\n".join(overview.status(ann._folder, at).said)
    assert "Of 4 recalls in 90 days 2 came out of the archive" in said
    assert "stability_days: 180 would have kept them" in said
    lay(ann._folder.store, {"filemem.yaml": "stability_days: 180\n"})
    for path in paths[:2]:
        ann._folder.move({f"archive/{path}": path})
    again = Store(ann._folder.store).user("ann")
    assert not set(paths[:2]) & set(swept(again, 399)["archived"])


def test_no_stability_is_advised_that_would_not_have_kept_them(ann: User) -> None:
    trifle = "facts/2016-01-01-x.md"
    text = STANDING.replace("---\n", "---\nimportance: 1\n", 1)
    lay(ann._folder.root, {trifle: text})
    began = (dt.date(2016, 1, 1) - BEGAN).days
    used(ann, *range(began, began + 3700))
    assert swept(ann, began + 300)["archived"] == [trifle]
    at = dt.datetime.combine(day(began + 3650), dt.time(9))
    recalls.note_recall(ann._folder, trifle, recalls.How.OPENED, at)
    said = "\n".join(overview.status(ann._folder, at).said)
    assert "1 came out of the archive." in said
