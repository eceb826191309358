"""Every sentence that tells a person what failed says what to do."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2]
KINDS = re.compile(
    r"(?:click\.)?(?:(?:Filemem|Config|Git|Model|Usage)Error"
    r"|Refused|NotFound|Busy|Changed|BadParameter)"
)
REMEDY = re.compile(
    r"; |--|\bor \w|[Tt]hen |as in: |is a whole number|a value is|no such f"
    r"|\{[^{}]*\}[.]?['\"]?$"
)


def sentences() -> Iterator[tuple[str, str]]:
    """Yield the place and words of every error that is made where it is raised."""
    for path in sorted((PROJECT / "filemem").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_error = isinstance(node, ast.Call) and node.args
            if not is_error or not KINDS.fullmatch(ast.unparse(node.func)):
                continue
            if isinstance(node.args[0], ast.Constant | ast.JoinedStr):
                words = ast.unparse(node.args[0])
                yield f"{path.relative_to(PROJECT)}:{node.lineno}", words


def test_every_sentence_on_a_failure_names_a_remedy() -> None:
    """By its form: what is wrong, then what to do."""
    told = list(sentences())
    assert len(told) > 80
    assert [one for one in told if not REMEDY.search(one[1])] == []
