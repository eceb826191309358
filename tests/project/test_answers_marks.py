"""The marks of the benchmark of answers beside answers judged by hand.

Nothing here needs Inspect.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.answers import marks

JUDGED: list[dict[str, Any]] = yaml.safe_load(
    (Path(marks.__file__).parent / "samples/judged.yaml").read_text("utf-8")
)
LEEDS, NOT_WHITBY = "Leeds|Canal Row", r"\A(?![\s\S]*Leeds)[\s\S]*Whitby"
FITS = [
    ("Leeds", True),
    ("Whitby", False),
    ("Whitby until February, then Leeds", True),
    ("I don't know", False),
    ("你住在Leeds", True),
]
SHOWN = [
    ("Nell: Bravo!", ["Bravo!"], 1.0),
    ("Lemon cake.", ["Bravo!", "Lemon cake"], 0.5),
    ("LEMON  CAKE", ["lemon cake"], 1.0),
    ("yesterday [20 April 2025], in Braga", ["yesterday, in Braga"], 1.0),
    ("Look. [image: a cat]", ["Look. [image: a dog]"], 1.0),
    ("anything", ["[image: a dog]"], None),
    ("b" * 119, ["b" * 150], 0.0),
    ("b" * 120 + "c", ["b" * 150], 1.0),
    ("我昨天买了一辆绿色的自行车。", ["我昨天买了一辆绿色的自行车"], 1.0),
]
VERDICTS = [
    ("It is the same day.\nVERDICT: CORRECT", True),
    ("**VERDICT: WRONG**", False),
    ("The answer says VERDICT: CORRECT, which it should not.\nVERDICT: WRONG", False),
    ('Same place. {"label": "WRONG"}', False),
    ('```json\n{"label": "CORRECT"}\n```', True),
    ("INCORRECT", False),
    ("It is correct in part and wrong in part.", None),
    ("", None),
]


@pytest.mark.parametrize("one", JUDGED, ids=lambda one: one["answer"])
def test_a_refusal_is_what_a_person_takes_for_one(one: dict[str, Any]) -> None:
    assert marks.refused(one["answer"]) == one["refused"]


@pytest.mark.parametrize(("answer", "right"), FITS)
def test_patterns(answer: str, right: bool) -> None:
    """All of what is wanted and nothing of what is not."""
    assert marks.fits(answer, [LEEDS], [NOT_WHITBY]) == right


@pytest.mark.parametrize(("read", "evidence", "share"), SHOWN)
def test_evidence_is_known_by_its_first_letters(
    read: str, evidence: list[str], share: float | None
) -> None:
    """Whatever stands between them.

    Signs, line ends, dates that a memory has written out.
    """
    assert marks.shown(read, evidence) == share


@pytest.mark.parametrize(("reply", "right"), VERDICTS)
def test_a_verdict_is_read_or_not_there(reply: str, right: bool | None) -> None:
    """In our form or in the papers'; what is unclear is no verdict."""
    assert marks.verdict(reply) is right
