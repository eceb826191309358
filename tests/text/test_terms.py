"""Text becomes the same terms however it is written: case, accents, inflection, script and width do not hide a word."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem import Store
from filemem.text import chinese, terms

SAME = """
café résumé | resume cafe
She painted it | painting
Ｆｕｌｌ width | full
ﬁne | fine
我在喝茶 | 茶
昨天去了博物馆 | 博物馆
臺灣的舊照片 | 台湾
用 Python 写代码 | python代码
It’s Caroline’s | caroline
서울에서 | 서울
In Łódź: Søren, Þór, Đorđe, straße, Œuvre, Iğdır | lodz soren thor dorde strasse oeuvre
Iğdır | igdir
Ɛʋe, Ɔkɔ, Ɖɔ, ɣ, Ƴaa, ɲama, ɨʉƀɫ, Paraŀlel | oko do g yaa nama iubl parallel
⌚⏰⏳⏩⌨▶⏸ 🅰🆗🀄🃏◽⤴〰〽©® #️⃣ ‼️⁉ | ⌚ ⏰ ⏳ ⏩ ⌨ ▶ ⏸ 🅰 🆗 🀄 🃏 ◽ ⤴ 〰 〽 © ® #️⃣ ‼ ⁉️
A pot of 🍵❤️ by a 👩🏽‍🚀 from 🇵🇱, for 5€ | 🍵 ❤ 👩 🚀 🇵🇱 €
set max_retries of the build-cache | max_retries retries cache buildcache
by e-mail, in Łódź-Fabryczna | email LodzFabryczna
""".strip().splitlines()


@pytest.mark.parametrize("row", SAME)
def test_what_is_asked_is_among_what_was_written(row: str) -> None:
    written, asked = row.split(" | ")
    tokens = terms.tokens(written) + list(map("".join, terms.compounds(written)))
    assert set(terms.stems(terms.tokens(asked))) <= set(terms.stems(tokens))


SIGNS = "$ % § ° & + # @ = ∞ √ ≠ ≤".split()
WORDS = st.lists(st.from_regex("[a-z][a-z0-9]{0,8}", fullmatch=True), min_size=2)


@given(WORDS, st.sampled_from("-_"))
def test_a_joined_name_is_known_by_its_parts_and_whole(
    parts: list[str], sign: str
) -> None:
    name = sign.join(parts)
    assert terms.tokens(name) == parts
    if len(name) <= terms.MAX_TOKEN_CHARACTERS:
        assert terms.compounds(f"({name})") == [parts]
    assert terms.compounds("2026-03-08, 1_000") == []


@pytest.mark.parametrize(
    "question", ["🍵", "❤", "€", "max_retries", "e-mail", "Lodz", *SIGNS]
)
def test_a_question_of_one_sign_or_name_is_a_question(
    tmp_path: Path, question: str
) -> None:
    user = Store(tmp_path).user("mara")
    fact = user.remember(
        "🍵 with ❤️ for 5 € in Łódź; max_retries by e-mail; 5% of $3 by §7, at 20°, "
        "A & B + C # D @ E = ∞ √ ≠ ≤."
    )
    user.remember("Keeps bees.")
    assert [hit.path for hit in user.search_files(question)] == [fact.path]


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert terms.fold(terms.fold(text)) == terms.fold(text)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_text_has_the_same_tokens_beside_other_text(text: str) -> None:
    assert terms.tokens(text + " é") == [*terms.tokens(text), "e"]


def test_a_run_of_a_million_letters_is_cut_into_tokens() -> None:
    assert max(map(len, terms.tokens("a" * 1_000_000))) <= 64
    assert max(map(len, terms.tokens("é" * 1_000_000))) <= 64


@given(
    st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=30)
)
def test_a_stem_is_never_empty_nor_longer_than_a_letter_more(token: str) -> None:
    assert 0 < len(terms.stem(token)) <= len(token) + 1


@pytest.mark.parametrize("text", ["He moved. Where to?", "搬家了。你去吗？"])
def test_a_text_that_ends_in_a_question_is_marked(text: str) -> None:
    assert terms.ends_in_question(text)
    assert not terms.ends_in_question(f"{text} That is very good to hear, my friend.")


@given(st.text(alphabet="为店发起广告喝茶的了ア자然", max_size=20))
def test_the_words_of_a_run_are_the_run(run: str) -> None:
    assert "".join(chinese.segments(run)) == run


def test_everyday_words_are_cut_as_people_read_them() -> None:
    assert "工作室" in chinese.segments("开工作室花了多长时间")
