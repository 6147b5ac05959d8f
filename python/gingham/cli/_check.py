"""`gingham check`: verifies folders of results against their digests."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from gingham.cli._layout import text
from gingham.cli._output import exit_code_help, json_option, print_json, show
from gingham.cli._words import in_options

DAMAGED = 5


@click.command(epilog=exit_code_help(0, 2, 5))
@click.argument(
    "folders", metavar="FOLDER...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@json_option
def check(folders: tuple[Path, ...], as_json: bool) -> None:
    """Check every file of run folders and sweeps against its recorded digest.

    Every command checks the files it reads, and refuses changed ones. This command checks all
    files, pictures included. Run a damaged run again; a sweep repairs itself with --resume. Files
    that no run or sweep wrote are ignored.

    \b
    Examples:
      gingham check runs/first
      gingham check runs/* sweeps/*
    """
    from gingham.checking import check_folder

    found = {str(folder): check_folder(folder) for folder in folders}
    if as_json:
        print_json({"folders": [{"folder": name, **asdict(one)} for name, one in found.items()]})
    else:
        for name, one in found.items():
            for line in one.damaged:
                show(text(in_options(line)))
            counts = f"{one.whole:,} whole, {len(one.damaged):,} damaged or missing"
            old = f", {one.unchecked:,} from before there were digests" if one.unchecked else ""
            show(text(f"{name}: {counts}{old}"))
    if any(one.damaged for one in found.values()):
        raise click.exceptions.Exit(DAMAGED)
