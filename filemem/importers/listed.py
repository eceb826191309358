"""What `imports:` in `filemem.yaml` lists for a user, taken in by `maintain`: only files that changed since the last time.

`.filemem/imported.json` has the size and time of each file that was read to its end; without it all are read again, and
nothing is taken twice, as that is what the record of origins is for.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator

from filemem.errors import FilememError
from filemem.files import config, safe
from filemem.files.config import ConfigError
from filemem.files.folder import Folder
from filemem.files.store import StoreFolder
from filemem.importers import agent_logs
from filemem.importers.exports import Skipped
from filemem.importers.intake import FORMATS, ImportReport, ImportRun, import_file
from filemem.text.plain import one_line

RECORD = "imported.json"
_FILES = {"claude-code": agent_logs.CLAUDE_CODE, "codex": agent_logs.CODEX}  # formats of which each file stands alone


# A format, a file or folder to take in, and what tells that it changed; an empty mark says that this cannot be told.
_Import = tuple[str, str, list[int]]


def take(folder: Folder, progress: Callable[[int, int], None], *, dry: bool = False) -> ImportReport:
    """Take in what is listed for this user; what cannot be read is said in the report and stops nothing else."""
    run, known = ImportRun(), _known(folder)
    store = StoreFolder(folder.store, folder.trust)
    every = _sources(folder, run.report.skipped)
    waiting = [(format, path, mark) for format, path, mark in every if not mark or known.get(path) != mark]
    for number, (format, path, mark) in enumerate(waiting):
        progress(number, len(waiting))
        try:
            import_file(store, format, path, user=folder.name, dry_run=dry, run=run)
        except (FilememError, OSError) as error:
            run.report.skipped.append(Skipped(one_line(path), str(error)))
            continue
        known[path] = mark
    if waiting and not dry:
        with folder.locked():
            safe.write(folder.bookkeeping(RECORD), json.dumps(known).encode("utf-8", "surrogateescape"))
    return run.report


def _sources(folder: Folder, skipped: list[Skipped]) -> Iterator[_Import]:
    """What the settings list for this user, folders of sessions file by file. Raises ConfigError for an entry without sense."""
    for entry in config.of(folder).imports:
        format, path = next((key, entry[key]) for key in entry if key != "user")
        if format not in FORMATS:
            raise ConfigError(f"{config.NAME}: imports names {one_line(format)}; known are {', '.join(FORMATS)}.")
        if "user" not in entry and len(StoreFolder(folder.store).users()) > 1:
            raise ConfigError(
                f"{config.NAME}: the store has several users; say in imports whose {format} is: `user: NAME`."
            )
        if entry.get("user", folder.name) != folder.name:
            continue
        place = os.path.realpath(os.path.join(folder.store, os.path.expanduser(path)))
        try:
            paths = agent_logs.session_files(place, _FILES[format]) if format in _FILES else [place]
            yield from ((format, one, _mark(one)) for one in paths)
        except (FilememError, OSError) as error:
            skipped.append(Skipped(one_line(path), str(error)))


def _mark(path: str) -> list[int]:
    """A plain file's size and times of modification and inode change, in nanoseconds; nothing for a folder."""
    found = os.stat(path)
    return [] if os.path.isdir(path) else [found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _known(folder: Folder) -> dict[str, list[int]]:
    """The files that were read to their end, by path."""
    with contextlib.suppress(FilememError, OSError, ValueError, RecursionError):
        found = json.loads(safe.read(folder.bookkeeping(RECORD)))
        return found if isinstance(found, dict) else {}
    return {}
