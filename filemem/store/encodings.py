"""How the bytes of a memory are read: as UTF-8, else as well as can be."""

import codecs
import re
from contextlib import suppress

UTF_8 = "utf-8"
BINARY = "binary"
_LOOKED_AT_BYTES = 65_536
_NOT_ASCII = re.compile("[^\x00-\x7f\ufffd]")


def encoding_of(data: bytes) -> str:
    """Return the codec by which bytes are read; BINARY for what is not text.

    With a few broken bytes in it, or cut off, a text in UTF-8 is still one.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in data[:_LOOKED_AT_BYTES]:
        return BINARY
    with suppress(UnicodeDecodeError):
        data.decode()
        return UTF_8
    text = data.decode(errors="replace")
    if text.count("\ufffd") <= len(_NOT_ASCII.findall(text)):
        return UTF_8
    with suppress(UnicodeDecodeError):
        data.decode("gb18030")
        return "gb18030"
    return "latin-1"


def decode(data: bytes) -> str:
    """Return the text of bytes, without a byte order mark; '' for a binary file."""
    encoding = encoding_of(data)
    if encoding == BINARY:
        return ""
    return data.decode(encoding, "replace").removeprefix("\ufeff")
