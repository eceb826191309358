"""One question of the program's own to a model, by a template."""

import json

from filemem.llm import prompt
from filemem.llm.model import Model, Reply, Tools, ToolsRefused


def ask(model: Model, name: str, told: str, **words: object) -> Reply:
    """Have a model do something with a text, and wait for the whole answer.

    Args:
        model: is asked.
        name: of the template that says what.
        told: the text.
        words: what stands for each name in braces in the template.

    Raises:
        ModelError: there is no whole answer.
    """
    return _ask(model, name, told, [], words)


def ask_for_call(model: Model, name: str, told: str) -> Reply:
    """Have a model do something with a text by a call; in JSON if it takes no tools.

    Args:
        model: is asked.
        name: of the template that says what, and of the JSON with the tool.
        told: the text.

    Raises:
        ModelError: there is no whole answer.
    """
    tools = json.loads(prompt.template(f"{name}.json"))
    try:
        return _ask(model, name, told, tools, {})
    except ToolsRefused:
        return _ask(model, name, told, [], {})


def _ask(
    model: Model, name: str, told: str, tools: Tools, words: dict[str, object]
) -> Reply:
    rules = prompt.template(name).strip()
    for word, value in words.items():
        rules = rules.replace(f"{{{word}}}", str(value))
    messages = [
        {"role": "system", "content": rules},
        {"role": "user", "content": told},
    ]
    return model.ask(messages, tools, _ignore)


def _ignore(text: str) -> None:
    """Take what a model says on the way, which nobody hears."""
