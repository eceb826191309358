"""OpenAI's Agents SDK: the four tools, and a session that is a transcript.

What was said is in `sessions/`, where it is found, consolidated and forgotten like all that was said. Calls of functions, their
answers and instructions, which nobody said, are kept beside it in `.filemem/agents/`, so that the next run sees them too. What a
model reasoned, and items of hosted tools, end with the run; of a picture or file the transcript says that it is not kept.
"""

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

from agents import FunctionTool
from agents.memory import SessionSettings

from filemem.adapters.shared import KeptSession, MemoryFunction, functions, role
from filemem.api import User
from filemem.errors import NotFound
from filemem.files import journal, safe
from filemem.files.folder import CurrentConversation
from filemem.files.memory import Passage

CALLS, RULES = (
    ("function_call", "function_call_output"),
    ("system", "developer"),
)  # types and roles of what nobody said


def tools(user: User, session: "TranscriptSession | None" = None) -> list[FunctionTool]:
    """grep, search_files, open and close over one user's memories; of a `session` nothing is found that the model sees."""

    def made(function: MemoryFunction) -> FunctionTool:
        async def invoke(context: Any, arguments: str) -> str:
            return await asyncio.to_thread(function.call, arguments)

        return FunctionTool(
            name=function.name,
            description=function.description,
            params_json_schema=function.parameters,
            on_invoke_tool=invoke,
            strict_json_schema=False,  # a strict schema lets no argument be left out
        )

    return [
        made(function)
        for function in functions(user, session.current if session else lambda: None)
    ]


class TranscriptSession:
    """The SDK's `Session` with this id; any number of processes may have it open. `user` is whose it is, or says it of the id."""

    def __init__(
        self,
        user: User | Callable[[str], User],
        session_id: str,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._kept = KeptSession(
            user if isinstance(user, User) else user(session_id), "agents", session_id
        )

    def current(self) -> CurrentConversation | None:
        """What a model sees of it."""
        return self._kept.current(self.session_settings.limit)

    @property
    def _record(self) -> str:
        """Where the calls are kept."""
        return self._kept.folder.bookkeeping(f"agents/{self._kept.name}.jsonl")

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """What was said and called, oldest first; the last `limit` of it, or as many as the session's settings say."""
        most = self.session_settings.limit if limit is None else limit
        found = await asyncio.to_thread(self._items)
        return found if most is None else found[-most:] if most > 0 else []

    async def add_items(self, items: list[Any]) -> None:
        """Keep what was said, without secrets, and the calls."""
        await asyncio.to_thread(self._add, items)

    async def pop_item(self) -> Any:
        """Remove the last item, from the transcript too; None if there is none."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Start over. What was said stays in memory as a finished session; `User.forget` deletes it."""
        await asyncio.to_thread(self._clear)

    def _items(self) -> list[Any]:
        """The turns with the calls between them; a call whose answer is lost is left out, as models refuse one alone."""
        turns, calls = self._kept.turns(), self._calls()
        items: list[Any] = []
        for number in range(len(turns) + 1):
            items += [
                call["item"]
                for call in calls
                if min(call["after"], len(turns)) == number
            ]
            items += [_message(turn) for turn in turns[number : number + 1]]
        halves = Counter(item.get("call_id") for item in items)
        return [
            item
            for item in items
            if "call_id" not in item or halves[item["call_id"]] == 2
        ]

    def _add(self, items: list[Any]) -> None:
        with self._kept.folder.locked():
            for item in items:
                if item.get("type") in CALLS or item.get("role") in RULES:
                    safe.make_folder(os.path.dirname(self._record))
                    safe.log(
                        self._record,
                        _line({"after": len(self._kept.turns()), "item": item}),
                    )
                elif (
                    item.get("role") in ("user", "assistant")
                    and (text := _text(item["content"])).strip()
                ):
                    self._kept.say(item["role"], text)

    def _pop(self) -> Any:
        with self._kept.folder.locked():
            turns, calls = self._kept.turns(), self._calls()
            if calls and calls[-1]["after"] >= len(turns):
                safe.write(self._record, b"".join(map(_line, calls[:-1])))
                return calls[-1]["item"]
            if turns:
                self._kept.take_back(turns[-1])
            return _message(turns[-1]) if turns else None

    def _clear(self) -> None:
        with self._kept.folder.locked():
            self._kept.end()
            with contextlib.suppress(NotFound):
                safe.delete(self._record)

    def _calls(self) -> list[dict[str, Any]]:
        """The calls in their order, each with the number of turns before it; without those whose line is broken."""
        found = []
        for call in journal.values(self._record):
            with contextlib.suppress(TypeError, KeyError, AttributeError):
                found += (
                    [call]
                    if call["after"] >= 0
                    and (call["item"].get("call_id") or call["item"]["role"])
                    else []
                )
        return found


def _line(call: dict[str, Any]) -> bytes:
    """A call as the record has it; its own id is left out, as it would ask for the reasoning before it."""
    item = {
        key: value for key, value in call["item"].items() if key not in ("id", "status")
    }
    return journal.line({**call, "item": item})


def _message(turn: Passage) -> dict[str, str]:
    return {"role": role(turn), "content": turn.text}


def _text(content: Any) -> str:
    """The words of a message's content: text, or parts, in the place of a picture or file that it is not kept."""
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, dict)]
    return "\n".join(
        str(one.get("text") or one.get("refusal") or f"[{one.get('type')}, not kept]")
        for one in parts
    )
