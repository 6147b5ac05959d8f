"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham._native import formats
from gingham.cli import _completion

if TYPE_CHECKING:
    from collections.abc import Callable

# Not checked here: the command that opens the file reports a missing one in the common form.
FABRIC_FILE = click.Path(path_type=Path)
SEED = click.IntRange(0, 2**64 - 1)

settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a key of the scenario; may be given several times.",
    shell_complete=_completion.keys,
)
seed_option = click.option("--seed", type=SEED, help="Seed instead of the scenario's.")
strict_option = click.option(
    "--strict", is_flag=True, help="Exit with 4 if too little was measured."
)
format_option = click.option(
    "--format",
    "format_name",
    type=click.Choice([name for name, _, _, is_written in formats() if is_written]),
    help="Format of the output, where its extension does not say.",
)
allow_deadlock_option = click.option(
    "--allow-deadlock", is_flag=True, help="Run routes that can deadlock, too."
)
fabric_scenario_argument = click.argument(
    "scenario", metavar="SCENARIO", shell_complete=_completion.fabric_scenarios
)
force_option = click.option("--force", is_flag=True, help="Replace what exists.")


def output_option(*, required: bool = False, help: str = "File to write.") -> Callable[[Any], Any]:  # noqa: A002
    """Return the option that names a file or folder to write."""
    kind = click.Path(path_type=Path)
    return click.option("-o", "--output", type=kind, required=required, help=help)


def no_threads(advice: str, *names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return hidden options, known from other tools, for a number of threads; each is refused."""

    def refuse(_context: click.Context, option: click.Parameter, given: str | None) -> None:
        if given is not None:
            raise click.BadParameter(f"a run takes one core. {advice}", param=option)

    def with_them(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            # Refused with a value and without one.
            command = click.option(
                name,
                hidden=True,
                expose_value=False,
                is_flag=False,
                flag_value="",
                callback=refuse,
            )(command)
        return command

    return with_them
