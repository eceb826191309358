"""LangGraph: a `BaseStore` over one user's files. A namespace is a folder, a key a file, a value a YAML memory.

`search` with a query is filemem's, best first; all else is answered as the framework's in-memory store does, which does the
filtering and matching here too. A value that a person changes in an editor is the new value.
"""

import asyncio
import contextlib
import datetime as dt
import json
import os
import unicodedata
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_to_bytes

import yaml
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from filemem.adapters.shared import MemoryFunction, added, functions
from filemem.api import User
from filemem.errors import FilememError, NotFound
from filemem.files import front, safe

FOLDER = "store"
MOST = 200  # passages of a search; as many more as it takes are looked for where a page lies behind them
_MADE = "# created "  # begins a file, as YAML's comment
_BYTES = ("utf-8", "surrogatepass")
Key = tuple[tuple[str, ...], str]


class FileStore(BaseStore):
    """The store of one user, in `store/` of the user's folder."""

    def __init__(self, user: User) -> None:
        self._user = user
        self._folder = user.folder

    def batch(self, ops: Iterable[Any]) -> list[Result]:
        """The answers to operations, in their order; what they write, of each key the last, is written after all were read."""
        answers: list[Result] = []
        puts: dict[Key, PutOp] = {}
        for op in ops:
            answer: Result = None
            match op:
                case GetOp():
                    answer = self._item(_path(op.namespace, op.key))
                case SearchOp():
                    answer = self._search(op)
                case ListNamespacesOp():
                    answer = _in_memory(
                        {_key(path): {} for path in self._paths(_path(()))}
                    ).batch([op])[0]
                case PutOp():
                    puts[op.namespace, op.key] = op
                case _:
                    raise ValueError(f"Unknown operation type: {type(op)}")
            answers.append(answer)
        for op in puts.values():
            self._put(op)
        return answers

    async def abatch(self, ops: Iterable[Any]) -> list[Result]:
        """The same, without holding up the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _put(self, op: PutOp) -> None:
        path = _path(op.namespace, op.key)
        text = "" if op.value is None else _written(op.value, path)
        with self._folder.locked():
            try:
                place = self._folder.locate(path)
            except NotFound:
                if text:
                    self._folder.create(
                        path, f"{_MADE}{dt.datetime.now(dt.UTC).isoformat()}\n{text}"
                    )
                return
            if place != path:
                self._folder.move({place: path})
            if text:
                self._folder.edit(
                    path,
                    lambda data: (
                        f"{_made(data.decode('utf-8', 'replace'))}{text}".encode()
                    ),
                )
            else:
                safe.delete(self._folder.absolute(path))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = _path(op.namespace_prefix)
        scores = self._scores(op, prefix) if op.query else {}
        paths = self._paths(prefix)
        found = [path for path in scores if path in set(paths)] if op.query else paths
        if not op.filter:
            found = found[op.offset : op.offset + op.limit]
        items = [
            (item, scores.get(path)) for path in found if (item := self._item(path))
        ]
        if op.filter:
            kept = _in_memory(
                {(item.namespace, item.key): item.value for item, _ in items}
            )
            fit = {
                (one.namespace, one.key)
                for one in kept.search((), filter=op.filter, limit=len(items))
            }
            items = [one for one in items if (one[0].namespace, one[0].key) in fit][
                op.offset : op.offset + op.limit
            ]
        return [
            SearchItem(
                **{name: getattr(item, name) for name in Item.__slots__}, score=score
            )
            for item, score in items
        ]

    def _scores(self, op: SearchOp, prefix: str) -> dict[str, float]:
        """The files that answer a query, the best first: as many as a page needs, all for a filter."""
        most = MOST
        while True:
            hits = self._user.search_files(
                op.query or "", limit=most, path=f"{prefix}**"
            )
            scores = {hit.path: hit.score for hit in reversed(hits)}
            if len(hits) < most or (
                not op.filter and len(scores) >= op.offset + op.limit
            ):
                return dict(reversed(scores.items()))
            most *= 4

    def _paths(self, prefix: str) -> list[str]:
        """The store's files in a folder, that which was written last as the last."""
        stats = [
            stat
            for stat in self._folder.files()
            if stat.path.startswith(prefix) and stat.path.endswith(".yaml")
        ]
        return [
            stat.path
            for stat in sorted(stats, key=lambda stat: (stat.changed, stat.path))
        ]

    def _item(self, path: str) -> Item | None:
        """A file as an item, None where it is gone; one whose YAML a person broke has its text as `text`."""
        with contextlib.suppress(NotFound, FileNotFoundError):
            memory = self._folder.memory(path)
            at = dt.datetime.fromtimestamp(
                os.lstat(self._folder.absolute(path)).st_mtime, dt.UTC
            )
            value = front.load(memory.text)[0]
            namespace, key = _key(path)
            value = {"text": memory.text} if value is None else value
            made = at
            with contextlib.suppress(ValueError):
                made = dt.datetime.fromisoformat(
                    _made(memory.text).removeprefix(_MADE).strip()
                )
            return Item(
                value=value,
                key=key,
                namespace=namespace,
                created_at=made,
                updated_at=at,
            )
        return None


def tools(user: User) -> list[StructuredTool]:
    """grep, search_files, open and close over one user's memories.

    A search finds nothing of the thread it is called in, where that is kept by `user.add_conversation(…, id=thread_id)`.
    """

    def made(one: MemoryFunction) -> StructuredTool:
        def run(config: RunnableConfig, **arguments: Any) -> str:
            return one.call(
                arguments,
                added(user, config.get("configurable", {}).get("thread_id", "")),
            )

        async def arun(config: RunnableConfig, **arguments: Any) -> str:
            return await asyncio.to_thread(run, config, **arguments)

        return StructuredTool(
            func=run,
            coroutine=arun,
            name=one.name,
            description=one.description,
            args_schema=one.parameters,
        )

    return [made(one) for one in functions(user)]


def _made(text: str) -> str:
    """The line that says when a value was put first; empty where a file has none."""
    first, end, _ = text.partition("\n")
    return first + end if first.startswith(_MADE) else ""


def _in_memory(values: dict[Key, dict[str, Any]]) -> Any:
    store = InMemoryStore()
    store.batch(
        [PutOp(namespace, key, value) for (namespace, key), value in values.items()]
    )
    return store


def _written(value: dict[str, Any], path: str) -> str:
    """A value as YAML; raises FilememError for one that would not be read back as it is."""
    with contextlib.suppress(TypeError, ValueError, RecursionError):
        plain = json.loads(
            json.dumps(value)
        )  # in which no part stands twice, as YAML would make an anchor of it
        text: str = yaml.safe_dump(plain, allow_unicode=True, sort_keys=False)
        if front.load(text)[0] == value:
            return text
    raise FilememError(
        f"{path} is not written; give it a JSON object of at most 50 levels."
    )


def _path(namespace: tuple[str, ...], key: str | None = None) -> str:
    """The file of a key, or the folder of a namespace with its slash."""
    folder = "".join(f"{_name(label)}/" for label in (FOLDER, *namespace))
    return folder if key is None else f"{folder}{_name(key)}.yaml"


def _name(label: str) -> str:
    """A label as a file's name: letters and digits of any script, - and _ stay; every other character is %XX of its bytes."""
    plain = unicodedata.is_normalized("NFC", label)
    kept = (
        c
        if c in "-_" or (c.isalnum() and (plain or c.isascii()))
        else f"%{c.encode(*_BYTES).hex('%')}"
        for c in label
    )
    return "".join(kept) or "%"


def _key(path: str) -> Key:
    """The namespace and key of a file."""
    parts = [
        "" if part == "%" else part
        for part in path.removesuffix(".yaml").split("/")[1:]
    ]
    labels = [unquote_to_bytes(part).decode(*_BYTES) for part in parts]
    return tuple(labels[:-1]), labels[-1]
