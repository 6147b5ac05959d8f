"""`gingham route`: route a fabric, and prove the routes free of deadlock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from gingham._native import catalogue
from gingham.cli._fabric import load
from gingham.cli._options import FABRIC_FILE, force_option, output_option
from gingham.cli._output import json_option, print_json
from gingham.cli._route_check import DEADLOCK_EXIT, check
from gingham.cli._route_facts import print_routes

if TYPE_CHECKING:
    from pathlib import Path

    from gingham.routes import Routes

ROOTS = ("lowest-id", "smallest-distance")


def names() -> list[str]:
    """Return the names of all algorithms."""
    return [line["name"] for line in catalogue() if line["concept"] == "routing"]


class WithDefault(click.Group):
    """A group in which arguments that name no command are those of `compute`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the command before them."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [compute.name or "", *args]
        return super().parse_args(ctx, args)


@click.group(cls=WithDefault)
def route() -> None:
    """Route a fabric, or check the routes of a running one.

    `compute` may be left out.

    \b
    Examples:
      gingham route net.ibnetdiscover --algorithm up-down
      gingham route check net.ibnetdiscover --lfts lfts.txt
    """


route.add_command(check)


@route.command()
@click.argument("file", type=FABRIC_FILE)
@click.option(
    "--algorithm",
    required=True,
    type=click.Choice(names()),
    help="How paths are chosen.",
)
@click.option(
    "--form",
    type=click.Choice(["source", "table"]),
    default="source",
    show_default=True,
    help="A whole path for each pair, or one output port for each switch and destination.",
)
@click.option(
    "--root",
    metavar="NAME",
    help="Root of up-down: lowest-id, smallest-distance, or the name of a switch.",
)
@output_option(help="File of tables to write, for `opensm -R file -U FILE`; needs --form table.")
@force_option
@json_option
def compute(
    file: Path,
    algorithm: str,
    form: Literal["source", "table"],
    root: str | None,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Route the fabric in FILE, and prove that the routes cannot deadlock.

    Shows path lengths, the loads of channels, and the proof, or else the shortest cycle of
    channels that wait for one another; then the exit code is 3.

    \b
    Examples:
      gingham route net.ibnetdiscover --algorithm up-down
      gingham route net.ibnetdiscover --algorithm up-down --root spine3 --form table
      gingham route torus-5x5.toml --algorithm dimension-order   # can deadlock: exits with 3
      gingham route net.ibnetdiscover --algorithm up-down --form table -o tables.lfts
    """
    if output is not None and form != "table":
        raise click.UsageError("only tables can be written; give --form table")
    parameters = {} if root is None else {"root": root if root in ROOTS else {"named": root}}
    routes = load(file).route(algorithm, form=form, **parameters)
    if output is not None:
        routes.save(output, force=force)
    if as_json:
        print_json({"file": str(file), "algorithm": algorithm, "form": form, **as_facts(routes)})
    else:
        print_routes(routes)
    if not routes.is_deadlock_free:
        raise click.exceptions.Exit(DEADLOCK_EXIT)


def as_facts(routes: Routes) -> dict[str, Any]:
    """Return all that is known of the routes."""
    return {
        "deadlock_free": routes.is_deadlock_free,
        "cycle": routes.cycle,
        "statistics": routes.statistics(),
    }
