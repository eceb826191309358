"""What the commands share: which store and user, the moment, paths as a person types them."""

from __future__ import annotations

import contextlib
import datetime as dt
import getpass
import os
import re
import sys
from collections.abc import Callable
from typing import Any

import click

from filemem.cli.options import chosen, kept, store_path
from filemem.cli.screen import confirmed, put, say_dim
from filemem.errors import FilememError
from filemem.files import safe, trust
from filemem.files.folder import Folder
from filemem.files.store import StoreFolder, mistyped
from filemem.files.trust import REMEDY, Trust
from filemem.text.plain import escape_controls, first_few, one_line

_PLAIN_SETTINGS = re.compile(rb"(?:(?:#[\t -~\x80-\xff]*|[a-z_]+: [\w./-]+)?\r?\n)*")
"""Settings that are no broken YAML, for sure; reading YAML takes a third of click's time to import."""


def the_trust() -> Trust:
    """The person's answers, for the whole of this call."""
    somebody = sys.stdin.isatty() and sys.stderr.isatty()
    answers: Trust = kept("answers", lambda: Trust(_ask if somebody else None, given=bool(chosen("trust"))))
    return answers


def _ask(question: str) -> bool:
    """Ask on the terminal; without an answer it is no."""
    put(escape_controls(question), err=True)
    return confirmed("Trust it from now on?", err=True)


def the_store() -> StoreFolder:
    """The store of this call; raises FilememError where its place is taken by a file."""
    store = StoreFolder(store_path(chosen("store")), the_trust())
    if os.path.lexists(store.root) and not os.path.isdir(store.root):
        raise FilememError(f"{store.root} is no folder; name the store's folder with --store or FILEMEM_STORE.")
    return store


def the_user(*, must_exist: bool = True) -> Folder:
    """The user of this call: as chosen, FILEMEM_USER, the only one there is, else the login name."""
    store = the_store()
    name = chosen("user") or os.environ.get("FILEMEM_USER")
    if not name:
        names = store.users()
        name = names[0] if len(names) == 1 else _login()
        if len(names) > 1 and name not in names:
            raise FilememError(f"{store.root} has {len(names)} users; name one with --user: {first_few(names, 8)}.")
    user = store.folder(name)
    if must_exist and not user.exists():
        names = store.users()
        known = f"its users are {first_few(names, 8)}" if names else "it has no users yet; start with: filemem chat"
        raise FilememError(f"there is no user {user.name} in {store.root}; {known}.")
    return _then(user)


def reader() -> Folder:
    """The user of a call that reads and needs no settings; says on standard error where these are broken."""
    user = the_user()
    settings = os.path.join(user.store, "filemem.yaml")
    with contextlib.suppress(FilememError, OSError):  # what cannot be read is said below
        if not os.path.lexists(settings) or _PLAIN_SETTINGS.fullmatch(safe.read(settings)):
            return user
    try:
        from filemem.files import config  # noqa: PLC0415  loads YAML

        config.of(user)
    except FilememError as error:
        put(f"filemem: {escape_controls(str(error))}", err=True)
    return user


def settled(store: StoreFolder) -> dict[str, Any]:
    """The settings of the store that only the person may decide and that do not count, after they were asked on a terminal."""
    from filemem.files import config  # noqa: PLC0415  loads YAML

    held = config.withheld(store.root, trust=store.trust)
    if not held and not (store.trust.given and config.asked(store.root)):
        return {}
    where = config.place(store.root)
    asks = [f"{key}: {config.spelt(value)} ({config.PERSONS[key]})" for key, value in held.items()]
    question = "\n  ".join([f"{one_line(where)} was not agreed to on this machine, and says:", *asks])
    if store.trust.settle(where, config.asked(store.root), question):
        config.read_again()
        return {}
    told = f"Not trusted, hence not done: {one_line(where)} says {'; '.join(asks)}; {REMEDY}."
    put(escape_controls(told), err=True)
    return held


def a_user() -> Folder:
    """The user of this call, who may be new; raises FilememError where a new name is a slip away from another's."""
    user = the_user(must_exist=False)
    near = "" if user.exists() or chosen("new_user") else mistyped(user.name, the_store().users())
    if near:
        raise FilememError(
            f"there is no user {user.name} in {user.store}, but {near}; "
            f"take --user {near}, or {click.get_current_context().command_path} --new-user to begin anew as {user.name}."
        )
    return user


def welcome(folder: Folder) -> None:
    """Say where the memories of a new user, or of a new store, are going to be."""
    if not folder.exists():
        folder.trust.keep(trust.wishes(folder.root), trust.WISHES, trusted=True)
    if not os.path.isdir(folder.store):
        say_dim(f"New store {folder.store}, with {folder.name} as its first user.")
    elif not folder.exists():
        say_dim(f"New user {folder.name} in {folder.store}.")


def _then(folder: Folder) -> Folder:
    """The user as of the day that --as-of names, with a word about the commit; as they are now without it."""
    moment: dt.datetime | None = chosen("as_of")
    if moment is None:
        return folder
    from filemem.history.past import as_of  # noqa: PLC0415  loads what runs git

    past = as_of(folder, moment if moment.time() != dt.time() else moment.date())
    note = f"As of {past.at:%Y-%m-%d %H:%M}, commit {past.commit[:8]}: {past.subject}"
    say_dim(note)
    return past


def now() -> dt.datetime:
    """The moment of this command: the clock is read once."""
    moment: dt.datetime = kept("now", clock)
    return moment


def clock() -> dt.datetime:
    """The person's local time now, or what --today says, or --as-of: what was believed then is asked as it was then."""
    return ticking()()


def ticking() -> Callable[[], dt.datetime]:
    """A clock that may be asked later, and in any thread."""
    given: dt.datetime | None = chosen("today") or chosen("as_of")
    return lambda: (given or dt.datetime.now()).astimezone()


def chosen_day() -> dt.date | None:
    """The day that --today names, None where it is not given."""
    given: dt.datetime | None = chosen("today")
    return given.date() if given else None


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "me"


def complete_path(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The paths of memories that begin so."""
    return [path for path in completing(ctx).paths() if path.startswith(incomplete)]


def completing(ctx: click.Context) -> Folder:
    """The user of a call that is being typed."""
    given = ctx.ensure_object(dict)
    store = StoreFolder(store_path(given.get("store")))
    names = store.users()
    name = given.get("user") or os.environ.get("FILEMEM_USER") or (names[0] if len(names) == 1 else _login())
    return store.folder(name)


def split_line(folder: Folder, given: str) -> tuple[str, int | None]:
    """A memory's path and line from what a person typed: `PATH`, `PATH:LINE`, or the file's place on disk."""
    path, colon, line = given.rpartition(":")
    if not colon or not line.isascii() or not line.isdigit():
        path, line = given, ""
    for place in (os.path.abspath(path), os.path.realpath(path)):
        if place.startswith(folder.root + os.sep) and os.path.lexists(place):
            path = os.path.relpath(place, folder.root).replace(os.sep, "/")
    return path, int(line) if line else None
