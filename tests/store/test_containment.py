"""Nothing outside a user's folder is ever read or written, and what is not a regular
file is refused in one clear sentence."""

import contextlib
import datetime as dt
import os
import stat
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from programs import lay

from filemem import Store, overview
from filemem.errors import FilememError, NotFound, Refused
from filemem.store.folder import Folder
from filemem.text.plain import escape_controls

OUTSIDE = [
    "",
    "../bob/profile.md",
    "facts/../../bob/profile.md",
    "facts//tea.md",
    "facts/",
    "..\\bob\\profile.md",
    "facts/tea.md\0.png",
    "facts/\x1b[31mtea.md",
    "facts/\u202etea.md",
    ".filemem/lock",
    "facts/.hidden.md",
    "/".join(["facts"] * 800),
]


@pytest.fixture
def alice(tmp_path: Path) -> Folder:
    """Alice beside Bob, and beside Alice2, whose folder's name begins like hers."""
    for name in ("alice", "alice2", "bob"):
        Folder(str(tmp_path / name), name).create(
            "profile.md",
            f"secret of {name}\n",
        )
    folder = Folder(str(tmp_path / "alice"), "alice")
    folder.create("facts/tea.md", "Oolong.\n")
    return folder


def attempts(folder: Folder, path: str) -> list[Callable[[], object]]:
    """Everything that one can do with a path that is there."""
    return [
        lambda: folder.locate(path),
        lambda: folder.memory(path),
        lambda: folder.append(path, "x\n"),
        lambda: folder.edit(path, lambda old: b"x"),
    ]


def tree(root: Path) -> dict[Path, bytes | None]:
    """Everything there is, a file with its bytes."""
    found: dict[Path, bytes | None] = {}
    for path in root.rglob("*"):
        is_plain = stat.S_ISREG(path.lstat().st_mode)
        found[path] = path.read_bytes() if is_plain else None
    return found


def assert_unmoved(folder: Folder, path: str) -> None:
    """Neither from there nor to there."""
    targets = {path: "facts/here.md", "facts/tea.md": path}
    assert folder.move(targets).keys() == targets.keys()


@pytest.mark.parametrize(
    "path",
    OUTSIDE,
    ids=range(len(OUTSIDE)),
)
def test_a_path_that_leads_out_is_refused_everywhere(
    alice: Folder, tmp_path: Path, path: str
) -> None:
    before = tree(tmp_path)
    for attempt in [
        *attempts(alice, path),
        lambda: alice.create(
            path,
            "x\n",
        ),
    ]:
        with pytest.raises(Refused) as refused:
            attempt()
        said = str(refused.value)
        assert said.isprintable() and len(said) < 400
        assert str(tmp_path) not in said and "secret" not in said
    assert_unmoved(alice, path)
    assert tree(tmp_path) == before


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links that lead out and in."""
    root = tmp_path_factory.mktemp("house").resolve()
    for name in ("alice", "bob"):
        lay(
            root / name,
            {"profile.md": f"secret of {name}", "facts/tea.md": "Oolong."},
        )
    os.symlink("../bob", root / "alice/out")
    os.symlink("facts", root / "alice/in")
    return root


PARTS = [
    "..",
    ".",
    "",
    "facts",
    "tea.md",
    "bob",
    "out",
    "in",
    "\0",
    "a\\b",
]


@settings(deadline=None, max_examples=200)
@given(
    st.text()
    | st.lists(
        st.sampled_from(PARTS),
        max_size=6,
    ).map("/".join)
)
@example("out/profile.md")
@example("in/tea.md")
def test_any_text_stays_inside_or_is_refused(house: Path, path: str) -> None:
    folder = Folder(str(house / "alice"), "alice")
    with contextlib.suppress(FilememError):
        where = folder.absolute(path)
        assert where == os.path.realpath(where)
        assert where.startswith(f"{house}/alice/") and "/." not in where
    with contextlib.suppress(NotFound, Refused):
        assert b"secret of bob" not in folder.read(path)


@pytest.mark.parametrize(
    (
        "link",
        "target",
        "path",
    ),
    [
        (
            "facts/link.md",
            "../../bob/profile.md",
            "facts/link.md",
        ),
        (
            "facts/dangling.md",
            "../../bob/new.md",
            "facts/dangling.md",
        ),
        (
            "out",
            "../bob",
            "out/profile.md",
        ),
        (
            "out",
            ".",
            "out/facts/tea.md",
        ),
        (
            "archive",
            "../bob",
            "archive/profile.md",
        ),
    ],
)
def test_no_link_is_followed(
    alice: Folder, tmp_path: Path, link: str, target: str, path: str
) -> None:
    os.symlink(target, tmp_path / "alice" / link)
    before = tree(tmp_path)
    for attempt in attempts(alice, path):
        with pytest.raises(Refused):
            attempt()
    assert_unmoved(alice, path)
    after = tree(tmp_path)
    assert before.items() <= after.items()
    assert {after[one] for one in after.keys() - before.keys()} <= {None}
    assert alice.paths() == ["facts/tea.md", "profile.md"]
    assert link in {
        problem.path for problem in overview.problems(alice, dt.date(2026, 11, 20))
    }


def test_a_user_whose_folder_is_a_link_is_refused(
    alice: Folder, tmp_path: Path
) -> None:
    os.symlink("bob", tmp_path / "carol")
    (tmp_path / "dave").write_text("a file")
    store = Store(tmp_path)
    for name in ("carol", "dave"):
        with pytest.raises(
            Refused,
            match=f"{name} cannot be a user",
        ):
            store.user(name)
    assert store.users() == ["alice", "alice2", "bob"]


def test_a_store_reached_by_a_link_works_and_no_message_shows_where_it_lies(
    alice: Folder, tmp_path: Path
) -> None:
    os.symlink(tmp_path, tmp_path / "elsewhere")
    folder = Folder(
        str(tmp_path / "elsewhere" / "alice"),
        "alice",
    )
    assert folder.read("facts/tea.md") == b"Oolong.\n"
    os.mkfifo(tmp_path / "alice/fifo.md")
    with pytest.raises(
        Refused,
        match=r"^fifo\.md is not a regular file; put one in",
    ):
        folder.read("fifo.md")


# -- names ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        b"\xff\xe9.md",
        b"new\nline.md",
        b"back\\slash.md",
        "\u202edm.evil.md".encode(),
    ],
)
def test_a_name_that_cannot_be_shown_is_reported_and_harms_nothing(
    alice: Folder, tmp_path: Path, name: bytes
) -> None:
    place = os.fsencode(tmp_path / "alice")
    with open(
        os.path.join(place, b"facts", name),
        "wb",
    ) as file:
        file.write(b"x\n")
    os.makedirs(os.path.join(place, name, b"below"))
    assert alice.paths() == ["facts/tea.md", "profile.md"]
    found = overview.problems(alice, dt.date(2026, 11, 20))
    assert len(found) == 2
    for problem in found:
        assert problem.remedy == "rename it" and problem.path.isprintable()
    with pytest.raises(FilememError) as raised:
        alice.locate("facts/" + os.fsdecode(name))
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("written", "asked"),
    [("NFD", "NFC"), ("NFC", "NFD")],
)
def test_a_name_in_another_normal_form_is_the_same_name(
    alice: Folder, tmp_path: Path, written: str, asked: str
) -> None:
    path = f"facts/{unicodedata.normalize(written, 'café-한국어')}.md"
    (tmp_path / "alice" / path).write_text("x\n")
    wanted = unicodedata.normalize(asked, path)
    assert alice.locate(wanted) == path
    alice.move({path: f"archive/{path}"})
    assert alice.locate(wanted) == f"archive/{path}"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a\n",
        " a",
        "filemem.yaml",
        "x" * 201,
        "\u202ea",
        "\udcff",
    ],
)
def test_bad_user_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        Refused,
        match="cannot be a user's name",
    ) as refused:
        Store(tmp_path).user(name)
    assert escape_controls(str(refused.value)) == str(refused.value)
