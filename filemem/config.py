"""The settings of a store: one frozen value, read once from `filemem.yaml` and the environment."""

import dataclasses
import difflib
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from filemem import disk
from filemem.errors import FilememError

NAME = "filemem.yaml"


class ConfigError(FilememError):
    """A setting in `filemem.yaml` that cannot be used; the sentence names file, line and remedy."""


@dataclasses.dataclass(frozen=True)
class Config:
    """Every setting with its default; each field is a key of `filemem.yaml`."""

    model: str = ""  # a model's name at the endpoint; empty: answer offline
    base_url: str = ""  # an OpenAI-compatible endpoint; empty: the openai package's own default
    timeout: float = 120.0  # seconds to wait for the endpoint's next bytes
    window_tokens: int = 6000  # recent turns that stand in the prompt
    summary_tokens: int = 800  # the running summary of what left the window
    profile_tokens: int = 1000  # profile.md, beyond which it is cut in the prompt
    open_files: int = 5  # files open at once
    open_tokens: int = 2500  # tokens shown of one open file
    steps: int = 12  # rounds of tool calls before the model must answer
    stability_days: float = 10.0  # days without recall after which a memory of importance 5 has 37 % of its strength
    spacing_growth: float = 1.5  # a recall of what had all but faded makes a memory last 1 + this times as long
    threshold: float = 0.1  # of retention, 0 to 1, below which the sweep moves a memory to the archive
    grace_days: int = 7  # no younger memory is archived
    active_days: bool = False  # count only the days on which something was said or recalled
    compact_after_days: int = 30  # sessions older than this are summarised and archived
    summary_share: float = 0.295  # of the text of a conversation, what its summary keeps
    month_tokens: int = 10000  # the longest summary of a month; a fuller one goes on by weeks
    year_after_days: int = 730  # summaries of months older than this are gathered into one of their year
    consolidate: bool = True  # make memories of what was said when a chat ends
    review: bool = False  # propose them only, for filemem review
    redact: bool = True  # take keys, passwords and card numbers out of what is kept of a conversation
    git_person_edits: str = "leave"  # or "commit": your own uncommitted edits, under your name, before a job's commit


def load(root: str | Path, environment: Mapping[str, str] = os.environ) -> Config:
    """The settings of the store at `root`; FILEMEM_MODEL and OPENAI_BASE_URL stand above the file."""
    path = os.path.join(root, NAME)
    values = _read(path) if os.path.lexists(path) else {}
    for variable, key in (("FILEMEM_MODEL", "model"), ("OPENAI_BASE_URL", "base_url")):
        if environment.get(variable):
            values[key] = environment[variable]
    return Config(**values)


def _read(path: str) -> dict[str, Any]:
    """The checked mapping in a settings file."""
    text = disk.read(path).decode(errors="replace")
    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise ConfigError(f"{path}:{line}: broken YAML; write one `key: value` a line.") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}:1: the settings are no mapping; write one `key: value` a line.")
    return {str(key): _checked(path, text, str(key), value) for key, value in values.items()}


def _checked(path: str, text: str, key: str, value: Any) -> Any:
    """`value` in the type of the setting `key`; raises ConfigError for an unknown key or a wrong type."""
    line = next((n for n, entry in enumerate(text.splitlines(), 1) if entry.partition(":")[0].strip("\"' ") == key), 1)
    defaults = {field.name: field.default for field in dataclasses.fields(Config)}
    if key not in defaults:
        near = difflib.get_close_matches(key, defaults, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(defaults)}."
        raise ConfigError(f"{path}:{line}: unknown setting {key}; {hint}")
    default = defaults[key]
    if value is None:
        return default
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(default):
        raise ConfigError(f"{path}:{line}: {key} is {value!r}, but takes {_WORDS[type(default)]} such as {default!r}.")
    if isinstance(value, int | float) and not isinstance(value, bool) and not 0 < value < math.inf:
        raise ConfigError(f"{path}:{line}: {key} is {value}, but must be a number above 0.")
    return value


_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
