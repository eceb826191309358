"""Long passages are scored and shown by their windows; what stands apart lends its words to nothing."""

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem import Store
from filemem.files.memory import LONGEST, WHOLE, windows

_TEXT = st.text(st.sampled_from("ab 。.!?\n茶"), max_size=1500)
_HOUSE = "We looked at the house and talked about every room of it at length. "


@given(_TEXT)
def test_the_windows_of_a_text_make_it_up_and_none_is_long(text: str) -> None:
    found = windows(text)
    assert "".join(text[start:end] for start, end in found) == text
    assert all(end - start <= LONGEST for start, end in found) or (len(found) == 1 and len(text) <= WHOLE)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def said(store: Store, *turns: str) -> None:
    path = Path(store.root, "ann", "sessions", "2026-05-04-house.md")
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(turns) + "\n", encoding="utf-8")


def test_of_a_long_turn_the_best_window_is_shown(store: Store) -> None:
    told = f"{_HOUSE * 8}The roof leaks in the attic. {_HOUSE * 8}A heron sat in the pond. {_HOUSE}"
    said(store, f"- **Bob** 09:30: {told}")
    answer = store.user("ann").tools().call("search_files", {"query": "Where does the roof leak?"})
    assert "The roof leaks in the attic." in answer and "heron" not in answer and len(answer) < 600
    answer = store.user("ann").tools().call("search_files", {"query": "Was there a heron?"})
    assert "A heron sat in the pond." in answer and "roof" not in answer and len(answer) < 600
    [hit] = store.user("ann").search_files("heron", today=dt.date(2026, 5, 5))
    assert hit.cut and "heron" in hit.excerpt
