"""A number that docs/search.md states is the one in the code: whoever turns a screw tells the reader."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCUMENT = (Path(__file__).parents[1] / "docs/search.md").read_text(encoding="utf-8")
NUMBER = r"−?\d+(?:\.\d+)?"
STATED = re.compile(rf"`(?P<module>[\w/]+)\.py`|`(?P<name>[A-Z][A-Z_0-9]+|B)`\s+(?P<numbers>{NUMBER}(?:,\s+{NUMBER})*)")


def stated() -> Iterator[tuple[str, str, list[float]]]:
    """The module, name and numbers of every constant in the section on them, each module before its constants."""
    module = ""
    for found in STATED.finditer(DOCUMENT.partition("### Constants\n")[2]):
        if found["module"]:
            module = "filemem." + found["module"].replace("/", ".")
        else:
            yield (
                module,
                found["name"],
                [float(text.replace("−", "-")) for text in re.findall(NUMBER, found["numbers"])],
            )


def numbers(value: object) -> list[float]:
    """The numbers of a constant, of a tuple of tuples as well; a 0 at its end needs no words."""
    if isinstance(value, tuple):
        return [number for one in value for number in numbers(one)]
    return [float(value)] if isinstance(value, (int, float)) else []


@pytest.mark.parametrize("module, name, told", list(stated()))
def test_the_numbers_of_the_document_are_those_of_the_code(module: str, name: str, told: list[float]) -> None:
    """In the module named; of a number all there is, of several those that are told, in their order."""
    value = getattr(importlib.import_module(module), name)
    left = iter(numbers(value))
    assert all(number in left for number in told)
    assert isinstance(value, tuple) or len(told) == 1


def test_what_a_neighbours_word_counts_is_as_the_document_says() -> None:
    """A turn is two half steps away."""
    told = {name: told for _, name, told in stated()}
    assert told["REACH"] == numbers(importlib.import_module("filemem.search.lookup").REACH)[2::2]


def test_every_constant_named_there_has_its_number() -> None:
    """So that none is passed over by the test above."""
    section = DOCUMENT.partition("### Constants\n")[2]
    assert set(re.findall(r"`([A-Z][A-Z_0-9]+|B)`", section)) == {name for _, name, _ in stated()}
    assert len(list(stated())) > 60
