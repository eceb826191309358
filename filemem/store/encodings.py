"""The encodings that a memory's bytes may have."""

import re
from collections.abc import Callable

from filemem.errors import Refused


def encoding_of(data: bytes) -> str:
    """`utf-8`, or what the bytes are read as instead; with a few broken bytes in it, or cut off, a text is still what it was."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    text = data.decode(errors="replace")
    if text.encode() == data or text.count("\ufffd") <= len(
        re.findall("[^\x00-\x7f\ufffd]", text)
    ):
        return "utf-8"
    # In GB 18030 many bytes over 0x7f stand in rows, though a character may end with a lower one; in Latin-1 they stand alone.
    runs = re.findall(rb"[\x80-\xff]+", data[:1_000_000])
    rows = 3 * sum(len(run) for run in runs if len(run) >= 4) > sum(map(len, runs))
    return (
        "gb18030"
        if rows and data.decode("gb18030", "replace").count("\ufffd") <= len(runs)
        else "latin-1"
    )


def decode(data: bytes) -> str:
    """The text of a file's bytes, without a byte order mark; never raises."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode(encoding_of(data), "replace").removeprefix("\ufeff")


def _codec(data: bytes) -> str:
    return {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(
        data[:2]
    ) or encoding_of(data)


def in_utf8(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """A file's bytes after a change to them as UTF-8 has them, in the encoding that it has; Refused for broken ones."""
    codec = _codec(data)
    if codec in ("utf-8", "latin-1"):
        return change(data)
    try:
        return change(data.decode(codec).encode()).decode().encode(codec)
    except UnicodeError:
        raise Refused(
            f"the file is broken {codec.upper()}; save it as UTF-8, then try again."
        ) from None


def extended(data: bytes, text: str) -> bytes:
    """A file's bytes with whole lines behind them, in the encoding that it has."""
    encoding = _codec(data)
    return (
        data
        + ("" if decode(data).endswith("\n") else "\n").encode(encoding)
        + text.encode(encoding, "replace")
    )
