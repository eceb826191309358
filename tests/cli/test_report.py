"""A report is one page that needs nothing else: who, what holds by topic, what comes, what was talked about, what fades.

Any text stands there as text, and nothing but an earlier report is ever overwritten.
"""

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

from filemem import Store, jobs, overview
from filemem.cli import cli
from filemem.errors import FilememError
from filemem.store.folder import Folder

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
    "\ufffe \ufdd0 \u2028",
]


class Page:
    """A page, read; fails where it is not well-formed. `texts` is all that is text."""

    def __init__(self, text: str) -> None:
        assert "<!--" not in text
        self.root = ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))
        self.tags = [(one.tag, one.attrib) for one in self.root.iter()]
        self.style = "".join(one.text or "" for one in self.root.iter("style"))
        self.texts = [text for text in self.root.itertext() if text != self.style]

    def named(self, *tags: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag in tags]

    def rows(self, title: str) -> list[list[str]]:
        """The rows under a heading: when, what, where."""
        for section in self.root.iter("section"):
            if "".join(section[0].itertext()) == title:
                return [
                    ["".join(cell.itertext()) for cell in item]
                    for item in section.iter("li")
                ]
        raise AssertionError(f"no section {title}")

    def topics(self) -> dict[str, list[str]]:
        """What holds, by its topic."""
        found: dict[str, list[str]] = {}
        for section in self.root.iter("section"):
            if "".join(section[0].itertext()) == "What holds":
                for heading, rows in zip(section[1::2], section[2::2], strict=True):
                    texts = ["".join(item[1].itertext()) for item in rows]
                    found["".join(heading.itertext())] = texts
        return found


def write(user: Folder, path: str, text: str = "A fact.\n") -> str:
    lay(user.root, {path: text})
    return path


def text_of(user: Folder, at: dt.datetime = AT) -> str:
    return overview.page(user, at)[0]


def shown(user: Folder, at: dt.datetime = AT) -> Page:
    return Page(text_of(user, at))


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    return Store(tmp_path / "store").user("ann").folder


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    """The person of the sample store, in a copy of it."""
    return Store(sample(tmp_path / "memory_store")).user("mara").folder


def busy(user: Folder) -> None:
    """Memories of every kind, swept, compacted and brought back."""
    for month, place in enumerate(
        "Porto Bergen Coimbra Faro Braga Aveiro Sintra Lisbon Kyoto Oslo".split(), 1
    ):
        day = f"2026-{month:02}"
        write(
            user,
            f"facts/2026/{day}-03-likes-{month}.md",
            f"---\nimportance: 1\n---\n\nSaw {place}.\n",
        )
        said = f"- **Ann** 09:30: I bought a kettle in [[{place}]] with [[Duarte]] for {month}0 euros.\n"
        said += f"- **Bob** 09:33: {'That sounds like a long and happy day, all in all, I would say. ' * 6}\n"
        write(user, f"sessions/2026/{day}-05-0930-talk.md", said)
    write(
        user,
        "facts/2026/2026-02-01-nuts.md",
        "---\npinned: true\n---\n\nAllergic to nuts.\n",
    )
    write(user, "archive/facts/2025/2025-02-01-old.md", "By hand.\n")
    write(user, "notes.md", "No date.\n")
    jobs.compact(user, dt.datetime(2026, 6, 2, 3))
    jobs.sweep(user, dt.datetime(2026, 6, 9, 3))
    jobs.restore(
        user, dt.datetime(2026, 11, 1, 9), ["facts/2026/2026-03-03-likes-3.md"]
    )


@pytest.mark.parametrize("whose", ["empty", "mara", "busy"])
def test_a_page_is_well_formed_and_needs_nothing_else(
    whose: str, user: Folder, mara: Folder
) -> None:
    """No script, no link, nothing loaded from anywhere; and a policy that forbids the rest."""
    Path(user.root).mkdir(parents=True)
    if whose == "busy":
        busy(user)
    found = shown(mara if whose == "mara" else user)
    assert not found.named(
        *"script link img image iframe object embed use form base".split()
    )
    for _, attributes in found.tags:
        assert not {"src", "style", "srcset", "action"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
        assert "href" not in attributes
    assert not re.search(r"url\(|@import|@font-face|expression|//", found.style)
    digest = base64.b64encode(hashlib.sha256(found.style.encode()).digest()).decode()
    policy = {
        str(meta.get("http-equiv")): meta["content"]
        for meta in found.named("meta")
        if "http-equiv" in meta
    }
    assert policy == {
        "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{digest}'"
    }


def hostile_store(user: Folder, texts: list[str]) -> None:
    """Each text as a body, the name of a link, a title, a value that is a problem, and a file's name where one can be."""
    for number, text in enumerate(texts, 1):
        line, day = " ".join(text.split()), f"2026-11-{number:02}"
        link, name = line.replace("]]", ""), re.sub(r"[/\\\0-\x1f\x7f-\x9f]", "", line)
        write(
            user,
            f"facts/2026/{day}-a.md",
            f"---\nkind: event\n---\n{line} and [[{link}]] and [[Porto]].\n",
        )
        write(
            user,
            f"sessions/2026/{day}-0930-a.md",
            f"---\ntitle: {json.dumps(line)}\n---\n- **Ann** 09:30: Hello.\n",
        )
        write(
            user,
            f"lessons/2026/{day}-a.md",
            f"---\nimportance: {json.dumps(line)}\n---\n\n{line}\n",
        )
        write(user, f"{name}/{day}-{name}.md", f"---\npinned: true\n---\n{line}\n")


def test_hostile_text_changes_nothing_but_text(tmp_path: Path) -> None:
    """The page has the tags and attributes' names that the same memories have with harmless words."""
    outlines = []
    for number, texts in enumerate(
        (HOSTILE, [f"plain {n}" for n in range(len(HOSTILE))])
    ):
        user = Store(tmp_path / str(number)).user("ann").folder
        hostile_store(user, texts)
        found = shown(user)
        outlines.append({(tag, tuple(attributes)) for tag, attributes in found.tags})
    assert outlines[0] == outlines[1]
    text = text_of(Store(tmp_path / "0").user("ann").folder)
    said = "".join(Page(text).texts)
    assert all(
        line in said and ("<" not in line or line not in text) for line in HOSTILE[:7]
    )
    assert (
        "\\x1b[31mred\\x1b[0m and \\x07 and \\x9b31m" in said
        and "a\\u202eevil\\u2066right\\u2069 \\u200f" in said
    )
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\ufdd0]", text
    )


def run(user: Folder, *args: str) -> Result:
    given = ["--store", user.store, "--user", user.name, "--today", "2026-11-20"]
    unset = dict.fromkeys(name for name in os.environ if name.startswith("FILEMEM_"))
    return CliRunner().invoke(cli, [*given, *args], env=unset, standalone_mode=False)


@pytest.mark.parametrize("whose", ["mara", "busy"])
def test_the_figures_are_those_of_list_and_status(
    whose: str, user: Folder, mara: Folder
) -> None:
    if whose == "busy":
        busy(user)
    who = mara if whose == "mara" else user
    found = shown(who)
    listed = [
        json.loads(line)
        for line in run(who, "list", "--json-lines").output.splitlines()
    ]
    archived = sum(row["archived"] for row in listed)
    live = len(listed) - archived
    assert f"{live} live memories, {archived} archived, as of 2026-11-20" in found.texts
    coming = json.loads(run(who, "status", "--json-lines").output)["fading"]
    rows = [[row[0], row[2].rpartition(":")[0]] for row in found.rows("What fades")]
    assert rows[: len(coming)] == coming


def test_what_holds_stands_under_its_topic(user: Folder) -> None:
    """The first tag, else the first link; nothing superseded, over or an event."""
    write(user, "profile.md", "## Home\n- Likes figs. <!-- facts/2026/figs.md -->\n")
    facts = {
        "2026-05-01-a": "---\ntags: [boats]\n---\nHas a [[Dory]].\n",
        "2026-05-02-b": "---\nvalid_until: 2026-12-24\n---\n\nWorks with [[Ann]].\n",
        "2026-05-03-c": "Sings.\n",
        "2026-05-05-over": "---\nvalid_until: 2026-11-19\n---\nIs on holiday.\n",
        "2026-05-06-old": "---\nsuperseded_by: facts/2026/2026-05-01-a.md\n---\nNo.\n",
        "2026-05-07-event": "---\nkind: event\n---\nSaw a whale.\n",
        "2026-05-08-plan": "---\nkind: plan\nday: 2026-12-01\n---\nSails.\n",
    }
    lay(user.root, {f"facts/2026/{name}.md": text for name, text in facts.items()})
    write(user, "lessons/2026/2026-05-04-d.md", "Answer in rhyme.\n")
    write(user, "sessions/2026/2026-05-04-0930-of-tea.md", "- **Ann** 09:30: Hi.\n")
    found = shown(user)
    assert "Likes figs." in found.texts
    assert found.topics() == {
        "How to talk": ["Answer in rhyme."],
        "Ann": ["Works with Ann."],
        "boats": ["Has a Dory."],
        "Other": ["Sings."],
    }
    assert found.rows("What comes") == [
        ["2026-12-01", "Sails.", "facts/2026/2026-05-08-plan.md:5"]
    ]
    assert found.rows("What was talked about") == [
        ["2026-05-04", "of tea", "sessions/2026/2026-05-04-0930-of-tea.md"]
    ]


def test_the_page_is_written_for_its_owner_only(mara: Folder, tmp_path: Path) -> None:
    """Anew beside it, then renamed; without a name in the store's own folder."""
    where = tmp_path / "report.html"
    assert (
        run(mara, "report", "-o", str(where)).output == f"Wrote {where}: 24 memories.\n"
    )
    assert (
        where.read_text(encoding="utf-8") == text_of(mara)
        and where.stat().st_mode & 0o777 == 0o600
    )
    old = where.stat().st_ino
    assert (
        run(mara, "report", "-o", str(where)).exit_code == 0
        and where.stat().st_ino != old
    )
    assert sorted(os.listdir(tmp_path)) == ["memory_store", "report.html"]
    where = Path(run(mara, "report").output.removeprefix("Wrote ").partition(": ")[0])
    assert where.read_text(encoding="utf-8") == text_of(mara) and where.is_relative_to(
        Path(mara.root, ".filemem")
    )


def test_nothing_but_a_report_is_overwritten(mara: Folder, tmp_path: Path) -> None:
    where, link = tmp_path / "notes.html", tmp_path / "link.html"
    where.write_text("<!doctype html><p>Mine.")
    link.symlink_to(where)
    for name in (where, link):
        error = run(mara, "report", "-o", str(name)).exception
        assert isinstance(
            error, FilememError
        ) and "is not a filemem report; name another file" in str(error)
    assert where.read_text() == "<!doctype html><p>Mine."
