"""Tables of examples, written as text: a row a line, two blanks between columns.

A test is parametrised with the rows, each of which is a list of texts.
"""

import re


def rows(table: str) -> list[list[str]]:
    """The rows of a table, without the empty lines around it."""
    lines = table.strip().split("\n")
    return [re.split("  +", line) for line in lines]
