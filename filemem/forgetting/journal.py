"""What a forgetting has set out to do, written down before it begins: one that is cut off is finished by the next.

It tells what is to be forgotten, so it is the last file that goes, and lies where git never looks.
"""

import contextlib
import json
import os
from typing import NamedTuple

from filemem.errors import NotFound, Refused
from filemem.files import disk
from filemem.files.folder import Folder
from filemem.forgetting.cuts import Cut
from filemem.forgetting.deletion import DeletionPlan
from filemem.forgetting.wording import MARK, Wording


class DeletionJob(NamedTuple):
    """A plan; whether it is about everything of a user (`all`), whether all that holds the words asked for goes (`every`) or
    only what was chosen of it, whether git's history is rewritten; and the files in which a person had uncommitted changes.
    """

    plan: DeletionPlan
    all: bool = False
    every: bool = False
    purge: bool = False
    edited: tuple[str, ...] = ()

    @property
    def paths(self) -> list[str]:
        """Every path that the plan touches, new names too."""
        return [*self.plan.whole, *self.plan.lines, *self.plan.moved, *self.plan.moved.values()]


def begin(folder: Folder, job: DeletionJob) -> None:
    """Write the job down, durably; raises Refused where another has not come to its end."""
    if disk.exists(folder.bookkeeping(MARK)):
        raise Refused("an earlier forgetting was cut off; finish it with filemem forget, then try again.")
    plan = job.plan
    kept = {"whole": plan.whole, "lines": plan.lines, "moved": plan.moved, "wording": plan.wording.state()}
    folder.make()
    where = os.stat(folder.root).st_ino
    disk.write(folder.bookkeeping(MARK), json.dumps({**job._asdict(), "plan": kept, "folder": where}).encode())


def unfinished(folder: Folder) -> DeletionJob | None:
    """The job that was cut off, if any; raises Refused for one that was not begun in this very folder: a stranger's store
    must not say what is deleted here."""
    try:
        data = disk.read(folder.bookkeeping(MARK))
    except NotFound:
        return None
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        kept = json.loads(data)
        if kept["folder"] != os.stat(folder.root).st_ino:
            raise Refused(
                f"{folder.bookkeeping(MARK)} was not written here; delete it, then forget what it was about anew."
            )
        plan = kept["plan"]
        lines = {path: [Cut(line, tuple(old), new) for line, old, new in cuts] for path, cuts in plan["lines"].items()}
        found = DeletionPlan([], plan["whole"], lines, plan["moved"], Wording.of(plan["wording"]), [])
        return DeletionJob(found, kept["all"], kept["every"], kept["purge"], tuple(kept["edited"]))
    raise Refused(f"{folder.bookkeeping(MARK)} cannot be read; delete it, then forget what it was about anew.")


def end(folder: Folder) -> None:
    """Forget the job, which has come to its end."""
    with contextlib.suppress(NotFound):
        disk.delete(folder.bookkeeping(MARK))
        disk.sync_folder(folder.bookkeeping())
