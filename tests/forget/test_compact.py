"""Compaction writes summaries whose every line leads to its source, moves the originals whole, and leaves a person's edits."""

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
from filemem.llm.model import ModelError, Reply, Usage
from filemem.store.bullets import parse as parse_bullet
from filemem.store.encodings import decode
from filemem.store.passages import format_turn, turns
from filemem.text.plain import count_tokens

AT = dt.datetime(2026, 11, 20, 3, 0)
FRONT = "---\ndate: {0}T09:30:00\ntimezone: Europe/London\nmood: hazy on 3 May at 14 degrees\n---\n\n"
FILL = """\
- **Ann** 09:30: Good morning, how are you?
- **assistant** 09:30: Very well, thank you, it is always a pleasure to hear from you. And how are you keeping?
- **Ann** 09:31: {0}
- **assistant** 09:31: How nice! Tell me more, I should love to hear all about it, and take as long as you like over it.
- **Ann** 09:32: {1}
- **assistant** 09:32: I see, thank you for telling me all that. Is there perhaps anything else that I could do for you?
- **Ann** 09:33: No, that is all. Thanks, bye!
- **assistant** 09:33: Bye!
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


@pytest.fixture
def user(tmp_path):
    """Ann, with four conversations; three of them are old on 20 November 2026."""
    user = Store(tmp_path).user("ann").folder
    for stem, told in TALKS.items():
        lay(
            user.root,
            {f"sessions/2026/{stem}.md": FRONT.format(stem[:10]) + FILL.format(*told)},
        )
    return user


def read(user, path):
    return decode(Path(user.root, path).read_bytes())


def compact(user, at=AT):
    return jobs.compact(user, at).facts["summaries"]


def due(user, at=AT):
    """What a run would take up, by summary."""
    return {
        one["summary"]: one["source"]
        for one in jobs.compact(user, at, dry=True).facts["summaries"]
    }


def plain(text):
    return re.sub(r"[\W_]+", "", re.sub(r"\[[^\[\]]*\]", "", text))


def test_old_conversations_are_summarised_by_month_and_the_originals_lie_whole_in_the_archive(
    user,
):
    before = {path: read(user, path) for path in user.paths()}
    compact(user)
    assert [path for path in user.paths() if not path.startswith("archive/")] == [
        "sessions/2026/2026-11-12-0930-too-new.md",
        "summaries/2026/2026-08-conversations.md",
        "summaries/2026/2026-09-conversations.md",
    ]
    for path, text in before.items():
        assert text in (
            read(user, path) if "too-new" in path else read(user, f"archive/{path}")
        )
    assert "hazy" not in read(user, "summaries/2026/2026-09-conversations.md"), (
        "front matter is nothing that was said"
    )
    assert jobs.compact(user, AT).said == ["Nothing is due to be compacted."]


def test_every_bullet_links_to_the_lines_that_say_it_in_their_own_words_and_has_another_day_than_its_heading(
    user,
):
    path = Path(user.root, "sessions/2026/2026-09-03-0930-the-eel.md")
    path.write_text(
        path.read_text().replace("**Ann** 09:31", "**Ann** 2026-09-05 09:31")
    )
    compact(user)
    for path in [path for path in user.paths() if path.startswith("summaries/")]:
        bullets = [
            line
            for line in read(user, path).split("\n")
            if line and not line.startswith("## ")
        ]
        assert bullets
        for line in bullets:
            bullet = parse_bullet(line, path, 0)
            assert bullet and bullet.path.startswith("sessions/2026/")
            said = {
                turn.line: turn
                for turn in turns(user.memory(f"archive/{bullet.path}").lines, 5)
            }
            pieces = bullet.text.split(" … ")
            assert len(pieces) == len(bullet.lines)
            for piece, number in zip(pieces, bullet.lines, strict=True):
                assert plain(piece) in plain(said[number].text)
                assert said[number].speaker == bullet.speaker
    assert ": Yesterday [2 August 2026] I bought" in read(
        user, "summaries/2026/2026-08-conversations.md"
    )
    assert ": [5 September 2026] We caught an eel" in read(
        user, "summaries/2026/2026-09-conversations.md"
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_second_run_touches_nothing_and_a_later_one_only_what_is_new(user, encoding):
    """Whatever a person has saved the summaries as."""
    compact(user)
    summaries = {
        path: read(user, path) for path in user.paths() if path.startswith("summaries/")
    }
    assert due(user) == {}
    later = AT + dt.timedelta(days=30)
    assert list(due(user, later)) == ["summaries/2026/2026-11-conversations.md"]
    found = FRONT.format("2026-09-10") + FILL.format(
        "Ruth sold her boat.", "To a Dane."
    )
    lay(user.root, {"sessions/2026/2026-09-10-0930-a-found-page.md": found})
    august, september = sorted(summaries)
    Path(user.root, september).write_text(summaries[september], encoding=encoding)
    compact(user)
    assert read(user, august) == summaries[august]
    headings = re.findall("^## (.+)$", read(user, september), re.MULTILINE)
    assert headings == [
        "2026-09-03-0930-the-eel",
        "2026-09-10-0930-a-found-page",
        "2026-09-17-1105-the-kiln",
    ]
    for line in summaries[september].split("\n"):
        assert line in read(user, september)


def test_what_a_person_changed_in_a_summary_stays_whatever_is_compacted_again(user):
    compact(user)
    summary, path = (
        "summaries/2026/2026-09-conversations.md",
        "archive/sessions/2026/2026-09-03-0930-the-eel.md",
    )
    mine = read(user, summary).replace("We caught an eel", "Ruth caught an eel")
    mine = mine.replace("\n## 2026-09-17", "\nMy own note.\n\n## 2026-09-17")
    lay(user.root, {summary: mine})
    lay(
        user.root,
        {path: read(user, path).replace("named it Bartholomew", "named it Ethelred")},
    )
    compact(user)
    for line in mine.split("\n"):
        assert line in read(user, summary).split("\n")
    assert (
        "Ethelred" in read(user, summary)
        and read(user, summary).count("## 2026-09-03-0930-the-eel") == 1
    )
    assert Path(user.root, path).exists() and due(user) == {}


def test_a_restored_session_is_not_compacted_again_the_next_night(user):
    compact(user)
    path = "sessions/2026/2026-09-03-0930-the-eel.md"
    jobs.restore(user, AT, [path])
    summary = read(user, "summaries/2026/2026-09-conversations.md")
    compact(user, AT + dt.timedelta(days=1))
    assert Path(user.root, path).exists()
    assert read(user, "summaries/2026/2026-09-conversations.md") == summary


def test_a_summary_does_not_tell_what_is_kept_back(user):
    """Wherever its line stands by then: an older conversation gets its section above it."""
    compact(user)
    summary, eel = (
        "summaries/2026/2026-09-conversations.md",
        "sessions/2026/2026-09-03-0930-the-eel.md",
    )
    [line] = [
        int(line)
        for line in re.findall(rf"Bartholomew.*{eel}:(\d+)", read(user, summary))
    ]
    pending = f"2026-11-20T09:31\twithheld\t{eel}:9\t{eel}:{line}\n"
    lay(
        user.root,
        {
            ".filemem/withheld.log": pending,
            summary: "\n\n" + read(user, summary),
        },
    )
    tools = Store(user.store).user("ann").tools()
    for found in (
        tools.call("search_files", {"query": "Bartholomew"}),
        tools.call("open", {"path": summary}),
    ):
        assert "Bartholomew" not in found


def test_a_summary_has_their_own_words_in_chinese_too_and_no_secret(tmp_path):
    user, path = (
        Store(tmp_path).user("ann").folder,
        "sessions/2026/2026-06-20-0930-苏州.md",
    )
    told = (
        "上周五我和小明去了苏州的拙政园。门票90元，密码是Hunter2!Hunter2",
        "I paid with 4111 1111 1111 1111.",
    )
    listed = (
        "拙政园建于1509年。\n" + "  - 远香堂\n  - 小飞虹\n" * 60 + "  I should love"
    )
    said = FILL.format(*told).replace("How nice! Tell me more, I should love", listed)
    said = said.replace(
        "I see, thank you", "狮子林建于1342年。可以这样看：\n  - 真趣亭"
    )
    lay(user.root, {path: said.replace("Good morning, how are you?", "[forgotten]")})
    compact(user)
    summary = read(user, "summaries/2026/2026-06-conversations.md")
    assert "拙政园。 (" in summary and f"({path}:" in summary
    gone = ("Hunter2", "4111", "[forgotten]", "远香堂", "assistant")
    assert not any(word in summary for word in gone)


def test_a_person_s_words_stand_before_those_of_an_assistant_however_it_was_imported(
    tmp_path,
):
    user, path = (
        Store(tmp_path).user("ann").folder,
        "sessions/2026/2026-04-06-0930-plan.md",
    )
    said = "- **ann** 09:30: Give me an easy plan.\n- **Claude** 09:31: As a nurse of 50 from Lagos, cook on 3 May.\n"
    said += "- **ann** 09:32: None of that is right, where did you get that? Go on with the plan.\n"
    lay(
        user.root,
        {
            path: FRONT.format("2026-04-06").replace("mood", "assistant: Claude\nmood")
            + said
        },
    )
    compact(user)
    summary = read(user, "summaries/2026/2026-04-conversations.md")
    assert "**ann**: None of that is right" in summary and "Lagos" not in summary


class Teller:
    """A model that tells each conversation in one line, `words`, citing its last turn."""

    name = "teller"

    def __init__(
        self, words: str = "Open: Ann waits for Tom.", turns: str = ""
    ) -> None:
        self.words, self.turns, self.asked = words, turns, 0

    def ask(self, messages, tools, on_text):
        self.asked += 1
        told = messages[-1]["content"]
        found = []
        for number, shown in enumerate(told.split("Conversation ")[1:], 1):
            label = self.turns or re.findall(r"^\[(\d+:\d+)\]", shown, re.M)[-1]
            line = {"text": self.words, "turns": [label]}
            found.append({"conversation": number, "title": "A day", "lines": [line]})
        return Reply(json.dumps({"conversations": found}), (), Usage(1, 1), "stop")


def summaries(user):
    return [read(user, path) for path in user.paths() if path.startswith("summaries/")]


def test_a_model_tells_what_came_of_it_and_each_line_cites_turns(user):
    jobs.compact(user, AT, model=Teller())
    for text in summaries(user):
        for section in text.split("## ")[1:]:
            stem, *_ = section.split("\n")
            assert (
                f"\n**A day**\n\n- Open: Ann waits for Tom. (sessions/2026/{stem}.md:"
                in section
            )
    again = Teller()
    jobs.compact(user, AT, model=again)
    assert again.asked == 0


def test_what_was_only_quoted_is_told_anew_once_there_is_a_model(user):
    """What a person changed stays beside it."""
    compact(user)
    august = "summaries/2026/2026-08-conversations.md"
    lay(user.root, {august: read(user, august) + "- my own\n"})
    jobs.compact(user, AT, model=Teller())
    assert all("Open: Ann waits" in text for text in summaries(user))
    assert "- my own\n" in read(user, august)
    assert "eel" not in read(user, "summaries/2026/2026-09-conversations.md").replace(
        "the-eel", ""
    )


@pytest.mark.parametrize("turns", ["1:9999", "M1"])
def test_a_line_that_cites_no_turn_is_left_out_and_the_person_quoted(user, turns):
    jobs.compact(user, AT, model=Teller(turns=turns))
    assert all("Open:" not in text and "**Ann**:" in text for text in summaries(user))


def test_a_model_that_fails_leaves_quotes_and_a_sentence(user):
    class Failing(Teller):
        def ask(self, messages, tools, on_text):
            raise ModelError("no more")

    said = jobs.compact(user, AT, model=Failing()).said
    assert any("no more" in line for line in said)
    assert all("**Ann**:" in text for text in summaries(user))


def test_a_model_s_words_hold_no_secret(user):
    jobs.compact(user, AT, model=Teller("The wifi password is Tulip-Garden-42."))
    assert all("[redacted: password]" in text for text in summaries(user))


TURN = st.tuples(
    st.sampled_from(["Ann", "assistant"]), st.text("ab .?去了д", max_size=300)
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(TURN, max_size=8), min_size=1, max_size=3),
    st.sampled_from([0.1, 0.295, 0.9]),
)
def test_no_summary_is_half_as_long_as_its_sources(talks, share):
    """Whatever was said, and however much a summary is to keep: where there is one, it has under half of their tokens."""
    with tempfile.TemporaryDirectory() as root:
        Path(root, "filemem.yaml").write_text(f"summary_share: {share}\n")
        user = Store(root).user("ann").folder
        texts = [
            "".join(format_turn(speaker, "09:30", said) for speaker, said in turns)
            for turns in talks
        ]
        for number, text in enumerate(texts):
            lay(user.root, {f"sessions/2026/2026-08-04-0930-{number}.md": text})
        taken = [
            texts[int(done["source"].removesuffix(".md").rpartition("-")[2])]
            for done in compact(user)
        ]
        if taken:
            summary = read(user, "summaries/2026/2026-08-conversations.md")
            assert 2 * count_tokens(summary) < sum(map(count_tokens, taken))
        assert len([path for path in user.paths() if "sessions/" in path]) == len(talks)
