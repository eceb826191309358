"""Of secrets that were made up for it at least 95 of 100 are taken out, of look-alikes at most 2; docs/security.md says how many.

The samples and the program that counts are in `benchmarks/`.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def measured() -> str:
    command = [sys.executable, str(ROOT / "benchmarks/redaction.py")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_document_says_what_the_program_counts(measured: str) -> None:
    assert measured in (ROOT / "docs/security.md").read_text(encoding="utf-8")


def test_at_least_95_of_100_secrets_go_and_at_most_2_of_100_look_alikes(measured: str) -> None:
    rows = re.findall(r"\| (\d+) of (\d+) \| (\d+) of (\d+) \|", measured)
    assert len(rows) == 9
    assert sum(int(row[1]) for row in rows) >= 520
    for caught, secrets, alarms, alike in rows:
        assert int(caught) >= 0.95 * int(secrets)
        assert int(alarms) <= 0.02 * int(alike)
