"""Of secrets that were made up for it at least 95 of 100 are taken out, of look-alikes at most 2; docs/security.md says how many.

The samples and the program that counts are in `benchmarks/`.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def measured() -> str:
    command = [sys.executable, str(ROOT / "benchmarks/redaction.py")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_document_says_what_the_program_counts() -> None:
    document = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    for table in measured().strip().split("\n\n"):
        assert table in document, f"docs/security.md lacks\n{table}"


def test_at_least_95_of_100_secrets_go_and_at_most_2_of_100_look_alikes() -> None:
    first, later = measured().strip().split("\n\n")
    sums = re.findall(r"\| (\d+) \| (\d+) \(", first)
    rows = re.findall(r"\| (\d+) of (\d+) \| (\d+) of (\d+) \|", later)
    counts = [(sums[0][1], sums[0][0], sums[1][1], sums[1][0]), *rows]
    assert counts[0][1::2] == ("98", "92") and len(rows) == 8
    for caught, secrets, alarms, alike in counts:
        assert int(caught) >= 0.95 * int(secrets)
        assert int(alarms) <= 0.02 * int(alike)


def test_every_shape_of_a_key_says_where_it_is_documented() -> None:
    lines = (ROOT / "filemem/data/issued-keys.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        kind, shape, issuer, source = ["", "", "", ""] if line.startswith("#") else re.split(" {2,}", line)
        assert line.startswith("#") or (shape and issuer and re.match(r"https://|gitleaks:|detect-secrets:", source)), (
            line
        )
        assert line.startswith("#") or kind in ("api key", "token", "private key"), line
