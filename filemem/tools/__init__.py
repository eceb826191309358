"""The four tools of an agent, and the text that they answer with."""
