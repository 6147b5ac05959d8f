"""Jobs placed on a fabric: flows on shared cables, the bandwidth bound, and a better node order.

>>> from gingham import Fabric, jobs
>>> fabric = Fabric.make("rail-optimised", units=2, nodes_per_unit=4, rails=2, spines=2)
>>> job = jobs.Job(fabric, "all", routes=fabric.route("up-down", form="table"))
>>> job.bound("all-reduce").pattern
'ring'

Source of the units: nccl-tests, `doc/PERFORMANCE.md` (algorithm bandwidth and bus bandwidth).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gingham import node_lists
from gingham.errors import InputError, counted, meant, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from gingham.cluster import Cluster
    from gingham.fabric import Fabric
    from gingham.routes import Routes

PATTERNS = {
    "ring": "ring on each rail",
    "tree": "double binary tree",
    "halving-doubling": "recursive halving and doubling",
    "all-to-all": "all-to-all",
}
# Names of collectives, with the pattern that NCCL or MPI uses for large messages.
COLLECTIVES = {
    "all-reduce": "ring",
    "allreduce": "ring",
    "all-gather": "ring",
    "allgather": "ring",
    "reduce-scatter": "ring",
    "reducescatter": "ring",
    "alltoall": "all-to-all",
    "double-binary-tree": "tree",
    "rabenseifner": "halving-doubling",
}
# Patterns with one bound for all orders of the nodes.
ORDER_FREE = {"all-to-all"}
# Maximum number of shared cables listed in a bound.
LINKS_MAX = 20
# Number of random moves of a search.
MOVES = 40_000


@dataclass(frozen=True, slots=True)
class SharedCable:
    """A channel between switches that more than one flow takes."""

    # Such as "leaf1[3] -> spine0[7]".
    channel: str
    # Index of the phase.
    phase: int
    # Number of flows, including those of other jobs; a fraction with adaptive routing.
    flows: float
    of_others: float
    # Sender, receiver and rail of the job's flows.
    pairs: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """The channel that limits the slowest flow of a bound."""

    # Such as "leaf1[3] -> spine0[7]", or the cable of an adapter.
    channel: str
    # As in the fabric, such as "4xEDR"; `None` if unknown.
    speed: str | None
    # Flows on it, including those of other jobs; `None` without a known speed or flow count.
    flows: float | None
    # Whether most cables of the fabric are faster.
    is_slow: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound on a collective by max-min fair sharing of cables."""

    pattern: str
    # Whether each order of the nodes has this bound.
    order_free: bool
    # Flows on the fullest channel between switches; a fraction with adaptive routing.
    flows_max: float
    # Bus bandwidth in bytes per second, as nccl-tests defines it; in links if no speed is known.
    bus_bandwidth: float | None
    # The bus bandwidth of the same nodes at one switch.
    at_one_switch: float | None
    # Number of channels that more than one flow shares, and the fullest of them.
    shared: int
    cables: tuple[SharedCable, ...]
    # By phase: flows_max, slowest (rate of the slowest flow), bottleneck, seconds per byte.
    phases: tuple[dict[str, Any], ...] = field(repr=False)
    # The collective as given by the caller, and the other jobs.
    collective: str | tuple[tuple[str, str], ...] = field(repr=False, default="ring")
    beside: tuple[Job, ...] = field(repr=False, default=())

    @property
    def share(self) -> float | None:
        """Bus bandwidth as a share of that at one switch."""
        if not self.bus_bandwidth or not self.at_one_switch:
            return None
        return self.bus_bandwidth / self.at_one_switch

    @property
    def slowest_phase(self) -> dict[str, Any]:
        """The phase with the slowest flow; empty if no flow is limited."""
        limited = [phase for phase in self.phases if phase["slowest"] is not None]
        return min(limited, key=lambda phase: phase["slowest"], default={})

    @property
    def limit(self) -> Limit | None:
        """The channel that limits the slowest flow; `None` if no flow is limited."""
        phase = self.slowest_phase
        if not phase:
            return None
        flows = phase["bottleneck_flows"]
        return Limit(
            phase["bottleneck"],
            phase["bottleneck_speed"],
            None if flows is None else round(flows, 6),
            phase["is_bottleneck_slow"],
        )

    def _repr_html_(self) -> str:
        """Return the HTML view of notebooks."""
        from gingham import _html

        return _html.of_bound(self)


@dataclass(frozen=True, slots=True)
class Improvement:
    """A node order found by a search."""

    # The job in that order.
    job: Job
    # Flows on the fullest channel in the given, the sorted and the unit order.
    flows_given: float
    flows_sorted: float
    flows_by_unit: float
    # Flows on the fullest channel in the order found.
    flows_max: float
    # Bus bandwidth in the given, the sorted and the unit order, and in the order found.
    bandwidth_given: float
    bandwidth_sorted: float
    bandwidth_by_unit: float
    bus_bandwidth: float
    # Lower bound of the number of flows on the fullest channel over all orders.
    lower_bound: float
    # Whether it is proved that no order has a higher bandwidth bound.
    is_best: bool

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes in the order found."""
        return self.job.nodes


class Job:
    """A job: nodes in rank order on a fabric, with the routes that its packets take."""

    def __init__(
        self,
        fabric: Fabric,
        nodes: str | Sequence[str] = "all",
        *,
        routes: Routes | None = None,
        rails: Sequence[int] | None = None,
        ranks_per_node: int | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        """Place a job.

        `nodes` are names in rank order, or a list as `gingham job --nodes` accepts. Without
        `routes` switches route adaptively: any channel on a shortest path to the destination's
        leaf. `rails` are counted from 0; by default all. `ranks_per_node` is by default that of the
        list, else the number of rails. `cluster` is by default that of the fabric. `all` and
        `random:COUNT:SEED` use only compute nodes with an adapter on each of the rails; `left_out`
        names the others. Raises `InputError` with a code for unknown or repeated nodes, for nodes
        without a cabled adapter on a rail, and for routes of another fabric.
        """
        self.fabric = fabric
        self._positions: dict[str, int] | None = None
        self.cluster = cluster or fabric.cluster()
        self.routes = routes
        self.rails = tuple(range(len(self.cluster.rails)) if rails is None else rails)
        _require_rails(self)
        _require_ranks(ranks_per_node)
        _require_routes_of(fabric, routes)
        listed = (
            node_lists.read(nodes, self.cluster, rails=self.rails, even=ranks_per_node is None)
            if isinstance(nodes, str)
            else node_lists.NodeList(tuple(nodes))
        )
        self._numbers = _numbers(self.cluster, listed)
        # Names as in the fabric.
        self.nodes = tuple(self.cluster.nodes[number].name for number in self._numbers)
        # Compute nodes omitted from a list such as `all`, because they lack an adapter on a rail.
        self.left_out = listed.left_out
        given = ranks_per_node or listed.ranks_per_node
        self.ranks_per_node = given or max(len(self.rails), 1)
        # Whether the number of ranks is the default: one per rail.
        self.ranks_assumed = given is None
        if len(self.nodes) < 2:  # noqa: PLR2004
            raise InputError(
                "a job of one node sends nothing over the fabric", code="one-node", file=listed.file
            )
        _require_adapters(self)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.nodes) * self.ranks_per_node

    @property
    def units(self) -> int:
        """Number of units with nodes of the job."""
        return len({self.cluster.nodes[number].unit for number in self._numbers})

    @property
    def adapters(self) -> tuple[str | None, ...]:
        """The usual adapter name of each rail of the job; `None` for adapters without names."""
        names = self.cluster.rail_adapters
        return tuple(names[rail] for rail in self.rails)

    def shared_nodes(self, beside: Sequence[Self]) -> tuple[str, ...]:
        """Return the names of the nodes that are also part of one of the jobs `beside`."""
        others = {name for job in beside for name in job.nodes}
        return tuple(name for name in self.nodes if name in others)

    def bound(
        self,
        collective: str | Sequence[tuple[str, str]] = "all-reduce",
        *,
        beside: Sequence[Self] = (),
        cables: int = LINKS_MAX,
    ) -> Bound:
        """Return the bandwidth bound of a collective, or of pairs of nodes.

        `collective` is a pattern or a collective by name, or pairs of node names (sender,
        receiver), each one flow on every rail. The flows of the jobs `beside` share the cables. At
        most `cables` shared cables are listed.
        """
        pattern = self._pattern(collective)
        found = self.cluster._core.bound(  # noqa: SLF001
            self._row(pattern), self._routes(), self._beside(beside), cables
        )
        names = self.nodes
        is_named = isinstance(collective, str)
        links = tuple(
            SharedCable(
                link["channel"],
                link["phase"],
                link["flows"],
                link["of_others"],
                tuple((names[a], names[b], self.rails[rail]) for a, b, rail in link["pairs"]),
            )
            for link in found["links"]
        )
        return Bound(
            found["pattern"],
            found["order_free"] or not is_named,
            found["flows_max"],
            found["bus_bandwidth"],
            found["at_one_switch"],
            found["shared"],
            links,
            tuple(found["phases"]),
            collective if isinstance(collective, str) else tuple(collective),
            tuple(beside),
        )

    def improve(
        self,
        collective: str | Sequence[tuple[str, str]] = "all-reduce",
        *,
        beside: Sequence[Self] = (),
        moves: int = MOVES,
        seed: int = 1,
    ) -> Improvement:
        """Search for a node order with fewer flows on the fullest cable.

        The result is never worse than the given order, the sorted one and the one by unit. For
        at most ten nodes all orders are searched. Raises `InputError` with the code `order-free`
        for pairs between named nodes and for all-to-all: all orders have one bound.
        """
        if not depends_on_order(collective):
            raise InputError(
                f"{collective if isinstance(collective, str) else 'pairs'}: no order of the nodes "
                "changes the bound; name a pattern such as ring or tree",
                code="order-free",
                key="pattern",
            )
        pattern = self._pattern(collective)
        starts = [list(range(len(self.nodes))), self._sorted(), self._by_unit()]
        found = self.cluster._core.improve(  # noqa: SLF001
            self._row(pattern), self._routes(), self._beside(beside), starts, moves, seed
        )
        given, by_name, by_unit = found["starts"]
        bandwidths = found["start_bandwidths"]
        job = self.in_order([self.nodes[position] for position in found["order"]])
        return Improvement(
            job,
            given,
            by_name,
            by_unit,
            found["flows_max"],
            bandwidths[0],
            bandwidths[1],
            bandwidths[2],
            found["bus_bandwidth"],
            found["lower_bound"],
            found["is_best"],
        )

    def in_order(self, nodes: Sequence[str]) -> Self:
        """Return the job with its nodes in another order."""
        job = type(self)(
            self.fabric,
            nodes,
            routes=self.routes,
            rails=self.rails,
            ranks_per_node=self.ranks_per_node,
            cluster=self.cluster,
        )
        job.ranks_assumed = self.ranks_assumed
        return job

    def sorted(self) -> Self:
        """Return the job with its nodes in the order of their names."""
        return self.in_order([self.nodes[position] for position in self._sorted()])

    def by_unit(self) -> Self:
        """Return the job with the nodes of each unit together."""
        return self.in_order([self.nodes[position] for position in self._by_unit()])

    def used(
        self, collective: str | Sequence[tuple[str, str]] = "ring"
    ) -> list[tuple[str, str, float]]:
        """Return sender, receiver and flows of each channel between switches that the job uses.

        A channel counts in the phase with most flows on it, without flows of other jobs.
        """
        return self.cluster._core.used(self._row(self._pattern(collective)), self._routes())  # noqa: SLF001

    def text(self, form: str = "hostfile") -> str:
        """Return the node order as a file: `hostfile`, `rankfile` or `slurm`."""
        if form not in node_lists.FORMS:
            near = nearest(form, node_lists.FORMS)
            raise InputError(
                f'"{form}" is no form of node lists{meant(near)}; there are '
                f"{', '.join(node_lists.FORMS)}",
                code="unknown-form",
                expected=node_lists.FORMS,
                nearest=near,
            )
        return node_lists.written(self.nodes, form, self.ranks_per_node)

    def _sorted(self) -> list[int]:
        """Return the positions of the nodes by name."""
        return sorted(range(len(self.nodes)), key=lambda position: self._numbers[position])

    def _by_unit(self) -> list[int]:
        """Return the positions of the nodes by unit, units by their first node."""
        units = [self.cluster.nodes[number].unit for number in self._numbers]
        first = dict[int | None, int]()
        for unit, number in zip(units, self._numbers, strict=True):
            first[unit] = min(number, first.get(unit, number))
        return sorted(
            range(len(self.nodes)),
            key=lambda position: (first[units[position]], self._numbers[position]),
        )

    def _pattern(self, collective: str | Sequence[tuple[str, str]]) -> str | list[tuple[int, int]]:
        """Return a pattern in the form of the core."""
        if isinstance(collective, str):
            return pattern_of(collective)
        return [(self.position(a), self.position(b)) for a, b in collective]

    def position(self, name: str) -> int:
        """Return the position of a node in the job; its name may have a domain or other case.

        Raises `InputError` with the nearest name if the job has no such node.
        """
        if self._positions is None:
            self._positions = {name: position for position, name in enumerate(self.nodes)}
        positions = self._positions
        if (found := positions.get(name)) is not None:
            return found
        with contextlib.suppress(InputError, KeyError):
            return positions[self.cluster.node(name).name]
        near = nearest(name, positions)
        raise InputError(
            f'"{name}" is no node of the job{meant(near)}', code="unknown-node", nearest=near
        )

    def _row(self, pattern: str | list[tuple[int, int]]) -> tuple[Any, ...]:
        return list(self._numbers), list(self.rails), pattern, self.ranks

    def _routes(self) -> Any:
        return None if self.routes is None else self.routes._core  # noqa: SLF001

    def _beside(self, jobs: Sequence[Self]) -> list[tuple[Any, ...]]:
        for job in jobs:
            if not (_are_equal(job.fabric, self.fabric) and _have_one_naming(job, self)):
                raise InputError(
                    "a job beside is on another fabric; place it on the fabric of this job",
                    code="other-fabric",
                    key="beside",
                )
        return [job._row("ring") for job in jobs]  # noqa: SLF001

    def __repr__(self) -> str:
        """Return a summary in one line."""
        forwarding = "adaptive" if self.routes is None else "routed"
        return f"<Job: {len(self.nodes)} nodes x {len(self.rails)} rails, {forwarding}>"


def pattern_of(collective: str) -> str:
    """Return the pattern of a pattern or collective by name.

    >>> pattern_of("all_reduce_perf"), pattern_of("alltoall")
    ('ring', 'all-to-all')
    """
    name = collective.casefold().replace("_", "-").removesuffix("-perf")
    name = COLLECTIVES.get(name, name)
    if name not in PATTERNS:
        near = nearest(name, [*PATTERNS, *COLLECTIVES])
        raise InputError(
            f'"{collective}" is no pattern{meant(near)}; there are {", ".join(PATTERNS)}',
            code="unknown-pattern",
            key="pattern",
            expected=list(PATTERNS),
            nearest=near,
        )
    return name


def depends_on_order(collective: str | Sequence[tuple[str, str]]) -> bool:
    """Return whether the bound of a collective depends on the order of the nodes."""
    return isinstance(collective, str) and pattern_of(collective) not in ORDER_FREE


def _are_equal(one: Fabric, other: Fabric) -> bool:
    """Return whether two fabrics have equal devices and cables."""
    return one is other or (one.devices == other.devices and one.cables == other.cables)


def _have_one_naming(one: Job, other: Job) -> bool:
    """Return whether two jobs have nodes of equal names and adapters."""
    return one.cluster is other.cluster or one.cluster.nodes == other.cluster.nodes


def _require_ranks(ranks_per_node: int | None) -> None:
    """Raise `InputError` for nodes without ranks."""
    if ranks_per_node is not None and ranks_per_node < 1:
        raise InputError(
            f"{ranks_per_node} ranks of each node: expected at least 1",
            code="bad-ranks",
            key="ranks_per_node",
        )


def _require_routes_of(fabric: Fabric, routes: Routes | None) -> None:
    """Raise `InputError` for routes of another fabric, whose channels have other numbers."""
    of = None if routes is None else routes.fabric
    if of is not None and not _are_equal(fabric, of):
        raise InputError(
            "the routes are those of another fabric; route the fabric of the job",
            code="other-fabric",
            key="routes",
        )


def _numbers(cluster: Cluster, listed: node_lists.NodeList) -> list[int]:
    """Return the positions of nodes in the cluster; errors name the line of the file."""
    try:
        numbers = cluster.numbers(listed.names)
    except InputError as error:
        if listed.file is None or listed.lines is None:
            raise
        known = {node.name for node in cluster.nodes}
        first = next(name for name in listed.names if name not in known and _lacks(cluster, name))
        line = listed.lines[first]
        raise InputError(
            f"{listed.file}:{line}: {error}",
            code=error.code,
            file=listed.file,
            line=line,
            nearest=error.nearest,
        ) from error
    seen = dict[int, str]()
    for name, number in zip(listed.names, numbers, strict=True):
        if number in seen:
            again = (listed.lines or {}).get(name)
            place = f"{listed.file}:{again}: " if listed.file else ""
            other = "" if seen[number] == name else f' as "{seen[number]}"'
            raise InputError(
                f'{place}"{name}" stands twice{other}',
                code="repeated-node",
                file=listed.file,
                line=again,
            )
        seen[number] = name
    return numbers


def _lacks(cluster: Cluster, name: str) -> bool:
    """Return whether a cluster has no node of a name."""
    try:
        cluster.numbers([name])
    except InputError:
        return True
    return False


def _require_rails(job: Job) -> None:
    """Raise `InputError` for unknown and repeated rails."""
    count = len(job.cluster.rails)
    if unknown := [rail for rail in job.rails if rail not in range(count)]:
        raise InputError(
            f"there is no rail {unknown[0]}: the fabric has {count}, counted from 0",
            code="unknown-rail",
            key="rails",
        )
    if not job.rails:
        raise InputError("the job has no rail", code="unknown-rail", key="rails")
    if len(set(job.rails)) < len(job.rails):
        again = next(rail for rail in job.rails if job.rails.count(rail) > 1)
        raise InputError(f"rail {again} is given twice", code="repeated-rail", key="rails")


def _require_adapters(job: Job) -> None:
    """Raise `InputError` for a node without a cabled adapter on one of the job's rails."""
    lacking = [
        (node, rail)
        for node in (job.cluster.nodes[number] for number in job._numbers)  # noqa: SLF001
        for rail in job.rails
        if node.on_rail(rail) is None
    ]
    if lacking:
        node, rail = lacking[0]
        others = len({one.name for one, _ in lacking}) - 1
        more = f", and {counted(others, 'more node')} without one" if others else ""
        usable = [rail for rail in job.rails if rail not in {lost for _, lost in lacking}]
        cure = (
            f"; rails {', '.join(map(str, usable))} are complete"
            if usable
            else "; no rail is complete"
        )
        raise InputError(
            f'"{node.name}" has no cabled adapter on rail {rail}{more}{cure}',
            code="missing-adapter",
            key="rails",
        )
