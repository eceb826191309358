"""One limit for all processes that ask a model for a store's jobs: how many requests at once, how many tokens a minute, and one
pause for all where the endpoint wants one.

It lies in `.filemem/limits/` of the store: a lock for each request that may be under way, which a killed process frees, and a
small file with what is left of a minute's tokens. Machines that mount the store share it as far as its locks hold between them.
"""

import contextlib
import json
import os
import random
import time
from collections.abc import Iterator
from typing import Any

from filemem.errors import Busy, NotFound
from filemem.files import disk
from filemem.files.folder import BOOKKEEPING
from filemem.files.places import Place
from filemem.text import tokens

PATIENCE = 10  # times that a request is tried again for which the endpoint had no room
LONGEST = 60.0  # seconds of a pause where the endpoint names none; most limits are by the minute
POLL = 0.05  # seconds between two looks at whether there is room


class RequestLimits:
    """What the requests of a store's jobs keep to; 0 is no limit. One object serves one thread."""

    def __init__(self, store: str, concurrent: int = 0, tokens_per_minute: int = 0) -> None:
        self._folder = Place(os.path.realpath(store)) / BOOKKEEPING / "limits"
        self._slots = concurrent
        self._rate = tokens_per_minute / 60

    @contextlib.contextmanager
    def turn(self, request: dict[str, Any]) -> Iterator[None]:
        """Wait until there is room for a request, which may be under way inside."""
        disk.make_folder(self._folder)
        with self._slot():
            self._take(tokens.count(json.dumps(request.get("messages"), ensure_ascii=False)))
            yield

    @contextlib.contextmanager
    def _slot(self) -> Iterator[None]:
        """One of the requests that may be under way at once."""
        with contextlib.ExitStack() as held:
            while self._slots and not self._held(held):
                time.sleep(POLL)
            yield

    def _held(self, held: contextlib.ExitStack) -> bool:
        for number in random.sample(range(self._slots), self._slots):
            with contextlib.suppress(Busy):
                held.enter_context(disk.lock(self._folder / f"request-{number}", 0))
                return True
        return False

    def _take(self, count: int) -> None:
        """Wait for the end of a pause and for so many tokens (a minute's, where they are more), and take them."""
        while True:
            with self._state() as state:
                wait = state["until"] - time.time()
                if self._rate:
                    lacking = min(count, 60 * self._rate) - state["left"]
                    wait = max(wait, lacking / self._rate)
                if wait <= 0:
                    state["left"] -= count
                    return
            time.sleep(min(max(wait, POLL), 1.0))

    def spend(self, count: int) -> None:
        """Take the tokens of an answer, which nobody could know before; and take the endpoint to have room again."""
        with self._state() as state:
            state["left"] -= count
            state["refused"] = 0

    @contextlib.contextmanager
    def _state(self) -> Iterator[dict[str, float]]:
        """What is left, until when all wait, and how often in a row there was no room; kept as it is in the end."""
        full, now = 60 * self._rate, time.time()
        state = {"left": full, "at": now, "until": 0.0, "refused": 0}
        with disk.lock(self._folder / "lock"):
            with contextlib.suppress(NotFound, ValueError, TypeError):
                state |= json.loads(disk.read(self._folder / "left.json"))
            state["left"] = min(full, state["left"] + max(0.0, now - state["at"]) * self._rate)
            state["at"] = now
            yield state
            disk.write(self._folder / "left.json", json.dumps(state).encode())
