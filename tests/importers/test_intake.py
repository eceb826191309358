"""What an export or a program says is kept once; no edit of a person's is lost, nothing
that they deleted comes back, nothing is taken for another's."""

import datetime as dt
import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import contents, filemem, lay

from filemem import FilememError, NotFound, Refused, Store, Toolbox
from filemem.api import User
from filemem.importers import FORMATS, ImportReport, import_file
from filemem.store.gate import KEYED_DIGEST
from filemem.store.problems import problems_of
from filemem.store.roles import Role
from filemem.store.users import StoreFolder
from filemem.testing import FakeModel

ZONE = dt.timezone(dt.timedelta(hours=2))
NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
RECORD = ".filemem/imports.jsonl"
SESSION = "sessions/2026/2026-03-01-1400-trip-to-kyoto.md"


@pytest.fixture
def mara(tmp_path: Path) -> User:
    return Store(tmp_path / "memory_store").user("mara")


def run(user: User, format_: str, path: Path, **how: Any) -> ImportReport:
    folder = StoreFolder(user._folder.store).folder(user.name)  # as a new process
    return import_file(folder, format_, str(path), zone=ZONE, **how)


def kept(user: User, path: str) -> list[str]:
    return [turn.text for turn in user.open_file(path).passages]


def file(user: User, path: str) -> Path:
    return Path(user._folder.root, path)


def talk(path: Path, *texts: str, id: str = "c1", title: str = "Trip to Kyoto") -> Path:
    """Write a Claude export in which the two speak in turn, a minute apart."""
    messages = []
    for number, text in enumerate(texts):
        at = NOON + dt.timedelta(minutes=number)
        sender = ("human", "assistant")[number % 2]
        message = {"uuid": f"{id}-{number}", "sender": sender, "text": text}
        messages.append({**message, "created_at": at.isoformat()})
    start = {"uuid": id, "name": title, "created_at": NOON.isoformat()}
    path.write_text(json.dumps([{**start, "chat_messages": messages}]))
    return path


# -- an export, and a newer one --------------------------------------------------------


def test_a_newer_export_appends_what_is_new_and_keeps_every_edit(
    mara: User, tmp_path: Path
) -> None:
    run(mara, "claude", talk(tmp_path / "c.json", "One", "Two", "Three"))
    assert problems_of(mara.open_file(SESSION)) == []
    session = file(mara, SESSION)
    edited = session.read_bytes().replace(b": Two", b": Two, *corrected*")
    edited = edited.replace(b"\n", b"\r\n")[:-2]
    session.write_bytes(edited)
    more = talk(tmp_path / "c.json", "One", "Two", "Three", "Four")
    assert [taken.turns for taken in run(mara, "claude", more).updated] == [1]
    assert session.read_bytes() == edited + b"\n- **Claude** 14:03: Four\n"
    before = contents(mara._folder.root)
    report = run(mara, "claude", more)
    assert len(report.unchanged) == 1 and not report.left_out
    assert contents(mara._folder.root) == before


@pytest.mark.parametrize("place", [f"archive/{SESSION}", "sessions/old/kyoto.md"])
def test_a_moved_session_is_found_and_goes_on_there(
    mara: User, tmp_path: Path, place: str
) -> None:
    run(mara, "claude", talk(tmp_path / "c.json", "One", "Two"))
    file(mara, place).parent.mkdir(parents=True)
    file(mara, SESSION).rename(file(mara, place))
    run(mara, "claude", talk(tmp_path / "c.json", "One", "Two", "Three"))
    assert list(mara._folder.paths()) == [place]
    assert kept(mara, place) == ["One", "Two", "Three"]


def test_a_forgotten_import_leaves_no_name_and_does_not_come_back(
    mara: User, tmp_path: Path, vault: Path
) -> None:
    """What is said in it afterwards is kept, without what was forgotten."""
    export = talk(tmp_path / "c.json", "One")
    run(mara, "claude", export)
    run(mara, "markdown", vault)
    for path in (SESSION, "notes/tea.md"):
        mara.forget(path)
    record = file(mara, RECORD).read_text()
    assert "kyoto" not in record and "tea.md" not in record
    before = contents(mara._folder.root)
    assert len(run(mara, "markdown", vault).skipped) == 1
    [left] = run(mara, "claude", export).skipped
    assert left.why == "imported before and deleted since; it stays deleted"
    assert contents(mara._folder.root) == before
    [new] = run(mara, "claude", talk(export, "One", "Two")).added
    run(mara, "claude", talk(export, "One", "Two", "Three"))
    assert kept(mara, new.path) == ["Two", "Three"]


def test_a_forgotten_import_stays_so_where_another_key_made_its_record(
    mara: User, tmp_path: Path
) -> None:
    """A key of another machine is not in git."""
    export = tmp_path / "talks.jsonl"
    export.write_text(json.dumps({"id": "c", "messages": ALL[:4]}))
    [taken] = run(mara, "openai-jsonl", export).added
    mara.forget(taken.path)
    file(mara, ".filemem/key").unlink()
    [left] = run(mara, "openai-jsonl", export).skipped
    assert left.why == "imported before and deleted since; it stays deleted"
    assert not mara._folder.paths()


def test_two_processes_take_each_conversation_once(mara: User, tmp_path: Path) -> None:
    lines = [json.dumps({"id": f"c{n}", "messages": ALL[:2]}) for n in range(40)]
    export = tmp_path / "talks.jsonl"
    export.write_text("\n".join(lines))
    fork = multiprocessing.get_context("fork")
    given_ = (mara, "openai-jsonl", export)
    both = [fork.Process(target=run, args=given_) for _ in "12"]
    for process in both:
        process.start()
    for process in both:
        process.join()
        assert process.exitcode == 0
    paths = list(mara._folder.paths())
    assert [kept(mara, path) for path in paths] == [TEXTS_OF_ALL[:2]] * 40


WORDS = st.sampled_from(
    ["ok", "yes", "  no\n\n  way ", "- **mara** 14:00: ok", "## 2026-03-02", "---"]
)
TEXTS = st.lists(WORDS, max_size=8)


@given(first=TEXTS, more=TEXTS, lost=st.sampled_from(["nothing", "all", "end", "half"]))
def test_however_a_run_was_killed_the_next_finishes_it(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[str],
    more: list[str],
    lost: str,
) -> None:
    """Each turn is there once and in order, whatever was lost of the record, which is
    written behind the session; and the record is whole again."""
    folder = tmp_path_factory.mktemp("grown")
    user = Store(folder / "store").user("mara")
    run(user, "claude", talk(folder / "c.json", *first))
    record = file(user, RECORD)
    before = record.read_bytes() if first else b""
    if first and lost == "all":
        record.unlink()
    export = talk(folder / "c.json", *first, *more)
    run(user, "claude", export)
    if first and lost in ("end", "half"):
        torn = b'{"origin": "claude:c1", "pa' if lost == "half" else b""
        record.write_bytes(before + torn)
    run(user, "claude", export)
    found = [text for path in user._folder.paths() for text in kept(user, path)]
    assert found == [text.strip() for text in [*first, *more]]
    whole = contents(user._folder.root)
    run(user, "claude", export)
    assert contents(user._folder.root) == whole


@pytest.mark.parametrize("format_", FORMATS)
def test_what_is_not_there_or_no_file_or_holds_the_store_is_one_error(
    mara: User, tmp_path: Path, format_: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    mara._folder.make()
    with pytest.raises(Refused):
        run(mara, format_, tmp_path)
    with pytest.raises(NotFound):
        run(mara, format_, tmp_path / "nothing")
    if format_ != "markdown":  # which passes it over
        with pytest.raises(FilememError):
            run(mara, format_, tmp_path / "pipe")
    assert not list(mara._folder.paths())


# -- sessions of agents ----------------------------------------------------------------


def row(uuid: str, text: str, **more: Any) -> str:
    value = {"type": "user", "uuid": uuid, "message": {"content": text}, **more}
    return json.dumps(value) + "\n"


def test_what_a_killed_program_began_is_found_by_one_that_runs_on(mara: User) -> None:
    """The session stands, and its record does not, as the kill came between the two."""
    said = {"role": "user", "content": "I keep bees."}
    mara.add_conversation([said], at=NOON, id="c1")
    record = file(mara, RECORD)
    other = Store(mara._folder.store).user("mara")
    path = other.add_conversation([said], at=NOON, id="c2")
    lines = record.read_bytes().splitlines(keepends=True)
    os.truncate(record, len(b"".join(lines[:-1])))
    more = [said, {"role": "assistant", "content": "How many hives?"}]
    assert mara.add_conversation(more, at=NOON, id="c2") == path
    assert kept(mara, path) == ["I keep bees.", "How many hives?"]
    assert len(mara._folder.paths()) == 2


def test_a_line_that_is_being_written_waits(mara: User, tmp_path: Path) -> None:
    session = tmp_path / "s-1.jsonl"
    later = row("2", "And jasmine on Sundays.")
    session.write_text(row("1", "I only drink oolong.") + later[:40])
    run(mara, "claude-code", session)
    session.write_text(row("1", "I only drink oolong.") + later)
    [taken] = run(mara, "claude-code", session).updated
    assert kept(mara, taken.path) == ["I only drink oolong.", "And jasmine on Sundays."]


def test_a_fork_keeps_what_is_its_own_and_brings_back_nothing_forgotten(
    mara: User, tmp_path: Path
) -> None:
    texts = ["Sketch the map.", "In red.", "Dashed."]
    (tmp_path / "p").mkdir()
    old = [row(f"u{number}", text) for number, text in enumerate(texts)]
    (tmp_path / "p/old.jsonl").write_text("".join(old))
    (tmp_path / "p/other.jsonl").write_text(row("u0", "An id that is no UUID."))
    fork = [
        line.replace('{"type', '{"forkedFrom": {"sessionId": "o"}, "type')
        for line in old[:2]
    ]
    new = tmp_path / "p/a-new.jsonl"
    new.write_text("".join([*fork, row("4", "In green.")]))
    run(mara, "claude-code", tmp_path / "p")
    paths = {kept(mara, path)[0]: path for path in mara._folder.paths()}
    assert kept(mara, paths.pop(texts[0])) == texts
    assert sorted(paths) == ["An id that is no UUID.", "In green."]
    mara.forget(next(path for path in mara._folder.paths() if "sketch" in path))
    new.write_text("".join([*fork, row("4", "In green."), row("5", "Thanks.")]))
    run(mara, "claude-code", tmp_path / "p")
    assert kept(mara, paths["In green."]) == ["In green.", "Thanks."]
    assert len(list(mara._folder.paths())) == 2


def test_what_an_agent_s_work_came_to_is_found_and_nobody_said_it(
    mara: User, tmp_path: Path
) -> None:
    work = Path(__file__).with_name("exports") / "claude-code/work.jsonl"
    [taken] = run(mara, "claude-code", work).added
    memory = mara.open_file(taken.path)
    assert memory.role("document") is Role.DOCUMENT
    tools = Toolbox(mara._folder, lambda: dt.datetime(2026, 6, 10))
    found = tools.call("search_files", {"query": "What broke the build last week?"})
    assert "error TS2304" in found and "Tulip" not in found


def rollout(path: Path, *ids: str, day: int, copied: int = 0, texts: list[str]) -> None:
    """Write a Codex session; the copied texts have the moment of the fork."""
    stamp = f"2026-05-{day:02}T09:00:00.000Z"
    rows = [{"type": "session_meta", "payload": {"id": id}} for id in ids]
    for number, text in enumerate(texts):
        said = {"type": "user_message", "message": text}
        clock = stamp if number < copied else f"2026-05-{day:02}T10:{number:02}:00Z"
        rows.append({"type": "event_msg", "payload": said, "timestamp": clock})
    lines = [json.dumps({"timestamp": stamp, **line}) + "\n" for line in rows]
    path.write_text("".join(lines))


@pytest.mark.parametrize("known", [False, True])
def test_a_codex_fork_brings_back_nothing_of_a_forgotten_original(
    mara: User, tmp_path: Path, known: bool
) -> None:
    """Whether it was taken in before or not, and wherever it branches off."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    texts = ["Sketch the map.", "yes", "In red.", "Dashed."]
    rollout(folder / "rollout-1.jsonl", "a", day=4, texts=texts)
    fork = folder / "rollout-2.jsonl"
    if known:
        rollout(fork, "b", "a", day=5, copied=2, texts=[*texts[:2], "In green."])
    run(mara, "codex", folder)
    mara.forget(next(path for path in mara._folder.paths() if "sketch" in path))
    own = ["In green.", "yes", "Dashed."]
    rollout(fork, "b", "a", day=5, copied=2, texts=[*texts[:2], *own])
    run(mara, "codex", folder)
    [path] = mara._folder.paths()
    assert kept(mara, path) == own
    before = contents(mara._folder.root)
    run(mara, "codex", folder)
    assert contents(mara._folder.root) == before


def test_a_turn_of_codex_is_known_by_its_line_whatever_is_read_there(
    mara: User, tmp_path: Path
) -> None:
    """As where a later version takes out more of its words."""
    session = tmp_path / "rollout-1.jsonl"
    rollout(session, "a", day=4, texts=["Sketch the map."])
    run(mara, "codex", session)
    rollout(session, "a", day=4, texts=["Sketch it.", "Thanks."])
    [taken] = run(mara, "codex", session).updated
    assert kept(mara, taken.path) == ["Sketch the map.", "Thanks."]


# -- notes -----------------------------------------------------------------------------


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault/Daily").mkdir(parents=True)
    (tmp_path / "vault/Daily/2026-11-20.md").write_bytes(b"\xef\xbb\xbfTea\r\nno end")
    (tmp_path / "vault/tea.md").write_bytes(b"one\ntwo\n")
    return tmp_path / "vault"


def test_markdown_takes_every_text_file_byte_for_byte_and_names_the_rest(
    mara: User, vault: Path
) -> None:
    (vault / "plain.txt").write_bytes(b"caf\xe9")
    inside = contents(vault).items()
    texts = {path.replace(str(vault), "notes"): data for path, data in inside}
    lay(vault, {".obsidian/app.json": "{}", "plan.md~": "old", "blob.md": "a\0b"})
    lay(vault, {"photo.PNG": "no NUL in it"})
    (vault / "out.md").symlink_to(vault.parent)
    (vault / "loop").symlink_to(vault)
    os.mkfifo(vault / "pipe.md")
    why = dict(run(mara, "markdown", vault).skipped)
    left = ".obsidian photo.PNG blob.md plan.md~ out.md loop pipe.md"
    assert sorted(why) == sorted(left.split())
    assert "a link" in why["out.md"] and "not a regular file" in why["pipe.md"]
    for _ in range(2):
        assert texts == {path: mara._folder.read(path) for path in mara._folder.paths()}
        file(mara, RECORD).unlink(missing_ok=True)
        assert len(run(mara, "markdown", vault).unchanged) == len(texts)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_secrets_are_taken_out_of_a_note_in_any_encoding(
    mara: User, vault: Path, encoding: str
) -> None:
    text = "家里无线网的密码是 {}，路由器在楼上。\r\n"
    (vault / "wifi.md").write_bytes(text.format("Tulip42xyz").encode(encoding))
    assert "password" in dict(run(mara, "markdown", vault).skipped)["wifi.md"]
    here = file(mara, "notes/wifi.md").read_bytes().decode(encoding)
    assert here == text.format("[redacted: password]")
    assert not run(mara, "markdown", vault).updated


@pytest.mark.parametrize(
    ("new", "older"), [(b"one\nand a half\ntwo\n", []), (b"two\n", ["tea-2.md"])]
)
def test_a_changed_note_is_brought_up_to_date_losing_no_line(
    mara: User, vault: Path, new: bytes, older: list[str]
) -> None:
    run(mara, "markdown", vault)
    (vault / "tea.md").write_bytes(new)
    report = run(mara, "markdown", vault)
    assert [one.path for one in report.updated] == ["notes/tea.md"]
    assert [one.path for one in report.added] == [
        f"archive/notes/{name}" for name in older
    ]
    assert file(mara, "notes/tea.md").read_bytes() == new
    for one in report.added:
        assert file(mara, one.path).read_bytes() == b"one\ntwo\n"


def test_a_note_changed_or_deleted_in_the_store_is_left_alone(
    mara: User, vault: Path
) -> None:
    run(mara, "markdown", vault)
    file(mara, "notes/tea.md").write_bytes(b"mine\n")
    file(mara, "notes/Daily/2026-11-20.md").unlink()
    for path in vault.rglob("*.md"):
        path.write_bytes(b"theirs\n")
    before = contents(mara._folder.root)
    left = [item.what for item in run(mara, "markdown", vault).skipped]
    assert sorted(left) == ["Daily/2026-11-20.md", "tea.md"]
    assert contents(mara._folder.root) == before


# -- what a program hands over ---------------------------------------------------------


def asked(question: str, answer: str, **more: Any) -> list[dict[str, Any]]:
    """A question of an assistant and what a person answered."""
    return [
        {"role": "assistant", "content": question, **more},
        {"role": "user", "content": answer, **more},
    ]


TEXTS_OF_ALL = (
    "Do you smoke?|no|Are you allergic to nuts?|yes|To penicillin?|yes|"
    "To latex?|no|Do you take insulin?|yes"
).split("|")
ALL = [
    {"role": ("assistant", "user")[number % 2], "content": text}
    for number, text in enumerate(TEXTS_OF_ALL)
]


def test_the_same_answer_to_another_question_is_another_message(mara: User) -> None:
    """However a program hands over what was said: what is new, a window, or all of it,
    and once more, as after a time-out."""
    for end in (2, 4, 6, 8, 10, 10):
        paths = [
            mara.add_conversation(ALL[end - 2 : end], id="deltas"),
            mara.add_conversation(ALL[max(0, end - 4) : end], id="window"),
            mara.add_conversation(ALL[:end], id="whole"),
            mara.add_conversation(ALL[:end]),
        ]
    assert len(set(paths)) == 4
    for path in paths:
        assert kept(mara, path) == TEXTS_OF_ALL, path


def test_messages_with_a_time_or_an_id_are_told_by_it(mara: User) -> None:
    for minute in range(3):
        at = f"2026-05-04T09:{minute:02}:00+00:00"
        again = asked("Anything else?", "no", created_at=at)
        timed = mara.add_conversation(again, id="timed")
        named = [{**message, "id": f"{minute}-{message['role']}"} for message in again]
        by_id = mara.add_conversation(named, id="named")
    assert kept(mara, timed) == kept(mara, by_id) == ["Anything else?", "no"] * 3


@pytest.mark.parametrize("place", [3, 5])
def test_what_is_said_anew_is_added_once_however_often_the_history_comes(
    mara: User, place: int
) -> None:
    """Also behind words that were said again since."""
    edited = [*ALL[:place], {"role": "user", "content": "I am not sure"}]
    again = [*ALL[:6], *ALL[2:4]]
    mara.add_conversation(again, id="c")
    for _ in range(2):
        mara.add_conversation(edited, id="c")
        path = mara.add_conversation([*edited, *ALL[6:8]], id="c")
    texts = [message["content"] for message in again]
    assert kept(mara, path) == [*texts, "I am not sure", "To latex?", "no"]


@pytest.mark.parametrize("lost", [".filemem/key", RECORD, "digests"])
def test_where_the_record_tells_nothing_the_session_does(mara: User, lost: str) -> None:
    """A key of another machine is not in git; earlier versions made other digests."""
    path = mara.add_conversation(ALL[:2], id="c")
    mara.add_conversation(ALL[:4], id="c")
    if lost == "digests":
        record = file(mara, RECORD)
        record.write_text(KEYED_DIGEST.sub(f"{'0a' * 8}-1", record.read_text()))
    else:
        file(mara, lost).unlink()
    mara = Store(mara._folder.store).user("mara")
    for end in (4, 10, 10):
        mara.add_conversation(ALL[:end], id="c")
    assert list(mara._folder.paths()) == [path]
    assert kept(mara, path) == TEXTS_OF_ALL


@pytest.mark.parametrize("id", ["c", ""])
def test_a_forgotten_conversation_that_is_sent_again_stays_forgotten(
    mara: User, id: str
) -> None:
    """Only what is said since is kept; who says hello again is not refused."""
    told = asked("Hello.", "My zeppelin is green.")
    since = [*asked("Is it late?", "And now?")]
    mara.forget(mara.add_conversation(told, id=id))
    for _ in range(2):
        with pytest.raises(Refused, match="deleted since; it stays deleted"):
            mara.add_conversation(told, id=id)
    for new in (since[:1], since):
        path = mara.add_conversation([*told, *new], id=id)
    assert kept(mara, path) == ["Is it late?", "And now?"]
    mara.forget(path)
    path = mara.add_conversation(ALL[3:4], id=id)
    assert kept(mara, path) == ["yes"]
    path = mara.add_conversation(told[:1], id=f"{id} of tomorrow".strip())
    assert kept(mara, path) == ["Hello."]
    assert not mara.grep("zeppelin")


# -- whose words, whose days -----------------------------------------------------------


def test_a_person_called_as_an_assistant_is_told_from_it(tmp_path: Path) -> None:
    user = Store(tmp_path / "store").user("claude")
    run(user, "claude", talk(tmp_path / "c.json", "I keep bees.", "How many?"))
    memory = user.open_file(SESSION)
    roles = [memory.role(turn.speaker).value for turn in memory.passages]
    assert roles == ["person", "assistant"]


def test_a_turn_s_day_is_the_person_s(mara: User, tmp_path: Path) -> None:
    """The zone of the moment counts, else that of the profile; in a chat, too. UTC is
    but a moment."""
    at = dt.datetime(2026, 5, 5, 1, 0, tzinfo=dt.timezone(dt.timedelta(hours=9)))
    text = {"role": "user", "content": "My exam is tomorrow."}
    path = mara.add_conversation([text], at=at, id="at")
    assert path.startswith("sessions/2026/2026-05-05-0100-")
    assert mara.open_file(path).front["timezone"] == "UTC+09:00"
    lay(mara._folder.root, {"profile.md": "---\ntimezone: Asia/Tokyo\n---\n\nMara.\n"})
    stamped = {**text, "created_at": "2026-05-04T16:00:00Z"}
    path = mara.add_conversation([stamped], id="profile")
    assert path.startswith("sessions/2026/2026-05-05-0100-")
    assert mara.open_file(path).front["timezone"] == "Asia/Tokyo"
    path = mara.add_conversation([text], at=at.astimezone(dt.UTC), id="in UTC")
    assert "2026-05-05-0100-" in path
    filemem("chat", "-m", "I keep bees.", cwd=tmp_path)
    [path] = [one for one in mara._folder.paths() if "keep-bees" in one]
    assert mara.open_file(path).front["timezone"] == "Asia/Tokyo"


# -- secrets and names -----------------------------------------------------------------


def test_secrets_are_taken_out_before_anything_is_kept_or_digested(
    mara: User, tmp_path: Path
) -> None:
    """Of titles, speakers, ids, note paths and tags, too, and of a turn that holds one
    alone; what tries words against the digests needs the key of the store."""
    secret = "Tulip-Garden-42"
    labelled = f"password: {secret}"
    asks = {"role": "assistant", "content": "What is it? The wifi password is:"}
    named = {"role": "user", "name": labelled, "content": "Hello."}
    messages = [asks, {"role": "user", "content": secret}, named]
    mara.add_conversation(messages, id=labelled, title=labelled)
    lay(tmp_path / "vault", {f"password is {secret}.md": "Note."})
    report = run(mara, "markdown", tmp_path / "vault")
    mara.remember("Has a router.", tags=[labelled, "home"])
    chat = mara.conversation(FakeModel(asks["content"]), id="router")
    chat.say("It does not work.")
    chat.say(secret)
    assert "[redacted: password]" in kept(mara, chat.path)
    assert secret not in f"{report} {contents(mara._folder.root)}"
    other = Store(tmp_path / "other").user("mara")
    other.add_conversation(messages, id=labelled, title=labelled)
    digests = [
        {*KEYED_DIGEST.findall(file(one, RECORD).read_text())} for one in (mara, other)
    ]
    assert all(digests) and not set.intersection(*digests)
    assert file(mara, ".filemem/key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["assistant", "User", "system", "tool"])
def test_no_user_has_the_name_of_a_role_but_one_who_is_there_stays(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(Refused, match="the name of a role"):
        Store(tmp_path).user(name)
    done = filemem("remember", "Tea.", "--user", name, cwd=tmp_path)
    assert done.returncode and "the name of a role" in done.stderr
    (tmp_path / name).mkdir()
    (tmp_path / name / "profile.md").write_text("Likes tea.")
    assert "tea" in Store(tmp_path).user(name).profile


def test_a_user_s_folder_is_found_in_any_normal_form(tmp_path: Path) -> None:
    (tmp_path / "jose\u0301").mkdir()
    (tmp_path / "jose\u0301/profile.md").write_text("Likes tea.")
    store = Store(tmp_path)
    assert store.users() == ["jos\u00e9"]
    assert store.user("jos\u00e9").profile == store.user("jose\u0301").profile != ""


def test_what_is_no_message_is_refused(mara: User) -> None:
    with pytest.raises(FilememError, match="is no message"):
        mara.add_conversation([{"content": 5}])
