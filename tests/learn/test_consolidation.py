"""Consolidation: a model reads all that was said, once, several conversations in a request; code checks the form of what it
notes. What has its form is kept in the model's words; what has not is told with the reason and waits for review.
"""

import datetime as dt
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conversations import accepted, day, remembered, talk, tree, waiting
from hypothesis import given
from hypothesis import strategies as st
from reader import Note, Reader, note
from scripted_server import ScriptedServer, fail, say

from filemem import FilememError, Store
from filemem.chat.core_memory import core_memory
from filemem.learn import consolidate, proposals
from filemem.learn.log import LearnLog
from filemem.learn.outcome import Applied
from filemem.learn.records import WRITTEN, Action, Claim, Decision
from filemem.learn.remember import Asked, remember, remember_all
from filemem.llm.client import OpenAIModel
from filemem.llm.model import FailFastModel, PromptTooLong, Reply, ToolCall, Usage
from filemem.reports import report_of
from filemem.store.folder import Folder
from filemem.store.profile_sections import BEGIN, END

MAY, JUNE, JULY = day(5, 8), day(6, 2), day(7, 1)
SESSION = "sessions/2026/2026-05-08-0930-talk.md"
GHENT_TEXT = "Nora lives in Ghent."
GHENT = note("Nora lives in [[Ghent]].", "live in Ghent", section="home", importance=8)


def kept(
    user: Folder, said: str, *notes: Note, at: dt.datetime = MAY, **more: Any
) -> list[str]:
    """The texts that are kept of a turn."""
    talk(user, at, said, "I see.", **more)
    return [
        one.claim.text
        for one in remembered(user, at, Reader(*notes))
        if one.action in WRITTEN
    ]


def decided(user: Folder, said: str, made: Note, at: dt.datetime = JUNE) -> list[Any]:
    """What is decided about one turn."""
    talk(user, at, said)
    return remembered(user, at, Reader(made))


def facts(user: Folder) -> list[str]:
    """The paths of the facts that stand."""
    return [path for path in tree(user) if path.startswith("facts/")]


def refused(user: Folder, said: str, *notes: Note, **more: Any) -> str:
    """Why nothing is kept of a turn: the one reason."""
    assert kept(user, said, *notes, **more) == []
    [found] = proposals.waiting(user)
    return found.fault


# -- what is read ------------------------------------------------------------------------------------------------------


def test_several_conversations_go_into_one_request_each_under_its_day_and_are_read_once(
    user: Folder,
) -> None:
    talk(user, MAY, "I live in Ghent.", "Nice.")
    path = talk(user, JUNE, "Met Tom yesterday.\n> Hi!\n\nOK.", "Good.")
    user.append(path, "- **nora** 2026-06-03 00:10: Tom comes tomorrow.\n")
    reader = Reader(GHENT)
    cost = consolidate.cost(user, None).facts
    assert (cost["conversations"], cost["requests"]) == (2, 1)
    assert 100 < cost["tokens"] < 3_000
    remembered(user, JULY, reader)
    [told] = reader.told
    for shown in (
        "Friday 8 May 2026 (2026-05-08), 09:30:\n[1:6] Nora: I live in Ghent.\n[1:7] ",
        "[2:6] Nora: Met Tom yesterday [1 June 2026].\n  > Hi!\n  \n  OK.\n[2:10]",
        "Wednesday 3 June 2026 (2026-06-03):\n[2:11] Nora: Tom comes tomorrow [4 June",
    ):
        assert shown in told
    assert remembered(user, JULY, reader) == [] and len(reader.told) == 1
    assert waiting(user) == 0


def test_of_what_an_assistant_said_a_model_reads_what_a_short_reply_leans_on(
    user: Folder,
) -> None:
    asked = "There are many. " * 90 + "Do you mean the harness or the belt?"
    path = talk(user, MAY, "What do I buy?", asked)
    user.append(path, "- **nora** 09:32: The first one.\n")
    reader = Reader(note("Nora buys a harness.", "The first one"))
    [one] = remembered(user, MAY, reader)
    assert one.action == "ADD" and len(reader.told[0]) < 1_000
    assert "the harness or the belt?\n[1:8] Nora: The first one." in reader.told[0]


@pytest.mark.parametrize("version", ["this", "earlier"])
def test_a_session_that_is_edited_after_it_was_read_is_read_anew(
    user: Folder, version: str
) -> None:
    """Of an earlier version's log, which knows no digest, where the size differs."""
    path = Path(user.root, talk(user, MAY, "I live in Porto."))
    remembered(user, JUNE, Reader())
    if version == "earlier":
        log = Path(user.root, ".filemem/consolidated.jsonl")
        log.write_text(re.sub(', *"digest": *"[^"]*"', "", log.read_text()))
    assert waiting(user) == 0
    there = "Braga" if version == "this" else "Coimbra"
    path.write_text(path.read_text().replace("Porto", there))
    remembered(user, JUNE, reader := Reader())
    assert f"I live in {there}." in reader.told[0]


def test_every_turn_is_sent_and_more_than_a_request_holds_goes_into_the_next(
    user: Folder,
) -> None:
    said = ["El lunes me mudo a Faro.", "k", "我换工作了。", "ok?"]
    said += [f"{n} " + "and so on " * 150 for n in range(20)]
    for n, text in enumerate(said):
        talk(user, day(5, n + 1), text)
    reader = Reader()
    remembered(user, JUNE, reader)
    assert len(reader.told) > 1
    for text in said:
        assert any(text[:20] in told for told in reader.told)


def test_an_endpoint_that_fails_leaves_what_was_read_and_the_rest_waits(
    user: Folder, server: ScriptedServer
) -> None:
    for n in range(6):
        talk(user, day(5, n + 1), f"I live in Ghent {n}. " + "and so on " * 1_200)
    server.script(Reader(note("Nora lives in Ghent.", "live in Ghent 0")).step)
    server.default = fail(400, "no more")
    done = list(consolidate.run(user, JUNE, OpenAIModel("test", server.base_url)))
    kept = [one.claim.text for each in done for one in each.decisions]
    assert kept == ["Nora lives in Ghent."]
    assert "no more" in done[-1].error
    assert 0 < waiting(user) < 6


def test_an_error_is_told_whatever_else_is_done_after_it() -> None:
    """And each kind of decision has its word."""
    claim = Claim("Nora lives in Ghent.", MAY.date())
    every = [Decision(action, "", claim) for action in Action]
    done = Applied(error="It failed.")
    done.add(Applied(every))
    told = done.told().said
    assert "It failed." in told and len(told) == len(every) + 2


def test_a_model_that_takes_no_tools_is_asked_without_them(
    user: Folder, server: ScriptedServer
) -> None:
    """By a job too, which asks no more after a failure."""
    talk(user, MAY, "I live in Ghent.")
    fact = {
        "text": "Nora lives in Ghent.",
        "lines": ["1:6"],
        "quote": "live in Ghent",
        "kind": "fact",
    }
    server.script(
        fail(400, "tools are not supported"), say(json.dumps({"facts": [fact]}))
    )
    [done] = list(
        consolidate.run(user, JUNE, FailFastModel(OpenAIModel("test", server.base_url)))
    )[:1]
    assert [one.claim.text for one in done.decisions] == ["Nora lives in Ghent."], done


def test_an_answer_that_is_cut_off_is_asked_for_again_in_halves(user: Folder) -> None:
    """By conversations, then by turns; each turn is read once, and what one turn's answer had said whole is kept."""

    class Short(Reader):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Any:
            return replace(super().ask(messages, tools, on_text), finish="length")

    talk(user, MAY, "I live in Ghent.", "I keep bees.", speakers=["nora"])
    talk(user, JUNE, "I like tea.")
    reader = Short(echo=True)
    noted = [one.claim.text for one in remembered(user, JULY, reader)]
    assert noted == ["I live in Ghent.", "I keep bees.", "I like tea."]
    assert len(reader.told) == 5 and waiting(user) == 0


@pytest.mark.parametrize("whole", ["", '{"text": "Nora lives in Ghent."}, '])
def test_a_turn_whose_answer_alone_has_no_room_is_paid_for_once(
    user: Folder, whole: str
) -> None:
    """It waits, with a remedy; another model, or a change of the turn, has it read."""

    class Full(Says):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            return replace(super().ask(messages, tools, on_text), finish="length")

    talk(user, MAY, "I live in Ghent.")
    model = Full('{"facts": [' + whole + '{"te')
    for _ in range(3):
        done = list(consolidate.run(user, JUNE, model))
        assert "split it into shorter turns" in done[-1].notes[-1]
    assert len(model.told) == 1
    assert consolidate.cost(user, model).facts["requests"] == 0
    assert waiting(user) == 1
    another = Reader(GHENT)
    another.name = "another"
    remembered(user, JULY, another)
    assert len(another.told) == 1 and waiting(user) == 0


def test_a_turn_that_a_model_has_no_room_for_keeps_no_other_from_being_read(
    user: Folder,
) -> None:
    """It is asked about once, and waits for another model."""

    class Small(Reader):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            if "a long story" in messages[-1]["content"]:
                self.told.append("")
                raise PromptTooLong("reader has no room for that.")
            return super().ask(messages, tools, on_text)

    talk(user, MAY, "It is a long story.")
    talk(user, JUNE, "I live in Ghent.")
    reader = Small(GHENT)
    for _ in range(2):
        list(consolidate.run(user, JULY, reader))
    assert [user.memory(path).text.split("\n")[-2] for path in facts(user)] == [
        "Nora lives in [[Ghent]]."
    ]
    assert waiting(user) == 1 and len(reader.told) == 3


def test_a_turn_that_cannot_be_read_keeps_no_other_from_being_read(
    user: Folder,
) -> None:
    class Odd(Reader):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            told = messages[-1]["content"]
            if not re.search(r"(?m)^\[[\d:]+\] Nora: mumble", told):
                return super().ask(messages, tools, on_text)
            is_long = "Ghent" in told
            return Reply("Sorry.", (), Usage(1, 1), "length" if is_long else "stop")

    talk(user, MAY, "mumble", "I live in Ghent.", speakers=["nora"])
    noted = list(consolidate.run(user, JUNE, Odd(GHENT)))
    assert [one.claim.text for done in noted for one in done.decisions] == [
        "Nora lives in [[Ghent]]."
    ]
    assert noted[-1].error and waiting(user) == 1


def test_the_same_word_said_twice_in_a_talk_is_read_twice(user: Folder) -> None:
    talk(user, MAY, "yes", "Is Ana your sister?", "yes", speakers=["nora", "ann"])
    reader = Reader()
    list(consolidate.run(user, JUNE, reader))
    assert reader.told[0].count(": yes") == 2
    assert waiting(user) == 0


def test_a_session_of_work_alone_that_a_program_adds_is_read_as_a_lesson(
    tmp_path: Path,
) -> None:
    """Each call with its answer, shortened, is a turn; what it taught steers nobody."""
    user = Store(tmp_path).user("nora")
    shell = {"name": "shell", "arguments": "make test"}
    call = {"id": "1", "type": "function", "function": shell}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = "error: FOO_DIR is missing\n" + "x" * 5_000
    told = {"role": "tool", "tool_call_id": "1", "content": answer}
    user.add_conversation([asked, told], at=JULY)
    quote = "FOO_DIR is missing"
    lesson = {"text": "make needs FOO_DIR.", "lines": ["1:7"], "quote": quote}
    reader = Reader(lambda told: {**lesson, "kind": "lesson"})
    [one] = user.consolidate(reader, at=JULY).kept
    assert one.action == "ADD" and one.path.startswith("lessons/")
    assert len(reader.told[0]) < 2_000


# -- form --------------------------------------------------------------------------------------------------------------


def test_a_fact_in_the_model_s_own_words_is_kept_with_its_source_and_its_line_of_the_profile(
    user: Folder,
) -> None:
    said = "ok so we closed on the flat in Ghent yesterday, 9 thousand under asking!!"
    bought = "Nora bought a flat in [[Ghent]] on 7 May 2026 for 9,000 less than asked."
    assert kept(user, said, note(bought, "closed on the flat in Ghent"))
    [path] = facts(user)
    assert (
        user.memory(path).text
        == f"---\nsource: {SESSION}:6\nretold_by: reader\n---\n\n{bought}\n"
    )


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("We paid 9,000 for it.", "paid 9 thousand"),
        ("We met yesterday at noon.", "met yesterday [7 May 2026] at noon"),
        ("I moved, after a long search, to Ghent.", "I moved … to Ghent"),
        ("My A1C is up, Zoë’s at the café", "my a1c is up, Zoe's at the cafe"),
        ("电话是１２３４。", "电话是1234"),
        ("I mix sound for theatres.", "I mix sound for theaters"),
        ("妈昨天做完白内障，左眼，好顺利。", "妈昨天做完白内障手术，左眼，很顺利"),
    ],
)
def test_equal_forms_of_a_quote_count_as_equal_and_a_quarter_of_it_may_be_wrong(
    user: Folder, said: str, quote: str
) -> None:
    text = (
        "Nora said something." if said.isascii() or "Zo" in said else "诺拉说了什么。"
    )
    fact = {
        "text": text,
        "lines": ["1:6", "3:9"],
        "quote": quote,
        "kind": "fact",
    }  # no 3:9 was shown
    assert kept(
        user, said, lambda told: fact, lambda told: {**fact, "lines": ["3:9"]}
    ) == [text]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"quote": "I live in Bruges"}, "its quote 'I live in Bruges' stands in no"),
        ({"quote": ""}, "its quote '' stands in no turn that it cites"),
        ({"text": "Nora的密码是hunter22"}, "it is about a secret"),
        ({"action": "supersede", "memory": "M7"}, "the memory M7, which was not shown"),
        ({"action": "delete"}, "its action 'delete' is none of add, update, supersede"),
        ({"text": "Nora lives in Ghent. " * 40}, "it is longer than 400 characters"),
    ],
)
def test_what_has_not_its_form_is_told_and_waits_for_review(
    user: Folder, change: dict[str, Any], why: str
) -> None:
    fact = {
        "text": "Nora lives in Ghent.",
        "lines": ["1:6"],
        "quote": "live in Ghent",
        "kind": "fact",
        **change,
    }
    assert why in refused(user, "I live in Ghent.", lambda told: fact)
    accepted(user, JUNE)
    [path] = facts(user)
    assert "confidence" not in user.memory(path).front  # the person is sure


def test_a_fact_of_two_turns_may_quote_both_and_name_them_and_its_days_in_any_form(
    user: Folder,
) -> None:
    fact = {
        "text": "Nora's aunt sells her house in September 2026.",
        "quote": "selling the house ... it's September",
        "lines": "[1:6], [2:6]",
        "kind": "event",
        "day": "Tuesday 1 September 2026",
        "valid_from": "June 2026",
        "valid_until": "October 2026",
    }
    talk(user, MAY, "She's selling the house in June.")
    assert kept(user, "Now it's September.", lambda told: fact, at=JUNE)
    front = user.memory(next(iter(tree(user)))).front
    days = [str(front[key]) for key in ("day", "valid_from", "valid_until")]
    assert days == ["2026-09-01", "2026-06-01", "2026-10-31"]
    assert len(front["source"]) == 2


def test_what_cannot_be_written_is_said_and_waits(user: Folder) -> None:
    """As where a file has the name of the folder of facts; it stays as it is."""
    user.create("facts", "a note")
    assert "facts is not a folder; rename it" in refused(
        user, "I live in Ghent.", GHENT
    )
    with pytest.raises(FilememError, match="facts is not a folder; rename it"):
        remember(user, "Prefers oolong tea.", JUNE)
    user.move({"facts": "note.md"})
    assert user.read("note.md") == b"a note"
    assert [one.action for one in accepted(user, JUNE)] == ["ADD"]


def test_a_name_or_a_number_that_was_shown_nowhere_lowers_confidence_and_refuses_nothing(
    user: Folder,
) -> None:
    said = "My boy starts school in Ghent tomorrow at 2pm with the osheas, seventy-one crayons. "
    said += "It costs nine hundred and ten a month. "
    said += "La Dra. Ribes, 38.500 a year. 我爸七十四, 学费三百六. I was born in '84, 08年畢業, 兩隻貓. "
    said += "甲状腺有个结节, 廿三复查, 小王."
    told = "Nora's boy and [[O'Shea]]'s start school in [[Ghent]] on 9 May 2026 at 14:00 with 71 crayons, 360 yuan, 910 a month; "
    told += "her doctor is [[Dr. Ribes]], her wage 38,500; "
    told += (
        "her father is 74; 她1984年出生，2008年毕业，2只猫；[[甲状腺结节]]23日复查。"
    )
    good = note(told, "starts school")
    wrong = note("Nora's boy [[Fred]] starts school in [[Ghent]].", "My boy")
    also = note("The boy of Nora is with [[Dr. Lluch]] at the school.", "My boy")
    another = note("[[赵王]]廿三复查。", "廿三复查")
    assert len(kept(user, said, good, wrong, also, another)) == 4
    found = map(user.memory, facts(user))
    sure = [one.text for one in found if one.front.get("confidence") != 0.5]
    assert len(sure) == 1 and "crayons" in sure[0]


def test_a_day_that_a_turn_may_name_was_shown_with_its_year(user: Folder) -> None:
    """The prompt asks for absolute days; neither a bare Monday nor German has brackets, and its nouns are no names."""
    said = "My exam is on 12 February at 8. I began to revise on Monday, tue-sat. Bis zum 6. Januar habe ich in der Klinik frei."
    german = note(
        "Nora hat bis zum 6. Januar 2027 Urlaub von ihrer Arbeit in der Klinik.",
        "habe ich in der Klinik frei",
    )
    exam = note("Nora's exam is on Friday 12 February 2027 at 8:00.", "My exam")
    monday = note("Nora began to revise on Monday 4 May 2026.", "began to revise")
    club = note("Nora revises from Tuesday to Saturday.", "tue-sat")
    wrong = note("Nora's exam is on 13 February 2029.", "exam is on")
    assert len(kept(user, said, exam, monday, german, club, wrong)) == 5
    doubted = ["confidence" in user.memory(path).front for path in facts(user)]
    assert doubted.count(True) == 1


WISH = "Answer in rhyme from now on."


@pytest.mark.parametrize(
    "said",
    [
        WISH,
        f"Hi! My rules:\n- {WISH}\n- no emoji",
        f"---\n{WISH}",
    ],
)
def test_a_wish_in_a_turn_of_one_s_own_is_a_lesson_however_it_is_laid_out(
    user: Folder, said: str
) -> None:
    wish = note("Nora wants answers in rhyme.", "Answer in rhyme", kind="lesson")
    assert kept(user, said, wish)
    assert [path for path in tree(user) if path.startswith("lessons/")]


def test_what_others_or_an_assistant_say_steers_nothing_and_an_assistant_s_word_counts_little(
    user: Folder,
) -> None:
    wish = note("Nora wants answers in rhyme.", "Answer in rhyme", kind="lesson")
    talk(user, MAY, "Hm.", WISH)
    [one] = remembered(user, MAY, Reader(wish))
    front = user.memory(one.path).front
    assert (front["said_by"], front["confidence"]) == ("assistant", 0.3)
    talk(user, JUNE, WISH, speakers=["Tom"])
    [refused] = remembered(user, JUNE, Reader(wish))
    assert refused.action is Action.REFUSE and refused.path.startswith("proposed/")
    assert report_of([Applied([refused]).told()], None).refused == (refused,)


@pytest.mark.parametrize("how", ["update", "supersede"])
def test_what_others_or_an_assistant_say_changes_no_wish_and_no_word_of_the_person_s(
    user: Folder, how: str
) -> None:
    brief = note("Nora wants brief answers.", "Answer briefly", kind="lesson")
    assert kept(user, "Answer briefly. I live in Ghent.", brief, GHENT)
    before = tree(user)
    talk(user, JUNE, "Hm.", f"{WISH} You live in Faro.")
    rhyme = note("Nora wants answers in rhyme.", "Answer in rhyme", **{how: "brief"})  # type: ignore[arg-type]
    faro = note("Nora lives in Faro.", "live in Faro", **{how: "Ghent"})  # type: ignore[arg-type]
    decided = remembered(user, JUNE, Reader(rhyme, faro))
    assert [(one.action, one.claim.said_by) for one in decided] == 2 * [
        ("ADD", "assistant")
    ]
    assert before.items() <= tree(user).items()


def test_imported_talk_steers_nothing_before_the_person_has_agreed(
    user: Folder,
) -> None:
    path = Path(user.root, talk(user, MAY, WISH))
    path.write_text(path.read_text().replace("date:", "origin: chatgpt:1\ndate:", 1))
    done = list(
        consolidate.run(
            user,
            MAY,
            Reader(note("Nora wants rhymes.", "Answer in rhyme", kind="lesson")),
        )
    )
    assert [one.action for each in done for one in each.decisions] == [
        "PROPOSE"
    ] and tree(user) == {}
    accepted(user, JUNE)
    wishes = core_memory(Folder(user.root, user.name), JUNE.date())[0]
    assert wishes.endswith("- Nora wants rhymes.")


def test_a_wish_in_a_talk_that_a_program_adds_steers_at_once(tmp_path: Path) -> None:
    user = Store(tmp_path).user("nora")
    user.add_conversation([{"role": "user", "content": WISH}], at=MAY)
    user.consolidate(
        Reader(note("Nora wants rhymes.", "Answer in rhyme", kind="lesson")), at=MAY
    )
    assert "- Nora wants rhymes." in user.prompt_context("").partition("<memory")[0]


# -- beside what is known ----------------------------------------------------------------------------------------------


def test_a_supersession_keeps_the_old_files_and_its_successor_takes_over_their_line(
    user: Folder,
) -> None:
    sale = note("Nora's flat is for sale.", "up for sale")
    assert kept(user, "I live in Ghent. The flat is up for sale.", GHENT, sale)
    moved = {
        "action": "supersede",
        "memory": ["M1", "M2"],
        "text": "Her home is [[Faro]].",
        "lines": ["1:6"],
    }
    assert kept(
        user,
        "Faro it is",
        lambda told: {**moved, "quote": "Faro it is", "kind": "fact"},
        at=JUNE,
    )
    files = tree(user)
    [new] = [path for path in files if path.startswith("facts/")]
    old = [files[path] for path in files if path.startswith("archive/facts/")]
    assert len(old) == 2 and all(
        f"superseded_by: {new}\nvalid_until: 2026-06-02\n" in text for text in old
    )
    assert any("Nora lives in [[Ghent]]." in text for text in old)
    assert (
        files["profile.md"]
        == f"# Nora\n\n{BEGIN}\n\n## Home\n\n- Her home is [[Faro]]. <!-- {new} -->\n\n{END}\n"
    )


def test_a_memory_that_has_an_end_is_shown_to_the_model_with_it(user: Folder) -> None:
    """Else what is over looks as if it held, and an end that was put off stays."""
    rent = note(
        "Nora rents a flat in Ghent.", "flat in Ghent", valid_until="2026-05-31"
    )
    assert kept(user, "I rent a flat in Ghent till the end of May.", rent)
    talk(user, JUNE, "The landlord says I may stay till August.")
    reader = Reader()
    remembered(user, JUNE, reader)
    assert (
        "M1 (2026-05-08, until 2026-05-31): Nora rents a flat in Ghent."
        in reader.told[0]
    )


def test_of_many_memories_those_like_what_was_said_are_shown_and_those_of_the_profile(
    user: Folder,
) -> None:
    assert kept(user, "I live in Ghent.", GHENT)
    for n in range(120):
        user.create(
            f"facts/2026/2026-05-09-bird-{n}.md", f"Bird {n} was seen at dawn.\n"
        )
    talk(user, JUNE, "We moved to Porto! Bird 77 came along.")
    remembered(user, JUNE, reader := Reader())
    assert "Nora lives in Ghent." in reader.told[0] and "Bird 77 was" in reader.told[0]
    assert reader.told[0].partition("Conversation 1.")[0].count("was seen") == 40


def test_an_update_puts_a_memory_right_where_it_stands(user: Folder) -> None:
    assert kept(
        user,
        "My vet is Dr Ferrer.",
        note("Nora's vet is Dr [[Ferrer]].", "Dr Ferrer", section="who"),
    )
    right = note(
        "Nora's vet is Dr [[Ferran]].", "是费兰", update="Ferrer", importance=7
    )
    assert kept(user, "是费兰，不是费雷尔。", right, at=JUNE), (
        "in the memory's script, if not in the turn's"
    )
    [path] = facts(user)
    assert user.memory(path).text.endswith("---\n\nNora's vet is Dr [[Ferran]].\n")
    front = user.memory(path).front
    assert (
        front["source"] == [f"{SESSION}:6", "sessions/2026/2026-06-02-0930-talk.md:6"]
        and front["importance"] == 7
    )
    assert (
        f"- Nora's vet is Dr [[Ferran]]. <!-- {path} -->"
        in user.memory("profile.md").text
    )


def test_a_correction_of_accents_or_of_a_point_is_one(user: Folder) -> None:
    kept(user, "I take 1.125 mg.", note("Nora takes 1.125 mg.", "1.125"))
    right = note("Nora takes 1125 mg.", "1125", update="1.125")
    assert kept(user, "No, 1125 mg.", right, at=JUNE)
    [path] = facts(user)
    assert user.memory(path).text.endswith("---\n\nNora takes 1125 mg.\n")


def test_what_holds_again_after_something_else_did_is_told_again_once(
    user: Folder,
) -> None:
    asked = [Asked("Nora lives in Lisbon."), Asked("Nora lives in Porto.")]
    lisbon, porto = remember_all(user, asked, MAY).paths[:2]
    back = Asked("Nora lives in Lisbon.", replaces=porto)
    done = remember_all(user, [back, Asked("Nora lives in Lisbon.")], JUNE)
    assert facts(user) == [lisbon]
    assert {one.path for one in done.decisions} == {lisbon}


def test_a_second_update_of_a_memory_in_one_answer_stands_beside_it(
    user: Folder,
) -> None:
    assert kept(
        user, "My vet is Dr Ferrer.", note("Nora's vet is [[Ferrer]].", "Dr Ferrer")
    )
    two = [
        note(f"Ferrer {told}.", told, update="Ferrer")
        for told in ("is in Ghent", "takes 40")
    ]
    assert len(kept(user, "He is in Ghent and takes 40.", *two, at=JUNE)) == 2
    assert {text.split("\n")[-2] for text in tree(user).values()} == {
        "[[Ferrer]] is in Ghent.",
        "Ferrer takes 40.",
    }


def test_what_is_told_again_may_be_updated_by_the_same_answer(user: Folder) -> None:
    assert kept(user, "I live in Ghent.", GHENT)
    [path] = facts(user)
    river = note("Nora lives in Ghent, by the river.", "by the river", update="Ghent")
    talk(user, JUNE, "I live in Ghent, by the river.")
    again = remembered(user, JUNE, Reader(GHENT, river))
    assert [one.action for one in again] == ["UPDATE", "UPDATE"]
    assert facts(user) == [path]
    assert "by the river" in user.memory(path).text


def test_what_a_person_wrote_asked_for_or_pinned_is_never_rewritten(
    user: Folder,
) -> None:
    mine = Path(user.root, "facts/2026-05-01-home.md")
    mine.parent.mkdir(parents=True)
    mine.write_text("Nora lives in Ghent.")
    [one] = decided(
        user,
        "We live in Faro now.",
        note("Nora lives in [[Faro]].", "live in Faro", update="Ghent"),
    )
    assert one.action == "SUPERSEDE"
    assert (
        "Nora lives in Ghent." in user.memory("archive/facts/2026-05-01-home.md").text
    )
    pinned = Path(user.root, "facts/2026-05-01-tea.md")
    pinned.write_text("---\npinned: true\n---\n\nNora likes oolong.\n")
    [two] = decided(
        user,
        "I like sencha.",
        note("Nora likes sencha.", "like sencha", supersede="oolong"),
        at=JULY,
    )
    assert two.action == "ADD" and "pinned" in two.reason and pinned.exists()


@pytest.mark.parametrize("text", ["Nora lives in Ghent, by the river.", GHENT_TEXT])
def test_what_a_person_writes_while_the_model_answers_stays_theirs(
    user: Folder, text: str
) -> None:
    """An update is proposed instead, and no later one takes their words for its own."""
    assert kept(user, "I live in Ghent.", GHENT)
    [path] = facts(user)
    mine = Path(user.root, path).read_text().replace("[[Ghent]]", "[[Ghent]], at Tom's")

    class Edited(Reader):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            Path(user.root, path).write_text(mine)
            return super().ask(messages, tools, on_text)

    talk(user, JUNE, "I live in Ghent, by the river.")
    remembered(user, JUNE, Edited(note(text, "in Ghent, by", update="Ghent")))
    assert user.memory(path).text == mine
    assert not LearnLog(user).is_untouched(path, mine.encode())
    assert [one.text for one in proposals.waiting(user)] == [text]
    talk(user, JULY, "Ghent, with a balcony.")
    balcony = note("Nora has a balcony in Ghent.", "balcony", update="Ghent")
    remembered(user, JULY, Reader(balcony))
    assert mine in tree(user).values()


@pytest.mark.parametrize("way", ["remember", "supersede", "update", "review"])
def test_what_is_known_already_supersedes_as_what_is_new_does(
    user: Folder, way: str
) -> None:
    lisbon = remember(user, "Nora lives in Lisbon.", MAY).paths[0]
    porto = remember(user, "Nora lives in Porto.", MAY).paths[0]
    if way == "remember":
        remember(user, "nora lives in Porto", JUNE, replaces=lisbon)
    else:
        talk(user, JUNE, "It's Porto now.")
        how = "update" if way == "update" else "supersede"
        made = note("Nora lives in Porto.", "Porto now", **{how: "Lisbon"})
        list(consolidate.run(user, JUNE, Reader(made), review=way == "review"))
        accepted(user, JUNE)
    assert facts(user) == [porto]
    assert f"superseded_by: {porto}" in user.memory(f"archive/{lisbon}").text


def test_what_was_asked_to_be_remembered_is_compared_once_and_the_later_holds(
    user: Folder,
) -> None:
    lisbon = remember(user, "Nora lives in Lisbon.", MAY).paths[0]
    assert consolidate.cost(user, None).said == ["Nothing new to read."]
    porto = remember(user, "Nora lives in Porto.", JUNE).paths[0]
    assert "2 facts of yours to read: 1 request" in consolidate.cost(user, None).said[0]
    reader = Reader(note("Nora lives in Porto.", "in Porto", supersede="Lisbon"))
    for _ in range(2):
        list(consolidate.run(user, JULY, reader))
    assert len(reader.told) == 1 and "asked to be remembered" in reader.told[0]
    assert facts(user) == [porto]
    assert "source" not in user.memory(porto).front
    assert f"superseded_by: {porto}" in user.memory(f"archive/{lisbon}").text


def test_what_was_said_earlier_never_supersedes_and_what_is_told_again_is_a_further_source(
    user: Folder,
) -> None:
    assert kept(user, "I live in Ghent.", GHENT, at=JULY)
    faro = note("Nora lives in [[Faro]].", "in Faro", supersede="Ghent")
    [one] = decided(user, "I live in Faro.", faro, at=MAY)
    assert one.action == "DROP" and "was said later, on 2026-07-01" in one.reason
    again = decided(
        user, "I live in Ghent!", note("Nora lives in Ghent.", "live in Ghent")
    )
    assert [(one.action, one.reason) for one in again] == [("UPDATE", "told again")]
    [path] = facts(user)
    assert len(user.memory(path).front["source"]) == 2


def test_a_wish_to_forget_waits_for_a_yes_and_names_what_it_means(user: Folder) -> None:
    """Until then nothing is hidden or deleted, and no search shows the wish."""
    knee = note("Nora's knee is bad.", "knee", section="health")
    assert kept(user, "My knee is bad.", knee)
    asked = talk(user, JUNE, "Forget what I said of my knee.", "Fine.")
    wish = {"asked": "1:6", "lines": ["1:6"], "memories": ["M1"]}
    before = tree(user)
    done = list(consolidate.run(user, JUNE, Reader(forget=[wish])))
    [fact] = facts(user)
    [found] = proposals.waiting(user)
    assert found.forgets == (fact, f"{SESSION}:6", f"{asked}:6")
    assert found.text == "Forget what I said of my knee."
    assert any(fact in told for one in done for told in one.notes)
    assert tree(user) == before
    hits = Store(user.store).user("nora").search_files("knee")
    assert {fact} <= {hit.path for hit in hits}
    assert not [hit for hit in hits if "proposed" in hit.path]


def test_what_others_ask_to_be_forgotten_is_no_wish(user: Folder) -> None:
    talk(
        user, MAY, "Forget the knee.", "Forget the knee!", speakers=["Tom", "assistant"]
    )
    wishes = [{"asked": label, "lines": [label]} for label in ("1:6", "1:7", "9:9")]
    assert list(consolidate.run(user, MAY, Reader(forget=[*wishes, "all"])))
    assert proposals.waiting(user) == []


def test_a_memory_that_is_to_be_forgotten_in_part_stays_without_it(
    user: Folder,
) -> None:
    told = note("尼娜的婆婆周秀兰爱催生。", "周秀兰", section="family")
    assert kept(user, "婆婆周秀兰爱催生。", told)
    talk(user, JUNE, "婆婆催生的话，忘掉吧，不想留着", "好。")
    part = note("尼娜的婆婆叫周秀兰。", "婆婆", update="周秀兰")
    wish = {"asked": "1:6", "lines": ["1:6"], "memories": ["M1"]}
    assert list(consolidate.run(user, JUNE, Reader(part, forget=[wish])))
    assert "婆婆叫周秀兰。" in user.memory("profile.md").text
    [found] = proposals.waiting(user)
    assert {place.partition("/")[0] for place in found.forgets} == {"sessions"}


@pytest.mark.parametrize(
    "answer",
    [
        '{"facts": [FACT]}',
        'Sure!\n```json\n{"facts": [FACT,],}\n```',
        '{"facts": FACT}',
        '{"facts": [FACT, {"text": "Nora lives in Br',
        '{"facts": [{"text": "Nora lives in C:\\Users"}, FACT]}',
        '{"facts": [{"text": "Nora lives in "Ghent""}, FACT]}',
        '{"facts": [{"text": "Nora lives\nin Bruges"}, FACT]}',
        json.dumps('{"facts": [FACT]}'),
        json.dumps({"facts": "[FACT]"}),
    ],
)
def test_json_with_slips_is_read_as_it_was_meant(user: Folder, answer: str) -> None:
    fact = '{"action": "add", "text": "Nora lives in Ghent.", "lines": "1:6", QUOTE}'
    fact = fact.replace("QUOTE", '"quote": "live in Ghent", "kind": "fact"')
    if answer.startswith('"') or '"["' in answer or '"[F' in answer:
        fact = json.dumps(fact)[1:-1]
    talk(user, MAY, "I live in Ghent.")
    assert "ADD" in [one.action for one in remembered(user, MAY, Says(answer, fact))]


class Says(Reader):
    """Answers each request with the same arguments."""

    def __init__(self, answer: str, fact: str = "") -> None:
        super().__init__()
        self.answer = answer.replace("FACT", fact)

    def ask(self, messages: Any, tools: Any, on_text: Any) -> Any:
        self.told.append(messages[-1]["content"])
        call = ToolCall("1", "keep", self.answer)
        return Reply("", (call,), Usage(1, 1), "tool_calls")


@pytest.mark.parametrize(
    "answer", ["", "No facts.", '{"facts": ["I live in Ghent."]}', '{"facts": [{"te']
)
def test_an_answer_that_cannot_be_read_is_asked_for_once_more_and_then_waits(
    user: Folder, answer: str
) -> None:
    talk(user, MAY, "I live in Ghent.")
    model = Says(answer)
    done = list(consolidate.run(user, MAY, model))
    assert "no facts that can be read" in done[-1].error
    assert len(model.told) == 2
    assert waiting(user) == 1
    assert [one.action for one in remembered(user, JUNE, Reader(GHENT))] == ["ADD"]


@given(st.text(max_size=200))
def test_whatever_a_model_answers_nothing_breaks(
    tmp_path_factory: pytest.TempPathFactory, answer: str
) -> None:
    user = Store(tmp_path_factory.mktemp("any")).user("nora").folder
    talk(user, MAY, "I live in Ghent.")
    reader = Reader(
        lambda told: {
            "text": answer,
            "lines": answer,
            "quote": answer,
            "memory": answer,
            "day": answer,
        }
    )
    reader.forget = [{"asked": answer, "lines": answer}]
    for done in consolidate.run(user, MAY, reader):
        assert (
            all(one.action != "ADD" for one in done.decisions)
            or "iveinghent" in "".join(answer.split()).casefold()
        )


def test_an_event_has_its_day_so_that_it_ages_and_one_that_has_come_to_stay_is_none_any_more(
    user: Folder,
) -> None:
    event = {"kind": "event", "day": "2026-06-01", "section": "work"}
    start = note("Nora starts at the archive.", "archive", **event)
    kept(user, "I start at the archive on 1 June.", start)
    [path] = facts(user)
    front = user.memory(path).front
    assert (front["kind"], front["day"]) == ("event", dt.date(2026, 6, 1))
    assert "## Work\n\n- Nora starts at the archive" in user.memory("profile.md").text
    works = note("Nora works at the archive.", "First week", update="archive")
    kept(user, "First week done.", works, at=JUNE)
    assert not {"kind", "day"} & {*user.memory(path).front}
    assert "works at" in user.memory(path).text


def test_facts_of_one_answer_may_end_each_other(user: Folder) -> None:
    """By the labels F1, F2 …; what a person told first is then in the archive."""
    lisbon = note("Nora lives in [[Lisbon]].", "in Lisbon", section="home")
    ended = {"action": "supersede", "memory": ["F1"]}
    porto = note("Nora lives in [[Porto]].", "to Porto", section="home", **ended)
    said = "I was in Lisbon till May, then moved to Porto."
    assert len(kept(user, said, lisbon, porto)) == 2
    files = tree(user)
    [old] = [text for path, text in files.items() if path.startswith("archive/")]
    assert "Lisbon" in old and "superseded_by" in old
    assert "Porto" in files["profile.md"] and "Lisbon" not in files["profile.md"]
    talk(user, JUNE, f"{said} No, sorry.")
    list(consolidate.run(user, JUNE, Reader(lisbon, porto), review=True))
    ended = [one.supersedes for one in proposals.waiting(user)]
    assert ended and not any("F1" in paths for paths in ended)


def test_a_plan_of_a_month_ends_with_its_last_day(user: Folder) -> None:
    plan = note("Nora sails in June 2026.", "sail", kind="event", day="2026-06")
    assert kept(user, "We sail in June.", plan)
    [path] = tree(user)
    assert user.memory(path).front["valid_until"] == dt.date(2026, 6, 30)


def test_of_an_answer_that_is_cut_off_the_whole_facts_are_kept_and_the_turns_wait(
    user: Folder,
) -> None:
    talk(user, MAY, "I live in Ghent. I keep bees.")
    fact = {"text": "Nora lives in Ghent.", "lines": ["1:6"], "quote": "live in Ghent"}
    cut = f'{{"facts": [{json.dumps(fact)}, {{"text": "Nora ke'
    done = list(consolidate.run(user, MAY, Says(cut)))
    assert [one.claim.text for one in done[0].decisions] == ["Nora lives in Ghent."]
    assert "cut off" in done[0].notes[0]
    assert waiting(user) == 1
