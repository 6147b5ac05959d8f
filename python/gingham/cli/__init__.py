"""The command line: `gingham`.

Each module holds the commands of one noun; `_main` combines them and turns every error into one
message and an exit code. Large packages are imported only by commands that need them.
"""

from gingham.cli._main import main

__all__ = ["main"]
