"""One question of the program's own to a model, by a template."""

import json

from filemem.llm import prompt
from filemem.llm.model import Messages, Model, Reply, Tools, ToolsRefused


def ask(
    model: Model, name: str, told: str, *, by_call: bool = False, **words: object
) -> Reply:
    """Have a model do something with a text, and wait for the whole answer.

    Args:
        model: is asked.
        name: of the template that says what.
        told: the text.
        by_call: have it answer by a call of the tool in the JSON file of that name; in
            words if it takes no tools.
        words: what stands for each name in braces in the template.

    Raises:
        ModelError: there is no whole answer.
    """
    rules = prompt.template(name).strip()
    for word, value in words.items():
        rules = rules.replace(f"{{{word}}}", str(value))
    messages: Messages = [
        {"role": "system", "content": rules},
        {"role": "user", "content": told},
    ]
    tools: Tools = []
    if by_call:
        tools = json.loads(prompt.template(f"{name}.json"))
    try:
        return model.ask(messages, tools, _ignore)
    except ToolsRefused:
        return model.ask(messages, [], _ignore)


def _ignore(text: str) -> None:
    """Take what a model says on the way, which nobody hears."""
