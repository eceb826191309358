"""What would go when somebody says "forget that …": every memory and turn with all the telling words of a short request,
in whatever form, what was made of these turns, and the request's own turn; never what merely shares a common word."""

from pathlib import Path

import pytest

from filemem import Store
from filemem.files.folder import Folder
from filemem.forgetting import deletion

TALK = "sessions/2026/2026-11-18-0900-a-drawer.md"
SAID = """\
- **mara** 09:00: My passport is in the blue drawer of the desk.
- **assistant** 09:00: Noted: your passport is in the blue drawer.
- **mara** 09:01: The drawer sticks, by the way. I painted it blue.
- **mara** 09:02: I take 50 mg of sertraline since May.
- **mara** 09:03: 婆婆又开始催生了，好烦。
- **mara** 09:04: 婆婆今天做了饺子。
- **mara** 09:05: 我的护照放在蓝色抽屉里。
- **mara** 2026-11-19 00:06: I put the passports into the blue drawer.
- **mara** 09:07: forget that my passport is in the blue drawer
- **mara** 09:08: 忘掉婆婆催生的事
- **mara** 09:09: 室友把我从群里删了，我一晚没睡。
- **mara** 09:10: 室友在群里发了红包，大家都抢。
"""


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    user = Store(tmp_path / "store").user("mara").folder
    user.create(TALK, SAID)
    fact = f"---\nsource: {TALK}:1\n---\n\n- **mara**: My passport is in the blue drawer of the desk.\n"
    user.create("facts/2026/2026-11-18-my-passport-is-in-the-blue-drawer.md", fact)
    user.create("facts/2026/2026-11-18-from-the-same-turn.md", f"---\nsource: {TALK}:4\n---\n\nIs better since May.\n")
    user.create("archive/facts/2026/2026-05-18-pills.md", "Mara takes sertraline.\n")
    return user


@pytest.mark.parametrize(
    ("words", "lines", "files"),
    [
        ("my passport is in the blue drawer", {1, 2, 8, 9}, {"my-passport-is-in-the-blue-drawer"}),
        ("where my passport lies, the blue drawer", {1, 2, 8, 9}, {"my-passport-is-in-the-blue-drawer"}),
        ("the sertraline", {4}, {"pills", "from-the-same-turn"}),
        ("婆婆催生", {5, 10}, set()),
        ("我护照放在蓝色抽屉里", {7}, set()),
        ("室友删我", {11}, set()),
        ("it", set(), set()),
        ("what I said about the weather", set(), set()),
    ],
)
def test_all_the_telling_words_and_what_was_made_of_it(
    mara: Folder, words: str, lines: set[int], files: set[str]
) -> None:
    before = {path: mara.read(path) for path in mara.paths()}
    found = deletion.mentions(mara, words)
    assert {item.line for item in found.items if item.path == TALK} == lines
    assert {path.rpartition("/")[2][11:-3] for path in found.whole} == files
    assert {path: mara.read(path) for path in mara.paths()} == before


def test_a_name_in_a_language_without_spaces_is_not_found_by_half_of_it(mara: Folder) -> None:
    assert [item.line for item in deletion.mentions(mara, "催生").items] == [5, 10]
    assert deletion.mentions(mara, "催婚").items == []
