"""What hangs together: a model says in a sentence what a cluster of linked names is about, once, and nothing that its lines do
not bear out; and a question about one's family, work or friends is answered by the best of each of its members, without a model.
"""

import datetime as dt
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from scripted_server import ScriptedServer, calls, fail

from filemem import Store, index
from filemem.chat.conversation import Conversation
from filemem.cli import cli
from filemem.files import pending_deletion, running
from filemem.files.folder import Folder
from filemem.forgetting import deletion, erasure
from filemem.models.offline import OfflineModel
from filemem.search import groups, search_files

NOW = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
FACTS = (
    "My sister [[Inês]] is a night nurse in [[Coimbra]].",
    "My uncle Jian sells tea in [[Varziela]].",
    "Jian has a bad knee.",
    "I work at [[Fenwick]] with [[Carol]].",
    "Carol is on leave until May.",
    "我妹妹小芳在杭州上学。",
    "小芳养了一只猫。",
    "Olga sells the best plums.",
)


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    folder = Store(tmp_path).user("mara").folder
    for number, text in enumerate(FACTS, 1):
        folder.create(f"facts/2026/2026-04-0{number}-x.md", f"- **Mara**: {text}\n")
    return folder


def shown(mara: Folder, question: str) -> list[int]:
    """Which of the facts, by number, an answer shows."""
    hits = search_files(index.of(mara), question, today=NOW.date()).hits
    return sorted(int(hit.path[len("facts/2026/2026-04-") + 1]) for hit in hits)


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("What do you know about my family?", [1, 2, 3, 6, 7]),
        ("Tell me about my relatives.", [1, 2, 3, 6, 7]),
        ("你知道我家人的情况吗？", [1, 2, 3, 6, 7]),
        ("what do u know about my work", [4, 5]),
        ("我的同事都有谁？", [4, 5]),
    ],
)
def test_a_question_about_a_group_is_answered_by_each_of_its_members(
    mara: Folder, question: str, facts: list[int]
) -> None:
    """Those whom the memories name as its members, and what is told of them elsewhere; in both languages at once."""
    assert shown(mara, question) == facts


def test_the_best_of_each_comes_before_more_of_one(mara: Folder) -> None:
    for number in range(30):
        mara.create(
            f"facts/2026/2026-05-{number + 1:02}-x.md", f"- **Mara**: Inês swam {number + 2} lengths in the sea.\n"
        )
    found = search_files(index.of(mara), "What do you know about my family?", limit=6, today=NOW.date()).hits
    assert {"2026-04-01", "2026-04-02", "2026-04-06"} <= {hit.path[11:21] for hit in found}


@pytest.mark.parametrize(
    "question",
    [
        "Where does my family live?",
        "What do you know about Inês's family?",
        "What is my job?",
        "我家里有几口人？",
        "family",
    ],
)
def test_a_question_of_something_more_is_about_no_group(question: str) -> None:
    assert groups.asked(question) is None


def test_without_a_model_the_chat_quotes_them(mara: Folder) -> None:
    answer = Conversation(mara, OfflineModel(), lambda: NOW).say("What do you know about my family?")
    for text in ("Inês", "Jian has a bad knee", "小芳养了一只猫"):
        assert text in answer
    assert "plums" not in answer


# -- clusters ------------------------------------------------------------------------------------------------------------

SAID = "Inês, Mara's sister, is a night nurse in Coimbra."


def clusters(mara: Folder, *more: str) -> list[str]:
    given = ["graph", "--clusters", "--store", mara.store, "--user", "mara", *more]
    done = CliRunner().invoke(cli, given, env={"OPENAI_API_KEY": "none"}, standalone_mode=False)
    assert done.exception is None, done.exception
    return done.stdout.splitlines()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    server = ScriptedServer()
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    return server


def test_a_model_is_asked_once_what_clusters_are_about(mara: Folder, endpoint: ScriptedServer) -> None:
    """All of them in one request, of which none is asked again before something of it has changed. Without it what it said is
    shown."""
    invented = {"number": 1, "text": "Carol works at Google."}
    with endpoint as server:
        server.script(calls(("sum_up", {"clusters": [{"number": 2, "text": SAID}, invented]})), fail(400, "no"))
        first = clusters(mara, "--model", "m")
        names = [line for line in first if not line.startswith("  ")]
        assert f"  {SAID}" in first and "Google" not in str(first) and len(names) >= 2
        asked = server.requests[0].body["messages"][1]["content"]
        assert "My sister Inês is a night nurse in Coimbra." in asked and "plums" not in asked
        assert clusters(mara, "--model", "m") == first and len(server.requests) == 1
    assert clusters(mara) == first
    told = json.loads("\n".join(clusters(mara, "--json")))["clusters"]
    assert [one["by"] for one in told if "summary" in one] == ["m"]
    mara.create("facts/2026/2026-06-01-x.md", "- **Mara**: [[Inês]] left [[Coimbra]].\n")
    assert f"  {SAID}" not in clusters(mara)


def test_it_goes_with_what_is_forgotten_or_kept_back(mara: Folder, endpoint: ScriptedServer) -> None:
    with endpoint as server:
        server.script(calls(("sum_up", {"clusters": [{"number": 2, "text": SAID}]})))
        clusters(mara, "--model", "m")
    pending_deletion.hold_back(mara, "sessions/x.md:1", ["facts/2026/2026-04-01-x.md"], NOW)
    assert f"  {SAID}" not in clusters(mara)
    pending_deletion.release(mara, ["facts/2026/2026-04-01-x.md"], NOW)
    assert f"  {SAID}" in clusters(mara)
    erasure.apply(mara, deletion.plan(mara, [deletion.item_at(mara, "facts/2026/2026-04-08-x.md", None)]), NOW)
    assert running.clusters(mara) == {}
