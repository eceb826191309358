"""A report is one page that needs nothing else, shows the profile, what holds, what happened and what faded, any text as text;
the same files and day give the same page; and nothing but an earlier report is ever overwritten."""

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
from filemem.files.folder import Folder

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

    def table(self, beginning: str) -> list[list[str]]:
        """The rows under a caption that begins so, without the heads."""
        for table in self.root.iter("table"):
            if "".join(table[0].itertext()).startswith(beginning):
                return [
                    ["".join(cell.itertext()) for cell in row]
                    for row in table.iter("tr")
                ][1:]
        raise AssertionError(f"no table {beginning}")


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
    """No script, nothing loaded from anywhere, links only within the page; and a policy that forbids the rest."""
    Path(user.root).mkdir(parents=True)
    if whose == "busy":
        busy(user)
    found = shown(mara if whose == "mara" else user)
    assert not found.named(
        *"script link img image iframe object embed use form base".split()
    )
    ids = [str(attributes["id"]) for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in found.tags:
        assert not {"src", "style", "srcset", "action"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
        assert str(attributes.get("href", "#timeline")).removeprefix("#") in ids
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
def test_the_figures_are_those_of_status_list_and_check(
    whose: str, user: Folder, mara: Folder
) -> None:
    if whose == "busy":
        busy(user)
    who = mara if whose == "mara" else user
    figures = shown(who).texts
    listed = [
        json.loads(line) for line in run(who, "list", "--json").output.splitlines()
    ]
    for name, count in (
        ("live", sum(not row["archived"] for row in listed)),
        ("archived", sum(row["archived"] for row in listed)),
        (
            "fade within 30 days",
            len(json.loads(run(who, "status", "--json").output)["fading"]),
        ),
        ("problems in the files", len(overview.problems(who))),
    ):
        assert figures[figures.index(name) + 1] == f"{count:,}"


def test_what_holds_stands_with_its_days(user: Folder) -> None:
    """Every live fact and lesson that is not superseded, over or an event, once, newest first."""
    write(
        user,
        "profile.md",
        "---\nx: 1\n---\n## Home\n- Likes figs. <!-- facts/2026/figs.md -->\n- -5 °C\n+1 555\n",
    )
    write(
        user,
        "facts/2026/2026-05-01-a.md",
        "---\ntags: [boats]\nvalid_from: 2026-04-01\n---\nHas a [[Dory]].\n",
    )
    write(
        user,
        "facts/2026/2026-05-02-b.md",
        "---\nvalid_until: 2026-12-24\n---\n\n- **Ann**: I work as a nurse.\n",
    )
    write(user, "lessons/2026/2026-05-04-d.md", "Answer in rhyme.\n")
    write(
        user,
        "facts/2026/2026-05-05-over.md",
        "---\nvalid_until: 2026-11-19\n---\nIs on holiday.\n",
    )
    write(
        user,
        "facts/2026/2026-05-06-old.md",
        "---\nsuperseded_by: facts/2026/2026-05-01-a.md\n---\nEats figs.\n",
    )
    write(
        user, "facts/2026/2026-05-07-event.md", "---\nkind: event\n---\nSaw a whale.\n"
    )
    found = shown(user)
    assert (
        "Likes figs.-5 °C+1 555" in "".join(found.texts) and "x: 1" not in found.texts
    )
    assert found.table("Facts") == [
        [
            "Ann: I work as a nurse.",
            "2026-05-02",
            "2026-12-24",
            "facts/2026/2026-05-02-b.md:5",
        ],
        ["Has a Dory.", "2026-04-01", "", "facts/2026/2026-05-01-a.md:5"],
    ]
    assert found.table("How to talk") == [
        ["Answer in rhyme.", "2026-05-04", "", "lessons/2026/2026-05-04-d.md:1"]
    ]
    happened = [row[2] for row in found.table("Events")]
    assert happened == [
        "Saw a whale.",
        "Eats figs.",
        "Is on holiday.",
        "Ann: I work as a nurse.",
        "Has a Dory.",
    ]


def test_what_faded_says_why_and_what_fades_next_says_when(user: Folder) -> None:
    busy(user)
    write(
        user,
        "archive/facts/2025/2025-03-01-c.md",
        "---\nsuperseded_by: facts/2026/2026-02-01-nuts.md\n---\nWas.\n",
    )
    found = shown(user)
    rows = {row[3]: row[1:3] for row in found.table("In the archive")}
    assert set(rows) == {path for path in user.paths() if path.startswith("archive/")}
    assert rows["archive/facts/2026/2026-01-03-likes-1.md"] == [
        "2026-06-09",
        "not recalled for long",
    ]
    session = rows["archive/sessions/2026/2026-01-05-0930-talk.md"]
    assert session == [
        "2026-06-02",
        "summarised in summaries/2026/2026-01-conversations.md",
    ]
    assert rows["archive/facts/2025/2025-02-01-old.md"] == ["", "put there by hand"]
    assert rows["archive/facts/2025/2025-03-01-c.md"] == [
        "",
        "superseded by facts/2026/2026-02-01-nuts.md",
    ]
    coming = overview.status(user, AT).facts["fading"]
    assert coming
    rows = found.table("What fades next")[: len(coming)]
    assert [(row[1], row[2].rpartition(":")[0]) for row in rows] == [
        (str(day), path) for day, path in coming
    ]


def test_the_page_is_written_for_its_owner_only(
    mara: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anew beside it, then renamed; without a name in a temporary folder."""
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
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    where = Path(run(mara, "report").output.removeprefix("Wrote ").partition(": ")[0])
    assert (
        where.read_text(encoding="utf-8") == text_of(mara)
        and where.parent.stat().st_mode & 0o777 == 0o700
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
