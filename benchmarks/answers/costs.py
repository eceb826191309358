"""What answers cost: tokens, calls, seconds from the logs, and money by a price table that the reader gives.

A price table is YAML: `as_of: DATE`, and under `models:` for each model's name in the log `input`, `output` and, where the
provider has them, `input_cache_read` and `input_cache_write`, in dollars per million tokens.
"""

from pathlib import Path
from typing import Any, NamedTuple

import yaml
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ModelUsage

from filemem.text import tokens

QUESTIONS = {"locomo": 1986, "longmemeval": 500, "lifebench": 3380, "dmr": 500, "life": 98, "needle": 30}
"""The questions of a whole task: LoCoMo's ten conversations, LifeBench 2.0, two lives, three lengths of needles as they come."""


class Spent(NamedTuple):
    """What one question cost; tokens of memory are those of tools' answers and of text given unasked, estimated."""

    tokens_in: int
    tokens_out: int
    memory: int
    calls: int
    tools: int
    seconds: float
    judge_in: int
    judge_out: int
    answering: float | None
    judging: float | None


class Prices:
    """Dollars per million tokens, by model; an unknown model has no price."""

    def __init__(self, path: str = "") -> None:
        table = yaml.safe_load(Path(path).read_text(encoding="utf-8")) if path else {}
        self.as_of, self.models = str(table.get("as_of", "")), table.get("models", {})
        if path and not self.as_of:
            raise SystemExit(f"{path} does not say of which day its prices are; add as_of: DATE.")

    def money(self, model: str, used: ModelUsage) -> float | None:
        """What this use of a model costs, in dollars."""
        price = self.models.get(model)
        if price is None:
            return None
        kinds = {
            "input": used.input_tokens,
            "output": used.output_tokens,
            "input_cache_read": used.input_tokens_cache_read or 0,
            "input_cache_write": used.input_tokens_cache_write or 0,
        }
        return sum(count * float(price.get(kind, price["input"])) for kind, count in kinds.items()) / 1e6


def spent(log: EvalLog, sample: EvalSample, prices: Prices) -> Spent:
    """What one question cost."""
    judged = sample.role_usage.get("grader", ModelUsage())
    every = sum(sample.model_usage.values(), ModelUsage())
    ours = ModelUsage(
        input_tokens=every.input_tokens - judged.input_tokens,
        output_tokens=every.output_tokens - judged.output_tokens,
        input_tokens_cache_read=(every.input_tokens_cache_read or 0) - (judged.input_tokens_cache_read or 0),
        input_tokens_cache_write=(every.input_tokens_cache_write or 0) - (judged.input_tokens_cache_write or 0),
    )
    said = {role: [one.text for one in sample.messages if one.role == role] for role in ("user", "assistant", "tool")}
    memory = sum(tokens.count(text) for text in [*map(_given, said["user"]), *said["tool"]])
    return Spent(
        _in(ours),
        ours.output_tokens,
        memory,
        len(said["assistant"]),
        len(said["tool"]),
        float(sample.store.get("seconds", 0)),
        _in(judged),
        judged.output_tokens,
        prices.money(log.eval.model, ours),
        prices.money(grader(log), judged),
    )


def expected(each: list[Spent], price: dict[str, float], searches: int | None = None) -> tuple[float, float]:
    """Dollars a question for answers and for judging, were they given by a model of this price.

    `searches` tells how often it calls a tool; None is as often as was measured. Each call sends again what was read before:
    with n calls of tools, n + 1 times the prompt, and n (n + 1) / 2 times what a tool gives.
    """
    tokens_in, tokens_out, memory, calls, tools = (
        mean([float(getattr(one, name)) for one in each]) for name in Spent._fields[:5]
    )
    if searches is not None and tools:
        a_call = memory / tools
        prompt = (tokens_in - a_call * tools * (calls - 1) / 2) / calls
        tokens_in, tokens_out = (
            prompt * (searches + 1) + a_call * searches * (searches + 1) / 2,
            tokens_out / calls * (searches + 1),
        )
    judged = [mean([float(getattr(one, name)) for one in each]) for name in ("judge_in", "judge_out")]
    return tuple((a * price["input"] + b * price["output"]) / 1e6 for a, b in ((tokens_in, tokens_out), judged))


def _given(text: str) -> str:
    """What the memory gave unasked, before the question."""
    return text.partition("<question>")[0]


def _in(used: ModelUsage) -> int:
    return used.input_tokens + (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)


def grader(log: EvalLog) -> str:
    """The judge's model."""
    role: Any = (log.eval.model_roles or {}).get("grader")
    return str(role.model) if role and not isinstance(role, list) else ""


def mean(values: list[Any]) -> Any:
    """The mean; None where one is not known, or there are none."""
    return sum(v for v in values if v is not None) / len(values) if values and None not in values else None
