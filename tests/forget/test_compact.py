"""Compaction writes summaries whose every line leads to its source, moves the originals
whole, and leaves a person's edits."""

import datetime as dt
import json
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import lay

from filemem import Store, jobs
from filemem.errors import Stopped
from filemem.forget.plan import plan_deletion
from filemem.llm.model import ModelError
from filemem.store import bullets
from filemem.store.encodings import decode
from filemem.store.folder import Folder
from filemem.store.passages import format_turn
from filemem.store.users import StoreFolder
from filemem.testing import FakeModel
from filemem.text.plain import count_tokens

AT = dt.datetime(2026, 11, 20, 3, 0)
FRONT = "---\ndate: {0}T09:30:00\nmood: hazy on 3 May at 14 degrees\n---\n\n"
FILL = """\
- **Ann** 09:30: Good morning, how are you?
- **assistant** 09:30: Very well, thank you, it is always a pleasure to hear from you.
- **Ann** 09:31: {0}
- **assistant** 09:31: How nice! Tell me more, I should love to hear all about it.
- **Ann** 09:32: {1}
- **assistant** 09:32: I see, thank you for telling me all that. Is there anything else?
- **Ann** 09:33: No, that is all. Thanks, bye!
"""
TALKS = {
    "2026-08-03-0930-the-loom": (
        "Yesterday I bought a loom from Old Hannah for 85 pounds.",
        "It weighs 40 kilos.",
    ),
    "2026-09-03-0930-the-eel": (
        "We caught an eel under the mill bridge and named it Bartholomew.",
        "It bit my dad.",
    ),
    "2026-09-17-1105-the-kiln": (
        "The kiln in Dedham cracked at 1,140 degrees.",
        "I read “The Glaze Book” all night.",
    ),
    "2026-11-12-0930-too-new": (
        "I start at the dye works on Monday.",
        "It pays 12 pounds an hour.",
    ),
}
AUGUST = "summaries/2026/2026-08-conversations.md"
SEPTEMBER = "summaries/2026/2026-09-conversations.md"
LOOM = "sessions/2026/2026-08-03-0930-the-loom.md"
EEL = "sessions/2026/2026-09-03-0930-the-eel.md"


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    """Ann, with four conversations; three of them are old on 20 November 2026."""
    user = StoreFolder(tmp_path).folder("ann")
    for stem, told in TALKS.items():
        text = FRONT.format(stem[:10]) + FILL.format(*told)
        lay(user.root, {f"sessions/2026/{stem}.md": text})
    return user


def read(user: Folder, path: str) -> str:
    return decode(Path(user.root, path).read_bytes())


def summaries(user: Folder) -> dict[str, str]:
    paths = [path for path in user.paths() if path.startswith("summaries/")]
    return {path: read(user, path) for path in paths}


def due(user: Folder, at: dt.datetime = AT) -> list[str]:
    """The summaries that a run would write."""
    made = jobs.compact(user, at, dry=True).facts["summaries"]
    return [one["summary"] for one in made]


def test_originals_lie_whole_in_the_archive_and_nothing_is_done_twice(
    user: Folder,
) -> None:
    before = {path: read(user, path) for path in user.paths()}
    jobs.compact(user, AT)
    assert [path for path in user.paths() if not path.startswith("archive/")] == [
        "sessions/2026/2026-11-12-0930-too-new.md",
        AUGUST,
        SEPTEMBER,
    ]
    for path, text in before.items():
        assert read(user, path if "too-new" in path else f"archive/{path}") == text
    assert jobs.compact(user, AT).said == ["Nothing is due to be compacted."]
    jobs.restore(user, AT, [EEL])
    assert due(user, AT + dt.timedelta(1)) == []


def test_every_line_quotes_the_turn_that_it_leads_to(user: Folder) -> None:
    """The person's own words; days count from the turn's, front matter is not said."""
    path = Path(user.root, EEL)
    told = path.read_text().replace("**Ann** 09:31", "**Ann** 2026-09-05 09:31")
    path.write_text(told)
    jobs.compact(user, AT)
    for path, text in summaries(user).items():
        lines = [line for line in text.split("\n") if line.startswith("- ")]
        assert lines and "hazy" not in text
        for line in lines:
            bullet = bullets.parse(line, path, 0)
            assert bullet and bullet.speaker == "Ann"
            source = user.memory(f"archive/{bullet.path}").lines
            said = re.sub(r"^\[.*?\] | \[.*?\]", "", bullet.text)
            assert said in source[bullet.lines[0] - 1]
    assert "I bought" in summaries(user)[AUGUST]
    assert "Yesterday [2 August 2026]" in summaries(user)[AUGUST]
    assert ": [2026-09-05] We caught an eel" in summaries(user)[SEPTEMBER]


def test_a_later_run_adds_only_what_is_new(user: Folder) -> None:
    jobs.compact(user, AT)
    before = summaries(user)
    assert due(user) == []
    assert due(user, AT + dt.timedelta(30)) == [
        "summaries/2026/2026-11-conversations.md"
    ]
    found = FRONT.format("2026-09-10") + FILL.format(
        "Ruth sold her boat.", "To a Dane."
    )
    lay(user.root, {"sessions/2026/2026-09-10-0930-a-found-page.md": found})
    jobs.compact(user, AT)
    after = summaries(user)
    assert after[AUGUST] == before[AUGUST]
    assert after[SEPTEMBER].startswith(before[SEPTEMBER])
    assert after[SEPTEMBER].count("## ") == 3


def test_what_a_person_changed_in_a_summary_stays(user: Folder) -> None:
    """Whatever is compacted again."""
    jobs.compact(user, AT)
    mine = summaries(user)[SEPTEMBER].replace("We caught", "Ruth caught")
    mine = mine.replace("\n## 2026-09-17", "\nMy own note.\n\n## 2026-09-17")
    source = read(user, f"archive/{EEL}").replace("it Bartholomew", "it Ethelred")
    lay(user.root, {SEPTEMBER: mine, f"archive/{EEL}": source})
    jobs.compact(user, AT)
    after = summaries(user)[SEPTEMBER]
    assert set(mine.split("\n")) <= set(after.split("\n"))
    assert "Ethelred" in after and after.count("## 2026-09-03-0930-the-eel") == 1
    assert due(user) == []


def test_chinese_is_quoted_by_the_sentence_and_no_secret_is(user: Folder) -> None:
    path = "sessions/2026/2026-06-20-0930-苏州.md"
    told = (
        "上周五我和小明一起坐火车去了苏州最大的拙政园。门票90元，密码是Hunter2!Hunter2"
    )
    said = FILL.format(told, "4111 1111 1111 1111.")
    said = said.replace("Good morning, how are you?", "[forgotten]")
    lay(user.root, {path: said.replace("How nice!", "拙政园建于1509年。" * 9)})
    jobs.compact(user, AT)
    summary = summaries(user)["summaries/2026/2026-06-conversations.md"]
    assert "拙政园。 (" in summary and f"({path}:" in summary
    for word in ("Hunter2", "4111", "[forgotten]", "1509", "assistant"):
        assert word not in summary


def test_what_was_pasted_by_its_form_is_quoted_as_nobody_s_words(user: Folder) -> None:
    """By its form: a line that begins with `>`, and a block of code.

    What stands around it is the person's own.
    """
    said = "Look what Tom wrote:\n  > I hate the loom.\n  ```\n  print(loom)\n  ```"
    said += "\n  It is a fine loom all the same."
    talk = FILL.format(said, "It weighs 40 kilos.")
    lay(user.root, {LOOM: FRONT.format("2026-08-03") + talk})
    jobs.compact(user, AT)
    told = summaries(user)[AUGUST]
    assert "a fine loom all the same" in told
    assert "hate" not in told and "print" not in told


def test_an_imported_assistant_is_told_by_its_role(user: Folder) -> None:
    said = "- **ann** 09:30: Give me an easy plan.\n"
    said += "- **Claude** 09:31: As a nurse of 50 from Lagos, cook on 3 May.\n"
    said += "- **ann** 09:32: None of that is right, where did you get that?\n"
    front = FRONT.format("2026-04-06").replace("mood", "assistant: Claude\nmood")
    lay(user.root, {"sessions/2026/2026-04-06-0930-plan.md": front + said})
    jobs.compact(user, AT)
    summary = summaries(user)["summaries/2026/2026-04-conversations.md"]
    assert "**ann**: None of that is right" in summary and "Lagos" not in summary


def teller(words: str = "Open: Ann waits for Tom.", line: int = 12) -> FakeModel:
    """A model that tells each conversation in one line, citing its last turn."""
    told = [{"text": words, "turns": f"{number}:{line}"} for number in (1, 2, 3)]
    return FakeModel(json.dumps({"lines": told}))


def test_a_model_tells_what_came_of_it_and_each_line_cites_turns(user: Folder) -> None:
    jobs.compact(user, AT, model=teller())
    for text in summaries(user).values():
        for section in text.split("## ")[1:]:
            stem = section.split("\n")[0]
            cited = f"(sessions/2026/{stem}.md:"
            assert f"\n- Open: Ann waits for Tom. {cited}" in section
    again = teller()
    jobs.compact(user, AT, model=again)
    assert again.asked == []


def test_what_was_only_quoted_is_told_anew_once_there_is_a_model(user: Folder) -> None:
    """What a person changed stays beside it."""
    jobs.compact(user, AT)
    lay(user.root, {AUGUST: summaries(user)[AUGUST] + "- my own\n"})
    jobs.compact(user, AT, model=teller())
    assert all("Open: Ann waits" in text for text in summaries(user).values())
    assert "- my own\n" in summaries(user)[AUGUST]
    assert "an eel" not in summaries(user)[SEPTEMBER]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (teller(line=9999), ""),
        (FakeModel('{"lines": [{"text": true, "turns": ["1:12", "2:12"]}]}'), ""),
        (FakeModel(ModelError("no more")), "no more"),
    ],
)
def test_where_a_model_cites_no_turn_or_fails_the_person_is_quoted(
    user: Folder, model: FakeModel, said: str
) -> None:
    assert said in " ".join(jobs.compact(user, AT, model=model).said)
    for text in summaries(user).values():
        assert "Open:" not in text and "**Ann**:" in text
    again = jobs.compact(user, AT, model=model)
    assert "is summarised" not in " ".join(again.said), "what is new alone is told"


def test_where_a_model_finds_nothing_worth_keeping_it_is_not_asked_again(
    user: Folder,
) -> None:
    done = jobs.compact(user, AT, model=FakeModel('{"lines": []}'))
    assert "that can be read" not in " ".join(done.said)
    short = "sessions/2026/2026-08-20-0930-short.md"
    lay(user.root, {short: "- **Ann** 09:30: Hi.\n"})
    jobs.compact(user, AT, model=FakeModel('{"lines": []}'))
    assert summaries(user) == {}, "no heading stands over nothing"
    assert f"archive/{short}" in user.paths()
    assert f"archive/{EEL}" in user.paths()
    again = teller()
    jobs.compact(user, AT, model=again)
    assert again.asked == []


def test_what_was_quoted_goes_where_a_model_finds_nothing_in_it(user: Folder) -> None:
    """What a person wrote stays, and what is told of another conversation.

    Of August, where the section is a person's too, nothing is told; of September one
    line, on the last conversation.
    """
    jobs.compact(user, AT)
    lay(user.root, {AUGUST: summaries(user)[AUGUST] + "- my own\n"})
    one = '{"lines": [{"text": "The kiln cracked.", "turns": ["3:10"]}]}'
    jobs.compact(user, AT, model=FakeModel(one))
    told = summaries(user)
    assert "a loom from Old Hannah" in told[AUGUST]
    _, _, body = told[SEPTEMBER].partition("---\n\n")
    cited = "sessions/2026/2026-09-17-1105-the-kiln.md:10"
    assert body == f"## 2026-09-17-1105-the-kiln\n\n- The kiln cracked. ({cited})\n"


def test_a_title_stands_before_the_first_line_of_a_conversation(user: Folder) -> None:
    """It is found by a search and checked as all that a model says.

    One behind the first line is left out, and so is what is no text.
    """
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    told = """{"lines": [
        {"title": "Weaving **at** home", "text": "Ann has a loom.", "turns": ["1:10"]},
        {"title": "Again", "text": "It is heavy.", "turns": ["1:12"]},
        {"title": ["x"], "text": "The eel bit.", "turns": ["2:12"]},
        {"title": "Key SECRET LONG", "text": "A kiln.", "turns": ["3:10"]}
    ]}""".replace("SECRET", secret)
    jobs.compact(user, AT, model=FakeModel(told.replace("LONG", "x" * 99)))
    august = summaries(user)[AUGUST]
    assert f"- **Weaving at home** – Ann has a loom. ({LOOM}:10)\n" in august
    assert f"- It is heavy. ({LOOM}:12)\n" in august
    september = summaries(user)[SEPTEMBER]
    assert f"\n- The eel bit. ({EEL}:12)\n" in september
    assert secret not in september and "x" * 61 not in september
    with Store(user.store) as store:
        [hit] = store.user("ann").search_files("weaving")
    assert hit.path == AUGUST


def test_what_was_forgotten_of_a_section_leaves_it_the_machine_s(user: Folder) -> None:
    """The word stands in a title and in a turn; what is left is told anew, whole."""
    told = """{"lines": [
        {"title": "Hannah's loom", "text": "Ann has a loom.", "turns": ["1:10"]},
        {"text": "It weighs 40 kilos.", "turns": ["1:12"]}
    ]}"""
    jobs.compact(user, AT, model=FakeModel(told))
    jobs.forget(user, plan_deletion(user, about="Hannah"), AT)
    left = "".join(summaries(user).values()) + read(user, f"archive/{LOOM}")
    assert "Hannah" not in left
    assert "It weighs 40 kilos." in left
    again = """{"lines": [
        {"title": "A loom", "text": "The loom weighs 40 kilos.", "turns": ["1:12"]}
    ]}"""
    jobs.compact(user, AT, model=FakeModel(again))
    [_, section] = summaries(user)[AUGUST].split("## ")
    line = f"- **A loom** – The loom weighs 40 kilos. ({LOOM}:12)\n"
    assert section == f"2026-08-03-0930-the-loom\n\n{line}"


def test_an_answer_that_cannot_be_read_is_asked_for_once_more(user: Folder) -> None:
    """In it a number that was not shown is marked."""
    first = "Ann has a loom of 9,999 kilos."
    lines = [{"text": first, "turns": ["1:6"]}]
    model = FakeModel("Sorry.", json.dumps({"lines": lines}))
    jobs.compact(user, AT, model=model)
    assert "could not be read" in str(model.asked[1])
    told = summaries(user)[AUGUST]
    assert f"- {first} (unsure) (sessions/" in told


ROOM = """{"lines": [
    {"turns": ["1:6"], "text": "LONG"},
    {"turns": ["1:6"], "text": "She paid.", "about": ["odd"]},
    {"turns": ["1:6"], "text": "Open: where it stands.", "about": "open"},
    {"turns": ["1:6"], "text": "Ann keeps the loom.", "about": "decided"},
    {"turns": ["1:6"], "text": "Hannah is her aunt.", "about": "result"},
    {"turns": ["1:6"], "text": "It is Hannah's, not Ruth's.", "about": "corrected"},
    {"turns": ["2:6"], "text": "No bee bit.", "about": "corrected"},
    {"turns": ["2:6"], "text": "No wasp bit.", "about": "corrected"},
    {"turns": ["2:6"], "text": "No ant bit.", "about": "corrected"},
    {"turns": ["2:6"], "text": "No dog bit.", "about": "corrected"},
    {"turns": ["2:6"], "text": "The eel bit.", "about": "decided"}
]}"""


def test_a_talk_has_three_lines_and_what_corrects_and_the_rest_is_told(
    user: Folder,
) -> None:
    """Decisions and what is open come first; a long line bars no short one.

    What puts something right stands in any case.
    """
    long = "It came to nothing, as so much in this house does. " * 7
    done = jobs.compact(
        user,
        AT,
        model=FakeModel(ROOM.replace("LONG", long)),
    )
    texts = re.findall(r"^- (.*) \(sess", summaries(user)[AUGUST], re.MULTILINE)
    assert texts == [
        "It is Hannah's, not Ruth's.",
        "Ann keeps the loom.",
        "Open: where it stands.",
    ]
    assert summaries(user)[SEPTEMBER].count("\n- No ") == 4
    notes = " ".join(done.facts["notes"])
    assert f"summary of {LOOM}: {long.strip()}" in notes
    assert f"summary of {LOOM}: She paid." in notes
    assert f"summary of {LOOM}: Hannah is her aunt." in notes
    assert f"summary of {EEL}: The eel bit." in notes


def test_of_a_long_talk_a_tenth_is_told_and_the_request_says_how_much(
    user: Folder,
) -> None:
    said = "我们说了屋顶和下雨的事，还有别的。"
    lay(user.root, {LOOM: f"- **Ann** 09:30: {said}\n" * 100})
    text = "安在屋顶上补了三块瓦。"
    line = json.dumps({"text": text, "turns": "1:6"})
    told = ",".join([line] * 200)
    model = FakeModel(f'{{"lines": [{told}]}}')
    done = jobs.compact(user, AT, model=model)
    kept = summaries(user)[AUGUST].count(text)
    most = 100 * count_tokens(said) // 10
    assert 3 < kept <= most / count_tokens(text) < kept + 2
    assert len(done.facts["notes"]) == 200 - kept
    rooms = re.findall(r"at most (\d+) lines", str(model.asked))
    assert rooms == [str(most // 40), "3", "3"]


def test_a_run_that_is_cut_off_between_requests_loses_and_doubles_nothing(
    user: Folder,
) -> None:
    """What was told of a month that is not whole is asked for again."""
    long = "- **Ann** 09:30: We talked of the roof and of the rain.\n" * 600
    lay(user.root, {"sessions/2026/2026-09-20-0930-long.md": long})
    before = {path: read(user, path) for path in user.paths() if "too-new" not in path}
    first = '{"lines": [{"text": "It folds.", "turns": ["1:12"]}]}'
    with pytest.raises(Stopped):
        jobs.compact(user, AT, model=FakeModel(first, Stopped("asked to stop")))
    assert list(summaries(user)) == [AUGUST]
    assert EEL in user.paths()
    again = FakeModel('{"lines": [{"text": "It bit.", "turns": ["1:12"]}]}')
    jobs.compact(user, AT, model=again)
    assert "the-loom" not in str(again.asked) and "a loom" not in str(again.asked)
    assert "".join(summaries(user).values()).count("It folds.") == 1
    for path, text in before.items():
        assert read(user, f"archive/{path}") == text


def test_one_request_tells_conversations_of_several_months(user: Folder) -> None:
    """A summary is written once all of its own are told; else they are quoted."""
    told = "- **Ann** 09:30: We talked of the roof and of the rain.\n" * 600
    lay(user.root, {"sessions/2026/2026-09-20-0930-long.md": told})
    looked = jobs.compact(user, AT, model=FakeModel(""), dry=True)
    first = '{"lines": [{"text": "It folds.", "turns": ["1:12"]}]}'
    model = FakeModel(first, ModelError("gone"))
    done = jobs.compact(user, AT, model=model)
    assert looked.facts["requests"] == 2 and looked.facts["tokens"] > 6000
    assert "2 requests" in " ".join(looked.said)
    assert len(model.asked) == 2, "once it has failed, it is asked for nothing"
    assert "It folds." in summaries(user)[AUGUST]
    september = summaries(user)[SEPTEMBER]
    assert "an eel" not in september and "**Ann**: We talked of the roof" in september
    assert "gone What it did not tell is quoted." in done.said


def test_each_half_of_a_long_conversation_says_which_it_is_and_its_day(
    user: Folder,
) -> None:
    said = "- **Ann** 09:30: We talked of the roof and of the rain.\n" * 600
    lay(user.root, {"sessions/2026/2026-08-20-0930-long.md": said})
    model = teller()
    jobs.compact(user, AT, model=model)
    halves = [asked for asked in map(str, model.asked) if "of the roof" in asked]
    assert len(halves) > 1
    assert all(", Thursday 2026-08-20:" in asked for asked in halves)


def test_of_an_assistant_a_model_reads_only_what_a_short_reply_leans_on(
    user: Folder,
) -> None:
    """As consolidation does; of a document and a tool the ends."""
    said = "- **Ann** 09:30: Which loom is best for the back room of our house?\n"
    said += "- **assistant** 09:30: The Ashford, I should say. It folds.\n"
    said += "- **Ann** 09:31: That one, please.\n"
    said += "- **assistant** 09:31: How lovely to hear that, have fun weaving!\n"
    said += f"- **Ann** 09:32: {'I measured the room and the door again today. ' * 4}\n"
    said += f"- **tool** 09:33: {'middle ' * 200}\n"
    front = "---\norigin: added:1\n---\n\n"
    lay(user.root, {"sessions/2026/2026-07-20-0930-loom.md": front + said})
    model = FakeModel('{"lines": []}')
    jobs.compact(user, AT, model=model)
    asked = str(model.asked)
    assert "The Ashford, I should say" in asked and "have fun weaving" not in asked
    assert 1 < asked.count("middle") < 100


def test_a_model_s_words_hold_no_secret(user: Folder) -> None:
    jobs.compact(user, AT, model=teller("The wifi password is Tulip-Garden-42."))
    assert all("[redacted: password]" in text for text in summaries(user).values())


TURN = st.tuples(
    st.sampled_from(["Ann", "assistant"]), st.text("ab .?去了д", max_size=300)
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(TURN, max_size=8), min_size=1, max_size=3),
    st.sampled_from([0.1, 0.295, 0.9]),
)
def test_no_summary_is_over_half_as_long_as_its_sources(
    talks: list[list[tuple[str, str]]], share: float
) -> None:
    """Whatever was said, and however much a summary is to keep."""
    with tempfile.TemporaryDirectory() as root:
        Path(root, "filemem.yaml").write_text(f"summary_share: {share}\n")
        user = StoreFolder(root).folder("ann")
        for number, turns in enumerate(talks):
            text = "".join(format_turn(name, "09:30", said) for name, said in turns)
            lay(user.root, {f"sessions/2026/2026-08-04-0930-{number}.md": text})
        told = [one["source"] for one in jobs.compact(user, AT).facts["summaries"]]
        sources = sum(count_tokens(read(user, f"archive/{path}")) for path in told)
        told_anew = map(user.memory, summaries(user))
        written = sum(count_tokens(summary.body.strip()) for summary in told_anew)
        assert 2 * written <= sources
        kept = [path for path in user.paths() if "sessions/" in path]
        assert len(kept) == len(talks)
