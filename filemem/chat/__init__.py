"""One conversation: the prompt, the window, the tool loop."""
