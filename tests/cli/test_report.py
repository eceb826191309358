"""A report is one page that needs nothing else: who, what holds, what comes, what was
talked about, what fades. Any text stands there as text, and nothing is overwritten."""

import base64
import datetime as dt
import hashlib
import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from programs import lay, sample

from filemem import overview
from filemem.cli import cli
from filemem.errors import FilememError
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

AT = dt.datetime(2026, 11, 20)
HOSTILE = [
    "<script>alert(1)</script>",
    "</style><style>*{display:none}",
    "</title></svg><img src=http://evil.example/x onerror=alert(1)>",
    '" onload="alert(1)" x=\'',
    "&lt;b&gt; &amp;amp; &#60;i&#62;",
    "]]><!-- --> <![CDATA[",
    "javascript:alert(1)",
    "\x1b[31mred\x1b[0m and \x07 and \x9b31m",
    "a\u202eevil\u2066right\u2069 \u200f",
    "外婆最喜欢惠明茶",
    "\u2028",
]


class Page:
    """A page, read; fails where it is not well-formed. `texts` is all that is text."""

    def __init__(self, user: Folder) -> None:
        self.source = overview.page(user, AT)
        self.root = ElementTree.fromstring(self.source)
        self.tags = [(one.tag, one.attrib) for one in self.root.iter()]
        self.outline = {(tag, tuple(attributes)) for tag, attributes in self.tags}
        self.style = "".join(one.text or "" for one in self.root.iter("style"))
        self.texts = [text for text in self.root.itertext() if text != self.style]

    def rows(self, title: str) -> list[list[str]]:
        """The rows under a heading: when, what, where."""
        [section] = [one for one in self.root.iter("section") if one[0].text == title]
        return [
            ["".join(cell.itertext()) for cell in item] for item in section.iter("li")
        ]


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    user = StoreFolder(tmp_path / "store").folder("ann")
    user.make()
    return user


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    """The person of the sample store, in a copy of it."""
    return StoreFolder(sample(tmp_path / "memory_store")).folder("mara")


def run(user: Folder, *args: str) -> Result:
    given = ["--store", user.store, "--user", user.name, "--today", "2026-11-20"]
    unset = dict.fromkeys(name for name in os.environ if name.startswith("FILEMEM_"))
    return CliRunner().invoke(cli, [*given, *args], env=unset, standalone_mode=False)


@pytest.mark.parametrize("whose", ["user", "mara"])
def test_a_page_is_well_formed_and_needs_nothing_else(
    whose: str, request: pytest.FixtureRequest
) -> None:
    """No script, no link, nothing loaded; and a policy that forbids the rest."""
    found = Page(request.getfixturevalue(whose))
    banned = set("script link img image iframe object embed use form base a".split())
    assert banned.isdisjoint(tag for tag, _ in found.tags)
    for _, attributes in found.tags:
        assert not {"src", "style", "srcset", "action", "href"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"url\(|@import|@font-face|expression|//", found.style)
    digest = base64.b64encode(hashlib.sha256(found.style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    metas = [attributes for tag, attributes in found.tags if tag == "meta"]
    assert {"http-equiv": "Content-Security-Policy", "content": policy} in metas


def hostile_store(user: Folder, texts: list[str]) -> None:
    """Each text as a body, the name of a link, a title, and a file's name."""
    for number, text in enumerate(texts, 1):
        line = " ".join(text.split())
        day = f"2026-11-{number:02}"
        link = line.replace("]]", "")
        name = re.sub(r"[/\\\0-\x1f\x7f-\x9f]", "", line)
        title = json.dumps(line)
        files = {
            f"facts/2026/{day}-a.md": f"{line} and [[{link}]] and [[Porto]].\n",
            f"sessions/2026/{day}-0930-a.md": f"---\ntitle: {title}\n---\n{line}\n",
            f"lessons/2026/{day}-a.md": f"{line}\n",
            f"{name}/{day}-{name}.md": f"---\nkind: event\n---\n{line}\n",
        }
        lay(user.root, files)


def test_hostile_text_changes_nothing_but_text(tmp_path: Path) -> None:
    """The page has the tags and attributes that harmless words have."""
    plain = [f"plain {number}" for number in range(len(HOSTILE))]
    pages = []
    for texts in (HOSTILE, plain):
        user = StoreFolder(tmp_path / texts[0][:5]).folder("ann")
        hostile_store(user, texts)
        pages.append(Page(user))
    page, other = pages
    assert page.outline == other.outline
    said = "".join(page.texts)
    for line in HOSTILE[:7]:
        assert line in said
        assert "<" not in line or line not in page.source
    assert "\\x1b[31mred\\x1b[0m and \\x07 and \\x9b31m" in said
    controls = "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
    assert not re.search(f"[{controls}]", page.source)


def test_the_figures_are_those_of_list_and_status(mara: Folder) -> None:
    lay(mara.root, {"facts/2026-05-02-x.md": "---\nkind: event\n---\nRowed.\n"})
    found = Page(mara)
    listed = mara.paths()
    archived = sum(path.startswith("archive/") for path in listed)
    counts = f"{len(listed) - archived} live memories, {archived} archived"
    assert f"{counts}, as of 2026-11-20" in found.texts
    status = run(mara, "status", "--json")
    coming = json.loads(status.output)[0]["fading"]
    rows = [[row[0], row[2].rpartition(":")[0]] for row in found.rows("What fades")]
    assert coming and rows[: len(coming)] == coming


def test_what_holds_what_comes_and_what_was_talked_about(user: Folder) -> None:
    """What holds is nothing superseded, over or an event."""
    lay(
        user.root,
        {
            "profile.md": "## Home\n- Likes figs. <!-- facts/2026/figs.md -->\n",
            "facts/2026-05-01-a.md": "Has a [[Dory]].\n",
            "facts/2026-04-01-a.md": "The [[Dory]] is blue.\n",
            "facts/2026-05-02-b.md": "---\nvalid_until: 2026-12-24\n---\nWorks.\n",
            "facts/2026-05-05-over.md": "---\nvalid_until: 2026-11-19\n---\nAway.\n",
            "facts/2026-05-06-old.md": "---\nsuperseded_by: facts/x.md\n---\nNo.\n",
            "facts/2026-05-07-event.md": "---\nkind: event\n---\nSaw a whale.\n",
            "facts/2026-05-08.md": "---\nkind: plan\nday: 2026-12-01\n---\nSails.\n",
            "facts/2026-05-09.md": "---\nkind: plan\nday: 2026-11-18\n"
            "valid_until: 2026-11-22\n---\nRows.\n",
            "lessons/2026-05-04-d.md": "Answer in rhyme.\n",
            "notes/2026-05-10.md": "Moved on 1 May 2026.\n\nOpera on 5 May 2027.\n",
            "sessions/2026-05-04-0930-of-tea.md": "- **Ann** 09:30: Hi.\n"
            "- **Ann** 2026-05-06 09:30: Ho.\n",
        },
    )
    found = Page(user)
    assert "Likes figs." in found.texts
    holds = [row[min(1, len(row) - 1)] for row in found.rows("What holds")]
    topic = ["Dory", "Has a Dory.", "The Dory is blue."]
    assert holds == [*topic, "Other", "Works.", "Answer in rhyme."]
    assert found.rows("What comes") == [
        ["2026-11-18", "Rows.", "facts/2026-05-09.md:6"],
        ["2026-12-01", "Sails.", "facts/2026-05-08.md:5"],
        ["2027-05-05", "Opera on 5 May 2027.", "notes/2026-05-10.md:3"],
    ]
    assert found.rows("What was talked about") == [
        ["2026-05-06", "of tea", "sessions/2026-05-04-0930-of-tea.md"],
        ["2026-05-04", "of tea", "sessions/2026-05-04-0930-of-tea.md"],
    ]


def test_the_page_is_written_for_its_owner_only(mara: Folder, tmp_path: Path) -> None:
    """Over nothing that is there, nor where it would be a memory; without a name in the
    store's own folder."""
    where = tmp_path / "report.html"
    assert run(mara, "report", "-o", str(where)).output == f"Wrote {where}.\n"
    assert where.read_text(encoding="utf-8") == Page(mara).source
    assert where.stat().st_mode & 0o777 == 0o600
    where.write_text("Mine.")
    again = run(mara, "report", "-o", str(where))
    assert isinstance(again.exception, FileExistsError)
    memory = run(mara, "report", "-o", str(Path(mara.root, "page.md")))
    assert isinstance(memory.exception, FilememError)
    assert where.read_text() == "Mine."
    said = run(mara, "report").output
    where = Path(said.removeprefix("Wrote ").removesuffix(".\n"))
    assert where.exists()
    assert where.is_relative_to(Path(mara.root, ".filemem"))
