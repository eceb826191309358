"""An OpenAI-compatible endpoint that gives any chat client a memory by its base URL."""
