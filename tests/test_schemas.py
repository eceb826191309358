"""The JSON Schemas say what the program checks: the settings those of `Config` and no others, the front matter what
`filemem check` accepts. `python tests/test_schemas.py` writes the one for the settings anew from `Config`."""

import dataclasses
import inspect
import json
import re
from pathlib import Path
from typing import Any

from filemem.files import config, memory
from filemem.files.config import Config

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


# -- settings ------------------------------------------------------------------------------------------------------


def test_the_schema_of_the_settings_is_that_of_config() -> None:
    """Every key with its type, default and comment; where it differs, run this file to write it anew."""
    assert schema("settings") == settings_schema()
    assert all(rule["description"] for rule in settings_schema()["properties"].values())


# -- front matter --------------------------------------------------------------------------------------------------


def test_every_key_that_means_something_is_in_the_schema_of_front_matter() -> None:
    known = schema("memory")["properties"]
    assert set(memory._CHECKS) | memory.METADATA_KEYS <= set(known)
    assert schema("memory")["additionalProperties"] is True


if __name__ == "__main__":
    (SCHEMAS / "settings.schema.json").write_text(json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n")
