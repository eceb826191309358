"""Forgetting means it: after it no byte of the store says it, what has nothing to do with it is as it was byte for byte, and
every path:line that named another turn still names it."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import sample
from repositories import START, git, plain_git  # noqa: F401

from filemem import FilememError, NotFound, Store, User
from filemem.cli import cli
from filemem.forget.delete import delete
from filemem.forget.plan import plan_for
from filemem.git.history import History
from filemem.git.setup import set_up
from filemem.jobs import forget
from filemem.overview import problems
from filemem.store import recalls
from filemem.store.folder import Folder, StoreFolder
from filemem.store.memory import parse
from filemem.store.passages import format_turn
from filemem.store.transcript import Transcript

WORD = "zyzzyva"
TALK = "sessions/2026/2026-11-18-0900-a-beetle.md"
TURNS = [
    ("mara", "09:00", "Good morning. Nothing to report."),
    ("assistant", "09:00", "Good morning, Mara."),
    (
        "mara",
        "09:01",
        f"My password word is {WORD}-4711, and the {WORD}\nis a weevil from the end of the dictionary.",
    ),
    ("assistant", "09:01", "I did not hear that."),
    ("mara", "09:02", "The cat sleeps in the tuba case again."),
]


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    """A copy of the sample store with a conversation, what was distilled from it, and all that filemem keeps beside it."""
    user = Store(sample(tmp_path / "memory_store")).user("mara").folder
    user.create(
        TALK,
        "---\ndate: 2026-11-18T09:00:00\n---\n\n"
        + "".join(format_turn(*turn) for turn in TURNS),
    )
    for path, source, text in (
        (
            "facts/2026/2026-11-18-the-word.md",
            f"{TALK}:7",
            f"Mara's word is {WORD}, from beetles.",
        ),
        (
            "lessons/2026/2026-11-18-the-word.md",
            f"[{TALK}:7, profile.md:1]",
            f"Never say {WORD}.",
        ),
        (
            "facts/2026/2026-11-18-the-cat.md",
            f"{TALK}:10",
            "The cat sleeps in the tuba case.",
        ),
    ):
        user.create(path, f"---\nsource: {source}\n---\n\n{text}\n")
    lines = f"- **mara**: Her word is {WORD}. ({TALK}:7,8)\n- **mara**: The cat is in the case. ({TALK}:10)\n"
    user.create(
        "summaries/2026/2026-11-conversations.md",
        f"## 2026-11-18-0900-a-beetle\n\n{lines}",
    )
    quoted = f"You said:\n- Mara's word is {WORD}, from beetles.\n  facts/2026/2026-11-18-the-word.md:5"
    quoted += "\n- The cat sleeps in the tuba case."
    turns = format_turn("assistant", "08:00", quoted) + format_turn(
        "mara", "08:01", "Thank you."
    )
    user.create("archive/sessions/2026/2026-10-01-0800-earlier.md", turns)
    recalls.note_recall(user, "facts/2026/2026-11-18-the-word.md", "open", START)
    recalls.note_recall(user, "facts/2026/2026-11-18-the-cat.md", "open", START)
    traces = Path(user.bookkeeping("traces"))
    traces.mkdir()
    (traces / "2026-10-01-0800-earlier.jsonl").write_text(
        '{"name": "grep", "answer": "tea"}\n'
    )
    Path(user.bookkeeping("history")).write_text(
        f"Mara's word is {WORD}, from beetles.\nhello\n"
    )
    Path(user.root, "facts/2026/.filemem-new-0123456789abcdef").write_text(
        f"Mara's word is {WORD}, from beetles.\n"
    )
    fact = Path(user.root, "facts/2026/2026-11-18-the-word.md")
    fact.with_name(f"{fact.name}~").write_bytes(fact.read_bytes())
    User(user).search_files("word")
    return user


def holding(root: str | Path, word: str = WORD) -> list[str]:
    """The files under a folder, git's own aside, with a word in their bytes or in their name."""
    found = []
    for path in sorted(Path(root).rglob("*")):
        inside = path.relative_to(root).as_posix()
        if ".git/" not in f"{inside}/" and (
            word in inside or (path.is_file() and word.encode() in path.read_bytes())
        ):
            found.append(inside)
    return found


def bytes_of(user: Folder) -> dict[str, bytes]:
    return {path: user.read(path) for path in user.paths()}


def run(user: Folder, *args: str, **given: str) -> Result:
    words = ["--store", user.store, "--user", user.name, "forget", *args]
    home = {"HOME": user.root}
    return CliRunner().invoke(cli, words, env=home, standalone_mode=False, **given)


def test_a_fact_goes_with_its_source_and_all_that_cites_it(mara: Folder) -> None:
    """What else an answer quoted that cites it is not looked for elsewhere."""
    before = bytes_of(mara)
    result = run(mara, "facts/2026/2026-11-18-the-word.md", "--yes")
    assert result.return_value == 0, result.output
    assert holding(mara.store) == []
    after = bytes_of(mara)
    assert before.keys() - after.keys() == {
        "facts/2026/2026-11-18-the-word.md",
        "lessons/2026/2026-11-18-the-word.md",
    }
    changed = {path for path in after if after[path] != before[path]}
    earlier = "archive/sessions/2026/2026-10-01-0800-earlier.md"
    assert changed == {TALK, "summaries/2026/2026-11-conversations.md", earlier}
    assert "Nothing in mara's folder says it any more." in result.output
    assert [problem for problem in problems(mara) if problem.path in after] == []


def test_records_lose_it_and_nothing_else(mara: Folder) -> None:
    other = Path(mara.bookkeeping("traces/2026-10-02-0800-later.jsonl"))
    other.write_text(
        json.dumps({"name": "grep", "answer": f"the {WORD}"})
        + '\n{"name": "grep", "answer": "tea"}\n'
    )
    assert "facts is a folder; name a file in it" in str(
        run(mara, "facts", "--yes").exception
    ), "no word of a record"
    run(mara, WORD, "--yes")
    assert list(recalls.recalled(mara)) == ["facts/2026/2026-11-18-the-cat.md"]
    assert [json.loads(line)["answer"] for line in other.read_text().splitlines()] == [
        "tea",
    ]
    assert Path(mara.bookkeeping("history")).read_text() == "hello\n"
    assert holding(mara.store) == []
    assert WORD not in str(User(mara).search_files(WORD))
    for word in ("answer", "open"):  # what the program calls it
        run(mara, "--about", word, "--yes")
    assert list(recalls.recalled(mara)) == ["facts/2026/2026-11-18-the-cat.md"]
    assert [json.loads(line)["answer"] for line in other.read_text().splitlines()] == [
        "tea",
    ]


@pytest.mark.parametrize("number", ["09", "2026", "18", "7", "sessions"])
def test_clocks_of_turns_days_of_names_and_cited_lines_are_no_words(
    mara: Folder, number: str
) -> None:
    assert (
        run(mara, "--about", f"{WORD} {number}", "--yes").output
        == "Nothing was found.\n"
    )


def planned(user: Folder, about: str) -> set[str]:
    """The places that forgetting what is about some words would reach, those of the words alone."""
    found = plan_for(user, about=about)
    return {item.place for item in found.items if item.path in user.paths()}


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
    mara: Folder, words: str, found: set[str]
) -> None:
    """In any order, capital or not; not within a longer word, in another line, or in the name of another memory."""
    mara.create(
        "notes/a.md",
        "# The ferry\n\nTo Almada we took a ferry.\n\nTickets are cheap.\n",
    )
    mara.create(
        "notes/b.md",
        "The ferry is late; see notes/ferry-to-almada.md.\n\nAlmada is over there.\n",
    )
    mara.create("notes/c.md", "Ann's sister is ill.\n\nJoann is not, nor Annie.\n")
    mara.create("notes/d.md", "外婆喜欢轮渡。\n\n外婆的家。\n\n我的iPhone坏了。\n")
    mara.create(
        "notes/e.md",
        "跑步3.5公里/小时，住在卑尔根\n\n见www.a.com/x.html在卑尔根\n\n见notes/卑尔根.md\n",
    )
    mara.create(
        "facts/2026/2026-11-19-boat.md",
        "---\ntags: [ferry-almada]\n---\n\nSea-sick on it.\n",
    )
    assert planned(mara, words) == found


def test_headings_and_tags_that_tell_it_go_too(mara: Folder) -> None:
    note = "notes/2026-11-19-a-boat.md"
    mara.create(
        note,
        "---\ntags: [ferry]   # mine\nimportance: 7\n---\n\n## A ferry\n\nIt is cold there.\n",
    )
    assert run(mara, "--about", "ferry", "--yes").return_value == 0
    assert (
        mara.read(note)
        == b"---\ntags: forgotten\nimportance: 7\n---\n\n## [forgotten]\n\nIt is cold there.\n"
    )


@pytest.mark.parametrize(
    "said", ["My secret garden is in Sintra.", "我的秘密花园在辛特拉。"]
)
def test_a_conversation_whose_name_tells_it_is_named_and_never_renamed(
    mara: Folder, said: str
) -> None:
    """By words or by the turn it is named after; the exit code is 1."""
    user = Store(mara.store).user("mara")
    talk = user.add_conversation([{"role": "user", "content": said}])
    place = f"{talk}:{len(mara.memory(talk).lines)}"
    Transcript(mara).add("assistant", f"It is a green one ({place}).", START)
    done = run(mara, place, "--yes")
    assert (
        "green"
        not in Path(mara.bookkeeping("said.jsonl")).read_text().partition("turn")[2]
    )
    assert talk in mara.paths() and said not in mara.memory(talk).text
    assert f"{talk}: its name says it; rename" in done.output
    assert done.return_value == 1 and "any more" not in done.output


def test_what_names_a_forgotten_file_names_it_no_more(mara: Folder) -> None:
    name, newer = "2026-11-18-the-word", "facts/2026/2026-11-20-newer.md"
    mara.create(
        newer,
        f"---\nsupersedes: facts/2026/{name}.md   # mine\n---\n\nSee [[{name}]].\n",
    )
    run(mara, f"facts/2026/{name}.md", "--yes")
    assert (
        mara.read(newer)
        == b"---\nsupersedes: forgotten   # mine\n---\n\nSee [[forgotten]].\n"
    )
    assert [problem for problem in problems(mara) if "newer" in problem.path] == []


def test_what_is_left_is_named_by_its_line_and_others_are_named_and_never_quoted(
    mara: Folder,
) -> None:
    bob = Path(mara.store, "bob/facts/2026-11-18-a.md")
    bob.parent.mkdir(parents=True)
    bob.write_text(f"# Bob\n\nHis secret {WORD} is blue.\n")
    workspace = Path(mara.root, ".obsidian/workspace.json")
    workspace.parent.mkdir()
    workspace.write_text('{\n"text": "' + WORD + '"\n}\n')
    newer = mara.create(f"facts/2026/2026-11-18-{WORD}.md", f"A {WORD}.\n")
    mara.create("facts/older.md", f"---\nsuperseded_by: {newer}\n---\n\nOld.\n")
    out = run(mara, WORD, "--yes").output
    assert (
        b"superseded_by: forgotten\n" in mara.read("facts/older.md")
        and "facts/older.md" not in out
    )
    assert "Still says it: .obsidian/workspace.json:2:" in out
    assert "bob/facts/2026-11-18-a.md:3." in out and "blue" not in out
    assert WORD in bob.read_text() and WORD in workspace.read_text()
    with pytest.raises(NotFound) as error:
        Store(mara.store).user("mara").forget(about=WORD)
    assert "bob" not in str(error.value)


def test_nothing_is_deleted_unasked(mara: Folder) -> None:
    before = bytes_of(mara)
    whole = ["--whole-user", "mara"]
    for args in (["facts/2026/2026-11-18-the-word.md"], ["--about", WORD], whole):
        assert run(mara, *args).exception
        assert run(mara, *args, "--dry-run").return_value == 0
    assert bytes_of(mara) == before
    assert holding(mara.bookkeeping("index"))


def test_a_whole_user_goes_with_everything(mara: Folder) -> None:
    """In git the commit that says so has the logs, too."""
    set_up(mara.store, "mara", START)
    Path(mara.store, "bob").mkdir()
    out = run(mara, "--whole-user", "mara", "--yes").output
    assert not os.path.exists(mara.root)
    assert StoreFolder(mara.store).users() == ["bob"] and holding(mara.store) == []
    assert "Deleted mara, 30 memories." in out
    assert git(mara.store, "status", "--short") == ""
    assert run(mara, "--whole-user", "mara", "--yes").exception


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from(["Ann", "外婆", "B**b"]), st.text(max_size=40)),
        min_size=1,
        max_size=6,
    ),
    st.data(),
    st.sampled_from(["utf-8", "utf-8-sig"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_redaction_changes_the_lines_of_one_turn_alone(
    said: list[tuple[str, str]], data: st.DataObject, encoding: str, newline: str
) -> None:
    """For any turns, with any line ends: as many lines, and every other line byte for byte."""
    text = "---\ndate: 2026-11-20\n---\n\n" + "".join(
        format_turn(name, "09:30", words) for name, words in said
    )
    raw = text.replace("\n", newline).encode(encoding, "replace")
    with tempfile.TemporaryDirectory() as store:
        user = Store(store).user("ann")
        place = Path(user.folder.root, "sessions/a.md")
        place.parent.mkdir(parents=True)
        place.write_bytes(raw)
        passage = data.draw(st.sampled_from(parse("sessions/a.md", raw).passages))
        delete(user.folder, plan_for(user.folder, f"sessions/a.md:{passage.line}"))
        after = place.read_bytes()
    old = raw.split(b"\n")
    new = after.split(b"\n")
    assert len(new) == len(old)
    assert new[: passage.line - 1] == old[: passage.line - 1]
    assert new[passage.end_line :] == old[passage.end_line :]


def test_what_a_person_saves_after_the_list_was_made_stays(mara: Folder) -> None:
    path = "facts/2026/2026-11-18-the-word.md"
    found = plan_for(mara, path)
    Path(mara.root, path).write_text("Another text, just saved.\n")
    talk = Path(mara.root, TALK)
    talk.write_text("A line on top.\n" + talk.read_text())
    done = forget(mara, found, START)
    assert mara.read(path) == b"Another text, just saved.\n"
    assert "has just changed" in done.facts["stayed"][0]
    assert (
        talk.read_text().startswith("A line on top.\n---\n")
        and WORD not in talk.read_text()
    )


def test_a_link_in_a_folder_s_place_since_the_list_was_made_is_not_followed(
    mara: Folder, tmp_path: Path
) -> None:
    found, away = (
        plan_for(mara, "facts/2026/2026-11-18-the-word.md"),
        tmp_path / "away",
    )
    Path(mara.root, "facts/2026").rename(away)
    Path(mara.root, "facts/2026").symlink_to(away)
    assert "a symbolic link leads there" in "".join(forget(mara, found, START).said)
    assert WORD in (away / "2026-11-18-the-word.md").read_text()


def test_the_commit_tells_nothing_and_a_persons_edits_stay_theirs(mara: Folder) -> None:
    set_up(mara.store, "mara", START)
    Path(mara.root, "profile.md").write_text("# Mara\n\nEdited.\n")
    run(mara, "--about", WORD, "--yes")
    assert git(mara.store, "log", "-1", "--format=%an %s") == "filemem Forget 6 places"
    assert git(mara.store, "status", "--short") == " M mara/profile.md"
    assert WORD not in git(mara.store, "ls-tree", "-r", "--name-only", "HEAD")
    assert git(mara.store, "grep", WORD, "HEAD", fails=True) == ""


def test_a_commit_that_waits_tells_nothing_either(mara: Folder) -> None:
    set_up(mara.store, "mara", START)
    Path(mara.store, ".git/MERGE_HEAD").write_text(
        git(mara.store, "rev-parse", "HEAD") + "\n"
    )
    path = mara.create("facts/2026/2026-11-20-jar.md", f"The {WORD} is in the jar.\n")
    History(mara).record(
        f"Remember: The {WORD} is in the jar.", [path], {"Job": "remember"}, START
    )
    run(mara, "--about", WORD, "--yes")
    assert holding(mara.store, "in the jar") == []
    Path(mara.store, ".git/MERGE_HEAD").unlink()
    History(mara).recover()
    assert WORD not in git(mara.store, "log", "--format=%B")


@pytest.mark.parametrize("about", [".", "…？！", "_ - _"])
def test_what_holds_no_word_is_asked_for_in_words(tmp_path: Path, about: str) -> None:
    """Every file has such signs, so none is proposed."""
    folder = Store(tmp_path).user("ann").folder
    folder.create("notes/tea.md", "Tea. What else? It is oolong_tea - mostly…？！\n")
    with pytest.raises(FilememError, match="no word to search for"):
        plan_for(folder, about=about)
