"""The responder where no model is configured: it searches with the same four tools and quotes what it found."""

import json
import re
from collections.abc import Callable
from typing import Any

from filemem.model import Reply, ToolCall, Usage

QUOTES = 5
NOTICE = (
    "No model is configured, so answers are quotes from your memories. To talk with a model, set OPENAI_API_KEY "
    "(and OPENAI_BASE_URL for another endpoint) and name it with --model, FILEMEM_MODEL or `model:` in filemem.yaml."
)
_HAN = re.compile("[\u3400-\u9fff]")
_ASKS = re.compile(
    r"[?？]\s*$|^(?:who|what|when|where|which|why|how|whose|whom|do|does|did|is|are|was|were|can|could|have|has|had|will|"
    r"would|should|tell me|remind me|show|find|list|search)\b|什么|什麼|谁|誰|哪|吗|嗎|呢|几|幾|多少|怎么|怎麼|为什么|记得|記得",
    re.IGNORECASE,
)
_HIT = re.compile(r" *(\d+)  (.*)")
_HEADING = re.compile(r"(\S.*?\.\w+)(?:  (.*))?$")  # a path, two spaces, a date; a sentence ends with a full stop


class OfflineModel:
    """A model that only quotes; it speaks the protocol of any other."""

    name = "offline"

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """First a search for the last message, then an answer made of what the search returned."""
        last = messages[-1]
        if last["role"] != "tool" and tools:
            call = ToolCall(
                "search", "search_files", json.dumps({"query": last["content"], "limit": QUOTES}, ensure_ascii=False)
            )
            return Reply("", (call,), Usage(0, 0), "tool_calls")
        question = next(m["content"] for m in reversed(messages) if m["role"] == "user")
        text = answer(question, last["content"] if last["role"] == "tool" else "")
        on_text(text)
        return Reply(text, (), Usage(0, 0), "stop")


def answer(question: str, found: str) -> str:
    """The quotes of a search's answer with date and `path:line`, or a plain word that nothing was found."""
    head, *rest = found.split("\n")
    quotes, notes = _quotes(rest)
    chinese = bool(_HAN.search(question))
    weak = "no strong match" in head
    asks = bool(_ASKS.search(question.strip()))
    if not asks and (weak or not quotes):
        return "记下了。" if chinese else "Kept."
    if not quotes:
        return "\n".join(
            ["记忆里没有找到相关内容。" if chinese else "I found nothing about that in your memories.", *notes]
        )
    if weak:
        intro = "没有很确定的结果，最接近的是：" if chinese else "I found no strong match; the nearest I have is:"
    elif asks:
        intro = "在记忆里找到：" if chinese else "From your memories:"
    else:
        intro = "记下了。相关的记忆：" if chinese else "Kept. Related memories:"
    return "\n".join([intro, "", *quotes])


def _quotes(lines: list[str]) -> tuple[list[str], list[str]]:
    """The passages as quotes, and the sentences above them; further lines of a passage stay with it."""
    quotes: list[str] = []
    notes: list[str] = []
    path = about = ""
    for line in lines:
        hit = _HIT.match(line) if path else None
        if hit:
            quotes += [f"- {hit[2]}", f"  {about}{path}:{hit[1]}"]
        elif line.startswith("      ") and quotes:
            quotes.insert(-1, f"  {line.strip()}")
        elif heading := _HEADING.match(line):
            path, about = heading[1], f"{heading[2].split('  ')[0]}, " if heading[2] else ""
        elif line and not line[0].isspace():
            notes.append(line)
    return quotes, notes
