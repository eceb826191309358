"""Settings: the defaults, the person's own, a store's limits, the environment.

Each of these counts above those before it, and the person's words on one store above
that store's. A store may be a stranger's, so where words and the key go, and whether
secrets are kept, is never read from its `filemem.yaml`.
"""

import math
import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from filemem.errors import FilememError, NotFound, Problem
from filemem.store import files, person
from filemem.store.folder import Folder
from filemem.store.memory import Memory, parse
from filemem.text.plain import nearest, one_line

NAME = "filemem.yaml"  # in a store
STORES = "stores"  # a key of it: a mapping of settings for each store, by its path
ENVIRONMENT = {"model": "FILEMEM_MODEL", "base_url": "OPENAI_BASE_URL"}
KEY = "OPENAI_API_KEY"  # of the environment, for the endpoint
RECALL = ("before", "tools", "both")
EMBEDDINGS = {
    "model": str,
    "endpoint": str,
    "except": list,
    "query_prefix": str,
    "passage_prefix": str,
}
# What only the person decides; in a store's file these mean nothing.
PERSONS = ("model", "base_url", "redact", "embeddings")
# What a store of before says of these counts where the person says nothing.
MOVED = ("tools", "recall", "timeout", "consolidate", "review")


class ConfigError(FilememError):
    """A setting that cannot be used."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True)
class Config:
    """Every setting with its default; those from `window_tokens` on are limits."""

    model: str = ""  # a model's name at the endpoint; empty: answer offline
    # the address of an OpenAI-compatible endpoint; empty: OpenAI's own
    base_url: str = ""
    # let the model use the four tools; false: it gets the best passages instead
    tools: bool = True
    # "before": search for each message; "tools": only as the model asks; "both"
    recall: str = "both"
    timeout: float = 120.0  # seconds to wait for the endpoint's next bytes
    # have the model read a conversation once it has ended, in the background
    consolidate: bool = True
    review: bool = False  # only propose memories, for filemem review to decide
    redact: bool = True  # take keys, passwords and card numbers out of what is kept
    # of vectors to search by as well; false: off; see docs/search.md
    embeddings: Mapping[str, Any] | None = None
    window_tokens: int = 6000  # tokens of recent turns that stand in the prompt
    # tokens of recent messages of a client of serve that its model sees
    client_window_tokens: int = 32_000
    summary_tokens: int = 800  # tokens of the summary of what left the window
    profile_tokens: int = 1000  # tokens of profile.md that stand in the prompt
    open_files: int = 5  # files open at once
    open_tokens: int = 2500  # tokens shown of one open file
    steps: int = 12  # rounds of tool calls before the model must answer
    # days without recall that leave 37 % of a memory of importance 5
    stability_days: float = 90.0
    # a recall of what had all but faded makes a memory last 1 + this times as long
    spacing_growth: float = 1.5
    # of retention, 0 to 1, below which the sweep moves a memory to the archive
    threshold: float = 0.1
    compact_after_days: int = 30  # sessions older than this are summarised and archived
    # of the text of a conversation, what its summary keeps
    summary_share: float = 0.295

    @property
    def offers_tools(self) -> bool:
        """Whether a model in a chat is offered the four tools."""
        return self.tools and self.recall != "before"


DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Config)}
_IN_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def of(folder: Folder) -> Config:
    """Return the settings for a user's store as they are now; raise ConfigError.

    They are the same object until a file or the environment, the key too, has changed.
    """
    state = _state(folder.store)
    if folder.cached.get("config state") != state:
        folder.cached["config"] = load(folder.store)
        folder.cached["config state"] = state
    settings: Config = folder.cached["config"]
    return settings


def _state(root: str) -> list[object]:
    """Return what differs whenever the settings for the store at `root` may."""
    state: list[object] = [
        os.environ.get(name) for name in (*ENVIRONMENT.values(), KEY)
    ]
    own = person.folder()
    for name in (
        f"{own}/{person.OWN_NAME}",
        f"{own}/{person.FILE_NAME}",
        f"{root}/{NAME}",
    ):
        state.append(name)
        with suppress(OSError):
            stat = os.stat(name)
            state += [stat.st_ino, stat.st_ctime_ns, stat.st_size]
    return state


def load(root: str | Path) -> Config:
    """Return the settings for the store at `root`; raise ConfigError."""
    own = _own()
    found = _settings(own, own.front)
    for key, value in _of_store(root).items():
        if key not in PERSONS and not (key in MOVED and key in found):
            found[key] = value
    found |= _for_store(own, root)
    for key, name in ENVIRONMENT.items():
        if os.environ.get(name):
            found[key] = os.environ[name]
    return Config(**found)


def unanswered(root: str | Path, model: str = "") -> str:
    """Return why nothing may be sent for a store, '' if all is settled.

    A store of before may name a model or an endpoint. Where it is not the one in force
    the person is to say once where its words go. `model` is one named in this call.

    Raises:
        ConfigError: settings cannot be used.
    """
    if ENVIRONMENT.keys() & _for_store(_own(), root).keys():
        return ""
    named = _of_store(root)
    settings = load(root)
    theirs = named.get("model", "")
    address = named.get("base_url", "")
    is_model_in_force = theirs in ("", model or settings.model)
    if is_model_in_force and address in ("", settings.base_url):
        return ""
    command = f"filemem model --store {shlex.quote(str(root))} {theirs or 'MODEL'}"
    if address:
        command += f" --base-url {shlex.quote(address)}"
    return one_line(
        f"{os.path.join(root, NAME)} names {theirs or 'a model'} at "
        f"{address or 'OpenAI'}, and you have not said that yourself, so nothing is "
        f"sent anywhere; say once where this store's words may go, as with: {command}",
        600,
    )


def misplaced(root: str | Path) -> list[Problem]:
    """Return what stands in a store's settings and has its place elsewhere."""
    file = _read(os.path.join(root, NAME))
    remedy = f"move it to {_own().path}, for this store alone below {STORES}"
    problems = []
    for key in file.front:
        if key in PERSONS + MOVED:
            what = f"{key} is yours to say, not a store's"
            problems.append(Problem(NAME, file.line_of(key), what, remedy))
    return problems


def _of_store(root: str | Path) -> dict[str, Any]:
    """Return what a store's file says, the person's matters among it."""
    file = _read(os.path.join(root, NAME))
    return _settings(file, file.front)


def _own() -> Memory:
    """Return the person's own file of settings."""
    return _read(os.path.join(person.folder(), person.OWN_NAME))


def _read(path: str) -> Memory:
    """Read a file of settings as a YAML memory; an absent one is empty.

    Raises:
        ConfigError: it is no mapping.
        Refused: it is no plain file, or too large.
    """
    data = b""
    with suppress(NotFound):
        data = files.read(path)
    file = parse(path, data)
    if file.front_matter.fault:
        raise ConfigError(file.front_matter.fault)
    return file


def _settings(file: Memory, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a file in their types; raise ConfigError for a wrong one."""
    found = {}
    for key, value in given.items():
        if value is None or key == STORES:
            continue
        line = file.line_of(key)
        if key not in DEFAULTS:
            likely = nearest(key, DEFAULTS, 1) or DEFAULTS
            what = f"unknown setting {key}"
            remedy = f"did you mean {' or '.join(likely)}?"
            raise ConfigError(Problem(file.path, line, what, remedy))
        if type(DEFAULTS[key]) is float and type(value) is int:
            value = float(value)
        rule = _rule_broken(key, value)
        if rule:
            what = f"{key} is {one_line(repr(value), 80)}"
            raise ConfigError(Problem(file.path, line, what, f"it takes {rule}"))
        found[key] = value
    return found


def _rule_broken(key: str, value: Any) -> str:
    """Return what a setting takes, if that is not its value; else ''."""
    if key == "embeddings":
        is_right = value is False or _makes_vectors(value)
        return "" if is_right else f"a mapping, of {', '.join(EMBEDDINGS)}, or false"
    kind = type(DEFAULTS[key])
    if type(value) is not kind:
        return _IN_WORDS[kind]
    highest = 1 if key == "threshold" else math.inf
    if kind in (int, float) and not 0 < value < highest:
        return f"a number above 0 and below {highest}"
    if key == "recall" and value not in RECALL:
        return " or ".join(RECALL)
    return ""


def _makes_vectors(value: Any) -> bool:
    """Tell whether a mapping says what makes vectors, and of what."""
    if not isinstance(value, dict) or "model" not in value:
        return False
    return all(
        isinstance(entry, EMBEDDINGS.get(key, ())) for key, entry in value.items()
    )


def _for_store(own: Memory, root: str | Path) -> dict[str, Any]:
    """Return the person's settings for one store: what they answered, and wrote."""
    place = os.path.realpath(root)
    answered = person.entry_of(place)
    found = {key: answered[key] for key in ENVIRONMENT if answered.get(key)}
    stores = own.front.get(STORES)
    for named, settings in stores.items() if isinstance(stores, dict) else ():
        is_this = os.path.realpath(os.path.expanduser(str(named))) == place
        if is_this and isinstance(settings, dict):
            found |= _settings(own, settings)
    return found
