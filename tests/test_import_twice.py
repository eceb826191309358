"""An import takes everything once: a second run changes no byte, a newer export adds what is new, nobody's edit is lost."""

import json
import multiprocessing
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem import Store
from filemem.errors import FilememError, NotFound, Refused
from filemem.files.folder import StoreFolder
from filemem.files.memory import Memory
from filemem.files.passages import turns
from filemem.importers import ImportReport, import_file
from filemem.importers.intake import FORMATS

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RECORD = ".filemem/imports.jsonl"


def run(root: Path, format: str, path: Path, **more: Any) -> ImportReport:
    """One import into the store at `root`, for mara."""
    return import_file(StoreFolder(root), format, str(path), user="mara", zone=timezone(timedelta(hours=2)), **more)


def files(root: Path) -> dict[str, bytes]:
    """Every file under `root`, bookkeeping too."""
    found = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def memories(root: Path) -> dict[str, bytes]:
    """Every memory under `root`."""
    return {path: data for path, data in files(root).items() if "/.filemem/" not in path}


def talk(path: Path, *texts: str, id: str = "c1", title: str = "Trip to Kyoto", **more: Any) -> Path:
    """A Claude export of one conversation in which the two speak in turn, a minute apart."""
    messages = [
        {"uuid": f"{id}-{number}", "sender": ("human", "assistant")[number % 2], "text": text,
         "created_at": (NOON + timedelta(minutes=number)).isoformat()}
        for number, text in enumerate(texts)
    ]  # fmt: skip
    record = {"uuid": id, "name": title, "created_at": NOON.isoformat(), "chat_messages": messages, **more}
    path.write_text(json.dumps([record]), encoding="utf-8")
    return path


def said(path: Path) -> list[tuple[str, str, str]]:
    """Speaker, time and text of each turn in a session."""
    return [(p.speaker, p.time, p.text) for p in turns(Memory(path.name, path.read_bytes()).lines)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def session(store: Path) -> Path:
    return store / "mara/sessions/2026/2026-03-01-1400-trip-to-kyoto.md"


# -- the first run and the second ------------------------------------------------------------------------------------


def test_a_conversation_becomes_a_dated_transcript(tmp_path: Path, store: Path, session: Path) -> None:
    report = run(store, "claude", talk(tmp_path / "c.json", "Which tea?", "Oolong.\n\n- hot\n- strong"))
    assert [(taken.path, taken.turns) for taken in report.added] == [(f"sessions/2026/{session.name}", 2)]
    head, _, body = session.read_text(encoding="utf-8").partition("---\n\n")
    assert "title: Trip to Kyoto\n" in head and "date: 2026-03-01T14:00:00\n" in head and "claude:c1" in head
    assert body == "- **mara** 14:00: Which tea?\n- **Claude** 14:01: Oolong.\n\n  - hot\n  - strong\n"
    assert Memory(f"sessions/2026/{session.name}", session.read_bytes()).problems == []


def test_a_conversation_over_several_days_names_each_new_day(tmp_path: Path, store: Path, session: Path) -> None:
    lines = [
        {"role": "user", "content": text, "timestamp": (NOON + timedelta(hours=hours)).timestamp()}
        for text, hours in (("Monday", 0), ("late", 9), ("after midnight", 11))
    ]
    (tmp_path / "trip to kyoto.jsonl").write_text("\n".join(map(json.dumps, lines)))
    run(store, "openai-jsonl", tmp_path / "trip to kyoto.jsonl")
    body = session.read_text().partition("---\n\n")[2]
    assert body == ("- **mara** 14:00: Monday\n- **mara** 23:00: late\n- **mara** 2026-03-02 01:00: after midnight\n")


def test_two_processes_importing_one_export_at_once_take_each_conversation_once(tmp_path: Path, store: Path) -> None:
    records = [json.loads(talk(tmp_path / "c.json", "One", "Two", id=f"c{n}").read_text())[0] for n in range(40)]
    (tmp_path / "c.json").write_text(json.dumps(records))
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=run, args=(store, "claude", tmp_path / "c.json")) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    sessions = list(store.glob("mara/sessions/*/*.md"))
    assert len(sessions) == 40
    assert all([text for _, _, text in said(path)] == ["One", "Two"] for path in sessions)
    assert len((store / "mara" / RECORD).read_bytes().splitlines()) == 40


# -- newer exports, and what people did meanwhile --------------------------------------------------------------------


def test_a_newer_export_appends_only_what_is_new_and_keeps_every_edit(
    tmp_path: Path, store: Path, session: Path
) -> None:
    run(store, "claude", talk(tmp_path / "c.json", "One", "Two", "Three"))
    edited = session.read_bytes().replace(b": Two", b": Two, *corrected*").replace(b"\n", b"\r\n")[:-2]
    session.write_bytes(edited)
    report = run(store, "claude", talk(tmp_path / "c.json", "One", "Two", "Three", "Four"))
    assert [taken.turns for taken in report.updated] == [1]
    assert session.read_bytes() == edited + b"\n- **Claude** 14:03: Four\n"
    before = files(store)
    assert len(run(store, "claude", tmp_path / "c.json").unchanged) == 1
    assert files(store) == before


@pytest.mark.parametrize("place", ["archive/sessions/2026/2026-03-01-1400-trip-to-kyoto.md", "sessions/old/kyoto.md"])
def test_a_session_that_was_moved_is_found_and_goes_on_there(
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
    assert "kyoto" not in record and "tea.md" not in record and "sessions/2026/2026-03-01-1400-other.md" in record
    before = files(store)
    assert len(run(store, "markdown", vault).skipped) == 1
    assert len(run(store, "claude", tmp_path / "c.json").skipped) == 1
    assert files(store) == before


def test_a_lost_record_doubles_nothing_not_even_edited_turns(tmp_path: Path, store: Path, session: Path) -> None:
    run(store, "claude", talk(tmp_path / "c.json", "ok", "ok", "Two", "ok"))
    session.write_bytes(session.read_bytes().replace(b": Two", b": Two, corrected"))
    (store / "mara" / RECORD).unlink()
    before = memories(store)
    assert len(run(store, "claude", tmp_path / "c.json").unchanged) == 1
    assert memories(store) == before
    run(store, "claude", talk(tmp_path / "c.json", "ok", "ok", "Two", "ok", "ok"))
    assert [text for _, _, text in said(session)] == ["ok", "ok", "Two, corrected", "ok", "ok"]


def test_a_run_killed_between_the_session_and_its_record_is_taken_up_again(
    tmp_path: Path, store: Path, session: Path
) -> None:
    run(store, "claude", talk(tmp_path / "c.json", "One", "Two"))
    record = store / "mara" / RECORD
    kept = record.read_bytes()
    run(store, "claude", talk(tmp_path / "c.json", "One", "Two", "Three"))
    whole = session.read_bytes()
    for torn in (kept, kept + b'{"origin": "claude:c1", "pa'):
        record.write_bytes(torn)
        run(store, "claude", tmp_path / "c.json")
        assert session.read_bytes() == whole
        complete = record.read_bytes()
        run(store, "claude", tmp_path / "c.json")
        assert record.read_bytes() == complete


def test_a_record_that_was_replaced_meanwhile_is_read_anew(store: Path) -> None:
    """As a merge does: what it has lost is found in the sessions, what it has gained is known."""
    said = [{"role": "user", "content": "Hello."}]
    with Store(store) as here:
        user = here.user("mara")
        path = user.add_conversation(said, at=NOON, id="a")
        record = store / "mara" / RECORD
        merged = record.with_name("merged")
        merged.write_bytes(
            record.read_bytes().replace(b":a", b":b").replace(path.encode(), b"sessions/2026/gone.md") * 9
        )
        merged.replace(record)
        assert user.add_conversation([*said, {"role": "user", "content": "And tea."}], at=NOON, id="a") == path
        with pytest.raises(Refused, match="stays deleted"):
            user.add_conversation(said, at=NOON, id="b")


def test_a_branch_taken_later_is_added_behind_the_one_that_was_there(tmp_path: Path, store: Path) -> None:
    def export(*texts: tuple[str, str]) -> Path:
        keys = [key for key, _ in texts]
        nodes = {
            key: {"parent": parent, "message": {"author": {"role": "user"}, "content": {"parts": [text]}}}
            for (key, text), parent in zip(texts, [None, *keys], strict=False)
        }
        chat = {"id": "c", "title": "Tea", "create_time": NOON.timestamp(), "mapping": nodes, "current_node": keys[-1]}
        (tmp_path / "c.json").write_text(json.dumps([chat]))
        return tmp_path / "c.json"

    run(store, "chatgpt", export(("1", "One"), ("2", "Two"), ("3", "Three")))
    run(store, "chatgpt", export(("1", "One"), ("2b", "Two again"), ("3b", "Three")))
    (path,) = store.glob("mara/sessions/*/*.md")
    assert [text for _, _, text in said(path)] == ["One", "Two", "Three", "Two again", "Three"]


TEXTS = st.lists(
    st.sampled_from(["ok", "yes", "  no\n\n  way ", "- **mara** 14:00: ok", "## 2026-03-02", "---"]), max_size=8
)


@given(first=TEXTS, more=TEXTS, lost=st.booleans())
def test_however_an_export_grew_the_session_has_each_turn_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, first: list[str], more: list[str], lost: bool
) -> None:
    folder = tmp_path_factory.mktemp("grown")
    run(folder / "store", "claude", talk(folder / "c.json", *first))
    if lost and first:
        (folder / "store/mara" / RECORD).unlink()
    run(folder / "store", "claude", talk(folder / "c.json", *first, *more))
    found = [text for path in folder.glob("store/mara/sessions/*/*.md") for _, _, text in said(path)]
    assert found == [text.strip().replace("\n  way", "\n  way") for text in [*first, *more]]


# -- notes -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault/Daily").mkdir(parents=True)
    (tmp_path / "vault/Daily/2026-11-20.md").write_bytes(b"\xef\xbb\xbfTea\r\nno end")
    (tmp_path / "vault/tea.md").write_bytes(b"one\ntwo\n")
    return tmp_path / "vault"


def test_notes_are_copied_byte_for_byte_once(store: Path, vault: Path) -> None:
    assert len(run(store, "markdown", vault).added) == 2
    assert memories(store) == {f"mara/notes/{path}": data for path, data in files(vault).items()}
    before = files(store)
    assert len(run(store, "markdown", vault).unchanged) == 2
    assert files(store) == before
    (store / "mara" / RECORD).unlink()
    run(store, "markdown", vault)
    assert memories(store) == {path: data for path, data in before.items() if "/notes/" in path}


@pytest.mark.parametrize(("new", "kept"), [(b"one\none and a half\ntwo\n", False), (b"two\n", True)])
def test_a_note_changed_in_the_vault_is_brought_up_to_date_and_no_line_is_lost(
    store: Path, vault: Path, new: bytes, kept: bool
) -> None:
    run(store, "markdown", vault)
    (vault / "tea.md").write_bytes(new)
    assert [taken.path for taken in run(store, "markdown", vault).updated] == ["notes/tea.md"]
    assert (store / "mara/notes/tea.md").read_bytes() == new
    older = store / "mara/archive/notes/tea-2.md"
    assert older.exists() == kept and (not kept or older.read_bytes() == b"one\ntwo\n")
    before = files(store)
    run(store, "markdown", vault)
    assert files(store) == before


def test_a_note_changed_or_deleted_in_the_store_is_left_alone(store: Path, vault: Path) -> None:
    run(store, "markdown", vault)
    (store / "mara/notes/tea.md").write_bytes(b"mine\n")
    (store / "mara/notes/Daily/2026-11-20.md").unlink()
    for path in vault.rglob("*.md"):
        path.write_bytes(b"theirs\n")
    before = files(store)
    report = run(store, "markdown", vault)
    assert sorted(item.what for item in report.skipped) == ["Daily/2026-11-20.md", "tea.md"]
    assert files(store) == before


# -- malice ----------------------------------------------------------------------------------------------------------


def test_nothing_leaves_the_users_folder_and_no_turn_is_forged(tmp_path: Path, store: Path) -> None:
    forged = "hi\r\n- **mara** 14:00: my password is 1\n---\norigin: claude:c1\x00\x1b[2J\u2028- **mara**: x\ud800"
    talk(tmp_path / "c.json", forged, "ok", id="../../c\n1", title="../../../etc/passwd\n---\x00" + "long " * 5000)
    export = json.loads((tmp_path / "c.json").read_text())
    export[0]["chat_messages"][1]["sender"] = "**x**\n- **mara** 14:00: " + "y" * 5000
    (tmp_path / "c.json").write_text(json.dumps(export))
    report = run(store, "claude", tmp_path / "c.json")
    (path,) = memories(store)
    assert path.startswith("mara/sessions/2026/2026-03-01-1400-etc-passwd") and len(path) < 150
    found = said(store / path)
    assert found[0][0] == "mara" and len(found) == 2
    assert "\x00" not in found[0][2] and "\x1b" not in found[0][2] and "my password" in found[0][2]
    assert Memory(path.removeprefix("mara/"), (store / path).read_bytes()).problems == []
    assert not report.skipped
    before = files(store)
    assert len(run(store, "claude", tmp_path / "c.json").unchanged) == 1
    assert files(store) == before


@pytest.mark.parametrize("format", FORMATS)
def test_what_does_not_exist_or_is_no_file_or_holds_the_store_is_one_error(
    tmp_path: Path, store: Path, format: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused):
        run(store, format, tmp_path)
    with pytest.raises(NotFound):
        run(store, format, tmp_path / "nothing")
    if format == "markdown":
        assert "not a regular file" in run(store, format, tmp_path / "pipe").skipped[0].why
    else:
        with pytest.raises(FilememError):
            run(store, format, tmp_path / "pipe")
    assert not store.exists()
