"""What `inspect eval filemem/longmemeval` runs, found by an entry point."""

from inspect_ai import Task, task

from benchmarks.answers import tasks
from benchmarks.answers.published import at_hand


@task(name="filemem/longmemeval")
def longmemeval(data: str = "", recipe: str = "four-tools", prompts: str = "") -> Task:
    """LongMemEval-S as published, or the file that `data` names."""
    return tasks.longmemeval(data or str(at_hand("longmemeval")), recipe, prompts)
