"""A secret that a person tells stays out of every file.

That is of what is remembered and said, of their names, and of the git diary.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from filemem.cli import cli


def run(folder: Path, *args: str) -> Result:
    (folder / "store").mkdir(exist_ok=True)
    places = ["--store", str(folder / "store"), "--user", "ann"]
    return CliRunner().invoke(cli, [*args, *places], standalone_mode=False)


@pytest.mark.parametrize(
    ("secret", "told"),
    [
        ("hf_" + "aBcDEfgHijKLmnOPqrsTuvWXyzAbCDeFgH", "The hub knows me as {}"),
        ("kettle99", "docker login -u mara -p {} registry.example.org"),
        ("hunter2", "DB_PASS={}"),
        ("X1234567", "My passport no. {} is in the drawer"),
        ("E12345678", "护照号 {}"),
    ],
)
def test_neither_a_file_nor_its_name_nor_a_log_tells_it(
    tmp_path: Path, secret: str, told: str
) -> None:
    """Said in a chat and told to remember.

    The kind of what was taken out is told in its place.
    """
    run(tmp_path, "chat", "-m", f"Remember: {told.format(secret)}")
    run(tmp_path, "remember", f"Of the office: {told.format(secret)}")
    run(tmp_path, "maintain")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"[redacted: " in path.read_bytes() for path in files)
    for path in files:
        assert secret.lower() not in path.name.lower()
        assert secret.encode() not in path.read_bytes()
