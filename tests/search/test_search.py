"""A search answers with what is worth reading, says how well it matches, and never lets
an old truth pass for the present.

The best evidence comes first, under headings with dates; a fact stands for what it was
taken from; what is no longer so stands below what replaced it.
"""

import datetime as dt
import re
from pathlib import Path

import pytest
from programs import lay

from filemem import Store, Toolbox
from filemem.index import Index
from filemem.search.days import named_days
from filemem.search.query import parse
from filemem.search.weights import WEIGHTS
from filemem.store.users import StoreFolder

TODAY = dt.date(2026, 11, 20)
Files = dict[str, str]


def talk(*turns: str) -> str:
    """A transcript of two who take turns."""
    speakers = ("ann", "ben") * len(turns)
    pairs = zip(speakers, turns, strict=False)
    return "".join(f"- **{speaker}** 09:30: {turn}\n" for speaker, turn in pairs)


def session(day: str, name: str = "talk") -> str:
    return f"sessions/{day[:4]}/{day}-0930-{name}.md"


def fact(text: str, **front: str) -> str:
    """A fact with its front matter."""
    lines = [f"{key}: {value}\n" for key, value in front.items()]
    return f"---\n{''.join(lines)}---\n\n{text}\n"


FILLER = {
    session(f"2026-01-{day:02}", "day"): talk(
        f"The weather on the {day}th was grey.",
        "So it was here.",
        "Let us walk the dog.",
        f"Lap {day} is done.",
    )
    for day in range(1, 21)
}


def ask(
    root: Path, files: Files, query: str, today: dt.date = TODAY, **filters: object
) -> list[str]:
    """The lines of the tool's answer over these files and the filler."""
    lay(root / "ann", FILLER | files)
    noon = dt.datetime.combine(today, dt.time(12))
    tools = Toolbox(StoreFolder(root).folder("ann"), lambda: noon)
    return tools.call("search_files", {"query": query, **filters}).split("\n")


def paths(lines: list[str]) -> list[str]:
    """The paths of an answer's headings, in order."""
    found = [re.match(r"(\S+\.md)(?:  |$)", line) for line in lines[1:]]
    return [heading[1] for heading in found if heading]


def speakers(lines: list[str]) -> list[str]:
    """Those whose words an answer shows, in order."""
    found = [re.match(r" +\d+  (\S+?):", line) for line in lines]
    return [turn[1] for turn in found if turn]


TEA = session("2026-03-14", "tea")
OOLONG = "facts/2026/2026-03-14-likes-oolong.md"
COFFEE = "facts/2025/2025-11-23-likes-coffee.md"
CHAT = talk(
    "I gave up coffee yesterday.",
    "Brave. What do you drink now?",
    "Oolong, from my uncle.",
    "A good choice.",
)


# -- whose words -------------------------------------------------------------------

ASKED_ALONG = [
    ("Did I tell you that my sister Ida married Tom in Ghent?", "Whom did Ida marry"),
    ("We fly to Gdansk on 17 June. Should we rent a car?", "when do we fly to gdansk"),
    ("The rollback steps are in deploy.md:12.", "Where are the rollback steps"),
    ("+351 912 345 678", "912 345"),
    ("我妹妹还在根特读书呢。", "我妹妹在哪里读书"),
    ("你知道我妹妹住在根特吗？", "我妹妹住在哪里"),
]


@pytest.mark.parametrize(("said", "asked"), ASKED_ALONG)
@pytest.mark.parametrize("mark", ["", "?", "？"])
def test_what_a_person_says_along_with_a_question_is_found(
    tmp_path: Path, said: str, asked: str, mark: str
) -> None:
    """Also beside an assistant that repeats the words; a mark changes nothing."""
    turns = f"- **ann** 09:30: {said}\n- **assistant** 09:31: How wonderful! {said}\n"
    lines = ask(tmp_path, {TEA: turns}, asked + mark, limit=1)
    assert (paths(lines), speakers(lines)) == ([TEA], ["ann"])


KETTLES = (
    "A kettle for the tea should be made of steel. Steel kettles for tea keep for years! "
    "A kettle of glass shows how the water boils. Please descale it every month."
)
KETTLE = f"""- **ann** 09:30: My kettle is from Kettering, a present of my aunt.
- **assistant** 09:30: {KETTLES}
"""
CHINESE_KETTLE = """- **安** 09:30: 我的水壶是姑姑送的，蓝色的。
- **assistant** 09:30: 泡茶的水壶建议买不锈钢的，蓝色水壶也好看。
"""


@pytest.mark.parametrize(
    ("question", "speaker"),
    [
        ("What kettle of steel or glass for tea do I have?", "ann"),
        ("Which kettle for tea did you recommend?", "assistant"),
        ("steel kettle: what was your advice for tea?", "assistant"),
        ("我泡茶的水壶是什么颜色的？", "安"),
        ("泡茶的水壶，你当时建议买哪种？", "assistant"),
        ("泡茶的水壶，你當時建議買哪種？", "assistant"),
    ],
)
@pytest.mark.parametrize("name", ["assistant", "Botley"])
def test_what_the_person_said_stands_before_what_an_assistant_did(
    tmp_path: Path, question: str, speaker: str, name: str
) -> None:
    """By the role that is kept with the turn, also where an import names its assistant;
    unless the assistant's words are asked for."""
    head = f"---\norigin: x\nassistant: {name}\n---\n\n"
    said = KETTLE if question.isascii() else CHINESE_KETTLE
    files = {TEA: head + said.replace("assistant", name)}
    wanted = name if speaker == "assistant" else speaker
    assert speakers(ask(tmp_path, files, question, limit=1)) == [wanted]
    assert speakers(ask(tmp_path, files, question, speaker=speaker)) == [wanted]


def test_a_speaker_is_known_by_a_part_of_a_name(tmp_path: Path) -> None:
    said = (
        "- **平安保险小赵** 14:05: 您的下个月十八号到期。\n- **李建国** 14:05: 到期？\n"
    )
    lines = ask(tmp_path, {TEA: said}, "到期", speaker="小赵")
    assert "平安保险小赵 14:05:" in lines[2] and len(lines) == 3


@pytest.mark.parametrize("name", ["Ann", "ann"])
def test_a_whole_name_is_meant_before_a_part_of_another(
    tmp_path: Path, name: str
) -> None:
    said = {TEA: "- **Ann** 09:00: No tea.\n- **Ann Lee** 09:01: More tea!\n"}
    answer = "\n".join(ask(tmp_path, said, "tea", speaker=name))
    assert "No tea." in answer and "More tea!" not in answer


@pytest.mark.parametrize("name", ["Dr. Wu", "dr wu", "Wu", "wu."])
def test_a_full_stop_is_no_part_of_a_name(tmp_path: Path, name: str) -> None:
    said = {TEA: "- **Dr. Wu** 09:00: No tea at night.\n- **ann** 09:01: Tea!\n"}
    assert paths(ask(tmp_path, said, "tea", speaker=name)) == [TEA]
    assert "nobody named" in ask(tmp_path, said, "tea", speaker="...")[0]


@pytest.mark.parametrize(
    ("filters", "more"),
    [
        ({"speaker": "ann"}, ""),
        ({"speaker": "ann"}, "- **ann** 11:30: Fine.\n"),
        ({"after": "2026-03-14", "before": "2026-03-14"}, ""),
    ],
)
def test_what_is_asked_for_is_found_however_much_else_says_the_same(
    tmp_path: Path, filters: dict[str, object], more: str
) -> None:
    names = [(f"2026-02-{1 + n % 28:02}", f"ben{n}") for n in range(60)]
    said = f"- **ben** 09:30: tea tea tea\n{more}"
    files = {session(*name): said for name in names}
    files[TEA] = talk("A cup of tea, please.", "Now.")
    lines = ask(tmp_path, files, "tea", **filters)
    assert paths(lines) == [TEA]
    assert "weaker" not in lines[-1]


def test_a_word_of_every_passage_is_found_beside_one_that_stands_nowhere(
    tmp_path: Path,
) -> None:
    """Also where more passages hold it than any answer could."""
    turns = "- **ann** 09:00: tea\n" * 1000
    files = {session(f"2026-02-0{day}"): turns for day in range(1, 10)}
    assert paths(ask(tmp_path, files, "green tea"))
    files = {"facts/2026-02-01-green.md": "Green thumbs.\n"}
    assert paths(ask(tmp_path, files, "green tea", path="sessions"))
    assert "weaker" in ask(tmp_path, files, "green tea")[-1]


def test_what_one_person_answers_is_found_by_the_words_of_another(
    tmp_path: Path,
) -> None:
    said = talk(
        "Good morning.",
        "Which kayak do you want?",
        "The red one.",
    )
    lines = ask(tmp_path, {TEA: said}, "kayak", speaker="ann")
    assert "The red one." in "\n".join(lines)


def test_what_several_people_say_alike_is_shown_of_each(tmp_path: Path) -> None:
    said = talk(
        "I want tea.",
        "I want tea.",
    )
    lines = ask(tmp_path, {TEA: said}, "Who wants tea?", limit=10)
    assert speakers(lines)[:2] == ["ann", "ben"]


# -- what comes first --------------------------------------------------------------

ASKED = "Where does my sister Ida live?"
PARKS = "Parks in the garage."
PORTO = "facts/2024-02-01-porto.md"
COIMBRA = "facts/2027-03-01-coimbra.md"
HOMES = {
    PORTO: fact(
        "Ana lives in Porto.",
        valid_from="2024-02-01",
        valid_until="2027-02-28",
        superseded_by=COIMBRA,
    ),
    COIMBRA: fact("Ana lives in Coimbra.", supersedes=f"[{PORTO}]"),
}
LOVED = {
    OOLONG: "Ann has oolong with cake now.\n",
    COFFEE: fact("Ann loves strong coffee, coffee with cake.", superseded_by=OOLONG),
}
MIDDLE = "facts/2026-01-05-tea.md"
CHAIN = {
    COFFEE: fact("Likes coffee.", superseded_by=MIDDLE),
    MIDDLE: fact("Likes tea.", superseded_by=OOLONG),
    OOLONG: "Likes oolong.\n",
}
LATER = dt.date(2027, 4, 1)
VAN = "facts/2026-04-20-van.md"
ENDED = fact("Ann rents a boat.", valid_until="2026-03-31", superseded_by=VAN)
BINS = "facts/2026/2026-05-09-bins.md"
SOURCES = f"[{session('2026-05-09')}:6, {session('2026-05-30')}:6]"
EVENTS = {
    OOLONG: fact("The chess tournament is in the hall.", day="2026-12-24"),
    COFFEE: fact("The tournament of the choirs.", day="2026-12-12"),
}
FIRST: dict[str, tuple[Files, str, dt.date, list[str]]] = {
    "what answers a question stands before the same question": (
        {
            session("2026-03-20"): talk(ASKED),
            TEA: talk("My sister Ida lives in Ghent."),
        },
        ASKED,
        TODAY,
        [TEA, session("2026-03-20")],
    ),
    "an answer of one sign stands before what asks": (
        {
            session("2026-03-20"): talk("How many cats does your mother have?", "7"),
            TEA: talk("My mother has cats too, a lot of cats. Does your mother?"),
        },
        "How many cats does Ben's mother have?",
        TODAY,
        [session("2026-03-20")],
    ),
    "of what holds a question alike the newest is first": (
        {
            session(f"2026-0{month}-01"): talk(f"My shoe size is 4{month}.", "Ah.")
            for month in (2, 4, 3)
        },
        "What is my shoe size?",
        TODAY,
        [session("2026-04-01")],
    ),
    "archived memories stand below live ones and expired ones below these": (
        {
            "archive/facts/2026-01-01-a.md": PARKS,
            "facts/2025-01-01-b.md": PARKS,
            "facts/2026-01-02-c.md": fact(PARKS, valid_until="2026-05-01"),
        },
        "garage",
        TODAY,
        [
            "facts/2025-01-01-b.md",
            "archive/facts/2026-01-01-a.md",
            "facts/2026-01-02-c.md",
        ],
    ),
    "what replaced a memory stands right above it": (
        LOVED,
        "Does Ann love coffee?",
        TODAY,
        [OOLONG, COFFEE],
    ),
    "even if it shares no word": (LOVED, "strong coffee", TODAY, [OOLONG, COFFEE]),
    "a chain of replacements leads to the last": (
        CHAIN,
        "Likes coffee?",
        TODAY,
        [OOLONG, COFFEE],
    ),
    "a plan that was replaced before its day is superseded": (
        {
            PORTO: fact(
                "Ana moves to Porto.", valid_from="2027-01-01", superseded_by=MIDDLE
            ),
            MIDDLE: "Ana stays in Coimbra.\n",
        },
        "Does Ana move to Porto?",
        TODAY,
        [MIDDLE, PORTO],
    ),
    "what holds today": (HOMES, "Where does Ana live?", LATER, [COIMBRA, PORTO]),
    "what replaces it later does not yet": (
        HOMES,
        "Where does Ana live?",
        TODAY,
        [PORTO],
    ),
    "what held in the month asked for": (
        HOMES,
        "Where did Ana live in January 2027?",
        LATER,
        [PORTO, COIMBRA],
    ),
    "in the year": (HOMES, "Where did Ana live in 2025?", LATER, [PORTO, COIMBRA]),
    "a memory holds to the end that it names, though it was replaced later": (
        {OOLONG: ENDED, VAN: "Ann rents a van.\n"},
        "What does Ann rent on 31 March 2026?",
        TODAY,
        [OOLONG],
    ),
    "a fact counts as of the last day that updated it": (
        {
            BINS: fact("The bins go out on Friday.", source=SOURCES),
            session("2026-05-20"): "- **ann**: Bins go out on Monday.\n",
        },
        "When do the bins go out?",
        TODAY,
        [BINS],
    ),
    "a coming event that was not asked for changes no order": (
        EVENTS,
        "chess tournament",
        TODAY,
        [OOLONG],
    ),
}


@pytest.mark.parametrize(
    ("files", "question", "today", "first"), FIRST.values(), ids=FIRST
)
def test_what_answers_best_comes_first(
    tmp_path: Path, files: Files, question: str, today: dt.date, first: list[str]
) -> None:
    lines = ask(tmp_path, files, question, today)
    assert paths(lines)[: len(first)] == first
    assert "No memory is dated" not in "\n".join(lines)


def test_what_replaced_a_memory_is_shown_however_little_it_says_of_the_question(
    tmp_path: Path,
) -> None:
    said = "In Porto Ana lives above a bakery near the river, with her cousin."
    files = {
        PORTO: fact("Ana lives in Porto by the river bakery.", superseded_by=MIDDLE),
        MIDDLE: "Moved to Coimbra.\n",
        session("2026-04-01"): f"- **Ben** 09:00: {said}\n",
    }
    lines = ask(tmp_path, files, "Ana Porto river bakery")
    assert {PORTO, MIDDLE} <= set(paths(lines))


def test_what_replaced_a_memory_answers_as_well_as_it(tmp_path: Path) -> None:
    cars = {
        COFFEE: fact("Drives a Fiat.", superseded_by=MIDDLE),
        MIDDLE: fact("Drives a Seat.", superseded_by=OOLONG),
        OOLONG: "Drives a Volvo.\n",
    }
    lines = ask(tmp_path, cars, "fiat", limit=1)
    assert paths(lines)[0] == OOLONG
    assert "weak:" not in "\n".join(lines)


def test_a_name_stands_for_all_that_notes_call_the_same(tmp_path: Path) -> None:
    notes = {
        "notes/2026-05-01.md": "We asked [[Doctor Weiss|the dentist]] first.\n",
        "notes/2026-05-02.md": "Later [[Doctor Weiss|Uncle Karl]] called.\n",
        "notes/2026-05-03.md": "The dentist found a hole in a molar.\n",
        "notes/2026-05-04.md": "Uncle Karl sold his boat.\n",
    }
    lines = ask(tmp_path, notes, "What do you know of Doctor Weiss?", limit=10)
    assert notes.keys() <= set(paths(lines))


def test_a_live_and_an_archived_memory_of_one_path_are_two(tmp_path: Path) -> None:
    files = {
        OOLONG: "Ana loves jasmine tea.\n",
        f"archive/{OOLONG}": "Ana grows tomatoes in Porto.\n",
    }
    lines = ask(tmp_path, files, "Ana tomatoes Porto jasmine", limit=5)
    assert files.keys() <= set(paths(lines))


def test_memories_that_replace_each_other_hide_nothing(tmp_path: Path) -> None:
    ring = {**CHAIN, OOLONG: fact("Likes oolong.", superseded_by=COFFEE)}
    assert COFFEE in paths(ask(tmp_path, ring, "Likes coffee?"))


def test_headings_tell_when_a_memory_held_and_what_it_replaced(tmp_path: Path) -> None:
    lines = ask(tmp_path, HOMES, "Where did Ana live before Coimbra?", LATER)
    held = "held 2024-02-01 to 2027-02-28"
    assert f'{COIMBRA}  Mon  replaced "Ana lives in Porto." {held}' in lines
    assert f"{PORTO}  Thu  superseded by {COIMBRA}  {held}" in lines
    user = Store(tmp_path).user("ann")
    replaced = f'replaced "Ana lives in Porto." {held}'
    assert replaced in user.tools().call("grep", {"pattern": "Coimbra"})
    assert replaced in user.tools().call("open", {"path": COIMBRA})
    assert replaced in user.prompt_context("Where did Ana live before Coimbra?")


def test_a_fact_held_to_its_end_though_its_successor_has_no_day(tmp_path: Path) -> None:
    undated = "facts/coimbra.md"
    files = {
        PORTO: HOMES[PORTO].replace(COIMBRA, undated),
        undated: fact("Ana lives in Coimbra.", valid_from="2027-03-01"),
    }
    lines = ask(tmp_path, files, "Where did Ana live in 2025?", LATER)
    assert paths(lines)[0] == PORTO
    assert not any("No memory is dated" in line for line in lines)


@pytest.mark.parametrize(
    ("said", "front"),
    [
        ("until 2027-03-31", {"valid_until": "2027-03-31"}),
        ("event of 2026-12-04", {"day": "2026-12-04"}),
        (
            "event of 2026-12-04 to 2026-12-06",
            {"day": "2026-12-04", "valid_until": "2026-12-06"},
        ),
    ],
)
def test_every_tool_says_the_days_of_a_memory(
    tmp_path: Path, said: str, front: dict[str, str]
) -> None:
    """What holds still is not told as past."""
    files = {VAN: fact("Ann rents a garage.", **front)}
    assert any(line.endswith(said) for line in ask(tmp_path, files, "garage"))
    tools = Store(tmp_path).user("ann").tools()
    assert f"  {said}" in tools.call("grep", {"pattern": "garage"})
    assert f"  {said}" in tools.call("open", {"path": VAN})


def test_of_an_appointment_that_was_moved_no_other_day_is_told(tmp_path: Path) -> None:
    new = "facts/2026/2026-11-10-dentist.md"
    old = "archive/facts/2026/2026-11-01-dentist.md"
    ended = {"superseded_by": new, "valid_until": "2026-11-10"}
    first = fact("Dentist on 25 November.", kind="event", day="2026-11-25", **ended)
    then = fact(
        "Dentist on 2 December.", kind="event", day="2026-12-02", supersedes=old
    )
    answer = "\n".join(ask(tmp_path, {old: first, new: then}, "dentist"))
    assert 'replaced "Dentist on 25 November."' in answer and "held" not in answer
    opened = Store(tmp_path).user("ann").tools().call("open", {"path": old})
    assert "event of 2026-11-25 " in opened
    assert "2026-11-25 to" not in opened


def test_a_heading_quotes_nothing_that_was_forgotten(tmp_path: Path) -> None:
    files = {
        COFFEE: fact("[forgotten]", superseded_by=OOLONG),
        OOLONG: fact("Likes oolong.", supersedes=COFFEE),
    }
    lines = ask(tmp_path, files, "Likes oolong?")
    assert paths(lines) == [OOLONG]
    assert "replaced" not in "\n".join(lines)


@pytest.mark.parametrize(
    "filters",
    [{"before": "2026-12-31"}, {"path": "facts/2024*"}, {"path": PORTO, "limit": 1}],
)
def test_what_replaced_a_memory_is_left_out_where_it_was_not_asked_for(
    tmp_path: Path, filters: dict[str, object]
) -> None:
    """The heading of what it replaced names it all the same."""
    lines = ask(tmp_path, HOMES, "Where does Ana live?", LATER, **filters)
    assert paths(lines) == [PORTO]
    assert f"superseded by {COIMBRA}" in lines[1]


# -- one piece of evidence, one hit ------------------------------------------------


def test_a_fact_a_line_of_a_summary_and_an_archived_turn_tell_the_same_once(
    tmp_path: Path,
) -> None:
    """The fact, which names its turn; a line of the profile gives way to it as well."""
    files = {
        f"archive/{TEA}": CHAT,
        OOLONG: fact("Gave up coffee.", source=f"{TEA}:1"),
        "summaries/2026/2026-03.md": f"- **ann**: I gave up coffee. ({TEA}:1)\n",
        "profile.md": f"- Gave up coffee. <!-- {OOLONG} -->\n- Lives in Ghent.\n",
    }
    lines = ask(tmp_path, files, "Who gave up coffee?")
    assert paths(lines)[0] == OOLONG and f"from {TEA}:1" in lines[1]
    assert len([line for line in lines if "gave up coffee" in line.lower()]) == 1


def test_a_turn_is_found_by_what_the_fact_that_rests_on_it_does_not_say(
    tmp_path: Path,
) -> None:
    """Behind the fact, which alone answers for what it says itself."""
    said = "I moved to Porto, and my dog Rex swallowed a button on the way."
    source = f"{TEA}:1"
    files = {TEA: talk(said, "Oh dear."), PORTO: fact("Porto: home.", source=source)}
    lines = ask(tmp_path, files, "What did the dog swallow in Porto?")
    assert paths(lines)[:2] == [PORTO, TEA]
    assert said in "\n".join(lines)
    assert said not in "\n".join(ask(tmp_path, files, "Porto"))


def test_of_two_facts_of_one_turn_that_answers_which_says_what_was_found_in_it(
    tmp_path: Path,
) -> None:
    """Not the one that holds a rare word of the question which the turn lacks."""
    source = f"{TEA}:1"
    said = "Guida came by train for a week, and she eats no beef, mind you."
    beef = "facts/2026/2026-03-14-beef.md"
    train = "facts/2026/2026-03-15-train.md"
    files = {
        TEA: talk(said, "Good to know."),
        beef: fact("Guida eats no beef.", source=source),
        train: fact("Guida came from Lisbon, Portugal.", source=source),
    }
    lines = ask(
        tmp_path,
        files,
        "Does Guida from Lisbon, Portugal eat beef when she comes by train for a week?",
    )
    assert paths(lines)[0] == beef


def test_a_persons_own_line_of_the_profile_is_shown_beside_a_fact(
    tmp_path: Path,
) -> None:
    files = {OOLONG: "Prefers oolong tea.\n", "profile.md": "- Prefers oolong tea.\n"}
    assert {*paths(ask(tmp_path, files, "oolong tea"))} == files.keys()


def test_a_line_of_a_summary_answers_by_its_own_words(tmp_path: Path) -> None:
    """Neither its neighbours' words count for it, nor those of its turns' path."""
    was = session("2026-03-14", "the-kayak-needs-paint")
    summary = (
        f"- The kayak gets green paint. ({was}:6)\n- Ben moved to Braga. ({was}:9)"
    )
    files = {"summaries/2026/2026-03-conversations.md": summary}
    answer = "\n".join(ask(tmp_path, files, "What paint does the kayak need?"))
    assert "green paint" in answer and "Braga" not in answer


def test_what_a_person_says_again_on_another_day_is_shown_again(
    tmp_path: Path,
) -> None:
    days = [session(f"2026-03-1{day}") for day in (1, 2, 3)]
    files = dict.fromkeys(days, talk("I skipped breakfast again.", "Have an apple."))
    lines = ask(tmp_path, files, "how often was breakfast skipped", limit=10)
    assert set(days) <= set(paths(lines))


def test_of_a_long_turn_the_best_window_is_shown_and_of_a_message_all(
    tmp_path: Path,
) -> None:
    house = "We looked at the house and talked about every room of it at length. "
    long = f"{house * 8}The roof leaks. {house * 8}A heron sat in the pond. {house}"
    for question, shown, other in (
        ("Does the roof leak?", "roof leaks", "heron"),
        ("A heron?", "heron sat", "roof"),
    ):
        text = "\n".join(ask(tmp_path, {TEA: talk(long)}, question))
        assert shown in text and other not in text and len(text) < 600
        assert '"line": 1' in text and "shows one whole" in text
    message = "I drove on to the lake with my dogs. " * 12 + "The kettle fell in."
    lines = ask(tmp_path, {TEA: talk(message)}, "Where did the kettle fall?")
    assert any(message in line for line in lines)


# -- what an answer says of itself -------------------------------------------------


def test_an_answer_says_where_all_of_it_is_weak_and_whether_there_is_more(
    tmp_path: Path,
) -> None:
    lines = ask(tmp_path, {TEA: CHAT}, "oolong")
    assert re.fullmatch(r"\d+ passages? in \d+ of 21 files", lines[0])
    assert paths(lines[:2]) == [TEA]
    weak = ask(tmp_path, {TEA: CHAT}, "zebra oolong crossing permit office")
    assert weak[1:3] == [
        "Nowhere in memory: zebra, crossing, permit, office.",
        "All of it is weak: no passage holds half of the question.",
    ]
    files = {TEA: talk("Oolong!"), OOLONG: fact("Drinks oolong.", source=f"{TEA}:1")}
    lines = ask(tmp_path, files, "oolong")
    assert paths(lines) == [OOLONG] and "weaker" not in lines[-1]


@pytest.mark.parametrize(
    ("count", "limit"),
    [
        (46, 45),
        (19, 3),
    ],
)
def test_what_is_left_out_is_told_however_much_alike_it_is(
    tmp_path: Path, count: int, limit: int
) -> None:
    """Also where more files hold the words than are looked at."""
    files = {}
    for number in range(count):
        path = session("2026-02-01", f"talk{number}")
        files[path] = f"- **ann** 2026-02-{1 + number % 28:02} 09:30: I had oolong.\n"
    lines = ask(tmp_path, files, "oolong", limit=limit)
    assert len(paths(lines)) <= limit
    assert "There are weaker ones" in lines[-1]


def test_nothing_found_says_what_was_searched_and_what_is_spelt_alike(
    tmp_path: Path,
) -> None:
    files = {TEA: CHAT, "archive/facts/2025-01-01-x.md": "Had a kayak.\n"}
    nothing = "0 passages in 0 of 22 files"
    for word in ("oolang", "oolnog", "olong"):  # offered, and not searched for instead
        assert ask(tmp_path, files, word)[:2] == [
            nothing,
            f"Nowhere in memory: {word} (near spellings, not searched: oolong).",
        ]
    assert ask(tmp_path, files, "oolanng")[:3] == [
        nothing,
        "Nowhere in memory: oolanng.",
        'The archive holds 1 file; path "archive/**" asks for it alone.',
    ]
    lines = ask(tmp_path, files, "kayak", path="sessions/**", after="2026-01")
    assert "The search was limited to path sessions/**, after 2026-01." in lines


@pytest.mark.parametrize("asked", ["e-mail", "E-Mail?", "Her e-mail"])
def test_a_joined_word_is_found_where_it_is_written_as_one(
    tmp_path: Path, asked: str
) -> None:
    lines = ask(tmp_path, {OOLONG: "Her email is on the fridge.\n"}, asked)
    assert lines[1].startswith(OOLONG)


def test_a_part_of_a_joined_word_is_one_only_as_a_whole(tmp_path: Path) -> None:
    """Ron stands for no cron-job."""
    lines = ask(tmp_path, {OOLONG: "Ron likes nuts.\n"}, "Has Ron a cron-job?")
    assert "Nowhere in memory: cronjob." in lines


def test_a_chinese_word_is_missing_if_no_dictionary_has_it(tmp_path: Path) -> None:
    """吉他 has 他 and 被子 has 被, which stand in no index."""
    said = {TEA: "- **小赵** 14:05: 我买了一把吉他，没有被子。\n"}
    lines = ask(tmp_path, said, "吉他和被子呢？没有吗")
    assert not any(line.startswith("Nowhere") for line in lines)
    assert "Nowhere in memory: 郗暎." in ask(tmp_path, said, "郗暎的吉他")


def test_the_person_s_own_name_is_no_word_to_be_found(tmp_path: Path) -> None:
    """Their facts are about them, and seldom name them."""
    user = Store(tmp_path).user("mara")
    user.remember("Likes oolong tea.")
    found = user.tools().call("search_files", {"query": "Which tea does Mara like?"})
    assert "Likes oolong tea." in found
    assert "Nowhere" not in found and "weak" not in found


# -- which days --------------------------------------------------------------------


def test_the_first_and_the_last_day_asked_for_count(tmp_path: Path) -> None:
    files = {f"facts/2026-05-0{day}-x.md": "A kayak.\n" for day in range(1, 6)}
    lines = ask(tmp_path, files, "kayak", after="2026-05-02", before="2026-05-04")
    assert sorted(path[14:16] for path in paths(lines)) == ["02", "03", "04"]
    lines = ask(tmp_path, files, "kayak", after="2026-06", before="2026-05")
    assert lines == [
        "Error: after 2026-06-01 and before 2026-05-31 leave no day;"
        " give the earlier as after."
    ]


def test_an_event_is_of_its_day_too_where_only_some_days_are_asked_for(
    tmp_path: Path,
) -> None:
    limits = {"after": "2026-12-20", "before": "2026-12-26"}
    assert paths(ask(tmp_path, EVENTS, "tournament", **limits)) == [OOLONG]
    assert not paths(ask(tmp_path, EVENTS, "tournament", after="2026-12-25"))
    turns = "- **ann** 09:00: The wedding.\n- **ann** 2026-03-19 10:00: Home again.\n"
    wed = {TEA: fact(turns, day="2026-03-14")}
    assert not paths(ask(tmp_path, wed, "wedding", after="2026-03-15"))
    tour = {OOLONG: fact("Tours Japan.", day="2026-05-10", valid_until="2026-05-30")}
    assert paths(ask(tmp_path, tour, "Japan", after="2026-05-20")) == [OOLONG]


@pytest.mark.parametrize(
    ("question", "stems"),
    [
        ("What did the mayor say in May?", {"mayor"}),
        ("Which marching band came in March?", {"march", "band"}),
    ],
)
def test_a_month_is_not_taken_out_of_another_word(
    tmp_path: Path, question: str, stems: set[str]
) -> None:
    corpus = Index(StoreFolder(tmp_path).folder("ann")).corpus()
    days = named_days(question, corpus, TODAY)
    query = parse(question, (), (), days, WEIGHTS)
    assert stems <= {word.stem for word in query.content}


def test_who_is_named_first_is_asked_about_whatever_other_words_hold(
    tmp_path: Path,
) -> None:
    corpus = Index(StoreFolder(tmp_path).folder("ann")).corpus()
    days = named_days("", corpus, TODAY)
    question = "Is it planned that Ben visits Ann?"
    assert parse(question, ("", "ann", "ben"), (), days, WEIGHTS).about == 2
