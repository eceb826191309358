"""The models that answer: any OpenAI-compatible endpoint, and none at all."""

from filemem.endpoint import (
    Model,
    ModelError,
    OpenAIModel,
    PromptTooLong,
    Reply,
    ToolCall,
    ToolsRefused,
    Usage,
)

__all__ = ["Model", "ModelError", "OpenAIModel", "PromptTooLong", "Reply", "ToolCall", "ToolsRefused", "Usage"]
