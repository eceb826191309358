"""The passage that answers a question stands above those that only share words with it, the same way every time."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from passages import indexed

from filemem.search import ranking
from filemem.search.evidence import TermCoverage
from filemem.search.question import parse
from filemem.text import terms

DAY = dt.date(2026, 5, 4).toordinal()


class File:
    """A file's passages, as `lookup.Entry` describes it."""

    def __init__(self, path: str, date: int, first: int, count: int) -> None:
        self.path, self.date, self.first, self.count = path, date, first, count
        self.days = [date] if date else []
        self.layout = None

    def day(self, number: int) -> int:
        return self.date


class Said(NamedTuple):
    """A passage to put in."""

    text: str
    speaker: str = ""


class MemoryCorpus:
    """`lookup.Corpus` over lists: files as (path, date as an ordinal, passages)."""

    def __init__(self, *files: tuple[str, int, Sequence[Said | str]]) -> None:
        self._files: list[File] = []
        self._stems: dict[str, list[str]] = {}
        self._postings: dict[str, tuple[list[int], bytearray]] = {}
        self.lengths, self.flags = bytearray(), bytearray()
        self.speakers: list[int] = []
        self.speaker_names = [""]
        self.texts: list[str] = []
        self.firsts: list[int] = []
        for path, date, passages in files:
            file = File(path, date, len(self.texts), len(passages))
            self.firsts.append(file.first)
            for passage in passages:
                self._files.append(file)
                self._put(*(passage if isinstance(passage, Said) else Said(passage)))
        for token in sorted(self._postings):
            self._stems.setdefault(terms.stem(token.lstrip("[")), []).append(token)
        self.voices = bytes(3 if flags & terms.CITES and self.speakers[n] else 0 for n, flags in enumerate(self.flags))
        self.hollow = self.uncounted = frozenset(n for n, voice in enumerate(self.voices) if voice)
        self.count = len(self.texts)
        self.mean_length = sum(self.lengths) / max(1, self.count)

    def _put(self, text: str, speaker: str) -> None:
        counts, length = indexed(text)
        for token, count in counts.items():
            numbers, times = self._postings.setdefault(token, ([], bytearray()))
            numbers.append(len(self.texts))
            times.append(min(count, 255))
        if terms.fold(speaker) not in self.speaker_names:
            self.speaker_names.append(terms.fold(speaker))
        self.speakers.append(self.speaker_names.index(terms.fold(speaker)))
        self.lengths.append(min(length, 255))
        self.flags.append(terms.flags(text))
        self.texts.append(text)

    def concept(self, stem: str) -> list[str]:
        return self._stems.get(stem, [])

    def frequency(self, token: str) -> int:
        return len(self._postings[token][0]) if token in self._postings else 0

    def postings(self, token: str) -> list[tuple[list[int], bytearray]]:
        return [self._postings[token]] if token in self._postings else []

    def file(self, number: int) -> File:
        return self._files[number]

    def dated(self, first: int, last: int) -> set[File]:
        return {file for file in self._files if first <= file.date <= last}


def best(corpus: MemoryCorpus, question: str, limit: int = 10, **options) -> list[str]:
    """The texts found, best first."""
    spans = options.pop("spans", ())
    query = parse(question, corpus.speaker_names, spans)
    return [corpus.texts[found.number] for found in ranking.rank(query, corpus, limit=limit, **options)]


def held(question: str, corpus: MemoryCorpus, limit: int) -> list[TermCoverage]:
    """What the passages found hold of the question, the best passage first."""
    return [found.held() for found in ranking.rank(parse(question), corpus, limit=limit)]


def notes(*texts: str) -> MemoryCorpus:
    """One file a text, all of one day."""
    return MemoryCorpus(*((f"facts/{place}.md", DAY, [text]) for place, text in enumerate(texts)))


PROBES = [
    ("oolong tea", "Prefers oolong tea in the morning."),
    ("Which tea do I drink in the morning?", "Prefers oolong tea in the morning."),
    ("乌龙茶", "早上喜欢喝乌龙茶。"),
    ("茶", "早上喜欢喝乌龙茶。"),
    ("烏龍茶", "早上喜欢喝乌龙茶。"),
    ("resume cafe", "Left the café résumé at home."),
    ("painting", "She painted the fence."),
    ("用 Rust 重写", "下个月用 Rust 重写解析器 parser。"),
    ("parser 解析器", "下个月用 Rust 重写解析器 parser。"),
    ("buy", "Bought a bicycle."),
    ("which pets", "The hamster sleeps all day."),
]


@pytest.mark.parametrize(("question", "answer"), PROBES)
def test_probes(question: str, answer: str) -> None:
    corpus = notes("Something about nothing.", *sorted({text for _, text in PROBES}), "另外一件事。")
    assert best(corpus, question)[0] == answer


def test_a_rare_word_weighs_more_than_a_frequent_one() -> None:
    corpus = notes("lunch with Ada", "lunch again", "lunch at noon", "lunch at home", "zeppelin at home")
    assert best(corpus, "lunch zeppelin")[0] == "zeppelin at home"


def test_the_words_that_questions_are_put_with_weigh_less() -> None:
    corpus = notes("describe it", "the orchid", *(f"{place} is full" for place in "abcdefgh"))
    assert best(corpus, "How would you describe an orchid?") == ["the orchid", "describe it"]


def test_the_answer_to_a_question_need_not_repeat_it() -> None:
    asked = [Said("Good morning!", "Ben"), Said("Where did you buy that guitar?", "Ben")]
    for replies in (["At a flea market in Lyon."], ["Let me think.", "Hm.", "At a flea market in Lyon."]):
        talk = [*asked, *(Said(reply, "Anna") for reply in replies), Said("Nice weather today.", "Ben")]
        corpus = MemoryCorpus(("s/a.md", DAY, talk), ("s/b.md", DAY, ["Morning!", "At a desk.", "It rained.", "Bye."]))
        assert "At a flea market in Lyon." in best(corpus, "Where was Anna's guitar bought?", limit=3)


def test_neighbours_in_another_file_lend_nothing() -> None:
    corpus = MemoryCorpus(("s/a.md", DAY, ["the guitar is here"]), ("s/b.md", DAY, ["something else"]))
    assert best(corpus, "guitar") == ["the guitar is here"]


def test_the_person_asked_about_is_heard_first_and_the_name_is_no_word() -> None:
    talk = [Said("I love sailing", "Anna"), Said("I love sailing too", "Ben"), Said("Anna, Anna, Anna!", "Ben")]
    corpus = MemoryCorpus(("s/a.md", DAY, talk))
    assert best(corpus, "Does Ben love sailing?")[0] == "I love sailing too"
    assert best(corpus, "Does Anna love sailing?")[0] == "I love sailing"
    query = parse("Does Anna's boat sail?", corpus.speaker_names)
    assert (query.about, [word.stem for word in query.words if not word.is_context_word]) == (
        {corpus.speaker_names.index("anna")},
        ["boat", "sail"],
    )


def test_a_name_that_is_a_word_too_is_a_name_only_with_a_capital() -> None:
    names = ["", "joy", "ben smith"]
    assert parse("What gives Ben joy?", names).about == {2}
    assert parse("What gives Joy's brother hope?", names).about == {1}
    assert parse("what does smith like", names).about == {2}
    assert parse("Ben什么时候去旅行？", names).about == {2}


def test_whoever_of_several_is_named_is_heard_before_the_others() -> None:
    talk = [Said("We saw the lighthouse", who) for who in ("Cleo", "Anna", "Dora", "Ben")]
    corpus = MemoryCorpus(("s/a.md", DAY, talk))
    query = parse("Which lighthouse did Anna and Ben see?", corpus.speaker_names)
    found = ranking.rank(query, corpus, limit=2)
    assert {corpus.speaker_names[corpus.speakers[each.number]] for each in found} == {"anna", "ben"}


def test_chinese_names_are_found_inside_a_sentence() -> None:
    query = parse("小明什么时候去了北京？", ["", "李小明", "王芳"])
    assert query.about == {1}
    assert query.asks_when
    assert [word.text for word in query.words if not word.is_context_word] == ["去", "北", "北京", "京"]


@pytest.mark.parametrize("question", ["Ann和Ben去过哪里？", "what did ANN and Ben's dog do", "Ben, Ann"])
def test_names_are_no_words_of_the_question_whatever_stands_beside_them(question: str) -> None:
    query = parse(question, ["", "ann", "ben"])
    assert query.about | query.others == {1, 2}
    assert not {"ann", "ben"} & {word.text for word in query.words if not word.is_context_word}


def test_a_name_alone_finds_what_is_said_of_the_person_and_by_them() -> None:
    talk = [Said("Anna has a cold.", "Ben"), Said("I shall rest.", "Anna"), Said("Do.", "Ben")]
    corpus = MemoryCorpus(("s/a.md", DAY, talk), ("s/b.md", DAY, [Said("The shed is full.", "Ben")]))
    assert set(best(corpus, "Anna", limit=2)) == {"I shall rest.", "Anna has a cold."}


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What did Ann tell Ben?", {1}),
        ("What does Ben think of Ann's boat?", {2}),
        ("What do Ann and Ben have in common?", {1, 2}),
        ("Did Ben, Ann or Cleo sail?", {1, 2, 3}),
        ("What did Ann and Ben say to Cleo and Ann's dog?", {1, 2}),
        ("Ann送给Ben什么？", {1}),
        ("Ann和Ben都喜欢什么？", {1, 2}),
    ],
)
def test_a_question_is_about_whom_it_names_first_and_who_is_joined_to_them(question: str, about: set[int]) -> None:
    assert parse(question, ["", "ann", "ben", "cleo"]).about == about


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live now?",
        "Where does Ann currently live?",
        "What is my current home?",
        "我现在住哪儿？",
        "Ann目前住哪里？",
    ],
)
def test_that_it_asks_how_things_are_is_no_word_to_look_for(question: str) -> None:
    query = parse(question, ["ann"])
    assert [word.text for word in query.words if not word.is_context_word] in (["live"], ["home"], ["住"])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What did we talk about?", []),
        ("What have we discussed about the bridge?", ["bridge"]),
        ("Who spoke at the wedding?", ["spoke", "wedding"]),
        ("我们聊了什么？", []),
        ("我们谈过什么茶？", ["茶"]),
    ],
)
def test_what_was_talked_about_is_no_word_to_look_for(question: str, words: list[str]) -> None:
    assert [word.text for word in parse(question).words] == words


def test_how_many_is_no_word_to_look_for() -> None:
    corpus = notes("so many shelves, so many!", "three turtles")
    assert best(corpus, "How many turtles?") == ["three turtles"]


def test_signs_of_an_answer_count_for_little_where_hardly_a_word_stands() -> None:
    talk = [
        Said("I was there yesterday", "Anna"),
        *[Said("x", "Ben")] * 8,
        Said("a trombone hung below the ceiling", "Ben"),
    ]
    other = [Said("to polish a big golden lamp", "Ben")]
    corpus = MemoryCorpus(("s/a.md", DAY, talk), ("s/b.md", DAY, other))
    found = best(corpus, "When did Anna polish the big golden trombone?", limit=99)
    assert found.index("a trombone hung below the ceiling") < found.index("I was there yesterday")


def test_a_caption_is_worth_less_than_speech() -> None:
    corpus = notes("Look at this one please [image: a beach]", "Look at this beach please")
    assert best(corpus, "beach") == ["Look at this beach please", "Look at this one please [image: a beach]"]


def test_when_asks_for_a_time() -> None:
    corpus = notes("the choir sang loudly", "the choir sang yesterday")
    assert best(corpus, "When did the choir sing?")[0] == "the choir sang yesterday"


def test_a_day_that_the_question_names_lifts_its_files_softly() -> None:
    corpus = MemoryCorpus(
        *((f"s/{day}.md", DAY + day, ["we talked of the boat"]) for day in range(5)), ("s/x.md", DAY, ["x"])
    )
    found = ranking.rank(parse("boat", (), [(DAY + 3, DAY + 3)]), corpus, limit=5)
    assert [corpus.file(each.number).path for each in found] == ["s/3.md", "s/4.md", "s/2.md", "s/1.md", "s/0.md"]


def test_a_question_about_a_day_and_nothing_else_brings_what_was_said_that_day() -> None:
    corpus = MemoryCorpus(*((f"s/{day}.md", DAY + day, [f"talk {day}", "more"]) for day in range(5)))
    assert set(best(corpus, "What happened that day?", spans=[(DAY + 3, DAY + 3)])[:2]) == {"talk 3", "more"}


def test_worth_filters_and_holds_back() -> None:
    corpus = MemoryCorpus(("archive/a.md", DAY, ["boat"]), ("facts/b.md", DAY, ["boat"]), ("facts/c.md", DAY, ["boat"]))
    worths = {"archive/a.md": 0.5, "facts/b.md": 1.0, "facts/c.md": 0.0}
    found = ranking.rank(parse("boat"), corpus, limit=5, worth=lambda entry: worths[entry.path])
    assert [corpus.file(each.number).path for each in found] == ["facts/b.md", "archive/a.md"]


def test_only_the_speakers_asked_for_are_returned_with_what_stood_around_them() -> None:
    corpus = MemoryCorpus(("s/a.md", DAY, [Said("And your guitar?", "Anna"), Said("Sold it.", "Ben")]))
    only = frozenset({corpus.speaker_names.index("ben")})
    assert best(corpus, "guitar", speakers=only) == ["Sold it."]


def test_what_a_passage_has_and_lacks_compares_across_questions() -> None:
    corpus = MemoryCorpus(("s/a.md", DAY, ["the red boat", "it sank"]), ("s/b.md", DAY, ["a blue car"]))
    [whole] = held("red boat", corpus, 1)
    [part] = held("red boat zeppelin regatta", corpus, 1)
    near = held("sank boat", corpus, 2)
    assert (whole.has, whole.lacks) == (("red", "boat"), ())
    assert (part.has, part.lacks) == (("red", "boat"), ("zeppelin", "regatta"))
    assert 0.5 > part.strength > 0
    assert whole.strength > 0.8
    assert {(each.has, each.near) for each in near} == {(("sank",), ("boat",)), (("boat",), ("sank",))}


def test_a_related_word_is_not_said_to_stand_there() -> None:
    [found] = held("buy shoes", notes("purchased some shoes", "other things"), 1)
    assert (found.has, found.near, found.lacks) == (("shoes",), ("buy",), ())


def test_the_parts_add_up_to_the_score() -> None:
    corpus = MemoryCorpus(("s/a.md", DAY, [Said("I sail my boat daily", "Ben"), Said("Which boat?", "Anna")]))
    for found in ranking.rank(parse("When does Ben sail the boat?", corpus.speaker_names), corpus, limit=5):
        assert sum(value for _, value in found.parts()) == pytest.approx(found.score, abs=1e-5)


def test_nothing_is_found_where_no_word_stands() -> None:
    corpus = notes("the red boat")
    assert best(corpus, "zeppelin") == []
    assert best(corpus, "what is it?") == []
    assert best(MemoryCorpus(), "boat") == []


def test_ties_go_to_the_newest_then_by_path_then_by_place() -> None:
    corpus = MemoryCorpus(
        ("s/b.md", DAY, ["x", "boat", "y"]),
        ("s/a.md", DAY, ["x", "boat", "y"]),
        ("s/c.md", DAY + 1, ["x", "boat", "y"]),
    )
    found = ranking.rank(parse("boat"), corpus, limit=9)
    assert [corpus.file(each.number).path for each in found[:3]] == ["s/c.md", "s/a.md", "s/b.md"]
    assert found == sorted(found, key=lambda each: -each.score)


WORDS = st.sampled_from("boat boats sail sailed lake guitar 茶 喝茶 I yesterday? the".split())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.lists(WORDS, max_size=6).map(" ".join), min_size=1, max_size=6), min_size=1, max_size=6),
    st.randoms(),
)
def test_the_order_of_the_files_in_the_corpus_changes_nothing(talks: list[list[str]], random) -> None:
    files = [(f"s/{place}.md", DAY, talk) for place, talk in enumerate(talks)]
    shuffled = random.sample(files, len(files))

    def answer(corpus: MemoryCorpus) -> list[tuple[str, int, float]]:
        found = ranking.rank(parse("When did we sail the boat and drink 茶?"), corpus, limit=99)
        files = [corpus.file(each.number) for each in found]
        return [(file.path, each.number - file.first, each.score) for file, each in zip(files, found, strict=True)]

    assert answer(MemoryCorpus(*files)) == answer(MemoryCorpus(*shuffled))


def test_on_a_large_store_frequent_words_still_decide_between_the_files_of_rare_ones() -> None:
    talks = (["common bread"] * 10, ["plain bread"] * 3)
    files = [(f"s/{place:05}-{half}.md", DAY, talk) for place in range(2_100) for half, talk in enumerate(talks)]
    rare = [("s/x.md", DAY, ["rare plain bird", "x"]), ("s/y.md", DAY, ["rare common bird", "x"])]
    corpus = MemoryCorpus(*files, *rare)
    assert best(corpus, "rare common", limit=2) == ["rare common bird", "rare plain bird"]
    assert len(best(corpus, "common", limit=7)) == 7


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("What pets does she have other than the dog?", {"pets"}),
        ("Which countries except for France were visited?", {"countries", "visited"}),
        ("除了咖啡以外，还喜欢喝什么？", {"喜", "喜欢", "欢", "喝"}),
    ],
)
def test_what_a_question_leaves_out_is_no_word_to_look_for(asked: str, words: set[str]) -> None:
    found = {word.text for word in parse(asked).words}
    assert words <= found and not found & {"dog", "france", "咖啡"}
