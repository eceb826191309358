"""The one format of the index's files: a JSON head and named tables, checked whole.

A file is a header (MAGIC, the CRC-32 of all that follows, the size of the head), the
head, and the tables one after the other, in the byte order of the machine.
"""

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

MAGIC = b"filemem index 12"

_HEADER = struct.Struct("<16sII")


class DamagedFile(ValueError):
    """These bytes are no file of this format."""


class Container(NamedTuple):
    """What a file holds.

    Attributes:
        head: any values that JSON has.
        tables: bytes by their names.
    """

    head: Any
    tables: Mapping[str, memoryview]


def pack(head: Mapping[str, Any], tables: Mapping[str, bytes]) -> bytes:
    """Return the bytes of a file.

    Args:
        head: its `version` is what `unpack` asks for.
        tables: whose sizes the head will also have.
    """
    sizes = {name: len(table) for name, table in tables.items()}
    text = json.dumps({**head, "tables": sizes}, separators=(",", ":")).encode()
    body = b"".join([text, *tables.values()])
    return _HEADER.pack(MAGIC, zlib.crc32(body), len(text)) + body


def unpack(data: bytes, version: str) -> Container:
    """Return what the bytes of a file hold.

    Raises:
        DamagedFile: a byte is missing or wrong, or the head names another version.
    """
    try:
        magic, checksum, head_size = _HEADER.unpack_from(data)
        body = memoryview(data)[_HEADER.size :]
        if magic != MAGIC or checksum != zlib.crc32(body):
            raise DamagedFile
        head = json.loads(bytes(body[:head_size]))
        if head["version"] != version:
            raise DamagedFile
        tables: dict[str, memoryview] = {}
        end = head_size
        for name, size in head["tables"].items():
            tables[name] = body[end : end + size]
            end += size
        if end != len(body):
            raise DamagedFile
    except (ValueError, LookupError, TypeError, RecursionError, struct.error):
        raise DamagedFile from None
    return Container(head, tables)
