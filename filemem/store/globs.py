"""Which paths a glob means.

`*` and `?` stay within a folder, `**` crosses folders, `[…]` and `{a,b}` are as in a
shell. Matching takes time in proportion to the path and the glob.
"""

import fnmatch
import functools
import re
from collections.abc import Callable, Sequence

from filemem.errors import FilememError

MAX_ALTERNATIVES = 64  # that braces may spell out
_BRACES = re.compile(r"\{([^{}]*)\}")
_WILDCARD = re.compile(r"[*?\[]")


@functools.lru_cache(maxsize=32)
def matcher(glob: str) -> Callable[[str], bool]:
    """Return a test of paths.

    A path means that file, whatever its name holds; a name without wildcards all in
    that folder, too; a glob without a slash names at any depth.

    Raises:
        FilememError: the glob stands for too many others.
    """
    named = glob.strip().removeprefix("./").rstrip("/")
    tests = [_test_of(alternative) for alternative in _spelt_out(named)]
    return lambda path: path == named or any(test(path) for test in tests)


def _spelt_out(glob: str) -> list[str]:
    """Return the globs without braces that a glob stands for; raise FilememError."""
    braces = _BRACES.search(glob)
    if not braces:
        return [glob]
    before = glob[: braces.start()]
    behind = glob[braces.end() :]
    found: list[str] = []
    for part in braces[1].split(","):
        found += _spelt_out(f"{before}{part}{behind}")
        if len(found) > MAX_ALTERNATIVES:
            what = f"stands for more than {MAX_ALTERNATIVES} others"
            raise FilememError(f"the glob {what}; name fewer of them.")
    return found


def _test_of(glob: str) -> Callable[[str], bool]:
    """Return a test of paths for a glob without braces."""
    if not _WILDCARD.search(glob):
        return lambda path: path == glob or path.startswith(glob + "/")
    if "/" not in glob and glob != "**":
        glob = f"**/{glob}"
    parts: list[re.Pattern[str] | None] = []
    for part in glob.split("/"):
        is_any_depth = part == "**"
        parts.append(None if is_any_depth else re.compile(fnmatch.translate(part)))
    return lambda path: _matches(parts, path.split("/"))


def _matches(parts: Sequence[re.Pattern[str] | None], names: list[str]) -> bool:
    """Tell whether the folders' names match; a None stands for any number of them.

    It goes row by row, and the standard library's patterns never backtrack, so that no
    glob takes long.
    """
    # matched[n]: the parts so far match the first n names.
    matched = [True] + [False] * len(names)
    for part in parts:
        after = [part is None and matched[0]]
        for n, name in enumerate(names):
            if part is None:
                after.append(matched[n + 1] or after[n])
            else:
                after.append(matched[n] and part.match(name) is not None)
        matched = after
    return matched[-1]
