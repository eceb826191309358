"""What a program gets from `import filemem`: the names that are public, conversations kept once, facts, recall, jobs."""

import datetime as dt
import os
import re
import subprocess
import sys
import threading
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
    Busy Changed ConfigError Conversation Decision FilememError GitError Hit Match Memory ModelError NotFound Notice
    Problem Refused Store Text ToolCalled Toolbox User
""".split()


@pytest.fixture
def nora(tmp_path: Path) -> User:
    return Store(tmp_path).user("nora")


def said(*texts: str) -> list[dict[str, str]]:
    """Messages of a person and an assistant in turn."""
    return [
        {"role": ("user", "assistant")[n % 2], "content": text}
        for n, text in enumerate(texts)
    ]


def test_what_is_public_is_listed_documented_and_has_a_docstring() -> None:
    assert filemem.__all__ == PUBLIC
    manual = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    for name in PUBLIC:
        assert getattr(filemem, name).__doc__, name
        assert name in manual, name
    methods = {name for name in vars(User) if name[0] != "_"} - {"name"}
    assert not {name for name in methods if f"user.{name}" not in manual}
    with pytest.raises(AttributeError, match="no attribute 'Recall'"):
        filemem.Recall  # noqa: B018


def test_a_conversation_is_kept_once_and_grows(nora: User) -> None:
    """By its words where it has no id, whether it is given whole again or with more turns; by its id where it has one."""
    first = said("Hello!", "Hello, Nora.", "I keep bees.")
    secret = nora.add_conversation(
        said("My password is Hagelslag-9-tram, keep it safe."), at=AT
    )
    assert "Hagelslag" not in nora.open_file(secret).text
    path = nora.add_conversation(first, at=AT)
    assert re.fullmatch(r"sessions/2026/2026-05-04-0930-hello\.md", path)
    assert nora.add_conversation(first, at=AT + dt.timedelta(days=3)) == path
    assert nora.add_conversation([*first, *said("Three hives.")], at=AT) == path
    text = nora.open_file(path).text
    assert text.count("I keep bees.") == text.count("Three hives.") == 1
    grown = [*first, *said("Three hives.")]
    place = Path(nora.folder.absolute(path))
    saved = text.encode("utf-16")  # by an editor; it is never rewritten
    place.write_bytes(saved)
    grown += said("The honey is sweet.")
    for _ in range(2):
        more = nora.add_conversation(grown, at=AT)
        turns = nora.open_file(more).passages
        assert [turn.text for turn in turns] == ["The honey is sweet."]
    assert place.read_bytes() == saved
    place.write_text(text)
    other = nora.add_conversation(said("Hello!", "Hi.", "I sold the boat."), at=AT)
    assert other != path and "boat" not in nora.open_file(path).text
    named = nora.add_conversation(said("Hello!"), at=AT, id="thread-7", title="Bees")
    assert named not in (path, other)
    assert nora.add_conversation(said("Hello!", "Yes?"), at=AT, id="thread-7") == named
    assert (
        nora.add_conversation([{"role": "system", "content": "Be brief."}], at=AT) == ""
    )
    days = [AT + dt.timedelta(days=number) for number in (7, 8, 9)]
    daily = [
        nora.add_conversation(said("Morning!", "Hi.", last), at=at)
        for at, last in zip(days, " AB", strict=True)
    ]
    assert len({*daily}) == 3
    for gone in (path, more):
        os.remove(os.path.join(nora.folder.root, gone))
    with pytest.raises(Refused, match="deleted since; it stays deleted"):
        nora.add_conversation(first, at=AT)


def test_a_message_is_a_mapping_or_what_openai_s_client_answers_and_a_day_is_a_date(
    nora: User,
) -> None:
    """What is neither is refused in a sentence, and nothing of it kept."""
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
    assert 'weather {"city": "Ghent"}: rain' in nora.open_file(path).text
    wrong: Any
    for wrong in (
        "hello",
        ["hello"],
        [None],
        [{"role": "user", "content": 5}],
        said("Hello!")[0],
    ):
        with pytest.raises(FilememError, match="is no message; give a mapping"):
            nora.add_conversation(wrong)
    wrong = "2026-05-04"
    for call in (
        nora.maintain,
        lambda day: nora.consolidate(at=day),
        lambda day: nora.remember("Tea.", today=day),
    ):
        with pytest.raises(FilememError, match="is no date; give"):
            call(wrong)
    assert nora.folder.paths() == [path] and nora.open_file(Path(path)).path == path
    assert all(
        nora.search_files("rain", after=day, before=day)
        for day in (AT, AT.date(), "2026-05-04")
    )
    for wrong in (0, -1, "3"):
        with pytest.raises(FilememError, match="limit is a whole number from 1"):
            nora.search_files("rain", limit=wrong)


def test_facts_come_from_what_was_said_and_answer(nora: User) -> None:
    nora.add_conversation(
        said("I'm allergic to walnuts, properly so.", "Noted."), at=AT
    )
    with pytest.raises(FilememError, match="message is empty"):
        nora.conversation().say(" \n")
    assert nora.consolidate(at=AT) == [], "without a model it waits"
    reader = Reader(
        note(
            "Nora is allergic to [[walnuts]].", "allergic to walnuts", section="health"
        )
    )
    changes = nora.consolidate(reader, at=AT)
    assert [(one.action, one.claim.text) for one in changes] == [
        ("ADD", "Nora is allergic to [[walnuts]].")
    ]
    assert (
        isinstance(changes[0], Decision)
        and "walnuts" in nora.open_file(changes[0].path).text
    )
    assert nora.consolidate(reader, at=AT) == []
    assert "walnuts" in nora.profile


def test_forgetting_deletes_by_path_and_by_words(nora: User) -> None:
    memory = nora.remember("Prefers oolong tea.", today=AT.date())
    assert (
        repr(memory)
        == "<Memory facts/2026/2026-05-04-prefers-oolong-tea.md: Prefers oolong tea.>"
    )
    tea = memory.path
    boat = nora.remember("Has a boat called Ravn.", today=AT.date(), tags="sea").path
    assert nora.open_file(boat).front["tags"] == ["sea"], (
        "one tag is one, not its letters"
    )
    assert nora.forget(tea) == [tea]
    assert nora.forget(about="Ravn") == [boat]
    for wrong in ({"about": "Ravn"}, {"path": tea}):
        with pytest.raises(NotFound):
            nora.forget(**wrong)
    with pytest.raises(FilememError, match="either"):
        nora.forget()


@pytest.mark.parametrize(
    "said",
    [
        "剂量是3.5毫克 剂量是35毫克",
        "Owes-5 Owes5",
        "C++ C#",
        "1/2 12",
        "👍 🎂",
        "[a] [b]",
    ],
)
def test_a_fact_is_known_already_only_with_the_same_numbers_and_signs(
    nora: User, said: str
) -> None:
    one, other = (nora.remember(text, today=AT.date()).path for text in said.split())
    assert (
        one
        != other
        == nora.remember(f"{said.split()[1]}.".upper(), today=AT.date()).path
    )


def test_jobs_wait_for_no_other(nora: User) -> None:
    nora.remember("Keeps bees.", today=AT.date())
    assert [done.job for done in nora.maintain(AT.date())] == [
        "consolidate",
        "compact",
        "sweep",
        "tidy",
    ]
    with Store(nora.folder.store).user("nora").folder.job_lock(), pytest.raises(Busy):
        nora.maintain(AT.date())


def test_a_store_serves_many_threads(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        kept: list[str] = []

        def work(number: int) -> None:
            user = store.user("nora")
            kept.append(
                user.remember(
                    f"Owns the boat number {number}{number}.", today=AT.date()
                ).path
            )
            assert user.search_files("boat")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(kept)) == 8 and store.user("nora") is store.user("nora")
        assert sorted(store.user("nora").folder.paths()) == sorted(kept)


BLOCKS = re.findall(
    r"^```python\n(.*?)^```$",
    (ROOT / "docs/python.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_manual_runs(tmp_path: Path, number: int) -> None:
    """Each Python block of docs/python.md, as a program beside two memories."""
    facts = {
        "2026-01-02-tea.md": "Mara likes oolong tea.\n",
        "2026-01-02-birthday.md": "外婆的生日是腊月初八。\n",
    }
    lay(tmp_path / "memory_store/mara/facts/2026", facts)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", BLOCKS[number]],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    if number:
        assert (
            "2026-01-02-tea.md:1" in done.stdout
            and "2026-01-02-birthday.md:1" in done.stdout
        )
