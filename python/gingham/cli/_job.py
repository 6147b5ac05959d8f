"""`gingham job`: flows that share a cable, the bandwidth bound, and a better node order."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham._files import write_bytes
from gingham._texts import number, percent
from gingham.cli._algorithms import AlgorithmChoice, names
from gingham.cli._fabric import load
from gingham.cli._job_inputs import (
    about,
    named_by_options,
    rail_list,
    require_one_routing,
    require_places,
    unusable,
    wanted,
)
from gingham.cli._options import FABRIC_FILE, SEED, force_option, output_option
from gingham.cli._output import (
    echo,
    json_option,
    print_facts,
    print_json,
    print_prose,
    print_table,
    say,
    warn,
)
from gingham.cluster import rails_by_adapter
from gingham.comparison import form_on
from gingham.errors import InputError, counted, meant, nearest
from gingham.jobs import MOVES, PATTERNS, Bound, Improvement, Job, depends_on_order
from gingham.node_lists import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gingham.fabric import Fabric
    from gingham.routes import Routes

# Shared cables printed for each pattern, and pairs printed for each cable.
CABLES_SHOWN, PAIRS_SHOWN = 3, 2
GIGA = 1e9
# Columns of bounds with numbers.
NUMBERS = ("most flows", "shared cables", "busbw GB/s", "at one switch", "share")
# Shares of the bandwidth at one switch above this are printed as 100 %.
WHOLE_SHARE = 0.9995


@dataclass(frozen=True, slots=True)
class Routing:
    """Routes of a fabric, with their origin."""

    # Name in tables: "up-down", "adaptive", "tables", "opensm minhop".
    name: str
    # Origin as a phrase within a sentence.
    origin: str
    # The routed fabric: OpenSM assigns LIDs of its own.
    fabric: Fabric
    # `None` if switches route adaptively.
    routes: Routes | None


@click.command()
@click.argument("topology", type=FABRIC_FILE)
@click.option(
    "--nodes",
    "node_list",
    required=True,
    metavar="LIST",
    help="Nodes in rank order: a hostfile, a rankfile, ranges such as 'luna-[0173-0192,0301]', "
    "`all` compute nodes, or random:64:SEED.",
)
@click.option(
    "--pattern",
    "patterns",
    multiple=True,
    metavar="NAME",
    help=f"Pattern or collective: {', '.join(PATTERNS)}, all-reduce, all-gather, reduce-scatter, "
    "alltoall; may be given several times.  [default: all patterns]",
)
@click.option(
    "--pairs",
    "pairs_file",
    type=FABRIC_FILE,
    help="File of flows between nodes: a sender and a receiver a line.",
)
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    type=AlgorithmChoice(names()),
    help="Routes of an algorithm of ours.  [default: up-down]",
)
@click.option("--lfts", type=FABRIC_FILE, help="Routes of the subnet: the output of dump_lfts.sh.")
@click.option(
    "--engine",
    "engines",
    multiple=True,
    metavar="ENGINE",
    help="Routes of an engine of OpenSM, run on a simulated subnet: minhop, updn, ftree, ...",
)
@click.option(
    "--adaptive",
    is_flag=True,
    help="Adaptive switches: any channel on a shortest path to the destination's leaf.",
)
@click.option(
    "--rails",
    metavar="LIST",
    help="Rails that the job uses, from 0, such as 0-3,6.  [default: all]",
)
@click.option(
    "--ranks-per-node",
    type=click.IntRange(1),
    help="Ranks (GPUs) of each node.  [default: slots of the hostfile, else the number of rails]",
)
@click.option(
    "--rule",
    metavar="REGEX",
    help="Node and adapter in descriptions of another form than 'node12 mlx5_4', such as "
    "'(?P<node>.*)-hca(?P<adapter>\\d+)'.",
)
@click.option(
    "--beside",
    "others",
    multiple=True,
    metavar="LIST",
    help="Nodes of another job, whose rings share the cables; may be given several times.",
)
@click.option(
    "--improve", is_flag=True, help="Search for a node order with a higher bandwidth bound."
)
@click.option(
    "--compare",
    is_flag=True,
    help="Compare the given order, the sorted one, the one by unit and the improved one, with "
    "each of several algorithms or engines.",
)
@output_option(help="File for the improved node order.")
@click.option(
    "--form",
    type=click.Choice(FORMS),
    help="Form of that file: Open MPI's hostfile or rankfile, or a file for SLURM_HOSTFILE.  "
    "[default: rankfile for *.rankfile, slurm for *.slurm, else hostfile]",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Picture of units and cables to write (.png, .svg, .pdf), with shared cables in colour.",
)
@click.option(
    "--moves",
    type=click.IntRange(0, 2**32 - 1),
    default=MOVES,
    show_default=True,
    help="Random moves of the search.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of the search.")
@force_option
@json_option
@named_by_options()
def job(
    topology: Path,
    node_list: str,
    patterns: tuple[str, ...],
    pairs_file: Path | None,
    algorithms: tuple[str, ...],
    lfts: Path | None,
    engines: tuple[str, ...],
    adaptive: bool,
    rails: str | None,
    ranks_per_node: int | None,
    rule: str | None,
    others: tuple[str, ...],
    improve: bool,
    compare: bool,
    output: Path | None,
    form: str | None,
    plot: Path | None,
    moves: int,
    seed: int,
    force: bool,
    as_json: bool,
) -> None:
    """Show which flows of a job share a cable on TOPOLOGY, and the bandwidth that is left.

    For each pattern of collectives: the flows on the fullest cable between switches, the cables
    that more than one flow shares, and a bound on the bus bandwidth. The bound is the value that
    nccl-tests would report if cables were shared fairly (max-min) and nothing else took time.
    `at one switch` is the bus bandwidth of these nodes without a fabric between them.

    With --improve, another order of the nodes is searched with a higher bound; -o writes it
    as a hostfile. The order matters for rings and trees; all-to-all has one bound for all orders.

    \b
    Examples:
      gingham job cluster.ibnetdiscover --nodes hosts.txt
      gingham job cluster.ibnetdiscover --nodes 'luna-[0001-0064]' --lfts lfts.txt --improve
      gingham job cluster.ibnetdiscover --nodes random:64:7 --improve -o ordered.txt
      gingham job cluster.ibnetdiscover --nodes hosts.txt --beside other.txt --adaptive
      gingham job cluster.ibnetdiscover --nodes hosts.txt --compare --engine updn --engine ftree
    """
    require_places(output, form, plot, improve=improve and not compare, force=force)
    require_one_routing(algorithms, lfts, engines, adaptive=adaptive, compare=compare)
    fabric = load(topology)
    routings = list(routed(fabric, algorithms, lfts, engines, adaptive=adaptive))
    jobs = [
        Job(
            routing.fabric,
            node_list,
            routes=routing.routes,
            rails=None if rails is None else rail_list(rails),
            ranks_per_node=ranks_per_node,
            cluster=routing.fabric.cluster(rule),
        )
        for routing in routings
    ]
    asked = Asked(wanted(patterns, pairs_file, jobs[0]), others, moves, seed)
    if improve or compare:
        asked.require_order()
    shared = jobs[0].shared_nodes(asked.beside(jobs[0]))
    warn_of(jobs[0], shared)
    of_job = {**facts(jobs[0]), "shared_nodes": list(shared)}
    if compare:
        pairs = zip(routings, jobs, strict=True)
        orders = [one for routing, job in pairs for one in compared(routing, job, asked)]
        if plot is not None:
            save_comparison(orders, asked.ordered or 0, plot, force=force)
        if as_json:
            rows = [one.facts() for one in orders]
            print_json({"file": str(topology), **of_job, "orders": rows})
        else:
            print_comparison(topology, orders)
        return
    answer = Answer.to(jobs[0], asked, improve=improve)
    written = answer.save(output, form, plot, force=force)
    if as_json:
        print_json(
            {
                "file": str(topology),
                "routing": routings[0].name,
                **of_job,
                **answer.facts(),
                **written,
            }
        )
        return
    answer.print(routings[0], is_written="written" in written)
    for place in written.values():
        echo(f"written: {place}")


@dataclass(frozen=True, slots=True)
class Asked:
    """Patterns, other jobs and search effort requested on the command line."""

    collectives: list[str | list[tuple[str, str]]]
    # Node lists of other jobs on the fabric.
    others: tuple[str, ...]
    moves: int
    seed: int

    @property
    def ordered(self) -> int | None:
        """Position of the first collective whose bound depends on the order of the nodes."""
        found = (place for place, one in enumerate(self.collectives) if depends_on_order(one))
        return next(found, None)

    def require_order(self) -> None:
        """Reject a search for an order if no requested bound depends on it."""
        if self.ordered is None:
            raise unusable(
                "no order of the nodes changes the bound of all-to-all or of pairs; give --pattern "
                "with another pattern such as ring",
                "order-free",
                "--pattern",
            )

    def beside(self, job: Job) -> list[Job]:
        """Return the other jobs on the fabric, routes and rails of a job."""
        with about("--beside"):
            return [
                Job(
                    job.fabric,
                    nodes,
                    routes=job.routes,
                    rails=job.rails,
                    ranks_per_node=job.ranks_per_node,
                    cluster=job.cluster,
                )
                for nodes in self.others
            ]

    def bounds(self, job: Job) -> list[Bound]:
        """Return the bound of each pattern."""
        beside = self.beside(job)
        return [job.bound(collective, beside=beside) for collective in self.collectives]

    def improved(self, job: Job) -> Improvement:
        """Search for a better order for the first collective whose bound depends on the order."""
        collective = self.collectives[self.ordered or 0]
        beside = self.beside(job)
        return job.improve(collective, beside=beside, moves=self.moves, seed=self.seed)


@dataclass(frozen=True, slots=True)
class Answer:
    """Bounds of a job in its given order and, if requested, in an improved one."""

    job: Job
    bounds: list[Bound]
    others: int
    better: Improvement | None
    improved: list[Bound]
    # Position of the collective whose bound was improved.
    ordered: int

    @classmethod
    def to(cls, job: Job, asked: Asked, *, improve: bool) -> Answer:
        """Compute the bounds, and search for an order."""
        better = asked.improved(job) if improve else None
        improved = asked.bounds(better.job) if better else []
        bounds = asked.bounds(job)
        return cls(job, bounds, len(asked.others), better, improved, asked.ordered or 0)

    def save(
        self, output: Path | None, form: str | None, plot: Path | None, *, force: bool
    ) -> dict[str, str]:
        """Write the requested files of the order and the picture; return their names."""
        written = {}
        if output is not None and self.better:
            ending = output.suffix.removeprefix(".")
            text = self.better.job.text(form or (ending if ending in FORMS else "hostfile"))
            write_bytes(output, text.encode(), overwrite=force)
            written["written"] = str(output)
        if plot is not None:
            from gingham import plots

            shown = [("given order", self.job, self.bounds[self.ordered])]
            if self.better:
                shown.append(("improved order", self.better.job, self.improved[self.ordered]))
            plots.save(plots.job(shown), plot, overwrite=force)
            written["picture"] = str(plot)
        return written

    def facts(self) -> dict[str, Any]:
        """Return the results for programs."""
        found: dict[str, Any] = {"bounds": [bound_facts(one) for one in self.bounds]}
        if self.better:
            found["improved"] = improvement_facts(self.better, self.improved)
        return found

    def print(self, routing: Routing, *, is_written: bool) -> None:
        """Print the results for people."""
        print_job(routing, self.job, self.others)
        print_bounds("given order", self.bounds)
        print_limits(self.bounds)
        print_cables(self.bounds)
        if self.better:
            print_improvement(
                self.better,
                self.bounds[self.ordered].pattern,
                self.improved,
                show_order=not is_written,
            )


def routed(
    fabric: Fabric,
    algorithms: Sequence[str],
    lfts: Path | None,
    engines: Sequence[str],
    *,
    adaptive: bool,
) -> Iterator[Routing]:
    """Yield the requested routings; by default up*/down* tables."""
    if lfts is not None:
        yield Routing("tables", f"tables of {lfts}", fabric, fabric.load_routes(lfts))
    for engine in engines:
        yield of_opensm(fabric, engine)
    if adaptive:
        yield Routing("adaptive", "adaptive, any shortest path", fabric, None)
    if not (algorithms or lfts or engines or adaptive):
        algorithms = ("up-down",)
    for algorithm in algorithms:
        routes = fabric.route(algorithm, form=form_on(fabric, algorithm, None))
        origin = f"{algorithm} of gingham, not those of the subnet"
        yield Routing(algorithm, origin, fabric, routes)


def of_opensm(fabric: Fabric, engine: str) -> Routing:
    """Return the routes of an engine of OpenSM."""
    from gingham.opensm.decision import decide
    from gingham.opensm.manager import ENGINES, Request
    from gingham.opensm.parts import managed

    if engine not in ENGINES:
        near = nearest(engine, ENGINES)
        raise InputError(
            f'"{engine}" is no engine{meant(near)}; there are {", ".join(ENGINES)}',
            code="unknown-engine",
            key="--engine",
            expected=list(ENGINES),
            nearest=near,
        )
    decision = decide(
        managed(fabric),
        Request(engine),
        on_progress=lambda what: tell(f"OpenSM {engine}: {what}", engine=engine),
    )
    ran = "" if decision.ran == engine else f", which ran {decision.ran}"
    return Routing(f"opensm {engine}", f"OpenSM {engine}{ran}", decision.fabric, decision.routes)


def facts(job: Job) -> dict[str, Any]:
    """Return the nodes, rails and ranks of a job for programs."""
    return {
        "nodes": list(job.nodes),
        "rails": list(job.rails),
        "adapters": list(job.adapters),
        "ranks": job.ranks,
        "ranks_assumed": job.ranks_assumed,
        "units": job.units,
        "left_out": list(job.left_out),
    }


def warn_of(job: Job, shared: Sequence[str]) -> None:
    """Warn of nodes that are omitted, shared with another job, or single adapters."""
    if job.left_out:
        warn(
            f"{counted(len(job.left_out), 'compute node')} without an adapter on each rail left "
            f'out, such as "{job.left_out[0]}"'
        )
    if shared:
        warn(
            f"{counted(len(shared), 'node')} of the job in a job beside it, too, such as "
            f'"{shared[0]}"; their flows share adapters as well as cables'
        )
    unnamed = nameless(job)
    if unnamed:
        warn(
            f"{counted(len(unnamed), 'node')} of the job without a host name in the description, "
            f'such as "{unnamed[0]}": adapters of one server count as nodes of their own; set '
            "descriptions (rdma-ndd) or give --rule"
        )


def nameless(job: Job) -> list[str]:
    """Return the nodes of a job that are single adapters with a vendor's default description."""
    descriptions = {one.name: one.description.casefold() for one in job.fabric.devices}
    nodes = (job.cluster.node(name) for name in job.nodes)
    return [
        node.name
        for node in nodes
        if all(
            one.basis == "alone"
            and descriptions.get(one.device)
            and node.name.casefold() not in descriptions[one.device]
            for one in node.adapters
        )
    ]


def bound_facts(bound: Bound) -> dict[str, Any]:
    """Return a bound for programs; bandwidths are bytes per second."""
    limit = bound.limit
    return {
        "pattern": bound.pattern,
        "order_free": bound.order_free,
        "flows_max": bound.flows_max,
        "shared_cables": bound.shared,
        "bus_bandwidth": bound.bus_bandwidth,
        "bus_bandwidth_at_one_switch": bound.at_one_switch,
        "bottleneck": limit and limit.channel,
        "bottleneck_speed": limit and limit.speed,
        "bottleneck_flows": limit and limit.flows,
        "cables": [
            {
                "channel": cable.channel,
                "phase": cable.phase,
                "flows": cable.flows,
                "flows_of_others": cable.of_others,
                "pairs": [list(pair) for pair in cable.pairs],
            }
            for cable in bound.cables
        ],
        "phases": list(bound.phases),
    }


def improvement_facts(better: Improvement, bounds: Sequence[Bound] | None) -> dict[str, Any]:
    """Return an improved order for programs."""
    return {
        "nodes": list(better.nodes),
        "flows_given": better.flows_given,
        "flows_sorted": better.flows_sorted,
        "flows_by_unit": better.flows_by_unit,
        "flows_max": better.flows_max,
        "bandwidth_given": better.bandwidth_given,
        "bandwidth_sorted": better.bandwidth_sorted,
        "bandwidth_by_unit": better.bandwidth_by_unit,
        "bus_bandwidth": better.bus_bandwidth,
        "lower_bound": better.lower_bound,
        "is_best": better.is_best,
        "bounds": [bound_facts(bound) for bound in bounds or ()],
    }


def size_of(job: Job) -> str:
    """Return nodes, rails, ranks and units of a job."""
    nodes, rails = f"{len(job.nodes):,} nodes", counted(len(job.rails), "rail")
    assumed = " (assumed: one for each rail)" if job.ranks_assumed else ""
    return f"{nodes} x {rails}, {job.ranks:,} ranks{assumed}, in {counted(job.units, 'unit')}"


def print_job(routing: Routing, job: Job, others: int) -> None:
    """Print the job and the origin of its routes."""
    rows = [
        ("job", size_of(job)),
        ("routes", routing.origin),
    ]
    if mapping := rails_by_adapter(job.cluster, job.rails):
        rows.insert(1, ("", mapping))
    if others:
        rows.append(("beside it", f"rings of {counted(others, 'other job')}"))
    print_facts(rows)
    echo()


def bandwidth(value: float | None) -> str:
    """Return a bandwidth in GB/s, or in links if no speed is known."""
    if value is None:
        return "-"
    return f"{value / GIGA:.1f}" if value > GIGA / 100 else f"{number(value, 3)} links"


def flows_text(flows: float) -> str:
    """Return a number of flows; a fraction with adaptive routing."""
    return f"{flows:,.0f}" if flows == round(flows) else f"{flows:.2f}"


def counted_flows(flows: float) -> str:
    """Return a number of flows with its noun."""
    return f"{flows_text(flows)} flow{'' if flows == 1 else 's'}"


def print_bounds(title: str, bounds: Sequence[Bound]) -> None:
    """Print a row for each pattern."""
    rows = [
        (
            bound.pattern,
            flows_text(bound.flows_max),
            f"{bound.shared:,}",
            bandwidth(bound.bus_bandwidth),
            bandwidth(bound.at_one_switch),
            "-" if bound.share is None else percent(bound.share),
            "any order" if bound.order_free else "",
        )
        for bound in bounds
    ]
    print_table(
        title,
        [
            "pattern",
            "most flows",
            "shared cables",
            "busbw GB/s",
            "at one switch",
            "share",
            "same in",
        ],
        rows,
        numbers=NUMBERS,
    )


def print_limits(bounds: Sequence[Bound]) -> None:
    """Print the channel that limits each pattern, if it is slow or bandwidth is lost."""
    rows = []
    for bound in bounds:
        limit = bound.limit
        if limit is None or ((bound.share or 1.0) >= WHOLE_SHARE and not limit.is_slow):
            continue
        speed = limit.speed or "speed unknown"
        slow = ", slower than most" if limit.is_slow else ""
        flows = "" if limit.flows is None else f", {counted_flows(limit.flows)}"
        rows.append((bound.pattern, f"limited by {short(limit.channel)}: {speed}{slow}{flows}"))
    if rows:
        echo()
        print_facts(rows)


def print_cables(bounds: Sequence[Bound]) -> None:
    """Print the fullest shared cables of each pattern whose order matters."""
    rows = []
    for bound in bounds:
        if bound.order_free:
            continue
        for cable in bound.cables[:CABLES_SHOWN]:
            pairs = [f"{sender} to {receiver}" for sender, receiver, _ in cable.pairs]
            kept = ", ".join(pairs[:PAIRS_SHOWN])
            more = f" and {len(pairs) - PAIRS_SHOWN:,} more" if len(pairs) > PAIRS_SHOWN else ""
            cells = bound.pattern, flows_text(cable.flows), short(cable.channel), kept + more
            rows.append(cells)
    if rows:
        echo()
        print_table(
            "shared cables",
            ["pattern", "flows", "cable", "pairs"],
            rows,
            numbers="flows",
            prose="pairs",
        )


def short(channel: str) -> str:
    """Return the name of a channel without the model of NVIDIA's switches.

    >>> short("MF0;LG16-01:MQM8700/U1[25] -> MF0;CSPINE3-05:MQM8700/U1[3]")
    'LG16-01[25] -> CSPINE3-05[3]'
    """
    return re.sub(r"MF0;([^:\s]+):[A-Z0-9]+/U\d+", r"\1", channel)


def print_improvement(
    better: Improvement, pattern: str, bounds: Sequence[Bound], *, show_order: bool = True
) -> None:
    """Print the bounds of an improved order, and the order unless it is written to a file."""
    echo()
    print_bounds("improved order", bounds)
    echo()
    if not better.flows_given:
        place = "inside one unit" if better.job.units == 1 else "at leaf switches of its own"
        print_prose(f"{pattern}: the job is {place}; no flow takes a cable between switches.")
        if show_order:
            print_prose(f"order: {', '.join(better.nodes)}")
        return
    before = counted_flows(better.flows_given)
    after = flows_text(better.flows_max)
    if better.is_best:
        ending = "No order has a higher bandwidth bound."
    else:
        ending = "Whether a faster order exists is open."
    if better.flows_max <= 1:
        ending = f"No cable carries more than one flow. {ending}"
    print_prose(
        f"{pattern}: {before} on the fullest cable in the given order, "
        f"{flows_text(better.flows_sorted)} sorted, {flows_text(better.flows_by_unit)} by unit, "
        f"{after} improved. Bandwidth bound: {bandwidth(better.bandwidth_given)} GB/s, "
        f"{bandwidth(better.bandwidth_sorted)}, {bandwidth(better.bandwidth_by_unit)}, "
        f"{bandwidth(better.bus_bandwidth)}. {ending}"
    )
    if show_order:
        print_prose(f"order: {', '.join(better.nodes)}")


@dataclass(frozen=True, slots=True)
class Order:
    """One order of the nodes on one routing, with the bound of each pattern."""

    routing: str
    # "given", "sorted", "by unit" or "improved".
    name: str
    job: Job
    bounds: list[Bound]

    def facts(self) -> dict[str, Any]:
        """Return the order and its bounds for programs."""
        return {
            "routing": self.routing,
            "order": self.name,
            "nodes": list(self.job.nodes),
            "bounds": [bound_facts(bound) for bound in self.bounds],
        }


def compared(routing: Routing, job: Job, asked: Asked) -> Iterator[Order]:
    """Yield the orders of the nodes that are compared."""
    tell(f"routes: {routing.origin}", routing=routing.name)
    orders = {
        "given": job,
        "sorted": job.sorted(),
        "by unit": job.by_unit(),
        "improved": asked.improved(job).job,
    }
    for name, ordered in orders.items():
        yield Order(routing.name, name, ordered, asked.bounds(ordered))


def save_comparison(orders: Sequence[Order], shown: int, plot: Path, *, force: bool) -> None:
    """Write a picture with a panel for the given and the improved order of each routing."""
    from gingham import plots

    panels = [
        (f"{one.routing}, {one.name} order", one.job, one.bounds[shown])
        for one in orders
        if one.name in {"given", "improved"}
    ]
    plots.save(plots.job(panels), plot, overwrite=force)


def tell(message: str, **fields: object) -> None:
    """Report progress on a terminal; runs of OpenSM and comparisons take some seconds."""
    if sys.stderr.isatty():
        say(message, **fields)


def print_comparison(file: Path, orders: Sequence[Order]) -> None:
    """Print orders and routings side by side."""
    patterns = [bound.pattern for bound in orders[0].bounds]
    rows = [
        (
            one.routing,
            one.name,
            *(
                f"{bandwidth(bound.bus_bandwidth)} ({flows_text(bound.flows_max)})"
                for bound in one.bounds
            ),
        )
        for one in orders
    ]
    job = orders[0].job
    print_table(
        f"{file}: {len(job.nodes):,} nodes x {counted(len(job.rails), 'rail')}",
        ["routes", "order", *patterns],
        rows,
        numbers=patterns,
        below="bus bandwidth in GB/s, and in brackets the flows on the fullest cable",
    )
