"""Each parser turns an export, whole or damaged, into conversations and notes, and says what it left out and why; an import takes
everything once: a second run changes no byte, a newer export adds what is new, nobody's edit is lost.
"""

import json
import multiprocessing
import os
import zipfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from filemem import Store
from filemem.errors import FilememError, NotFound, Refused
from filemem.importers import FORMATS, ImportReport, import_file
from filemem.importers.base import parse_time as moment
from filemem.store.folder import StoreFolder
from filemem.store.memory import Memory, parse
from filemem.store.passages import turns
from filemem.store.problems import problems_of

ZONE = timezone(timedelta(hours=2))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RECORD = ".filemem/imports.jsonl"
JSON_FORMATS = ("chatgpt", "claude", "openai-jsonl")


class Taken:
    """What an import made: the sessions by their ids, and what was told of the rest."""

    def __init__(self, format: str, path: Path) -> None:
        self.store = path.parent / f"{path.name}.{len(os.listdir(path.parent))}.store"
        report = import_file(
            StoreFolder(self.store), format, str(path), user="mara", zone=ZONE
        )
        self.left = [f"{one.what}: {one.why}" for one in report.skipped]
        self.sessions: dict[str, Memory] = {}
        for one in report.added:
            memory = Store(self.store).user(one.user).open_file(one.path)
            self.sessions[
                str(memory.front.get("origin", one.path)).partition(":")[2]
            ] = memory

    @property
    def said(self) -> list[list[tuple[str, str]]]:
        """Speaker and text of each turn of each session."""
        return [
            [(turn.speaker, turn.text) for turn in memory.passages]
            for memory in self.sessions.values()
        ]


def written(path: Path, value: Any) -> Path:
    """A file with `value` as JSON."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


# -- ChatGPT ---------------------------------------------------------------------------------------------------------


def node(
    parent: str | None,
    role: str = "user",
    parts: list[Any] | None = None,
    **message: Any,
) -> dict[str, Any]:
    """A node of a ChatGPT conversation's tree, a minute later for each character of its text."""
    text = {"content_type": "text", "parts": parts or []}
    return {
        "parent": parent,
        "children": [],
        "message": {"author": {"role": role}, "content": text, **message},
    }


def chat(nodes: dict[str, Any], current: str | None, **more: Any) -> dict[str, Any]:
    """A ChatGPT conversation."""
    start = {"conversation_id": "c1", "title": "Trip", "create_time": NOON.timestamp()}
    return {**start, "mapping": nodes, "current_node": current, **more}


TREE = {
    "root": {"parent": None, "children": ["hidden"], "message": None},
    "hidden": node(
        "root", "system", [""], metadata={"is_visually_hidden_from_conversation": True}
    ),
    "q1": node("hidden", "user", ["Where to?"], create_time=NOON.timestamp()),
    "a-old": node("q1", "assistant", ["Oslo."], create_time=NOON.timestamp() + 900),
    "a-new": node("q1", "assistant", ["Kyoto."], create_time=NOON.timestamp() + 60.5),
    "call": node("a-new", "assistant", ["search('kyoto')"], recipient="browser"),
    "result": node("call", "tool", ["a page"]),
    "a2": node(
        "result", "assistant", ["In November."], create_time=NOON.timestamp() + 120
    ),
}


def test_chatgpt_follows_the_branch_that_the_person_last_saw(tmp_path: Path) -> None:
    taken = Taken(
        "chatgpt", written(tmp_path / "conversations.json", [chat(TREE, "a2")])
    )
    assert taken.said == [
        [("mara", "Where to?"), ("ChatGPT", "Kyoto."), ("ChatGPT", "In November.")]
    ]
    assert [turn.time for turn in taken.sessions["c1"].passages] == [
        "14:00",
        "14:01",
        "14:02",
    ]
    assert taken.sessions["c1"].front["title"] == "Trip"


def test_chatgpt_pictures_files_code_and_speech_leave_words_or_marks(
    tmp_path: Path,
) -> None:
    picture = {
        "content_type": "image_asset_pointer",
        "asset_pointer": "file-service://file-1",
    }
    painted = {
        **picture,
        "asset_pointer": "sediment://file_9",
        "metadata": {"dalle": {"prompt": "a red\nbridge"}},
    }
    spoken = {"content_type": "audio_transcription", "text": "Hello there"}
    files = {
        "attachments": [
            {"id": "file-1", "name": "dog.jpg"},
            {"id": "file-2", "name": "plan.pdf"},
        ]
    }
    code = {"content_type": "code", "language": "python", "text": "print(1)"}
    mark = "\ue200cite\ue202turn0search0\ue201"
    cited = {"content_references": [{"matched_text": mark, "alt": "(kyoto.example)"}]}
    nodes = {
        "1": node(None, "user", [picture, "See this"], metadata=files),
        "2": node("1", "tool", [painted]),
        "3": node("2", "user", [spoken, {"content_type": "audio_asset_pointer"}]),
        "4": {
            **node("3"),
            "message": {"author": {"role": "assistant"}, "content": code},
        },
        "5": node(
            "4",
            "assistant",
            [f"Yes {mark}, no\ue200cite\ue202turn1\ue201."],
            metadata=cited,
        ),
        "6": {
            **node("5"),
            "message": {
                "author": {"role": "assistant"},
                "content": {"content_type": "thoughts"},
            },
        },
    }
    [said] = Taken(
        "chatgpt", written(tmp_path / "conversations.json", [chat(nodes, "6")])
    ).said
    assert said == [
        ("mara", "[image: dog.jpg]\nSee this\n[file: plan.pdf]"),
        ("ChatGPT", "[image: a red bridge]"),
        ("mara", "Hello there"),
        ("ChatGPT", "print(1)"),
        ("ChatGPT", "Yes (kyoto.example), no."),
    ]


@pytest.mark.parametrize(
    "names",
    [["conversations.json"], ["conversations-000.json", "conversations-001.json"]],
)
def test_an_export_may_be_a_file_a_zip_or_a_folder(
    tmp_path: Path, names: list[str]
) -> None:
    folder = tmp_path / "export"
    (folder / "inner").mkdir(parents=True)
    for number, name in enumerate(names):
        said = chat(
            {"n": node(None, "user", [f"turn {number}"])}, "n", conversation_id=name
        )
        written(folder / "inner" / name, [said])
    (folder / "conversations.json").mkdir()
    written(folder / "inner" / "shared_conversations.json", [{"id": "no conversation"}])
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for file in (folder / "inner").iterdir():
            archive.write(file, f"some folder/{file.name}")
    expected = [[("mara", f"turn {number}")] for number in range(len(names))]
    for path in (folder, folder / "inner", tmp_path / "export.zip"):
        taken = Taken("chatgpt", path)
        assert taken.said == expected and not taken.left
    (folder / "inner" / names[0]).write_text("[{")
    taken = Taken("chatgpt", folder / "inner")
    assert taken.said == expected[1:] and taken.left[0].startswith(
        f"{names[0]}: broken JSON"
    )


# -- Claude ----------------------------------------------------------------------------------------------------------


def letter(
    uuid: str, sender: str, text: str, parent: str | None = None, **more: Any
) -> dict[str, Any]:
    """A message of a Claude conversation."""
    link = {"parent_message_uuid": parent} if parent else {}
    return {
        "uuid": uuid,
        "sender": sender,
        "text": text,
        "created_at": "2026-03-01T12:00:00.5Z",
        **link,
        **more,
    }


def exchange(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A Claude conversation."""
    return {
        "uuid": "u1",
        "name": "Tea",
        "created_at": "2026-03-01T12:00:00Z",
        "chat_messages": list(messages),
        **more,
    }


def test_claude_follows_the_newest_branch_and_takes_text_blocks_and_the_text_of_attachments(
    tmp_path: Path,
) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Oolong."},
        {"type": "tool_use"},
    ]
    text = {"file_name": "", "extracted_content": "a long paste"}
    pasted: dict[str, Any] = {"attachments": [text], "files": [{"file_name": "x.png"}]}
    messages = [
        letter(
            "1",
            "human",
            "Which tea?",
            "00000000-0000-4000-8000-000000000000",
            content=[],
        ),
        letter("2", "assistant", "Black.", "1"),
        letter("2b", "assistant", "This block is not supported.", "1", content=blocks),
        letter("3", "human", "", "2b", **pasted),
        letter("4", "assistant", "", "3", content=[{"type": "tool_result"}]),
    ]
    taken = Taken(
        "claude", written(tmp_path / "conversations.json", [exchange(*messages)])
    )
    assert taken.said == [[
        ("mara", "Which tea?"),
        ("Claude", "Oolong."),
        ("mara", "[file: pasted text]\na long paste\n\n[image: x.png]"),
    ]]  # fmt: skip
    assert taken.sessions["u1"].front["title"] == "Tea"


def test_the_two_conversations_json_are_told_apart(tmp_path: Path) -> None:
    path = written(
        tmp_path / "conversations.json", [exchange(letter("1", "human", "Hi"))]
    )
    assert "import it as claude" in Taken("chatgpt", path).left[0]
    path = written(tmp_path / "conversations.json", [chat(TREE, "a2")])
    assert "import it as chatgpt" in Taken("claude", path).left[0]


# -- JSON lines ------------------------------------------------------------------------------------------------------


def test_openai_jsonl_reads_a_conversation_a_line_and_names_the_broken_ones(
    tmp_path: Path,
) -> None:
    parts = [
        {"type": "text", "text": "See"},
        {"type": "image_url"},
        {"type": "file", "file": {"filename": "a.pdf"}},
    ]
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
    taken = Taken("openai-jsonl", tmp_path / "log.jsonl")
    assert taken.said == [
        [
            ("mara", "See\n[image: without a name]\n[file: a.pdf]"),
            ("assistant", "Nice."),
        ]
    ]
    assert taken.sessions["x"].front["date"] == (NOON + timedelta(hours=2)).replace(
        tzinfo=None
    )
    assert [one.partition(":")[0] for one in taken.left] == [
        "line 2",
        "line 4",
        "line 5",
    ]


def test_openai_jsonl_with_a_message_a_line_is_one_conversation_dated_by_the_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(
        '{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Hello"}\n',
        encoding="utf-8",
    )
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    taken = Taken("openai-jsonl", path)
    assert taken.said == [[("mara", "Hi"), ("assistant", "Hello")]]
    assert [one.path for one in taken.sessions.values()] == [
        "sessions/2026/2026-03-01-1400-talk.md"
    ]


# -- notes -----------------------------------------------------------------------------------------------------------


def test_markdown_takes_every_text_file_byte_for_byte_once_and_names_the_rest(
    vault: Path, store: Path
) -> None:
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian" / "app.json").write_text("{}")
    taken = files(vault) | {"plain": b"caf\xe9"}
    del taken[".obsidian/app.json"]
    (vault / "plain").write_bytes(b"caf\xe9")
    (vault / "photo.PNG").write_bytes(b"no NUL in it")
    (vault / "blob.md").write_bytes(b"a\0b")
    (vault / "plan.md~").write_bytes(b"old")
    (vault.parent / "secret.md").write_text("outside")
    (vault / "out.md").symlink_to(vault.parent / "secret.md")
    (vault / "again.md").symlink_to(vault / "plain")
    (vault / "loop").symlink_to(vault)
    os.mkfifo(vault / "pipe.md")
    why = dict(run(store, "markdown", vault).skipped)
    assert sorted(why) == sorted(
        ".obsidian photo.PNG blob.md plan.md~ out.md again.md loop pipe.md".split()
    )
    assert (
        "a link" in why["out.md"]
        and "a link" in why["again.md"]
        and "not a regular file" in why["pipe.md"]
    )
    assert memories(store) == {
        f"mara/notes/{path}": data for path, data in taken.items()
    }
    before = files(store)
    assert (
        len(run(store, "markdown", vault).unchanged) == len(taken)
        and files(store) == before
    )
    (store / "mara" / RECORD).unlink()
    run(store, "markdown", vault)
    assert memories(store) == {
        path: data for path, data in before.items() if "/notes/" in path
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_secrets_are_taken_out_of_a_note_in_any_encoding(
    vault: Path, store: Path, encoding: str
) -> None:
    (vault / "wifi.md").write_bytes(
        "家里无线网的密码是 Tulip42xyz，路由器在楼上。\r\n".encode(encoding)
    )
    assert "password" in dict(run(store, "markdown", vault).skipped)["wifi.md"]
    kept = (store / "mara/notes/wifi.md").read_bytes().decode(encoding)
    assert kept == "家里无线网的密码是 [redacted: password]，路由器在楼上。\r\n"
    assert len(run(store, "markdown", vault).unchanged) == len(files(vault))


# -- damage and malice -----------------------------------------------------------------------------------------------


def test_what_is_no_export_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.json").write_text('"hello"')
    (tmp_path / "folder").mkdir()
    with zipfile.ZipFile(tmp_path / "torn.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([chat(TREE, "a2")]))
    whole = (tmp_path / "torn.zip").read_bytes()
    (tmp_path / "torn.zip").write_bytes(
        whole.replace(b"conversations.json", b"conversations.json"[::-1], 1)
    )
    (tmp_path / "half.zip").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "huge.json").touch()
    os.truncate(tmp_path / "huge.json", 501_000_000)
    whys = {
        "text.json": "begin with",
        "folder": "holds no|contains no",
        **dict.fromkeys(["torn.zip", "half.zip"], "cannot be unpacked"),
        "huge.json": "501 MB; split",
    }
    for name, why in whys.items():
        with pytest.raises(FilememError, match=why):
            Taken("chatgpt", tmp_path / name)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "mapping current_node message author role content"
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
@example({"mapping": {"a": {"message": {"author": {"role": []}}}}})
@example({"type": {}})
def test_no_json_whatever_its_shape_breaks_a_parser(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    folder = tmp_path_factory.mktemp("any")
    for format in (*JSON_FORMATS, *(agents := ("claude-code", "codex"))):
        path = written(folder / "any.json", value if format in agents else [value])
        assert all(text for said in Taken(format, path).said for _, text in said)


def test_a_value_of_another_kind_where_a_role_or_a_type_stands_is_none(
    tmp_path: Path,
) -> None:
    role = {
        "mapping": {
            "a": {"message": {"author": {"role": []}, "content": {"parts": ["Hi"]}}}
        }
    }
    assert Taken("chatgpt", written(tmp_path / "conversations.json", [role])).said == []
    assert (
        Taken(
            "claude-code",
            written(tmp_path / "x.jsonl", {"type": {}, "message": {"content": "Hi"}}),
        ).said
        == []
    )


def test_time_stamps_are_read_in_seconds_milliseconds_and_iso() -> None:
    for value in (
        1772366400,
        1772366400.0,
        1772366400000,
        "2026-03-01T12:00:00Z",
        "2026-03-01T13:00:00+01:00",
    ):
        assert moment(value, ZONE) == NOON
    assert moment("2026-03-01T12:00:00", ZONE) == datetime(2026, 3, 1, 12)
    assert [
        moment(value, ZONE)
        for value in (True, None, "soon", 1e300, float("nan"), -1e14)
    ] == [None] * 6


def run(root: Path, format: str, path: Path, **more: Any) -> ImportReport:
    """One import into the store at `root`, for mara."""
    return import_file(
        StoreFolder(root), format, str(path), user="mara", zone=ZONE, **more
    )


def files(root: Path) -> dict[str, bytes]:
    """Every file under `root`, bookkeeping too."""
    found = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def memories(root: Path) -> dict[str, bytes]:
    """Every memory under `root`."""
    return {
        path: data for path, data in files(root).items() if "/.filemem/" not in path
    }


def talk(
    path: Path, *texts: str, id: str = "c1", title: str = "Trip to Kyoto", **more: Any
) -> Path:
    """A Claude export of one conversation in which the two speak in turn, a minute apart."""
    messages = [
        {"uuid": f"{id}-{number}", "sender": ("human", "assistant")[number % 2], "text": text,
         "created_at": (NOON + timedelta(minutes=number)).isoformat()}
        for number, text in enumerate(texts)
    ]  # fmt: skip
    record = {
        "uuid": id,
        "name": title,
        "created_at": NOON.isoformat(),
        "chat_messages": messages,
        **more,
    }
    path.write_text(json.dumps([record]), encoding="utf-8")
    return path


def said(path: Path) -> list[tuple[str, str, str]]:
    """Speaker, time and text of each turn in a session."""
    return [
        (p.speaker, p.time, p.text)
        for p in turns(parse(path.name, path.read_bytes()).lines)
    ]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def session(store: Path) -> Path:
    return store / "mara/sessions/2026/2026-03-01-1400-trip-to-kyoto.md"


# -- the first run and the second ------------------------------------------------------------------------------------


def test_a_conversation_becomes_a_dated_transcript(
    tmp_path: Path, store: Path, session: Path
) -> None:
    report = run(
        store,
        "claude",
        talk(tmp_path / "c.json", "Which tea?", "Oolong.\n\n- hot\n- strong"),
    )
    assert [(taken.path, taken.turns) for taken in report.added] == [
        (f"sessions/2026/{session.name}", 2)
    ]
    head, _, body = session.read_text(encoding="utf-8").partition("---\n\n")
    assert (
        "title: Trip to Kyoto\n" in head
        and "date: 2026-03-01T14:00:00\n" in head
        and "claude:c1" in head
    )
    assert (
        body
        == "- **mara** 14:00: Which tea?\n- **Claude** 14:01: Oolong.\n\n  - hot\n  - strong\n"
    )
    assert (
        problems_of(parse(f"sessions/2026/{session.name}", session.read_bytes())) == []
    )


def test_two_processes_importing_one_export_at_once_take_each_conversation_once(
    tmp_path: Path, store: Path
) -> None:
    records = [
        json.loads(talk(tmp_path / "c.json", "One", "Two", id=f"c{n}").read_text())[0]
        for n in range(40)
    ]
    (tmp_path / "c.json").write_text(json.dumps(records))
    fork = multiprocessing.get_context("fork")
    workers = [
        fork.Process(target=run, args=(store, "claude", tmp_path / "c.json"))
        for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    sessions = list(store.glob("mara/sessions/*/*.md"))
    assert len(sessions) == 40
    assert all(
        [text for _, _, text in said(path)] == ["One", "Two"] for path in sessions
    )
    assert len((store / "mara" / RECORD).read_bytes().splitlines()) == 40


# -- newer exports, and what people did meanwhile --------------------------------------------------------------------


def test_a_newer_export_appends_what_is_new_and_keeps_every_edit(
    tmp_path: Path, store: Path, session: Path
) -> None:
    run(store, "claude", talk(tmp_path / "c.json", "One", "Two", "Three"))
    edited = (
        session.read_bytes()
        .replace(b": Two", b": Two, *corrected*")
        .replace(b"\n", b"\r\n")[:-2]
    )
    session.write_bytes(edited)
    report = run(
        store, "claude", talk(tmp_path / "c.json", "One", "Two", "Three", "Four")
    )
    assert [taken.turns for taken in report.updated] == [1]
    assert session.read_bytes() == edited + b"\n- **Claude** 14:03: Four\n"
    before = files(store)
    assert len(run(store, "claude", tmp_path / "c.json").unchanged) == 1
    assert files(store) == before


@pytest.mark.parametrize(
    "place",
    ["archive/sessions/2026/2026-03-01-1400-trip-to-kyoto.md", "sessions/old/kyoto.md"],
)
def test_a_moved_session_is_found_and_goes_on_there(
    tmp_path: Path, store: Path, session: Path, place: str
) -> None:
    run(store, "claude", talk(tmp_path / "c.json", "One", "Two"))
    target = store / "mara" / place
    target.parent.mkdir(parents=True)
    session.rename(target)
    run(store, "claude", talk(tmp_path / "c.json", "One", "Two", "Three"))
    assert list(memories(store)) == [f"mara/{place}"]
    assert [text for _, _, text in said(target)] == ["One", "Two", "Three"]


def test_a_forgotten_import_leaves_no_name_in_the_record_and_does_not_come_back(
    tmp_path: Path, store: Path, session: Path, vault: Path
) -> None:
    run(store, "claude", talk(tmp_path / "c.json", "One"))
    run(store, "claude", talk(tmp_path / "d.json", "Other", id="c2", title="Other"))
    run(store, "markdown", vault)
    user = Store(store).user("mara")
    for path in (f"sessions/2026/{session.name}", "notes/tea.md"):
        user.forget(path)
    record = (store / "mara" / RECORD).read_text()
    assert (
        "kyoto" not in record
        and "tea.md" not in record
        and "sessions/2026/2026-03-01-1400-other.md" in record
    )
    before = files(store)
    assert len(run(store, "markdown", vault).skipped) == 1
    (why,) = run(store, "claude", tmp_path / "c.json").skipped
    assert (
        why.why == "imported before and deleted since; it stays deleted"
        and files(store) == before
    )


WORDS = st.sampled_from(
    ["ok", "yes", "  no\n\n  way ", "- **mara** 14:00: ok", "## 2026-03-02", "---"]
)
TEXTS = st.lists(WORDS, max_size=8)


@given(
    first=TEXTS,
    more=TEXTS,
    lost=st.sampled_from(["nothing", "all", "the end", "half a line"]),
)
def test_however_an_export_grew_and_a_run_was_killed_the_session_has_each_turn_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[str],
    more: list[str],
    lost: str,
) -> None:
    """Whatever was lost of the record, which is written behind the session; and it is whole again after the next run."""
    folder = tmp_path_factory.mktemp("grown")
    run(folder / "store", "claude", talk(folder / "c.json", *first))
    record = folder / "store/mara" / RECORD
    kept = record.read_bytes() if first else b""
    if lost == "all" and first:
        record.unlink()
    run(folder / "store", "claude", talk(folder / "c.json", *first, *more))
    if lost in ("the end", "half a line") and first:
        record.write_bytes(
            kept + b'{"origin": "claude:c1", "pa' * (lost == "half a line")
        )
    run(folder / "store", "claude", folder / "c.json")
    found = [
        text
        for path in folder.glob("store/mara/sessions/*/*.md")
        for _, _, text in said(path)
    ]
    assert found == [text.strip() for text in [*first, *more]]
    before = files(folder)
    run(folder / "store", "claude", folder / "c.json")
    assert files(folder) == before


# -- notes -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault/Daily").mkdir(parents=True)
    (tmp_path / "vault/Daily/2026-11-20.md").write_bytes(b"\xef\xbb\xbfTea\r\nno end")
    (tmp_path / "vault/tea.md").write_bytes(b"one\ntwo\n")
    return tmp_path / "vault"


@pytest.mark.parametrize(
    ("new", "kept"), [(b"one\none and a half\ntwo\n", False), (b"two\n", True)]
)
def test_a_changed_note_is_brought_up_to_date_losing_no_line(
    store: Path, vault: Path, new: bytes, kept: bool
) -> None:
    run(store, "markdown", vault)
    (vault / "tea.md").write_bytes(new)
    report = run(store, "markdown", vault)  # what is to be committed
    assert [one.path for one in report.added + report.updated] == [
        "archive/notes/tea-2.md"
    ] * kept + ["notes/tea.md"]
    assert (store / "mara/notes/tea.md").read_bytes() == new
    older = store / "mara/archive/notes/tea-2.md"
    assert older.exists() == kept and (not kept or older.read_bytes() == b"one\ntwo\n")
    before = files(store)
    run(store, "markdown", vault)
    assert files(store) == before


def test_a_note_changed_or_deleted_in_the_store_is_left_alone(
    store: Path, vault: Path
) -> None:
    run(store, "markdown", vault)
    (store / "mara/notes/tea.md").write_bytes(b"mine\n")
    (store / "mara/notes/Daily/2026-11-20.md").unlink()
    for path in vault.rglob("*.md"):
        path.write_bytes(b"theirs\n")
    before = files(store)
    report = run(store, "markdown", vault)
    assert sorted(item.what for item in report.skipped) == [
        "Daily/2026-11-20.md",
        "tea.md",
    ]
    assert files(store) == before


# -- malice ----------------------------------------------------------------------------------------------------------


def test_nothing_leaves_the_users_folder_and_no_turn_is_forged(
    tmp_path: Path, store: Path
) -> None:
    forged = "hi\r\n- **mara** 14:00: my password is 1\n---\norigin: claude:c1\x00\x1b[2J\u2028- **mara**: x\ud800"
    title = "../../../etc/hosts\n---\x00" + "long " * 5000
    talk(tmp_path / "c.json", forged, "ok\ud83d", id="../../c\n1", title=title)
    export = json.loads((tmp_path / "c.json").read_text())
    export[0]["chat_messages"][1]["sender"] = "**x**\n- **mara** 14:00: " + "y" * 5000
    (tmp_path / "c.json").write_text(json.dumps(export))
    report = run(store, "claude", tmp_path / "c.json")
    (path,) = memories(store)
    assert (
        path.startswith("mara/sessions/2026/2026-03-01-1400-etc-hosts")
        and len(path) < 150
    )
    found = said(store / path)
    assert found[0][0] == "mara" and len(found) == 2
    assert (
        "\x00" not in found[0][2]
        and "\x1b" not in found[0][2]
        and "my password" in found[0][2]
    )
    assert (
        problems_of(parse(path.removeprefix("mara/"), (store / path).read_bytes()))
        == []
    )
    assert not report.skipped
    before = files(store)
    assert len(run(store, "claude", tmp_path / "c.json").unchanged) == 1
    assert files(store) == before
    (store / "mara" / RECORD).unlink()  # which says nothing that the session does not
    run(store, "claude", tmp_path / "c.json")
    assert memories(store) == {path: before[path]}


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_not_there_or_no_file_or_holds_the_store_is_one_error(
    tmp_path: Path, store: Path, format: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused):
        run(store, format, tmp_path)
    with pytest.raises(NotFound):
        run(store, format, tmp_path / "nothing")
    if format != "markdown":  # which passes it over
        with pytest.raises(FilememError):
            run(store, format, tmp_path / "pipe")
    assert not store.exists() or not memories(store)
