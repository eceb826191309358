"""Whatever lies in a user's folder, a job on all users ends with a sentence about that
user and does the others' work."""

from pathlib import Path

from programs import filemem

from filemem import Store
from filemem.store.passages import turns
from filemem.store.users import StoreFolder

TALK = (
    "- **Ann** 09:30: I bought a loom from Old Hannah for 85 pounds.\n"
    "- **Bob** 09:31: Nice. Where?\n"
    f"- **Bob** 09:32: {'I always wanted one of those myself, you know. ' * 12}\n"
)
SESSION = "sessions/2026/2026-01-01-0930-a.md"
SUMMARY = "summaries/2026/2026-01-conversations.md"
FOLDER = None  # in the place of a file

BROKEN = {  # users whose memories cannot be worked on
    "log-is-a-folder": {".filemem/recalls.log": FOLDER},
    "other-log-is-a-folder": {".filemem/compacted.log": FOLDER},
    "summary-is-a-folder": {SUMMARY: FOLDER},
    "folder-is-a-file": {"summaries/2026": "A file."},
    "bookkeeping-is-a-file": {".filemem": "A file."},
}
ODD = {  # users with odd files beside which all goes on
    "fine": {},
    "archive-is-a-file": {"archive": "A file."},
    "deep-yaml": {
        "facts/2026-01-01-a.md": f"---\nsource: {'[' * 5000}\n---\nA fact.\n",
    },
    "odd-numbers": {
        f"facts/2026-01-0{n}-a.md": f"---\nimportance: {value}\n---\nA fact.\n"
        for n, value in enumerate(["1e999", "-3", "9" * 30, ".nan", "true", "[]"], 1)
    },
    "odd-dates": {
        "sessions/9999/9999-12-31-0930-x.md": TALK,
        "sessions/0001/0001-01-01-0930-y.md": TALK,
        "sessions/2026/2026-13-40-z.md": TALK,
    },
    "odd-logs": {
        ".filemem/recalls.log": f"\t\t\n{'a' * 9000}\n99999-01-01T00:00\topen\tx\n",
        ".filemem/compacted.log": "a\tb\tc\nd\n",
        ".filemem/consolidated.jsonl": '{"read":1}\n[[[[\n{"wrote":null}\n',
        ".filemem/index": "A file.",
    },
    "two-texts": {f"archive/{SESSION}": f"{TALK}- **Ann** 09:40: More.\n"},
}


def write(root: Path) -> None:
    for name, files in (BROKEN | ODD).items():
        for path, text in {SESSION: TALK, **files}.items():
            where = root / name / path
            where.parent.mkdir(parents=True, exist_ok=True)
            if text is FOLDER:
                where.mkdir()
            else:
                where.write_text(text)


def kept(root: Path) -> list[str]:
    """Every turn of every user, wherever it lies."""
    found = []
    for name in Store(root).users():
        user = StoreFolder(root).folder(name)
        for path in user.paths():
            if "sessions" in path.split("/"):
                said = turns(user.memory(path).lines)
                found += [f"{name}: {turn.text}" for turn in said]
    return sorted(found)


def test_a_broken_user_stops_no_other_and_loses_nothing(tmp_path: Path) -> None:
    write(tmp_path)
    before = kept(tmp_path)
    words = ["maintain", "--all-users", "--store", tmp_path, "--today", "2026-11-20"]
    for _ in range(2):
        done = filemem(*words)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        named = {line.split(": ")[1] for line in done.stderr.splitlines()}
        assert named == BROKEN.keys()
        assert f"{len(ODD)} of {len(BROKEN | ODD)} users done." in done.stdout
        assert kept(tmp_path) == before
    for name in ODD.keys() - {"archive-is-a-file", "two-texts"}:
        paths = StoreFolder(tmp_path).folder(name).paths()
        assert f"archive/{SESSION}" in paths, name
