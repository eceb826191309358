"""Commands that set up and put right: init, remember, edit, check, users."""

import json
import os
import shlex
from importlib import resources

import click

from filemem.cli.all_users import for_each, many, order
from filemem.cli.common import now, the_store, the_trust, the_user
from filemem.cli.options import chosen, json_option, many_options, store_path
from filemem.cli.screen import for_script, say, tell
from filemem.errors import FilememError, Problem
from filemem.files import config, safe, trust
from filemem.files.store import StoreFolder
from filemem.history import set_up
from filemem.text.plain import counted

SETTINGS = "# Settings of this store. Every key is optional; remove the # before one to change it.\n"
SHOWN = {"model": "gpt-4o-mini", "base_url": "http://localhost:8080/v1"}  # where the default is empty


@click.command("init")
@click.argument("folder", required=False, type=click.Path())
@click.option(
    "--git", "with_git", is_flag=True, help="Keep the memories in git, a repository of their own or the one here."
)
def init_command(folder: str | None, with_git: bool) -> None:
    """Create a store.

    It lies in FOLDER, else where --store or FILEMEM_STORE say, else in ./memory_store, and begins with a file of all
    settings, commented out.

    With --git, in a store that exists too, a commit follows each conversation and job; only memories are ever committed.

    Example: filemem init ~/memories --git
    """
    root = StoreFolder(folder or chosen("store") or os.environ.get("FILEMEM_STORE") or "memory_store").root
    _create(root, as_well=with_git)
    store = StoreFolder(root, the_trust())
    for home in _homes(store) if with_git else ():
        say(*set_up(home, (store.users() or ["me"])[0], now(), the_trust()))


def _homes(store: StoreFolder) -> list[str]:
    """The folders to set up for git: users' own repositories; the store where it is one, or no user's is."""
    own = [root for root in (store.folder(name).root for name in store.users()) if _is_repository(root)]
    return [*own, *([store.root] if not own or _is_repository(store.root) else [])]


def _is_repository(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, ".git"))


def _create(root: str, *, as_well: bool) -> None:
    """Create the store at `root`; one that exists is left alone, with a word about it unless it is created `as_well`."""
    settings = os.path.join(root, config.NAME)
    if os.path.lexists(settings):
        if not as_well:
            say(f"{root} is a store already; nothing was changed.")
        return
    if os.path.lexists(root) and not os.path.isdir(root):
        raise FilememError(f"{root} is no folder; name another place.")
    safe.make_folder(root)
    safe.create(settings, _settings().encode())
    say(f"Created {settings}.")
    if StoreFolder(store_path(None)).root != root:
        say(f"Name it with --store {shlex.quote(root)} or FILEMEM_STORE.")
    say("Next: filemem chat, or filemem remember 'Prefers oolong tea.'")


def _settings() -> str:
    """Every setting with its default, commented out under a sentence of what it does."""
    schema = json.loads((resources.files("filemem") / "schemas" / "settings.schema.json").read_text(encoding="utf-8"))
    parts = [SETTINGS]
    for key, told in schema["properties"].items():
        says, value = told["description"], SHOWN.get(key) or json.dumps(told["default"])
        parts.append(f"\n# {says[:1].upper()}{says[1:]}.\n# {key}: {value}\n")
    return "".join(parts)


@click.command("check")
@many_options
@json_option
def check_command() -> int:
    """List every problem in the files, with its remedy.

    Checks one user, or all of them where --user is not given and there are several. Exit code 1 where there is a problem.

    Example: filemem check
    """
    store = the_store()
    named = not many() and (chosen("user") or os.environ.get("FILEMEM_USER"))
    names = [the_user().name] if named else store.users()
    found = [*_settings_problems(store), *(safe.lock_problems(store.root) if os.path.isdir(store.root) else [])]
    for problem in found:
        tell({"user": "", **problem._asdict()}, str(problem))
    failed, counts = for_each(order("check", {}), "checking", dict.fromkeys(names, ""), brief=False)
    problems = len(found) + counts["problems"]
    if not for_script():
        say(f"{counted(counts['files'], 'file')} of {counted(len(names), 'user')}: {counted(problems, 'problem')}.")
    return 1 if failed or problems else 0


def _settings_problems(store: StoreFolder) -> list[Problem]:
    """What is wrong with the store's settings file."""
    path = os.path.join(store.root, config.NAME)
    data = safe.read(path, config.LARGEST) if os.path.lexists(path) else b""
    lines = data.decode(errors="replace").split("\n")
    found = []
    try:
        for key in config.withheld(store.root, trust=store.trust):
            at = config.line_of("\n".join(lines), key)
            found.append(Problem(config.NAME, at, f"{key} is not used, as you have not agreed to it", trust.REMEDY))
    except config.ConfigError as error:
        found = found or [Problem(config.NAME, *error.fault)]
    return found
