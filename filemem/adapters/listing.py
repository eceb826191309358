"""How Anthropic's memory tool shows a folder and a file."""

from collections import Counter


def listing(notes: dict[str, int], path: str, name: str) -> str:
    """What lies in the folder `path`, which the tool calls `name`, two levels deep; `notes` has every file's size in bytes."""
    sizes = Counter({"": 0})
    for note, size in notes.items():
        parts = note.removeprefix(path).split("/") if note.startswith(f"{path}/") else []
        for depth in range(1, min(len(parts), 3) + 1):
            sizes["/".join(parts[:depth]) + "/" * (1 < depth < len(parts))] += size
    head = f"Here're the files and directories up to 2 levels deep in {name}, excluding hidden items:"
    return "\n".join([head, *(f"{_size(sizes[one])}\t{name}{one}" for one in sorted(sizes))])


def numbered(text: str, first: int, last: int) -> str:
    """The lines of a text from one to another, -1 standing for its end, with their numbers."""
    lines = text.split("\n")
    return "\n".join(f"{n:>6}\t{lines[n - 1]}" for n in range(first, min(last % 2**62, len(lines)) + 1))


def _size(count: int) -> str:
    """A size as `du -h` writes it."""
    unit = min(3, max(0, count.bit_length() - 1) // 10)
    return f"{count / 1024**unit:.1f}".removesuffix(".0") + "BKMG"[unit]
