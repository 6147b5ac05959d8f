"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

# Whether it exists is asked by whoever opens it: one message, one exit code.
FABRIC_FILE = click.Path(path_type=Path)
SEED = click.IntRange(0, 2**64 - 1)

force_option = click.option("--force", is_flag=True, help="Replace what exists.")


def output_option(*, required: bool = False, help: str = "File to write.") -> Callable[[Any], Any]:  # noqa: A002
    """Return the option that names a file or folder to write."""
    kind = click.Path(path_type=Path)
    return click.option("-o", "--output", type=kind, required=required, help=help)
