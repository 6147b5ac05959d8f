"""`gingham route`: route a fabric, and prove the routes free of deadlock."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from gingham.cli._algorithms import AlgorithmChoice, names
from gingham.cli._fabric import load
from gingham.cli._options import FABRIC_FILE, force_option, output_option
from gingham.cli._output import json_option, print_json, warn
from gingham.cli._route_check import DEADLOCK_EXIT, check
from gingham.cli._route_compare import compare_all, require_comparison
from gingham.cli._route_facts import advice, print_routes, warn_of_no_pairs
from gingham.comparison import form_on
from gingham.opensm.roots import read_roots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.fabric import Fabric
    from gingham.routes import Routes

ROOTS = ("top-switches", "lowest-id", "smallest-distance", "largest-distance")


def parameter(
    _ctx: click.Context, _param: click.Parameter, values: Sequence[str]
) -> dict[str, Any]:
    """Return KEY=VALUE options as a dict; values are TOML, and other values are text."""
    given: dict[str, Any] = {}
    for text in values:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise click.BadParameter(f'"{text}" is no KEY=VALUE such as hosts=fewest')
        try:
            given[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            given[key.strip()] = value.strip()
    return given


class WithDefault(click.Group):
    """A group whose default command is `compute`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the name of the default command before arguments that do not name a command."""
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
      gingham route net.ibnetdiscover --compare
      gingham route check net.ibnetdiscover --lfts lfts.txt
    """


route.add_command(check)


@route.command()
@click.argument("file", type=FABRIC_FILE)
@click.option("--algorithm", type=AlgorithmChoice(names()), help="How paths are chosen.")
@click.option(
    "--compare", is_flag=True, help="Compare the algorithms that the switches support instead."
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="With --compare: all algorithms, on InfiniBand those for source routes and in-transit "
    "hosts too.",
)
@click.option(
    "--form",
    type=click.Choice(["source", "table"]),
    help="A whole path for each pair, or one output port for each switch and destination. By "
    "default the second on InfiniBand; else the first, up to 16,777,216 pairs of a switch with "
    "hosts and a host.",
)
@click.option(
    "--memory-max",
    metavar="SIZE",
    help="Memory that the routes may take, such as 8GB; more is refused before any of it is "
    "taken.  [default: 4 GiB]",
)
@click.option(
    "--root",
    "root_names",
    multiple=True,
    metavar="NAME",
    help=f"Where up* leads: {', '.join(ROOTS)}, or the name of a switch, several times for several "
    f"roots.  [default: {ROOTS[0]}]",
)
@click.option(
    "--roots",
    "roots_file",
    type=FABRIC_FILE,
    help="File of root switches: a name or GUID a line, as `opensm -a` takes it.",
)
@click.option(
    "--tree",
    type=click.Choice(["breadth-first", "depth-first"]),
    help="How up*/down* ranks the switches from its root on.",
)
@click.option(
    "--hosts",
    type=click.Choice(["any", "fewest"]),
    help="In-transit hosts: as many as balance asks for, or the fewest.",
)
@click.option(
    "--weight",
    type=click.Choice(["hops", "latency"]),
    help="What shortest-path has least of: channels, or the lengths of their cables, to each of "
    "which --set hop_length=LENGTH adds the delay of a switch (1 m).",
)
@click.option(
    "--set",
    "parameters",
    multiple=True,
    metavar="KEY=VALUE",
    callback=parameter,
    help="Any parameter of the algorithm, such as weight=0.3; `gingham explain NAME` lists them.",
)
@click.option(
    "--when-full",
    type=click.Choice(["spill", "stop"]),
    default="spill",
    show_default=True,
    help="What in-transit hosts do whose pool is full; the proof takes it into account.",
)
@click.option(
    "--lanes",
    type=click.IntRange(1, 16),
    default=1,
    show_default=True,
    help="Lanes of every channel, any of which a packet may take; the proof is of them.",
)
@click.option(
    "--datelines/--no-datelines",
    default=None,
    help="Whether the upper half of the lanes is for packets that crossed the dateline of a ring. "
    "Default: for dimension-order with two lanes or more.",
)
@click.option(
    "--by-wrap",
    is_flag=True,
    help="With datelines: a packet has the upper half of the lanes on all of a ring whose dateline "
    "it crosses, and not from there on, so that both halves carry more alike.",
)
@click.option(
    "--adaptive",
    is_flag=True,
    help="Minimal adaptive routing: a packet chooses at every switch among all channels on a "
    "shortest way. The proof is of all that it may do.",
)
@click.option(
    "--escape-lanes",
    type=int,
    metavar="INTEGER",
    help="With --adaptive: the lowest lanes, on which packets follow the algorithm alone, so that "
    "whoever waits has a way out (Duato).  [default: what dimension-order needs, 1 on a mesh and 2 "
    "where rings of four switches or more close; else 0]",
)
@output_option(help="File of tables to write, for `opensm -R file -U FILE`; needs --form table.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Picture of the comparison to write (.png, .svg, .pdf).",
)
@force_option
@json_option
def compute(
    file: Path,
    algorithm: str | None,
    compare: bool,
    everything: bool,
    form: Literal["source", "table"] | None,
    memory_max: str | None,
    root_names: tuple[str, ...],
    roots_file: Path | None,
    tree: str | None,
    hosts: str | None,
    weight: str | None,
    parameters: dict[str, Any],
    when_full: Literal["spill", "stop"],
    lanes: int,
    datelines: bool | None,
    by_wrap: bool,
    adaptive: bool,
    escape_lanes: int | None,
    output: Path | None,
    plot: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Route the fabric in FILE, and prove that the routes cannot deadlock.

    Shows path lengths, the loads of channels, and the proof, or else the shortest cycle of
    channels that wait for one another; then the exit code is 3.

    With --adaptive packets choose at every switch. Without escape lanes the proof is of every
    channel that they may take; that is enough in trees. With escape lanes it is of Duato's extended
    dependency graph: from an escape lane to all those that a packet may wait for next, however far
    adaptive lanes have brought it.

    With --compare, every algorithm that the fabric allows is routed and proved instead, and the
    exit code is 0 whatever the result of the proofs. On InfiniBand (cables such as 4xNDR)
    only algorithms for forwarding tables are compared; --all adds the others:

    \b
      distance    channels between switches on a path, in the mean; at most
      minimal     share of the paths that are as short as the cables allow
      in transit  hosts that take a packet in and send it on, a path in the mean
      busiest     pairs of hosts whose path takes the busiest channel between switches
      bound       what each host can send at most if all send to all, as a share of its link, or
                  of the slowest link of a host
      seconds     that routing and proof took
      deadlock    free of it, or of how many channels the shortest cycle is

    \b
    Examples:
      gingham route net.ibnetdiscover --algorithm up-down
      gingham route net.ibnetdiscover --algorithm up-down --root spine3 --form table
      gingham route net.ibnetdiscover --algorithm up-down --root spine1 --root spine2
      gingham route net.ibnetdiscover --algorithm in-transit --hosts fewest
      gingham route net.ibnetdiscover --algorithm simple-routes --set weight=0.3
      gingham route net.anynet --algorithm shortest-path --weight latency
      gingham route net.ibnetdiscover --compare --plot compared.png
      gingham route net.ibnetdiscover --compare --all
      gingham route torus-5x5.toml --algorithm dimension-order   # can deadlock: exits with 3
      gingham route torus-5x5.toml --algorithm dimension-order --lanes 2   # free, by datelines
      gingham route torus-5x5.toml --algorithm dimension-order --lanes 2 --by-wrap
      gingham route torus-5x5.toml --algorithm dimension-order --lanes 3 --adaptive
      gingham route net.ibnetdiscover --algorithm up-down --form table -o tables.lfts
    """
    named = {"tree": tree, "hosts": hosts, "weight": weight}
    given: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    given |= parameters
    if compare:
        require_comparison(algorithm, output, given)
        if lanes > 1 or datelines is not None or by_wrap or adaptive or escape_lanes is not None:
            raise click.BadOptionUsage(
                "--compare",
                "algorithms are compared on one lane, by single paths; give --algorithm",
            )
    require_together(compare=compare, everything=everything, by_wrap=by_wrap, datelines=datelines)
    if adaptive and output is not None:
        raise click.BadOptionUsage(
            "--adaptive",
            "a file of tables has one port for each destination, and with --adaptive packets "
            "choose among several: leave --adaptive or --output out",
        )
    name = "" if compare else require_algorithm(algorithm, output, form, plot)
    require_one_way(root_names, roots_file)
    fabric = load(file)
    root = root_of(root_names, roots_file, fabric)
    if root is not None:
        given = {"root": root, **given}
    if compare:
        root = given.get("root")
        compare_all(
            file,
            fabric,
            form,
            when_full,
            root,
            memory_max,
            plot,
            everything=everything,
            force=force,
            as_json=as_json,
        )
        return
    routes = fabric.route(
        {name: given},
        form=form_on(fabric, name, form),
        when_full=when_full,
        lanes=lanes,
        datelines="by-wrap" if by_wrap else datelines,
        adaptive=adaptive,
        escape_lanes=escape_lanes,
        memory_max=memory_max,
    )
    if output is not None:
        routes.save(output, overwrite=force)
    statistics = routes.statistics()
    warn_of_no_pairs(statistics)
    for note in routes.notes:
        warn(note)
    facts = as_facts(routes, statistics)
    if as_json:
        print_json({"file": str(file), "algorithm": name, "form": routes.form, **facts})
    else:
        print_routes(routes, facts)
    if not routes.is_deadlock_free:
        raise click.exceptions.Exit(DEADLOCK_EXIT)


def require_together(
    *, compare: bool, everything: bool, by_wrap: bool, datelines: bool | None
) -> None:
    """Reject options that have no effect without another option, or contradict it."""
    if everything and not compare:
        raise click.BadOptionUsage("--all", "--all is for a comparison; give --compare")
    if by_wrap and datelines is False:
        raise click.BadOptionUsage(
            "--by-wrap", "--by-wrap places datelines, and --no-datelines disables them: give one"
        )


def require_algorithm(
    algorithm: str | None, output: Path | None, form: str | None, plot: Path | None
) -> str:
    """Return the algorithm; reject its absence, and options of comparisons."""
    if algorithm is None:
        raise click.BadOptionUsage(
            "--algorithm", f"give --algorithm ({', '.join(names())}) or --compare"
        )
    if plot is not None:
        raise click.BadOptionUsage("--plot", "only a comparison has a picture; give --compare")
    if output is not None and form != "table":
        raise click.BadOptionUsage("--form", "only tables can be written; give --form table")
    return algorithm


def require_one_way(names: Sequence[str], file: Path | None) -> None:
    """Reject roots given both by name and in a file."""
    if file is not None and names:
        raise click.BadOptionUsage(
            "--roots", "name roots by --root or in a file (--roots), not by both"
        )
    rules = [name for name in names if name in ROOTS]
    if rules and len(names) > 1:
        raise click.BadOptionUsage(
            "--root", f'"{rules[0]}" finds the roots by itself; give no other --root'
        )


def root_of(
    names: Sequence[str], file: Path | None, fabric: Fabric
) -> str | dict[str, list[str]] | None:
    """Return the root in the form of the core: a rule, or switches by name."""
    if file is not None:
        return {"named": read_roots(file, fabric)}
    if not names:
        return None
    return names[0] if names[0] in ROOTS else {"named": list(names)}


def as_facts(routes: Routes, statistics: dict[str, Any]) -> dict[str, Any]:
    """Return all facts about the routes."""
    return {
        "deadlock_free": routes.is_deadlock_free,
        "cycle": routes.cycle,
        "advice": list(advice(routes)),
        "notes": routes.notes,
        "roots": routes.roots,
        "lanes": routes.lanes,
        "dateline_classes": routes.dateline_classes,
        "dateline_rule": routes.dateline_rule,
        "adaptive": routes.adaptive,
        "statistics": statistics,
    }
