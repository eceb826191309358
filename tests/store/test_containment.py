"""Nothing outside a user's folder is ever read or written, and what is not a regular file is refused in one clear sentence."""

import contextlib
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
from filemem.store import files
from filemem.store.folder import Folder
from filemem.store.problems import strays
from filemem.text.plain import escape_controls

OUTSIDE = [
    *"|/|/etc/passwd|..|../bob/profile.md|../alice2/profile.md|facts/../../bob/profile.md|a/../../b".split(
        "|"
    ),
    *"facts/../profile.md|./../bob/profile.md|facts//tea.md|facts/./tea.md|facts/|..\\bob\\profile.md".split(
        "|"
    ),
    *"C:\\Windows\\win.ini|facts/tea.md\0.png|facts/tea.md\n|facts/\x1b[31mtea.md|facts/\u202etea.md".split(
        "|"
    ),
    *"facts/\udcff.md|.filemem/lock|.filemem/recalls.log|facts/.hidden.md|.git/config".split(
        "|"
    ),
    "archive/../../bob/profile.md",
    *("x" * 256, "茶" * 86 + ".md", "/".join(["facts"] * 800)),
]


@pytest.fixture
def alice(tmp_path: Path) -> Folder:
    """Alice beside Bob, whose folder's name begins like nothing of hers, and Alice2, whose does."""
    for name in ("alice", "alice2", "bob"):
        Folder(str(tmp_path / name), name).create("profile.md", f"secret of {name}\n")
    folder = Folder(str(tmp_path / "alice"), "alice")
    folder.create("facts/tea.md", "Oolong.\n")
    return folder


def attempts(folder: Folder, path: str) -> list[Callable[[], object]]:
    """Everything that one can do with a path."""
    return [
        lambda: folder.absolute(path),
        lambda: folder.locate(path),
        lambda: folder.read(path),
        lambda: folder.memory(path),
        lambda: folder.create(path, "x\n"),
        lambda: folder.append(path, "x\n"),
        lambda: folder.edit(path, lambda old: b"x"),
    ]


def tree(root: Path) -> dict[Path, bytes | None]:
    """Everything there is, a file with its bytes."""
    return {
        one: one.read_bytes() if stat.S_ISREG(one.lstat().st_mode) else None
        for one in root.rglob("*")
    }


@pytest.mark.parametrize("path", OUTSIDE, ids=range(len(OUTSIDE)))
def test_a_path_that_leads_out_is_refused_everywhere(
    alice: Folder, tmp_path: Path, path: str
) -> None:
    before = tree(tmp_path)
    for attempt in attempts(alice, path):
        with pytest.raises(Refused) as refused:
            attempt()
        said = str(refused.value)
        assert said.isprintable() and len(said) < 400
        assert str(tmp_path) not in said and "secret" not in said
    assert {*alice.move({path: "facts/here.md", "facts/tea.md": path})} == {
        path,
        "facts/tea.md",
    }
    assert tree(tmp_path) == before


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links that lead out and in."""
    root = tmp_path_factory.mktemp("house").resolve()
    for name in ("alice", "bob"):
        lay(root / name, {"profile.md": f"secret of {name}", "facts/tea.md": "Oolong."})
    os.symlink("../bob", root / "alice/out")
    os.symlink("facts", root / "alice/in")
    return root


@settings(deadline=None, max_examples=200)
@given(
    st.text()
    | st.lists(
        st.sampled_from(
            [
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
                "~",
                "$HOME",
                "*",
                "茶",
            ]
        ),
        max_size=6,
    ).map("/".join)
)
@example("out/profile.md")
@example("in/tea.md")
def test_any_text_stays_inside_or_is_refused(house: Path, path: str) -> None:
    folder = Folder(str(house / "alice"), "alice")
    with contextlib.suppress(FilememError):
        where = folder.absolute(path)
        assert where == os.path.normpath(where) == os.path.realpath(where)
        assert where.startswith(str(house / "alice") + os.sep)
        assert not any(
            part.startswith(".")
            for part in os.path.relpath(where, folder.root).split(os.sep)
        )
    with contextlib.suppress(NotFound, Refused):
        assert b"secret of bob" not in folder.read(path)


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        *(
            ("facts/link.md", there, "facts/link.md")
            for there in ("../../bob/profile.md", "/etc/passwd", "link.md")
        ),
        *(
            ("facts/in.md", there, "facts/in.md")
            for there in ("tea.md", "../.filemem/lock")
        ),
        *(
            ("facts/dangling.md", there, "facts/dangling.md")
            for there in ("nowhere.md", "../../bob/new.md")
        ),
        *(
            ("out", "../bob", "out/profile.md"),
            ("out", "..", "out/bob/profile.md"),
            ("out", ".", "out/facts/tea.md"),
        ),
        ("archive", "../bob", "archive/profile.md"),
    ],
)
def test_no_link_is_followed(
    alice: Folder, tmp_path: Path, link: str, target: str, path: str
) -> None:
    os.symlink(target, tmp_path / "alice" / link)
    before = tree(tmp_path)
    listed = alice.paths()
    for attempt in (a for n, a in enumerate(attempts(alice, path)) if n != 4):
        with pytest.raises(Refused):
            attempt()
    assert {*alice.move({path: "facts/here.md", "facts/tea.md": path})} == {
        path,
        "facts/tea.md",
    }
    after = tree(tmp_path)
    assert before.items() <= after.items() and {
        after[one] for one in after.keys() - before.keys()
    } <= {None}
    assert alice.paths() == listed == sorted({"profile.md", "facts/tea.md"} - {link})
    assert [problem.path for problem in strays(alice)] == [link]
    assert any(problem.path == link for problem in overview.problems(alice))


def test_a_user_whose_folder_is_a_link_is_refused(
    alice: Folder, tmp_path: Path
) -> None:
    os.symlink("bob", tmp_path / "carol")
    (tmp_path / "dave").write_text("a file")
    os.symlink("nowhere", tmp_path / "erin")
    store = Store(tmp_path)
    for name in ("carol", "dave", "erin"):
        with pytest.raises(Refused, match=f"{name} cannot be a user"):
            store.user(name)
    assert store.users() == ["alice", "alice2", "bob"]


# -- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        b"\xff\xe9.md",
        b"new\nline.md",
        b"\x1b[31mred.md",
        b"back\\slash.md",
        "\u202edm.evil.md".encode(),
    ],
)
def test_a_name_that_cannot_be_shown_is_reported_and_harms_nothing(
    alice: Folder, tmp_path: Path, name: bytes
) -> None:
    for folder in (b"facts", b"odd"):
        place = os.path.join(os.fsencode(tmp_path), b"alice", folder)
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, name), "wb") as file:
            file.write(b"x\n")
    os.makedirs(os.path.join(os.fsencode(tmp_path), b"alice", name, b"below"))
    assert alice.paths() == ["facts/tea.md", "profile.md"]
    found = [
        problem
        for problem in overview.problems(alice)
        if "its name holds" in problem.what
    ]
    assert len(found) == 3
    for problem in found:
        assert problem.remedy == "rename it" and problem.path.isprintable()
        problem.path.encode()
    with pytest.raises(FilememError) as raised:
        alice.locate("facts/" + os.fsdecode(name))
    str(raised.value).encode()


@pytest.mark.parametrize("name", ["café-im-hof", "Ångström", "한국어"])
def test_a_name_in_another_normal_form_is_the_same_name(
    alice: Folder, tmp_path: Path, name: str
) -> None:
    for written, asked in (("NFD", "NFC"), ("NFC", "NFD")):
        path = f"facts/{unicodedata.normalize(written, name)}-{written}.md"
        (tmp_path / "alice" / path).write_text("x\n")
        assert alice.locate(unicodedata.normalize(asked, path)) == path
        alice.move({path: f"archive/{path}"})
        assert alice.locate(unicodedata.normalize(asked, path)) == f"archive/{path}"
        assert alice.read(alice.locate(path)) == b"x\n"


BAD_NAMES = [
    *"|a\n|a\0|a\x1b| a|filemem.yaml".split("|"),
    *("x" * 201, "茶" * 67, "\u202ea", "a\u200b", "\udcff"),
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_user_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused, match="cannot be a user's name") as refused:
        Store(tmp_path).user(name)
    assert escape_controls(str(refused.value)) == str(refused.value)


def test_a_store_reached_by_a_link_works(alice: Folder, tmp_path: Path) -> None:
    """The store may lie anywhere; only inside a user's folder are links refused. No message shows where it lies."""
    os.symlink(tmp_path, tmp_path / "elsewhere")
    folder = Folder(str(tmp_path / "elsewhere" / "alice"), "alice")
    assert folder.read("facts/tea.md") == b"Oolong.\n"
    os.mkfifo(tmp_path / "alice/fifo.md")
    with pytest.raises(
        Refused, match=r"^fifo\.md is not a regular file; put one in its place"
    ):
        folder.read("fifo.md")
    assert files.read(folder.absolute("profile.md")) == b"secret of alice\n"
