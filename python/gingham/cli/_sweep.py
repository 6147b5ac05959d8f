"""`gingham sweep`: many runs of a scenario, varied along axes."""

from __future__ import annotations

from pathlib import Path

import click

from gingham.cli._options import output_option
from gingham.cli._output import exit_code_help, json_option, print_json, show, text

FAILED, INTERRUPTED = 5, 130


@click.command(epilog=exit_code_help(0, 2, 5, 6, 130))
@click.argument("file", metavar="SWEEP", type=click.Path(path_type=Path))
@click.option(
    "-j",
    "--workers",
    type=click.IntRange(1, 1024),
    default=2,
    show_default=True,
    help="Runs at a time on this machine.",
)
@click.option("--resume", is_flag=True, help="Go on with a folder: make only what is not there.")
@click.option("--yes", is_flag=True, help="Start even a million runs.")
@output_option(help="Folder of results; default sweeps/ and the name of the file.")
@json_option
def sweep(
    file: Path, workers: int, resume: bool, yes: bool, output: Path | None, as_json: bool
) -> None:
    """Make every run of the sweep file SWEEP.

    \b
    Examples:
      gingham sweep load.toml -o sweeps/load
      gingham sweep load.toml -o sweeps/load --resume
    """
    from gingham.sweeps import Sweep, execute

    planned = Sweep.load(file)
    folder = output or Path("sweeps") / file.stem
    progress = execute(planned, folder, workers=workers, resume=resume, many=yes)
    if as_json:
        print_json({"runs": progress.total, "output": str(folder)})
    else:
        show(text(f"written: {folder}"))
    raise click.exceptions.Exit(FAILED if progress.failed else 0)
