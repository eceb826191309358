"""The JSON Schemas say what the program checks: the settings those of `Config` and no others, the front matter what
`filemem check` accepts. `python tests/test_schemas.py` writes the one for the settings anew from `Config`."""

import dataclasses
import datetime as dt
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filemem.files import config, memory
from filemem.files.config import Config, ConfigError
from filemem.files.memory import Memory

SCHEMAS = Path(memory.__file__).parents[1] / "schemas"
TYPES: dict[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    tuple: "array",
    type(None): "object",
}
MORE: dict[str, dict[str, Any]] = {
    "imports": {"default": [], "items": {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}},
    **{key: {"default": [], "items": {"type": "string", "minLength": 1}} for key in ("redact_also", "redact_never")},
    "embeddings": {
        "required": ["model"],
        "properties": {
            key: {"type": "array", "items": {"type": "string", "minLength": 1}, "description": said}
            if key == "except"
            else {"type": "string", "minLength": 1, "description": said}
            for key, said in config.EMBEDDINGS.items()
        },
        "additionalProperties": False,
    },
    "threshold": {"exclusiveMaximum": 1},
    **{key: {"enum": [*words, None]} for key, words in config.CHOICES.items()},
}


def settings_schema() -> dict[str, Any]:
    """The schema as `Config`'s fields and their comments give it."""
    said = dict(re.findall(r"^    (\w+): .*?  # (.+)$", inspect.getsource(Config), re.MULTILINE))
    properties: dict[str, Any] = {}
    for field in dataclasses.fields(Config):
        kind = type(field.default)
        found: dict[str, Any] = {
            "description": said.get(field.name, ""),
            "type": [TYPES[kind], "null"],
            "default": field.default,
        }
        if kind in (int, float):
            found["exclusiveMinimum"] = 0
        properties[field.name] = found | MORE.get(field.name, {})
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "filemem.yaml: the settings of a store",
        "description": "Every key is optional.",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": properties,
    }


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return found


def holds(rule: dict[str, Any], value: Any) -> bool:
    """Does a value satisfy a schema, as far as these two schemas go?"""
    kinds = rule.get("type")
    if kinds is not None and not any(_is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        return False
    if "enum" in rule and value not in rule["enum"]:
        return False
    if isinstance(value, str) and "pattern" in rule and not re.search(rule["pattern"], value):
        return False
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = rule.get("minimum", value), rule.get("maximum", value)
        over, under = rule.get("exclusiveMinimum"), rule.get("exclusiveMaximum")
        if not low <= value <= high or (over is not None and value <= over) or (under is not None and value >= under):
            return False
    if isinstance(value, dict):
        known = rule.get("properties", {})
        return all(
            holds(known[key], entry) if key in known else rule["additionalProperties"] for key, entry in value.items()
        )
    return True


def _is(value: Any, kind: str) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return {
        "string": isinstance(value, str),
        "number": number,
        "integer": number and float(value).is_integer(),
        "boolean": isinstance(value, bool),
        "null": value is None,
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
    }[kind]


# -- settings ------------------------------------------------------------------------------------------------------


def test_the_schema_of_the_settings_is_that_of_config() -> None:
    """Every key with its type, default and comment; where it differs, run this file to write it anew."""
    assert schema("settings") == settings_schema()
    assert all(rule["description"] for rule in settings_schema()["properties"].values())


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.floats(-2, 2, width=16).filter(lambda value: not value.is_integer()),
    st.sampled_from(["", "x"]),
)
KEYS = [
    field.name for field in dataclasses.fields(Config) if field.name not in MORE
]  # these are looked at where they are used


@settings(deadline=None, max_examples=150)
@given(st.dictionaries(st.sampled_from([*KEYS, "colour"]), VALUES, max_size=2))
def test_the_schema_takes_the_settings_that_the_program_takes(
    tmp_path_factory: pytest.TempPathFactory, given: dict[str, Any]
) -> None:
    store = tmp_path_factory.mktemp("store")
    (store / config.NAME).write_text(json.dumps(given))
    try:
        config.load(store, {})
        taken = True
    except ConfigError:
        taken = False
    assert holds(schema("settings"), given) == taken


# -- front matter --------------------------------------------------------------------------------------------------


def test_every_key_that_means_something_is_in_the_schema_of_front_matter() -> None:
    known = schema("memory")["properties"]
    assert set(memory._CHECKS) | memory.METADATA_KEYS <= set(known)
    assert schema("memory")["additionalProperties"] is True


ANY = st.one_of(
    st.booleans(),
    st.integers(-3, 13),
    st.floats(-1, 12, width=16).filter(lambda value: not value.is_integer()),
    st.dates(dt.date(1000, 1, 1)),
    st.datetimes(dt.datetime(1000, 1, 1)),
    st.sampled_from(["", "tea", "facts/a.md"]),
    st.lists(st.sampled_from(["tea", "x"]), max_size=2),
    st.dictionaries(st.just("a"), st.just("b"), max_size=1),
)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(sorted(memory._CHECKS)), ANY)
def test_the_schema_of_front_matter_takes_what_check_takes(key: str, value: Any) -> None:
    """An editor's YAML has dates as text, so a date is no mistake where the schema wants text."""
    plain = value.isoformat() if isinstance(value, dt.date) else value
    right = bool(memory._CHECKS[key][0](value))
    if isinstance(value, dt.date) and not key.startswith("valid"):
        return
    assert holds(schema("memory")["properties"][key], plain) == right


def test_the_sample_store_satisfies_the_schema() -> None:
    root = Path(__file__).parents[1] / "memory_store/mara"
    seen = 0
    for path in [path for path in root.rglob("*.*") if ".filemem" not in path.parts]:
        front = Memory(path.relative_to(root).as_posix(), path.read_bytes()).front
        plain = {key: value.isoformat() if isinstance(value, dt.date) else value for key, value in front.items()}
        assert holds(schema("memory"), plain), path
        seen += bool(front)
    assert seen > 10


if __name__ == "__main__":
    (SCHEMAS / "settings.schema.json").write_text(json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n")
