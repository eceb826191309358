"""`python -m filemem`, where the command is on no path."""

from filemem.cli import main

main()
