"""Forwarding tables for OpenSM, read back line by line as its `-U` does, and followed.

OpenSM reads the switch of a table from its GUID, and from an entry the LID, the port and the GUID
of the port behind it (`osm_ucast_file.c`). The paths of the entries are compared with the cables of
the fabric, and with the paths of the written routes.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gingham import Fabric, InputError
from gingham.routes import Routes
from tests.drawn_fabrics import bare, cabled, drawn, made

HEADING = re.compile(
    r"Unicast lids \[0-(\d+)\] of switch Lid (\d+) guid 0x([0-9a-f]{16}) \('.*'\):"
)
ENTRY = re.compile(
    r"0x([0-9a-f]{4}) (\d{3}) # (Switch|Channel Adapter|Router)"
    r"(?: portguid 0x[0-9a-f]{16})?: '.*'"
)
CLOSING = re.compile(r"(\d+) lids dumped")


@dataclass
class Table:
    """The entries of one switch."""

    lid: int
    ports: dict[int, int] = field(default_factory=dict)
    # LIDs whose remark names a switch.
    of_switches: set[int] = field(default_factory=set)


def read(text: str) -> dict[str, Table]:
    """Return the tables by the GUID of their switch; fail at a line that does not belong to one."""
    tables: dict[str, Table] = {}
    last, top = None, 0
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if match := HEADING.fullmatch(line):
            assert last is None
            assert match[3] not in tables
            top = int(match[1])
            last = tables[match[3]] = Table(int(match[2]))
        elif match := ENTRY.fullmatch(line):
            lid = int(match[1], 16)
            assert last
            assert lid <= top
            assert lid not in last.ports
            last.ports[lid] = int(match[2])
            if match[3] == "Switch":
                last.of_switches.add(lid)
        else:
            match = CLOSING.fullmatch(line)
            assert match, line
            assert int(match[1]) == top
            last = None
    assert last is None
    return tables


@dataclass
class Net:
    """Tables on the cables of their fabric."""

    tables: dict[str, Table]
    # Far end of each cable, by name of a node and its port.
    far: dict[tuple[str, int], tuple[str, int]]

    @classmethod
    def of(cls, fabric: Fabric, text: str) -> Net:
        """Read the tables that were written for a fabric."""
        by_guid = read(text)
        switches = {node.guid: node for node in fabric.devices if node.kind == "switch"}
        assert by_guid.keys() == switches.keys()
        far = {}
        for cable in fabric.cables:
            one, other = cable.ends
            far[one], far[other] = other, one
        tables = {switches[guid].name: table for guid, table in by_guid.items() if guid}
        for name, table in tables.items():
            assert table.ports[table.lid] == 0
            for lid, port in table.ports.items():
                assert (port == 0) == (lid == table.lid)
                assert port == 0 or (name, port) in far
        return cls(tables, far)

    def path(self, source: tuple[str, int], lid: int) -> list[str] | None:
        """Return the channels from a port of a host to the port that has a LID."""
        channels = []
        place = source
        for _ in range(len(self.tables) + 1):
            end = self.far[place]
            channels.append(channel(place, end))
            if end[0] not in self.tables:
                return channels
            port = self.tables[end[0]].ports.get(lid)
            if port is None:
                return None
            place = (end[0], port)
        raise AssertionError(channels)


def channel(one: tuple[str, int], other: tuple[str, int]) -> str:
    """Return the name of a channel."""
    return " -> ".join(f"{name}[{port}]" for name, port in (one, other))


def endpoints(fabric: Fabric) -> dict[str, tuple[str, int]]:
    """Return the ports of hosts with a cable, by the name of the endpoint."""
    hosts = {node.name for node in fabric.devices if node.kind == "host"}
    every = sorted(end for cable in fabric.cables for end in cable.ends if end[0] in hosts)
    count = {host: sum(name == host for name, _ in every) for host in hosts}
    return {name if count[name] == 1 else f"{name}[{port}]": (name, port) for name, port in every}


def saved(routes: Routes) -> str:
    """Return the file of tables that is written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.lfts"
        routes.save(path)
        return path.read_bytes().decode()


@settings(max_examples=60)
@given(drawn(), st.sampled_from(["up-down", "shortest-path"]))
def test_entries_lead_to_every_host_on_the_paths_that_were_computed(
    fabric: Fabric, algorithm: str
) -> None:
    switches = [node for node in fabric.devices if node.kind == "switch"]
    routes = fabric.route(algorithm, form="table")
    if not all(node.guid for node in switches):
        with pytest.raises(InputError):
            saved(routes)
        return
    text = saved(routes)
    if not switches:
        assert text == ""
        return
    net = Net.of(fabric, text)
    lids = {name: of[0] for name, of in fabric.lids.items()}
    ports = endpoints(fabric)
    assert lids.keys() == {node.name for node in switches} | ports.keys()
    of_switches = {lids[node.name] for node in switches}
    for name, table in net.tables.items():
        assert table.lid == lids[name]
        assert table.of_switches == of_switches & table.ports.keys()
        assert table.ports.keys() <= set(lids.values())
    for source, destination in permutations(ports, 2):
        path = net.path(ports[source], lids[destination])
        assert path == routes.path(source, destination)
        assert path is None or path[-1].endswith(" -> {}[{}]".format(*ports[destination]))
    require_same_again(fabric, text, routes)


def require_same_again(fabric: Fabric, text: str, routes: Routes) -> None:
    """Fail unless Gingham reads the same paths from the tables."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.lfts"
        path.write_bytes(text.encode())
        back = fabric.load_routes(path)
    for pair in permutations(endpoints(fabric), 2):
        assert back.path(*pair) == routes.path(*pair)
    assert saved(back) == text


@settings(max_examples=15)
@given(made() | cabled())
def test_source_routes_and_switches_without_guids_are_no_tables(fabric: Fabric) -> None:
    for routes in (
        fabric.route("up-down", form="source"),
        bare(fabric).route("up-down", form="table"),
    ):
        with pytest.raises(InputError):
            saved(routes)
