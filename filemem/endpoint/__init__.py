"""Any OpenAI-compatible endpoint: the model that answers there, and the one that makes vectors."""

from filemem.endpoint.completions import Model, OpenAIModel, ToolsRefused
from filemem.endpoint.connection import ModelError, PromptTooLong
from filemem.endpoint.embeddings import Embedder
from filemem.endpoint.limits import RequestLimits
from filemem.endpoint.reply import Reply, ToolCall, Usage

__all__ = [
    "Embedder",
    "Model",
    "ModelError",
    "OpenAIModel",
    "PromptTooLong",
    "Reply",
    "RequestLimits",
    "ToolCall",
    "ToolsRefused",
    "Usage",
]
