"""What `inspect eval filemem/longmemeval` runs, found by an entry point."""

from inspect_ai import Task, task

from benchmarks.answers import tasks
from benchmarks.answers.published import at_hand


@task(name="filemem/longmemeval")
def longmemeval(
    data: str = "",
    recipe: str = "four-tools",
    prompts: str = "",
) -> Task:
    """LongMemEval-S as published.

    Args:
        data: a file of its form instead.
        recipe: what answers.
        prompts: a file of judges' prompts.
    """
    path = data or str(at_hand("longmemeval"))
    return tasks.longmemeval(path, recipe, prompts)
