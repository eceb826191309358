"""What Inspect loads to know `filemem/longmemeval`: it comes with a clone only."""

from contextlib import suppress
from importlib import import_module

with suppress(ModuleNotFoundError):
    import_module("benchmarks.answers.inspected")
