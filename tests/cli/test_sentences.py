"""Every sentence that tells a person what failed says what to do.

`python tests/cli/test_sentences.py` prints them all, to be read in one go.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
KINDS = re.compile(
    r"(?:click\.)?(?:(?:Filemem|Config|Git|Model|Usage)Error|Refused|NotFound|Busy|Changed|Untrusted|BadParameter)"
)
REMEDY = re.compile(
    r"; |--|\bor \w|[Tt]hen |as in: |is a whole number|a value is|no such f|\{[^{}]*\}[.]?$"
)


class Sentence(NamedTuple):
    """What a person is told of a failure, and where the code says it."""

    place: str
    text: str


def scopes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The functions and methods of a module."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from scopes(node.body)


def assigned(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    """The values that each name gets."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.NamedExpr):
            for target in (
                node.targets if isinstance(node, ast.Assign) else [node.target]
            ):
                found.setdefault(ast.unparse(target), []).append(node.value)
    return found


def texts(
    node: ast.AST, known: dict[str, list[ast.expr]], depth: int = 3
) -> Iterator[str]:
    """The sentences that an expression may be, with those of the names in it."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.JoinedStr):
        parts = [
            part.value if isinstance(part, ast.FormattedValue) else part
            for part in node.values
        ]
        named = [
            text
            for part in parts
            if isinstance(part, ast.Name)
            for text in texts(part, known, depth)
        ]
        yield " ".join([ast.unparse(node)[2:-1], *named])
    elif isinstance(node, ast.Name) and depth:
        yield from (
            text
            for value in known.get(node.id, [])
            for text in texts(value, known, depth - 1)
        )
    elif isinstance(node, ast.IfExp):
        yield from (
            text
            for side in (node.body, node.orelse)
            for text in texts(side, known, depth)
        )


def sentences() -> Iterator[Sentence]:
    """What every error for people is made with; one that passes on another's words has none."""
    for path in sorted((PROJECT / "filemem").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for scope in scopes(tree.body):
            known = assigned([*tree.body, *ast.walk(scope)])
            for node in ast.walk(scope):
                if (
                    isinstance(node, ast.Call)
                    and node.args
                    and KINDS.fullmatch(ast.unparse(node.func))
                ):
                    for text in texts(node.args[0], known):
                        yield Sentence(
                            f"{path.relative_to(PROJECT)}:{node.lineno}", text
                        )


def test_every_sentence_on_a_failure_names_a_remedy() -> None:
    """By its form: what is wrong, then what to do; one that ends in another one's words has the remedy of that."""
    told = list(sentences())
    assert len(told) > 100
    without = [
        f"{one.place}: {one.text}" for one in told if not REMEDY.search(one.text)
    ]
    assert not without, "\n".join(without)


if __name__ == "__main__":
    for one in sentences():
        print(f"{one.place}\n    {one.text}")
