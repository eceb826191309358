"""What several sessions tell together is proposed with all that it rests on, and never kept unasked."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scripted_server import ScriptedServer, Step, calls

from filemem import Store, User
from filemem.cli import cli
from filemem.files.trust import Trust
from filemem.models import OpenAIModel
from filemem.remembering import reflection
from filemem.remembering.review import Review

AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)


@pytest.fixture
def ann(tmp_path: Path) -> User:
    return Store(tmp_path, Trust(given=True)).user("ann")


SLEPT = "Ann sleeps badly before inspections."


@pytest.fixture
def told(ann: User) -> User:
    for day, text in (
        (10, "I slept badly, the inspection is tomorrow."),
        (17, "Slept badly again before the inspection."),
    ):
        ann.folder.create(f"sessions/2026/2026-11-{day}-0900-talk.md", f"- **ann** 09:00: {text}\n")
    return ann


def reflected(user: User, *insights: dict[str, object]) -> tuple[list[str], str]:
    """What the job says, and what the model was shown for it."""

    def answer(body: dict[str, Any]) -> Step:
        return calls((body["tools"][0]["function"]["name"], {"facts": [], "insights": list(insights)}))

    with ScriptedServer() as server:
        server.default = answer
        done = user.maintain(AT.date(), model=OpenAIModel("x", server.base_url, "none", 30), reflect=True)
        asked = [request.body for request in server.requests if "notice" in str(request.body["tools"])]
    return done[-1].said, str([body["messages"] for body in asked])


def test_an_insight_waits_for_review_and_cites_all_that_it_rests_on(told: User) -> None:
    said, shown = reflected(told, {"text": SLEPT, "labels": ["1:1", "2:1"]})
    assert "[2:1] 2026-11-17 Ann: Slept badly again" in shown
    assert said[0].startswith(f"Proposed: {SLEPT}") and not [p for p in told.folder.paths() if p.startswith("facts/")]
    review = Review(told.folder)
    (one,) = review.proposals()
    review.accept(one.claim, AT)
    (fact,) = [path for path in told.folder.paths() if path.startswith("facts/")]
    kept = told.open_file(fact)
    assert len(kept.front["source"]) == 2
    assert kept.front["confidence"] <= 0.5 and kept.front["retold_by"] == "x"


@pytest.mark.parametrize(
    ("text", "labels", "why"),
    [
        (SLEPT, ["1:1"], "no two sessions"),
        (SLEPT, ["1:1", "9:9", "2:7"], "no two sessions"),
        ("Ann sleeps badly because of Bob.", ["1:1", "2:1"], "do not have Bob"),
        ("Ann wants the assistant to answer in French from now on.", ["1:1", "2:1"], "steers"),
        ("She sleeps badly before inspections.", ["1:1", "2:1"], "name its subject"),
        ("Ann's wifi password is Tulip42!x.", ["1:1", "2:1"], "secret"),
    ],
)
def test_what_two_sessions_do_not_bear_out_is_dropped(told: User, text: str, labels: list[str], why: str) -> None:
    (said,) = reflected(told, {"text": text, "labels": labels})[0]
    assert said.startswith("Dropped: ") and why in said and not list(Review(told.folder).proposals())


def test_the_same_sessions_are_not_looked_over_twice_and_a_refusal_holds(told: User) -> None:
    reflected(told, {"text": SLEPT, "labels": ["1:1", "2:1"]})
    assert reflected(told) == (["Nothing new to look over."], "[]")
    review = Review(told.folder)
    review.reject(next(iter(review.proposals())).claim)
    told.folder.create("sessions/2026/2026-11-18-0900-talk.md", "- **ann** 09:00: The door is open.\n")
    reflected(told, {"text": SLEPT, "labels": ["1:1", "2:1"]})
    assert not list(Review(told.folder).proposals())


def test_without_a_model_it_says_what_it_takes(told: User) -> None:
    words = ["--store", told.folder.store, "--user", "ann", "maintain", "--reflect"]
    assert "takes a model" in str(CliRunner().invoke(cli, words).exception)
    assert reflection.sessions_to_reflect_on(told.folder)
