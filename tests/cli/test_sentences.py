"""Every sentence that tells a person what failed says what to do.

`python tests/cli/test_sentences.py` prints them all, to be read in one go.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2]
KINDS = re.compile(
    r"(?:click\.)?(?:(?:Filemem|Config|Git|Model|Usage)Error"
    r"|Refused|NotFound|Busy|Changed|BadParameter)"
)
REMEDY = re.compile(
    r"; |--|\bor \w|[Tt]hen |as in: |is a whole number|a value is|no such f"
    r"|\{[^{}]*\}[.]?$"
)
Known = dict[str, list[ast.expr]]


def assigned(*scopes: ast.AST) -> Known:
    """Return the values that each name gets, in a module or a function."""
    found: Known = defaultdict(list)
    for scope in scopes:
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign):
                found[ast.unparse(node.targets[0])].append(node.value)
    return found


def texts(node: ast.expr, known: Known, depth: int = 3) -> Iterator[str]:
    """Yield the sentences that an expression may be, with those of its names."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.IfExp):
        yield from texts(node.body, known, depth)
        yield from texts(node.orelse, known, depth)
    elif isinstance(node, ast.Name) and depth:
        for value in known.get(node.id, []):
            yield from texts(value, known, depth - 1)
    elif isinstance(node, ast.JoinedStr):
        whole = [ast.unparse(node)[2:-1]]
        for part in node.values:
            if isinstance(part, ast.FormattedValue) and isinstance(
                part.value, ast.Name
            ):
                whole += texts(part.value, known, depth)
        yield " ".join(whole)


def sentences() -> Iterator[tuple[str, str]]:
    """Yield the place and text of every error that has words of its own."""
    for path in sorted((PROJECT / "filemem").rglob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        for scope in ast.walk(module):
            if not isinstance(scope, ast.FunctionDef):
                continue
            known = assigned(module, scope)
            for node in ast.walk(scope):
                is_error = isinstance(node, ast.Call) and node.args
                if is_error and KINDS.fullmatch(ast.unparse(node.func)):
                    for text in texts(node.args[0], known):
                        yield f"{path.relative_to(PROJECT)}:{node.lineno}", text


def test_every_sentence_on_a_failure_names_a_remedy() -> None:
    """By its form: what is wrong, then what to do."""
    told = list(sentences())
    assert len(told) > 100
    assert [one for one in told if not REMEDY.search(one[1])] == []


if __name__ == "__main__":
    for place, text in sentences():
        print(f"{place}\n    {text}")
