"""The callbacks by which git filter-repo rewrites a copy of a history, in a process of its own: see `purge`."""

import json
import os
import subprocess
import sys
from typing import Any

import git_filter_repo

from filemem.forgetting.deletion import FORGOTTEN, DeletionPlan, LineCut, TextMatcher, renamed
from filemem.forgetting.purge import cleaned


def rewrite(job: dict[str, Any]) -> None:
    """Rewrite every ref of the bare repository that this process stands in, as the job says."""
    lines = {path: [LineCut(n, tuple(old), new) for n, old, new in cuts] for path, cuts in job["lines"].items()}
    matcher = TextMatcher(job["about"], job["texts"])
    found = DeletionPlan([], {}, lines, job["names"], matcher, job["every"])
    touching = set(job["commits"])

    def blob(one: Any, _: Any) -> None:
        if path := job["blobs"].get(one.original_id.decode()):
            one.data = cleaned(path, one.data, found)

    def name(path: bytes) -> bytes | None:
        text = path.decode("utf-8", "surrogateescape")
        new = job["paths"].get(text, text)
        return new.encode("utf-8", "surrogateescape") if new else None

    def message(text: bytes) -> bytes:
        said = renamed(text, found.names).decode("utf-8", "surrogateescape").split("\n")
        kept = [line if not matcher.begins(line) else _blank(line) for line in said]
        return "\n".join(kept).encode("utf-8", "surrogateescape")

    targets = {os.fsencode(new) for old, new in job["paths"].items() if new and new != old}

    def commit(one: Any, _: Any) -> None:
        # A file that has its new name already loses only the old one.
        again = [change for change in one.file_changes if change.type == b"D" and change.filename in targets]
        for change in again:
            there = ["git", "cat-file", "-e", one.original_id + b":" + change.filename]
            if not subprocess.run(there, stderr=subprocess.DEVNULL, check=False).returncode:
                one.file_changes.remove(change)
        if one.original_id.decode() in touching or not one.file_changes:
            one.message = message(one.message)

    def tag(one: Any, _: Any) -> None:
        one.message = message(one.message)

    how = git_filter_repo.FilteringOptions.parse_args(
        ["--partial", "--force", "--quiet", "--prune-degenerate", "never"]
    )
    git_filter_repo.RepoFilter(
        how, filename_callback=name, blob_callback=blob, commit_callback=commit, tag_callback=tag
    ).run()


def _blank(line: str) -> str:
    return f"{line.partition(':')[0]}: {FORGOTTEN}" if ": " in line else FORGOTTEN


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape") as given:
        rewrite(json.load(given))
