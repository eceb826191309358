"""What a program gets from `import filemem`."""

import asyncio
import contextlib
import datetime as dt
import functools
import itertools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from openai.types.chat import ChatCompletionMessage
from programs import filemem as filemem_command
from programs import lay
from reader import Reader, note

import filemem
from filemem import (
    Busy,
    DiskError,
    FilememError,
    Kind,
    MemoryEvent,
    ModelError,
    NotFound,
    Notice,
    Refused,
    Reply,
    Report,
    Store,
    ToolCall,
    Usage,
    User,
    Waits,
)
from filemem.importers import import_file
from filemem.llm.model import Messages, OnText, Tools
from filemem.store.keys import add_key, find_user, keys_of
from filemem.store.users import StoreFolder
from filemem.testing import FakeModel, FrozenClock
from filemem.text.plain import count_tokens

AT = dt.datetime(2026, 5, 4, 9, 30).astimezone()
ROOT = Path(__file__).parents[2]
PUBLIC = """
    Busy Changed Claim ConfigError Conversation Counts Decision DiskError FilememError
    Forgotten GitError Hit ImportReport Info Kind KindCount Match Memory MemoryEvent
    Model ModelError NotFound Notice OpenAIModel Problem PromptTooLong Proposed Refused
    Reply Report Store Text ToolCall ToolCalled Toolbox ToolsRefused Usage User Waits
""".split()


@pytest.fixture
def nora(tmp_path: Path) -> User:
    return Store(tmp_path).user("nora")


def said(*texts: str) -> list[dict[str, str]]:
    """Return messages of a person and an assistant in turn."""
    roles = itertools.cycle(("user", "assistant"))
    return [{"role": next(roles), "content": text} for text in texts]


def turns(user: User, path: str) -> list[str]:
    """Return what was said in a session."""
    return [turn.text for turn in user.open_file(path).passages]


def test_what_is_public_is_listed_documented_and_has_a_docstring() -> None:
    assert sorted(filemem.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(filemem, name).__doc__, name
        assert name in MANUAL, name
    for owner, kind in (("user", User), ("store", Store)):
        methods = {name for name in vars(kind) if name[0] != "_"}
        assert not {name for name in methods if f"{owner}.{name}" not in MANUAL}


def test_a_conversation_is_kept_once_and_grows(nora: User) -> None:
    """By its words where it has no id, given whole again or with more turns."""
    first = said("Hello!", "Hello, Nora.", "I keep bees.")
    path = nora.add_conversation(first, at=AT)
    assert path == "sessions/2026/2026-05-04-0930-hello.md"
    later = AT + dt.timedelta(days=3)
    assert nora.add_conversation(first, at=later) == path
    assert nora.add_conversation([*first, *said("Three hives.")], at=AT) == path
    assert turns(nora, path) == [
        "Hello!",
        "Hello, Nora.",
        "I keep bees.",
        "Three hives.",
    ]
    other = nora.add_conversation(said("Hello!", "Hi.", "I sold the boat."), at=AT)
    named = nora.add_conversation(said("Hello!"), at=AT, id="thread-7", title="Bees")
    assert len({path, other, named}) == 3
    assert nora.add_conversation(said("Hello!", "Yes?"), at=AT, id="thread-7") == named
    assert nora.add_conversation([{"role": "system", "content": "Brief."}]) == ""


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
    assert nora._folder.paths() == []


def test_facts_come_from_what_was_said_and_answer(nora: User) -> None:
    nora.add_conversation(said("I'm allergic to walnuts, properly so."), at=AT)
    waiting = nora.consolidate(at=AT)
    assert "No model is configured" in waiting.notes[0]
    fact = "Nora is allergic to [[walnuts]]."
    reader = Reader(note(fact, "allergic to walnuts", section="health"))
    report = nora.consolidate(reader, at=AT)
    [change] = report.kept
    assert (change.action, change.claim.text) == ("ADD", fact)
    assert fact in nora.open_file(change.path).text
    assert str(report) == "kept 1, notes 1, requests 1, tokens_in 1000, tokens_out 100"
    assert nora.consolidate(reader, at=AT) == Report()
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
    if "asyncio" in BLOCKS[number]:
        assert all(f"{name}:1" in done.stdout for name in facts)


# -- all of one's memories -----------------------------------------------------------


def test_memories_are_listed_updated_restored_and_reviewed(nora: User) -> None:
    """A fact is superseded, other text replaced behind its front matter."""
    tea = nora.remember("Prefers oolong tea.", today=AT.date())
    nora.add_conversation(said("I keep bees."), at=AT)
    assert [one.path for one in nora.memories(kind="facts")] == [tea.path]
    assert not list(nora.memories(after=AT.date() + dt.timedelta(days=1)))
    coffee = nora.update(tea.path, "Prefers coffee.", today=AT.date())
    assert coffee.front["supersedes"] == tea.path
    facts = [one.path for one in nora.memories(Kind.FACTS)]
    assert facts == [f"archive/{tea.path}", coffee.path]
    assert nora.restore(tea.path).path == tea.path
    with pytest.raises(Refused, match="is not in the archive"):
        nora.restore(tea.path)
    lesson = nora._folder.create(
        "lessons/brief.md", "---\ntags: [a]\n---\n\nBe brief.\n"
    )
    nora.update(lesson, "My PIN is 4711; be long.")
    text = nora.open_file(lesson).text
    assert text.startswith("---\ntags: [a]\n---\n\nMy PIN is [redacted: ")
    [talk] = nora.memories("sessions")
    with pytest.raises(Refused, match="is never rewritten"):
        nora.update(talk.path, "I keep wasps.")
    assert nora.status(AT.date()).kinds["facts"].live == 2
    assert nora.check() == []


def test_what_waits_is_accepted_or_rejected(nora: User) -> None:
    for name, text in (("bees", "Keeps bees."), ("boat", "Has a boat.")):
        nora._folder.create(f"proposed/facts/2026-05-04-{name}.md", f"{text}\n")
    bees = nora.remember("Rows on Sundays.").path
    wish = f"---\nforget: {bees}\n---\n\nForget my rowing.\n"
    nora._folder.create("proposed/forget/2026-05-04-rowing.md", wish)
    kept, boat, rowing = nora.review()
    kept.accept()
    boat.reject()
    assert rowing.forgets == (bees,)
    rowing.accept()
    assert nora.review() == []
    assert [one.path for one in nora.memories("facts")] == ["facts/2026-05-04-bees.md"]
    with pytest.raises(NotFound):
        kept.accept()


NAMES = ["user@example.com", "auth0|123", "外婆", "../nora", "..", "Ann Lee", "a%2Fb"]


@pytest.mark.parametrize("name", NAMES)
def test_a_user_may_have_any_name_that_products_have(tmp_path: Path, name: str) -> None:
    """Its folder is made from it one to one, inside the store."""
    store = Store(tmp_path / "store")
    path = store.user(name).remember("Prefers oolong tea.").path
    [folder] = os.listdir(store.root)
    assert os.listdir(tmp_path) == ["store"] and folder[0] not in ".-"
    assert store.users() == [name] == [store.user(name).name]
    assert store.user(name).open_file(path).path == path
    assert [one.name for one in map(store.user, store.users())] == [name]


def test_a_person_is_called_by_their_name_whatever_the_folder(tmp_path: Path) -> None:
    store = Store(tmp_path)
    user = store.user("auth0|123")
    assert user.info().name == "auth0|123"
    assert user.info(name="Ann", zone="Asia/Tokyo").zone == "Asia/Tokyo"
    with pytest.raises(FilememError, match="no time zone Atlantis; name one"):
        user.info(zone="Atlantis")
    path = user.add_conversation(said("I keep bees."), at=AT)
    assert "- **Ann**" in user.open_file(path).text
    model = FakeModel("Hello.")
    user.conversation(model).say("Good morning.")
    assert "You talk with Ann" in str(model.asked[0])
    reader = Reader(note("Ann keeps bees.", "keep bees", section="home"))
    user.info(name="Anna")
    [fact] = user.consolidate(reader).kept
    assert fact.claim.is_own
    assert "The memories are Anna's" in reader.told[0]
    moved = store.rename("auth0|123", "ann@example.com")
    assert moved.info().name == "Anna" and moved.name == "ann@example.com"
    assert store.users() == ["ann@example.com"]
    assert store.user("ann@example.com") is moved
    os.rename(f"{store.root}/ann@example.com", f"{store.root}/moved")
    names = {"auth0|123", "Ann", "Anna", "ann@example.com", "moved"}
    assert StoreFolder(store.root).folder("moved").own_names() == names
    store.user("bo").remember("Has a cat.")
    with pytest.raises(Refused, match="is taken"):
        store.rename("bo", "moved")


def test_what_was_said_under_a_former_name_is_the_person_s(tmp_path: Path) -> None:
    store = Store(tmp_path)
    user = store.user("auth0|123")
    user.add_conversation(said("I keep bees."), at=AT)
    assert store.rename("auth0|123", "ann@example.com") is user
    reader = Reader(note("Ann keeps bees.", "keep bees", section="home"))
    [fact] = user.consolidate(reader).kept
    assert fact.claim.is_own
    assert "ann@example.com: I keep bees." in reader.told[0]


def user_calls(user: User) -> dict[str, Callable[[], object]]:
    """Every call of a user by which nothing is kept where there is nothing."""
    path = "facts/2026/2026-05-04-has-a-cat.md"
    talk = user.conversation
    return {
        "add_conversation": lambda: user.add_conversation([], id="c1"),
        "as_of": lambda: user.as_of(AT),
        "check": user.check,
        "consolidate": user.consolidate,
        "conversation": lambda: talk(id="c1").say(" "),
        "forget": lambda: user.forget(path),
        "forget about": lambda: user.forget(about="cat"),
        "grep": lambda: user.grep("cat"),
        "info": user.info,
        "info zone": lambda: user.info(zone="Atlantis"),
        "maintain": user.maintain,
        "memories": lambda: list(user.memories()),
        "now": user.now,
        "open_file": lambda: user.open_file(path),
        "prompt_context": lambda: user.prompt_context("cat", chat="c1"),
        "remember": lambda: user.remember(" "),
        "remember_all": lambda: user.remember_all([]),
        "restore": lambda: user.restore(path),
        "review": user.review,
        "search_files": lambda: user.search_files("cat"),
        "status": user.status,
        "tools": lambda: user.tools(chat="c1").call("open", {"path": path}),
        "tools search": lambda: user.tools().call("search_files", {"query": "cat"}),
        "update": lambda: user.update(path, "Has a dog."),
        "update profile": lambda: user.update("profile.md", "Ann."),
    }


@pytest.mark.parametrize("in_git", [False, True])
def test_no_call_begins_a_user_who_is_gone_and_keeps_nothing(
    tmp_path: Path, in_git: bool
) -> None:
    """As one that waited when they were deleted, or found nothing to keep."""
    root = tmp_path / "store"
    store = Store(root, model=FakeModel("Hello."))
    ann = store.user("ann")
    ann.remember("Has a cat.")
    ann._folder.create("proposed/facts/2026-05-04-b.md", "Keeps bees.\n")
    [wish] = ann.review()
    if in_git:
        done = filemem_command("init", "--git", "--store", root)
        assert done.returncode == 0, done.stderr
    store.delete("ann")
    empty = tmp_path / "empty"
    empty.write_text('{"memories": {}}')
    messages = tmp_path / "messages.jsonl"
    messages.write_text('{"messages": [{"role": "user", "content": " "}]}\n')
    for user in (ann, store.user("ann")):
        calls = user_calls(user)
        methods = {name for name in dir(User) if callable(getattr(User, name))}
        assert {name for name in methods if name[0] != "_"} <= calls.keys()
        calls["profile"] = functools.partial(getattr, user, "profile")
        calls["accept"] = wish.accept
        calls["reject"] = wish.reject
        calls["delete"] = functools.partial(store.delete, "ann")
        calls["rename"] = functools.partial(store.rename, "ann", "bo")
        calls["export"] = functools.partial(store.export, "ann", tmp_path / "a.zip")
        take_in = functools.partial(store.import_, user="ann")
        calls["import"] = functools.partial(take_in, empty)
        calls["import nothing"] = functools.partial(take_in, tmp_path / "none")
        calls["import no words"] = functools.partial(
            take_in, messages, format="openai-jsonl"
        )
        for name, call in calls.items():
            with contextlib.suppress(FilememError):
                call()
            assert not os.path.lexists(root / "ann"), name
        for report in (user.consolidate(), user.maintain()):
            assert (report.requests, report.waiting) == (0, 0)
        with pytest.raises(NotFound, match="nothing is kept of ann"):
            user.forget(about="cat")
    ann.remember("Has a dog.")
    assert store.users() == ["ann"]


def test_a_user_is_found_while_another_process_begins_or_deletes_them(
    tmp_path: Path,
) -> None:
    """As many that start at once all ask for the same new user."""
    code = "import os, sys\nwhile True: os.mkdir(sys.argv[1]); os.rmdir(sys.argv[1])"
    store = StoreFolder(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-S", "-c", code, tmp_path / "ann"]
    ) as other:
        while "ann" not in store.users():
            pass
        for _ in range(5000):
            assert store.folder("ann").name == "ann"
        other.kill()


def test_who_writes_while_the_user_is_deleted_is_told_so(tmp_path: Path) -> None:
    """It is kept before and goes, or it begins them anew, or nothing is kept."""
    told = set()
    for number in range(60):
        root = tmp_path / str(number)
        Store(root).user("ann").remember("Has a cat.")
        other = threading.Thread(target=Store(root).delete, args=["ann"])
        other.start()
        while other.is_alive():
            try:
                Store(root).user("ann").remember_all(["Saw a film."])
            except NotFound as error:
                told.add(str(error))
        other.join()
        if Store(root).users():
            Store(root).delete("ann")
        assert not (root / "ann").exists()
    gone = "ann was deleted or renamed meanwhile; nothing more is kept."
    assert told <= {"nothing is kept of ann.", gone}


class Meanwhile(FakeModel):
    """A model during whose answer something happens."""

    def __init__(self, happens: Callable[[], object], reply: str | Reply) -> None:
        super().__init__(reply)
        self._happens = happens

    def ask(self, messages: Messages, tools: Tools, on_text: OnText) -> Reply:
        self._happens()
        return super().ask(messages, tools, on_text)


def leave(root: Path, *, renamed: bool, taken: bool) -> None:
    """Delete or rename ann, as another process does; somebody may take her name."""
    store = Store(root)
    if renamed:
        store.rename("ann", "bo")
    else:
        assert store.delete("ann").left == []
    if taken:
        store.user("ann").remember("Keeps wasps.")


@pytest.mark.parametrize("taken", [False, True])
@pytest.mark.parametrize("renamed", [False, True])
def test_an_answer_is_for_nobody_but_whom_it_found(
    tmp_path: Path, renamed: bool, taken: bool
) -> None:
    """It begins nobody anew; nor is it told or kept by who has the name by then."""
    store = Store(tmp_path)
    store.user("ann").remember("Keeps bees.")
    reply: str | Reply = "The bees are fine."
    if taken:
        search = ToolCall("1", "search_files", '{"query": "wasps"}')
        reply = Reply("", [search], Usage(1, 1), "tool_calls")
    away = functools.partial(leave, tmp_path, renamed=renamed, taken=taken)
    model = Meanwhile(away, reply)
    talk = store.user("ann").conversation(model, id="c1")
    for _ in range(2):
        with pytest.raises(NotFound, match="ann was deleted or renamed meanwhile"):
            talk.say("How are the bees?")
    assert len(model.asked) == 1
    assert store.users() == ["ann"] * taken + ["bo"] * renamed
    newcomer = Store(tmp_path).user("ann")
    assert "bees" not in str([one.text for one in newcomer.memories()])


def test_an_import_under_way_ends_where_its_user_is_deleted(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    ann = store.user("ann")
    ann.remember("Keeps bees.")
    lines = ""
    for number in range(300):
        messages = said(f"Number {number}.")
        lines += json.dumps({"id": f"c{number}", "messages": messages}) + "\n"
    (tmp_path / "chats.jsonl").write_text(lines)
    ended = list[str]()

    def take_in() -> None:
        try:
            store.import_(tmp_path / "chats.jsonl", format="openai-jsonl", user="ann")
        except NotFound as error:
            ended.append(str(error))

    other = threading.Thread(target=take_in)
    other.start()
    while not any(ann.memories("sessions")):
        pass
    Store(store.root).delete("ann")
    other.join()
    assert store.users() == []
    assert "ann was deleted or renamed meanwhile" in ended[0]


def test_a_conversation_goes_on_with_its_person(tmp_path: Path) -> None:
    """Whom the same store renames, or who deletes the bookkeeping."""
    store = Store(tmp_path)
    talk = store.user("ann").conversation(FakeModel("Fine."), id="c1")
    talk.say("I keep bees.")
    store.rename("ann", "bo")
    talk.say("And a cat.")
    shutil.rmtree(tmp_path / "bo/.filemem")
    talk.say("And a dog.")
    [session] = store.user("bo").memories("sessions")
    assert len(session.passages) == 6 and store.users() == ["bo"]


def test_a_folder_renamed_by_hand_keeps_its_person(tmp_path: Path) -> None:
    """Their words are theirs, of before and of after; a wish of theirs counts."""
    store = Store(tmp_path)
    store.user("ann").add_conversation(said("I keep bees."), at=AT, id="c1")
    os.rename(tmp_path / "ann", tmp_path / "外婆")
    moved = store.user("外婆")
    assert moved.info().name == "ann"
    talk = said("I keep bees.", "Fine.", "And a cat.")
    path = moved.add_conversation(talk, at=AT, id="c1")
    assert moved.open_file(path).text.count("- **ann**") == 2
    reader = Reader(note("Ann keeps bees.", "keep bees", section="home"))
    [fact] = moved.consolidate(reader).kept
    assert fact.claim.is_own
    assert "The memories are Ann's" in reader.told[0]
    assert store.rename("外婆", "bo").info().name == "bo"


def test_a_key_goes_with_its_person_and_opens_nothing_of_who_has_their_name(
    tmp_path: Path,
) -> None:
    """Whether they were renamed or deleted, and by hand or not.

    It may be made before anything is kept.
    """
    store = Store(tmp_path)
    root = store.root
    key = add_key(root, "ann", AT.date())
    store.user("ann").remember("Keeps bees.")
    assert find_user(root, key) == "ann"
    os.rename(tmp_path / "ann", tmp_path / "外婆")
    assert find_user(root, key) == "外婆"
    store.user("ann").remember("Keeps wasps.")
    other = add_key(root, "ann", AT.date())
    assert find_user(root, key) == "外婆"
    assert find_user(root, other) == "ann"
    store.rename("外婆", "bo")
    assert find_user(root, key) == "bo"
    whose = [entry["user"] for entry in keys_of(root).values()]
    assert whose == ["bo", "ann"]
    shutil.rmtree(tmp_path / "ann")
    store.user("ann").remember("Keeps ants.")
    assert find_user(root, other) == ""
    store.delete("bo")
    assert find_user(root, key) == ""


def test_a_chat_that_goes_on_is_left_out_by_its_id(nora: User) -> None:
    before = nora.tools(chat="c1")
    nora.add_conversation(said("The heron came by."), at=AT, id="c1")
    assert "heron" in nora.prompt_context("Where is the heron?")
    assert "heron" not in nora.prompt_context("Where is the heron?", chat="c1")
    asked = {"query": "heron"}
    assert "came by" in nora.tools().call("search_files", asked)
    assert "came by" not in nora.tools(chat="c1").call("search_files", asked)
    assert "came by" not in before.call("search_files", asked)


@pytest.mark.parametrize("tokens", [150, 400, 2000])
def test_what_belongs_into_a_prompt_keeps_to_its_tokens(
    nora: User, tokens: int
) -> None:
    nora._folder.create("profile.md", "# Nora\n\n" + "- Keeps bees in Ghent.\n" * 200)
    nora._folder.create("lessons/brief.md", "Be brief, and kind to bees.\n")
    nora.add_conversation(said("My bees swarmed. " * 80), at=AT)
    found = nora.prompt_context("What of the bees?", tokens=tokens)
    assert tokens / 3 < count_tokens(found) <= tokens
    assert "swarmed" in found


def test_a_conversation_is_taken_up_again_by_its_id(nora: User) -> None:
    nora.conversation(id="chat-7").say("I keep bees.")
    again = Store(nora._folder.store).user("nora").conversation(id="chat-7")
    again.say("And wasps.")
    [path] = [one.path for one in nora.memories("sessions")]
    assert path == again.path and len(turns(nora, path)) == 4
    assert nora.add_conversation(said("And hornets."), id="chat-7") == path
    assert nora.conversation(id="chat-8").path == ""


@pytest.mark.parametrize("is_gone", [False, True])
def test_two_processes_that_begin_one_id_begin_one_session(
    nora: User, is_gone: bool
) -> None:
    """Also where a person has deleted the one that both had found. What either is told
    is in the other's conversation, and in no recall of it."""
    if is_gone:
        nora.conversation(id="chat-7").say("Hello.")
    there = FakeModel("So I hear.")
    talk = nora.conversation(there, id="chat-7")
    code = (
        "import sys; from filemem import Store;"
        " talk = Store(sys.argv[1]).user('nora').conversation(id='chat-7');"
        " print(flush=True); talk.say(input()); print(talk.path)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, nora._folder.store],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as other:
        assert other.stdout and other.stdout.readline()
        for session in nora.memories("sessions"):
            Path(nora._folder.absolute(session.path)).unlink()
        begun = other.communicate("I keep seven bees.")[0].strip()
    talk.say("How many bees?")
    assert talk.path == begun
    assert [one.path for one in nora.memories("sessions")] == [begun]
    told = turns(nora, begun)
    assert [told[0], *told[2:]] == [
        "I keep seven bees.",
        "How many bees?",
        "So I hear.",
    ]
    asked = there.asked[0]
    assert "I keep seven bees." in [one["content"] for one in asked]
    assert "seven" not in asked[-1]["content"]


def test_an_answer_streams_and_is_kept_though_nobody_listens(nora: User) -> None:
    talk = nora.conversation(FakeModel("Bees.", ModelError("gone")))
    assert "".join(talk.stream("What do I keep?")) == "Bees."
    with pytest.raises(ModelError, match="gone"):
        list(talk.stream("And what else?"))
    assert turns(nora, talk.path)[1:3] == ["Bees.", "And what else?"]


def test_a_message_that_no_request_holds_is_cut_for_it_and_told(nora: User) -> None:
    """Its beginning and its end are read; all of it is kept."""
    model = FakeModel("Many bees.")
    told: list[Any] = []
    talk = nora.conversation(model)
    text = f"First hives. {'Bees and more bees. ' * 10_000}Last hives."
    talk.say(text, told.append)
    assert turns(nora, talk.path)[0] == text
    request = model.asked[0][-1]["content"]
    assert "First hives." in request and request.endswith("Last hives.")
    assert count_tokens(request) < 8_000
    assert isinstance(told[0], Notice) and "too long for a request" in told[0].text


def test_a_moment_in_utc_counts_as_the_person_s(nora: User) -> None:
    """A server's clock has no zone of theirs; any other zone is."""
    nora.info(zone="Asia/Tokyo")
    late = dt.datetime(2026, 5, 4, 23, 30, tzinfo=dt.UTC)
    path = nora.add_conversation(said("I keep bees."), at=late)
    assert path == "sessions/2026/2026-05-05-0830-i-keep-bees.md"
    assert "timezone: Asia/Tokyo" in nora.open_file(path).text
    lisbon = late.astimezone(ZoneInfo("Europe/Lisbon"))
    path = nora.add_conversation(said("And wasps."), at=lisbon)
    assert path == "sessions/2026/2026-05-05-0030-and-wasps.md"


def calls(work: Callable[..., object], *given: Any, **options: Any) -> Counter[str]:
    """Return what is called meanwhile, and how often; time varies."""
    called = Counter[str]()
    sys.setprofile(lambda _, event, what: called.update([f"{what}"]))
    try:
        work(*given, **options)
    finally:
        sys.setprofile(None)
    return called


def test_a_conversation_costs_the_same_however_many_are_kept(nora: User) -> None:
    """Once a program has begun no folder is listed."""
    costs = []
    for number in range(200):
        at = AT + dt.timedelta(minutes=number)
        talk = said("I keep bees.")
        called = calls(nora.add_conversation, talk, at=at, id=f"c{number}")
        costs.append(called.total())
    assert not [name for name in called if "listdir" in name or "scandir" in name]
    assert sum(costs[-20:]) < 1.3 * sum(costs[10:30])


def test_a_fact_costs_no_look_at_the_others(nora: User) -> None:
    """Only their names are listed, and of that name it is known."""
    bees = nora.remember_all([f"Has {number} bees." for number in range(50)])
    assert nora.remember("Has 7 bees!", today=AT.date()).path == bees[7]
    called = calls(nora.remember, "Has a boat.")
    assert not [name for name in called if "stat of posix.DirEntry" in name]


def test_one_conversation_is_read_with_one_look_at_each_fact(nora: User) -> None:
    nora.remember_all([f"Has {number} bees." for number in range(50)])
    reader = Reader(note("Nora has a boat.", "a boat"))
    nora.consolidate(reader)
    nora.add_conversation(said("I have a boat."), at=AT, id="boat")
    called = calls(nora.consolidate, reader)
    looks = [name for name in called if "stat of posix.DirEntry" in name]
    each_way = sum(called[name] for name in looks)  # the call, and its return
    assert 50 <= each_way / 2 < 60
    assert nora.search_files("boat")[0].path.startswith("facts/")


class SlowModel:
    """Says its first word at once, and the rest when it may go on."""

    name = "slow"

    def __init__(self) -> None:
        self.may_go_on = threading.Event()

    def ask(self, messages: Any, tools: Any, on_text: Callable[[str], None]) -> Reply:
        on_text("Bees ")
        self.may_go_on.wait(60)
        on_text("in Ghent.")
        return Reply("Bees in Ghent.", (), Usage(0, 0), "stop")


async def answered(address: tuple[str, int]) -> bytes:
    """Return what a server sends until it hangs up."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        return await reader.read()
    finally:
        writer.close()


def test_a_server_in_asyncio_streams_many_answers_at_once(nora: User) -> None:
    """None of the forty comes before all have begun, so no pool of threads may end."""
    model = SlowModel()
    begun = []

    async def send(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for piece in nora.conversation(model).astream("What do I keep?"):
            begun.append(piece)
            if len(begun) == 40:
                model.may_go_on.set()
            writer.write(piece.encode())
            await writer.drain()
        writer.close()

    async def ask_all() -> list[bytes]:
        async with await asyncio.start_server(send, "127.0.0.1") as server:
            address = server.sockets[0].getsockname()
            return await asyncio.gather(*[answered(address) for _ in range(40)])

    assert asyncio.run(ask_all()) == [b"Bees in Ghent."] * 40
    assert begun[:40] == ["Bees "] * 40


def test_who_leaves_a_stream_has_the_answer_kept(nora: User) -> None:
    """The loop has ended by then; no thread is left."""
    model = SlowModel()
    talk = nora.conversation(model)
    before = threading.enumerate()

    async def leave() -> None:
        pieces = talk.astream("What do I keep?")
        assert await anext(pieces) == "Bees "
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(pieces), 0.01)

    asyncio.run(leave())
    [answering] = {*threading.enumerate()} - {*before}
    assert turns(nora, talk.path) == ["What do I keep?"]
    model.may_go_on.set()
    answering.join(60)
    assert not answering.is_alive()
    assert turns(nora, talk.path) == ["What do I keep?", "Bees in Ghent."]


def test_an_error_comes_out_of_a_stream_in_asyncio(nora: User) -> None:
    talk = nora.conversation(FakeModel(ModelError("gone")))

    async def listen() -> list[str]:
        return [piece async for piece in talk.astream("What do I keep?")]

    with pytest.raises(ModelError, match="gone"):
        asyncio.run(listen())


def test_many_facts_are_kept_in_one_pass_and_once(nora: User) -> None:
    day = dt.date(2024, 2, 3)
    facts = [
        "Keeps bees.",
        {"text": "Has a boat.", "id": "m1", "day": day, "tags": ["sea"]},
        {"text": "住在里斯本。", "id": "m2", "metadata": {"app": "mem0"}},
    ]
    paths = nora.remember_all(facts, today=AT.date())
    assert paths[1] == "facts/2024/2024-02-03-has-a-boat.md"
    assert nora.open_file(paths[2]).front["app"] == "mem0"
    nora.forget(paths[1])
    assert nora.remember_all(facts)[::2] == paths[::2]
    assert len(list(nora.memories("facts"))) == 2
    with pytest.raises(FilememError, match="is no fact"):
        nora.remember_all([{"txt": "Keeps bees."}])


def keep_under_one_id(nora: User, *texts: str) -> list[str]:
    """Have another program's fact say some texts in turn; return what holds then."""
    day = AT.date() - dt.timedelta(9)
    facts = [{"id": "m1", "text": text, "day": day} for text in texts]
    nora.remember_all(facts, today=AT.date())
    kept = [one for one in nora.memories("facts") if "superseded_by" not in one.front]
    return [one.statement for one in kept]


def test_another_text_under_one_id_supersedes_the_one_before(nora: User) -> None:
    """So it does in one pass, and what a person made of that. The last text counts."""
    assert keep_under_one_id(nora, "Keeps bees.") == ["Keeps bees."]
    for place in ("house", "barn"):  # whose files would have one name
        bees = f"Keeps three hives of bees behind the {place}."
        assert keep_under_one_id(nora, bees) == [bees]
    assert keep_under_one_id(nora, "Keeps goats.") == ["Keeps goats."]
    back = ("Keeps bees.", "Keeps goats.", "Keeps bees.")
    assert keep_under_one_id(nora, *back) == ["Keeps bees."]
    [path] = [path for path in nora._folder.paths("facts") if path[:7] != "archive"]
    place = Path(nora._folder.root, path)
    place.write_text("Keeps bees and a dog.\n")
    os.utime(place, (AT.timestamp(), AT.timestamp()))
    assert keep_under_one_id(nora, "Keeps bees.") == ["Keeps bees and a dog."]
    assert keep_under_one_id(nora, "Keeps two cows.") == ["Keeps two cows."]
    assert "bees and a dog" in nora.open_file(f"archive/{path}").text


def test_of_two_texts_under_one_id_in_one_list_the_last_counts(nora: User) -> None:
    facts = [{"id": "m1", "text": text} for text in ("Keeps bees.", "Keeps goats.")]
    for _ in range(2):
        paths = nora.remember_all(facts)
        [goats] = nora.memories("facts")
        assert paths == [goats.path] * 2 and goats.statement == "Keeps goats."


def test_a_fact_stays_while_one_of_its_ids_tells_it(nora: User) -> None:
    """Then it is superseded, also where both change in one list."""

    def tell(*texts: str) -> list[str]:
        facts = [{"id": f"m{n}", "text": text} for n, text in enumerate(texts)]
        nora.remember_all(facts)
        current = [one for one in nora.memories("facts") if not one.archived]
        return sorted(one.statement for one in current)

    bees, cats, dogs = ("Keeps bees.", "Keeps cats.", "Keeps dogs.")
    assert tell(bees, bees) == [bees]
    assert tell(cats, bees) == [bees, cats]
    assert tell(bees, bees) == [bees]
    assert tell(cats, dogs) == [cats, dogs]
    assert tell(dogs, dogs) == [dogs]


def test_another_text_under_one_id_supersedes_what_a_person_updated(nora: User) -> None:
    [path] = nora.remember_all([{"id": "m1", "text": "Keeps bees."}], today=AT)
    path = nora.update(path, "Keeps wasps.", today=AT).path
    assert keep_under_one_id(nora, "Keeps bees.") == ["Keeps wasps."]
    assert keep_under_one_id(nora, "Keeps goats.") == ["Keeps goats."]
    nora.update(nora.remember("Keeps goats.").path, "Keeps cows.")
    nora.forget(nora.remember("Keeps cows.").path)
    assert keep_under_one_id(nora, "Keeps two goats.") == []


def test_no_fact_ends_before_its_own_day(nora: User) -> None:
    """Though the text that came later under its id is of an earlier day, or of that."""
    for month in (5, 4):
        later, day = dt.date(2024, 5, 4), dt.date(2024, month, 4)
        name = f"m{month}"
        nora.remember_all([{"id": name, "text": f"{name} keeps bees.", "day": later}])
        nora.remember_all([{"id": name, "text": f"{name} keeps goats.", "day": day}])
    old = [one for one in nora.memories("facts") if one.archived]
    assert [one.front["valid_until"] for one in old] == [later, later]
    found = nora.tools().call("search_files", {"query": "keeps bees goats"})
    assert found.count("until 2024-05-04") == 4


def test_another_text_under_one_id_leaves_what_is_pinned_or_deleted(nora: User) -> None:
    nora.remember_all([{"id": "m1", "text": "Keeps bees.", "pinned": True}])
    both = ["Keeps bees.", "Keeps goats."]
    assert sorted(keep_under_one_id(nora, "Keeps goats.")) == both
    for memory in list(nora.memories("facts")):
        nora.forget(memory.path)
    assert keep_under_one_id(nora, "Keeps two goats.") == []
    assert keep_under_one_id(nora, "Keeps three goats.") == []


def test_what_a_person_wrote_in_a_file_of_any_name_is_known(tmp_path: Path) -> None:
    """It is told where, also of one that they have written meanwhile."""
    nora = Store(tmp_path).user("nora")
    nora.remember("Has a boat.")
    facts = tmp_path / "nora/facts"
    (facts / "about me.md").write_text("Keeps  bees!\n")
    assert nora.remember("Keeps bees.").path == "facts/about me.md"
    (facts / "2026-05-04-other.yaml").write_text("text: 住在里斯本。\ntags: [a]\n")
    told = nora.remember_all(["住在里斯本", "Has a boat.", "Rows."], today=AT.date())
    assert told[0] == "facts/2026-05-04-other.yaml"
    assert len(list(nora.memories("facts"))) == 4


# -- all of one's users ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["ann.zip", "ann.json"])
def test_a_user_moves_to_another_store_and_is_gone_here(
    tmp_path: Path, name: str
) -> None:
    here = Store(tmp_path / "here")
    there = Store(tmp_path / "there")
    ann = here.user("ann")
    ann.add_conversation(said("I keep bees."), at=AT, id="c1")
    tea = ann.remember("她最喜欢的茶是铁观音。").path
    ann.remember("Prefers oolong tea.")
    here.user("bo").remember("Keeps bees too.")
    add_key(here.root, "ann", AT.date())
    assert ann.consolidate(Reader()).requests == 1
    Path(ann._folder.root, "bees.png").write_bytes(b"bees")
    paths = here.export("ann", tmp_path / name)
    gone = here.delete("ann")
    assert {*gone} == {*paths, "bees.png"} and gone.left == []
    assert ("bees.png" in paths) == name.endswith("zip")
    memories = [path for path in paths if path.endswith(".md")]
    assert here.users() == ["bo"] and not keys_of(here.root)
    with pytest.raises(NotFound, match="no user ann"):
        here.delete("ann")
    new = StoreFolder(there.root).folder("Ann B.")
    planned = import_file(new, "filemem", str(tmp_path / name), dry_run=True)
    assert len(planned.added) == len(paths) and not os.path.exists(there.root)
    for _ in range(2):
        report = there.import_(tmp_path / name, user="Ann B.")
        kept = there.user("Ann B.")
        assert sorted(one.path for one in kept.memories()) == sorted(memories)
    assert kept.consolidate(Reader()).requests == 0
    assert len(report.unchanged) == len(paths) and not report.added
    assert "铁观音" in kept.open_file(tea).text
    again = kept.add_conversation(said("I keep bees.", "Nice."), at=AT, id="c1")
    assert again in paths
    (tmp_path / "other").write_text("{}")
    with pytest.raises(FilememError, match="is no export of filemem"):
        there.import_(tmp_path / "other", user="eve")


@pytest.mark.parametrize("path", ["../evil.md", ".filemem/../../x.log", ".git/hooks/x"])
def test_an_export_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    store = Store(tmp_path / "store")
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as packed:
        packed.writestr(path, "x")
    with pytest.raises(Refused):
        store.import_(tmp_path / "evil.zip", user="ann")
    assert not [*store.user("ann").memories()]
    assert sorted(os.listdir(tmp_path)) == ["evil.zip", "store"]


def test_all_are_maintained_though_one_fails(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name in ("ann", "bo"):
        store.user(name).remember("Keeps bees.")
    told = []
    with StoreFolder(tmp_path).folder("bo").job_lock():
        found = store.maintain(on_error=lambda *what: told.append(what), wait=0)
    assert found["ann"] == Report()
    assert f"process {os.getpid()}, since 20" in found["bo"].error
    assert [name for name, _ in told] == ["bo"] and isinstance(told[0][1], Busy)


def test_a_job_waits_for_another_as_long_as_it_is_told(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ann = store.user("ann")
    path = ann.remember("Keeps bees.").path
    ann._folder.create("proposed/forget/bees.md", f"---\nforget: {path}\n---\n")
    jobs: list[Callable[..., object]] = [
        ann.consolidate,
        ann.maintain,
        ann.review()[0].accept,
        functools.partial(ann.restore, path),
        functools.partial(ann.forget, path),
        functools.partial(store.rename, "ann", "bo"),
        functools.partial(store.delete, "ann"),
    ]
    with StoreFolder(tmp_path).folder("ann").job_lock():
        for job in jobs:
            with pytest.raises(Busy, match=", since 20"):
                job(wait=0)
    hasty = Store(tmp_path, wait=0).user("ann")
    with StoreFolder(tmp_path).folder("ann").locked(), pytest.raises(Busy):
        hasty.remember("Has a boat.")
    assert ann.open_file(path).text


def test_the_clock_the_model_and_the_listener_are_the_store_s(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing that is heard or logged holds a person's words."""
    events: list[MemoryEvent] = []
    model = FakeModel(
        Reply("Bees, in Ghent.", (), Usage(70, 7), "stop"), ModelError("gone")
    )
    at = dt.datetime(2026, 5, 4, 9, 30, tzinfo=dt.UTC)
    clock = FrozenClock(at)
    store = Store(tmp_path, model=model, clock=clock, on_event=events.append)
    nora = store.user("nora")
    with caplog.at_level("INFO", "filemem"):
        talk = nora.conversation()
        assert talk.say("What do I keep?") == "Bees, in Ghent."
        assert talk.path.startswith("sessions/2026/2026-05-04-")
        clock.move(days=2)
        fact = nora.remember("Keeps bees in Ghent.")
        nora.search_files("bees")
        with pytest.raises(ModelError):
            nora.consolidate()
        nora.forget(fact.path)
    assert "What do I keep?" in str(model.asked[0])
    assert fact.path.startswith("facts/2026/2026-05-06-")
    asked = MemoryEvent("requested", "nora", 1, 70, 7)
    kept = MemoryEvent("kept", "nora")
    assert events[:3] == [kept, asked, kept]
    kinds = [event.kind for event in events[3:]]
    assert kinds == ["remembered", "recalled", "forgotten"]
    wish = nora._folder.create("proposed/facts/2026-05-04-b.md", "Keeps bees.\n")
    events.clear()
    nora.review()[0].accept()
    assert nora.prompt_context("bees")
    [found] = nora.memories("facts")
    nora.tools().call("open", {"path": found.path})
    store.export("nora", tmp_path / "n.zip")
    store.import_(tmp_path / "n.zip", user="bo")
    nora._folder.create(wish, "Keeps wasps.\n")
    Path(nora._folder.root, "photo.png").write_bytes(b"bees")
    gone = store.delete("nora")
    assert {wish, "photo.png"} < set(gone)
    assert [event.kind for event in events] == [
        "remembered",
        "recalled",
        "recalled",
        "kept",
        "forgotten",
    ]


def test_a_job_stops_when_it_is_asked_to(nora: User) -> None:
    keep_two_long_talks(nora)
    stop = threading.Event()

    class Stopping(Reader):
        """Asks to stop once it has read a conversation."""

        def ask(self, *given: Any) -> Reply:
            stop.set()
            return super().ask(*given)

    reader = Stopping(note("Nora keeps bees.", "bees in Ghent"))
    for run, kept in ((nora.maintain, 1), (nora.consolidate, 0)):
        report = run(model=reader, stop=stop)
        assert "was asked to stop" in " ".join(report.notes)
        assert len(report.kept) == kept
        assert (report.waiting, report.why) == (1, Waits.STOPPED)
    assert len(reader.told) == 1


def test_what_a_model_read_before_it_failed_is_reported(nora: User) -> None:
    keep_two_long_talks(nora)

    class Failing(Reader):
        """Reads one conversation."""

        def ask(self, *given: Any) -> Reply:
            if self.told:
                raise ModelError("gone.")
            return super().ask(*given)

    report = nora.consolidate(Failing(note("Nora keeps bees.", "bees in Ghent")))
    assert [one.claim.text for one in report.kept] == ["Nora keeps bees."]
    assert "gone. What was not read yet waits." in report.notes
    assert (report.waiting, report.why) == (1, Waits.FAILED)
    without = nora.consolidate()
    assert (without.waiting, without.why) == (1, Waits.NO_MODEL)
    settings = Path(nora._folder.store, "filemem.yaml")
    settings.write_text("base_url: http://127.0.0.1:9/v1\n")
    assert nora.maintain(AT.date()).why is Waits.NOT_CONFIRMED


def keep_two_long_talks(user: User) -> None:
    """Keep conversations that no one request has room for."""
    for word in ("bees", "boats"):
        user.add_conversation(said(f"I keep {word} in Ghent. " * 900), at=AT)


def test_a_disk_that_refuses_is_one_error_with_its_cause(nora: User) -> None:
    nora.remember("Keeps bees.")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limit[1]))
    try:
        with pytest.raises(DiskError, match="File too large; put that right"):
            nora.remember("Has a boat.")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    nora.remember("Has a boat.")


def test_what_cannot_be_read_is_that_error_too(nora: User) -> None:
    path = nora.remember("Keeps bees.").path
    nora.search_files("bees")
    tools = nora.tools()
    readers: list[Callable[[], object]] = [
        lambda: nora.open_file(path),
        lambda: nora.search_files("bees"),
        lambda: nora.grep("bees"),
        lambda: nora.prompt_context("bees", chat="c1"),
        lambda: nora.conversation(id="c1"),
        lambda: list(nora.memories()),
        nora.tools,
        nora.review,
        nora.status,
        nora.check,
    ]
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limit[1]))
    try:
        for read in readers:
            with contextlib.suppress(DiskError):
                read()
        with pytest.raises(DiskError, match="Too many open files"):
            nora.open_file(path)
        assert "Too many open files" in tools.call("open", {"path": path})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_wrong_name_fails_in_a_type_checker(tmp_path: Path, checker: str) -> None:
    """And nothing else does, of that and of what the README and the manual show."""
    code = """import filemem
from filemem import Store
Store('m', clock=None).user('a').remember('x').path.upper()
filemem.Sture
"""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [first] = re.findall(r"(?ms)^```python\n(.*?)^```$", readme)
    [agent] = re.findall(r"(?ms)^```python agent\n(.*?)^```$", MANUAL)
    agents = (ROOT / "docs/agents.md").read_text(encoding="utf-8")
    # What the frameworks have is Any where they are not installed.
    given = '# mypy: disable-error-code="no-any-return,untyped-decorator"\n'
    given += "# pyright: reportMissingImports=false\n"
    given += "from typing import Any\n\nmodel: Any = None\n"
    recipes = re.findall(r"(?ms)^```python\n(.*?)^```$", agents)
    blocks = [code, first + agent, *BLOCKS, *(given + one for one in recipes)]
    examples = [ROOT / "docs/examples/chat_service.py"]
    for number, block in enumerate(blocks):
        examples.append(tmp_path / f"block{number}.py")
        examples[-1].write_text(block)
    pytest.importorskip(checker)
    # With the settings of the project, which are strict, so that mypy's cache serves.
    how: list[str] = []
    if checker == "basedpyright":  # which would take the project's own .venv
        how = ["--level", "error", "--pythonpath", sys.executable]
    done = subprocess.run(
        [sys.executable, "-m", checker, *how, *examples],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert re.search(r"block0\.py:4.* error: .*Sture", done.stdout)
    assert re.search(r"\b1 error", done.stdout), done.stdout


def test_a_rename_is_finished_by_the_same_call_only_where_it_was_cut_off(
    tmp_path: Path,
) -> None:
    """Else the key of whoever has the old name by then would open the memories.

    Nor does anybody get a name for which another has a key, though no memory yet.
    """
    store = Store(tmp_path)
    store.user("alice").remember("Has a boat.")
    store.rename("alice", "berta")
    key = add_key(str(tmp_path), "alice", AT.date())
    with pytest.raises(NotFound):
        store.rename("alice", "berta")
    assert find_user(str(tmp_path), key) == "alice"
    with pytest.raises(Refused, match="alice is taken"):
        store.rename("berta", "alice")


def test_two_processes_that_keep_the_same_facts_keep_each_once(tmp_path: Path) -> None:
    code = (
        "import sys; from filemem import Store;"
        " facts = [f'Saw the film number {n} on a ship.' for n in range(250)];"
        " Store(sys.argv[1]).user('ann').remember_all(facts)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    running = [subprocess.Popen(command, cwd=ROOT) for _ in range(3)]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    assert len(list((tmp_path / "ann/facts").rglob("*.md"))) == 250
