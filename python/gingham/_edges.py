"""Fabrics from pairs of names, or from a graph of networkx.

::

    [("s0", "s1"), ("s0", "h0"), ("s1", "h1", "4xHDR")]     pairs, and triples with a speed
    networkx.petersen_graph()                               nodes, and data of its edges

They are converted to a TOML fabric file, which the core reads. Ports are numbered from 1 in the
order of the edges.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from gingham.errors import InputError, meant, nearest

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

# First GUIDs of a generated fabric, less one.
SWITCH_GUIDS, HOST_GUIDS = 0x5000_0000_0000, 0x4000_0000_0000
# Attributes of an edge that describe its cable.
ATTRIBUTES = ("speed", "length")
# Lengths of an edge: two names, or two names and attributes of the cable.
PAIR, TRIPLE = 2, 3


@runtime_checkable
class Graph(Protocol):
    """The methods used of a networkx graph of any class."""

    def is_directed(self) -> bool:
        """Return whether edges have a direction."""

    def nodes(self, data: bool = False) -> Iterable[tuple[Hashable, Mapping[str, Any]]]:
        """Return nodes with their attributes."""

    def edges(self, data: bool = False) -> Iterable[tuple[Hashable, Hashable, Mapping[str, Any]]]:
        """Return edges with their attributes."""


Edge: TypeAlias = "Sequence[Any]"
Edges: TypeAlias = "Iterable[Edge] | Graph"


@dataclass
class Drawing:
    """Names and cables in the order given."""

    # Nodes by name, in the order of their first edges.
    nodes: dict[str, Hashable] = field(default_factory=dict)
    cables: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)
    # Names of nodes with the kind `host`.
    hosts: set[str] = field(default_factory=set)

    def node(self, node: Hashable) -> str:
        """Return the name of a node, and add the node if it is new."""
        name = name_of(node)
        if not name.isprintable() and any("\ud800" <= one <= "\udfff" for one in name):
            raise InputError(
                f"the name {name!r} has half a character: no file holds it", key="edges"
            )
        known = self.nodes.setdefault(name, node)
        if known != node:
            raise InputError(
                f"{known!r} and {node!r} have one name, {name!r}: give names that differ",
                key="edges",
            )
        return name

    def cable(self, place: str, first: Hashable, second: Hashable, said: Mapping[str, Any]) -> None:
        """Add a cable between two nodes."""
        one, other = self.node(first), self.node(second)
        if one == other:
            raise InputError(
                f"{place}: {one!r} would be cabled to itself: leave the edge out", key="edges"
            )
        self.cables.append((one, other, {name: said[name] for name in ATTRIBUTES if name in said}))


def name_of(node: Hashable) -> str:
    """Return the name of a node; the parts of a tuple are joined with hyphens.

    >>> name_of("s0"), name_of(7), name_of((2, 3))
    ('s0', '7', '2-3')
    """
    return "-".join(map(str, node)) if isinstance(node, tuple) else str(node)


def toml_of(
    edges: Edges,
    hosts: Iterable[Hashable] | None = None,
    hosts_per_switch: int = 0,
    speed: str | None = None,
) -> str:
    """Return the fabric of these edges as TOML."""
    drawing = of_graph(edges) if isinstance(edges, Graph) else of_pairs(edges)
    if not drawing.nodes:
        raise InputError("the edges are empty: give pairs such as [('s0', 'h0')]", key="edges")
    named = hosts_of(drawing, hosts, hosts_per_switch)
    add_hosts(drawing, named, hosts_per_switch)
    return "\n".join(lines_of(drawing, named, speed))


def of_pairs(edges: Iterable[Edge]) -> Drawing:
    """Read pairs, and triples with a speed or a table of attributes."""
    drawing = Drawing()
    for number, edge in enumerate(edges):
        place = f"edge {number}, {edge!r}"
        if isinstance(edge, str) or not hasattr(edge, "__len__") or not hasattr(edge, "__iter__"):
            raise InputError(f"{place}: expected a pair of names", key="edges")
        parts = tuple(edge)
        if len(parts) not in {PAIR, TRIPLE}:
            raise InputError(
                f"{place}: expected two names, and perhaps a speed such as '4xNDR'", key="edges"
            )
        drawing.cable(place, parts[0], parts[1], said_of(place, *parts[PAIR:]))
    refuse_both_directions(drawing)
    return drawing


def said_of(place: str, said: object = None) -> Mapping[str, Any]:
    """Return the attributes in the third part of an edge: a speed, or a table."""
    if said is None:
        return {}
    if isinstance(said, str):
        return {"speed": said}
    if not isinstance(said, dict):
        raise InputError(
            f"{place}: the third part is a speed such as '4xNDR', or a table such as "
            "{'speed': '4xNDR', 'length': '5 m'}",
            key="edges",
        )
    for name in said:
        if name not in ATTRIBUTES:
            near = nearest(str(name), ATTRIBUTES)
            raise InputError(
                f"{place}: a cable has speed and length, and no {name!r}{meant(near)}",
                key="edges",
                expected=ATTRIBUTES,
                nearest=near,
            )
    return said


def refuse_both_directions(drawing: Drawing) -> None:
    """Reject edges that all occur in both directions, as adjacency lists contain them."""
    counts = Counter((one, other) for one, other, _ in drawing.cables)
    if counts and all(counts[other, one] == count for (one, other), count in counts.items()):
        one, other = next(iter(counts))
        raise InputError(
            f"every pair is there in both directions, ({one!r}, {other!r}) and "
            f"({other!r}, {one!r}): a cable carries both, so give each once",
            key="edges",
        )


def of_graph(graph: Graph) -> Drawing:
    """Read a graph: hosts are nodes whose attribute `kind` or `type` is `host`."""
    if graph.is_directed():
        raise InputError(
            "the graph is directed, and a cable carries both directions: "
            "give graph.to_undirected()",
            key="edges",
            code="directed-graph",
        )
    drawing = Drawing()
    for node, data in graph.nodes(data=True):
        name = drawing.node(node)
        if "host" in {data.get("kind"), data.get("type")}:
            drawing.hosts.add(name)
    for one, other, data in graph.edges(data=True):
        drawing.cable(f"edge ({one!r}, {other!r})", one, other, data)
    return drawing


def hosts_of(drawing: Drawing, hosts: Iterable[Hashable] | None, hosts_per_switch: int) -> set[str]:
    """Return the names of the hosts; by default, nodes with one cable."""
    if hosts is not None:
        named = {name_of(node) for node in hosts}
        for name in sorted(named - drawing.nodes.keys()):
            near = nearest(name, drawing.nodes)
            raise InputError(
                f"the host {name!r} has no edge{meant(near)}", key="hosts", nearest=near
            )
        return named
    if drawing.hosts or hosts_per_switch:
        return drawing.hosts
    ends = Counter(end for *cable, _ in drawing.cables for end in cable)
    named = {name for name, count in ends.items() if count == 1}
    if not named:
        raise InputError(
            "no node has just one cable, so there are no hosts: name them with hosts=[...], "
            "or add some to every switch with hosts_per_switch=1",
            key="hosts",
        )
    return named


def add_hosts(drawing: Drawing, named: set[str], hosts_per_switch: int) -> None:
    """Add hosts to every switch: `h3-0` is the first host of the switch `3` or `s3`."""
    if hosts_per_switch < 0:
        raise InputError(
            f"hosts_per_switch is {hosts_per_switch}, and must be 0 or more",
            key="hosts_per_switch",
        )
    for switch in [name for name in drawing.nodes if name not in named]:
        stem = re.sub(r"^s(?=\d)", "", switch)
        for number in range(hosts_per_switch):
            host = f"h{stem}-{number}"
            if host in drawing.nodes:
                raise InputError(
                    f"the new host {host!r} of {switch!r} has the name of a node: "
                    "give the node another",
                    key="hosts_per_switch",
                )
            named.add(drawing.node(host))
            drawing.cables.append((host, switch, {}))


def lines_of(drawing: Drawing, hosts: set[str], speed: str | None) -> Iterator[str]:
    """Yield the lines of the TOML file."""
    guids = {"switch": SWITCH_GUIDS, "host": HOST_GUIDS}
    ends_at = Counter(end for *cable, _ in drawing.cables for end in cable)
    for name in drawing.nodes:
        kind = "host" if name in hosts else "switch"
        yield f"[[{kind}]]"
        yield f"name = {quoted(name)}"
        yield f'guid = "{guids[kind]:016x}"'
        # The ports of a host have the GUIDs that follow its own, in ibsim and on adapters.
        guids[kind] += max(1, ends_at[name]) if kind == "host" else 1
    ports = Counter[str]()
    for one, other, said in drawing.cables:
        ends = []
        for end in (one, other):
            ports[end] += 1
            ends.append(quoted(f"{end}[{ports[end]}]"))
        yield "[[cable]]"
        yield f"ends = [{', '.join(ends)}]"
        known = {"speed": speed, **said}
        yield from (f"{name} = {quoted(str(value))}" for name, value in known.items() if value)


def quoted(text: str) -> str:
    r"""Return a text as a TOML string.

    >>> quoted('a "b"')
    '"a \\"b\\""'
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
