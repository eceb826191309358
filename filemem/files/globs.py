"""Which paths a glob means: `*` and `?` stay within a folder, `**` crosses folders, `[…]` and `{a,b}` as in a shell."""

import fnmatch
import functools
import re
from collections.abc import Callable, Iterator, Sequence

from filemem.errors import FilememError
from filemem.text.plain import one_line

MOST = 64  # alternatives that braces may spell out


class GlobError(FilememError):
    """A glob that cannot be read."""


def matcher(glob: str) -> Callable[[str], bool]:
    """A test of paths. A name without wildcards means that file or all in that folder; a glob without a slash means names
    at any depth. Raises GlobError. Matching takes time in proportion to the path and the glob, whatever they hold."""
    alternatives = list(_spelt_out(glob.strip().removeprefix("./").rstrip("/")))
    tests = [_one(alternative) for alternative in alternatives]
    return tests[0] if len(tests) == 1 else lambda path: any(test(path) for test in tests)


def no_match_message(glob: str, near: Sequence[str]) -> str:
    """The sentence for a glob that names no file, with the nearest paths."""
    hint = f"nearest: {', '.join(near)}" if near else "facts/** and sessions/2026/** are examples of globs"
    return f"no file matches {one_line(glob)}; {hint}."


def _spelt_out(glob: str) -> Iterator[str]:
    """The globs that braces stand for."""
    waiting, out = [glob], 0
    while waiting:
        current = waiting.pop()
        match = re.search(r"\{([^{}]*)\}", current)
        if not match:
            out += 1
            yield current
        else:
            waiting += [current[: match.start()] + part + current[match.end() :] for part in match[1].split(",")]
        if out + len(waiting) > MOST:
            raise GlobError(
                f"the glob {one_line(glob, 60)} stands for more than {MOST} others; name fewer alternatives."
            )


def _one(glob: str) -> Callable[[str], bool]:
    if not re.search(r"[*?\[]", glob):
        return lambda path: path == glob or path.startswith(glob + "/")
    if "/" not in glob and glob != "**":
        name = _segment(glob)
        return lambda path: name(path.rsplit("/", 1)[-1])
    parts = [None if part == "**" else _segment(part) for part in glob.split("/")]
    return lambda path: _match(parts, path.split("/"))


@functools.lru_cache(maxsize=256)
def _segment(glob: str) -> Callable[[str], bool]:
    """The test of one folder's or file's name; the standard library's translation never backtracks."""
    try:
        compiled = re.compile(fnmatch.translate(glob.replace("**", "*")))
    except re.error:
        raise GlobError(
            f"the glob {one_line(glob, 60)} cannot be read; put [ in brackets to mean the character: [[]."
        ) from None
    return lambda name: compiled.match(name) is not None


def _match(parts: Sequence[Callable[[str], bool] | None], names: list[str]) -> bool:
    """Do the folders' names match, with None for any number of them? Row by row, so that no glob takes long."""
    row = [True] + [False] * len(names)  # row[n]: the parts so far match the first n names
    for part in parts:
        following = [False] * (len(names) + 1)
        for n in range(len(names) + 1):
            if part is None:
                following[n] = row[n] or (n > 0 and following[n - 1])
            elif n > 0:
                following[n] = row[n - 1] and part(names[n - 1])
        row = following
    return row[-1]
