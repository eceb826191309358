"""Forgetting means it: after it no byte of the store says it, what has nothing to do with
it is as it was byte for byte, and every path:line that named another turn still names
it."""

import datetime as dt
import json
import os
import tempfile
from pathlib import Path

import pytest
from forgetting import WORD, forget, holding
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import sample
from repositories import START, git, plain_git  # noqa: F401

from filemem import FilememError, NotFound, User, jobs
from filemem.forget.delete import delete
from filemem.forget.plan import plan_deletion
from filemem.git.history import History
from filemem.git.job_frame import recover
from filemem.git.setup import set_up
from filemem.overview import problems
from filemem.store import recalls
from filemem.store.folder import Folder
from filemem.store.memory import parse
from filemem.store.passages import format_turn
from filemem.store.transcript import Transcript
from filemem.store.users import StoreFolder

TALK = "sessions/2026/2026-11-18-0900-a-beetle.md"
FACT = "facts/2026/2026-11-18-the-word.md"
CAT = "facts/2026/2026-11-18-the-cat.md"
LESSON = "lessons/2026/2026-11-18-the-word.md"
SUMMARY = "summaries/2026/2026-11-conversations.md"
EARLIER = "archive/sessions/2026/2026-10-01-0800-earlier.md"
SAYING = f"Mara's word is {WORD}, from beetles."
TURNS = [
    ("mara", "09:00", "Good morning. Nothing to report."),
    ("assistant", "09:00", "Good morning, Mara."),
    ("mara", "09:01", f"My word is {WORD}-4711, and the {WORD}\nis a weevil."),
    ("assistant", "09:01", "I did not hear that."),
    ("mara", "09:02", "The cat sleeps in the tuba case again."),
]


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    """The sample store with a conversation, what was distilled from it, and what filemem
    keeps beside it."""
    user = StoreFolder(sample(tmp_path / "memory_store")).folder("mara")
    turns = "".join(format_turn(*turn) for turn in TURNS)
    quoted = f"You said:\n- {SAYING}\n  {FACT}:5\n- The cat sleeps."
    lines = f"- **mara**: It is {WORD}. ({TALK}:7,8)\n- **mara**: A cat. ({TALK}:10)\n"
    for path, text in {
        TALK: f"---\ndate: 2026-11-18T09:00:00\n---\n\n{turns}",
        FACT: f"---\nsource: {TALK}:7\n---\n\n{SAYING}\n",
        LESSON: f"---\nsource: [{TALK}:7, profile.md:1]\n---\n\nNever say {WORD}.\n",
        CAT: f"---\nsource: {TALK}:10\n---\n\nThe cat sleeps in the tuba case.\n",
        SUMMARY: f"## 2026-11-18-0900-a-beetle\n\n{lines}",
        EARLIER: format_turn("assistant", "08:00", quoted) + "- **mara**: Thanks.\n",
    }.items():
        user.create(path, text)
    for path in (FACT, CAT):
        recalls.note_recall(user, path, "open", START)
    records = {
        ".filemem/history": f"{SAYING}\nhello\n",
        ".filemem/traces/a.jsonl": '{"answer": "tea"}\n',
        "facts/2026/.filemem-new-0123456789abcdef": f"{SAYING}\n",
    }
    for path, text in records.items():
        place = Path(user.root, path)
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    User(user).search_files("word")
    return user


def bytes_of(user: Folder) -> dict[str, bytes]:
    return {path: user.read(path) for path in user.paths()}


def test_a_fact_goes_with_its_source_and_all_that_cites_it(mara: Folder) -> None:
    """What else an answer quoted that cites it is not looked for elsewhere."""
    before = bytes_of(mara)
    result = forget(mara, FACT, "--yes")
    assert result.return_value == 0, result.output
    assert holding(mara.store) == []
    after = bytes_of(mara)
    assert before.keys() - after.keys() == {FACT, LESSON}
    changed = {path for path in after if after[path] != before[path]}
    assert changed == {TALK, SUMMARY, EARLIER}
    assert "Nothing in mara's folder says it any more." in result.output
    assert [
        problem
        for problem in problems(mara, dt.date(2026, 11, 20))
        if problem.path in after
    ] == []


def test_records_lose_the_lines_that_say_it(mara: Folder) -> None:
    """What the program calls things is no word of a record."""
    trace = Path(mara.bookkeeping("traces/a.jsonl"))
    said = json.dumps({"answer": f'"the {WORD}"\nis'})
    trace.write_text(f'{said}\n{{"answer": "tea"}}\n')
    history = Path(mara.bookkeeping("history"))
    history.write_text(f"{history.read_text()}471142\n")
    for words in (WORD, "471142", "answer", "open"):
        forget(mara, "--about", words, "--yes")
        assert list(recalls.recalled(mara)) == [CAT]
        assert trace.read_text() == '{"answer": "tea"}\n'
    assert history.read_text() == "hello\n"
    assert holding(mara.store) == []
    assert WORD not in str(User(mara).search_files(WORD))


@pytest.mark.parametrize("number", ["09", "2026", "18", "7", "sessions"])
def test_clocks_of_turns_days_of_names_and_cited_lines_are_no_words(
    mara: Folder, number: str
) -> None:
    done = forget(mara, "--about", f"{WORD} {number}", "--yes")
    assert done.output == "Nothing was found.\n"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ferry Almada", {"notes/a.md:3", "facts/2026/2026-11-19-boat.md"}),
        ("the ferry", {"notes/a.md:1", "notes/b.md:1"}),
        ("ann", {"notes/c.md:1"}),
        ("ANN's sister", {"notes/c.md:1"}),
        ("轮渡", {"notes/d.md:1"}),
        ("外婆 轮渡", {"notes/d.md:1"}),
        ("iPhone", {"notes/d.md:5"}),
        ("卑尔根", {"notes/e.md:1", "notes/e.md:3"}),
        ("ferries", set()),
    ],
)
def test_whole_words_count_that_stand_together_and_chinese_anywhere(
    tmp_path: Path, words: str, found: set[str]
) -> None:
    """Not within a longer word, in another line, or in the name of another memory."""
    user = StoreFolder(tmp_path).folder("mara")
    for path, text in {
        "notes/a.md": "# The ferry\n\nTo Almada we took a ferry.\n\nIt is cheap.\n",
        "notes/b.md": "The ferry: see notes/ferry-to-almada.md.\n\nAlmada is far.\n",
        "notes/c.md": "Ann's sister is ill.\n\nJoann is not, nor Annie.\n",
        "notes/d.md": "外婆喜欢轮渡。\n\n外婆的家。\n\n我的iPhone坏了。\n",
        "notes/e.md": "跑步3.5公里/小时，住在卑尔根\n\n见www.a.com/x.html在卑尔根\n",
        "facts/2026/2026-11-19-boat.md": "---\ntags: [ferry-almada]\n---\n\nIll.\n",
    }.items():
        user.create(path, text)
    assert {item.place for item in plan_deletion(user, about=words).items} == found


def test_a_file_that_has_lost_lines_may_go_whole(mara: Folder) -> None:
    forget(mara, f"{TALK}:5", "--yes")
    assert forget(mara, TALK, "--yes").return_value == 0
    assert TALK not in mara.paths()


def test_headings_and_tags_that_tell_it_go_too(mara: Folder) -> None:
    front = "---\ntags: {}\nimportance: 7\n---\n\n## {}\n\nIt is cold there.\n"
    note = mara.create("notes/a.md", front.format("[ferry]   # mine", "A ferry"))
    assert forget(mara, "--about", "ferry", "--yes").return_value == 0
    assert mara.read(note).decode() == front.format("forgotten", "[forgotten]")


@pytest.mark.parametrize(
    "said", ["My secret garden is in Sintra.", "我的秘密花园在辛特拉。"]
)
def test_a_conversation_whose_name_tells_it_is_named_and_never_renamed(
    mara: Folder, said: str
) -> None:
    """The exit code is 1."""
    talk = User(mara).add_conversation([{"role": "user", "content": said}])
    place = f"{talk}:{len(mara.memory(talk).lines)}"
    Transcript(mara, talk).add("assistant", f"A green one ({place}).", START)
    done = forget(mara, place, "--yes")
    assert "green" not in Path(mara.bookkeeping("said.jsonl")).read_text()
    assert talk in mara.paths() and said not in mara.memory(talk).text
    assert f"{talk}: its name says it; rename" in done.output
    assert done.return_value == 1 and "any more" not in done.output


def test_what_names_a_forgotten_file_names_it_no_more(mara: Folder) -> None:
    text = "---\nsupersedes: {}   # mine\n---\n\nSee [[{}]].\n"
    stem = "2026-11-18-the-word"
    newer = mara.create("facts/newer.md", text.format(FACT, stem))
    forget(mara, FACT, "--yes")
    assert mara.read(newer).decode() == text.format("forgotten", "forgotten")
    assert [
        problem
        for problem in problems(mara, dt.date(2026, 11, 20))
        if "newer" in problem.path
    ] == []


def test_what_is_left_is_named_by_its_line_and_others_are_never_quoted(
    mara: Folder,
) -> None:
    bob = StoreFolder(mara.store).folder("bob")
    bob.create("facts/a.md", f"# Bob\n\nHis secret {WORD} is blue.\n")
    workspace = Path(mara.root, ".obsidian/workspace.json")
    workspace.parent.mkdir()
    workspace.write_text(f'{{\n"text": "{WORD}"\n}}\n')
    out = forget(mara, WORD, "--yes").output
    assert "Still there: .obsidian/workspace.json:2:" in out
    assert "bob/facts/a.md:3." in out and "blue" not in out
    assert holding(mara.root) == [".obsidian/workspace.json"]
    assert holding(bob.root) == ["facts/a.md"]
    with pytest.raises(NotFound) as error:
        User(mara).forget(about=WORD)
    assert "bob" not in str(error.value)


def test_nothing_is_deleted_unasked(mara: Folder) -> None:
    before = bytes_of(mara)
    for words in ([FACT], ["--about", WORD], ["--whole-user", "mara"]):
        assert forget(mara, *words).exception
        assert forget(mara, *words, "--dry-run").return_value == 0
    assert bytes_of(mara) == before and holding(mara.bookkeeping("index"))
    assert "is a folder; name a file in it" in str(
        forget(mara, "facts", "--yes").exception
    )


def test_a_whole_user_goes_with_everything(mara: Folder) -> None:
    """In git the commit that says so has the logs, too."""
    set_up(mara.store, "mara", START)
    StoreFolder(mara.store).folder("bob").make()
    count = len(mara.paths())
    out = forget(mara, "--whole-user", "mara", "--yes").output
    assert f"Deleted mara, {count} memories." in out
    assert StoreFolder(mara.store).users() == ["bob"] and holding(mara.store) == []
    assert not os.path.exists(mara.root)
    assert git(mara.store, "status", "--short", "mara") == ""
    assert forget(mara, "--whole-user", "mara", "--yes").exception


TURN = st.tuples(st.sampled_from(["Ann", "外婆", "B**b"]), st.text(max_size=40))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(TURN, min_size=1, max_size=6),
    st.data(),
    st.sampled_from(["utf-8", "utf-8-sig"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_redaction_changes_the_lines_of_one_turn_alone(
    said: list[tuple[str, str]], data: st.DataObject, encoding: str, newline: str
) -> None:
    """As many lines, and every other line byte for byte."""
    turns = "".join(format_turn(name, "09:30", words) for name, words in said)
    text = f"---\ndate: 2026-11-20\n---\n\n{turns}".replace("\n", newline)
    raw = text.encode(encoding, "replace")
    with tempfile.TemporaryDirectory() as store:
        user = StoreFolder(store).folder("ann")
        user.create("sessions/a.md", raw)
        passage = data.draw(st.sampled_from(parse("sessions/a.md", raw).passages))
        delete(user, plan_deletion(user, f"sessions/a.md:{passage.line}"))
        after = user.read("sessions/a.md")
    old = raw.split(b"\n")
    new = after.split(b"\n")
    assert len(new) == len(old)
    assert new[: passage.line - 1] == old[: passage.line - 1]
    assert new[passage.end_line :] == old[passage.end_line :]


def test_what_a_person_saves_after_the_list_was_made_stays(mara: Folder) -> None:
    """Lines that moved meanwhile are found."""
    plan = plan_deletion(mara, FACT)
    Path(mara.root, FACT).write_text("Another text, just saved.\n")
    talk = Path(mara.root, TALK)
    talk.write_text("A line on top.\n" + talk.read_text())
    done = jobs.forget(mara, plan, START)
    assert mara.read(FACT) == b"Another text, just saved.\n"
    assert "has just changed" in done.facts["stayed"][0]
    assert talk.read_text().startswith("A line on top.\n---\n")
    assert WORD not in talk.read_text()


def test_a_link_in_a_folder_s_place_is_not_followed(
    mara: Folder, tmp_path: Path
) -> None:
    plan = plan_deletion(mara, FACT)
    away = tmp_path / "away"
    Path(mara.root, "facts/2026").rename(away)
    Path(mara.root, "facts/2026").symlink_to(away)
    said = "".join(jobs.forget(mara, plan, START).said)
    assert "a symbolic link leads there" in said
    assert WORD in (away / "2026-11-18-the-word.md").read_text()


def test_a_commit_tells_nothing_and_a_person_s_edits_stay_theirs(mara: Folder) -> None:
    set_up(mara.store, "mara", START)
    Path(mara.root, "profile.md").write_text("# Mara\n\nEdited.\n")
    forget(mara, "--about", WORD, "--yes")
    said = git(mara.store, "log", "-1", "--format=%an %s")
    assert said.startswith("filemem Forget ") and WORD not in said
    assert git(mara.store, "status", "--short") == " M mara/profile.md"
    assert WORD not in git(mara.store, "ls-tree", "-r", "--name-only", "HEAD")
    assert git(mara.store, "grep", WORD, "HEAD", fails=True) == ""


def test_a_commit_that_waits_tells_nothing_either(mara: Folder) -> None:
    set_up(mara.store, "mara", START)
    merging = Path(mara.store, ".git/MERGE_HEAD")
    merging.write_text(git(mara.store, "rev-parse", "HEAD") + "\n")
    said = f"The {WORD} is in the jar."
    User(mara).remember(said)
    forget(mara, "--about", WORD, "--yes")
    assert holding(mara.store, "in the jar") == []
    merging.unlink()
    recover(History(mara))
    assert WORD not in git(mara.store, "log", "--format=%B")


@pytest.mark.parametrize("about", [".", "…？！", "_ - _"])
def test_what_holds_no_word_is_asked_for_in_words(tmp_path: Path, about: str) -> None:
    """Every file has such signs, so none is proposed."""
    folder = StoreFolder(tmp_path).folder("ann")
    folder.create("notes/tea.md", "Tea. What else? It is oolong_tea - mostly…？！\n")
    with pytest.raises(FilememError, match="no word to search for"):
        plan_deletion(folder, about=about)
