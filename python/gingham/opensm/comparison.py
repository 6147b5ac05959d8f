"""Comparison of OpenSM's engines and our own algorithms on a fabric, in one table.

A row has the engine that really ran, path lengths, the number of lanes, the load of the busiest
link, the bound on all-to-all traffic, and whether packets can deadlock. All measures are computed
by the same code from the routes alone. All rows share the seed of the random matchings, so they
differ by their routes only.

A subnet manager manages only the connected part of the fabric that it is in. If a fabric has
several parts, the one with most hosts is compared, for OpenSM's engines and for ours.

An engine that fails has a row with the error, and the comparison continues.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gingham.errors import EnvironmentProblem, GinghamError, InputError
from gingham.opensm import first_ports
from gingham.opensm.decision import PROGRAMS, decide
from gingham.opensm.manager import TIMEOUT_S, Request
from gingham.opensm.parts import managed
from gingham.opensm.path_records import QUESTIONS_PER_S, expected_questions
from gingham.opensm.programs import require
from gingham.opensm.speeds import Speeds, host_ports
from gingham.opensm.torus import torus_configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from gingham.fabric import Fabric
    from gingham.routes import Routes

ComputeNodes: TypeAlias = Literal["all", "hosts"]

SAMPLES = 1000
# Our algorithms with forwarding tables.
OWN_ALGORITHMS = ("up-down", "shortest-path", "dimension-order")
# Maximum number of pairs without a route that are listed.
LOST_NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class EngineRow:
    """One engine or algorithm on one fabric."""

    by: Literal["opensm", "gingham", "tables"]
    # The requested engine, and the engine that ran.
    engine: str
    ran: str
    # Messages about a failure or a replacement, if the row has no numbers or another engine ran.
    words: tuple[str, ...] = ()
    # Path lengths, loads, lanes, proof; empty if it failed.
    facts: Mapping[str, Any] = field(default_factory=dict)
    # OpenSM's files, by name suffix.
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether the engine produced no routes."""
        return not self.facts

    def as_json(self) -> dict[str, Any]:
        """Return the row for programs, without the files."""
        names = ("by", "engine", "ran", "words", "facts")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of a comparison."""

    engines: Sequence[str]
    # Switches by name, for updn, dnup, ftree and our up-down.
    roots: Sequence[str] = ()
    # Adapters treated as compute nodes by ftree, sssp and dfsssp: all, as in OpenSM by default, or
    # only those of hosts.
    compute_nodes: ComputeNodes = "all"
    # torus-2QoS.conf; by default generated from the shape of the fabric.
    torus: Path | None = None
    # Settings of opensm.conf.
    settings: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = TIMEOUT_S
    samples: int = SAMPLES
    seed: int = 1
    # Number of pairs of hosts in the undamaged fabric; a damaged one may have fewer.
    pairs: int | None = None
    # Our algorithms.
    own: Sequence[str] = OWN_ALGORITHMS

    @property
    def steps(self) -> int:
        """Maximum number of rows."""
        return len(self.engines) + len(self.own)

    def roots_in(self, fabric: Fabric) -> list[str]:
        """Return the roots that exist in a fabric; a damaged fabric may lack some."""
        names = {node.name for node in fabric.devices}
        return [root for root in self.roots if root in names]


def compare(
    fabric: Fabric,
    plan: Plan,
    folder: Path,
    *,
    on_step: Callable[[str, str], None] | None = None,
) -> list[EngineRow]:
    """Return a row for each engine of the plan, then for each of our algorithms that applies.

    `folder` receives files for OpenSM and is removed by the caller. `on_step` is called with the
    engine and its activity. Raises `EnvironmentProblem` if programs are missing, or if every engine
    fails.
    """
    require(*PROGRAMS)
    tell = on_step or (lambda _engine, _what: None)
    fabric = managed(fabric)
    if plan.pairs is None:
        plan = replace(plan, pairs=host_pairs(fabric))
    roots = root_file(fabric, plan.roots_in(fabric), folder)
    torus = plan.torus or torus_file(fabric, folder)
    nodes = compute_node_file(fabric, folder) if plan.compute_nodes == "hosts" else None
    rows = []
    for engine in plan.engines:
        request = Request(engine, roots, nodes, torus, settings=plan.settings)
        rows.append(row_of_opensm(fabric, request, plan, tell))
    failures = [row for row in rows if row.failed]
    if failures and len(failures) == len(rows):
        raise EnvironmentProblem(failures[0].words[0])
    return [*rows, *rows_of_ours(fabric, plan, tell)]


def expected_seconds(fabric: Fabric, engine: str) -> float:
    """Return an estimate of the time to query an engine's service levels, in seconds."""
    switches = {node.name for node in fabric.devices if node.kind == "switch"}
    ends = [{name for name, _ in cable.ends} for cable in fabric.cables]
    edges = [pair for pair in ends if pair & switches and pair - switches]
    leaves = set[str]().union(*edges) & switches
    return expected_questions(len(leaves), len(edges), engine) / QUESTIONS_PER_S


def row_of_opensm(
    fabric: Fabric, request: Request, plan: Plan, tell: Callable[[str, str], None]
) -> EngineRow:
    """Return the row of an engine."""
    name = request.engine
    try:
        decision = decide(
            fabric,
            request,
            timeout_s=plan.timeout_s,
            on_progress=lambda what: tell(name, what),
        )
        tell(name, "measuring")
        facts = measured(decision.routes, plan, decision.fabric)
        facts["seconds"] = round(decision.seconds, 3)
        facts["unanswered_pairs"] = len(decision.unanswered)
        facts["lost_pairs"] += len(decision.unanswered)
    except GinghamError as error:
        # After an error of one engine, the comparison continues with the others.
        return EngineRow("opensm", name, "failed", (str(error),))
    words = decision.complaints
    return EngineRow("opensm", name, decision.ran, words, facts, decision.texts)


def rows_of_ours(fabric: Fabric, plan: Plan, tell: Callable[[str, str], None]) -> list[EngineRow]:
    """Return the rows of our algorithms, except those that do not apply."""
    rows = []
    for algorithm in plan.own:
        tell(algorithm, "routing")
        try:
            routes = own_routes(fabric, algorithm, plan)
        except InputError:
            # Dimension order requires a grid.
            continue
        tell(algorithm, "measuring")
        facts = measured(routes, plan, fabric)
        rows.append(EngineRow("gingham", algorithm, algorithm, (), facts))
    return rows


def own_routes(fabric: Fabric, algorithm: str, plan: Plan) -> Routes:
    """Return the tables of our algorithm, with the roots of the plan."""
    roots = plan.roots_in(fabric) if algorithm == "up-down" else []
    parameters: dict[str, Any] = {"root": {"named": roots}} if roots else {}
    return fabric.route(algorithm, form="table", **parameters)


def row_of_tables(fabric: Fabric, routes: Routes, plan: Plan) -> EngineRow:
    """Return the row for tables from a file."""
    return EngineRow("tables", "tables", "as read", (), measured(routes, plan, fabric))


def measured(routes: Routes, plan: Plan, fabric: Fabric) -> dict[str, Any]:
    """Return the measures of routes for a row."""
    statistics = routes.statistics()
    speeds = Speeds.of(fabric)
    if speeds is None:
        bisection = routes.bisection(samples=plan.samples, seed=plan.seed)
    else:
        hosts = host_ports(fabric)
        bisection = speeds.bisection(routes, hosts, samples=plan.samples, seed=plan.seed)
    served = statistics["host_pairs"] - statistics["unreachable_pairs"]
    return {
        "host_pairs": statistics["host_pairs"],
        "unreachable_pairs": statistics["unreachable_pairs"],
        # Tables from a file may serve several parts; the plan counts the pairs of one part.
        "lost_pairs": max(0, (plan.pairs or 0) - served),
        "lost_examples": lost_examples(routes, fabric) if statistics["unreachable_pairs"] else [],
        "mean_switches": statistics["mean_switches"],
        "max_switches": statistics["max_switches"],
        "minimal_share": statistics["minimal_share"],
        "lanes": routes.lanes,
        "max_channel_paths": statistics["max_channel_paths"],
        "mean_channel_paths": statistics["mean_channel_paths"],
        "busiest": speeds.busiest(routes, statistics) if speeds else busiest(statistics),
        "all_to_all": statistics["all_to_all"],
        "bisection": bisection,
        "deadlock_free": routes.is_deadlock_free,
        "deadlock_free_between_hosts": not routes.cycle_between_hosts,
        "cycle": routes.cycle,
        "faults": routes.faults,
    }


def busiest(statistics: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the channel between switches with most pairs, if all cables have equal weight."""
    if not statistics["busiest"]:
        return None
    first = statistics["busiest"][0]
    return {"channel": first["channel"], "pairs": first["paths"], "by_rate": first["paths"]}


def lost_examples(routes: Routes, fabric: Fabric) -> list[list[str]]:
    """Return the first pairs of host ports without a route."""
    hosts = set(host_ports(fabric))
    names, lengths = routes.lengths()
    pairs = (
        [names[source], names[destination]]
        for source, row in enumerate(lengths)
        for destination, length in enumerate(row)
        if length is None and source != destination and {names[source], names[destination]} <= hosts
    )
    return list(islice(pairs, LOST_NAMED_MAX))


def host_pairs(fabric: Fabric) -> int:
    """Return the number of ordered pairs of cabled host ports."""
    hosts = {node.name for node in fabric.devices if node.kind == "host"}
    ports = sum(name in hosts for cable in fabric.cables for name, _ in cable.ends)
    return ports * (ports - 1)


def root_file(fabric: Fabric, roots: Sequence[str], folder: Path) -> Path | None:
    """Write the GUIDs of the roots for OpenSM; return the path, or `None` without roots."""
    if not roots:
        return None
    guids = {node.name: node.guid for node in fabric.devices}
    path = folder / "roots"
    path.write_text("".join(f"0x{guids[name]}\n" for name in roots))
    return path


def compute_node_file(fabric: Fabric, folder: Path) -> Path:
    """Write the GUIDs of host ports, as assigned by the simulator; return the path."""
    guids = {node.name: int(node.guid or "", 16) for node in fabric.devices if node.kind == "host"}
    moved = first_ports.moved(fabric)
    path = folder / "compute-nodes"
    with path.open("w") as lines:
        for cable in fabric.cables:
            for name, port in cable.ends:
                if name in guids:
                    guid = guids[name]
                    played = 1 if moved.get(f"{guid:016x}") == port else port
                    lines.write(f"0x{guid + played:016x}\n")
    return path


def torus_file(fabric: Fabric, folder: Path) -> Path | None:
    """Write the shape of the fabric for torus-2QoS; return the path, or `None` without a grid."""
    text = torus_configuration(fabric)
    if text is None:
        return None
    path = folder / "torus-2QoS.conf"
    path.write_text(text)
    return path
