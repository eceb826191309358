"""A secret that a person tells stays out of every file: what is remembered, imported and said, and the git diary.

Whoever wants it kept says so, and is told how.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from filemem.cli import cli
from filemem.errors import FilememError


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
    """Said in a chat and told to remember."""
    run(tmp_path, "chat", "-m", f"Remember: {told.format(secret)}")
    run(tmp_path, "remember", f"Of the office: {told.format(secret)}")
    run(tmp_path, "maintain")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"[redacted: " in path.read_bytes() for path in files)
    assert not [
        path
        for path in files
        if secret.lower() in path.name.lower() or secret.encode() in path.read_bytes()
    ]


def test_what_is_a_secret_and_nothing_else_is_refused_and_makes_no_file(
    tmp_path: Path,
) -> None:
    error = run(tmp_path, "remember", "ghp_" + "a1B2c3D4e5F6" * 3).exception
    assert isinstance(error, FilememError)
    assert "that is only a secret (token)" in str(error)
    assert "--with-secrets" in str(error)
    assert not list((tmp_path / "store").rglob("*.md"))
