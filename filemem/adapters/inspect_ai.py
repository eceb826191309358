"""What Inspect loads to know `filemem/longmemeval`: it comes with a clone only."""

from contextlib import suppress

with suppress(ModuleNotFoundError):
    import benchmarks.answers.inspected  # noqa: F401
