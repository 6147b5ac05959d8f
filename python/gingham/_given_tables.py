"""Forwarding tables given in Python, written in the file formats that the core reads.

::

    {"s0": {"h0": 1, "h1": 3}, ...}      the port of each switch to each host
    {("h0", "h1"): 1}                    the lane of a pair, if it is not 0

Hosts are written as LIDs, and lanes as the service levels of equal number.
"""

from __future__ import annotations

import os
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError, meant, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gingham.fabric import Cable, Device, Finding

# Extensions of the temporary files; the core recognises a format by its extension.
ENDINGS = {"edges": ".toml", "tables": ".lfts", "lanes": ".csv"}
# Number of lanes that a service level of equal number can select; level 15 selects lane 7.
LANES = 15
# The highest number of a port in a forwarding table.
PORT_MAX = 254
# Kinds of findings caused by the way tables are written: switches without entries, and
# pairs on lane 0.
OF_WRITING = {"unreached-switch", "missing-lane"}
HEADING = "source_lid,destination_lid,sl"


@contextmanager
def files(**texts: str) -> Iterator[list[Path]]:
    """Yield the paths of files with these texts; errors name them by their keys."""
    with TemporaryDirectory(prefix="gingham-") as folder:
        paths = [Path(folder) / (name + ENDINGS[name]) for name in texts]
        for path, text in zip(paths, texts.values(), strict=True):
            path.write_text(text, encoding="utf-8")
        try:
            yield paths
        except InputError as error:
            message = str(error).replace(f"{folder}{os.sep}", "")
            raise error.about(message, next(iter(texts))) from None


def lids_of(toml: str, nodes: Iterable[Device], cables: Iterable[Cable]) -> dict[str, range]:
    """Return the LIDs of every switch and endpoint, by its name.

    They come from the source of the fabric. If it has none, they are numbered as in written
    tables: from 1 on, switches first.
    """
    told = {
        (node["name"], address["port"]): range(address["lid"], last_lid(address) + 1)
        for kind in tomllib.loads(toml).values()
        for node in kind
        for address in node.get("addresses", [])
        if address.get("lid")
    }
    names = names_of(list(nodes), list(cables))
    found = {name: told[place] for place, name in names.items() if place in told}
    return found or {name: range(lid, lid + 1) for lid, name in enumerate(names.values(), start=1)}


def kept(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings about the given tables, without those caused by their file format."""
    return tuple(
        replace(one, file=None, line=None) for one in findings if one.kind not in OF_WRITING
    )


def last_lid(address: Mapping[str, int]) -> int:
    """Return the last LID of a port."""
    return address["lid"] + (1 << address.get("lmc", 0)) - 1


def names_of(nodes: list[Device], cables: list[Cable]) -> dict[tuple[str, int], str]:
    """Return the name of each switch, by port 0, and then of each endpoint, by its port."""
    ports: dict[str, list[int]] = {node.name: [] for node in nodes}
    for cable in cables:
        for name, port in cable.ends:
            ports[name].append(port)
    switches = [node.name for node in nodes if node.kind == "switch"]
    names = {(name, 0): name for name in switches}
    for name in [node.name for node in nodes if node.kind != "switch"]:
        alone = len(ports[name]) == 1
        for port in sorted(ports[name]):
            names[name, port] = name if alone else f"{name}[{port}]"
    return names


@dataclass(frozen=True)
class Tables:
    """A fabric with lookups by name and port, for tables given in Python."""

    nodes: list[Device]
    cables: list[Cable]
    lids: dict[str, range]

    def forwarding(self, given: Mapping[str, Mapping[str, int | str]]) -> str:
        """Return the tables of all switches in the format of OpenSM's `opensm-lfts.dump`."""
        switches = {node.name: node for node in self.nodes if node.kind == "switch"}
        self.refuse_unknown(given, switches, "tables", "switch")
        lines: list[str] = []
        for name, switch in switches.items():
            if name not in given:
                raise InputError(
                    f"the switch {name!r} has no table: give it one, "
                    "or {} if it forwards nothing",
                    key="tables",
                    code="missing-key",
                )
            if switch.guid is None:
                raise InputError(
                    f"the switch {name!r} has no GUID, and tables identify switches by GUID: "
                    "give it one in the file of the fabric",
                    key="tables",
                    code="no-guid",
                )
            lines += self.table(switch, given[name])
        return "\n".join([*lines, ""])

    def table(self, switch: Device, given: Mapping[str, int | str]) -> Iterator[str]:
        """Yield the lines of the table of a switch."""
        self.refuse_unknown(given, self.lids, f"the table of {switch.name!r}", "host")
        rows = {self.lids[switch.name][0]: 0} if switch.name in self.lids else {}
        for name, way in given.items():
            port = self.port(switch, name, way)
            rows |= dict.fromkeys(self.lids[name], port)
        last = max(lid for lids in self.lids.values() for lid in lids)
        own = self.lids.get(switch.name, range(1))[0]
        yield f"Unicast lids [0-{last}] of switch Lid {own} guid 0x{switch.guid} ('{switch.name}'):"
        for lid, port in sorted(rows.items()):
            yield f"0x{lid:04x} {port:03} # {self.owners[lid]}"
        yield f"{last} lids dumped"

    def port(self, switch: Device, to: str, way: int | str) -> int:
        """Return the number of a port given by number or by the name of its neighbour."""
        place = f"the table of {switch.name!r} to {to!r}"
        neighbours = self.neighbours[switch.name]
        if isinstance(way, str):
            ports = [port for port, name in neighbours.items() if name == way]
            if not ports:
                near = nearest(way, neighbours.values())
                raise InputError(
                    f"{place}: no cable leads to {way!r}{meant(near)}",
                    key="tables",
                    nearest=near,
                    code="no-cable",
                )
            if len(ports) > 1:
                told = " or ".join(map(str, ports))
                raise InputError(
                    f"{place}: {len(ports)} cables lead to {way!r}: give the port, {told}",
                    key="tables",
                    code="several-cables",
                )
            return ports[0]
        if isinstance(way, bool) or not isinstance(way, int) or way not in neighbours:
            told = ", ".join(map(str, sorted(neighbours)))
            raise InputError(
                f"{place}: expected a cabled port or the name of a neighbour, "
                f"not {way!r}; the cabled ports are {told}",
                key="tables",
                code="wrong-type",
            )
        if way > PORT_MAX:
            raise InputError(
                f"{place}: tables have ports up to {PORT_MAX}", key="tables", code="wrong-type"
            )
        return way

    @cached_property
    def owners(self) -> dict[int, str]:
        """Name of the owner of each LID, for the comments of tables."""
        nodes = {node.name: node for node in self.nodes}
        found: dict[int, str] = {}
        for (name, _), owner in names_of(self.nodes, self.cables).items():
            kind = "Switch" if nodes[name].kind == "switch" else "Channel Adapter"
            told = f"{kind}: '{nodes[name].description}'"
            found |= dict.fromkeys(self.lids.get(owner, ()), told)
        return found

    @cached_property
    def neighbours(self) -> dict[str, dict[int, str]]:
        """Name of the neighbour at each port, by node."""
        found: dict[str, dict[int, str]] = {node.name: {} for node in self.nodes}
        for cable in self.cables:
            (one, port), (other, far) = cable.ends
            found[one][port] = other
            found[other][far] = one
        return found

    def levels(self, given: Mapping[tuple[str, str], int]) -> str:
        """Return the table of service levels that puts every pair on its lane."""
        lines = [HEADING]
        for pair, lane in given.items():
            if not isinstance(pair, tuple) or len(pair) != 2:  # noqa: PLR2004
                raise InputError(
                    f"lanes: {pair!r} is not a pair of hosts", key="lanes", code="wrong-type"
                )
            self.refuse_unknown(pair, self.lids, f"lanes of {pair!r}", "host", key="lanes")
            if isinstance(lane, bool) or not isinstance(lane, int) or not 0 <= lane < LANES:
                raise InputError(
                    f"lanes of {pair!r}: expected a lane from 0 to {LANES - 1}, not {lane!r}",
                    key="lanes",
                    code="wrong-type",
                )
            source, destination = (self.lids[name] for name in pair)
            lines += [f"{one},{other},{lane}" for one in source for other in destination]
        return "\n".join([*lines, ""])

    def refuse_unknown(
        self, names: Iterable[Any], known: Iterable[str], place: str, kind: str, key: str = "tables"
    ) -> None:
        """Raise `InputError` for an unknown name, with the nearest known name."""
        known = dict.fromkeys(known)
        for name in names:
            if name not in known:
                near = nearest(str(name), known)
                raise InputError(
                    f"{place}: {name!r} is no {kind} of this fabric{meant(near)}",
                    key=key,
                    nearest=near,
                    code="unknown-node",
                )
