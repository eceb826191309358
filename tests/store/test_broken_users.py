"""Whatever lies in a user's folder, a job on all users ends with a sentence about that user and does the others' work."""

import subprocess
from pathlib import Path

from programs import filemem

from filemem import Store
from filemem.store.passages import turns
from filemem.store.users import StoreFolder

TALK = "- **Ann** 09:30: I bought a loom from Old Hannah for 85 pounds.\n- **Bob** 09:31: Nice. Where?\n"
TALK += (
    "- **Bob** 09:32: " + "I always wanted one of those myself, you know. " * 12 + "\n"
)
SESSION = "sessions/2026/2026-01-01-0930-a.md"
SUMMARY = "summaries/2026/2026-01-conversations.md"
FOLDER = None  # in the place of a file

BROKEN = {  # users whose memories cannot be worked on
    "log-is-a-folder": {SESSION: TALK, ".filemem/recalls.log": FOLDER},
    "other-log-is-a-folder": {SESSION: TALK, ".filemem/compacted.log": FOLDER},
    "summary-is-a-folder": {SESSION: TALK, SUMMARY: FOLDER},
    "folder-is-a-file": {SESSION: TALK, "summaries/2026": "A file."},
    "bookkeeping-is-a-file": {SESSION: TALK, ".filemem": "A file."},
}
ODD = {  # users with odd files beside which all goes on
    "fine": {SESSION: TALK},
    "archive-is-a-file": {SESSION: TALK, "archive": "A file."},
    "deep-yaml": {
        "facts/2026-01-01-a.md": "---\nsource: " + "[" * 5000 + "\n---\nA fact.\n",
        SESSION: TALK,
    },
    "odd-numbers": {
        f"facts/2026-01-0{n}-a.md": f"---\nimportance: {value}\npinned: maybe\n---\nA fact.\n"
        for n, value in enumerate(["1e999", "-3", "9" * 30, ".nan", "true", "[]"], 1)
    },
    "odd-dates": {
        "sessions/9999/9999-12-31-0930-x.md": TALK,
        "sessions/0001/0001-01-01-0930-y.md": TALK,
        "sessions/2026/2026-13-40-z.md": TALK,
        "facts/9999-12-31-x.md": "Later.\n",
        SESSION: TALK,
    },
    "odd-logs": {
        SESSION: TALK,
        ".filemem/recalls.log": f"\t\t\n{'a' * 9000}\n99999-01-01T00:00\topen\tx\n2026-01-01T00:00\tarchived\t../../x\n",
        ".filemem/compacted.log": "a\tb\tc\nd\n",
        ".filemem/consolidated.jsonl": '{"read":1}\n[[[[\n{"wrote":null}\n',
        ".filemem/consolidating.json": "[1,2",
        ".filemem/index": "A file.",
    },
    "two-texts": {
        SESSION: TALK,
        f"archive/{SESSION}": f"{TALK}- **Ann** 09:40: More.\n",
    },
    "empty-summary": {SESSION: TALK, "summaries/2023/2023-01-conversations.md": "\0"},
}


def write(root: Path, users: dict[str, dict[str, str | None]]) -> None:
    for where, text in (
        (root / name / path, text)
        for name, files in users.items()
        for path, text in files.items()
    ):
        where.parent.mkdir(parents=True, exist_ok=True)
        if text is FOLDER:
            where.mkdir()
        else:
            where.write_text(text)


def maintained(root: Path, day: str) -> subprocess.CompletedProcess[str]:
    return filemem("maintain", "--all-users", "--store", root, "--today", day)


def kept(root: Path) -> list[str]:
    """Every turn of every user, wherever it lies, without what memories say that jobs have made."""
    found = []
    for user in map(StoreFolder(root).folder, Store(root).users()):
        for path in user.paths():
            if "/sessions/" in f"/{path}":
                found += [
                    f"{user.name}: {turn.text}"
                    for turn in turns(user.memory(path).lines)
                ]
    return sorted(found)


def test_a_broken_user_stops_no_other_and_loses_nothing(tmp_path: Path) -> None:
    write(tmp_path, BROKEN | ODD)
    before = kept(tmp_path)
    for _ in range(2):
        done = maintained(tmp_path, "2026-11-20")
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert {line.split(": ")[1] for line in done.stderr.splitlines()} == set(BROKEN)
        assert f"{len(ODD)} of {len(BROKEN | ODD)} users done." in done.stdout
        assert kept(tmp_path) == before
    for name in set(ODD) - {"odd-numbers", "archive-is-a-file", "two-texts"}:
        assert f"archive/{SESSION}" in Store(tmp_path).user(name).folder.paths(), name
