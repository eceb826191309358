"""The passage that answers a question stands above those that only share words with it, the same way every time."""

import datetime as dt
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from filemem import Hit, Store
from filemem.search.question import parse

DAY = "2026-05-04"
FOLDERS = itertools.count()


class Said(NamedTuple):
    """A turn to put in."""

    text: str
    speaker: str


class Memories:
    """A user's files: (path, turns or texts), each a passage."""

    def __init__(self, root: Path, *files: tuple[str, Sequence[Said | str]]) -> None:
        self.user = Store(root / str(next(FOLDERS))).user("user")
        for path, passages in files:
            lines = [
                f"- **{one.speaker}**: {one.text}"
                if isinstance(one, Said)
                else f"{one}\n"
                for one in passages
            ]
            self.user.folder.create(path, "\n".join(lines) + "\n")

    def hits(self, question: str, limit: int = 100) -> list[Hit]:
        """What is found, best first."""
        found = self.user.search_files(
            question, limit=limit, today=dt.date(2026, 5, 20)
        )
        return sorted(found, key=lambda hit: -hit.score)

    def best(self, question: str, limit: int = 100) -> list[str]:
        """The texts found, best first."""
        return [hit.text for hit in self.hits(question)][:limit]


def notes(root: Path, *texts: str) -> Memories:
    """One file a text, all of one day."""
    return Memories(
        root, *((f"facts/{DAY}-{place}.md", [text]) for place, text in enumerate(texts))
    )


PROBES = {
    "Prefers oolong tea in the morning.": [
        "oolong tea",
        "Which tea do I drink in the morning?",
    ],
    "早上喜欢喝乌龙茶。": ["乌龙茶", "茶", "烏龍茶"],
    "Left the café résumé at home.": ["resume cafe"],
    "She painted the fence.": ["painting"],
    "下个月用 Rust 重写解析器 parser。": ["用 Rust 重写", "parser 解析器"],
    "Bought a bicycle.": ["buy"],
    "The hamster sleeps all day.": ["which pets"],
}


def test_words_are_found_in_every_form(tmp_path: Path) -> None:
    user = notes(tmp_path, "Something about nothing.", *PROBES, "另外一件事。")
    for answer, questions in PROBES.items():
        for question in questions:
            assert user.best(question)[0] == answer, question


@pytest.mark.parametrize(
    ("question", "first", "others"),
    [
        (
            "lunch zeppelin",
            "zeppelin at home",
            ["lunch with Ada", "lunch again", "lunch at noon", "lunch at home"],
        ),
        (
            "How would you describe an orchid?",
            "the orchid",
            ["describe it", *(f"{one} is full" for one in "abcdefgh")],
        ),
        ("How many turtles?", "three turtles", ["so many shelves, so many!"]),
        (
            "beach",
            "Look at this beach please",
            ["Look at this one please [image: a beach]"],
        ),
        (
            "When did the choir sing?",
            "the choir sang yesterday",
            ["the choir sang loudly"],
        ),
    ],
)
def test_the_text_that_answers_stands_first(
    tmp_path: Path, question: str, first: str, others: list[str]
) -> None:
    """A rare word weighs more than a frequent one, what questions are put with less; speech more than a caption."""
    assert notes(tmp_path, *others, first).best(question)[0] == first


def test_the_answer_to_a_question_need_not_repeat_it(tmp_path: Path) -> None:
    asked = [
        Said("It rained all night here.", "Ben"),
        Said("Where did you buy that guitar?", "Ben"),
    ]
    for replies in (
        ["At a flea market in Lyon."],
        ["Let me think.", "At a flea market in Lyon."],
    ):
        talk = [
            *asked,
            *(Said(reply, "Anna") for reply in replies),
            Said("The weather is grey.", "Ben"),
        ]
        other = [
            Said(text, "Ben")
            for text in ("The day begins.", "At a desk.", "It rained.", "I leave.")
        ]
        user = Memories(
            tmp_path,
            (f"sessions/{DAY}-0900-a.md", talk),
            (f"sessions/{DAY}-1000-b.md", other),
        )
        assert "At a flea market in Lyon." in user.best(
            "Where was Anna's guitar bought?", limit=3
        )


def test_where_one_person_speaks_what_stands_beside_a_word_answers_less(
    tmp_path: Path,
) -> None:
    """In a talk of two a reply need not repeat what it answers, and its best passage speaks for the rest; one person alone
    says something else each time, and so does who talks with an assistant."""
    found = {}
    for speaker in ("Ben", "Anna", "Assistant"):
        talk = [
            Said("I sold the old Vespa.", "Anna"),
            Said("To a florist in Braga.", speaker),
        ]
        hits = Memories(tmp_path, (f"sessions/{DAY}-0900-a.md", talk)).hits(
            "Who bought the Vespa?"
        )
        found[speaker] = next(
            hit for hit in hits if hit.text == "To a florist in Braga."
        )
    assert found["Ben"].score > 1.5 * found["Anna"].score
    assert [speaker for speaker, hit in found.items() if "company" in hit.parts] == [
        "Ben"
    ]
    assert [speaker for speaker, hit in found.items() if "length" not in hit.parts] == [
        "Assistant"
    ]  # whose is long


def test_a_question_about_oneself_lifts_what_is_said_in_the_first_person(
    tmp_path: Path,
) -> None:
    said = ("My sister lives by the canal.", "The heron lives by the canal.")
    memories = Memories(
        tmp_path,
        *(
            (f"sessions/{DAY}-090{n}-a.md", [Said(one, "Ann")])
            for n, one in enumerate(said)
        ),
    )
    for question, first in (
        ("Where do I live, by the canal?", True),
        ("Who lives by the canal?", False),
    ):
        lifted = {hit.text: "own words" in hit.parts for hit in memories.hits(question)}
        assert lifted == {
            "My sister lives by the canal.": first,
            "The heron lives by the canal.": False,
        }


@pytest.mark.parametrize(("clock", "answers"), [("09:05", True), ("11:05", False)])
def test_what_is_said_after_a_pause_answers_no_question(
    tmp_path: Path, clock: str, answers: bool
) -> None:
    memories = Memories(tmp_path)
    turns = "- **Bo** 09:00: Which lamp?\n- **Ann** 09:01: Hm.\n- **Bo** 09:02: Where from?\n"
    memories.user.folder.create(
        f"sessions/2026/{DAY}-0900-lamp.md",
        f"{turns}- **Ann** {clock}: The lamp is Danish.\n",
    )
    hits = {hit.text: hit.parts for hit in memories.hits("Danish lamp")}
    assert ("answer" in hits["The lamp is Danish."]) is answers


@pytest.mark.parametrize(
    ("heading", "near"), [("## 2026-04-09-0930-walk", False), ("", True)]
)
def test_what_is_beside_a_word_of_a_summary_answers_in_its_section(
    tmp_path: Path, heading: str, near: bool
) -> None:
    passed, asked = (
        "- **晓棠**: 科目三过了！一把过！",
        "- **晓棠**: 西兰花有没有不用油的做法",
    )
    said = ["## 2026-04-03-0930-exam", passed, heading, asked]
    found = Memories(tmp_path, ("summaries/2026/2026-04-conversations.md", said)).best(
        "科目三最后是哪天考的？"
    )
    assert any("西兰花" in text for text in found) == near


def test_the_windows_of_a_long_passage_are_not_near_each_other(tmp_path: Path) -> None:
    long = f"The kiln is hot. {'Nothing of note went on there in all that while. ' * 8}The glaze is green."
    talks = [
        [Said("Good morning.", "Ann"), Said(said, "Ben")]
        for said in (long, "The kiln and the glaze.")
    ]
    memories = Memories(
        tmp_path,
        *((f"sessions/{DAY}-090{n}-a.md", talk) for n, talk in enumerate(talks)),
    )
    found = {hit.text[:12]: hit.strength for hit in memories.hits("kiln glaze")}
    assert found["The kiln and"] == 1.0 and found["The kiln is "] < 0.75


def test_the_person_asked_about_is_heard_first_and_the_name_is_no_word(
    tmp_path: Path,
) -> None:
    talk = [
        Said("I love sailing", "Anna"),
        Said("I love sailing too", "Ben"),
        Said("Anna, Anna, Anna!", "Ben"),
    ]
    user = Memories(tmp_path, (f"sessions/{DAY}-0900-a.md", talk))
    assert user.best("Does Ben love sailing?")[0] == "I love sailing too"
    assert user.best("Does Anna love sailing?")[0] == "I love sailing"
    query = parse("Does Anna's boat sail?", ["", "anna", "ben"])
    assert [word.stem for word in query.words if not word.is_context_word] == [
        "boat",
        "sail",
    ]


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What did Ann tell Ben?", {1}),
        ("What does Ben think of Ann's boat?", {2}),
        ("What do Ann and Ben have in common?", {1, 2}),
        ("What did Ann and Ben say to Cleo and Ann's dog?", {1, 2}),
        ("Ann送给Ben什么？", {1}),
        ("Ann和Ben都喜欢什么？", {1, 2}),
        ("What gives Ben joy?", {2}),
        ("What gives Joy's brother hope?", {4}),
        ("what does smith like", {5}),
        ("小明什么时候去了北京？", {6}),
    ],
)
def test_a_question_is_about_whom_it_names_first_and_who_is_joined_to_them(
    question: str, about: set[int]
) -> None:
    """A name that is a word too is one only with a capital, where the question has any; a part of it will do."""
    assert (
        parse(question, ["", "ann", "ben", "cleo", "joy", "bill smith", "李小明"]).about
        == about
    )


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Where do I live now?", {"live"}),
        ("What is my current home?", {"home"}),
        ("我现在住哪儿？", {"住"}),
        ("Ann目前住哪里？", {"住"}),
        ("What have we discussed about the bridge?", {"bridge"}),
        ("Who spoke at the wedding?", {"spoke", "wedding"}),
        ("我们谈过什么茶？", {"茶"}),
        ("小明什么时候去了北京？", {"去", "北", "北京", "京"}),
        ("what did ANN and Ben's dog do", {"dog"}),
    ],
)
def test_what_a_question_is_put_with_or_names_is_no_word_to_look_for(
    question: str, words: set[str]
) -> None:
    query = parse(question, ["", "ann", "ben", "小明"])
    assert {word.text for word in query.words if not word.is_context_word} == words


def test_a_day_that_the_question_names_lifts_its_files(tmp_path: Path) -> None:
    days = [
        (f"facts/2026-05-0{day}.md", [f"we talked of the boat {day}"])
        for day in range(1, 6)
    ]
    hits = Memories(tmp_path, *days).hits("the boat on 4 May 2026")
    assert [hit.path[-4] for hit in hits] == ["4", "5", "3", "2", "1"]


def test_the_parts_add_up_to_the_score(tmp_path: Path) -> None:
    talk = [
        Said("I sail my boat daily", "Ben"),
        Said("Which boat is that?", "Anna"),
        Said("Sail on.", "Ben"),
    ]
    for hit in Memories(tmp_path, (f"sessions/{DAY}-0900-a.md", talk)).hits(
        "When does Ben sail the boat in May?"
    ):
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-5)


def test_nothing_is_found_where_no_word_stands(tmp_path: Path) -> None:
    assert (
        notes(tmp_path, "the red boat").best("zeppelin")
        == notes(tmp_path, "the red boat").best("what is it?")
        == []
    )
    assert notes(tmp_path, "the guitar is here", "something else").best("guitar") == [
        "the guitar is here"
    ]


def test_ties_go_to_the_newest_then_by_path(tmp_path: Path) -> None:
    paths = ["facts/2026-05-05-c.md", "facts/2026-05-04-a.md", "facts/2026-05-04-b.md"]
    user = Memories(tmp_path, *((path, ["a boat"]) for path in reversed(paths)))
    assert [hit.path for hit in user.hits("boat")] == paths


WORDS = st.sampled_from(
    "boat boats sail sailed lake guitar 茶 喝茶 I yesterday? the".split()
)


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.lists(st.lists(WORDS, max_size=6).map(" ".join), min_size=1, max_size=6),
        min_size=1,
        max_size=6,
    ),
    st.randoms(),
)
def test_the_order_in_which_files_come_changes_nothing(
    tmp_path: Path, talks: list[list[str]], random
) -> None:
    files = [
        (f"sessions/{DAY}-090{n}-x.md", [Said(text, "Ben") for text in talk])
        for n, talk in enumerate(talks)
    ]
    one, other = (
        Memories(tmp_path, *some) for some in (files, random.sample(files, len(files)))
    )
    for path, _ in files[::2]:  # what has changed is read anew, behind the rest
        other.hits("boat")
        (Path(other.user.folder.root) / path).touch()
    asked = "When did we sail the boat and drink 茶?"
    first, second = (
        [(hit.path, hit.line, hit.score) for hit in some.hits(asked)]
        for some in (one, other)
    )
    assert first == second


def test_on_a_large_store_frequent_words_still_decide_between_the_files_of_rare_ones(
    tmp_path: Path,
) -> None:
    talks = (["- common bread"] * 100, ["- plain bread"] * 30)
    files = [
        (f"notes/{place:05}-{half}.md", talk)
        for place in range(210)
        for half, talk in enumerate(talks)
    ]
    rare = [
        ("notes/x.md", ["- rare plain bird", "- x"]),
        ("notes/y.md", ["- rare common bird", "- x"]),
    ]
    found = Memories(tmp_path, *files, *rare).best("rare common", limit=2)
    assert found == ["- rare common bird", "- rare plain bird"]
