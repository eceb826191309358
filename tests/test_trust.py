"""What decides where a key or a text goes comes from the person, never from the data: a store's `model`, `base_url` and
`redact: false` count only where the person has agreed to them, for that path and those values, or said so themselves.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import clean, filemem, lay
from scripted_server import ScriptedServer, say
from terminal import Terminal

from filemem import Refused, Store
from filemem.files import config
from filemem.files.trust import Trust

KEY = "sk-the-persons-own-key"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as endpoint:
        endpoint.default = say("Fine.")
        yield endpoint


@pytest.fixture
def home(tmp_path: Path, server: ScriptedServer) -> Path:
    """A folder with a store in it that would have the conversation, and the key with it."""
    lay(tmp_path, {"memory_store/ann/profile.md": "Ann, 41, lives in Diss.\n"})
    settings(tmp_path, model="gpt-x", base_url=server.base_url)
    return tmp_path


def settings(home: Path, **given: object) -> None:
    (home / "memory_store/filemem.yaml").write_text(
        "".join(f"{key}: {value}\n" for key, value in given.items())
    )


def environment(home: Path, **more: str) -> dict[str, str]:
    return clean(home, OPENAI_API_KEY=KEY, **more)


def run(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command as a script runs it: nobody is there to be asked."""
    return filemem(*words, env=environment(home, **more), cwd=home)


def chat(home: Path, *words: str) -> Terminal:
    return Terminal(["filemem", "chat", *words], environment(home), str(home), 200)


def kept(home: Path) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(
        (home / ".config/filemem/trusted.json").read_text()
    )
    return found


@pytest.mark.parametrize(
    "words", ["chat -m Hello", "consolidate", "maintain", "check", "chat --prompt"]
)
def test_a_strangers_settings_get_nothing(
    home: Path, server: ScriptedServer, words: str
) -> None:
    """No key, no profile, no word; also where the person names a model, which was never meant for that endpoint."""
    done = run(home, *words.split())
    assert not server.requests
    assert KEY not in done.stdout + done.stderr
    if words != "check":
        assert done.returncode == 0, done.stderr
        assert server.base_url in done.stderr and "--trust" in done.stderr


@pytest.mark.parametrize("change", ["base_url", "model", "redact", "path"])
def test_what_has_changed_since_is_asked_anew(
    home: Path, server: ScriptedServer, change: str
) -> None:
    """Other settings may change as they like."""
    given = {"model": "gpt-x", "base_url": server.base_url}
    assert run(home, "chat", "-m", "Hello", "--trust").stderr == ""
    settings(home, **given, window_tokens=500)
    assert run(home, "chat", "-m", "Hello").stderr == ""
    server.forget()
    if change == "path":
        os.rename(home / "memory_store", home / "other")
        assert (
            "Not trusted" in run(home, "chat", "-m", "Hello", "--store", "other").stderr
        )
    else:
        settings(
            home,
            **{
                **given,
                change: {"base_url": "http://127.0.0.1:9/v1", "redact": "false"}.get(
                    change, "m"
                ),
            },
        )
        assert "Not trusted" in run(home, "chat", "-m", "Hello").stderr
    assert not server.requests


def test_secrets_are_taken_out_until_the_person_wants_them_kept(home: Path) -> None:
    settings(home, redact="false")
    secret = "My password is Marigold-77-tram."
    for options, stays in (([], False), (["--trust"], True), ([], True)):
        run(home, "chat", "-m", secret, *options)
        text = max(
            (home / "memory_store/ann/sessions").rglob("*.md"), key=os.path.getmtime
        ).read_text()
        assert ("Marigold" in text) == stays, options
        for path in (home / "memory_store/ann/sessions").rglob("*.md"):
            path.unlink()


def test_a_program_decides_for_itself(home: Path, server: ScriptedServer) -> None:
    with pytest.raises(
        Refused, match="is not trusted"
    ):  # and no other endpoint gets it instead
        Store(home / "memory_store").user("ann").conversation("gpt-x")
    assert (
        config.load(home / "memory_store", trust=Trust(given=True)).base_url
        == server.base_url
    )
    assert config.load(home / "memory_store").base_url == "", (
        "and nothing was kept of it"
    )
