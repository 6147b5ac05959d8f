"""`gingham example`: examples shipped with the package, to print or to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gingham import examples
from gingham._files import write_bytes
from gingham.cli import _completion
from gingham.cli._options import force_option, output_option
from gingham.cli._output import json_option, print_json, print_table, print_text

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("name", required=False, default="", shell_complete=_completion.example_names)
@output_option()
@force_option
@json_option
def example(name: str, output: Path | None, force: bool, as_json: bool) -> None:
    """Print the example NAME, or write it to a file: a scenario, or the dump of a cluster.

    Without NAME, all are listed.

    \b
    Examples:
      gingham example torus -o mine.toml
      gingham example irregular-32.ibnetdiscover -o cluster.ibnetdiscover
    """
    if not name:
        list_all(as_json=as_json)
        return
    content = examples.content(name)
    if output:
        write_bytes(output, content.encode(), overwrite=force)
    if as_json:
        print_json({"name": name, "file": str(output) if output else None, "text": content})
    elif not output:
        print_text(content)


def list_all(*, as_json: bool) -> None:
    """Print one row per example."""
    rows = [(file.name, meaning) for file, meaning in examples.files()]
    if as_json:
        print_json({"examples": [{"file": file, "meaning": meaning} for file, meaning in rows]})
    else:
        print_table("", ["file", "what it shows"], rows, prose="what it shows")
