"""Which conversations there are, and which of them a person means."""

from filemem.cli.common import split_line
from filemem.errors import FilememError, NotFound
from filemem.files import transcript
from filemem.files.folder import Folder
from filemem.files.memory import ARCHIVE, when_of
from filemem.files.transcript import Transcript
from filemem.text.plain import few, one_line

LISTED = 10  # sessions that /sessions shows
KINDS = ("sessions/", f"{ARCHIVE}/sessions/")


def newest(folder: Folder) -> list[str]:
    """The paths of all sessions, those in the archive last, and of each the one that began last first."""
    begun = []
    for stat in folder.files():
        when = when_of(stat.path)
        if when and stat.path.startswith(KINDS) and stat.path.endswith(".md"):
            begun.append((stat.path.startswith(KINDS[0]), when.date, when.time or "", stat.changed, stat.path))
    return [path for *_, path in sorted(begun, reverse=True)]


def resumed(folder: Folder, name: str | None) -> Transcript | None:
    """The session to go on with: by its path or a part of its name, the latest for ""; None for None.

    Raises NotFound where there is none, FilememError where a part fits several.
    """
    if name is None:
        return None
    if not name.strip():
        return transcript.latest(folder)
    paths, (path, _) = newest(folder), split_line(folder, name)
    if path in paths:
        return Transcript(folder, path)
    wanted = path.removesuffix(".md").casefold()
    exact = [path for path in paths if _name(path) == wanted]
    live = [path for path in paths if wanted in path.casefold() and path.startswith(KINDS[0])]
    found = exact or live or [path for path in paths if wanted in path.casefold()]
    if not found:
        known = f"the latest are {few(paths)}" if paths else "there is none yet; start one with: filemem chat"
        raise NotFound(f"no session of {folder.name} is called {one_line(name, 80)}; {known}.")
    if len(found) > 1:
        raise FilememError(f"{one_line(name, 80)} fits {len(found)} sessions; say which: {few(found, 5)}.")
    return Transcript(folder, found[0])


def listed(folder: Folder) -> list[str]:
    """A line each for the latest sessions: when, how many turns, where."""
    lines = []
    for path in newest(folder)[:LISTED]:
        when, turns = when_of(path), len(Transcript(folder, path).turns())
        began = f"{when.date} {when.time or '':5}" if when else ""
        lines.append(f"{began}  {turns:>3} turn{'s' if turns != 1 else ' '}  {path}")
    return lines


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md").casefold()
