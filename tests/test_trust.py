"""What decides where a key or a text goes comes from the person, never from the data: a store's `model`, `base_url` and
`redact: false` count only where the person has agreed to them, for that path and those values, or said so themselves.
"""

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import clean, filemem, lay
from repositories import START, git, named, plain_git, store  # noqa: F401
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


def test_a_copied_store_says_once_in_one_line_what_it_does_not_trust(
    tmp_path: Path,
) -> None:
    """Its settings and its repository, and how to trust them; who then says so has both, and is told nothing more."""
    store(tmp_path / "mine")
    (tmp_path / "mine/filemem.yaml").write_text(
        "model: gpt-x\nbase_url: http://127.0.0.1:9/v1\n"
    )
    shutil.copytree(tmp_path / "mine", tmp_path / "memory_store")
    said = run(tmp_path, "chat", "-m", "Hello").stderr
    assert said.count("\n") == 1
    assert all(
        what in said
        for what in ("gpt-x", "127.0.0.1:9", "memory_store/.git", "--trust")
    ), said
    for words in (
        ["remember", "Has a boat."],
        ["maintain"],
        ["consolidate"],
        ["remember", "Has a tent."],
    ):
        assert (
            done := run(tmp_path, *words)
        ).stderr == "" and "git: " not in done.stdout, words
    assert "boat" not in git(tmp_path / "memory_store", "ls-files")
    assert run(tmp_path, "remember", "Has a dog.", "--trust").stderr == ""
    assert "dog" in git(tmp_path / "memory_store", "ls-files")
    assert (
        kept(tmp_path)[str(tmp_path / "memory_store/filemem.yaml")]["trusted"] is True
    )


def test_what_the_person_says_themselves_counts(
    home: Path, server: ScriptedServer
) -> None:
    """In the environment, where each variable stands for its own setting, with FILEMEM_TRUST, or with the flag."""
    for more in (
        {"FILEMEM_TRUST": "1"},
        {"FILEMEM_TRUST": f"/elsewhere:{home / 'memory_store'}"},
        {"FILEMEM_MODEL": "gpt-x", "OPENAI_BASE_URL": server.base_url},
    ):
        server.forget()
        assert run(home, "chat", "-m", "Hello", **more).stderr == ""
        assert server.requests, more
    server.forget()
    for more in (
        {"FILEMEM_MODEL": "gpt-x"},
        {"FILEMEM_TRUST": str(home / "memory")},
        {"FILEMEM_TRUST": "0"},
    ):
        assert "ot trusted" in run(home, "chat", "-m", "Hello", **more).stderr
        assert not server.requests, more
    assert run(home, "chat", "-m", "Hello", "--trust").stderr == ""
    assert server.requests
    server.forget()
    assert run(home, "chat", "-m", "Hello").stderr == "", "the flag is kept"
    assert server.requests


def test_a_terminal_asks_nothing_and_the_flag_is_kept_outside_the_store(
    home: Path, server: ScriptedServer
) -> None:
    with chat(home) as term:
        term.expect("--trust")
        term.expect("\n> ")
        assert "[y/N]" not in term.screen and term.screen.count("ot trusted") == 1
    assert not server.requests
    with chat(home, "--trust") as term:
        term.expect("\n> ")
        term.type("Hello\r")
        term.expect("Fine.")
    place = str(home / "memory_store/filemem.yaml")
    assert kept(home) == {
        place: {
            "trusted": True,
            "content": {"model": "gpt-x", "base_url": server.base_url},
        }
    }
    assert stat.S_IMODE((home / ".config/filemem/trusted.json").stat().st_mode) == 0o600


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
