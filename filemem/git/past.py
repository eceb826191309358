"""A user's memories as of a day."""

import datetime as dt
import os
from typing import NoReturn

from filemem.errors import NotFound, Refused
from filemem.git.commits import Commit, read_commits
from filemem.git.history import History
from filemem.git.repository import pathspec
from filemem.store.folder import Folder


class Past(Folder):
    """One person's memories as a commit has them, which can be read but not written.

    `moment` is what was asked for. The files are a copy, deleted with this object.
    """

    def __init__(self, folder: Folder, commit: Commit, moment: dt.datetime) -> None:
        self._copy = folder.scratch()
        root = os.path.join(self._copy.name, folder.own_folder)
        super().__init__(
            root, folder.name, named=folder.is_own, on_event=folder.on_event
        )
        self.store = folder.store
        self.commit = commit
        self.moment = moment

    def locked(self, wait: float | None = None) -> NoReturn:
        """Refuse to write; raises Refused."""
        raise Refused(
            f"these are the memories as of {self.commit.at:%Y-%m-%d}, "
            "which can be read but not changed; leave out the day."
        )


def as_of(folder: Folder, moment: dt.date | dt.datetime) -> Past:
    """Return what was believed at a moment: the last commit by then on this branch.

    A date means its end in local time. Raises NotFound if nothing of the user's had
    been committed by then, or is kept now.
    """
    folder.require()
    history = History(folder)
    repository = history.repository
    end = moment
    if not isinstance(end, dt.datetime):
        end = dt.datetime.combine(end, dt.time(23, 59, 59))
    end = end.astimezone()
    before = f"--before={end.isoformat(timespec='seconds')}"
    found = []
    for place in history.stays:
        inside = pathspec(place.folder)
        last = read_commits(repository, "-1", "--first-parent", before, "--", inside)
        found = [one for one in last if one.commit not in place.strangers]
        if found:
            break
    if not found:
        raise NotFound(
            f"nothing of {folder.name} had been committed by {moment:%Y-%m-%d}; "
            "name a later day."
        )
    past = Past(folder, found[0], end)
    index = f"{past.root}.index"
    tree = f"{past.commit.commit}:{place.folder}"
    if repository.call("read-tree", tree, GIT_INDEX_FILE=index).code:
        raise NotFound(
            f"{folder.name} had no memories by {moment:%Y-%m-%d}: {past.commit.commit}"
            " deleted them; name an earlier day."
        )
    repository.run(
        "-c",
        "core.symlinks=false",
        "checkout-index",
        "--all",
        "--quiet",
        f"--prefix={past.root}/",
        GIT_INDEX_FILE=index,
    )
    return past
