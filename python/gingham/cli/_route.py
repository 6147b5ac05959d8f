"""`gingham route`: route a fabric, and prove the routes free of deadlock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from gingham._native import catalogue
from gingham.cli._fabric import load
from gingham.cli._options import FABRIC_FILE
from gingham.cli._output import json_option, print_facts, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gingham.routes import Routes

DEADLOCK_EXIT = 3
ROOTS = ("lowest-id", "smallest-distance")


def names() -> list[str]:
    """Return the names of all algorithms."""
    return [line["name"] for line in catalogue() if line["concept"] == "routing"]


@click.command()
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
@json_option
def route(
    file: Path, algorithm: str, form: Literal["source", "table"], root: str | None, as_json: bool
) -> None:
    """Route the fabric in FILE, and prove that the routes cannot deadlock.

    Shows path lengths, the loads of channels, and the proof, or else the shortest cycle of
    channels that wait for one another; then the exit code is 3.

    \b
    Examples:
      gingham route net.ibnetdiscover --algorithm up-down
      gingham route net.ibnetdiscover --algorithm up-down --root spine3 --form table
      gingham route torus-5x5.toml --algorithm dimension-order   # can deadlock: exits with 3
    """
    parameters = {} if root is None else {"root": root if root in ROOTS else {"named": root}}
    routes = load(file).route(algorithm, form=form, **parameters)
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


def summary(statistics: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Return what is worth knowing of all paths together."""
    unreachable = statistics["unreachable_pairs"]
    apart = f", {unreachable} without a route" if unreachable else ""
    yield "pairs of hosts", f"{statistics['host_pairs']}{apart}"
    if statistics["mean_switches"] is None:
        return
    mean, most = statistics["mean_switches"], statistics["max_switches"]
    yield "switches on a path", f"{mean:.3f} in the mean, {most} at most"
    yield "shortest possible", f"{statistics['minimal_share']:.1%} of the paths"
    if statistics["mean_channel_paths"] is not None:
        mean, most = statistics["mean_channel_paths"], statistics["max_channel_paths"]
        yield "paths over a channel", f"{mean:.1f} in the mean, {most} at most"
    bound = statistics["all_to_all"]
    if bound is not None:
        rate = f" of {bound['rate']}" if bound["rate"] else ""
        yield "bound on all-to-all load", f"{bound['load']:.3f}{rate}, by {bound['bottleneck']}"


def print_routes(routes: Routes) -> None:
    """Print lengths, loads and the proof."""
    statistics = routes.statistics()
    print_facts(summary(statistics))
    lengths = enumerate(statistics["pairs_by_switches"])
    rows: list[tuple[object, ...]] = [(switches, pairs) for switches, pairs in lengths if pairs]
    print_table("Path lengths", ["switches", "pairs"], rows, numbers="switches pairs")
    rows = [(entry["channel"], entry["paths"]) for entry in statistics["busiest"]]
    print_table("Busiest channels", ["channel", "paths"], rows, numbers="paths")
    click.echo(routes.explain())
