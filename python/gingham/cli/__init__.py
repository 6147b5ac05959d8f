"""The command line: `gingham`.

Each module holds the commands of one noun; `_main` puts them together and turns whatever goes
wrong into one message and an exit code. Nothing heavy is imported before a command needs it.
"""

from gingham.cli._main import main

__all__ = ["main"]
