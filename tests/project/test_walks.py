"""The three walks of docs/code.md are true: a real run comes by their stops, in order."""

import datetime as dt
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from forgetting import use_weekly
from reader import Reader, note

import filemem
from filemem import Store, User, jobs

PACKAGE = str(Path(filemem.__file__).parent)
DOCUMENT = Path(PACKAGE).parent / "docs/code.md"
LONGEST = 15  # stops
TOLD = dt.datetime(2026, 5, 8, 9, 30)
LATER = dt.datetime(2028, 3, 7, 9, 0)


def stops(walk: str) -> list[str]:
    """Return the stops of a walk, as the document names them."""
    text = DOCUMENT.read_text("utf-8").partition(f"<!-- walk: {walk} -->")[2]
    section = re.split(r"<!-- walk|^## ", text, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"^\d+\. `([\w.]+)`", section, re.MULTILINE)


def entered(walk: Callable[[], Any]) -> list[str]:
    """Return the functions of the package that a call enters, in order, repeats too."""
    found: list[str] = []

    def note_call(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            module = code.co_filename[len(PACKAGE) + 1 : -len(".py")].replace("/", ".")
            found.append(f"{module}.{code.co_qualname}")

    sys.setprofile(note_call)
    try:
        walk()
    finally:
        sys.setprofile(None)
    return found


def message(user: User) -> None:
    """Say something, and have a model read it."""
    home = note("Nora lives in [[Ghent]].", "live in Ghent", section="home")
    user.conversation().say("I live in Ghent.")
    user.consolidate(Reader(home), at=LATER)


def question(user: User) -> None:
    """Ask as an agent does."""
    user.tools().call("search_files", {"query": "Where was the regatta?"})


def sweep(user: User) -> None:
    """Archive what has faded."""
    jobs.sweep(user._folder, LATER)


@pytest.mark.parametrize("walk", [message, question, sweep])
def test_a_run_comes_by_the_stops_of_its_walk_in_order(
    tmp_path: Path, walk: Callable[[User], None]
) -> None:
    """Other calls may lie between two stops; there are at most LONGEST of them."""
    with Store(tmp_path) as store:
        user = store.user("nora")
        user.remember("The regatta was loud.", importance=3, today=TOLD.date())
        use_weekly(user._folder, TOLD.date(), LATER.date())
        way = iter(entered(lambda: walk(user)))
    named = stops(walk.__name__)
    assert 5 < len(named) <= LONGEST
    assert [stop for stop in named if stop not in way] == []
