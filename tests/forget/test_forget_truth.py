"""A forget reaches what was named and no more, leaves nothing behind where it cannot
begin, and says "nothing" with exit 0 only where that is true."""

import threading
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from repositories import START

from filemem import Busy, NotFound, Store, User
from filemem.cli import cli
from filemem.overview import problems
from filemem.store import keys
from filemem.store.passages import format_turn
from filemem.store.transcript import Transcript

TALK = "sessions/2026/2026-11-18-0900-morning.md"
TURNS = ("Good morning.", "The plum jam is\nunder the stairs.", "It rains.")
CLEAN = "Nothing in mara's folder says it any more."


@pytest.fixture
def mara(tmp_path: Path) -> User:
    user = Store(tmp_path / "store").user("mara")
    said = [format_turn("mara", "09:00", text) for text in TURNS]
    user.folder.create(TALK, "".join(said))
    return user


def run(user: User, *words: str) -> Result:
    given = ["--store", user.folder.store, "forget", *words]
    home = {"HOME": user.folder.store, "XDG_CONFIG_HOME": f"{user.folder.store}/.c"}
    return CliRunner().invoke(cli, given, env=home, standalone_mode=False)


def put(user: User, path: str, data: bytes) -> Path:
    place = Path(user.folder.root, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


# -- only what was named -----------------------------------------------------------------


def test_a_user_is_deleted_by_a_word_of_its_own_alone(mara: User) -> None:
    """And their keys of serve with them, not those of others."""
    for words in (
        ["--user", "mara", "--yes"],
        ["--user", "mara", "--whole-user", "bob", "--yes"],
    ):
        assert run(mara, *words).exception and mara.folder.paths() == [TALK]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", f"{mara.folder.store}/.c")
        for name in ("mara", "bob"):
            keys.add_key(mara.folder.store, name, START.date())
        assert run(mara, "--whole-user", "mara", "--yes").return_value == 0
        left = keys.keys_of(mara.folder.store).values()
    assert [one["user"] for one in left] == ["bob"]
    assert not Path(mara.folder.root).exists()


@pytest.mark.parametrize(
    ("named", "sibling"),
    [
        ("bob@example.com", "bob@example.com.uk"),
        ("bob@example.com", "jim.bob@example.com"),
        ("/etc/app/conf", "/etc/app/conf.bak"),
        ("4711", "4711.5"),
        ("12", "12,000"),
        ("INC-221", "INC-221-B"),
    ],
)
def test_a_name_ends_where_it_ends(mara: User, named: str, sibling: str) -> None:
    mine = mara.remember(f"It is {named}.", with_secrets=True).path
    theirs = mara.remember(f"Also {sibling}, later.", with_secrets=True).path
    done = run(mara, "--about", named, "--yes")
    assert done.return_value == 0 and CLEAN in done.output
    assert mine not in mara.folder.paths() and theirs in mara.folder.paths()


@pytest.mark.parametrize(
    ("named", "other"),
    [
        ("Jose Garcia", "José García"),
        ("4111-1111-1111-1111", "4111111111111111"),
        ("4111111111111111", "4111 1111 1111 1111"),
        ("192.168.1.5", "192.168.001.005"),
        ("ABC-1234", "abc1234"),
        ("國家圖書館", "国家图书馆"),
    ],
)
def test_the_same_thing_in_another_form_is_listed_and_goes_where_that_is_said(
    mara: User, named: str, other: str
) -> None:
    mine = mara.remember(f"It is {named}.", with_secrets=True).path
    theirs = mara.remember(f"Also {other}, later.", with_secrets=True).path
    done = run(mara, "--about", named, "--yes")
    assert mine not in mara.folder.paths() and theirs in mara.folder.paths()
    assert f"Still says it: {theirs}" in done.output and done.return_value == 1
    assert run(mara, "--about", named, "--yes", "--others").return_value == 0
    assert theirs not in mara.folder.paths()


def test_what_is_in_another_form_is_told_to_a_program(mara: User) -> None:
    mara.remember("It is Jose Garcia.")
    theirs = mara.remember("Also José García, later.").path
    left = mara.forget(about="Jose Garcia", others=False).left
    assert len(left) == 1 and left[0].startswith(theirs)
    done = mara.forget(about="Jose Garcia")  # nobody can be asked: the same thing goes
    assert done.left == [] and theirs not in mara.folder.paths()


def test_a_file_with_cr_alone_loses_the_turn_alone(mara: User) -> None:
    lines = "".join(
        format_turn("mara", "09:00", text) for text in ("Tea.", "Plums!", "It rains.")
    )
    place = put(
        mara, "sessions/2026/2026-11-19-0900-mac.md", lines.replace("\n", "\r").encode()
    )
    assert run(mara, "--about", "plums", "--yes").return_value == 0
    assert (
        place.read_bytes()
        == lines.replace("Plums!", "[forgotten]").replace("\n", "\r").encode()
    )


def test_check_names_nothing_that_was_forgotten(mara: User) -> None:
    """However short it was."""
    talk = Transcript(mara.folder)
    for text in ("Morning.", "Pip 12"):
        line = talk.add("mara", text, START)
    run(mara, f"{talk.path}:{line}", "--yes")
    assert "[forgotten]" in mara.folder.memory(talk.path).text
    assert "Pip" not in str(problems(mara.folder))


# -- copies and what cannot be searched --------------------------------------------------


def test_an_editor_s_file_goes_only_as_a_copy_of_what_goes(mara: User) -> None:
    """One that has lines of its own is named."""
    whole = mara.folder.read(TALK)
    copy = put(mara, f"{TALK}~", whole)
    diary = put(mara, "sessions/2026/diary.md.bak", whole + b"A line of its own.\n")
    done = run(mara, f"{TALK}:2", "--yes")
    assert not copy.exists() and diary.exists()
    assert "diary.md.bak:3" in done.output and done.return_value == 1


@pytest.mark.parametrize(
    ("path", "data"),
    [
        (
            "backup.txt.bak",
            format_turn("mara", "09:00", "Plum jam?\nUnder the stairs!").encode(),
        ),
        ("notes/old.dat", "Jam under the stairs: plum".encode("utf-16-le")),
        ("notes/old.dat", "Jam under the stairs: plum".encode("utf-32-be")),
        (".hidden/plum jam stairs.bin", b"\0\1"),
    ],
)
def test_whatever_keeps_it_is_named_and_success_is_not_claimed(
    mara: User, path: str, data: bytes
) -> None:
    """By turns of several lines, in other encodings without a mark, in a name."""
    put(mara, path, data)
    done = run(mara, "--about", "plum jam stairs", "--yes")
    assert path in done.output and CLEAN not in done.output
    assert done.return_value == 1


def test_what_no_search_reads_is_named(mara: User) -> None:
    with zipfile.ZipFile(Path(mara.folder.root, "old.zip"), "w") as packed:
        packed.writestr("a.txt", "plum jam, stairs")
    done = run(mara, "--about", "plum jam stairs", "--yes")
    assert "old.zip: cannot be searched" in done.output and CLEAN not in done.output
    assert done.return_value == 1


def test_no_digest_of_an_earlier_server_stays(mara: User) -> None:
    """As it was made of the message alone, a short one is guessed from it."""
    kept = put(mara, ".filemem/chats.jsonl", b'["d2c7...", "sessions/x.md"]\n')
    assert run(mara, f"{TALK}:1", "--yes").return_value == 0 and not kept.exists()


# -- another job -------------------------------------------------------------------------


def test_where_another_job_is_at_work_nothing_is_begun(mara: User) -> None:
    """Nor left behind: the next forget, of anything, works; a while may be waited."""
    held, free = threading.Event(), threading.Event()

    def work() -> None:
        with Store(mara.folder.store).user("mara").folder.job_lock():
            held.set()
            free.wait(20)

    other = threading.Thread(target=work)
    other.start()
    held.wait(20)
    before = sorted(Path(mara.folder.root).rglob("*"))
    with pytest.raises(Busy):
        mara.forget(about="rains", wait=0)
    assert isinstance(run(mara, "--about", "rains", "--yes").exception, Busy)
    assert sorted(Path(mara.folder.root).rglob("*")) == before
    threading.Timer(0.3, free.set).start()
    assert mara.forget(about="plum", wait=20) == [f"{TALK}:2"]
    other.join()
    with pytest.raises(NotFound):
        mara.forget(about="plum")
    assert mara.forget(about="rains") == [f"{TALK}:4"]
