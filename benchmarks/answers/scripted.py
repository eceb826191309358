"""Models that need no key: one that quotes the first passages that it gets, and a judge that goes by words.

They show what a run costs and what a memory puts before a model; no figure of theirs says how well a model would answer.
"""

import re

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from filemem.text.plain import clip_tokens, count_tokens

from . import marks

_PATTERN = re.compile(r"/(.+?)/(?= and |, and |$)")
QUOTED = 250  # tokens that are quoted


def part(name: str, text: str) -> str:
    """What stands between a pair of tags in a judge's prompt."""
    found = re.search(rf"<{name}>\n(.*?)\n\s*</{name}>", text, re.DOTALL)
    return found[1] if found else ""


def quotes(
    messages: list[ChatMessage],
    tools: list[ToolInfo],
    choice: ToolChoice,
    config: GenerateConfig,
) -> ModelOutput:
    """Calls the tool that takes a query, where there is one, with the question; then quotes the beginning of what it got."""
    search = next(
        (tool for tool in tools if "query" in tool.parameters.properties), None
    )
    asked = [message.text for message in messages if message.role == "user"][-1]
    read = [message.text for message in messages if message.role == "tool"]
    if search and not read:
        call = ModelOutput.for_tool_call(
            "mockllm/quotes", search.name, {"query": asked.rpartition(">\n\n")[2]}
        )
        return _counted(call, messages, tools)
    shown = clip_tokens("\n".join(read) or marks.given(asked), QUOTED)
    return _counted(
        ModelOutput.from_content("mockllm/quotes", shown or "I don't know."),
        messages,
        tools,
    )


def rule(
    messages: list[ChatMessage],
    tools: list[ToolInfo],
    choice: ToolChoice,
    config: GenerateConfig,
) -> ModelOutput:
    """Right is what has half of the key's words, or all of them where it is to be strict; a refusal where nothing is known."""
    asked = messages[-1].text
    key, answer = part("key", asked), part("answer", asked)
    words, said = marks.tokens(key), set(marks.tokens(answer))
    share = sum(word in said for word in words) / max(len(words), 1)
    right = share >= (1 if "Be strict." in asked else 0.5)
    if "cannot be answered" in asked:
        right = marks.refused(answer)
    if "regular expressions" in asked:
        want, *unwanted = (_PATTERN.findall(half) for half in key.split(", and not "))
        right = marks.fits(answer, want, (one for some in unwanted for one in some))
    reply = f"{share:.0%} of the words.\nVERDICT: {'CORRECT' if right else 'WRONG'}"
    return _counted(ModelOutput.from_content("mockllm/rule", reply), messages, tools)


def _counted(
    output: ModelOutput, messages: list[ChatMessage], tools: list[ToolInfo]
) -> ModelOutput:
    """The output with its tokens, estimated; Inspect would fetch a tokenizer from the network for that."""
    read = [message.text for message in messages] + [
        tool.model_dump_json(exclude_none=True) for tool in tools
    ]
    calls = [str(call.arguments) for call in output.message.tool_calls or []]
    given = [
        sum(map(count_tokens, texts)) for texts in (read, [output.completion, *calls])
    ]
    output.usage = ModelUsage(
        input_tokens=given[0], output_tokens=given[1], total_tokens=sum(given)
    )
    return output


def model(name: str) -> Model:
    """A model by Inspect's name for it. Those of mockllm follow a script: `mockllm/rule` judges, all others quote."""
    if not name.startswith("mockllm/"):
        return get_model(name)
    return get_model(
        name, custom_outputs=rule if name == "mockllm/rule" else quotes, memoize=False
    )
