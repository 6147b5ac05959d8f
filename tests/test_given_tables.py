"""Forwarding tables and lanes given in Python, and the LIDs of a fabric."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gingham import Fabric, InputError, Routes
from tests.refusals import raises

SWITCHES = 5
HOSTS = [f"h{place}-0" for place in range(SWITCHES)]
TABLES: dict[str, dict[str, int | str]] = {
    "s0": {"h0": "h0", "h1": "s1"},
    "s1": {"h0": 1, "h1": 2},
}


@pytest.fixture
def line() -> Fabric:
    """Two switches with a host each."""
    return Fabric.from_edges([("s0", "s1"), ("s0", "h0"), ("s1", "h1")])


@pytest.fixture
def ring() -> Fabric:
    """A ring of five switches, with a host on each."""
    edges = [(place, (place + 1) % SWITCHES) for place in range(SWITCHES)]
    return Fabric.from_edges(edges, hosts_per_switch=1)


def shorter_way(switch: int, destination: int) -> str:
    """Return the next node on the shorter way around the ring."""
    ahead = (destination - switch) % SWITCHES
    if not ahead:
        return HOSTS[destination]
    return str((switch + (1 if ahead <= SWITCHES // 2 else -1)) % SWITCHES)


def around() -> dict[str, dict[str, int | str]]:
    """Return the tables of shortest paths on the ring."""
    return {
        str(switch): {host: shorter_way(switch, to) for to, host in enumerate(HOSTS)}
        for switch in range(SWITCHES)
    }


def test_tables_of_a_program_are_followed(line: Fabric) -> None:
    routes = line.routes_from(TABLES)
    assert routes.form == "table"
    assert routes.path("h0", "h1") == ["h0[1] -> s0[2]", "s0[1] -> s1[1]", "s1[2] -> h1[1]"]
    assert (routes.is_deadlock_free, routes.faults, routes.findings) == (True, [], ())


def test_a_ring_can_deadlock_until_pairs_take_two_lanes(ring: Fabric) -> None:
    plain = ring.routes_from(around())
    assert len(plain.cycle) == SWITCHES
    wrapped = {
        (HOSTS[source], HOSTS[to]): 1
        for source in range(SWITCHES)
        for to in range(SWITCHES)
        if ((to - source) % SWITCHES <= SWITCHES // 2) == (source > to) and source != to
    }
    laned = ring.routes_from(around(), lanes=wrapped)
    assert (laned.lanes, laned.is_deadlock_free) == ([0, 1], True)
    assert (laned.faults, laned.findings) == ([], ())
    for routes in (plain, laned):
        assert routes.path(HOSTS[4], HOSTS[0]) == [
            "h4-0[1] -> 4[3]",
            "4[2] -> 0[2]",
            "0[3] -> h0-0[1]",
        ]


def test_tables_equal_those_of_a_file(ring: Fabric, tmp_path: Path) -> None:
    given = ring.routes_from(around())
    given.save(tmp_path / "ring.lfts")
    read = ring.load_routes(tmp_path / "ring.lfts")
    assert (read.lengths(), read.statistics()) == (given.lengths(), given.statistics())


def test_a_host_that_a_table_lacks_is_a_black_hole(line: Fabric) -> None:
    routes = line.routes_from({"s0": {"h0": "h0"}, "s1": TABLES["s1"]})
    (fault,) = routes.faults
    assert "h1" in fault
    assert "s0" in fault
    loop = line.routes_from({"s0": {"h0": 2, "h1": "s1"}, "s1": {"h0": 1, "h1": "s0"}})
    assert len(loop.faults) == 1


REFUSED: dict[str, tuple[Callable[[Fabric], Routes], dict[str, Any]]] = {
    "no table": (
        lambda line: line.routes_from({"s0": {}}),
        {"code": "missing-key", "key": "tables"},
    ),
    "no switch": (
        lambda line: line.routes_from(TABLES | {"s11": {}}),
        {"code": "unknown-node", "key": "tables", "nearest": "s1"},
    ),
    "no host": (
        lambda line: line.routes_from(TABLES | {"s1": {"h11": 1}}),
        {"code": "unknown-node", "key": "tables", "nearest": "h1"},
    ),
    "no such port": (
        lambda line: line.routes_from(TABLES | {"s1": {"h0": 7}}),
        {"code": "wrong-type", "key": "tables"},
    ),
    "no port": (
        lambda line: line.routes_from(TABLES | {"s1": {"h0": True}}),
        {"code": "wrong-type", "key": "tables"},
    ),
    "no cable": (
        lambda line: line.routes_from(TABLES | {"s1": {"h0": "h0"}}),
        {"code": "no-cable", "key": "tables"},
    ),
    "no pair": (
        lambda line: line.routes_from(TABLES, lanes={"h0": 1}),  # type: ignore[dict-item]
        {"code": "wrong-type", "key": "lanes"},
    ),
    "no host of a pair": (
        lambda line: line.routes_from(TABLES, lanes={("h0", "h3"): 1}),
        {"code": "unknown-node", "key": "lanes"},
    ),
    "no lane": (
        lambda line: line.routes_from(TABLES, lanes={("h0", "h1"): 15}),
        {"code": "wrong-type", "key": "lanes"},
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_in_the_fabric_is_refused_with_its_place(line: Fabric, case: str) -> None:
    route, facts = REFUSED[case]
    with raises(InputError, **facts):
        route(line)


def test_of_parallel_cables_the_port_is_asked_for() -> None:
    made = Fabric.from_edges([("s0", "s1"), ("s0", "s1"), ("s0", "h0"), ("s1", "h1")])
    tables: dict[str, dict[str, int | str]] = {"s0": {"h0": "h0", "h1": "s1"}, "s1": {"h0": 2}}
    with raises(InputError, "several-cables", key="tables"):
        made.routes_from(tables)
    tables["s0"]["h1"] = 2
    assert made.routes_from(tables).faults != []


def test_switches_without_a_guid_are_named_with_the_cure(tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text(
        '[[switch]]\nname = "s0"\n[[host]]\nname = "h0"\n[[cable]]\nends = ["s0", "h0"]\n'
    )
    with raises(InputError, "no-guid", key="tables"):
        Fabric.load(tmp_path / "net.toml").routes_from({"s0": {"h0": 1}})


def test_lids_are_those_of_written_tables_where_the_source_has_none(ring: Fabric) -> None:
    for fabric in (ring, Fabric.make("k-ary-n-tree", arity=2, levels=3)):
        written = fabric.route("up-down", form="table")._core.tables()
        rows = re.findall(r"^0x([0-9a-f]{4}) \d{3} # .*: '(.*)'$", written, re.MULTILINE)
        assert {name: range(int(lid, 16), int(lid, 16) + 1) for lid, name in rows} == fabric.lids


LIDS = """
[[switch]]
name = "s0"
addresses = [{ port = 0, guid = "5", lid = 9 }]
[[host]]
name = "h0"
addresses = [{ port = 1, guid = "6", lid = 4, lmc = 2 }, { port = 2, guid = "7", lid = 12 }]
[[host]]
name = "h1"
addresses = [{ port = 1, lid = 17 }, { port = 2, lid = 18 }]
[[aggregation]]
name = "reducer"
addresses = [{ port = 1, lid = 20 }]
[[cable]]
ends = ["s0", "h0[1]"]
[[cable]]
ends = ["s0", "h0[2]"]
[[cable]]
ends = ["s0", "h1[1]"]
[[cable]]
ends = ["s0", "reducer"]
"""


def test_lids_are_those_of_the_source_with_their_lmc(tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text(LIDS)
    assert Fabric.load(tmp_path / "net.toml").lids == {
        "s0": range(9, 10),
        "h0[1]": range(4, 8),
        "h0[2]": range(12, 13),
        # Its second port has no cable, so that port is not an endpoint.
        "h1": range(17, 18),
        "reducer": range(20, 21),
    }


def test_tables_go_by_the_lids_of_a_dump(tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text(LIDS.replace('name = "s0"', 'name = "s0"\nguid = "5"'))
    fabric = Fabric.load(tmp_path / "net.toml")
    routes = fabric.routes_from({"s0": {"h0[1]": 1, "h0[2]": 2, "h1": "h1", "reducer": 4}})
    assert (routes.faults, routes.findings) == ([], ())
    assert routes.alternatives == 4
    assert routes.path("h1", "h0[1]") == ["h1[1] -> s0[3]", "s0[1] -> h0[1]"]
