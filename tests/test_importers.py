"""Each parser turns an export, whole or damaged, into conversations, notes, and a reason for everything left out."""

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem.errors import FilememError, NotFound, Refused
from filemem.importers import chatgpt, claude, locomo, markdown
from filemem.importers import openai_messages as openai
from filemem.importers.exports import ImportedConversation, ImportedNote, Item, Skipped, moment

LOCOMO_DEV = Path(__file__).parents[2] / "shared" / "data" / "locomo-dev.json"
ZONE = timezone(timedelta(hours=2))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PARSERS = [locomo.parse, chatgpt.parse, claude.parse, openai.lines_of_messages]
Parse = Callable[[str, tzinfo | None, Callable[[int, int], None]], Iterator[Item]]


def parsed(parse: Parse, path: Path) -> tuple[list[ImportedConversation], list[Skipped]]:
    """What a parser yields for a file, sorted by shape."""
    found = list(parse(str(path), ZONE, lambda done, of: None))
    conversations = [item for item in found if isinstance(item, ImportedConversation)]
    return conversations, [item for item in found if isinstance(item, Skipped)]


def written(path: Path, value: Any) -> Path:
    """A file with `value` as JSON."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def said(conversation: ImportedConversation) -> list[tuple[str, str]]:
    """Speaker and text of each turn."""
    return [(turn.speaker, turn.text) for turn in conversation.turns]


# -- LoCoMo ----------------------------------------------------------------------------------------------------------


def sample(**talk: Any) -> dict[str, Any]:
    """A LoCoMo sample."""
    return {"sample_id": "conv-1", "conversation": {"speaker_a": "Ana", "speaker_b": "Bo", **talk}}


def test_locomo_sessions_come_in_order_of_their_numbers_with_speakers_and_captions(tmp_path: Path) -> None:
    talk = {
        "session_10_date_time": "12:05 am on 1 January, 2024",
        "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Happy new year!"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Ana", "dia_id": "D2:1", "text": " Look: ", "blip_caption": "a photo\nof a dog"},
            {"speaker": "Bo", "dia_id": "D2:2", "text": "Sweet.\nWhose is it?"},
        ],
    }
    (second, tenth), skipped = parsed(locomo.parse, written(tmp_path / "l.json", [sample(**talk)]))
    assert (second.user, second.id, second.started) == ("conv-1", "conv-1/session_2", datetime(2023, 5, 8, 13, 56))
    assert said(second) == [("Ana", "Look: [image: a photo of a dog]"), ("Bo", "Sweet.\nWhose is it?")]
    assert [turn.id for turn in second.turns] == ["D2:1", "D2:2"]
    assert {turn.time for turn in second.turns} == {second.started}
    assert tenth.started == datetime(2024, 1, 1, 0, 5)
    assert not skipped


def test_locomo_sessions_without_turns_or_date_are_named_with_a_reason(tmp_path: Path) -> None:
    turn = {"speaker": "Ana", "dia_id": "D1:1", "text": "Hi"}
    talk = {
        "session_1": [turn],
        "session_1_date_time": "99:99 pm on 31 February, 2023",
        "session_2": [],
        "session_3_date_time": "1:56 pm on 8 May, 2023",
    }
    conversations, skipped = parsed(locomo.parse, written(tmp_path / "l.json", [sample(**talk), {"qa": []}]))
    assert not conversations
    assert [item.what for item in skipped] == ["conv-1 session_1", "conv-1", "l.json, element 2"]
    assert skipped[1].why == "sessions without turns: 2, 3"


def test_the_five_locomo_users_have_128_sessions_with_every_turn_once_in_order() -> None:
    if not LOCOMO_DEV.exists():
        pytest.skip("the evaluation data are not beside the repository")
    conversations, _ = parsed(locomo.parse, LOCOMO_DEV)
    assert len(conversations) == 128
    assert sorted({str(one.user) for one in conversations}) == ["conv-26", "conv-30", "conv-41", "conv-42", "conv-43"]
    for entry in json.loads(LOCOMO_DEV.read_text(encoding="utf-8")):
        talk, mine = entry["conversation"], [one for one in conversations if one.user == entry["sample_id"]]
        sessions = [talk[f"session_{number}"] for number in range(1, 100) if talk.get(f"session_{number}")]
        assert [[turn.id for turn in one.turns] for one in mine] == [[raw["dia_id"] for raw in s] for s in sessions]
        assert all(raw["speaker"] == turn.speaker for one, s in zip(mine, sessions, strict=True)
                   for turn, raw in zip(one.turns, s, strict=True))  # fmt: skip


# -- ChatGPT ---------------------------------------------------------------------------------------------------------


def node(parent: str | None, role: str = "user", parts: list[Any] | None = None, **message: Any) -> dict[str, Any]:
    """A node of a ChatGPT conversation's tree, a minute later for each character of its text."""
    text = {"content_type": "text", "parts": parts or []}
    return {"parent": parent, "children": [], "message": {"author": {"role": role}, "content": text, **message}}


def chat(nodes: dict[str, Any], current: str | None, **more: Any) -> dict[str, Any]:
    """A ChatGPT conversation."""
    start = {"conversation_id": "c1", "title": "Trip", "create_time": NOON.timestamp()}
    return {**start, "mapping": nodes, "current_node": current, **more}


TREE = {
    "root": {"parent": None, "children": ["hidden"], "message": None},
    "hidden": node("root", "system", [""], metadata={"is_visually_hidden_from_conversation": True}),
    "q1": node("hidden", "user", ["Where to?"], create_time=NOON.timestamp()),
    "a-old": node("q1", "assistant", ["Oslo."], create_time=NOON.timestamp() + 900),
    "a-new": node("q1", "assistant", ["Kyoto."], create_time=NOON.timestamp() + 60.5),
    "call": node("a-new", "assistant", ["search('kyoto')"], recipient="browser"),
    "result": node("call", "tool", ["a page"]),
    "a2": node("result", "assistant", ["In November."], create_time=NOON.timestamp() + 120),
}


def test_chatgpt_follows_the_branch_that_the_person_last_saw(tmp_path: Path) -> None:
    (one,), skipped = parsed(chatgpt.parse, written(tmp_path / "conversations.json", [chat(TREE, "a2")]))
    assert said(one) == [("", "Where to?"), ("ChatGPT", "Kyoto."), ("ChatGPT", "In November.")]
    assert (one.user, one.id, one.title) == (None, "c1", "Trip")
    assert one.started == NOON and one.started.utcoffset() == timedelta(hours=2)
    assert [turn.time and f"{turn.time:%H:%M}" for turn in one.turns] == ["14:00", "14:01", "14:02"]
    assert not skipped and one.left.startswith("1 turns on other branches")


@pytest.mark.parametrize("current", [None, "gone", 7])
def test_chatgpt_without_a_current_node_ends_in_the_newest_leaf(tmp_path: Path, current: Any) -> None:
    nodes = {**TREE, "q1": {**TREE["q1"], "children": ["a-old", "a-new"]}, "a2": node("a-new", "assistant", ["?"])}
    (one,), _ = parsed(chatgpt.parse, written(tmp_path / "conversations.json", [chat(nodes, current)]))
    assert said(one) == [("", "Where to?"), ("ChatGPT", "Oslo.")]


def test_chatgpt_climbs_out_of_a_cycle(tmp_path: Path) -> None:
    nodes = {"a": node("b", "user", ["one"]), "b": node("a", "assistant", ["two"])}
    (one,), _ = parsed(chatgpt.parse, written(tmp_path / "conversations.json", [chat(nodes, "b")]))
    assert said(one) == [("", "one"), ("ChatGPT", "two")]


def test_chatgpt_pictures_files_code_and_speech_leave_words_or_marks(tmp_path: Path) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
    painted = {**picture, "asset_pointer": "sediment://file_9", "metadata": {"dalle": {"prompt": "a red\nbridge"}}}
    spoken = {"content_type": "audio_transcription", "text": "Hello there"}
    files = {"attachments": [{"id": "file-1", "name": "dog.jpg"}, {"id": "file-2", "name": "plan.pdf"}]}
    code = {"content_type": "code", "language": "python", "text": "print(1)"}
    cited = {"content_references": [{"matched_text": "\ue200cite\ue202turn0search0\ue201", "alt": "(kyoto.example)"}]}
    nodes = {
        "1": node(None, "user", [picture, "See this"], metadata=files),
        "2": node("1", "tool", [painted]),
        "3": node("2", "user", [spoken, {"content_type": "audio_asset_pointer"}]),
        "4": {**node("3"), "message": {"author": {"role": "assistant"}, "content": code}},
        "5": node(
            "4", "assistant", ["Yes \ue200cite\ue202turn0search0\ue201, no\ue200cite\ue202turn1\ue201."], metadata=cited
        ),
        "6": {**node("5"), "message": {"author": {"role": "assistant"}, "content": {"content_type": "thoughts"}}},
    }
    (one,), _ = parsed(chatgpt.parse, written(tmp_path / "conversations.json", [chat(nodes, "6")]))
    assert said(one) == [
        ("", "[image: dog.jpg]\nSee this\n[file: plan.pdf]"),
        ("ChatGPT", "[image: a red bridge]"),
        ("", "Hello there"),
        ("ChatGPT", "```python\nprint(1)\n```"),
        ("ChatGPT", "Yes (kyoto.example), no."),
    ]


@pytest.mark.parametrize("names", [["conversations.json"], ["conversations-000.json", "conversations-001.json"]])
def test_an_export_may_be_a_file_a_zip_or_a_folder(tmp_path: Path, names: list[str]) -> None:
    folder = tmp_path / "export"
    (folder / "inner").mkdir(parents=True)
    for number, name in enumerate(names):
        written(folder / "inner" / name, [chat({"n": node(None, "user", [f"turn {number}"])}, "n")])
    (folder / "conversations.json").mkdir()
    written(folder / "inner" / "shared_conversations.json", [{"id": "no conversation"}])
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for file in (folder / "inner").iterdir():
            archive.write(file, f"some folder/{file.name}")
    expected = [[("", f"turn {number}")] for number in range(len(names))]
    for path in (folder, folder / "inner", tmp_path / "export.zip"):
        conversations, skipped = parsed(chatgpt.parse, path)
        assert [said(one) for one in conversations] == expected and not skipped


def test_progress_rises_to_the_whole(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = written(tmp_path / "c.json", [chat(TREE, "a2")] * 5)
    assert len(list(chatgpt.parse(str(path), ZONE, lambda done, of: seen.append((done, of))))) == 5
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


# -- Claude ----------------------------------------------------------------------------------------------------------


def letter(uuid: str, sender: str, text: str, parent: str | None = None, **more: Any) -> dict[str, Any]:
    """A message of a Claude conversation."""
    link = {"parent_message_uuid": parent} if parent else {}
    return {"uuid": uuid, "sender": sender, "text": text, "created_at": "2026-03-01T12:00:00.5Z", **link, **more}


def exchange(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A Claude conversation."""
    return {"uuid": "u1", "name": "Tea", "created_at": "2026-03-01T12:00:00Z", "chat_messages": list(messages), **more}


def test_claude_takes_text_blocks_and_the_text_of_attachments(tmp_path: Path) -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Oolong."}, {"type": "tool_use"}]
    pasted: dict[str, Any] = {
        "attachments": [{"file_name": "", "extracted_content": "a long paste"}],
        "files": [{"file_name": "x.png"}],
    }
    messages = [
        letter("1", "human", "Which tea?", content=[]),
        letter("2", "assistant", "This block is not supported.", content=blocks),
        letter("3", "human", "", **pasted),
        letter("4", "assistant", "", content=[{"type": "tool_result"}]),
    ]
    (one,), skipped = parsed(claude.parse, written(tmp_path / "conversations.json", [exchange(*messages)]))
    assert said(one) == [
        ("", "Which tea?"),
        ("Claude", "Oolong."),
        ("", "[file: pasted text]\na long paste\n\n[image: x.png]"),
    ]
    assert (one.id, one.title, one.started) == ("u1", "Tea", NOON)
    assert one.turns[0].time == NOON + timedelta(milliseconds=500)
    assert not skipped


def test_claude_follows_the_newest_branch_and_counts_the_others(tmp_path: Path) -> None:
    messages = [
        letter("1", "human", "Which tea?", claude.ROOT),
        letter("2", "assistant", "Black.", "1"),
        letter("3", "assistant", "Green.", "1"),
    ]
    (one,), skipped = parsed(claude.parse, written(tmp_path / "c.json", exchange(*messages)))
    assert said(one) == [("", "Which tea?"), ("Claude", "Green.")]
    assert one.left == "1 turns on other branches: answers regenerated or questions rewritten" and not skipped


def test_claude_keeps_every_message_where_the_tree_is_not_whole(tmp_path: Path) -> None:
    messages = [
        letter("1", "human", "One", "lost"),
        letter("2", "assistant", "Two", "1"),
        letter("3", "human", "Three"),
    ]
    (one,), skipped = parsed(claude.parse, written(tmp_path / "c.json", [exchange(*messages)]))
    assert [turn.text for turn in one.turns] == ["One", "Two", "Three"]
    assert not skipped


def test_the_two_conversations_json_are_told_apart(tmp_path: Path) -> None:
    path = written(tmp_path / "conversations.json", [exchange(letter("1", "human", "Hi"))])
    assert "import it as claude" in parsed(chatgpt.parse, path)[1][0].why
    path = written(tmp_path / "conversations.json", [chat(TREE, "a2")])
    assert "import it as chatgpt" in parsed(claude.parse, path)[1][0].why


# -- JSON lines ------------------------------------------------------------------------------------------------------


def test_openai_jsonl_reads_a_conversation_a_line_and_names_the_broken_ones(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "See"}, {"type": "image_url"}, {"type": "file", "file": {"filename": "a.pdf"}}]
    lines = [
        json.dumps({"id": "x", "title": "T", "created": NOON.timestamp() * 1000, "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "name": "mara", "content": parts},
            {"role": "assistant", "content": "Nice."}]}),
        "{broken",
        "",
        "[" * 100_000,
        json.dumps({"prompt": "?"}),
        json.dumps({"messages": [{"role": "user", "content": None}]}),
    ]  # fmt: skip
    (tmp_path / "log.jsonl").write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8")
    (one, empty), skipped = parsed(openai.lines_of_messages, tmp_path / "log.jsonl")
    assert said(one) == [("mara", "See\n[image: without a name]\n[file: a.pdf]"), ("assistant", "Nice.")]
    assert (one.id, one.title, one.started) == ("x", "T", NOON)
    assert one.left.startswith("1 messages without words") and (empty.id, empty.turns) == ("line 6", [])
    assert [item.what for item in skipped] == ["line 2", "line 4", "line 5"]


def test_openai_jsonl_with_a_message_a_line_is_one_conversation_dated_by_the_file(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text('{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Hello"}\n', encoding="utf-8")
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    (one,), _ = parsed(openai.lines_of_messages, path)
    assert said(one) == [("", "Hi"), ("assistant", "Hello")]
    assert (one.title, one.started, [turn.time for turn in one.turns]) == ("talk", None, [None, None])


def test_openai_jsonl_without_ids_names_conversations_alike_when_they_grow(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"

    def ids(*openings: list[str]) -> list[str]:
        records = [{"messages": [{"role": "user", "content": text} for text in texts]} for texts in openings]
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        return [one.id for one in parsed(openai.lines_of_messages, path)[0]]

    before, after = ids(["Hi"], ["Hi"], ["Bye"]), ids(["Hi", "more"], ["Hi"], ["Bye"], ["Hi", "again"])
    assert after[:3] == before
    assert len(set(after)) == 4


# -- notes -----------------------------------------------------------------------------------------------------------


def test_markdown_takes_every_text_file_byte_for_byte_and_names_the_rest(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "Daily").mkdir(parents=True)
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian" / "app.json").write_text("{}")
    (vault / "Daily" / "2026-11-20.md").write_bytes(b"\xef\xbb\xbfTea\r\nno end")
    (vault / "plain").write_bytes(b"caf\xe9")
    (vault / "photo.PNG").write_bytes(b"no NUL in it")
    (vault / "blob.md").write_bytes(b"a\0b")
    (vault / "plan.md~").write_bytes(b"old")
    (tmp_path / "secret.md").write_text("outside")
    (vault / "out.md").symlink_to(tmp_path / "secret.md")
    (vault / "again.md").symlink_to(vault / "plain")
    (vault / "loop").symlink_to(vault)
    os.mkfifo(vault / "pipe.md")
    found = list(markdown.parse(str(vault), ZONE, lambda done, of: None))
    assert [item for item in found if isinstance(item, ImportedNote)] == [
        ImportedNote("Daily/2026-11-20.md", b"\xef\xbb\xbfTea\r\nno end"),
        ImportedNote("plain", b"caf\xe9"),
    ]
    why = {item.what: item.why for item in found if isinstance(item, Skipped)}
    assert sorted(why) == sorted(
        [".obsidian", "photo.PNG", "blob.md", "plan.md~", "out.md", "again.md", "loop", "pipe.md"]
    )
    assert "out of the folder" in why["out.md"] and "by itself" in why["again.md"] and "plain" in why["pipe.md"]


def test_markdown_takes_a_single_file(tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text("Oolong.")
    assert list(markdown.parse(str(tmp_path / "tea.md"), ZONE, lambda done, of: None)) == [
        ImportedNote("tea.md", b"Oolong.")
    ]


# -- damage and malice -----------------------------------------------------------------------------------------------


def test_of_an_export_of_several_documents_the_one_that_was_cut_off_is_named(tmp_path: Path) -> None:
    whole = json.dumps([chat(TREE, "a2")])
    (tmp_path / "conversations-000.json").write_text(whole[:-20])
    (tmp_path / "conversations-001.json").write_text(whole)
    conversations, skipped = parsed(chatgpt.parse, tmp_path)
    assert [one.id for one in conversations] == ["c1"]
    assert skipped[0].what == "conversations-000.json" and "broken JSON" in skipped[0].why


def test_what_is_no_export_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.json").write_text('"hello"')
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([chat(TREE, "a2")]))
    (tmp_path / "torn.zip").write_bytes(data.getvalue().replace(b"conversations.json", b"conversations.json"[::-1], 1))
    for name, error in (
        ("text.json", FilememError),
        ("folder", NotFound),
        ("pipe", Refused),
        ("torn.zip", FilememError),
    ):
        with pytest.raises(error):
            parsed(chatgpt.parse, tmp_path / name)


def test_a_deeply_nested_element_does_not_end_the_program(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 200_000)
    for parse in PARSERS[:3]:
        conversations, skipped = parsed(parse, tmp_path / "deep.json")
        assert not conversations and len(skipped) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "sample_id conversation session_1 session_1_date_time mapping current_node message author role content"
                " parts parent children chat_messages uuid parent_message_uuid sender text messages id"
                " create_time created_at content_type metadata attachments file_name title name a b".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(value=JSON)
def test_no_json_whatever_its_shape_breaks_a_parser(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = written(tmp_path_factory.mktemp("any") / "any.json", [value])
    for parse in PARSERS:
        for one in parsed(parse, path)[0]:
            assert all(turn.text for turn in one.turns)


@given(value=st.integers() | st.floats() | st.text(max_size=30) | st.booleans() | st.none())
def test_a_time_stamp_is_a_moment_with_a_four_digit_year_or_nothing(value: Any) -> None:
    when = moment(value, ZONE)
    assert when is None or 1000 <= when.year <= 9999


def test_time_stamps_are_read_in_seconds_milliseconds_and_iso() -> None:
    for value in (1772366400, 1772366400.0, 1772366400000, "2026-03-01T12:00:00Z", "2026-03-01T13:00:00+01:00"):
        assert moment(value, ZONE) == NOON
    assert moment("2026-03-01T12:00:00", ZONE) == datetime(2026, 3, 1, 12)
