"""All processes that ask a model for a store's jobs keep to one limit, and wait together where the endpoint has no room."""

import datetime as dt
import json
import threading
import time
from pathlib import Path

import pytest
from scripted_server import ScriptedServer, calls
from test_many_users import AT, OLD, TALK

from filemem import Store
from filemem.endpoint import RequestLimits
from filemem.files.trust import Trust
from filemem.jobs.pools import Here
from filemem.jobs.running import outcomes
from filemem.jobs.table import Order, work
from filemem.text import tokens

ASK = {"messages": [{"role": "user", "content": "x" * 360}]}


def test_no_more_requests_are_under_way_than_may_be(tmp_path: Path) -> None:
    """The second of two waits for the first to end, though it keeps its own book."""
    began = threading.Event()

    def second() -> None:
        with RequestLimits(str(tmp_path), concurrent=1).turn(ASK):
            began.set()

    with RequestLimits(str(tmp_path), concurrent=1).turn(ASK):
        waiting = threading.Thread(target=second)
        waiting.start()
        assert not began.wait(0.2)
    waiting.join()
    assert began.is_set()


def test_a_minute_s_tokens_are_shared_and_come_back_with_time(tmp_path: Path) -> None:
    """A minute's worth may be taken at once; what answers take counts, too, and the next one waits for what is lacking."""
    size = tokens.count(json.dumps(ASK["messages"]))
    rate = 60 * size  # of which one request's come back in a second
    with RequestLimits(str(tmp_path), tokens_per_minute=rate).turn(ASK):
        pass
    RequestLimits(str(tmp_path), tokens_per_minute=rate).spend(59 * size + size // 2)
    start = time.time()
    with RequestLimits(str(tmp_path), tokens_per_minute=rate).turn(ASK):
        assert time.time() - start > 1.2


def test_what_a_model_would_be_asked_is_counted_and_nobody_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The count is that of the requests which the job then sends, and no fewer tokens than these have."""
    for name in ("ann", "bob"):
        for day in ("2026-01-05-0930", "2026-11-19-0930"):
            place = tmp_path / name / f"sessions/2026/{day}-talk.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text((OLD if "-01-" in day else TALK).format(name.title() + "ton"))
    with ScriptedServer() as server:
        server.default = calls(("keep", {"facts": []}))
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        for key in ("OPENAI_API_KEY", "FILEMEM_MODEL"):
            monkeypatch.delenv(key, raising=False)
        how = {"model": "test", "dry_run": True}
        counted = work(Order("consolidate", str(tmp_path), AT, how), "ann").counts
        assert not server.requests
        (real,) = [*outcomes(Order("consolidate", str(tmp_path), AT, {"model": "test"}), {"ann": ""}, Here(Trust()))]
        assert real[0].error == ""
        assert counted["requests"] == len(server.requests) == 4
        sent = [one.body for one in server.requests]
        texts = [message["content"] for body in sent for message in body["messages"]]
        asked = sum(map(tokens.count, texts)) + sum(tokens.count(json.dumps(body["tools"])) for body in sent)
        assert asked <= counted["tokens_in"] < 1.5 * asked
        more = work(Order("maintain", str(tmp_path), AT, how), "bob").counts
        assert more["requests"] == 5, "the old conversation would be summarised, too"
        assert Store(tmp_path).user("bob").maintain(dt.date(2026, 11, 20)), "nothing was done before"
