"""The one format of the index's files: a JSON head and named tables, checked whole.

A file is the CRC-32 of all that follows, the head in one line, and the tables one after
the other, in the byte order of the machine.
"""

import json
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

CHECK_BYTES = 4


class DamagedFile(ValueError):
    """These bytes are no file of this format."""


class Container(NamedTuple):
    """What a file holds.

    Attributes:
        head: any values that JSON has.
        tables: bytes by their names.
    """

    head: Any
    tables: Mapping[str, bytes]


def pack(head: Mapping[str, Any], tables: Mapping[str, bytes]) -> bytes:
    """Return the bytes of a file.

    Args:
        head: its `version` is what `unpack` asks for.
        tables: whose sizes the head will also have.
    """
    sizes = {name: len(table) for name, table in tables.items()}
    line = json.dumps({**head, "tables": sizes}, separators=(",", ":")).encode()
    body = b"".join([line, b"\n", *tables.values()])
    return zlib.crc32(body).to_bytes(CHECK_BYTES) + body


def unpack(data: bytes, version: str) -> Container:
    """Return what the bytes of a file hold.

    Raises:
        DamagedFile: a byte is missing or wrong, or the head names another version.
    """
    body = data[CHECK_BYTES:]
    if zlib.crc32(body).to_bytes(CHECK_BYTES) != data[:CHECK_BYTES]:
        raise DamagedFile
    try:
        start = body.index(b"\n") + 1
        head = json.loads(body[:start])
        tables: dict[str, bytes] = {}
        for name, size in head["tables"].items():
            tables[name] = body[start : start + size]
            start += size
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise DamagedFile from None
    if start != len(body) or head["version"] != version:
        raise DamagedFile
    return Container(head, tables)
