"""Consolidation: a model reads all that was said, once, several conversations in a
request; code checks the form of what it notes.

What has its form is kept in the model's words; what has not is told with the reason and
waits for review, as does what the model could not read. Beside what is known it is new,
an update, or supersedes; what a person wrote is never rewritten, and nothing but their
own words steers the assistant.
"""

import datetime as dt
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conversations import (
    accepted,
    day,
    decided,
    facts,
    kept,
    read,
    remembered,
    talk,
    tree,
    waiting,
)
from hypothesis import given
from hypothesis import strategies as st
from reader import Reader, note
from scripted_server import ScriptedServer, fail, say

from filemem import FilememError, Store, jobs
from filemem.chat.core_memory import core_memory
from filemem.learn import consolidate, proposals
from filemem.learn.outcome import Applied
from filemem.learn.records import Action, Claim, Decision
from filemem.learn.remember import Asked, remember, remember_all
from filemem.llm.client import OpenAIModel
from filemem.llm.model import FailFastModel, PromptTooLong, Reply, ToolCall, Usage
from filemem.reports import report_of
from filemem.store.folder import Folder
from filemem.store.learned import LearnLog
from filemem.store.profile_sections import BEGIN, END
from filemem.store.users import StoreFolder
from filemem.text.quotes import stands_in

MAY = day(5, 8)
JUNE = day(6, 2)
JULY = day(7, 1)
SESSION = "sessions/2026/2026-05-08-0930-talk.md"
GHENT_TEXT = "Nora lives in Ghent."
GHENT = note("Nora lives in [[Ghent]].", "live in Ghent", section="home", importance=8)
PLAIN = {"text": "Nora lives in Ghent.", "lines": "1:7", "quote": "live in Ghent"}
BEES = {"text": "Nora keeps bees.", "lines": "1:7", "quote": "keep bees"}
FERRER = note("Nora's vet is Dr [[Ferrer]].", "Dr Ferrer", section="who")
WISH = "Answer in rhyme from now on."
RHYME = note("Nora wants answers in rhyme.", "Answer in rhyme", kind="Lesson")


@pytest.fixture
def nora(user: Folder) -> Folder:
    """Somebody of whom it is known where they live."""
    assert kept(user, MAY, "I live in Ghent.", GHENT)
    return user


class Says(Reader):
    """Answers each request with the same arguments, or in the end with none."""

    def __init__(self, answer: str, finish: str = "tool_calls") -> None:
        super().__init__()
        self.answer = answer
        self.finish = finish

    def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
        self.told.append(messages[-1]["content"])
        call = ToolCall("1", "keep", self.answer)
        return Reply("", (call,), Usage(1, 1), self.finish)


# -- what is read ----------------------------------------------------------------------


def test_several_conversations_go_into_one_request_each_under_its_day_and_are_read_once(
    user: Folder,
) -> None:
    """Relative days are resolved."""
    talk(user, MAY, "I live in Ghent.", "Nice.", "Yes.")
    path = talk(user, JUNE, "Met Tom yesterday.\n> Hi!\n\nOK.", "Good.")
    user.append(path, "- **nora** 2026-06-03 00:10: Tom comes tomorrow.\n")
    cost = consolidate.cost(user, None).facts
    assert (cost["conversations"], cost["requests"]) == (2, 1)
    assert 100 < cost["tokens"] < 3_000
    reader = Reader(GHENT)
    read(user, JULY, reader)
    for shown in (
        "Friday 8 May 2026 (2026-05-08):\n[1:7] Nora: I live in Ghent.\n[1:8] ",
        "[2:7] Nora: Met Tom yesterday [1 June 2026].\n  > Hi!\n  \n  OK.\n[2:11]",
        "Wednesday 3 June 2026 (2026-06-03):\n[2:12] Nora: Tom comes tomorrow [4 June",
    ):
        assert shown in reader.told[0]
    assert remembered(user, JULY, reader) == [] and len(reader.told) == 1
    assert waiting(user) == 0


def test_a_run_says_for_scripts_what_it_took(user: Folder) -> None:
    """Each request with the tokens that the endpoint reports."""
    talk(user, MAY, "I live in Ghent.", "Nice.")
    done = jobs.consolidate(user, JULY, Reader(GHENT)).facts
    assert (done["requests"], done["tokens"]) == (1, 1_100)
    assert [one["action"] for one in done["facts"]] == ["add"]


def test_every_turn_is_sent_and_more_than_a_request_holds_goes_into_the_next(
    user: Folder,
) -> None:
    """Whatever its language or length."""
    said = ["El lunes me mudo a Faro.", "k", "我换工作了。", "ok?"]
    said += [f"{n} " + "and so on " * 150 for n in range(20)]
    for n, text in enumerate(said):
        talk(user, day(5, n + 1), text)
    reader = Reader()
    read(user, JUNE, reader)
    assert len(reader.told) > 1
    for text in said:
        assert any(text[:20] in told for told in reader.told)


def test_a_long_turn_is_cut_and_that_is_told(user: Folder) -> None:
    """An assistant's much sooner: its last sentences are what a short reply leans on."""
    last = "Do you mean the harness or the belt, which are both of leather?"
    asked = f"There are many, as you know. {'And more ' * 90}of them. {last}"
    talk(user, MAY, "What do I buy?", asked, "The first one.")
    long = talk(user, JUNE, f"I live in Ghent. {'word ' * 20_000} I keep bees.")
    reader = Reader(note("Nora buys a harness.", "The first one"))
    done = read(user, JULY, reader)
    assert f"{long}:7 is long" in "".join(done.notes)
    told = "".join(reader.told)
    assert f"assistant: … {last}\n[1:9] Nora: The first one." in told
    assert "I keep bees" in told and len(told) < 60_000


def test_of_an_assistant_only_that_is_read_on_which_a_short_reply_leans(
    user: Folder,
) -> None:
    answer = "I live in Ghent. " * 20
    talk(user, MAY, "Hi.", "Bread or cake?", "Cake.", "Enjoy it!", answer, "Nice.")
    reader = Reader(note("Nora has cake.", "Cake."))
    assert len(remembered(user, JUNE, reader)) == 1
    assert "Bread or cake?" in reader.told[0]
    assert "Enjoy" not in reader.told[0] and "Nice" not in reader.told[0]
    assert waiting(user) == 0


def test_what_a_turn_leans_on_is_shown_with_it(user: Folder) -> None:
    """And the same words said again are another turn."""
    path = talk(user, MAY, "Is Ana your sister?", speakers=["tom"])
    read(user, JUNE, Reader())
    user.append(path, "- **nora** 10:00: yes\n- **tom** 10:01: Sure?\n")
    user.append(path, "- **nora** 10:02: yes\n")
    reader = Reader()
    read(user, JUNE, reader)
    assert "[1:7] (read before) Tom: Is Ana your sister?" in reader.told[0]
    assert reader.told[0].count("Nora: yes") == 2
    assert waiting(user) == 0


def test_a_turn_that_a_person_has_emptied_keeps_no_other_from_being_read(
    user: Folder,
) -> None:
    path = Path(user.root, talk(user, MAY, "Hush.", "I see.", "I live in Ghent."))
    path.write_text(path.read_text().replace("Hush.", ""))
    assert [one.action for one in remembered(user, JUNE, Reader(GHENT))] == ["ADD"]
    assert waiting(user) == 0


def test_a_session_that_is_edited_after_it_was_read_is_read_anew(user: Folder) -> None:
    """Not one whose time alone has changed, as by a checkout of git."""
    path = Path(user.root, talk(user, MAY, "I live in Porto."))
    read(user, JUNE, Reader())
    path.touch()
    assert waiting(user) == 0
    path.write_text(path.read_text().replace("Porto", "Braga"))
    read(user, JUNE, reader := Reader())
    assert "I live in Braga." in reader.told[0]


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
    lesson = note("make needs FOO_DIR.", "FOO_DIR is missing", kind="lesson")
    reader = Reader(lesson)
    [one] = user.consolidate(reader, at=JULY).kept
    assert one.path.startswith("lessons/") and len(reader.told[0]) < 2_000
    assert "FOO_DIR" not in user.prompt_context()


# -- what a model or an endpoint cannot do ---------------------------------------------


def test_an_endpoint_that_fails_leaves_what_was_read_and_the_rest_waits(
    user: Folder, server: ScriptedServer
) -> None:
    """The error is told."""
    for n in range(6):
        talk(user, day(5, n + 1), f"I live in Ghent {n}. " + "and so on " * 1_200)
    server.script(Reader(note("Nora lives in Ghent.", "live in Ghent 0")).step)
    server.default = fail(400, "no more")
    done = read(user, JUNE, OpenAIModel("test", server.base_url))
    assert [one.claim.text for one in done.decisions] == ["Nora lives in Ghent."]
    assert "no more" in done.error and 0 < waiting(user) < 6


def test_a_model_that_takes_no_tools_is_asked_without_them(
    user: Folder, server: ScriptedServer
) -> None:
    """By a job too, which asks no more after a failure."""
    talk(user, MAY, "I live in Ghent.")
    answer = say(json.dumps({"facts": [PLAIN]}))
    server.script(fail(400, "tools are not supported"), answer)
    model = FailFastModel(OpenAIModel("test", server.base_url))
    assert [one.action for one in read(user, JUNE, model).decisions] == ["ADD"]


def test_an_answer_that_is_cut_off_is_asked_for_again_in_halves(user: Folder) -> None:
    """By conversations, then by turns; each turn is read once."""

    class Short(Reader):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            return replace(super().ask(messages, tools, on_text), finish="length")

    talk(user, MAY, "I live in Ghent.", "I keep bees.", speakers=["nora"])
    talk(user, JUNE, "I like tea.")
    reader = Short(echo=True)
    noted = [one.claim.text for one in remembered(user, JULY, reader)]
    assert noted == ["I live in Ghent.", "I keep bees.", "I like tea."]
    assert len(reader.told) == 5 and waiting(user) == 0


@pytest.mark.parametrize("finish", ["length", "tool_calls"])
def test_of_an_answer_that_is_cut_off_the_whole_notes_are_kept_and_the_turns_wait(
    user: Folder, finish: str
) -> None:
    """Read again they are neither kept nor proposed a second time."""
    talk(user, MAY, "I live in Ghent. Forget the bees.")
    wish = {"asked": "1:7", "lines": ["1:7"]}
    begun = json.dumps({"forget": [wish], "facts": [PLAIN]})[:-2]
    for _ in range(2):
        done = read(user, MAY, Says(begun + ', {"text": "Nora ke', finish))
        assert "cut off" in done.error and waiting(user) == 1
        assert len(facts(user)) == len(user.proposals()) == 1


@pytest.mark.parametrize(
    ("second", "waits"),
    [("Sorry.", 1), ('{"facts": []}', 0), (json.dumps({"facts": [BEES]}), 0)],
)
def test_what_an_answer_said_whole_is_kept_whatever_the_second_says(
    user: Folder, second: str, waits: int
) -> None:
    """Its end was missing: the rest is asked for, and told what is kept."""

    class Goes(Says):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            first = super().ask(messages, tools, on_text)
            if len(self.told) == 1:
                return first
            return Reply(second, (), first.usage, "stop")

    talk(user, MAY, "I live in Ghent. I keep bees.")
    model = Goes(json.dumps({"facts": [PLAIN]})[:-2] + ", {")
    done = read(user, MAY, model)
    told = [one.claim.text for one in done.decisions]
    assert told == [PLAIN["text"]] + [BEES["text"]] * second.count("bees.")
    assert waiting(user) == waits
    assert PLAIN["text"] in model.told[1]


@pytest.mark.parametrize(("words", "declined", "runs"), [(1, 3, 1), (4_200, 6, 2)])
def test_conversations_that_a_model_declines_to_read_keep_no_other_from_being_read(
    user: Folder, words: int, declined: int, runs: int
) -> None:
    """In one request with it or before it; they wait, and come last from then on."""

    class Declines(Reader):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            if "knife" in messages[-1]["content"]:
                return Reply("I can't help with that.", (), Usage(1, 1), "stop")
            return super().ask(messages, tools, on_text)

    for n in range(declined):
        talk(user, day(5, n + 1), "He had a knife. " + "word " * words)
    talk(user, JUNE, "I live in Ghent.")
    for _ in range(runs):
        done = read(user, JULY, Declines(GHENT))
    assert [one.claim.text for one in done.decisions] == ["Nora lives in [[Ghent]]."]
    assert "waits" in done.error and waiting(user) == declined


@pytest.mark.parametrize("is_long", [False, True])
def test_a_turn_that_cannot_be_read_keeps_no_other_from_being_read(
    user: Folder, is_long: bool
) -> None:
    """Too long a one, or one that the model answers with a shrug."""

    class Odd(Reader):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            told = messages[-1]["content"]
            if not re.search(r"(?m)^\[[\d:]+\] Nora: mumble", told):
                return super().ask(messages, tools, on_text)
            if is_long:
                raise PromptTooLong("reader has no room for that.")
            full = "length" if "Ghent" in told else "stop"
            return Reply("Sorry.", (), Usage(1, 1), full)

    talk(user, MAY, "mumble", "I live in Ghent.", speakers=["nora"])
    done = read(user, JUNE, Odd(GHENT))
    assert [one.claim.text for one in done.decisions] == ["Nora lives in [[Ghent]]."]
    assert "waits" in done.error and waiting(user) == 1


def test_of_several_calls_each_is_read(user: Folder) -> None:
    """A model may note each fact by a call of its own."""

    class Calls(Reader):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            noted = self.keep(messages[-1]["content"])["facts"]
            calls = []
            for fact in noted:
                calls.append(ToolCall("1", "keep", json.dumps({"facts": [fact]})))
            return Reply("", tuple(calls), Usage(1, 1), "tool_calls")

    talk(user, MAY, "I live in Ghent.", "And?", "I keep bees.")
    noted = [one.claim.text for one in remembered(user, MAY, Calls(echo=True))]
    assert noted == ["I live in Ghent.", "I keep bees."]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "No facts.",
        '{"facts": ["I live in Ghent."]}',
        '{"facts": [{"te',
        '{"forget": [], "fac',
    ],
)
def test_an_answer_that_cannot_be_read_is_asked_for_once_more_and_then_waits(
    user: Folder, answer: str
) -> None:
    """The next run, or another model, reads it."""
    talk(user, MAY, "I live in Ghent.")
    model = Says(answer)
    assert "no facts that can be read" in read(user, MAY, model).error
    assert len(model.told) == 2 and waiting(user) == 1
    assert [one.action for one in remembered(user, JUNE, Reader(GHENT))] == ["ADD"]


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
        json.dumps({"facts": [PLAIN | {"text": {"en": GHENT_TEXT}}]}),
    ],
)
def test_json_with_slips_is_read_as_it_was_meant(user: Folder, answer: str) -> None:
    """Each whole fact is taken."""
    fact = json.dumps(PLAIN)
    if answer.startswith('"') or '"[F' in answer:
        fact = json.dumps(fact)[1:-1]
    talk(user, MAY, "I live in Ghent.")
    done = read(user, MAY, Says(answer.replace("FACT", fact)))
    assert "ADD" in [one.action for one in done.decisions]


def test_an_escaped_apostrophe_is_an_apostrophe(user: Folder) -> None:
    talk(user, MAY, "I live in Ghent.")
    fact = json.dumps(PLAIN).replace("Nora lives", r"Nora\'s home is")
    [done] = read(user, MAY, Says(f'{{"facts": [{fact}]}}')).decisions
    assert done.claim.text == "Nora's home is in Ghent."


@pytest.mark.parametrize(
    "answer",
    ["{}", "```json\n{}\n```", '{"forget": [{"asked": "1:7", "lines": ["1:7"]}]}'],
)
def test_an_answer_that_is_whole_and_without_facts_is_read(
    user: Folder, answer: str
) -> None:
    talk(user, MAY, "Forget the bees.")
    model = Says(answer)
    assert read(user, MAY, model).error == ""
    assert len(model.told) == 1 and waiting(user) == 0
    assert len(user.proposals()) == ("forget" in answer)


@given(st.text(max_size=200))
def test_whatever_a_model_answers_nothing_breaks(
    tmp_path_factory: pytest.TempPathFactory, answer: str
) -> None:
    user = StoreFolder(tmp_path_factory.mktemp("any")).folder("nora")
    talk(user, MAY, "I live in Ghent.")
    keys = ("text", "lines", "quote", "memory", "day")
    reader = Reader(lambda told: dict.fromkeys(keys, answer))
    reader.forget = [{"asked": answer, "lines": answer}]
    added = "ADD" in [one.action for one in remembered(user, MAY, reader)]
    assert not added or "iveinghent" in "".join(answer.split()).casefold()


@pytest.mark.parametrize("text", [True, 5, ["Nora"], None])
def test_a_fact_whose_text_is_no_text_is_none(user: Folder, text: object) -> None:
    assert (
        kept(user, MAY, "I live in Ghent.", lambda told: PLAIN | {"text": text}) == []
    )


def test_an_error_is_told_whatever_else_is_done_after_it() -> None:
    """And each kind of decision has its word."""
    claim = Claim("Nora lives in Ghent.", MAY.date())
    every = [Decision(action, "", claim) for action in Action]
    done = Applied(error="It failed.").plus(Applied(every))
    told = done.told().said
    assert "It failed." in told and len(told) == len(every) + 2


def test_without_a_model_all_waits(user: Folder) -> None:
    """Nothing is inferred."""
    talk(user, MAY, "I live in Ghent.")
    assert read(user, JUNE, None) == Applied()
    assert waiting(user) == 1 and tree(user) == {}


# -- form ------------------------------------------------------------------------------


def refused(user: Folder, said: str, *notes: Any) -> str:
    """Why nothing is kept of a turn: the one reason."""
    assert kept(user, MAY, said, *notes) == []
    [found] = proposals.waiting(user)
    return found.fault


def test_a_fact_in_the_model_s_own_words_is_kept_with_its_source(user: Folder) -> None:
    """It names who has put it so."""
    said = "ok so we closed on the flat in Ghent yesterday, 9 thousand under asking!!"
    bought = "Nora bought a flat in [[Ghent]] on 7 May 2026 for 9,000 less than asked."
    assert kept(user, MAY, said, note(bought, "closed on the flat in Ghent"))
    [path] = facts(user)
    front = f"---\ntype: fact\nsource: {SESSION}:7\nretold_by: reader\n---\n"
    assert user.memory(path).text == f"{front}\n{bought}\n"


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
    said: str, quote: str
) -> None:
    """Models misspell, put right and leave out."""
    assert stands_in(quote, said)
    assert not stands_in(f"No, {said[::-1]} indeed", said)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"quote": "I live in Bruges"}, "its quote 'I live in Bruges' stands in no"),
        ({"quote": ""}, "its quote '' stands in no turn that it cites"),
        ({"lines": ["3:9"]}, "its quote 'live in Ghent' stands in no turn"),
        ({"text": "Nora的密码是hunter22"}, "it is about a secret"),
        ({"action": "supersede", "memory": "M7"}, "the memory M7, which was not shown"),
        ({"action": "delete"}, "its action 'delete' is none of add, update, supersede"),
        ({"text": "Nora lives in Ghent. " * 40}, "it is longer than 400 characters"),
    ],
)
def test_what_has_not_its_form_is_told_and_waits_for_review(
    user: Folder, change: dict[str, Any], why: str
) -> None:
    """Accepted it is kept as it is."""
    fact = {"text": "Nora lives in Ghent.", "lines": ["1:7"], "quote": "live in Ghent"}
    assert why in refused(user, "I live in Ghent.", lambda told: fact | change)
    accepted(user, JUNE)
    [path] = facts(user)
    assert path.startswith("facts/2026/2026-05-08-")
    assert "confidence" not in user.memory(path).front  # the person is sure


def test_a_fact_of_two_turns_may_quote_both_and_name_them_and_its_days_in_any_form(
    user: Folder,
) -> None:
    """Each turn is a source."""
    fact = {
        "text": "Nora's aunt sells her house in September 2026.",
        "quote": "selling the house ... it's September",
        "lines": "[1:7], [2:7]",
        "kind": "event",
        "day": "Tuesday 1 September 2026",
        "valid_from": "June 2026",
        "valid_until": "October 2026",
    }
    talk(user, MAY, "She's selling the house in June.")
    assert kept(user, JUNE, "Now it's September.", lambda told: fact)
    front = user.memory(facts(user)[0]).front
    days = [str(front[key]) for key in ("day", "valid_from", "valid_until")]
    assert days == ["2026-09-01", "2026-06-01", "2026-10-31"]
    assert len(front["source"]) == 2


@pytest.mark.parametrize(
    ("day", "first", "last"),
    [
        ("2026-06", "2026-06-01", "2026-06-30"),
        ("2026-03", "2026-03-01", "2026-03-31"),
        ("2025", "2025-01-01", "2025-12-31"),
        ("2026-06-04 to 2026-06-06", "2026-06-04", "2026-06-06"),
        ("6月4日到6日", "2026-06-04", "2026-06-06"),
    ],
)
def test_an_event_of_some_days_begins_with_the_first_and_ends_with_the_last(
    user: Folder, day: str, first: str, last: str
) -> None:
    """One to come fades from its end on."""
    plan = note("Nora sails.", "sail", kind="event", day=day)
    assert kept(user, MAY, "We sail.", plan)
    [text] = tree(user).values()
    assert f"valid_until: {last}\n" in text and f"day: {first}\n" in text


def test_what_cannot_be_written_is_said_and_waits(user: Folder) -> None:
    """As where a file has the name of the folder of facts; it stays as it is."""
    user.create("facts", "a note")
    why = "facts is not a folder; rename it"
    assert why in refused(user, "I live in Ghent.", GHENT)
    with pytest.raises(FilememError, match=why):
        remember(user, "Prefers oolong tea.", JUNE)
    user.move({"facts": "note.md"})
    assert user.read("note.md") == b"a note"
    assert [one.action for one in accepted(user, JUNE)] == ["ADD"]


SAID = """\
My boy starts school in Ghent tomorrow with the O'Sheas. It costs nine hundred and ten a month.
My exam is on 12 February at 8. I began to revise on Monday. La Dra. Ribes, 38.500 a year.
我爸七十四, 学费三百六. 08年畢業, 兩隻貓. 甲状腺有个结节, 廿三复查, 小王."""


@pytest.mark.parametrize(
    ("quote", "text", "is_shown"),
    [
        ("starts school", "Nora's boy starts school in [[Ghent]] on 9 May 2026.", True),
        ("costs nine", "School with the [[O'Shea]]s costs 910 a month.", True),
        ("La Dra. Ribes", "[[Dra. Ribes]] has 38,500 a year.", True),
        ("My exam", "Nora's exam is on Friday 12 February 2027 at 8:00.", True),
        ("began to revise", "Nora began to revise on Monday 4 May 2026.", True),
        ("我爸七十四", "爸爸74岁，学费360，2只猫；[[甲状腺结节]]23日复查。", True),
        ("My boy", "Nora's boy [[Fred]] starts school in [[Ghent]].", False),
        ("costs nine", "School costs 920 a month.", False),
        ("My exam", "Nora's exam is on 13 February 2029.", False),
        ("廿三复查", "[[赵王]]廿三复查。", False),
    ],
)
def test_a_name_or_a_number_that_was_shown_nowhere_lowers_confidence_and_refuses_nothing(
    user: Folder, quote: str, text: str, is_shown: bool
) -> None:
    """Such a fact has no line of the profile."""
    assert kept(user, MAY, SAID, note(text, quote, section="who")) == [text]
    [path] = facts(user)
    assert ("confidence" not in user.memory(path).front) is is_shown
    assert (f"- {text}" in tree(user).get("profile.md", "")) is is_shown


# -- what changes while the model answers ----------------------------------------------


class Meanwhile(Reader):
    """Something is done by others before it answers."""

    def __init__(self, act: Callable[[], object], *notes: Any) -> None:
        super().__init__(*notes)
        self.act = act

    def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
        self.act()
        return super().ask(messages, tools, on_text)


def test_what_is_kept_while_the_model_answers_is_kept_no_second_time(
    user: Folder,
) -> None:
    talk(user, MAY, "I live in Ghent.")
    other = Folder(user.root, user.name)
    read(user, JUNE, Meanwhile(lambda: remember(other, GHENT_TEXT, MAY), GHENT))
    assert len(facts(user)) == 1


def test_a_memory_that_goes_while_the_model_answers_stops_nothing(
    user: Folder,
) -> None:
    user.create("facts/tea.md", "Nora likes tea.\n")
    user.create("facts/coffee.md", "Nora likes coffee.\n")
    tea = Path(user.root, "facts/tea.md")
    for n in range(3):
        talk(user, day(5, n + 1), f"I live in Ghent {n}. " + "and so on " * 1_200)
    gone = Meanwhile(lambda: tea.unlink(missing_ok=True))
    assert not read(user, JUNE, gone).error and waiting(user) == 0


# -- who steers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", [f"Hi! My rules:\n- {WISH}\n- no emoji", f"---\n{WISH}"]
)
def test_a_wish_in_a_turn_of_one_s_own_steers_at_once_however_it_is_laid_out(
    tmp_path: Path, said: str
) -> None:
    """In a talk that a program adds, too."""
    user = Store(tmp_path).user("nora")
    user.add_conversation([{"role": "user", "content": said}], at=MAY)
    user.consolidate(Reader(RHYME), at=MAY)
    steering = user.prompt_context("").partition("<memory")[0]
    assert "- Nora wants answers in rhyme." in steering


def test_what_others_or_an_assistant_say_steers_nothing_and_an_assistant_s_word_counts_little(
    user: Folder,
) -> None:
    talk(user, MAY, "Hm.", WISH, "Hm.")
    [one] = remembered(user, MAY, Reader(RHYME))
    front = user.memory(one.path).front
    assert (front["said_by"], front["confidence"]) == ("assistant", 0.3)
    talk(user, JUNE, WISH, speakers=["Tom"])
    [refused] = remembered(user, JUNE, Reader(RHYME))
    assert refused.action is Action.REFUSE and refused.path.startswith("proposed/")
    assert report_of([Applied([refused]).told()], None).refused == (refused,)
    talk(user, JULY, "Whatever.", WISH, "Hm.")  # cited with a turn of the person's own
    cites_both = note("Nora likes rhymes.", "in rhyme", "Whatever", kind="lesson")
    [both] = remembered(user, JULY, Reader(cites_both))
    assert both.action is Action.REFUSE and len(both.claim.sources) == 2


@pytest.mark.parametrize("how", ["update", "supersede"])
def test_what_others_or_an_assistant_say_changes_no_wish_and_no_word_of_the_person_s(
    user: Folder, how: str
) -> None:
    """It stands beside."""
    brief = note("Nora wants brief answers.", "Answer briefly", kind="lesson")
    assert kept(user, MAY, "Answer briefly. I live in Ghent.", brief, GHENT)
    before = tree(user)
    talk(user, JUNE, "Hm.", f"{WISH} You live in Faro.", "Hm.")
    more: dict[str, Any] = {how: "brief"}
    rhyme = note("Nora wants answers in rhyme.", "in rhyme", kind="lesson", **more)
    faro = note("Nora lives in Faro.", "live in Faro", **more | {how: "Ghent"})
    found = remembered(user, JUNE, Reader(rhyme, faro))
    assert [(one.action, one.claim.said_by) for one in found] == 2 * [
        ("ADD", "assistant")
    ]
    assert before.items() <= tree(user).items()


def test_imported_talk_steers_nothing_before_the_person_has_agreed(
    user: Folder,
) -> None:
    """Then it does."""
    path = Path(user.root, talk(user, MAY, WISH))
    path.write_text(path.read_text().replace("date:", "origin: chatgpt:1\ndate:", 1))
    assert [one.action for one in remembered(user, MAY, Reader(RHYME))] == ["PROPOSE"]
    assert tree(user) == {}
    accepted(user, JUNE)
    wishes = core_memory(Folder(user.root, user.name), JUNE.date()).wishes
    assert wishes.endswith("- Nora wants answers in rhyme.")


# -- wishes to forget ------------------------------------------------------------------


def test_a_wish_to_forget_waits_for_a_yes_and_names_what_it_means(user: Folder) -> None:
    """Until then nothing is hidden or deleted, and no search shows the wish."""
    knee = note("Nora's knee is bad.", "knee", section="health")
    assert kept(user, MAY, "My knee is bad.", knee)
    asked = talk(user, JUNE, "Forget what I said of my knee.", "Fine.")
    wish = {"asked": "1:7", "lines": ["1:7"], "memories": ["M1"]}
    before = tree(user)
    [done] = remembered(user, JUNE, Reader(forget=[wish]))
    [fact] = facts(user)
    [found] = proposals.waiting(user)
    assert done.action == "PROPOSE" and done.path == found.path
    assert found.forgets == (fact, f"{SESSION}:7", f"{asked}:7")
    assert found.text == "Forget what I said of my knee."
    assert tree(user) == before
    hits = Store(user.store).user("nora").search_files("knee")
    assert {fact} <= {hit.path for hit in hits}
    assert not [hit for hit in hits if "proposed" in hit.path]


def test_what_others_ask_to_be_forgotten_is_no_wish(user: Folder) -> None:
    """Nor an assistant, nor what cites no turn."""
    talk(user, MAY, "Forget the knee.", "Forget it!", speakers=["Tom", "assistant"])
    wishes = [{"asked": label, "lines": [label]} for label in ("1:7", "1:8", "9:9")]
    assert remembered(user, MAY, Reader(forget=[*wishes, "all"])) == []
    assert proposals.waiting(user) == []


# -- what is shown beside --------------------------------------------------------------


def test_of_many_memories_those_like_what_was_said_are_shown_and_those_of_the_profile(
    nora: Folder,
) -> None:
    """A share of all, and the profile's."""
    for n in range(120):
        path = f"facts/2026/2026-05-09-bird-{n}.md"
        source = f"---\nsource: {SESSION}:7\n---\n"
        nora.create(path, f"{source}Bird {n} was seen at dawn.\n")
    talk(nora, JUNE, "We moved to Porto! Bird 77 came along.")
    read(nora, JUNE, reader := Reader())
    memories = reader.told[0].partition("Conversation 1.")[0]
    assert "Nora lives in [[Ghent]]." in memories
    assert "Bird 77 was" in memories
    assert memories.count("was seen") < 120


def test_a_memory_that_has_an_end_is_shown_to_the_model_with_it(user: Folder) -> None:
    """Else what is over looks as if it held, and an end that was put off stays."""
    rents = note("Nora rents in Ghent.", "flat in Ghent", valid_until="2026-05-31")
    assert kept(user, MAY, "I rent a flat in Ghent till the end of May.", rents)
    talk(user, JUNE, "The landlord says I may stay till August.")
    read(user, JUNE, reader := Reader())
    assert "M1 (2026-05-08, until 2026-05-31): Nora rents in Ghent." in reader.told[0]


# -- superseding -----------------------------------------------------------------------


def test_a_supersession_keeps_the_old_files_and_its_successor_takes_over_their_line(
    user: Folder,
) -> None:
    """Several may end together."""
    sale = note("Nora's flat is for sale.", "up for sale")
    assert kept(user, MAY, "I live in Ghent. The flat is up for sale.", GHENT, sale)
    both = {"action": "supersede", "memory": ["M1", "M2"]}
    moved = note("Her home is [[Faro]].", "Faro it is", **both)
    assert kept(user, JUNE, "Faro it is", moved)
    files = tree(user)
    [new] = facts(user)
    old = [text for path, text in files.items() if path.startswith("archive/facts/")]
    marks = f"superseded_by: {new}\nstatus: deprecated\nvalid_until: 2026-06-02\n"
    assert len(old) == 2 and all(marks in text for text in old)
    assert any("Nora lives in [[Ghent]]." in text for text in old)
    block = f"## Home\n\n- Her home is [[Faro]]. <!-- {new} -->"
    profile = f"# Nora\n\n{BEGIN}\n\n{block}\n\n{END}\n"
    assert files["profile.md"] == f"---\ntype: profile\n---\n\n{profile}"


@pytest.mark.parametrize("action", ["supersede", "update"])
@pytest.mark.parametrize("is_review", [False, True])
def test_facts_of_one_answer_may_end_each_other(
    user: Folder, is_review: bool, action: str
) -> None:
    """By the labels F1, F2 …; what a person told first is then in the archive."""
    lisbon = note("Nora lives in [[Lisbon]].", "in Lisbon", section="home")
    first = {"action": action, "memory": ["F1"]}
    porto = note("Nora lives in [[Porto]].", "to Porto", section="home", **first)
    talk(user, MAY, "I was in Lisbon till May, then moved to Porto.")
    read(user, MAY, Reader(lisbon, porto), review=is_review)
    accepted(user, MAY)
    files = tree(user)
    [old] = [text for path, text in files.items() if path.startswith("archive/")]
    assert "Lisbon" in old and "superseded_by" in old
    assert "Porto" in files["profile.md"] and "Lisbon" not in files["profile.md"]


def test_what_was_only_proposed_gets_no_line_of_the_profile(user: Folder) -> None:
    """Though it is told again, or was rejected meanwhile."""
    talk(user, MAY, "I live in Ghent.")
    fact = json.dumps(PLAIN | {"section": "home"})
    for is_rejected in (False, True):
        if is_rejected:
            Store(user.store).user("nora").review()[0].reject()
        read(user, JUNE, Says(f'{{"facts": [{fact}, {{'), review=True)
        read(user, JUNE, Says(f'{{"facts": [{fact}, {{'), review=True)
        assert tree(user) == {}


def test_what_is_told_again_is_proposed_to_nobody(nora: Folder) -> None:
    talk(nora, JUNE, "As I live in Ghent, where is the market?")
    [one] = read(nora, JUNE, Reader(GHENT), review=True).decisions
    assert one.action == "CONFIRM" and proposals.waiting(nora) == []


@pytest.mark.parametrize("way", ["remember", "supersede", "update", "review"])
def test_what_is_known_already_supersedes_as_what_is_new_does(
    user: Folder, way: str
) -> None:
    """And is kept no second time."""
    lisbon = remember(user, "Nora lives in Lisbon.", MAY).paths[0]
    porto = remember(user, "Nora lives in Porto.", MAY).paths[0]
    if way == "remember":
        remember(user, "nora lives in Porto", JUNE, replaces=lisbon)
    else:
        talk(user, JUNE, "It's Porto now.")
        how = "update" if way == "update" else "supersede"
        made = note("Nora lives in Porto.", "Porto now", **{how: "Lisbon"})
        read(user, JUNE, Reader(made), review=way == "review")
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
        read(user, JULY, reader)
    assert len(reader.told) == 1 and "asked to be remembered" in reader.told[0]
    assert facts(user) == [porto]
    assert "source" not in user.memory(porto).front
    assert f"superseded_by: {porto}" in user.memory(f"archive/{lisbon}").text


def test_what_was_said_earlier_supersedes_nothing_and_waits(user: Folder) -> None:
    """The person decides."""
    assert kept(user, JULY, "I live in Ghent.", GHENT)
    faro = note("Nora lives in [[Faro]].", "in Faro", supersede="Ghent")
    [one] = decided(user, MAY, "I live in Faro.", faro)
    assert one.action == "REFUSE" and "was said later" in one.reason
    assert facts(user) == ["facts/2026/2026-07-01-lives-in-ghent.md"]


def test_what_holds_again_after_something_else_did_is_told_again_once(
    user: Folder,
) -> None:
    """As one fact."""
    asked = [Asked("Nora lives in Lisbon."), Asked("Nora lives in Porto.")]
    lisbon, porto = remember_all(user, asked, MAY).paths[:2]
    back = Asked("Nora lives in Lisbon.", replaces=porto)
    done = remember_all(user, [back, Asked("Nora lives in Lisbon.")], JUNE)
    assert facts(user) == [lisbon]
    assert {one.path for one in done.decisions} == {lisbon}


# -- updating --------------------------------------------------------------------------


def test_an_update_puts_a_memory_right_where_it_stands(user: Folder) -> None:
    """In the memory's script, if not in the turn's; its line follows."""
    assert kept(user, MAY, "My vet is Dr Ferrer.", FERRER)
    new = {"update": "Ferrer", "importance": 7}
    said = "Nora's vet is Dr Ferran, not Ferrer."
    right = note(said, "是费兰", **new)
    assert kept(user, JUNE, "是费兰，不是费雷尔。", right)
    [path] = facts(user)
    linked = said.replace("Ferrer", "[[Ferrer]]")
    assert user.memory(path).text.endswith(f"---\n\n{linked}\n")
    front = user.memory(path).front
    assert front["importance"] == 7
    assert front["source"] == [f"{SESSION}:7", SESSION.replace("05-08", "06-02") + ":7"]
    assert f"- {linked} <!-- {path} -->" in user.memory("profile.md").text


def test_an_update_keeps_the_links_of_what_it_updates(user: Folder) -> None:
    """Which the model is shown, though it may leave them out."""
    before = "Nora plays [[cricket]] with [[Tom Hardy|Tom]] in [[Hyde Park]]."
    assert kept(user, MAY, "I play cricket.", note(before, "play cricket"))
    after = "Nora plays cricket with Tom on Tomsday."
    talk(user, JUNE, "It's Tomsday now.")
    reader = Reader(note(after, "Tomsday", update="cricket"))
    assert len(remembered(user, JUNE, reader)) == 1
    assert before in reader.told[0]
    [path] = facts(user)
    linked = "Nora plays [[cricket]] with [[Tom Hardy|Tom]] on Tomsday.\n"
    assert user.memory(path).text.endswith(linked)
    remember(user, "Sees [[Bryan Cole]] in [[Hyde Park]].", MAY)
    moved = note("Nora sees Bryan Cole in Ely.", "in Ely", update="Bryan")
    told = kept(user, JUNE, "I see him in Ely.", moved)
    assert told == ["Nora sees [[Bryan Cole]] in Ely."]


def test_what_a_person_asked_for_keeps_its_weight_and_its_keys(user: Folder) -> None:
    source = f"{talk(user, MAY, 'My vet is Dr Ferrer.')}:7"
    how = {"importance": 9, "tags": ["cat"], "metadata": {"colour": "red: dark"}}
    [path] = remember(user, "The vet is Ferrer.", MAY, source=source, **how).paths
    right = note("The vet is Ferran.", "Ferran", update="Ferrer", importance=3)
    assert kept(user, JUNE, "It's Ferran.", right)
    front = user.memory(path).front
    assert (front["importance"], front["tags"]) == (9, ["cat"])
    assert front["colour"] == "red: dark"


def test_a_correction_of_accents_or_of_a_point_is_one(user: Folder) -> None:
    """Though the letters are the same."""
    kept(user, MAY, "I take 1.125 mg.", note("Nora takes 1.125 mg.", "1.125"))
    right = note("Nora takes 1125 mg.", "1125", update="1.125")
    assert kept(user, JUNE, "No, 1125 mg.", right)
    [path] = facts(user)
    assert user.memory(path).text.endswith("---\n\nNora takes 1125 mg.\n")


def test_a_second_update_of_a_memory_in_one_answer_stands_beside_it(
    user: Folder,
) -> None:
    """So the first is not lost."""
    assert kept(user, MAY, "My vet is Dr Ferrer.", FERRER)
    told = ("is in Ghent", "takes 40")
    two = [note(f"Ferrer {one}.", one, update="Ferrer") for one in told]
    assert len(kept(user, JUNE, "He is in Ghent and takes 40.", *two)) == 2
    texts = {user.memory(path).text.split("\n")[-2] for path in facts(user)}
    assert texts == {"[[Ferrer]] is in Ghent.", "Ferrer takes 40."}


@pytest.mark.parametrize(
    ("before", "after", "front"),
    [
        ("2026-07", "2026-08-03", {"day": dt.date(2026, 8, 3)}),
        (
            "2026-08-03",
            "2026-07",
            {"day": dt.date(2026, 7, 1), "valid_until": dt.date(2026, 7, 31)},
        ),
        ("2026-07", "", {}),
    ],
)
def test_a_plan_that_is_put_right_has_no_day_of_before(
    user: Folder, before: str, after: str, front: dict[str, dt.date]
) -> None:
    plan = note("Nora has surgery.", "surgery", kind="event", day=before)
    kept(user, MAY, "I have surgery then.", plan)
    kind = "event" if after else "fact"
    right = note("Nora's is moved.", "is moved", update="surgery", kind=kind, day=after)
    kept(user, JUNE, "It is moved.", right)
    [path] = facts(user)
    found = user.memory(path).front
    assert {key: found[key] for key in ("day", "valid_until") if key in found} == front


def test_an_update_with_a_number_that_was_shown_nowhere_is_as_doubtful_as_a_new_fact(
    user: Folder,
) -> None:
    rent = note("Nora pays 900 euros.", "900", section="home")
    kept(user, MAY, "The rent is 900 euros.", rent)
    more = note("Nora pays 1,250 euros.", "went up", update="900")
    kept(user, JUNE, "The rent went up.", more)
    [path] = facts(user)
    assert user.memory(path).front["confidence"] == 0.5
    assert "1,250" not in user.memory("profile.md").text


@pytest.mark.parametrize("city", ["Porto", "Lisbon"])
def test_what_an_assistant_said_is_the_person_s_once_they_have_said_it(
    user: Folder, city: str
) -> None:
    """As it was or otherwise."""
    talk(user, MAY, "Hm.", "You land in Porto.")
    remembered(user, MAY, Reader(note("Nora lands in Porto.", "land in Porto")))
    own = note(f"Nora lands in {city}.", f"in {city}", update="Porto", section="who")
    assert kept(user, JUNE, f"I land in {city}.", own)
    [path] = facts(user)
    assert "said_by" not in user.memory(path).front
    assert f"- Nora lands in {city}." in user.memory("profile.md").text


def test_what_is_told_again_is_a_further_source_and_may_be_updated_by_the_same_answer(
    nora: Folder,
) -> None:
    [path] = facts(nora)
    river = note("Nora lives in Ghent, by the river.", "by the river", update="Ghent")
    again = decided(nora, JUNE, "I live in Ghent, by the river.", GHENT, river)
    assert [one.action for one in again] == ["CONFIRM", "UPDATE"]
    assert facts(nora) == [path]
    assert "by the river" in nora.memory(path).text
    assert len(nora.memory(path).front["source"]) == 2


def test_an_event_has_its_day_so_that_it_ages_and_one_that_has_come_to_stay_is_none_any_more(
    user: Folder,
) -> None:
    event = {"kind": "event", "day": "2026-06-01", "section": "work"}
    start = note("Nora starts at the archive.", "archive", **event)
    kept(user, MAY, "I start at the archive on 1 June.", start)
    [path] = facts(user)
    front = user.memory(path).front
    assert (front["kind"], front["day"]) == ("event", dt.date(2026, 6, 1))
    works = note("Nora works at the archive.", "First week", update="archive")
    kept(user, JUNE, "First week done.", works)
    assert not {"kind", "day"} & {*user.memory(path).front}
    assert "works at" in user.memory(path).text


# -- a person's own --------------------------------------------------------------------


@pytest.mark.parametrize("way", ["by hand", "model", "remember"])
def test_a_file_that_cannot_be_rewritten_stops_nothing_that_supersedes_it(
    user: Folder, way: str
) -> None:
    """It stays to the byte, and is named with what is to be done."""
    path = "facts/2026/2026-05-01-cafe.md"
    latin = "Nora works in a café.\n".encode("latin-1")
    user.create(path, latin)
    bank = "Nora works in a bank."
    if way == "by hand":
        new = f"---\nsupersedes: {path}\n---\n\n{bank}\n"
        user.create("facts/2026/2026-05-02-bank.md", new)
        done = read(user, JUNE, None)
    elif way == "model":
        talk(user, JUNE, "I work in a bank now.")
        done = read(user, JUNE, Reader(note(bank, "a bank", supersede="works in a")))
    else:
        done = remember(user, bank, JUNE, replaces=path)
    assert f"{path} stays as it is" in done.notes[0]
    assert "save it as UTF-8" in done.notes[0]
    assert done.replaced == [] and user.read(path) == latin
    assert len(facts(user)) == 2 and proposals.waiting(user) == []
    assert not read(user, JULY, None).notes


@pytest.mark.parametrize("path", ["profile.md", "sessions/2026/2026-05-01-a.md"])
def test_a_fact_by_hand_supersedes_no_profile_and_no_conversation(
    user: Folder, path: str
) -> None:
    """Archived, the profile would be in no prompt any more."""
    text = "# Nora\n\n- **nora** 09:00: I live in Ghent.\n"
    moved = f"---\nsupersedes: {path}\n---\n\nNora lives in Bruges.\n"
    user.create(path, text)
    user.create("facts/2026/2026-05-20-moved.md", moved)
    read(user, JULY, None)
    assert user.memory(path).text == text


def test_what_supersedes_nothing_that_is_there_is_not_told_to_have(
    user: Folder,
) -> None:
    text = "---\nsupersedes: the old flat\n---\n\nNora lives in Ghent.\n"
    user.create("facts/2026/2026-05-01-home.md", text)
    assert "superseded" not in "".join(read(user, JUNE, None).told().said)


def test_what_a_person_wrote_is_superseded_and_what_they_pinned_stays(
    user: Folder,
) -> None:
    """What contradicts that waits."""
    mine = Path(user.root, "facts/2026-05-01-home.md")
    mine.parent.mkdir(parents=True)
    mine.write_text(GHENT_TEXT)
    faro = note("Nora lives in [[Faro]].", "live in Faro", update="Ghent")
    [one] = decided(user, JUNE, "We live in Faro now.", faro)
    assert one.action == "SUPERSEDE"
    assert user.memory("archive/facts/2026-05-01-home.md").text.endswith(GHENT_TEXT)
    pinned = Path(user.root, "facts/2026-05-01-tea.md")
    pinned.write_text("---\npinned: true\n---\n\nNora likes oolong.\n")
    sencha = note("Nora likes sencha.", "like sencha", supersede="oolong")
    [two] = decided(user, JULY, "I like sencha.", sencha)
    assert two.action == "REFUSE" and "pinned" in two.reason and pinned.exists()


@pytest.mark.parametrize("text", ["Nora lives in Ghent, by the river.", GHENT_TEXT])
def test_what_a_person_writes_while_the_model_answers_stays_theirs(
    nora: Folder, text: str
) -> None:
    """An update is proposed instead, and no later one takes their words for its own."""
    [path] = facts(nora)
    mine = Path(nora.root, path).read_text().replace("[[Ghent]]", "[[Ghent]], at Tom's")

    class Edited(Reader):
        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            Path(nora.root, path).write_text(mine)
            return super().ask(messages, tools, on_text)

    talk(nora, JUNE, "I live in Ghent, by the river.")
    read(nora, JUNE, Edited(note(text, "in Ghent, by", update="Ghent")))
    assert nora.memory(path).text == mine
    assert not LearnLog.of(nora).is_untouched(path, mine.encode())
    assert [one.text for one in proposals.waiting(nora)] == [text]
    balcony = note("Nora has a balcony in Ghent.", "balcony", update="Ghent")
    decided(nora, JULY, "Ghent, with a balcony.", balcony)
    assert mine in tree(nora).values()
