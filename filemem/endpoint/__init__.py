"""Any OpenAI-compatible endpoint: the model that answers there, and the one that makes vectors."""

from filemem.endpoint.completions import BATCH, Embedder, FailFastModel, Model, OpenAIModel, ToolsRefused
from filemem.endpoint.connection import ModelError, PromptTooLong
from filemem.endpoint.reply import Reply, ToolCall, Usage

__all__ = [
    "BATCH",
    "Embedder",
    "FailFastModel",
    "Model",
    "ModelError",
    "OpenAIModel",
    "PromptTooLong",
    "Reply",
    "ToolCall",
    "ToolsRefused",
    "Usage",
]
