"""Which paths a glob means: `*` and `?` stay within a folder, `**` crosses folders, `[…]` and `{a,b}` as in a shell."""

import fnmatch
import re
from collections.abc import Callable, Sequence

from filemem.errors import FilememError
from filemem.text.plain import one_line

MOST = 64  # alternatives that braces may spell out


def matcher(glob: str) -> Callable[[str], bool]:
    """A test of paths. A path means that file, whatever its name holds; a name without wildcards all in that folder, too; a glob
    without a slash names at any depth. Raises FilememError. Matching takes time in proportion to the path and the glob."""
    globs = [named := glob.strip().removeprefix("./").rstrip("/")]
    while braces := next(
        (match for one in globs if (match := re.search(r"\{([^{}]*)\}", one))), None
    ):
        one = braces.string
        globs += [
            one[: braces.start()] + part + one[braces.end() :]
            for part in braces[1].split(",")
        ]
        globs = [other for other in globs if other != one]
        if len(globs) > MOST:
            raise FilememError(
                f"the glob {one_line(glob, 60)} stands for more than {MOST} others; name fewer of them."
            )
    tests = [_one(alternative) for alternative in globs]
    return lambda path: path == named or any(test(path) for test in tests)


def _one(glob: str) -> Callable[[str], bool]:
    if not re.search(r"[*?\[]", glob):
        return lambda path: path == glob or path.startswith(glob + "/")
    if "/" not in glob and glob != "**":
        glob = f"**/{glob}"
    parts = [
        None if part == "**" else re.compile(fnmatch.translate(part))
        for part in glob.split("/")
    ]
    return lambda path: _match(parts, path.split("/"))


def _match(parts: Sequence[re.Pattern[str] | None], names: list[str]) -> bool:
    """Do the folders' names match, with None for any number of them? Row by row, and the standard
    library's patterns never backtrack, so that no glob takes long."""
    row = [True] + [False] * len(
        names
    )  # row[n]: the parts so far match the first n names
    for part in parts:
        after = [part is None and row[0]]
        for n, name in enumerate(names):
            after.append(
                row[n + 1] or after[n]
                if part is None
                else row[n] and part.match(name) is not None
            )
        row = after
    return row[-1]
