"""Nodes with several adapters, and the rails, units and planes that they form.

::

    fabric ─► adapters ─► nodes: by system GUID, description, or a rule of the user
                            ├─► units: leaf switches with most of their nodes in common
                            ├─► rails: the leaves of one adapter number, across units
                            └─► planes: switches that no cable joins to those of another plane
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError, meant, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gingham._native import CoreCluster
    from gingham.fabric import Device


@dataclass(frozen=True, slots=True)
class Adapter:
    """A port of an adapter of a node."""

    # Name of its device in the fabric.
    device: str
    # Name of the endpoint of its routes; `None` without a cable.
    endpoint: str | None
    # Name of the switch at the other end of its cable.
    leaf: str | None
    # Name within the node, such as "mlx5_4".
    name: str | None
    # Number within the node, from 0: 4 of "mlx5_4" and of "HCA-5".
    number: int | None
    # Rail of its number, from 0, or else of its leaf; `None` off the rails.
    rail: int | None
    # Rail of its leaf; differs from `rail` if cables are swapped.
    leaf_rail: int | None
    # Reason for its membership: "rule", "description", "system-guid" or "alone".
    basis: str


@dataclass(frozen=True, slots=True)
class Node:
    """A system with one or more adapters: a server, a storage target, a gateway."""

    name: str
    # "compute", "storage", "management", "gateway", or "unnamed" without a host name.
    role: str
    # Number of its unit; `None` without a cable to a switch.
    unit: int | None
    adapters: tuple[Adapter, ...] = field(repr=False)

    def on_rail(self, rail: int) -> Adapter | None:
        """Return the cabled adapter port on a rail, from 0."""
        ports = (one for one in self.adapters if one.rail == rail and one.endpoint)
        return next(ports, None)


@dataclass(frozen=True, slots=True)
class Unit:
    """Leaf switches with most of their nodes in common (scalable unit, pod), or one leaf."""

    leaves: tuple[str, ...]
    # Names of its nodes.
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rail:
    """The leaf switches of one adapter number."""

    # `None` in fabrics whose nodes have one adapter.
    number: int | None
    leaves: tuple[str, ...]


class Cluster:
    """The nodes of a fabric with their rails, units and planes."""

    def __init__(self, core: CoreCluster) -> None:
        """Wrap the compiled cluster; use `Fabric.cluster`."""
        self._core = core
        facts = core.facts()
        self.nodes = tuple(
            Node(
                one["name"],
                one["role"],
                one["unit"],
                tuple(Adapter(**adapter) for adapter in one["adapters"]),
            )
            for one in facts["nodes"]
        )
        names = [node.name for node in self.nodes]
        self.units = tuple(
            Unit(tuple(one["leaves"]), tuple(names[node] for node in one["nodes"]))
            for one in facts["units"]
        )
        self.rails = tuple(Rail(one["number"], tuple(one["leaves"])) for one in facts["rails"])
        # Names of the switches of each plane.
        self.planes = tuple(tuple(plane) for plane in facts["planes"])
        # Counts, as `Fabric.info` has them under "cluster".
        self.summary: dict[str, Any] = facts["summary"]
        self._numbers = {name: number for number, name in enumerate(names)}

    @property
    def compute(self) -> tuple[Node, ...]:
        """The compute nodes, in the order of their names."""
        return tuple(node for node in self.nodes if node.role == "compute")

    @property
    def rail_adapters(self) -> tuple[str | None, ...]:
        """The most common adapter name of each rail, such as "mlx5_6" for rail 4."""
        counts: list[Counter[str]] = [Counter() for _ in self.rails]
        for node in self.compute:
            for one in node.adapters:
                if one.rail is not None and one.name is not None:
                    counts[one.rail][one.name] += 1
        return tuple(next((name for name, _ in names.most_common(1)), None) for names in counts)

    def node(self, name: str) -> Node:
        """Return the node of a name; raise `InputError` with the nearest name if there is none."""
        return self.nodes[self.numbers([name])[0]]

    def numbers(self, names: Sequence[str]) -> list[int]:
        """Return the positions of nodes in `nodes`; a name may have a domain or other case.

        Raises `InputError` with the first unknown name, the number of all unknown ones and the
        nearest known name.
        """
        known = dict(self._numbers)
        folded = {name.casefold(): number for name, number in self._numbers.items()}
        found, unknown = list[int](), list[str]()
        for name in names:
            short = name.partition(".")[0]
            number = known.get(name, known.get(short, folded.get(short.casefold())))
            if number is None:
                unknown.append(name)
            else:
                found.append(number)
        if unknown:
            near = nearest(unknown[0], self._numbers)
            count = f", one of {len(unknown):,} unknown names" if len(unknown) > 1 else ""
            raise InputError(
                f'"{unknown[0]}" is no node of this fabric{count}{meant(near)}',
                code="unknown-node",
                nearest=near,
            )
        return found

    def sentence(self) -> str:
        """Return nodes, rails, units and other adapters in one line.

        Such as "458 nodes x 8 rails, 25 units of 14 to 20 nodes, 11 other adapters".
        """
        return sentence(self.summary)

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return f"<Cluster: {self.sentence()}>"

    def _repr_html_(self) -> str:
        """Return the HTML view of notebooks."""
        from gingham import _html

        return _html.of_cluster(self)


def sentence(summary: dict[str, Any]) -> str:
    """Return the counts of a cluster in one line."""
    nodes = summary["nodes"].get("compute", 0)
    rails = summary["rails"]
    parts = [f"{nodes:,} node{plural(nodes)}"]
    if rails > 1:
        parts[0] += f" x {rails} rails"
    units, sizes = summary["units"], summary["nodes_per_unit"]
    if units and sizes:
        size = f"{sizes[0]}" if sizes[0] == sizes[1] else f"{sizes[0]} to {sizes[1]}"
        word = "leaf switch" if summary["leaves_per_unit"] == [1, 1] else "unit"
        words = f"{word}{'' if units == 1 else 'es' if word.endswith('ch') else 's'}"
        parts.append(f"{units:,} {words} of {size} node{'' if sizes == [1, 1] else 's'}")
    if summary["planes"] > 1:
        parts.append(f"{summary['planes']} disjoint planes")
    other = sum(count for role, count in summary["adapters"].items() if role != "compute")
    if other:
        parts.append(f"{other:,} other adapter{plural(other)}")
    return ", ".join(parts)


def rails_by_adapter(cluster: Cluster, rails: Sequence[int]) -> str:
    """Return the adapters of rails as text; empty if each adapter has the number of its rail.

    Such as "rails 0-3 = mlx5_0..3, 4-7 = mlx5_6..9".
    """
    if all(cluster.rails[rail].number in {rail, None} for rail in rails):
        return ""
    names = cluster.rail_adapters
    # Ranges of rails with consecutive adapters: rail and adapter of both ends, and the common
    # prefix.
    runs: list[tuple[list[int], str, list[int]]] = []
    for rail in rails:
        match = re.fullmatch(r"(.*?)(\d+)", names[rail] or "")
        if match is None:
            return ""
        prefix, number = match[1], int(match[2])
        places, before, numbers = runs[-1] if runs else ([], "", [])
        if places and (places[-1] + 1, before, numbers[-1] + 1) == (rail, prefix, number):
            places.append(rail)
            numbers.append(number)
        else:
            runs.append(([rail], prefix, [number]))
    parts = [
        f"{span(places, '-')} = {prefix}{span(numbers, '..')}" for places, prefix, numbers in runs
    ]
    return f"rail{plural(len(rails))} {', '.join(parts)}"


def span(numbers: Sequence[int], joint: str) -> str:
    """Return the first and the last of some numbers, or the only one.

    >>> span([4, 5, 6], "-"), span([4], "-")
    ('4-6', '4')
    """
    return f"{numbers[0]}{joint}{numbers[-1]}" if len(numbers) > 1 else f"{numbers[0]}"


def plural(count: int) -> str:
    """Return the plural ending of a noun."""
    return "" if count == 1 else "s"


def names_by_rule(rule: str, devices: Iterable[Device]) -> dict[int, tuple[str, str | None]]:
    """Return node and adapter of each host device whose description a pattern matches.

    `rule` is a regular expression with the group `node` and optionally `adapter`, such as
    `r"(?P<node>[^/]+)/(?P<adapter>.*)"`; it is matched from the start of the description. Raises
    `InputError` if it is not such a pattern, or matches no device.
    """
    try:
        pattern = re.compile(rule)
    except re.error as error:
        raise InputError(
            f'"{rule}" is no regular expression: {error}', code="bad-rule", key="rule"
        ) from error
    if "node" not in pattern.groupindex:
        raise InputError(
            f'"{rule}" has no group "node"; write (?P<node>...) around the name of the node',
            code="bad-rule",
            key="rule",
        )
    names: dict[int, tuple[str, str | None]] = {}
    for number, device in enumerate(devices):
        if device.kind == "host" and (match := pattern.match(device.description or device.name)):
            groups = match.groupdict()
            if groups["node"]:
                names[number] = groups["node"], groups.get("adapter")
    if not names:
        raise InputError(
            f'"{rule}" matches the description of no adapter', code="bad-rule", key="rule"
        )
    return names
