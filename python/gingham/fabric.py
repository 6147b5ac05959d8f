"""Fabrics: loading, generating, writing, describing, checking and routing."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gingham import _edges, _given_tables
from gingham._files import require_file, unknown_ending, write_bytes
from gingham._native import CoreFabric, formats
from gingham.errors import InputError, meant, nearest
from gingham.routes import Routes

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from typing import Self

    from gingham._edges import Edges
    from gingham.cluster import Cluster, Node


GUID = re.compile(r"^(0x)?[0-9a-fA-F]{1,16}$")
# Separator in the name of a cable or channel, as printed in tables and pictures.
BETWEEN_ENDS = re.compile(r"(?<=\]) (?:-|->|--) (?=\S)")


@dataclass(frozen=True, slots=True)
class Finding:
    """Content of a file that is valid but cannot be right, or is worth knowing."""

    # Line of the file, from 1; `None` if the finding does not concern a single line.
    line: int | None
    severity: Literal["note", "warning"]
    kind: str
    text: str
    # Name of the file, if routes come from several files.
    file: str | None = None

    def __str__(self) -> str:
        """Return the finding as one line."""
        file = f"{self.file}: " if self.file else ""
        place = f"line {self.line}: " if self.line else ""
        return f"{file}{place}{self.kind}: {self.text}"


@dataclass(frozen=True, slots=True)
class Device:
    """A device with ports: a switch, an adapter of a host, an aggregation node, a router."""

    kind: Literal["switch", "host", "aggregation", "router"]
    # Unique in its fabric.
    name: str
    # 16 hexadecimal digits.
    guid: str | None
    # As in the source; need not be unique.
    description: str
    # Number of the highest port; ports count from 1.
    ports: int


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable between two ports, each given as the name of its node and its number."""

    ends: tuple[tuple[str, int], tuple[str, int]]
    # Such as "4xNDR" or "80 MB/s"; "2x???" or "??HDR" if width or rate is unknown.
    speed: str | None
    length_mm: int | None


class Fabric:
    """A network of switches and hosts; never changes.

    Nodes and cables are in one canonical order, whatever their source.
    """

    def __init__(self, core: CoreFabric, findings: tuple[Finding, ...] = ()) -> None:
        """Wrap the compiled fabric; use `load` or `make`."""
        self._core = core
        # Findings about the file that the fabric was read from.
        self.findings = findings
        self._cluster: Cluster | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read the fabric in the file at `path`.

        The content of the file decides its format, or else its extension. Content that is valid but
        cannot be right is listed in `findings`. Raises `InputError` if the file cannot be read.
        """
        require_file(Path(path))
        core, rows = CoreFabric.load(str(Path(path)))
        return cls(core, tuple(Finding(*row) for row in rows))

    @classmethod
    def make(cls, kind: str, *, seed: int = 1, speed: str | None = None, **parameters: Any) -> Self:
        """Make a fabric of a generator's shape, such as `make("torus", dimensions=[8, 8])`.

        `seed` determines random choices; `speed` is the speed of every cable, such as `"4xNDR"`.
        `gingham fabric make --help` lists the kinds.
        """
        return cls(CoreFabric.make(kind, parameters, seed, speed))

    @classmethod
    def from_edges(
        cls,
        edges: Edges,
        *,
        hosts: Iterable[Hashable] | None = None,
        hosts_per_switch: int = 0,
        speed: str | None = None,
    ) -> Self:
        """Make a fabric of cables between named nodes, or of a graph of networkx.

        An edge is a pair of names, such as `("s0", "h0")`, or a triple with a speed such as
        `"4xNDR"` or a table such as `{"speed": "4xNDR", "length": "5 m"}`. A repeated pair is a
        parallel cable. The name of a node is its text; a tuple `(2, 3)` is called `2-3`. Ports are
        numbered from 1 in the order of the edges.

        `hosts` names the hosts. By default they are the nodes of a graph whose attribute `kind` is
        `"host"`, or else all nodes with one cable. `hosts_per_switch` adds that number of hosts to
        every switch. `speed` applies to cables without their own. Raises `InputError` for edges
        that make no valid fabric.

        >>> ring = Fabric.from_edges([("a", "b"), ("b", "c"), ("c", "a")], hosts_per_switch=1)
        >>> ring
        <Fabric: 3 switches, 3 other nodes>
        """
        text = _edges.toml_of(edges, hosts, hosts_per_switch, speed)
        with _given_tables.files(edges=text) as (path,):
            return cls.load(path)

    @property
    def lids(self) -> dict[str, range]:
        """The range of LIDs of each switch and endpoint, by name; its length follows from the LMC.

        An endpoint has the name of its host, or `h0[2]` if the host has several cables. If the
        source of the fabric has no LIDs, they are numbered as in written tables: from 1 on,
        switches first.
        """
        return _given_tables.lids_of(self.text("toml")[0], self.devices, self.cables)

    @property
    def devices(self) -> list[Device]:
        """All devices with ports: switches, hosts (adapters), aggregation nodes, routers."""
        return [Device(*row) for row in self._core.nodes()]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes (servers, storage and the like) with their adapters, by name.

        `cluster` has their rails, units and planes too.
        """
        return self.cluster().nodes

    def cluster(self, rule: str | None = None) -> Cluster:
        """Recognise nodes, rails, units and planes.

        The adapters of a node share a system GUID, or the host name in their descriptions, such as
        "luna-0173 mlx5_4". `rule` is a regular expression with the groups `node` and `adapter` for
        descriptions of another form.
        """
        from gingham.cluster import Cluster, names_by_rule

        if rule is not None:
            return Cluster(self._core.cluster(names_by_rule(rule, self.devices)))
        if self._cluster is None:
            self._cluster = Cluster(self._core.cluster({}))
        return self._cluster

    @property
    def cables(self) -> list[Cable]:
        """All cables, by their lower end."""
        names = [node.name for node in self.devices]

        def end(row: tuple[int, int]) -> tuple[str, int]:
            return names[row[0]], row[1]

        return [
            Cable((end(lower), end(upper)), speed, length_mm)
            for lower, upper, speed, length_mm in self._core.cables()
        ]

    def without(self, *names: str) -> Self:
        """Return the fabric without these nodes and cables, as if they had failed.

        A node is given by its name or GUID, and is removed with its cables. A cable is given by one
        of its ends, such as `"s3[7]"`, or by both: `"s3[7] - s4[1]"`, or as a channel `->`. Hosts
        of a removed switch remain, without a cable. Raises `InputError` for unknown names.
        """
        gone_nodes, gone_cables = list[int](), list[int]()
        nodes, cables = self._nodes_by_names(), self._cables_by_ends()
        for name in names:
            if (node := node_meant(name, nodes)) is not None:
                gone_nodes.append(node)
            elif (cable := cable_meant(name, cables)) is not None:
                gone_cables.append(cable)
            else:
                near = nearest(name, [*nodes, *cables])
                raise InputError(
                    f'"{name}" is no node and no cabled port of this fabric{meant(near)}',
                    nearest=near,
                    code="unknown-node",
                    key=name,
                )
        return type(self)(self._core.without(gone_nodes, gone_cables))

    def _nodes_by_names(self) -> dict[str, tuple[int, str | None]]:
        """Return the number of each node and its GUID, by its name."""
        return {node.name: (number, node.guid) for number, node in enumerate(self.devices)}

    def _cables_by_ends(self) -> dict[str, int]:
        """Return the number of each cable, by either of its ends."""
        cables = enumerate(self.cables)
        return {f"{end}[{port}]": number for number, cable in cables for end, port in cable.ends}

    def info(self) -> dict[str, Any]:
        """Return counts, speeds and distances, and the levels of each tree of switches.

        `trees` has an entry for each part of the fabric that is a tree. Its `levels` begin at the
        top, with the number of `switches` and their `oversubscription`: the least (`min`) and
        greatest (`max`) ratio of capacity from below to capacity of the uplinks, and the
        `narrowest` switch. At the top it is `None`. `tops` are the names of the top switches.
        """
        return self._core.info()

    def check(self) -> list[Finding]:
        """Return findings about the file of the fabric and about the fabric itself."""
        return [*self.findings, *(Finding(*row) for row in self._core.check())]

    def text(self, format: str) -> tuple[str, list[str]]:  # noqa: A002  (the word of the field)
        """Return the fabric in a file format, and a sentence for each property that it loses."""
        return self._core.text(format)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002
        overwrite: bool = False,
    ) -> list[str]:
        """Write the fabric to the file at `path`, atomically.

        The extension decides on the format unless it is given. An existing file is replaced only
        with `overwrite`. Returns a sentence for each property that the format cannot hold.
        """
        text, notes = self.text(format or format_of(Path(path)))
        write_bytes(Path(path), text.encode(), overwrite=overwrite)
        return notes

    def route(
        self,
        algorithm: str | Mapping[str, Any] = "up-down",
        *,
        form: Literal["source", "table"] | None = None,
        when_full: Literal["spill", "stop"] = "spill",
        lanes: int = 1,
        datelines: bool | Literal["by-hop", "by-wrap"] | None = None,
        adaptive: bool = False,
        escape_lanes: int | None = None,
        memory_max: str | None = None,
        **parameters: Any,
    ) -> Routes:
        """Route every pair of hosts.

        `parameters` are those of the algorithm, such as `root="smallest-distance"`. The form is a
        whole path for each pair (`source`), or one output port for each switch and destination
        (`table`). By default it is the former for up to 16,777,216 pairs of a switch with hosts and
        a host. Routes that would need more than `memory_max` bytes, such as `"8 GB"`, are refused
        before any memory is allocated; the default is 4 GiB. The proof assumes that an in-transit
        host with a full pool takes packets into its memory (`spill`), or that it lets them wait
        (`stop`).

        A packet may take any of the `lanes` of a channel. With `datelines` the lower half of them
        leads up to the dateline of each ring of a torus and the upper half on from there; this is
        the default for dimension order with two lanes or more. With `datelines="by-wrap"` a packet
        that crosses the dateline of a ring has the upper half on all of that ring.

        With `adaptive` a packet chooses at every switch among all channels on a shortest path
        (minimal adaptive routing), and routes are tables. The lowest `escape_lanes` are reserved
        for the path of the algorithm; the default is the number that dimension order needs. The
        proof is then of Duato's extended dependency graph. It is valid if no packet on another lane
        waits behind one on an escape lane.
        """
        request = {algorithm: parameters} if isinstance(algorithm, str) else dict(algorithm)
        core = self._core.route(
            request, form, when_full, lanes, datelines, memory_max, adaptive, escape_lanes
        )
        return Routes(core, fabric=self)

    def load_routes(
        self,
        tables: str | os.PathLike[str],
        *,
        sl2vl: str | os.PathLike[str] | None = None,
        sl: str | os.PathLike[str] | None = None,
    ) -> Routes:
        """Read the routes that a subnet manager decided on, from the files of its tools.

        `tables` is the output of `dump_lfts` or `dump_fts`, or OpenSM's `opensm-lfts.dump` or
        `opensm.fdbs`; `sl2vl` is OpenSM's `opensm-sl2vl.dump`, outputs of `smpquery sl2vl`, or
        `opensm.conf`; `sl` is a table of service levels (`source_lid,destination_lid,sl`) or the
        output of `saquery -p`. The fabric must be of the same subnet and moment, because LIDs
        join them. Without `sl` every pair sends on SL 0.

        Inconsistent content that can still be joined is listed in `Routes.findings`, packets that
        do not arrive in `Routes.faults`. Raises `InputError` if a file cannot be read or is of
        another fabric.
        """
        for path in (tables, sl2vl, sl):
            if path is not None:
                require_file(Path(path))
        lanes, levels = (None if path is None else os.fspath(path) for path in (sl2vl, sl))
        core = self._core.load_routes(os.fspath(tables), lanes, levels)
        findings = (
            Finding(line, severity, kind, text, file)
            for file, line, severity, kind, text in core.findings()
        )
        return Routes(core, tuple(findings), self)

    def routes_from(
        self,
        tables: Mapping[str, Mapping[str, int | str]],
        *,
        lanes: Mapping[tuple[str, str], int] | None = None,
    ) -> Routes:
        """Check and prove routes given in Python, as `load_routes` does for files.

        `tables` maps each switch and host to an output port, or to the name of the neighbour at
        that port: `{"s0": {"h0": 1, "h1": "s1"}, ...}`. Hosts are named as in `lids`. `lanes` maps
        pairs of hosts, source first, to the lane of their packets on the whole path; all other
        pairs take lane 0.

        A host without an entry in a table is a black hole at that switch (`Routes.faults`). Tables
        need no entries for switches, so stray management packets are not reported. Raises
        `InputError` for a switch without a table, and for names that are not in the fabric.

        >>> line = Fabric.from_edges([("a", "b"), ("a", "h0"), ("b", "h1")])
        >>> routes = line.routes_from({"a": {"h0": "h0", "h1": "b"}, "b": {"h0": 1, "h1": 2}})
        >>> routes.path("h0", "h1")
        ['h0[1] -> a[2]', 'a[1] -> b[1]', 'b[2] -> h1[1]']
        """
        given = _given_tables.Tables(self.devices, self.cables, self.lids)
        texts = {"tables": given.forwarding(tables)}
        texts |= {"lanes": given.levels(lanes)} if lanes is not None else {}
        with _given_tables.files(**texts) as (forwarding, *levels):
            found = self.load_routes(forwarding, sl=next(iter(levels), None))
        found.findings = _given_tables.kept(found.findings)
        return found

    def _repr_html_(self) -> str:
        """Return the HTML view of notebooks."""
        from gingham import _html

        return _html.of_fabric(self)

    def __repr__(self) -> str:
        """Return a summary in one line."""
        nodes = self.devices
        switches = sum(node.kind == "switch" for node in nodes)
        return f"<Fabric: {switches} switches, {len(nodes) - switches} other nodes>"


def node_meant(name: str, nodes: dict[str, tuple[int, str | None]]) -> int | None:
    """Return the number of the node with a name or GUID, or `None`."""
    if name in nodes:
        return nodes[name][0]
    if GUID.match(name):
        for number, guid in nodes.values():
            if guid and int(guid, 16) == int(name, 16):
                return number
    return None


def cable_meant(name: str, cables: dict[str, int]) -> int | None:
    """Return the number of the cable with one end or both, or `None`."""
    meant_by = {cables.get(end.strip()) for end in BETWEEN_ENDS.split(name)}
    return meant_by.pop() if len(meant_by) == 1 else None


def format_of(path: Path) -> str:
    """Return the name of the writable file format with the extension of `path`."""
    extension = path.suffix.lstrip(".").lower()
    known = {
        ending: name
        for name, endings, _, is_written in formats()
        if is_written
        for ending in endings
    }
    if extension in known:
        return known[extension]
    raise unknown_ending(path, "the extension says no format", "known extensions", known)
