"""One key of a file's front matter changed, every other byte kept."""

from filemem.files.front import replaced
from filemem.files.memory import Memory, encoding_of


def set_front(path: str, data: bytes, key: str, value: str) -> bytes:
    """The file with a front matter key set to a YAML value on one line, every other byte kept.

    Raises ValueError where that cannot be done so: the YAML is broken, or the file is no text.
    """
    memory = Memory(path, data)
    encoding = encoding_of(data)
    text = data.decode(encoding) if encoding != "utf-16" and not memory.binary else ""
    if text.encode(encoding) != data:
        raise ValueError("not UTF-8")
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    start, end = len(text) - len(text.removeprefix("\ufeff")), len(text)
    if not memory.is_yaml and not memory.front_end:
        if memory.lines and memory.lines[0].rstrip() == "---":
            raise ValueError("the front matter is never closed")
        fence = f"---{newline}"
        return (text[:start] + fence + replaced("", key, value, newline) + fence + text[start:]).encode(encoding)
    if not memory.is_yaml:
        lines = text.split("\n")
        start, end = (sum(len(line) + 1 for line in lines[:count]) for count in (1, memory.front_end - 1))
    return (text[:start] + replaced(text[start:end], key, value, newline) + text[end:]).encode(encoding)
