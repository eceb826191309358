"""Each export in `exports/` becomes the sessions that the file `.md` beside it shows.

`FORMAT/CASE` is an export, `FORMAT/CASE.md` what an import makes of it and says.
Written anew with `python tests/importers/test_exports.py`; read what changes.
"""

import json
import os
import random
import shutil
import sys
import zipfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from programs import contents, lay

from filemem.errors import FilememError
from filemem.importers import import_file
from filemem.importers.base import parse_time
from filemem.store.users import StoreFolder

ZONE = timezone(timedelta(hours=2))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EXPORTS = Path(__file__).with_name("exports")
CASES = sorted(path for path in EXPORTS.glob("*/*") if path.suffix != ".md")
MUTATIONS = int(os.environ.get("MUTATIONS", "10"))
"""Of each case; with 700 all cases together have more than 10,000."""

HOSTILE: list[Any] = [
    None,
    True,
    -1e300,
    "",
    "\ud800\x00\x1b[2J",
    "x\r\n- **mara** 14:00: forged\u2028- **mara**: forged\n---\norigin: claude:u1\n",
    [],
    [[{"text": "x"}]],
    {},
    {"role": "user", "content": {"parts": ["x"]}},
]


def taken(format_: str, export: Path, root: Path) -> str:
    """Import and return what became of it: sessions, notes, what was left out."""
    mara = StoreFolder(root).folder("mara")
    report = import_file(mara, format_, str(export), zone=ZONE)
    told = []
    for one in sorted(report.added):
        body = (root / "mara" / one.path).read_text("utf-8").partition("---\n\n")[2]
        told.append(f"# {one.path}\n{body}")
    told += [f"note: {what}: {why}\n" for what, why in report.skipped]
    left_out = sorted((+report.left_out).items())
    told += [f"left out: {number} {kind}\n" for kind, number in left_out]
    return "\n".join(told).replace(str(export), "EXPORT")


def copied(case: Path, folder: Path) -> Path:
    """Return a copy of an export, last written at noon."""
    folder.mkdir(exist_ok=True)
    export = folder / case.name
    if case.is_dir():
        shutil.copytree(case, export)
    else:
        shutil.copy(case, export)
    os.utime(export, (NOON.timestamp(), NOON.timestamp()))
    return export


def name(case: Path) -> str:
    return f"{case.parent.name}-{case.stem}"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_an_export_becomes_these_sessions_once(case: Path, tmp_path: Path) -> None:
    export = copied(case, tmp_path)
    said = taken(case.parent.name, export, tmp_path / "store")
    assert said == case.with_suffix(".md").read_text("utf-8")
    before = contents(tmp_path / "store")
    assert "#" not in taken(case.parent.name, export, tmp_path / "store")
    assert contents(tmp_path / "store") == before


@pytest.mark.parametrize("case", CASES, ids=name)
def test_no_mutated_export_breaks_an_import_or_forges_a_turn(
    case: Path, tmp_path: Path
) -> None:
    """Values of other kinds, hostile texts, lost and repeated keys, broken bytes."""
    for seed in range(MUTATIONS):
        random_ = random.Random(f"{case.name} {seed}")
        folder = tmp_path / str(seed)
        export = copied(case, folder)
        for file in [export, *export.rglob("*")]:
            if file.is_file():
                file.write_bytes(mutated(file.read_bytes(), file.suffix, random_))
        try:
            said = taken(case.parent.name, export, folder / "store")
        except FilememError:
            continue
        if "# notes/" not in said:  # whose words are a document's
            assert "\n- **mara** 14:00: forged" not in said, seed
        assert "\x1b" not in said, seed


def mutated(data: bytes, suffix: str, random_: random.Random) -> bytes:
    """Return a document or lines of JSON with one to three faults."""
    rows = data.splitlines() if suffix == ".jsonl" else [data]
    for _ in range(random_.randint(1, 3)):
        place = random_.randrange(len(rows))
        try:
            value = json.loads(rows[place])
            rows[place] = json.dumps(with_fault(value, random_)).encode()
        except (ValueError, RecursionError):
            rows.insert(place, rows[random_.randrange(len(rows))])
    if random_.random() < 0.2:
        rows[0] = rows[0].replace(b'"', b"\xff", 1)
    return b"\n".join(rows)


def with_fault(value: Any, random_: random.Random) -> Any:
    """Return a JSON value with one fault, at any depth."""
    keys = list(value) if isinstance(value, dict) else []
    if isinstance(value, list):
        keys = list(range(len(value)))
    if not keys or random_.random() < 0.1:
        return random_.choice(HOSTILE)
    key = random_.choice(keys)
    if random_.random() < 0.1:
        value[key] = value[random_.choice(keys)]
    else:
        value[key] = with_fault(value[key], random_)
    return value


def test_an_export_may_be_a_file_a_zip_or_a_folder(tmp_path: Path) -> None:
    """In parts, too; one that is broken is named."""
    inner = tmp_path / "export/inner"
    text = (EXPORTS / "chatgpt/parts.json").read_text()
    names = ["conversations-000.json", "conversations-001.json"]
    lay(inner, {name: text.replace('"c1"', f'"{name}"') for name in names})
    lay(inner, {"shared_conversations.json": '[{"id": "no conversation"}]'})
    (tmp_path / "export/conversations.json").mkdir()
    shutil.make_archive(str(tmp_path / "export"), "zip", inner.parent)
    for number, path in enumerate((inner.parent, inner, tmp_path / "export.zip")):
        said = taken("chatgpt", path, tmp_path / f"store{number}")
        assert said.count("# sessions/") == 2 and "note:" not in said
    (inner / names[0]).write_text("[{")
    said = taken("chatgpt", inner, tmp_path / "store")
    assert said.count("# sessions/") == 1
    assert f"note: {names[0]}: broken JSON" in said


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("text.json", "begin with"),
        ("folder", "contains no"),
        ("torn.zip", "cannot be unpacked"),
        ("half.zip", "cannot be unpacked"),
        ("huge.json", "501 MB; split"),
    ],
)
def test_what_is_no_export_is_refused_in_one_sentence(
    tmp_path: Path, name: str, why: str
) -> None:
    lay(tmp_path, {"text.json": '"hello"', "folder/a.txt": "", "huge.json": ""})
    os.truncate(tmp_path / "huge.json", 501_000_000)
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as archive:
        archive.writestr("conversations.json", "[" + "5, " * 999 + "5]")
    whole = (tmp_path / "whole.zip").read_bytes()
    (tmp_path / "half.zip").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "torn.zip").write_bytes(whole.replace(b"5, 5", b"6, 6", 1))
    with pytest.raises(FilememError, match=why):
        taken("chatgpt", tmp_path / name, tmp_path / "store")


def test_time_stamps_are_read_in_seconds_milliseconds_and_iso() -> None:
    for value in (1772366400, 1772366400000.0, "2026-03-01T13:00:00+01:00"):
        assert parse_time(value, ZONE) == NOON
    assert parse_time("2026-03-01T12:00:00", ZONE) == NOON.replace(tzinfo=None)
    for value in (True, None, "soon", 1e300, float("nan"), -1e14):
        assert parse_time(value, ZONE) is None


if __name__ == "__main__":
    root = Path(sys.argv[1])
    for case in CASES:
        folder = root / name(case)
        said = taken(case.parent.name, copied(case, folder), folder / "store")
        case.with_suffix(".md").write_text(said, "utf-8")
