"""The sections of the profile, by their headings, and the program's own block."""

import re
from collections.abc import Iterable

SECTIONS = {  # of the profile, with their headings in the file
    "who": ("Who this is", "基本情况"),
    "health": ("Health", "健康"),
    "home": ("Home", "住处"),
    "work": ("Work", "工作"),
    "talk": ("How to talk", "怎么说话"),
    "family": ("Family", "家人"),
    "likes": ("Likes", "喜好"),
}
BEGIN = "<!-- filemem -->"
END = "<!-- /filemem -->"
"""What stands around the program's block of the profile."""
_REST = rf".*?^{END}[^\S\n]*\n?|.*^- [^\n]*-->[^\S\n]*\n?|"
BLOCK = re.compile(rf"^{BEGIN}\s*?$(?:{_REST})", re.M | re.S)
"""Up to its mark or, where a person has deleted that, its last line about a memory."""
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*$")


def own_text(body: str) -> str:
    """Return what a person wrote in the profile, outside the program's block."""
    return BLOCK.sub("", body).strip()


def under(lines: Iterable[str], name: str) -> list[str]:
    """The lines below the heading of a section, up to the next heading."""
    found, inside = list[str](), False
    for said in lines:
        match = HEADING.match(said)
        if match:
            inside = is_of(match[1], SECTIONS[name])
        elif inside and said.strip() not in (BEGIN, END):
            found.append(said)
    return found


def is_of(title: str, names: tuple[str, str]) -> bool:
    """Tell whether this is the heading of a section with these names."""
    return title.casefold().startswith(tuple(name.casefold() for name in names))


def section_of(title: str) -> str:
    """Name the section that a heading is of, as the program writes it; else ''."""
    for name, titles in SECTIONS.items():
        if title in titles:
            return name
    return ""
