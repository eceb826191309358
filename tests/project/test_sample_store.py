"""The sample store keeps the design's own rules.

No problem is found, turns are list items, every source is a turn.
"""

import re
import tempfile
from pathlib import Path

from programs import filemem, sample

from filemem import Store
from filemem.store.users import StoreFolder

HERE = tempfile.TemporaryDirectory()
STORE = sample(Path(HERE.name))
MARA = StoreFolder(STORE).folder("mara")
TEXTS = {path: MARA.read(path).decode() for path in MARA.paths()}
TURN = re.compile(r"- \*\*[^*]+\*\* (?:[01]\d|2[0-3]):[0-5]\d: \S")


def test_check_finds_no_problem() -> None:
    """Whoever looks at the sample first sees what is well.

    It is a bundle of the Open Knowledge Format, too.
    """
    assert Store(STORE).user("mara").check() == []
    done = filemem("--store", STORE, "check", "--okf")
    assert done.returncode == 0


def test_sessions_are_turns_and_sources_and_links_lead_somewhere() -> None:
    """A source is a turn; a link names what another memory names, too.

    Nothing has blanks at the end of a line.
    """
    for path, text in TEXTS.items():
        assert not re.search(r"(?m)[\r\t]|[ ]$", text), path
        if "sessions/" in path:
            body = text.split("\n---\n")[-1].strip()
            assert all(
                TURN.match(line) or line[:2] == "  " for line in body.split("\n")
            )
        for place, line in re.findall(r"(sessions/[^\s,()]+\.md):(\d+)", text):
            turn = MARA.memory(MARA.locate(place)).lines[int(line) - 1]
            assert TURN.match(turn), f"{place}:{line}"
        others = "\n".join(text for other, text in TEXTS.items() if other != path)
        for name in re.findall(r"\[\[([^\[\]]+)\]\]", text):
            assert name in others, name


def test_every_kind_of_memory_has_a_sample() -> None:
    """All four kinds, the profile, the archive, a YAML memory, a pinned one.

    One superseded, and Chinese.
    """
    kinds = {"facts", "sessions", "lessons", "summaries", "archive", "profile.md"}
    assert kinds <= {path.split("/")[0] for path in TEXTS}
    everything = "\n".join([*TEXTS, *TEXTS.values()])
    for sign in (
        ".yaml\n",
        "pinned: true",
        "aliases:",
        "superseded_by: facts/",
        "外婆",
    ):
        assert sign in everything, sign
