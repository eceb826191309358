"""A search answers with what is worth reading, says how well it matches, and never lets an old truth pass for the present.

An answer has the best evidence first, under headings with dates; a fact stands beside what it was taken from; what is no
longer so stands below what replaced it; what quotes memory is no evidence.
"""

import datetime as dt
import itertools
import re
from pathlib import Path

import pytest

from filemem import Store, Toolbox, User
from filemem.files.folder import Folder
from filemem.search import Hit

NOW = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
TEA = "sessions/2026/2026-03-14-0930-tea.md"
OOLONG = "facts/2026/2026-03-14-likes-oolong.md"
COFFEE = "facts/2025/2025-11-23-likes-coffee.md"
CHAT = """- **ann** 09:30: I gave up coffee yesterday.
- **assistant** 09:30: Brave. What do you drink now?
- **ann** 09:33: Oolong, from my uncle.
- **assistant** 09:34: A good choice.
"""


def write(root: Path, files: dict[str, str]) -> Folder:
    """A user's memories, path -> text."""
    for path, text in files.items():
        place = root / "ann" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return Store(root).user("ann").folder


def talk(*turns: str) -> str:
    """A transcript of two who take turns."""
    return "".join(f"- **{'ben' if n % 2 else 'ann'}** 09:30: {turn}\n" for n, turn in enumerate(turns))


def search(user: Folder, query: str, **filters: object) -> list[Hit]:
    """What is found, best first."""
    return User(user).search_files(query, limit=20, today=NOW.date(), **filters)


def answer(user: Folder, query: str, **filters: object) -> list[str]:
    """The lines of the tool's answer."""
    return tools(user).call("search_files", {"query": query, **filters}).split("\n")


def tools(user: Folder) -> Toolbox:
    return Toolbox(user, lambda: NOW)


def headings(lines: list[str]) -> list[str]:
    """The paths of an answer's headings, in order."""
    return [line.split("  ")[0] for line in lines[1:] if re.match(r"\S+\.(?:md|yaml)(?:  |$)", line)]


FILLER = {
    f"sessions/2026/2026-01-{day:02}-0900-day.md": talk(
        f"The weather on the {day}th was grey.", "So it was here.", "Let us walk the dog.", f"Lap {day} is done."
    )
    for day in range(1, 21)
}


# -- how strong a match is ---------------------------------------------------------------------------------------


def test_what_somebody_else_said_is_no_strong_match_for_the_person_asked_about(tmp_path: Path) -> None:
    user = write(tmp_path, {"sessions/2026/2026-02-01-0900-x.md": talk("Hello.", "I adopted a parrot."), **FILLER})
    assert "; strong match" in answer(user, "Did Ben adopt a parrot?")[0]
    assert "; strong match" not in answer(user, "Did Ann adopt a parrot?")[0]


def test_the_first_line_says_what_was_looked_at_and_no_more_than_that_it_is_strong(tmp_path: Path) -> None:
    """Shares and the words that are missing are for --explain."""
    user = write(tmp_path, {"sessions/2026/2026-02-01-0900-x.md": talk("I adopted a parrot.", "Lovely."), **FILLER})
    assert answer(user, "Who adopted a parrot?")[0] == "1 passage in 1 of 21 files; strong match"
    assert answer(user, "Did Ann adopt a zyzzyva?")[1] == "Nowhere in memory: zyzzyva."
    for question in ("Did Ann adopt a parrot in 2010?", "parrot regatta zeppelin", "Did Ann adopt a zyzzyva?"):
        first = answer(user, question)[0]
        assert "strong" not in first and "%" not in first and "lacks" not in first, question


def test_chinese_words_are_named_whole_and_a_right_answer_is_strong(tmp_path: Path) -> None:
    user = write(
        tmp_path,
        {
            "facts/2026-06-20-外婆.md": "外婆最喜欢的茶是惠明茶。\n",
            "facts/2026-06-21-妹妹.md": "妹妹喜欢游泳。外婆在青田。\n",
            **FILLER,
        },
    )
    first = answer(user, "外婆喜欢什么茶？")[0]
    assert first.endswith("; strong match")
    [lacking, nowhere, *_] = answer(user, "外婆会弹钢琴吗？")
    assert "strong" not in lacking
    assert "钢琴" in nowhere
    assert "婆会" not in nowhere


# -- fewer, and by file ------------------------------------------------------------------------------------------


def test_passages_that_are_not_worth_reading_are_left_out_and_can_be_asked_for(tmp_path: Path) -> None:
    user = write(tmp_path, {TEA: CHAT, **FILLER})
    lines = answer(user, "Did I give up coffee, or walk the dog?")
    assert int(re.findall(r"^\d+", lines[0])[0]) < 70  # of 84
    left, limit = re.findall(r"^(\d+) weaker left out; limit: (\d+) shows more\.$", lines[-1])[0]
    more = answer(user, "Did I give up coffee, or walk the dog?", limit=int(limit))
    assert int(left) > 0 and len(more) > len(lines)


def test_a_question_that_nothing_matches_even_partly_gets_a_short_answer(tmp_path: Path) -> None:
    keepers = talk(*(f"The keeper of lighthouse {n} polishes {'the lamp and ' * 12}the brass." for n in range(200)))
    user = write(tmp_path, {"sessions/2026/2026-02-01-0900-a.md": keepers})
    weak, strong = (
        answer(user, "Which zeppelin pilot married a keeper in Helsinki?"),
        answer(user, "Who is the keeper?"),
    )
    assert "strong match" not in weak[0] + strong[0]  # two hundred lines match alike
    assert 1.3 * len("\n".join(weak)) < len("\n".join(strong)) <= 4 * 1_900  # tokens that an answer has at most


def test_a_limit_is_honoured(tmp_path: Path) -> None:
    user = write(tmp_path, {TEA: CHAT, **FILLER})
    for limit in (1, 3, 25):
        lines = answer(user, "the weather and the dog", limit=limit)
        assert lines[0].startswith(f"{limit} passage")
        assert sum(bool(re.match(r" *\d+  ", line)) for line in lines) == limit


def test_the_best_stand_first_by_file_then_more_of_them_and_none_twice(tmp_path: Path) -> None:
    day = {
        f"sessions/2026/2026-02-0{day}-0900-x.md": talk(
            *(f"The lighthouse of Cabo {name} {n} has {'a lamp and ' * (n % 2)}a keeper." for n in range(40))
        )
        for day, name in ((1, "Frio"), (2, "Raso"))
    }
    user, question = write(tmp_path, day), "Which lighthouse has a keeper and a lamp?"
    hits, lines = User(user).search_files(question, limit=60, today=NOW.date()), answer(user, question, limit=60)
    places = [(hit.path, hit.line) for hit in hits]
    assert len(places) == len(set(places))
    blocks = [list(group) for _, group in itertools.groupby(hits, key=lambda hit: hit.path)]
    best = [max(hit.score for hit in block) for block in blocks]
    assert len(blocks) > 2 and best == sorted(best, reverse=True)
    first, later = blocks[0] + blocks[1], [hit for block in blocks[2:] for hit in block]
    assert min(hit.score for hit in first) >= max(hit.score for hit in later)
    assert all(a.line < b.line for a, b in itertools.pairwise(blocks[0]))
    goes_on = [line.endswith("  more") for line in lines if line.startswith("sessions/")]
    assert goes_on == [False, False, *[True] * (len(goes_on) - 2)]
    assert lines[0].startswith(f"{len(places)} passages in 2 of 2 files")


def test_a_list_has_a_line_of_many_sessions_before_their_neighbours(tmp_path: Path) -> None:
    days = {
        f"sessions/2026/2026-03-{day:02}-0900-x.md": talk(
            *(f"We sailed to the island number {day}, leg {n}." for n in range(9))
        )
        for day in range(1, 16)
    }
    assert len(set(headings(answer(write(tmp_path, days), "Which islands did we sail to?")))) == 15


def test_what_only_greets_or_thanks_is_no_evidence(tmp_path: Path) -> None:
    said = talk(
        "Good morning, Ben! How are you?", "谢谢，早上好！", "Thanks, Ann, see you soon!", "The morning ferry is late."
    )
    user = write(tmp_path, {"sessions/2026/2026-02-01-0930-a.md": said, **FILLER})
    lines = answer(user, "What of the morning, Ben?")
    assert "ferry" in "\n".join(lines) and not any("Good morning" in line or "Thanks" in line for line in lines)
    for greeting in ("good morning! how are you?", "你好", "早上好！"):
        assert "; strong match" not in answer(user, greeting)[0]


def test_a_caption_without_a_word_of_the_question_is_shortened(tmp_path: Path) -> None:
    said = talk("We saw a heron. [image: a photo of a pond with lilies]", "Where was the heron?")
    user = write(tmp_path, {"sessions/2026/2026-02-01-0930-a.md": said, **FILLER})
    assert "We saw a heron. [image …]" in "\n".join(answer(user, "Who saw a heron?"))
    assert "[image: a photo of a pond with lilies]" in "\n".join(answer(user, "heron on the pond"))


def test_a_short_reply_comes_with_the_question_it_replies_to(tmp_path: Path) -> None:
    said = talk("How long have you had the accordion?", "Two years.", "And do you perform with it in public?", "No.")
    user = write(tmp_path, {"sessions/2026/2026-02-01-0930-a.md": said, **FILLER})
    lines = answer(user, "how many years", limit=1)
    asked = lines.index("   1- ann: How long have you had the accordion?")
    assert lines[asked + 1].startswith("   2  ben: Two years")


def test_a_reply_that_stands_alone_comes_alone(tmp_path: Path) -> None:
    said = talk(
        "What happened at the harbour?", "The ferry ran aground below the old lighthouse at six in the morning."
    )
    user = write(tmp_path, {"sessions/2026/2026-02-01-0900-a.md": said, **FILLER})
    assert not any(re.match(r" *\d+- ", line) for line in answer(user, "ferry aground", limit=1))


def test_of_a_very_long_passage_the_part_around_the_words_is_shown(tmp_path: Path) -> None:
    flood = "gravel " * 8_000 + "the zeppelin landed in Faro " + "gravel " * 8_000
    user = write(tmp_path, {"notes/flood.md": flood, "facts/2026-01-02-a.md": "A zeppelin needs gravel.", **FILLER})
    text = "\n".join(answer(user, "Where did the zeppelin land?"))
    assert "the zeppelin landed in Faro" in text
    assert "A zeppelin needs gravel." in text
    assert len(text) < 4_000
    assert 'open {"path": "notes/flood.md", "line": 1, "lines": 1} shows the first whole' in text


# -- who said it -------------------------------------------------------------------------------------------------

CALLS = {
    "sessions/2026/2026-02-03-1405-call.md": (
        "- **平安保险小赵** 14:05: 李先生，您的下个月十八号到期。\n- **李建国** 14:05: 今年多少钱？\n"
        "- **平安保险小赵** 14:06: 三千二百八。\n"
    ),
    "sessions/2026/2026-02-05-0911-call.md": "- **王磊** 09:11: 会改到四点了。\n- **李建国** 09:11: 好的。\n",
    "sessions/2026/2026-02-07-2010-call.md": "- **陈浩** 20:10: 我们是在健身房认识的。\n- **李建国** 20:10: 恭喜！\n",
    "sessions/2026/2026-02-09-1200-chat.md": "- **Dr Okafor** 12:00: Two a day.\n- **李建国** 12:00: Thank you.\n",
}


def test_a_part_of_a_chinese_name_names_the_speaker(tmp_path: Path) -> None:
    assert {hit.speaker for hit in search(write(tmp_path, CALLS), "到期", speaker="小赵")} == {"平安保险小赵"}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("保险什么时候到期？", "十八号到期"),
        ("陈浩的太太是怎么认识的？", "健身房认识"),
    ],
)
def test_a_turn_is_found_by_what_its_speaker_is_called(tmp_path: Path, question: str, said: str) -> None:
    first, *_ = search(write(tmp_path, CALLS), question)
    assert said in first.text


def test_a_word_that_stands_in_a_name_alone_is_not_called_unknown(tmp_path: Path) -> None:
    assert "Nowhere in memory: 雷达" in "\n".join(answer(write(tmp_path, CALLS), "平安保险 雷达"))
    assert "平安" not in answer(write(tmp_path, CALLS), "平安保险 雷达")[1]


# -- facts and the turns they come from --------------------------------------------------------------------------


def test_a_fact_that_answers_the_whole_question_stands_before_the_transcript(tmp_path: Path) -> None:
    fact = f"---\nsource: {TEA}:3\n---\n\nAnn gave up coffee and now drinks oolong.\n"
    user = write(tmp_path, {TEA: CHAT, OOLONG: fact, **FILLER})
    assert headings(answer(user, "What does Ann drink now after coffee?"))[:2] == [OOLONG, TEA]


def test_a_fact_brings_the_turn_that_it_was_taken_from(tmp_path: Path) -> None:
    said = talk("Guess!", "The same as my uncle has, the green one.")
    source = "sessions/2026/2026-02-01-0900-a.md"
    fact = f"---\nsource: {source}:2\n---\n\nBen rides a Vespa scooter.\n"
    user = write(tmp_path, {source: said, "facts/2026-02-01-vespa.md": fact, **FILLER})
    assert (source, 2) in {(hit.path, hit.line) for hit in search(user, "Who rides a Vespa scooter?")}


def test_a_fact_says_what_its_turn_leaves_to_the_turns_before(tmp_path: Path) -> None:
    said = talk(
        "We carried the boxes all day.", "To the old mill, third floor, no lift.", "And the tuba?", "On the roof."
    )
    source = "sessions/2026/2026-05-31-0900-mill.md"
    fact = f"---\nsource: {source}:2\n---\n\nBen lives at the old mill, third floor. There is no lift.\n"
    files = {source: said, "facts/2026-05-31-mill.md": fact, "profile.md": "- Ben's mother still lives in Vigo.\n"}
    user = write(tmp_path, files | FILLER)
    found = {(hit.path, hit.line) for hit in search(user, "Where does Ben live?")}
    assert {("facts/2026-05-31-mill.md", 5), (source, 2)} <= found


def test_the_question_asked_before_does_not_stand_against_the_fact_that_answers_it(tmp_path: Path) -> None:
    fact = f"---\nsource: {TEA}:3\n---\n\nAnn gave up coffee and now drinks oolong.\n"
    asked = "- **ann** 10:00: What does Ann drink now after coffee?\n- **assistant** 10:00: Let me see.\n"
    user = write(tmp_path, {TEA: CHAT, OOLONG: fact, "sessions/2026/2026-10-11-1000-again.md": asked, **FILLER})
    assert headings(answer(user, "What does Ann drink now after coffee?", limit=3))[0] == OOLONG


def test_a_fact_that_only_retells_its_turn_leaves_the_room_to_it_and_a_corrected_one_does_not(tmp_path: Path) -> None:
    """A day counted from the turn's own is nothing new; another day is."""
    said = f"---\nsource: {TEA}:1\n---\n\nAnn gave up coffee on {{}}.\n"
    for day, shown in (("13 March 2026", False), ("12 March 2026", True)):
        user = write(tmp_path, {TEA: CHAT, OOLONG: said.format(day), **FILLER})
        assert (OOLONG in headings(answer(user, "When did Ann give up coffee?"))) is shown


@pytest.mark.parametrize("said", ["I gave up coffee for oolong tea, roasted.", "我戒了咖啡，改喝乌龙茶 (coffee)。"])
def test_a_quotation_stands_in_the_place_of_its_turn_and_the_turn_where_it_says_more(tmp_path: Path, said: str) -> None:
    """Never both; what was replaced is told by its turn, under what replaced it."""
    for more, front, shown in (
        ("", "", [OOLONG]),
        (" And it rained.", "", [TEA]),
        ("", "superseded_by: facts/2026/2026-10-01-b.md\n", ["facts/2026/2026-10-01-b.md", TEA]),
    ):
        fact = f"---\nsource: {TEA}:1\n{front}---\n\n- **Ann**: {said}\n"
        files = {
            TEA: f"- **Ann** 09:30: {said}{more}\n",
            OOLONG: fact,
            "facts/2026/2026-10-01-b.md": "Ann hired a gardener.\n",
        }
        found = answer(write(tmp_path, files | FILLER), "Ann coffee")
        assert headings(found)[: len(shown)] == shown
        assert sum(said[:16] in line for line in found) == 1


def test_keeping_facts_changes_nothing_in_what_the_turns_score(tmp_path: Path) -> None:
    """Words are no more common, and turns no longer beside the others, for what is told over again."""
    files = {TEA: CHAT, **FILLER}
    told = {
        f"facts/2026-01-{day:02}-grey.md": f"---\nsource: sessions/2026/2026-01-{day:02}-0900-day.md:1\n---\n\nGrey weather.\n"
        for day in range(1, 21)
    }
    told["profile.md"] = "- Ann says grey weather. <!-- facts/2026-01-01-grey.md -->\n"
    summary = "- **Ann**: The weather was grey. (sessions/2026/2026-01-01-0900-day.md:1)\n"
    told["summaries/2026/2026-01.md"] = summary
    alone, beside = (write(tmp_path / name, kept) for name, kept in (("alone", files), ("beside", files | told)))
    for question in ("coffee", "grey oolong", "How was the weather on the 7th?"):
        scores = [
            {(hit.path, hit.line): hit.score - hit.parts.get("fact", 0) - hit.parts.get("summaries", 0) for hit in hits}
            for hits in (search(alone, question), search(beside, question))
        ]
        shared = scores[0].keys() & scores[1].keys()
        assert shared and all(scores[0][at] == pytest.approx(scores[1][at]) for at in shared)


def test_facts_make_words_rare_where_nothing_else_does(tmp_path: Path) -> None:
    """Of a folder of facts whose sessions are elsewhere every one counts."""
    facts = {
        f"facts/2026-01-{day:02}-a.md": f"---\nsource: gone.md:{day}\n---\n\nAnn likes tea.\n" for day in range(1, 9)
    }
    facts["facts/2025-02-01-b.md"] = "---\nsource: gone.md:9\n---\n\nAnn likes chess.\n"
    assert next(hit.path for hit in search(write(tmp_path, facts), "likes tea or chess")) == "facts/2025-02-01-b.md"


def test_a_line_of_the_profile_leaves_the_room_to_its_fact_and_a_persons_own_does_not(tmp_path: Path) -> None:
    fact = {OOLONG: "Ann prefers oolong tea, the roasted one.\n"}
    for line, shown in (
        (f"- Ann prefers oolong tea. <!-- {OOLONG} -->\n", False),
        ("- Ann prefers oolong tea.\n", True),
    ):
        found = headings(answer(write(tmp_path, fact | {"profile.md": line} | FILLER), "oolong tea"))
        assert OOLONG in found and ("profile.md" in found) is shown


def test_a_fact_that_retells_a_reply_with_its_question_leaves_the_room_to_it(tmp_path: Path) -> None:
    """One that has a word of its own does not."""
    said = "- **ann** 09:30: What did your uncle bring?\n- **ben** 09:30: A tuba, and he is gonna play it.\n"
    fact = f"---\nsource: {TEA}:2\n---\n\nAsked by Ann what the uncle did bring, Ben says a {{}}tuba; he is going to play it.\n"
    other = {"sessions/2026/2026-03-15-0930-other.md": talk("Forgot what the uncle of Ben would bring.")}
    for word, shown in (("", False), ("second-hand ", True)):
        user = write(tmp_path, {TEA: said, OOLONG: fact.format(word)} | other | FILLER)
        found = headings(answer(user, "What did the uncle bring?"))
        assert TEA in found and (OOLONG in found) is shown


def test_a_fact_about_somebody_else_is_no_strong_match(tmp_path: Path) -> None:
    said = talk("My favourite series is the one with the moles.", "I have none.")
    fact = f"---\nsource: {TEA}:1\n---\n\nAnn's favourite series is the one with the moles, in Welsh.\n"
    user = write(tmp_path, {TEA: said, OOLONG: fact, **FILLER})
    strength = {
        hit.path: hit.strength for name in ("Ann", "Ben") for hit in search(user, f"What is {name}'s favourite series?")
    }
    assert headings(answer(user, "What is Ann's favourite series?"))[0] == OOLONG
    assert headings(answer(user, "What is Ben's favourite series?"))[0] != OOLONG and strength[TEA] < 0.75


def test_a_chinese_fact_stands_above_the_turn_that_it_was_taken_from(tmp_path: Path) -> None:
    source, fact = "sessions/2026/2026-06-20-1005-电话.md", "facts/2026/2026-06-20-外婆生日.md"
    said = talk("昨天端午，也是外婆的生日。", "祝外婆生日快乐！她今年多大？", "八十五，她是哪天生的，她自己也说不准。")
    told = f"---\nsource: {source}:1\n---\n\n外婆的生日是农历五月初五。\n"
    user = write(tmp_path, {source: said, fact: told, **FILLER})
    for question in ("外婆的生日是哪天？", "外婆的生日是几月几号？"):
        lines = answer(user, question)
        assert headings(lines)[:2] == [fact, source]
        assert "; strong match" in lines[0]


# -- what no longer holds ----------------------------------------------------------------------------------------

OLD = f"---\nsuperseded_by: {OOLONG}\n---\n\nAnn loves coffee, strong coffee, coffee with cake.\n"
QUESTIONS = ["Does Ann love coffee?", "strong coffee with cake", "coffee"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_replaced_a_memory_stands_right_above_it_even_where_it_shares_no_word(
    tmp_path: Path, question: str
) -> None:
    user = write(tmp_path, {OOLONG: "Ann drinks only oolong now.\n", COFFEE: OLD, **FILLER})
    lines = answer(user, question)
    assert headings(lines)[:2] == [OOLONG, COFFEE]
    assert f"superseded by {OOLONG}" in "\n".join(lines)


def test_a_chain_of_replacements_leads_to_the_last(tmp_path: Path) -> None:
    middle = "facts/2026-01-05-tea.md"
    files = {
        COFFEE: f"---\nsuperseded_by: {middle}\n---\n\nLikes coffee.\n",
        middle: f"---\nsuperseded_by: {OOLONG}\n---\n\nPrefers lapsang.\n",
        OOLONG: "Drinks only oolong now.\n",
    }
    assert headings(answer(write(tmp_path, files), "Likes coffee?"))[:2] == [OOLONG, COFFEE]


def test_memories_that_replace_one_another_in_a_ring_are_shown(tmp_path: Path) -> None:
    files = {
        COFFEE: f"---\nsuperseded_by: {OOLONG}\n---\n\nLikes coffee.\n",
        OOLONG: f"---\nsuperseded_by: {COFFEE}\n---\n\nLikes oolong.\n",
    }
    assert COFFEE in headings(answer(write(tmp_path, files), "Likes coffee?"))


def test_a_question_about_the_past_may_have_the_past_first(tmp_path: Path) -> None:
    user = write(tmp_path, {OOLONG: "Ann drinks only oolong now.\n", COFFEE: OLD, **FILLER})
    for question in ("What coffee did Ann love before?", "Ann 以前 coffee"):
        assert headings(answer(user, question))[0] == COFFEE


def test_an_expired_memory_says_so_and_stands_below_a_live_one(tmp_path: Path) -> None:
    user = write(
        tmp_path,
        {
            "facts/2026-01-01-a.md": "---\nvalid_until: 2026-05-01\n---\n\nParks in the garage.\n",
            "facts/2025-01-01-b.md": "Parks in the garage.\n",
        },
    )
    lines = answer(user, "Where is the garage?")
    assert headings(lines) == ["facts/2025-01-01-b.md", "facts/2026-01-01-a.md"]
    assert "held until 2026-05-01" in "\n".join(lines)


def test_a_day_of_its_own_is_answered_with_what_was_true_on_it(tmp_path: Path) -> None:
    """By what is known now; what replaced it stands below, and says since when it holds."""
    old, new = "facts/2026-01-01-a.md", "facts/2026-05-02-b.md"
    files = {
        old: f"---\nvalid_until: 2026-05-01\nsuperseded_by: {new}\n---\n\nParks in the garage.\n",
        new: f"---\nsupersedes: {old}\n---\n\nParks in the street now, no longer in the garage.\n",
    }
    user = write(tmp_path, files)
    for day, first, said in ((30, old, "holds from 2026-05-02"), (32, new, f"superseded by {new}")):
        today = dt.date(2026, 4, 1) + dt.timedelta(days=day - 1)
        answer = Toolbox(user, lambda today=today: dt.datetime.combine(today, dt.time(12))).call(
            "search_files", '{"query": "Where is the garage?"}'
        )
        assert headings(answer.split("\n"))[0] == first and said in answer


def test_archived_memories_stand_below_live_ones_and_can_be_asked_for_alone(tmp_path: Path) -> None:
    files = {
        "archive/facts/2026-01-01-a.md": "Parks in the garage.\n",
        "facts/2025-01-01-b.md": "Parks in the garage.\n",
    }
    user = write(tmp_path, files)
    assert headings(answer(user, "garage")) == ["facts/2025-01-01-b.md", "archive/facts/2026-01-01-a.md"]
    assert headings(answer(user, "garage", path="archive/**")) == ["archive/facts/2026-01-01-a.md"]


# -- what is no evidence -----------------------------------------------------------------------------------------


def test_asking_again_and_again_leaves_the_fact_first(tmp_path: Path) -> None:
    question = "What tea do I like?"
    quoted = f"From your memories:\n\n  - I like oolong tea, from my uncle.\n    Sat 14 March 2026, {TEA}:1"
    asked = f"- **ann** 10:00: {question}\n- **assistant** 10:00: {quoted}\n"
    files = {TEA: "- **ann** 09:30: I like oolong tea, from my uncle.\n", **FILLER}
    files |= {f"sessions/2026/2026-10-{day}-1000-again.md": asked for day in (11, 12, 13)}
    user = write(tmp_path, files)
    first, *_ = search(user, question)
    assert first.path == TEA
    assert headings(answer(user, question))[0] == TEA


# -- days that a question names ----------------------------------------------------------------------------------

DIARY = {
    "sessions/2026/2026-05-08-1900-a.md": talk("What happened at the harbour is a long story.", "Tell me."),
    "sessions/2026/2026-06-03-1900-b.md": talk("The ropes came off the van.", "All of them?"),
    "sessions/2026/2026-07-15-1900-c.md": talk("A heron on the roof.", "Which roof?"),
    "sessions/2026/2026-11-18-1900-d.md": talk("Duarte has a cold.", "Poor man."),
}


@pytest.mark.parametrize(
    ("question", "month"),
    [
        ("What happened in May?", "05"),
        ("What happened on 3 June?", "06"),
        ("What happened on 3 June 2026?", "06"),
        ("What did we do last summer?", "06"),
        ("6月3日发生了什么事情？", "06"),
        ("7月中旬做了什么？", "07"),
        ("2026年7月", "07"),
        ("What happened last night?", "11"),
        ("昨天", "11"),
    ],
)
def test_a_question_of_nothing_but_a_day_is_answered_from_that_day(tmp_path: Path, question: str, month: str) -> None:
    """Whatever its other words say elsewhere; without a year it is the last such day before the newest memory."""
    files = {**DIARY, "sessions/2026/2026-11-17-1900-e.md": talk("It rained all day.", "Here too.")}
    lines = answer(write(tmp_path, files), question)
    assert headings(lines)[0][14:21] == f"2026-{month}"


def test_of_a_day_alone_what_tells_most_comes_first(tmp_path: Path) -> None:
    """Not what is short, nor what somebody else says to the person asked about."""
    day = talk(
        "Hi Ben!", "Hi Ann, good to see you, Ann!", "So nice!", "Ann, you look well.",
        "Last Friday I took the night train to Trieste and swam in the harbour before breakfast.", "Wow, Ann!",
    )  # fmt: skip
    user = write(tmp_path, {"sessions/2026/2026-05-08-1900-a.md": day, **FILLER})
    assert "Trieste" in search(user, "What did Ann do in May 2026?")[0].text


def test_the_words_that_ask_for_an_order_are_not_looked_for(tmp_path: Path) -> None:
    user = write(tmp_path, TRIPS)
    for question in ("ferry trips in chronological order", "timeline of ferry trips", "按时间顺序 ferry trips"):
        lines = answer(user, question)
        assert "; strong match" in lines[0]
        assert not any(line.startswith("Nowhere") for line in lines)


def test_days_count_from_today_and_where_no_memory_is_of_them_from_the_newest(tmp_path: Path) -> None:
    """Today is Friday 20 November; what was taken in from years ago was not written this week."""
    user = write(tmp_path, DIARY)
    assert headings(answer(user, "What happened the day before yesterday?"))[0].endswith("2026-11-18-1900-d.md")
    old = write(tmp_path / "old", {path: text for path, text in DIARY.items() if "-11-" not in path})
    lines = answer(old, "What happened last month?")
    assert headings(lines)[0].endswith("2026-06-03-1900-b.md") and not any("No memory" in line for line in lines)


def test_a_day_that_no_memory_is_of_is_said_as_it_was_read(tmp_path: Path) -> None:
    user = write(tmp_path, DIARY)
    assert "No memory is dated 13 November 2026." in answer(user, "上周五发生了什么？")
    assert "No memory is dated 9–15 November 2026." in answer(user, "Who had a cold last week?")
    assert not any("No memory is dated" in line for line in answer(user, "Who had a cold this week?"))
    assert "No memory is dated 2010." in answer(user, "Who had a cold in 2010?")
    told = {**DIARY, "sessions/2026/2026-11-19-1900-z.md": "- **Ann**: I had a cold in 2010."}
    lines = answer(write(tmp_path / "told", told), "Who had a cold in 2010?")
    assert not any("No memory is dated" in line for line in lines)


# -- in time -----------------------------------------------------------------------------------------------------

TRIPS = {
    f"sessions/202{n}/202{n}-07-01-0900-trip.md": talk(f"The ferry trip number {n}.", "Nice.") for n in range(1, 6)
}


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("List the ferry trips in order", 1),
        ("a timeline of the ferry trips", 1),
        ("What was my first ferry trip?", 1),
        ("按时间列出 ferry trip", 1),
        ("第一次 ferry trip", 1),
        ("When was the last time I made a ferry trip?", -1),
        ("most recent ferry trip", -1),
        ("最近一次 ferry trip", -1),
    ],
)
def test_a_question_that_asks_for_an_order_is_answered_in_time(tmp_path: Path, question: str, order: int) -> None:
    lines = answer(write(tmp_path, TRIPS), question)
    assert headings(lines) == sorted(TRIPS, reverse=order < 0)
    assert ("oldest first" if order > 0 else "newest first") in lines[0]


# -- nothing -----------------------------------------------------------------------------------------------------


def test_a_question_without_a_word_to_look_for_is_told_so(tmp_path: Path) -> None:
    user = write(tmp_path, {TEA: CHAT})
    for question in ("what is it?", "?!", "什么？"):
        assert answer(user, question)[1] == "The question has no word to look for: name a thing, a person or a day."


def test_a_stop_word_inside_a_chinese_word_does_not_cut_it(tmp_path: Path) -> None:
    user = write(tmp_path, {"facts/2026-06-20-a.md": "去了图书馆。\n"})
    for question, word in (("图书馆在博物馆那里了解到什么", "了解"), ("去图书馆的目的是什么", "目的")):
        assert f"Nowhere in memory: {word}" in "\n".join(answer(user, question)).replace("博物馆, ", "")


def test_nothing_found_says_what_was_searched_and_what_is_spelt_alike(tmp_path: Path) -> None:
    user = write(tmp_path, {TEA: CHAT, "archive/facts/2025-01-01-x.md": "Had a kayak.\n"})
    for word in ("oolang", "oolnog", "olong"):  # offered, and not searched for instead
        assert answer(user, word)[:2] == ["0 passages in 0 of 2 files", f"Nowhere in memory: {word} (nearest: oolong)."]
    assert answer(user, "oolanng")[1] == "Nowhere in memory: oolanng."
    nothing = "\n".join(answer(user, "zeppelin"))
    assert nothing.startswith("0 passages in 0 of 2 files\nNowhere in memory: zeppelin.")
    assert "The archive was searched too: 1 of the files lies there." in nothing
    limited = "\n".join(answer(user, "kayak", path="sessions/**", after="2026-01"))
    assert "Searched by path sessions/**, after 2026-01." in limited
    assert 'path "archive/**"' in limited


def test_the_first_and_the_last_day_asked_for_count(tmp_path: Path) -> None:
    user = write(
        tmp_path, {f"facts/2026/2026-05-0{day}-x.md": f"Took the kayak number {day}.\n" for day in range(1, 6)}
    )
    found = answer(user, "kayak", after="2026-05-02", before="2026-05-04")
    assert [day for day in range(1, 6) if any(f"number {day}" in line for line in found)] == [2, 3, 4]


@pytest.mark.parametrize("greeting", ["good morning! how are you?", "你好", "Thanks, see you soon!"])
def test_a_greeting_is_no_strong_match(tmp_path: Path, greeting: str) -> None:
    user = write(
        tmp_path, {TEA: talk("Good morning! I am well, you see, 你好, thanks a lot, the kettle soon boils."), **FILLER}
    )
    assert answer(user, greeting)[0].endswith("; a greeting")


# -- whose words -------------------------------------------------------------------------------------------------

ADVICE = (
    "A new kettle for the tea should be made of steel. Steel kettles for tea keep for years! A kettle of glass, on the other "
    "hand, shows how the water boils, which many people who love their tea enjoy. Please descale the kettle every month. "
    "If you have any more questions about kettles or tea, feel free to ask!"
)
KETTLE = f"- **ann** 09:30: My kettle is from Kettering, a present of my aunt.\n- **assistant** 09:31: {ADVICE}\n"


@pytest.mark.parametrize(
    ("head", "name"), [("", "assistant"), ("---\norigin: x\nassistant: Botley\n---\n\n", "Botley")]
)
def test_what_the_person_said_stands_before_what_an_assistant_did(tmp_path: Path, head: str, name: str) -> None:
    """By the role that is kept with the turn, also where an import names its assistant; unless the assistant's words are
    asked for."""
    user = write(tmp_path, {"sessions/2026/2026-03-14-0930-a.md": head + KETTLE.replace("assistant", name)})
    for question in ("What kettle of steel or glass for tea do I have?", "my kettle for tea"):
        assert search(user, question)[0].speaker == "ann", question
    for question in ("Which kettle for tea did you recommend?", "steel kettle: what was your advice for tea?"):
        assert search(user, question)[0].speaker == name, question
    assert [hit.speaker for hit in search(user, "kettle for tea", speaker=name)] == [name]


def test_of_an_assistants_answer_the_sentences_that_fit_are_shown(tmp_path: Path) -> None:
    """At most some forty tokens, with its speaker, never an empty close; a person's message is shown whole."""
    long = "I drove on to the lake with my dogs. " * 12 + "The kettle fell in."
    files = {TEA: KETTLE, "sessions/2026/2026-04-01-0930-b.md": f"- **ann** 09:30: {long}\n"}
    lines = answer(write(tmp_path, files), "kettle of glass that shows how water boils")
    shown = next(line for line in lines if "assistant" in line)
    assert "shows how the water boils" in shown and "feel free" not in shown
    assert len(shown) < 40 * 4 + 40
    assert any(long in line for line in answer(write(tmp_path, files), "Where did the kettle fall?"))


def test_whose_words_count_is_the_same_in_chinese(tmp_path: Path) -> None:
    chat = "- **安** 09:30: 我的水壶是姑姑送的，蓝色的。\n- **assistant** 09:31: 泡茶的水壶建议买不锈钢的，蓝色水壶也好看。\n"
    user = write(tmp_path, {TEA: chat})
    assert search(user, "我泡茶的水壶是什么颜色的？")[0].speaker == "安"
    assert search(user, "泡茶的水壶，你当时建议买哪种？")[0].speaker == "assistant"


# -- what an answer leaves out, and its order ----------------------------------------------------------------------------


def test_after_a_strong_first_block_the_tail_ends_sooner(tmp_path: Path) -> None:
    """What holds less of the question and has under half of the best score is left to whoever asks for more."""
    files = {TEA: talk("I painted the rowing boat in ochre.", "Nice."), **FILLER}
    files |= {
        f"sessions/2026/2026-05-{n:02}-0900-boat.md": talk(f"A boat of {n} feet lay there.", "So?") for n in range(1, 9)
    }
    lines = answer(write(tmp_path, files), "painted the rowing boat in ochre")
    assert "strong match" in lines[0] and headings(lines) == [TEA]
    assert lines[-1].endswith("shows more.")


def test_the_name_of_a_file_alone_is_no_answer_where_words_are(tmp_path: Path) -> None:
    photo = "- **ann** 09:40: heron-7.jpg\n- **ann** 09:41: A heron in the reeds, far off, at noon.\n"
    user = write(tmp_path, {TEA: photo, **FILLER})
    assert "heron-7.jpg" not in "\n".join(answer(user, "heron"))


def test_a_summary_a_fact_and_an_archived_session_tell_the_same_once(tmp_path: Path) -> None:
    was = "sessions/2026/2026-03-14-0930-tea.md"
    files = {f"archive/{was}": CHAT, "facts/2026/2026-03-14-c.md": f"---\nsource: {was}:1\n---\n\nGave up coffee.\n"}
    files["summaries/2026/2026-03.md"] = f"## 2026-03-14-0930-tea\n\n- **ann**: I gave up coffee yesterday. ({was}:1)\n"
    lines = answer(write(tmp_path, files | FILLER), "Who gave up coffee?")
    assert len([line for line in lines if "gave up coffee" in line.lower()]) == 1, lines


@pytest.mark.parametrize(
    "question",
    [
        *("the first time after the ferry trip", "the sum of the first n ferry trips", "到了以后第一次 ferry trip"),
        *(
            "What is a good first name? ferry trip",
            "the last page of the book ferry trip",
            "in order to win ferry trip",
        ),
    ],
)
def test_a_first_that_asks_for_no_order_sorts_nothing(tmp_path: Path, question: str) -> None:
    assert "est first" not in answer(write(tmp_path, TRIPS), question)[0]


def test_a_chronology_of_many_is_one(tmp_path: Path) -> None:
    lines = answer(write(tmp_path, {**TRIPS, **FILLER}), "List the ferry trips in order", limit=30)
    assert headings(lines) == sorted(headings(lines))


def test_the_newest_of_those_that_hold_the_question_stands_first(tmp_path: Path) -> None:
    files = {
        "sessions/2026/2026-02-01-0900-a.md": talk("My botany quiz went well, 14 points.", "Good."),
        "sessions/2026/2026-03-01-0900-b.md": talk("My botany quiz went badly, 9 points.", "Oh."),
        "sessions/2026/2026-04-01-0900-c.md": talk("My pub quiz went on till two.", "Ha."),
    }
    lines = answer(write(tmp_path, files | FILLER), "How did my most recent botany quiz go?")
    assert headings(lines)[0] == "sessions/2026/2026-03-01-0900-b.md"


def test_questions_asked_in_chats_and_their_answers_dilute_nothing(tmp_path: Path) -> None:
    """What was found before stands alone and first again, however often it was asked for and answered."""
    for number in range(30):
        write(tmp_path, {f"facts/2026-05-{number + 1:02d}-key.md": f"The boat {number} has an anchor and a rope.\n"})
    write(tmp_path, {"facts/2026-08-02-key.md": "The spare key is with Dona Graça downstairs.\n"})
    before = answer(Store(tmp_path).user("ann").folder, "Where is the spare key?")
    turns = "".join(
        f"- **ann** 09:{n:02d}: Where is the spare key?\n- **assistant** 09:{n:02d}: With Graça (facts/2026-08-02-key.md:1).\n"
        for n in range(20)
    )
    write(tmp_path, {f"sessions/2026-11-{day}-0900-keys.md": turns for day in (20, 21, 22)})
    after = answer(Store(tmp_path).user("ann").folder, "Where is the spare key?")
    assert after[1:] == before[1:]
