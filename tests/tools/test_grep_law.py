"""Whatever stands in the files, grep finds the lines that Python's `re` finds in them, line by line."""

import re
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import lay

from filemem.store.folder import Folder
from filemem.tools.grep import grep

PATHS = [
    "sessions/2026/2026-05-04-0930-tea.md",
    "archive/sessions/2026/2026-05-03-0930-walk.md",
    "facts/2026/2026-05-04-oolong.md",
    "facts/2026/2026-05-05-address.yaml",
    "notes/Anna.md",
    "profile.md",
]
WORDS = (
    """
a photo of the/image/Image: a/tea/I/Oolong_tea/co-op/it's/09:30/x-1/e\u0301te\u0301/乌龙茶/烏龍/图片/茶k/ıŞİ/ſaw/ﬁne ½/K²/Ünal
\u00adso\u200bft/a\u0301 b/🫖/[/]/**/: /ß/Σς/\uff21\uff22/가다/㍻元/\ufb01/\u2126
""".strip()
    .replace("\n", "/")
    .split("/")
)
WORDS.append("x" * 70)
SPACES = [" ", "  ", "\t", "\xa0", "\u3000", "", "\x0b", "\x85", "\u2028", "\r"]
SHAPES = """
- **Ann** 09:30: {}
- **Ann**: {}
- **Ann**:
- **Ann**{}
- **A: n** 9:30: {}
- **Ann** {}
- **Ünal** 10:00: {}
- **Ann** 09:31: [image: {}] {}
- **Ann** 09:31: {} [photo:{}
- **Ann** 09:32: [picture: {}]
- **Ann** 2026-05-05 00:10: {}
- **Ann**x: {}
{}
  {}
# {}
- {}
[[{}]]
[[{}|the {}]]
  [图片：{}]
[{}](http://a.example/{})
text: {}
{}: [{}, {}]
---
date: 2026-05-04
""".split("\n")


def _texts() -> st.SearchStrategy[str]:
    said = st.lists(st.sampled_from(WORDS + SPACES), max_size=6).map("".join)
    lines = st.builds(str.format, st.sampled_from(SHAPES), said, said, said)
    body = st.lists(lines, min_size=1, max_size=6).map("\n".join)
    fronts = [
        "",
        "---\ndate: 2026-05-04\n---\n",
        "---\ntags: [tea]\n---\n",
        "---\nx: [\n---\n",
        "\ufeff",
    ]
    return st.builds(str.__add__, st.sampled_from(fronts), body)


@st.composite
def _cases(draw: st.DrawFn) -> tuple[dict[str, str], str]:
    """Files, and a pattern cut out of one of their lines, or of two pieces of it."""
    paths = draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=4, unique=True))
    texts = {path: draw(_texts()) for path in paths}
    line = draw(
        st.sampled_from([line for text in texts.values() for line in text.split("\n")])
    )
    start = draw(st.integers(0, len(line)))
    end = draw(st.integers(start, min(len(line), start + 12)))
    cut = re.escape(line[start:end])
    more = draw(st.sampled_from(["", "$", f".*{re.escape(line[end + 1 :][:5])}"]))
    return texts, draw(st.sampled_from(["", "^", "(?i)"])) + cut + more


def _by_re(texts: dict[str, str], pattern: str) -> set[tuple[str, int]]:
    """The lines that match, by `re` alone; case counts where the pattern has a capital letter."""
    capital = any(c.isupper() for c in re.sub(r"\\.", "", pattern))
    regex = re.compile(pattern, re.NOFLAG if capital else re.IGNORECASE)
    return {
        (path, number)
        for path, text in texts.items()
        for number, line in enumerate(
            text.removeprefix("\ufeff").removesuffix("\n").split("\n"), 1
        )
        if text.removeprefix("\ufeff") and regex.search(line.removesuffix("\r"))
    }


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(_cases())
def test_grep_finds_what_re_finds(case: tuple[dict[str, str], str]) -> None:
    """grep may find more only where it matches a turn as the tools show it."""
    texts, pattern = case
    with tempfile.TemporaryDirectory() as root:
        lay(Path(root, "ann"), texts)
        folder = Folder(str(Path(root, "ann")), "ann")
        wanted = _by_re(texts, pattern)
        found = {
            (match.path, match.line)
            for match in grep(folder, pattern, page=10**9).lines
        }
        assert wanted <= found
        for path, line in found - wanted:
            assert re.match(
                r"- \*\*", texts[path].removeprefix("\ufeff").split("\n")[line - 1]
            )
