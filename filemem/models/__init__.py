"""The models that answer: any OpenAI-compatible endpoint, and none at all."""

from filemem.models.endpoint import (
    Embedder,
    FailFastModel,
    Messages,
    Model,
    ModelError,
    OnText,
    OpenAIModel,
    PromptTooLong,
    Reply,
    ToolCall,
    Tools,
    ToolsRefused,
    Usage,
)

__all__ = [
    "Embedder",
    "FailFastModel",
    "Messages",
    "Model",
    "ModelError",
    "OnText",
    "OpenAIModel",
    "PromptTooLong",
    "Reply",
    "ToolCall",
    "Tools",
    "ToolsRefused",
    "Usage",
]
