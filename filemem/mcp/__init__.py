"""The server for agents that speak the Model Context Protocol, and how their programs are told of it."""
