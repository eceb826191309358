"""Vectors of texts, from a model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from filemem.endpoint.connection import Connection, ModelError
from filemem.endpoint.failures import Failure

BATCH = 64  # texts of a request: Gemini's endpoint takes 100, a small machine embeds so many in some seconds
WIDEST = 20_000  # numbers of a vector; the largest models in use have 8,192


class Embedder(Connection):
    """A model that makes vectors; no request is tried again, as what calls it goes on without, and says so."""

    def embed(self, texts: Sequence[str]) -> list[array[float]]:
        """A vector of length 1 for each text, in batches of BATCH; raises ModelError with one sentence."""
        return [one for at in range(0, len(texts), BATCH) for one in self._batch(texts[at : at + BATCH])]

    def _batch(self, texts: Sequence[str]) -> list[array[float]]:
        sent = [text.encode("utf-8", "replace").decode() for text in texts]
        request = {"model": self.name, "input": sent, "encoding_format": "float"}
        try:
            self._check()
            with self._wire.bounded(), closing(self._events("/embeddings", request)) as answers:
                return _vectors(next(answers), len(texts))
        except Failure as failure:
            kind = Failure("endless") if self._wire.over else failure
            raise self._explained(kind, "") from None

    def _explained(self, failure: Failure, partial: str) -> ModelError:
        told = super()._explained(failure, partial)
        where = str(told).replace("OPENAI_BASE_URL", "the endpoint of embeddings in filemem.yaml")
        return ModelError(where.replace("chat completion", "embedding"))


def _vectors(answer: Any, count: int) -> list[array[float]]:
    """The vectors in an endpoint's answer, in the order of the texts; raises Failure for anything else."""
    try:
        data = sorted(answer["data"], key=lambda one: int(one["index"]))
        found = [array("f", one["embedding"]) for one in data]
    except (TypeError, KeyError, ValueError, OverflowError):
        raise Failure("garbled") from None
    if len(found) != count or not 0 < len(found[0]) <= WIDEST or len({len(one) for one in found}) > 1:
        raise Failure("garbled")
    return [_unit(one) for one in found]


def _unit(vector: array[float]) -> array[float]:
    length = math.sqrt(sum(value * value for value in vector))
    if not 0 < length < math.inf:
        raise Failure("garbled")
    return array("f", (value / length for value in vector))
