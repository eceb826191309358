"""Long-term memory for LLM agents that is just a folder of dated Markdown and YAML files."""
