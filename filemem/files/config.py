"""The settings of a store: one frozen value, read once from `filemem.yaml` and the environment.

A store may be a stranger's. So what decides where a text or a key goes, and what is kept of secrets, counts only where the
person has agreed to it (`trust`) or said it themselves, in the environment.
"""

import dataclasses
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from filemem.errors import FilememError, Problem
from filemem.files import front, safe
from filemem.files.folder import Folder
from filemem.files.memory import Memory
from filemem.files.trust import Trust
from filemem.text.plain import nearest, one_line

NAME = "filemem.yaml"
LARGEST = 100_000  # bytes; all settings with their descriptions have 3,000
VARIABLES = {
    "model": "FILEMEM_MODEL",
    "base_url": "OPENAI_BASE_URL",
}  # they stand above the file
CHOICES = {"recall": ("before", "tools", "both")}
# What only a person may decide: where words and the key go, whether secrets are kept, what of this machine is read.
PERSONS = ("model", "base_url", "redact", "embeddings")
# The keys of that setting.
EMBEDDINGS = ("model", "endpoint", "except", "query_prefix", "passage_prefix")


class ConfigError(FilememError):
    """A setting in `filemem.yaml` that cannot be used."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclasses.dataclass(frozen=True)
class Config:
    """Every setting with its default; each field is a key of `filemem.yaml`."""

    model: str = ""  # a model's name at the endpoint; empty: answer offline
    base_url: str = (
        ""  # the address of an OpenAI-compatible endpoint; empty: OpenAI's own
    )
    tools: bool = True  # let the model use the four tools; false: it gets the best passages with each message instead
    recall: str = "both"  # "before": the memory is searched for each message; "tools": only as the model asks; "both"
    timeout: float = 120.0  # seconds to wait for the endpoint's next bytes
    window_tokens: int = 6000  # tokens of recent turns that stand in the prompt
    summary_tokens: int = 800  # tokens of the running summary of what left the window
    profile_tokens: int = 1000  # tokens of profile.md that stand in the prompt
    open_files: int = 5  # files open at once
    open_tokens: int = 2500  # tokens shown of one open file
    steps: int = 12  # rounds of tool calls before the model must answer
    stability_days: float = 90.0  # days without recall after which a memory of importance 5 has 37 % of its strength
    spacing_growth: float = 1.5  # a recall of what had all but faded makes a memory last 1 + this times as long
    threshold: float = (
        0.1  # of retention, 0 to 1, below which the sweep moves a memory to the archive
    )
    compact_after_days: int = 30  # sessions older than this are summarised and archived
    summary_share: float = (
        0.295  # of the text of a conversation, what its summary keeps
    )
    consolidate: bool = (
        True  # have a chat's model read earlier conversations while it goes on
    )
    review: bool = False  # only propose memories, for filemem review to decide
    redact: bool = True  # take keys, passwords and card numbers out of what is kept of a conversation
    embeddings: Mapping[str, Any] | None = (
        None  # of vectors to search by as well; {}: off; see docs/search.md
    )


def of(folder: Folder) -> Config:
    """The settings of the store in which a user's folder lies, read once for it; raises ConfigError."""
    found: Config = folder.cached.get("config") or folder.cached.setdefault(
        "config", load(folder.store, folder.trust)
    )
    return found


def load(root: str | Path, trust: Trust | None = None) -> Config:
    """The settings of the store at `root`; VARIABLES stand above the file, and what is `withheld` is as if not set."""
    held = withheld(root, trust)
    counts = {key: value for key, value in _values(root).items() if key not in held}
    return Config(**counts | _given())


def withheld(root: str | Path, trust: Trust | None = None) -> dict[str, Any]:
    """The settings of PERSONS in the file that do not count, as the person has neither agreed to them nor given them."""
    wanted = asked(root)
    open_ = {key: value for key, value in wanted.items() if key not in _given()}
    return {} if not open_ or (trust or Trust()).known(place(root), wanted) else open_


def _given() -> dict[str, str]:
    """What the environment says."""
    return {
        key: os.environ[variable]
        for key, variable in VARIABLES.items()
        if os.environ.get(variable)
    }


def place(root: str | Path) -> str:
    """The settings file's real path, by which a person's answer about it is kept."""
    return os.path.join(root, NAME)


def asked(root: str | Path) -> dict[str, Any]:
    """The settings of PERSONS in the file, whether they count or not, that differ from the defaults."""
    values = _values(root)
    return {
        key: values[key]
        for key in PERSONS
        if key in values and values[key] not in (_DEFAULTS[key], {})
    }


def spelt(value: Any) -> str:
    """A setting's value as people write it, for a sentence."""
    if isinstance(value, dict):
        value = ", ".join(f"{key}: {one}" for key, one in value.items() if one)
    return str(value).lower() if isinstance(value, bool) else one_line(str(value), 200)


def _values(root: str | Path) -> dict[str, Any]:
    """The checked mapping in a store's settings file; raises ConfigError."""
    path = os.path.join(root, NAME)
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
        raise ConfigError(
            Problem(
                path,
                1,
                "not a plain file",
                "put the settings themselves here, or delete it",
            )
        )
    data = safe.read(path, LARGEST + 1) if os.path.lexists(path) else b""
    if len(data) > LARGEST:
        what = f"larger than {LARGEST:,} bytes, which is too much for settings"
        raise ConfigError(Problem(path, 1, what, "write it anew"))
    text = data.decode(errors="replace")
    values, problems = front.load(text, path)
    for one in problems if values is None else ():
        raise ConfigError(
            one._replace(
                what=one.what.partition(":")[0], remedy="write one `key: value` a line"
            )
        )
    return {
        key: _checked(path, text, key, value)
        for key, value in (values or {}).items()
        if key not in RETIRED
    }


RETIRED = {
    *"prices limits month_tokens imports grace_days".split()
}  # of earlier versions; they mean nothing now
_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Config)}


def _checked(path: str, text: str, key: str, value: Any) -> Any:
    """`value` in the type of the setting `key`; raises ConfigError for an unknown key or a wrong type."""
    line = Memory(NAME, text.encode()).line_of(key)

    def wrong(what: str, remedy: str) -> ConfigError:
        return ConfigError(Problem(path, line, what, remedy))

    if key not in _DEFAULTS:
        likely = nearest(key, _DEFAULTS, 1, 0.6)
        remedy = (
            f"did you mean {likely[0]}?"
            if likely
            else f"known are {', '.join(_DEFAULTS)}"
        )
        raise wrong(f"unknown setting {key}", remedy)
    default = _DEFAULTS[key]
    if value is None:
        return default
    if (
        isinstance(default, float)
        and isinstance(value, int)
        and not isinstance(value, bool)
    ):
        value = float(value)
    if key == "embeddings":
        return _embeddings(value, wrong)
    if type(value) is not type(default):
        such = f" such as {default}" * (default not in ("", True, False))
        raise wrong(
            f"{key} is {one_line(repr(value), 80)}",
            f"it takes {_WORDS[type(default)]}{such}",
        )
    below = 1 if key == "threshold" else math.inf
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and not 0 < value < below
    ):
        raise wrong(
            f"{key} is {value}",
            f"it must be a number above 0{' and below 1' * (below == 1)}",
        )
    if value not in CHOICES.get(key, (value,)):
        raise wrong(f"{key} is {value!r}", f"it is {' or '.join(CHOICES[key])}")
    return value


def _embeddings(value: Any, wrong: Callable[[str, str], ConfigError]) -> dict[str, Any]:
    """What makes vectors, and of what; nothing where they are off. Raises ConfigError where no model is named."""
    if value is False:  # off
        return {}
    given = {"except": [], **value} if isinstance(value, dict) else {}
    kept = given.pop("except", None)
    texts = [
        given.get("model"),
        *given.values(),
        *(kept if isinstance(kept, list) else [None]),
    ]
    if not {*given} <= {*EMBEDDINGS} or not all(
        isinstance(text, str) and text for text in texts
    ):
        needs = f"write below it, a line each: {', '.join(EMBEDDINGS)}"
        raise wrong("embeddings takes a model, and what else it needs", needs)
    return {**given, "except": kept}


_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
