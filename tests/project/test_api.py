"""What a program gets from `import filemem`."""

import datetime as dt
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage
from programs import lay
from reader import Reader, note

import filemem
from filemem import Busy, Decision, FilememError, NotFound, Refused, Store, User

AT = dt.datetime(2026, 5, 4, 9, 30).astimezone()
ROOT = Path(__file__).parents[2]
PUBLIC = """
    Busy Changed ConfigError Conversation Decision FilememError GitError Hit Match
    Memory ModelError NotFound Notice Problem Refused Store Text ToolCalled Toolbox User
""".split()


@pytest.fixture
def nora(tmp_path: Path) -> User:
    return Store(tmp_path).user("nora")


def said(*texts: str) -> list[dict[str, str]]:
    """Return messages of a person and an assistant in turn."""
    roles = itertools.cycle(("user", "assistant"))
    return [{"role": next(roles), "content": text} for text in texts]


def test_what_is_public_is_listed_documented_and_has_a_docstring() -> None:
    assert sorted(filemem.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(filemem, name).__doc__, name
        assert name in MANUAL, name
    methods = {name for name in vars(User) if name[0] != "_"} - {"name"}
    assert not {name for name in methods if f"user.{name}" not in MANUAL}


def test_a_conversation_is_kept_once_and_grows(nora: User) -> None:
    """By its words where it has no id, given whole again or with more turns."""
    first = said("Hello!", "Hello, Nora.", "I keep bees.")
    path = nora.add_conversation(first, at=AT)
    assert path == "sessions/2026/2026-05-04-0930-hello.md"
    later = AT + dt.timedelta(days=3)
    assert nora.add_conversation(first, at=later) == path
    assert nora.add_conversation([*first, *said("Three hives.")], at=AT) == path
    text = nora.open_file(path).text
    assert text.count("I keep bees.") == text.count("Three hives.") == 1
    other = nora.add_conversation(said("Hello!", "Hi.", "I sold the boat."), at=AT)
    assert other != path and "boat" not in nora.open_file(path).text
    named = nora.add_conversation(said("Hello!"), at=AT, id="thread-7", title="Bees")
    assert named not in (path, other)
    assert nora.add_conversation(said("Hello!", "Yes?"), at=AT, id="thread-7") == named
    assert nora.add_conversation([{"role": "system", "content": "Brief."}]) == ""
    secret = said("My password is Hagelslag-9-tram, keep it safe.")
    assert "Hagelslag" not in nora.open_file(nora.add_conversation(secret)).text
    daily = set()
    for day, last in enumerate(("One.", "Two.", "Three.")):
        talk = said("Morning!", "Hi.", last)
        daily.add(nora.add_conversation(talk, at=AT + dt.timedelta(days=day)))
    assert len(daily) == 3
    os.remove(nora.folder.absolute(path))
    with pytest.raises(Refused, match="deleted since; it stays deleted"):
        nora.add_conversation(first, at=AT)


def test_what_is_added_to_a_file_of_another_encoding_goes_beside_it(nora: User) -> None:
    """It is never rewritten, and nothing is added twice."""
    talk = said("Hello!", "Hello, Nora.", "I keep bees.")
    place = Path(nora.folder.absolute(nora.add_conversation(talk, at=AT)))
    saved = place.read_text().encode("utf-16")
    place.write_bytes(saved)
    for _ in range(2):
        more = nora.add_conversation([*talk, *said("The honey is sweet.")], at=AT)
        turns = nora.open_file(more).passages
        assert [turn.text for turn in turns] == ["The honey is sweet."]
    assert place.read_bytes() == saved


def test_a_message_is_a_mapping_or_what_openai_s_client_answers(nora: User) -> None:
    asked = {
        "id": "1",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city": "Ghent"}'},
    }
    reply: Any = ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [asked]}
    )
    answer = {"role": "tool", "tool_call_id": "1", "content": "rain"}
    path = nora.add_conversation([*said("Will it rain?"), reply, answer], at=AT.date())
    assert path.endswith("2026-05-04-0000-will-it-rain.md")
    assert 'weather {"city": "Ghent"}: rain' in nora.open_file(Path(path)).text
    for day in (AT, AT.date(), "2026-05-04"):
        assert nora.search_files("rain", after=day, before=day)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda user: user.add_conversation("hello"), "is no message; give a mapping"),
        (lambda user: user.add_conversation([None]), "is no message; give a mapping"),
        (lambda user: user.add_conversation(said("Hi.")[0]), "is no message; give a"),
        (lambda user: user.maintain("2026-05-04"), "is no date; give"),
        (lambda user: user.remember("Tea.", today="2026-05-04"), "is no date; give"),
        (lambda user: user.search_files("tea", limit=0), "is a whole number from 1"),
        (lambda user: user.search_files("tea", limit="3"), "is a whole number from 1"),
        (lambda user: user.conversation().say(" \n"), "the message is empty"),
        (lambda user: user.forget(), "name either a memory's path or what"),
    ],
)
def test_what_means_nothing_is_refused_in_a_sentence(
    nora: User, call: Callable[[User], object], sentence: str
) -> None:
    with pytest.raises(FilememError, match=sentence):
        call(nora)
    assert nora.folder.paths() == []


def test_facts_come_from_what_was_said_and_answer(nora: User) -> None:
    nora.add_conversation(said("I'm allergic to walnuts, properly so."), at=AT)
    assert nora.consolidate(at=AT) == [], "without a model it waits"
    fact = "Nora is allergic to [[walnuts]]."
    reader = Reader(note(fact, "allergic to walnuts", section="health"))
    [change] = nora.consolidate(reader, at=AT)
    assert isinstance(change, Decision) and change.action == "ADD"
    assert change.claim.text == fact and fact in nora.open_file(change.path).text
    assert nora.consolidate(reader, at=AT) == []
    assert "walnuts" in nora.profile


def test_forgetting_deletes_by_path_and_by_words(nora: User) -> None:
    tea = nora.remember("Prefers oolong tea.", today=AT.date())
    path = "facts/2026/2026-05-04-prefers-oolong-tea.md"
    assert repr(tea) == f"<Memory {path}: Prefers oolong tea.>"
    boat = nora.remember("Has a boat called Ravn.", tags="sea").path
    assert nora.open_file(boat).front["tags"] == ["sea"], "one tag, not its letters"
    assert nora.forget(path) == [path]
    assert nora.forget(about="Ravn") == [boat]
    for wrong in ({"about": "Ravn"}, {"path": path}):
        with pytest.raises(NotFound):
            nora.forget(**wrong)


@pytest.mark.parametrize(
    "words", ["是3.5毫克 是35毫克", "Owes-5 Owes5", "C++ C#", "1/2 12", "👍 🎂"]
)
def test_a_fact_is_known_already_only_with_the_same_numbers_and_signs(
    nora: User, words: str
) -> None:
    one, other = words.split()
    paths = [nora.remember(text).path for text in (one, other, f"{other}.".upper())]
    assert paths[0] != paths[1] == paths[2]


def test_jobs_wait_for_no_other(nora: User) -> None:
    nora.remember("Keeps bees.", today=AT.date())
    jobs = [done.job for done in nora.maintain(AT.date())]
    assert jobs == ["consolidate", "compact", "sweep", "tidy"]
    with Store(nora.folder.store).user("nora").folder.job_lock(), pytest.raises(Busy):
        nora.maintain(AT.date())


def test_a_store_serves_many_threads(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def work(number: int) -> str:
        user = store.user("nora")
        path = user.remember(f"Owns the boat number {number}{number}.").path
        assert user.search_files("boat")
        return path

    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(work, range(8)))
    assert store.user("nora") is store.user("nora")
    assert sorted(store.user("nora").folder.paths()) == sorted({*kept})


MANUAL = (ROOT / "docs/python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(?ms)^```python\n(.*?)^```$", MANUAL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_manual_runs(tmp_path: Path, number: int) -> None:
    """Each Python block of docs/python.md, as a program beside two memories."""
    facts = {
        "2026-01-02-tea.md": "Mara likes oolong tea.\n",
        "2026-01-02-birthday.md": "外婆的生日是腊月初八。\n",
    }
    lay(tmp_path / "memory_store/mara/facts/2026", facts)
    done = subprocess.run(
        [sys.executable, "-c", BLOCKS[number]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    if number:
        assert all(f"{name}:1" in done.stdout for name in facts)
