"""The command line: parse, call, print. The only room that imports click."""

from filemem.cli.main import COMMANDS, cli, main

__all__ = ["COMMANDS", "cli", "main"]
