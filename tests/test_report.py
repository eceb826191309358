"""A report is one page that needs nothing else, shows the profile, what holds, what happened and what faded, any text as text;
the same files and day give the same page; and nothing but an earlier report is ever overwritten."""

import base64
import datetime as dt
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from filemem import Store
from filemem.cli import cli
from filemem.errors import FilememError
from filemem.files import journal
from filemem.files.folder import Folder
from filemem.jobs import maintenance
from filemem.overview import check, report, status
from filemem.overview.report import element
from filemem.text.plain import escape_controls

SAMPLE = Path(__file__).parents[1] / "memory_store"
STYLE = (Path(report.__file__).parent / "report.css").read_text(encoding="utf-8")
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


class Page(HTMLParser):
    """A page, read; fails where it is not well-formed. `rows` are the tables' by caption, `texts` all that is text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.style = ""
        self.rows: dict[str, list[list[str]]] = {}
        self.captions: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), attrs
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self.captions.append("")
        elif tag == "tr":
            self.rows.setdefault(self.captions[-1], []).append([])
        elif tag in ("td", "th"):
            self.rows[self.captions[-1]][-1].append("")
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            self.style += data
            return
        self.texts.append(data)
        if "caption" in self._open:
            self.captions[-1] += data
        elif "td" in self._open or "tr" in self._open:
            self.rows[self.captions[-1]][-1][-1] += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def named(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag in tags]

    def table(self, beginning: str) -> list[list[str]]:
        """The rows under a caption that begins so, without the heads."""
        return next(rows[1:] for caption, rows in self.rows.items() if caption.startswith(beginning))


def write(user: Folder, path: str, text: str = "A fact.\n") -> str:
    where = Path(user.root, path)
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_text(text, encoding="utf-8")
    return path


def text_of(user: Folder, at: dt.datetime = AT) -> str:
    return report.page(user, at)[0]


def shown(user: Folder, at: dt.datetime = AT) -> Page:
    return Page(text_of(user, at))


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    return Store(tmp_path / "store").user("ann").folder


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    """The person of the sample store, in a copy of it."""
    shutil.copytree(SAMPLE, tmp_path / "memory_store", ignore=shutil.ignore_patterns(".filemem"))
    return Store(tmp_path / "memory_store").user("mara").folder


def busy(user: Folder) -> None:
    """Memories of every kind, swept, compacted and brought back."""
    places = "Porto Bergen Coimbra Faro Braga Aveiro Sintra Lisbon Kyoto Oslo".split()
    things = "kettle tuba bridge robe tablet quilt sardine gauge spreadsheet lorry".split()
    for month, (place, thing) in enumerate(zip(places, things, strict=True), 1):
        write(
            user,
            f"facts/2026/2026-{month:02}-03-likes-{month}.md",
            f"---\nimportance: 1\n---\n\nSaw the {thing} of [[Inês]].\n",
        )
        said = f"- **Ann** 09:30: I bought a {thing} in [[{place}]] with [[Duarte]] for {month}0 euros.\n"
        said += f"- **Bob** 09:31: And how was {place}?\n- **Ann** 09:32: Wet. The {thing} is green and {month} feet long.\n"
        said += f"- **Bob** 09:33: {'That sounds like a long and happy day, all in all, I would say. ' * 6}\n"
        write(user, f"sessions/2026/2026-{month:02}-05-0930-talk.md", said)
    write(user, "facts/2026/2026-02-01-nuts.md", "---\npinned: true\n---\n\nAllergic to nuts.\n")
    write(user, "archive/facts/2025/2025-02-01-old.md", "By hand.\n")
    write(user, "notes.md", "No date.\n")
    maintenance.compact(user, dt.datetime(2026, 6, 2, 3), None)
    maintenance.sweep(user, dt.datetime(2026, 6, 9, 3))
    maintenance.restore(user, ["facts/2026/2026-03-03-likes-3.md"], dt.datetime(2026, 11, 1, 9))


# -- structure ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whose", ["empty", "mara", "busy"])
def test_a_page_is_well_formed_and_needs_nothing_else(whose: str, user: Folder, mara: Folder) -> None:
    """No script, nothing loaded from anywhere, links only within the page; and a policy that forbids the rest."""
    Path(user.root).mkdir(parents=True)
    if whose == "busy":
        busy(user)
    found = shown(mara if whose == "mara" else user)
    assert not found.named(
        "script", "link", "img", "image", "iframe", "object", "embed", "use", "form", "base", "style "
    )
    ids = [str(attributes["id"]) for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in found.tags:
        assert not {
            name for name in attributes if name.startswith("on") or name in ("src", "style", "srcset", "action")
        }
        assert str(attributes.get("href", "#timeline")).removeprefix("#") in ids
        assert str(attributes.get("aria-labelledby", "timeline")) in ids
    assert not re.search(r"url\(|@import|@font-face|expression|//", found.style)
    digest = base64.b64encode(hashlib.sha256(found.style.encode()).digest()).decode()
    policy = {str(meta.get("http-equiv")): meta["content"] for meta in found.named("meta") if "http-equiv" in meta}
    assert policy == {"Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{digest}'"}


def test_a_page_can_be_heard_as_well_as_seen(user: Folder) -> None:
    """Language, headings in order, a name for every picture, captions and heads for every table."""
    busy(user)
    write(user, "profile.md", "# Ann\n\n## Home\n\n- Porto.\n")
    found = shown(user)
    assert found.named("html") == [{"lang": "en"}]
    levels = [tag for tag, _ in found.tags if re.fullmatch("h[1-6]", tag)]
    assert [tag for tag in levels if tag != "h3"] == ["h1", *["h2"] * 5]
    assert levels.index("h3") > levels.index("h2")
    assert [(picture["role"], picture["aria-labelledby"]) for picture in found.named("svg")] == [("img", "curves")]
    assert len(found.named("table")) == len([caption for caption in found.captions if caption]) >= 3
    assert all(head.get("scope") == "col" for head in found.named("th"))


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.2."""
    full = "".join(2 * digit for digit in colour) if len(colour) == 3 else colour
    parts = [int(full[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def palettes() -> list[dict[str, str]]:
    """The colours by name: light, dark, on paper."""
    return [dict(re.findall(r"--(\w+): #([0-9a-f]+);", block)) for block in STYLE.split(":root")[1:]]


def test_contrast_suffices_in_light_and_dark_and_on_paper() -> None:
    """4.5 for text and 3 for what is drawn, as WCAG 2.2 wants it (1.4.3, 1.4.11)."""
    assert len(palettes()) == 3
    for palette in palettes():
        paper = luminance(palette["paper"])
        for name, least in (("ink", 4.5), ("soft", 4.5), ("accent", 4.5), ("past", 3.0)):
            low, high = sorted((luminance(palette[name]), paper))
            assert (high + 0.05) / (low + 0.05) >= least, (palette, name)


# -- text is text ------------------------------------------------------------------------------------------------


@given(st.text())
def test_any_text_comes_back_as_text(said: str) -> None:
    """In an element and in an attribute, but for what no page may hold, and for what is spelt out."""
    found = Page(str(element("p", said, title=said)))
    expected = re.sub("[\ufdd0-\ufdef]|[^\0-\ufffd\U00010000-\U0010ffff]", "\ufffd", escape_controls(said))
    expected = "".join("\ufffd" if ord(c) & 0xFFFE == 0xFFFE else c for c in expected)
    assert "".join(found.texts) == expected
    assert found.tags == [("p", {"title": expected})]


def hostile_store(user: Folder, texts: list[str]) -> None:
    """Each text as a body, a title, the name of a link, a value that is a problem, a kind and a file's name where one can be."""
    for number, text in enumerate(texts):
        line = " ".join(text.split())
        day = f"2026-11-{number + 1:02}"
        write(
            user,
            f"facts/2026/{day}-a.md",
            f"---\nkind: event\n---\n{line} and [[{line.replace(']]', '')}]] and [[Porto]].\n",
        )
        write(user, f"sessions/2026/{day}-0930-a.md", f"---\ntitle: {json.dumps(line)}\n---\n- **Ann** 09:30: Hello.\n")
        write(user, f"lessons/2026/{day}-a.md", f"---\nimportance: {json.dumps(line)}\n---\n\n{line}\n")
        name = re.sub(r"[/\\\0-\x1f\x7f-\x9f]", "", line)
        write(user, f"{name}/{day}-{name}.md", f"---\npinned: true\n---\n{line}\n")
        write(user, f"summaries/2026/{day}-s.md", f"- {line} (facts/2026/{day}-a.md:1)\n")
    journal.note_recalls(user, ["facts/2026/2026-11-01-a.md"], journal.ARCHIVED, AT)
    log = Path(user.bookkeeping(journal.RECALLS))
    log.write_bytes(log.read_bytes() + b"<script>x</script>\tarchived\tfacts/2026/2026-11-02-a.md\n")


def test_hostile_text_changes_nothing_but_text(tmp_path: Path) -> None:
    """The page has the tags and attributes' names that the same memories have with harmless words."""
    outlines = []
    for number, texts in enumerate((HOSTILE, [f"plain {n}" for n in range(len(HOSTILE))])):
        user = Store(tmp_path / str(number)).user("ann").folder
        hostile_store(user, texts)
        found = shown(user)
        outlines.append({(tag, tuple(attributes)) for tag, attributes in found.tags})
        assert not found.named("script", "img", "i", "b ")
        assert len(found.named("style")) == 1
    assert outlines[0] == outlines[1]


def test_hostile_text_is_shown_as_it_is_written(user: Folder) -> None:
    hostile_store(user, HOSTILE)
    text = text_of(user)
    said = "".join(Page(text).texts)
    for line in HOSTILE[:7]:
        assert line in said
        assert "<" not in line or line not in text
    assert "\\x1b[31mred\\x1b[0m and \\x07 and \\x9b31m" in said
    assert "a\\u202eevil\\u2066right\\u2069 \\u200f" in said
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\ufdd0]", text)


# -- the same for the same ---------------------------------------------------------------------------------------


def test_the_same_files_and_day_give_the_same_page(tmp_path: Path, user: Folder) -> None:
    """With the index or without it, at any hour, and in a copy whose files were written in another order."""
    busy(user)
    hostile_store(user, HOSTILE[-3:])
    first = text_of(user)
    assert text_of(Store(user.store).user("ann").folder, AT.replace(hour=17, minute=5)) == first
    shutil.rmtree(user.bookkeeping("index"))
    assert text_of(Store(user.store).user("ann").folder) == first
    copy = Store(tmp_path / "copy").user("ann").folder
    files = (path for path in Path(user.root).rglob("*") if path.is_file() and ".filemem" not in path.parts)
    for path in sorted(files, reverse=True):
        write(copy, path.relative_to(user.root).as_posix(), path.read_text(encoding="utf-8"))
    os.makedirs(copy.bookkeeping(""))
    for log in ("recalls.log", "compacted.log"):
        shutil.copy(user.bookkeeping(log), copy.bookkeeping(log))
    assert text_of(copy) == first
    assert text_of(user, dt.datetime(2026, 12, 20)) != first


# -- what it says ------------------------------------------------------------------------------------------------


def run(user: Folder, *args: str) -> Result:
    given = ["--store", user.store, "--user", user.name, "--today", "2026-11-20"]
    unset = dict.fromkeys(name for name in os.environ if name.startswith("FILEMEM_"))
    return CliRunner().invoke(cli, [*given, *args], env=unset, standalone_mode=False)


@pytest.mark.parametrize("whose", ["mara", "busy"])
def test_the_figures_are_those_of_status_list_and_check(whose: str, user: Folder, mara: Folder) -> None:
    if whose == "busy":
        busy(user)
    who = mara if whose == "mara" else user
    figures = shown(who).texts
    listed = [json.loads(line) for line in run(who, "list", "--json").output.splitlines()]
    for name, count in (
        ("live", sum(not row["archived"] for row in listed)),
        ("archived", sum(row["archived"] for row in listed)),
        ("fade within 30 days", len(json.loads(run(who, "status", "--json").output)["fading"])),
        ("problems in the files", len(check.problems(who))),
    ):
        assert figures[figures.index(name) + 1] == f"{count:,}"


def test_the_profile_stands_as_it_is_written(mara: Folder) -> None:
    """Headings, items and paragraphs, without the brackets of links and the marks of what a line rests on."""
    path = Path(mara.root, "profile.md")
    path.write_text(path.read_text() + "\nOne more.\n\n- Likes figs. <!-- facts/2026/2026-01-01-figs.md -->\n")
    said = shown(mara).texts
    assert "How to talk to her" in said
    assert "One sister, Inês, a night nurse in Coimbra." in said
    assert said.index("One more.") < said.index("Likes figs.")


def test_what_holds_stands_under_what_it_is_about(user: Folder) -> None:
    """Every live fact and lesson that is not superseded, over or an event, once, with its days and its owner."""
    write(user, "facts/2026/2026-05-01-a.md", "---\ntags: [boats]\nvalid_from: 2026-04-01\n---\nHas a [[Dory]].\n")
    write(user, "facts/2026/2026-05-02-b.md", "---\nvalid_until: 2026-12-24\n---\n\n- **Ann**: I work as a nurse.\n")
    write(user, "facts/2026/2026-05-03-c.md", "---\ntags: health\n---\nAllergic to figs.\n")
    write(user, "lessons/2026/2026-05-04-d.md", "Answer in rhyme.\n")
    write(user, "facts/2026/2026-05-05-over.md", "---\nvalid_until: 2026-11-19\n---\nIs on holiday.\n")
    write(user, "facts/2026/2026-05-06-old.md", "---\nsuperseded_by: facts/2026/2026-05-03-c.md\n---\nEats figs.\n")
    write(user, "facts/2026/2026-05-07-event.md", "---\nkind: event\n---\nSaw a whale.\n")
    found = shown(user)
    topics = {
        caption: rows[1:] for caption, rows in found.rows.items() if rows[0] == ["Memory", "Since", "Until", "Where"]
    }
    assert topics == {
        "health": [["Allergic to figs.", "2026-05-03", "", "facts/2026/2026-05-03-c.md:4"]],
        "Other": [["Ann: I work as a nurse.", "2026-05-02", "2026-12-24", "facts/2026/2026-05-02-b.md:5"]],
        "How to talk": [["Answer in rhyme.", "2026-05-04", "", "lessons/2026/2026-05-04-d.md:1"]],
        "boats": [["Has a Dory.", "2026-04-01", "", "facts/2026/2026-05-01-a.md:5"]],
    }
    happened = [row[2] for row in found.table("Events")]
    assert happened == ["Saw a whale.", "Eats figs.", "Is on holiday.", "Ann: I work as a nurse.", "Has a Dory."]


def test_what_faded_says_why_and_what_fades_next_says_when(user: Folder) -> None:
    busy(user)
    write(user, "archive/facts/2025/2025-03-01-c.md", "---\nsuperseded_by: facts/2026/2026-02-01-nuts.md\n---\nWas.\n")
    found = shown(user)
    rows = {row[3]: row[1:3] for row in found.table("In the archive")}
    assert set(rows) == {path for path in user.paths() if path.startswith("archive/")}
    assert rows["archive/facts/2026/2026-01-03-likes-1.md"] == ["2026-06-09", "not recalled for long"]
    session = rows["archive/sessions/2026/2026-01-05-0930-talk.md"]
    assert session == ["2026-06-02", "summarised in summaries/2026/2026-01-conversations.md"]
    assert rows["archive/facts/2025/2025-02-01-old.md"] == ["", "put there by hand"]
    assert rows["archive/facts/2025/2025-03-01-c.md"] == ["", "superseded by facts/2026/2026-02-01-nuts.md"]
    coming = status.status(user, AT).fading
    assert coming
    rows = found.table("What fades next")[: len(coming)]
    assert [(row[2], row[3].rpartition(":")[0]) for row in rows] == [(str(day), path) for day, path in coming]
    assert [row[0] for row in rows] == [str(place) for place in range(1, len(rows) + 1)]


def test_the_curves_are_those_of_what_fades_next(user: Folder) -> None:
    """From what is retained today down to the threshold, each to its own day."""
    busy(user)
    found = shown(user)
    drawn = [
        [tuple(map(float, point.split(","))) for point in str(one["points"]).split()] for one in found.named("polyline")
    ]
    assert len(drawn) == min(report.DRAWN, len(found.table("What fades next"))) > 0
    for points in drawn:
        assert points[0][0] == 0 and points == sorted(points)
    ends = [points[-1] for points in drawn]
    assert [x for x, _ in ends] == sorted(x for x, _ in ends) and {y for x, y in ends if x} <= {144.0}


def test_a_fact_stands_by_the_section_of_the_profile_or_the_name_that_it_shares(user: Folder) -> None:
    write(user, "profile.md", "# Ann\n\n## Home\n\n- Porto. <!-- facts/2026/2026-05-01-a.md -->\n")
    write(user, "facts/2026/2026-05-01-a.md", "Lives in Porto.\n")
    write(user, "facts/2026/2026-05-02-b.md", "[[Inês]] lives in [[Coimbra]].\n")
    write(user, "facts/2026/2026-05-03-c.md", "[[Inês]] is a nurse.\n")
    write(user, "facts/2026/2026-05-04-d.md", "Sails a [[Dory]].\n")
    found = shown(user)
    assert [row[0] for row in found.table("Home")] == ["Lives in Porto."]
    assert [row[0] for row in found.table("Inês")] == ["Inês is a nurse.", "Inês lives in Coimbra."]
    assert [row[0] for row in found.table("Other")] == ["Sails a Dory."]


def test_a_page_on_many_memories_is_no_longer_than_on_some(user: Folder) -> None:
    for n in range(1500):
        day = dt.date(2023, 1, 1) + dt.timedelta(n % 1400)
        kind = "kind: event\n" * (n % 2)
        write(user, f"facts/{day.year}/{day}-{n}.md", f"---\n{kind}importance: {n % 13}\n---\nNumber {n} of it.\n")
    text = text_of(user)
    assert len(text) < 150_000
    said = " ".join(Page(text).texts)
    assert f"And {750 - report.FACTS:,} more; filemem list" in said
    assert f"And {750 - report.EVENTS:,} more; filemem timeline lists all." in said
    assert "more; filemem status lists all." in said


# -- the command -------------------------------------------------------------------------------------------------


def refused(result: Result) -> str:
    assert isinstance(result.exception, FilememError), result.output
    return str(result.exception)


def test_the_command_writes_the_page_for_its_owner_only(mara: Folder, tmp_path: Path) -> None:
    where = tmp_path / "report.html"
    assert run(mara, "report", "-o", str(where)).output == f"Wrote {where}: 24 memories.\n"
    assert where.read_text(encoding="utf-8") == text_of(mara)
    assert where.stat().st_mode & 0o777 == 0o600
    old = where.stat().st_ino
    assert run(mara, "report", "-o", str(where)).exit_code == 0
    assert where.stat().st_ino != old, "written anew beside it, then renamed"
    assert sorted(os.listdir(tmp_path)) == ["memory_store", "report.html"]


def test_nothing_but_a_report_is_overwritten_without_a_word(mara: Folder, tmp_path: Path) -> None:
    where = tmp_path / "notes.html"
    where.write_text("<!doctype html><p>Mine.")
    link = tmp_path / "link.html"
    link.symlink_to(where)
    for name in (where, link):
        assert "is not a report of filemem's; name another file, or overwrite it with -f" in refused(
            run(mara, "report", "-o", str(name))
        )
    assert where.read_text() == "<!doctype html><p>Mine."
    assert run(mara, "report", "-f", "-o", str(where)).exit_code == 0
    assert report.is_our_page(where.read_text(encoding="utf-8"))


def test_a_report_never_becomes_a_memory(mara: Folder, tmp_path: Path) -> None:
    before = mara.paths()
    for place in ("report.html", "facts/report.html", ".filemem/report.html"):
        assert "is among the memories" in refused(run(mara, "report", "-f", "-o", os.path.join(mara.root, place)))
    assert "is a folder" in refused(run(mara, "report", "-o", str(tmp_path)))
    assert "does not exist" in refused(run(mara, "report", "-o", str(tmp_path / "no/report.html")))
    assert mara.paths() == before


# -- in a browser ------------------------------------------------------------------------------------------------

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --hide-scrollbars"
).split()


def browse(program: str, folder: Path, *args: str) -> str:
    profile = folder / "browser"
    command = [program, *FLAGS, f"--user-data-dir={profile}", *args]
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, cwd=folder)
    finally:
        shutil.rmtree(profile, ignore_errors=True)
    return done.stdout.decode(errors="replace")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Chromium that starts; without one the tests that look are left out."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.skip("no Chromium to look with")
    folder = tmp_path_factory.mktemp("blank")
    (folder / "a.html").write_text("<p>It starts.")
    if "It starts." not in browse(program, folder, "--dump-dom", (folder / "a.html").as_uri()):
        pytest.skip(f"{program} does not start here")
    return program


def pixels(png: bytes) -> Iterator[tuple[int, int, int]]:
    """The colours of a PNG of 8 bits a channel, row by row (PNG 1.2, section 6 on filters)."""
    width, height, _, colour = struct.unpack(">IIBB", png[16:26])
    size = {2: 3, 6: 4}[colour]
    place, packed = 8, b""
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            packed += png[place + 8 : place + 8 + length]
        place += length + 12
    data, long = zlib.decompress(packed), width * size
    above = bytearray(long)
    for row in range(height):
        start = row * (long + 1)
        line = bytearray(data[start + 1 : start + 1 + long])
        kind = data[start]
        for n in range(long if kind else 0):
            left, over, corner = (line[n - size], above[n], above[n - size]) if n >= size else (0, above[n], 0)
            guess = left + over - corner
            paeth = min((left, over, corner), key=lambda value: abs(guess - value))
            line[n] = (line[n] + (0, left, over, (left + over) // 2, paeth)[kind]) & 255
        yield from zip(line[0::size], line[1::size], line[2::size], strict=True)
        above = line


@pytest.mark.parametrize(("scheme", "setting", "palette"), [("light", 1, 0), ("dark", 0, 1)])
def test_a_browser_paints_it_in_light_and_dark(
    scheme: str, setting: int, palette: int, browser: str, user: Folder, tmp_path: Path
) -> None:
    """Paper and ink of the scheme, bars in the accent's colour and in the archive's."""
    busy(user)
    where = tmp_path / "report.html"
    where.write_text(text_of(user), encoding="utf-8")
    shot = tmp_path / "shot.png"
    how = [f"--blink-settings=preferredColorScheme={setting}", "--window-size=640,1280", f"--screenshot={shot}"]
    browse(browser, tmp_path, *how, where.as_uri())
    counts: dict[tuple[int, int, int], int] = {}
    for colour in pixels(shot.read_bytes()):
        counts[colour] = counts.get(colour, 0) + 1
    colours = {name: tuple(bytes.fromhex(value)) for name, value in palettes()[palette].items()}
    seen = {name: sum(n for colour, n in counts.items() if colour == value) for name, value in colours.items()}
    assert seen["paper"] > 0.7 * sum(counts.values()), scheme
    assert seen["ink"] > 300
    assert seen["accent"] > 1000
    assert seen["past"] > 1000


def test_a_browser_reads_every_text_and_runs_nothing(browser: str, user: Folder, tmp_path: Path) -> None:
    """What stands in its document is what was written: same texts, no element that a memory put there."""
    hostile_store(user, HOSTILE)
    text = text_of(user)
    where = tmp_path / "report.html"
    where.write_text(text, encoding="utf-8")
    written = Page(text)
    read = Page(browse(browser, tmp_path, "--dump-dom", where.as_uri()))
    assert [tag for tag, _ in read.tags] == [tag for tag, _ in written.tags]
    assert "".join("".join(read.texts).split()) == "".join("".join(written.texts).split())
