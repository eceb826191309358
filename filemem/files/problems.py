"""What is wrong in a person's file: values, never exceptions."""

from typing import NamedTuple


class Problem(NamedTuple):
    """A mistake in a person's file: where it is, what is wrong, how to put it right."""

    path: str
    line: int
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}; {self.remedy}{'' if self.remedy.endswith('?') else '.'}"


class Fault(NamedTuple):
    """What is wrong with YAML; `line` counts from 1."""

    line: int
    what: str
    remedy: str
