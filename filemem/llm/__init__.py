"""The models that answer: any OpenAI-compatible endpoint, and the prompts they get."""
