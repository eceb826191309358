"""A number that docs/search.md states is the one in the code: whoever turns a screw tells the reader."""

import importlib
import pkgutil
import re
from pathlib import Path

import filemem
from filemem.search.lookup import REACH

DOCUMENT = (Path(__file__).parents[1] / "docs/search.md").read_text(encoding="utf-8")
ROOMS = (
    "filemem.search",
    "filemem.grep",
    "filemem.index",
    "filemem.tools.answers",
    "filemem.text.terms",
    "filemem.files.passages",
)
IN_WORDS = set(
    "BARE_QUERY_MASS ANOTHER DAY_ALONE DEARER FIRST HALF K1 LARGEST LEAST LIGHT LONGEST_LINE LOOSE MEMORY MOST_HELD NOTES "
    "IS_DERIVED SHARP SLIGHT WINDOWS".split()
)
"""Constants that the document states in words or in other units."""
NUMBER = re.compile(r"(?<![\w.])[−+]?\d[\d,]*(?:\.\d+)?")


def constants() -> dict[str, set[float]]:
    """Every value of a numeric constant of the rooms that the document is about, by its name."""
    found: dict[str, set[float]] = {}
    for module in pkgutil.walk_packages(filemem.__path__, "filemem."):
        if module.name.startswith(ROOMS):
            for name, value in vars(importlib.import_module(module.name)).items():
                if name.isupper() and type(value) in (int, float):
                    found.setdefault(name, set()).add(abs(value))
    return found


def test_the_numbers_of_the_document_are_those_of_the_code() -> None:
    """The last numbers in front of a constant's name are, or hold, its value."""
    known, checked = constants(), 0
    for named in re.finditer(r"`([A-Z][A-Z_0-9]+)`", DOCUMENT):
        before = re.sub(r"`[^`]*`", "", DOCUMENT[max(0, named.start() - 120) : named.start()])
        numbers = [float(text.strip("−+,").replace(",", "")) for text in NUMBER.findall(before)]
        if named[1] in known and named[1] not in IN_WORDS:
            assert known[named[1]] & set(numbers[-2:]), (named[1], known[named[1]], numbers)
            checked += 1
    assert checked > 35


def test_what_a_neighbours_word_counts_is_as_the_document_says() -> None:
    beside, *further = REACH[2::2]
    assert (
        f"{beside:g} from the turn before or after, then {', '.join(map('{:g}'.format, further))} (`REACH`)" in DOCUMENT
    )
