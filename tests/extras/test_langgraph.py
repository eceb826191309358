"""LangGraph: a store over a user's files answers what the framework's in-memory store does, and more by words."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from filemem import FilememError, Store, User

pytest.importorskip("langgraph", reason="needs filemem[langgraph]")
from langgraph.store.base import (
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from filemem.adapters.langgraph import FileStore, tools

VALUES: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (
        ("docs", "tea"),
        "oolong",
        {"text": "Oolong is half oxidised.", "score": 5, "tags": ["tea", "green"]},
    ),
    (
        ("docs", "tea"),
        "乌龙/..",
        {
            "text": "外婆喜欢乌龙茶。",
            "score": 4.5,
            "from": {"city": "Taipei", "year": 2019},
        },
    ),
    (
        ("docs", "rain"),
        "user:1@x.org",
        {"text": "It rains in Braga.\n\n- a lot\n", "score": 1, "tags": []},
    ),
    (
        ("docs", "rain", "v1"),
        "",
        {
            "yes": True,
            "none": None,
            "day": "2026-05-01",
            "number": "5",
            "deep": [{"a": [1]}],
        },
    ),
    (("people",), ".hidden", {"score": 2, "text": "Inês"}),
    (
        ("people", "Bía Ñ", "v1"),
        "con",
        {"a": "yes", "on": "~", "multi": "one\ntwo", "colon": "a: b", "empty": ""},
    ),
]
FILTERS: list[dict[str, Any] | None] = [
    *({"score": one} for one in (5, {"$eq": 5}, {"$ne": 5}, {"$gte": 4.5}, {"$lt": 2})),
    *(None, {"tags": ["tea", "green"]}, {"tags": []}, {"yes": True}, {"absent": None}),
    *({"from": {"city": "Taipei"}}, {"from": {"year": {"$gt": 2018}}}),
    {"score": {"$gt": 1, "$lte": 5}, "text": {"$ne": "Inês"}},
]


ASKED = {"query": "What does my sister breed?"}


def mara(root: Path) -> User:
    return Store(root / "store").user("mara")


def plain(found: Any) -> Any:
    """An answer without its times, or the error's kind; a list of items in the order of their names."""
    if isinstance(found, Exception):
        return type(found)
    if isinstance(found, list) and found and hasattr(found[0], "key"):
        return sorted((plain(one) for one in found), key=str)
    return (found.namespace, found.key, found.value) if hasattr(found, "key") else found


def answer(store: Any, op: Any) -> Any:
    for empty in [
        name for name, items in getattr(store, "_data", {}).items() if not items
    ]:
        del store._data[
            empty
        ]  # it lists a namespace, too, of which only a key was asked for that is not there
    try:
        return plain(store.batch([op])[0])
    except (TypeError, ValueError) as error:
        return plain(error)


def operations() -> list[Any]:
    prefixes: list[tuple[str, ...]] = [
        (),
        ("docs",),
        ("docs", "tea"),
        ("people",),
        ("doc",),
        ("none",),
        ("..",),
    ]
    ops: list[Any] = [GetOp(namespace, key) for namespace, key, _ in VALUES]
    ops += [
        GetOp(("docs",), "oolong"),
        GetOp(("docs", "tea"), "../tea/oolong"),
        GetOp(("..", "store"), "x"),
    ]
    ops += [
        SearchOp(prefix, filter=one, limit=100)
        for prefix in prefixes[:4]
        for one in FILTERS
        if prefix != ()
    ]
    ops += [SearchOp(prefix, limit=100) for prefix in prefixes]
    ops += [
        SearchOp((), filter={"score": {"$in": [1]}}),
        SearchOp(("docs",), filter={"text": {"$gt": 1}}),
    ]
    for path in [("docs",), ("*", "rain"), ("v1",), ("docs", "*", "v1"), ("*",), ()]:
        for kind in ("prefix", "suffix"):
            matched = (MatchCondition(kind, path),)  # type: ignore[arg-type]
            ops += [ListNamespacesOp(matched, depth, 100) for depth in (None, 1, 2)]
    return [
        *ops,
        ListNamespacesOp(limit=2),
        ListNamespacesOp(limit=2, offset=1),
        ListNamespacesOp(None, 1),
    ]


def test_it_answers_as_the_in_memory_store_does(tmp_path: Path) -> None:
    """The same calls on both: gets, filters, prefixes, namespaces; then what is replaced and what is deleted."""
    ours, theirs = FileStore(mara(tmp_path)), InMemoryStore()
    for store in (ours, theirs):
        store.batch([PutOp(*value) for value in VALUES])
    for op in operations():
        assert answer(ours, op) == answer(theirs, op), op
    for store in (ours, theirs):
        store.put(("docs", "tea"), "oolong", {"text": "Oolong is tea."})
        store.delete(("docs", "tea"), "乌龙/..")
        store.delete(("docs", "tea"), "never was")
        once, again = (PutOp(("people",), "twice", {"n": number}) for number in (1, 2))
        store.batch([once, GetOp(("people",), "twice"), again])
    for op in operations():
        assert answer(ours, op) == answer(theirs, op), op
    assert ours.get(("people",), "twice").value == {"n": 2}  # type: ignore[union-attr]
    for namespace in [(), ("a.b",), ("",), ("langgraph",)]:
        told = set()
        for store in (ours, theirs):
            with pytest.raises(ValueError) as error:
                store.put(namespace, "key", {"a": 1})
            told.add(str(error.value))
        assert len(told) == 1


def test_words_find_the_memory_and_an_editor_changes_it(tmp_path: Path) -> None:
    """A query ranks by words, English and Chinese, within the namespace; a file is plain YAML, and an edit counts at once."""
    user = mara(tmp_path)
    store = FileStore(user)
    for namespace, key, value in VALUES:
        store.put(namespace, key, value)
    found = store.search(("docs",), query="How oxidised is oolong?", limit=1)
    assert [(one.key, one.score is not None) for one in found] == [("oolong", True)]
    assert (
        store.search(("docs",), query="外婆喜欢什么茶？", limit=1)[0].key == "乌龙/.."
    )
    assert store.search(("people",), query="oxidised oolong") == []
    assert store.search((), query="oolong", filter={"score": 5})[0].key == "oolong"
    place = Path(user.folder.root) / "store/docs/tea/oolong.yaml"
    assert place.read_text().splitlines()[1] == "text: Oolong is half oxidised."
    place.write_text("text: Oolong is mended.\n")
    item = store.get(("docs", "tea"), "oolong")
    assert item and item.value == {"text": "Oolong is mended."}
    place.write_text("text: [broken\n")
    item = store.get(("docs", "tea"), "oolong")
    assert item and item.value == {"text": "text: [broken\n"}
    assert (
        user.search_files("How much rain in Braga?")[0].path
        == "store/docs/rain/user%3a1%40x%2eorg.yaml"
    )


def test_no_name_leads_out_and_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    user = mara(tmp_path)
    store = FileStore(user)
    for (
        name
    ) in "../../x|/etc/passwd|..|.|a\0b|\\|~|%2e%2e|e\u0301|\u00e9|x.tmp|A|a".split(
        "|"
    ):
        store.batch(
            [
                PutOp((name,), name, {"name": name}),
                PutOp((name, name), name, {"name": name}),
            ]
        )
    for name in ("../../x", "%2e%2e", "e\u0301", "\u00e9", "A"):
        found = store.batch([GetOp((name,), name)])[0]
        assert found.value == {"name": name}  # type: ignore[union-attr]
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["mara"]
    circle: dict[str, Any] = {}
    circle["itself"] = circle
    for value in ({"a": object()}, {1: "a"}, circle, {"a": (1, 2)}):
        with pytest.raises(FilememError, match="is not written"):
            store.put(("docs",), "bad", value)
    assert store.get(("docs",), "bad") is None
    with pytest.raises(FilememError, match="too long for"):
        store.put(("docs",), "k" * 300, {"a": 1})


def test_the_four_tools_are_tools_of_langchain(tmp_path: Path) -> None:
    user = mara(tmp_path)
    user.remember("Mara drinks oolong.")
    found = {tool.name: tool for tool in tools(user)}
    assert list(found) == ["grep", "search_files", "open", "close"]
    assert "drinks oolong" in found["search_files"].invoke(
        {"query": "What does Mara drink?"}
    )
    assert "drinks oolong" in asyncio.run(
        found["grep"].ainvoke({"pattern": "oolong", "context": 1})
    )
    assert found["grep"].invoke({}).startswith("Error: ")


def test_a_search_leaves_out_the_thread_that_it_is_called_in(tmp_path: Path) -> None:
    user = mara(tmp_path)
    user.add_conversation(
        [{"role": "user", "content": "My sister breeds alpacas."}], id="one"
    )
    search = next(tool for tool in tools(user) if tool.name == "search_files")
    for thread, finds in (("one", False), ("two", True), ("one", False)):
        where: Any = {"configurable": {"thread_id": thread}}
        for answer in (
            search.invoke(ASKED, where),
            asyncio.run(search.ainvoke(ASKED, where)),
        ):
            assert ("breeds alpacas" in answer) is finds
    assert "breeds alpacas" in search.invoke(ASKED)
