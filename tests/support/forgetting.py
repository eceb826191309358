"""`filemem forget` for tests, and what still says it afterwards; use of a memory."""

import datetime as dt
from pathlib import Path

from click.testing import CliRunner, Result

from filemem.cli import cli
from filemem.store.folder import Folder
from filemem.store.usage import note_use

WORD = "zyzzyva"


def forget(user: Folder, *words: str) -> Result:
    """What the command printed, returned and raised for one user."""
    given = ["--store", user.store, "--user", user.name, "forget", *words]
    home = {"HOME": user.store, "XDG_CONFIG_HOME": f"{user.store}/.c"}
    return CliRunner().invoke(cli, given, env=home, standalone_mode=False)


def holding(root: str | Path, word: str = WORD) -> list[str]:
    """The files under a folder, git's aside, with a word in their bytes or name."""
    found = []
    for path in Path(root).rglob("*"):
        inside = path.relative_to(root).as_posix()
        says = path.is_file() and word.encode() in path.read_bytes()
        if ".git/" not in f"{inside}/" and (word in inside or says):
            found.append(inside)
    return found


def use_weekly(user: Folder, first: dt.date, last: dt.date) -> None:
    """Have the person have used their memory once a week, so that its clock runs."""
    for days in range(0, (last - first).days, 7):
        note_use(user, first + dt.timedelta(days))
