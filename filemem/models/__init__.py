"""The models that answer: any OpenAI-compatible endpoint, and none at all."""
