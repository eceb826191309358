"""The models that answer: any OpenAI-compatible endpoint, and none at all."""

from filemem.models.endpoint import (
    Embedder,
    FailFastModel,
    Model,
    ModelError,
    OpenAIModel,
    PromptTooLong,
    Reply,
    ToolCall,
    ToolsRefused,
    Usage,
)

__all__ = [
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
