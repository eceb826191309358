"""The JSON Schemas, which editors and `filemem init` read, say what the program checks: of the settings those of `Config` and no
others, of front matter what `filemem check` accepts."""

import dataclasses
import inspect
import json
import re
from pathlib import Path
from typing import Any

import filemem
from filemem.store import config
from filemem.store.config import Config
from filemem.store.fields import DESCRIBING, FIELDS

TYPES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    tuple: "array",
    type(None): "object",
}


def schema(name: str) -> dict[str, Any]:
    path = Path(filemem.__file__).parent / "schemas" / f"{name}.schema.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_the_schema_of_the_settings_is_that_of_config() -> None:
    """Every key with its type, default, choices and comment."""
    source = inspect.getsource(Config)
    said = {}
    for above, name, beside in re.findall(
        r"^(?:    # (.+)\n)?    (\w+): .*?(?:  # (.+))?$", source, re.MULTILINE
    ):
        said[name] = above or beside
    found, rules = schema("settings"), schema("settings")["properties"]
    fields = dataclasses.fields(Config)
    assert found["additionalProperties"] is False and list(rules) == [
        *(field.name for field in fields),
        config.STORES,
    ]
    for field in fields:
        rule, kind = rules[field.name], type(field.default)
        assert rule["description"] == said[field.name] and rule["type"] == [
            TYPES[kind],
            "null",
        ], field.name
        assert rule["default"] == ([] if field.default == () else field.default), (
            field.name
        )
        assert rule.get("enum", [None])[:-1] == list(
            config.RECALL if field.name == "recall" else ()
        )
        assert ("exclusiveMinimum" in rule) == (kind in (int, float)), field.name
    assert (
        list(rules["embeddings"]["properties"]) == list(config.EMBEDDINGS)
        and rules["threshold"]["exclusiveMaximum"] == 1
    )


def test_every_key_that_means_something_is_in_the_schema_of_front_matter() -> None:
    known = schema("memory")["properties"]
    assert FIELDS.keys() | DESCRIBING <= set(known)
    assert schema("memory")["additionalProperties"] is True
