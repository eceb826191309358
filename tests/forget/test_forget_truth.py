"""A forget reaches what was named and no more, leaves nothing behind where it cannot
begin, and says "nothing" with exit 0 only where that is true."""

import datetime as dt
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from forgetting import forget, holding
from repositories import START

from filemem import Busy, Store, User
from filemem.forget.delete import delete
from filemem.forget.plan import plan_deletion
from filemem.overview import problems
from filemem.store import keys
from filemem.store.passages import format_turn
from filemem.store.transcript import Transcript
from filemem.store.users import StoreFolder

TALK = "sessions/2026/2026-11-18-0900-morning.md"
TURNS = ("Good morning.", "The plum jam is\nunder the stairs.", "It rains.")
CLEAN = "Nothing in mara's folder says it any more."


@pytest.fixture
def mara(tmp_path: Path) -> User:
    user = Store(tmp_path / "store").user("mara")
    said = [format_turn("mara", "09:00", text) for text in TURNS]
    user._folder.create(TALK, "".join(said))
    return user


def put(user: User, path: str, data: bytes) -> Path:
    place = Path(user._folder.root, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


# -- only what was named -----------------------------------------------------------------


def test_a_user_is_deleted_by_a_word_of_its_own_alone(
    mara: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And their keys of serve with them, not those of others."""
    for words in (["--yes"], ["--whole-user", "bob", "--yes"]):
        assert forget(mara._folder, *words).exception
        assert mara._folder.paths() == [TALK]
    monkeypatch.setenv("XDG_CONFIG_HOME", f"{mara._folder.store}/.c")
    for name in ("mara", "bob"):
        keys.add_key(mara._folder.store, name, START.date())
    assert forget(mara._folder, "--whole-user", "mara", "--yes").return_value == 0
    left = keys.keys_of(mara._folder.store).values()
    assert [one["user"] for one in left] == ["bob"]
    assert not Path(mara._folder.root).exists()


@pytest.mark.parametrize(
    ("named", "form", "sibling"),
    [
        ("bob@example.com", "Bob@Example.com", "bob@example.com.uk"),
        ("bob@example.com", "bob@example.com", "jim.bob@example.com"),
        ("/etc/app/conf", "/etc/app/conf", "/etc/app/conf.bak"),
        ("12", "12", "12,000"),
        ("INC-221", "INC-221", "INC-221-B"),
        ("Jose Garcia", "José García", "Garcia"),
        ("4111-1111-1111-1111", "4111111111111111", "41111"),
        ("4111111111111111", "4111 1111 1111 1111", "41111"),
        ("192.168.1.5", "192.168.001.005", "192.168.1.55"),
        ("ABC-1234", "abc1234", "abc12345"),
        ("國家圖書館", "国家图书馆", "国家"),
        ("Lodz", "Łódź", "Lodzia"),
        ("🥐", "one🥐🥐", "🥖"),
        ("❤️ €", "5€, ❤", "5€"),
        ("花茶", '{"tea": "\\u82b1\\u8336"}', "花"),
        ("🥐", 'a: "\\ud83e\\udd50"', "🥖"),
        ("Lodz", "https://pl.example/%C5%81%C3%B3d%C5%BA", "%C5%81"),
        ("Lodz", "&#321;&oacute;dź", "Ł&oacute;"),
        ("Lodz", '"\\x4codz"', "dz"),
    ],
)
def test_a_name_goes_in_any_form_and_ends_where_it_ends(
    mara: User, named: str, form: str, sibling: str
) -> None:
    mine = mara.remember(f"It is {form}.", with_secrets=True).path
    theirs = mara.remember(f"Also {sibling}, later.", with_secrets=True).path
    done = forget(mara._folder, "--about", named, "--yes")
    assert done.return_value == 0 and CLEAN in done.output
    is_same = named.casefold() in form.casefold()
    assert is_same != ("(in another form)" in done.output)
    assert mine not in mara._folder.paths() and theirs in mara._folder.paths()


def test_a_file_with_cr_alone_loses_the_turn_alone(mara: User) -> None:
    said = [format_turn("mara", "09:00", text) for text in ("Tea.", "Plums!", "Rain.")]
    before = "".join(said).replace("\n", "\r")
    place = put(mara, "sessions/2026-11-19-0900-mac.md", before.encode())
    assert forget(mara._folder, "--about", "plums", "--yes").return_value == 0
    assert place.read_bytes().decode() == before.replace("Plums!", "[forgotten]")


def test_check_names_nothing_that_was_forgotten(mara: User) -> None:
    """However short it was."""
    talk = Transcript(mara._folder)
    for text in ("Morning.", "Pip 12"):
        line = talk.add("mara", text, START)
    forget(mara._folder, f"{talk.path}:{line}", "--yes")
    assert "[forgotten]" in mara._folder.memory(talk.path).text
    assert "Pip" not in str(problems(mara._folder, dt.date(2026, 11, 20)))


# -- copies, and what cannot be searched or changed --------------------------------------


def test_the_same_again_finishes_what_was_cut_off(mara: User) -> None:
    """Here twice, each time behind the first deletion."""
    user = mara._folder
    fact = "facts/2026/2026-11-18-jam.md"
    text = f"---\nsource: {TALK}:2\n---\n\nIt is under the stairs.\n"
    user.create(fact, text)
    user.create("notes/jam.md", f"Jam ({fact}:5).\n")
    for _ in range(2):
        plan = plan_deletion(user, fact)
        delete(user, replace(plan, items=plan.items[-1:]))
    assert user.find(fact)
    mara.forget(fact)
    assert holding(user.root, "under the stairs") == []


TURN = format_turn("mara", "09:00", "Plum jam?\nUnder the stairs!").encode()
JAM = "Jam under the stairs: plum\n"


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("backup.txt.bak", TURN),
        (f"{TALK}~", TURN),
        ("notes/old.dat", JAM.encode("utf-16-le")),
        ("notes/old.dat", JAM.encode("utf-32-be")),
        ("notes/old.md", JAM.encode("utf-16")),
        (".hidden/plum jam stairs.bin", b"\0\1"),
    ],
)
def test_whatever_keeps_it_is_named_and_success_is_not_claimed(
    mara: User, path: str, data: bytes
) -> None:
    """A backup, encodings with and without a mark, a name; they stay."""
    place = put(mara, path, data)
    done = forget(mara._folder, "--about", "plum jam stairs", "--yes")
    assert path in done.output and CLEAN not in done.output
    assert done.return_value == 1 and place.read_bytes() == data


def test_a_link_is_named_that_says_it_and_not_followed(mara: User) -> None:
    link = Path(mara._folder.root, "old.md")
    link.symlink_to("/elsewhere/plum jam, stairs")
    done = forget(mara._folder, "--about", "plum jam stairs", "--yes")
    assert (
        "old.md:1: /elsewhere/plum jam, stairs" in done.output
        and CLEAN not in done.output
    )
    assert done.return_value == 1 and link.is_symlink()


def test_what_no_search_reads_is_named(mara: User) -> None:
    with zipfile.ZipFile(Path(mara._folder.root, "old.zip"), "w") as packed:
        packed.writestr("a.txt", "plum jam, stairs")
    done = forget(mara._folder, "--about", "plum jam stairs", "--yes")
    assert "old.zip: cannot be searched" in done.output and CLEAN not in done.output
    assert done.return_value == 1


def test_what_an_earlier_version_only_hid_is_found_and_deleted(mara: User) -> None:
    """So are digests of its server's chats."""
    hidden = f"2026-11-18T09:03\twithheld\tx:9\t{TALK}:2\n"
    named = "facts/2026-11-18-rain.md"
    put(mara, named, b"It rains.\n")
    put(
        mara,
        TALK,
        mara._folder.read(TALK).replace(b"jam is", f"jam ({named}) is".encode()),
    )
    put(mara, ".filemem/withheld.log", hidden.encode())
    chats = put(mara, ".filemem/chats.jsonl", b'["d2c7...", "sessions/x.md"]\n')
    assert "plum jam" in str(mara.search_files("jam"))
    mara.forget(named)
    assert forget(mara._folder, f"{TALK}:2", "--yes").return_value == 0
    assert problems(mara._folder, dt.date(2026, 11, 20)) == [] and not chats.exists()


# -- another job -------------------------------------------------------------------------


def test_where_another_job_is_at_work_nothing_is_begun(mara: User) -> None:
    """Nor left behind: the next forget, of anything, works; a while may be waited."""
    held = threading.Event()
    free = threading.Event()

    def work() -> None:
        with StoreFolder(mara._folder.store).folder("mara").job_lock():
            held.set()
            free.wait(20)

    other = threading.Thread(target=work)
    other.start()
    held.wait(20)
    before = sorted(Path(mara._folder.root).rglob("*"))
    with pytest.raises(Busy):
        mara.forget(about="rains", wait=0)
    assert sorted(Path(mara._folder.root).rglob("*")) == before
    threading.Timer(0.3, free.set).start()
    assert mara.forget(about="plum", wait=20) == [f"{TALK}:2"]
    other.join()
    assert mara.forget(about="rains") == [f"{TALK}:4"]
