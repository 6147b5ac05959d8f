"""Fabrics from pairs of names and from graphs, without a file."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gingham import Fabric, InputError
from tests.refusals import raises


def ring(switches: int) -> list[tuple[int, int]]:
    """Return the edges of a ring."""
    return [(place, (place + 1) % switches) for place in range(switches)]


def test_nodes_with_one_cable_are_hosts_unless_it_is_said() -> None:
    made = Fabric.from_edges([("s0", "s1"), ("s0", "h0"), ("s1", "h1"), ("s1", "h2")])
    kinds = {node.name: (node.kind, node.ports) for node in made.devices}
    assert kinds == {
        "s0": ("switch", 2),
        "s1": ("switch", 3),
        "h0": ("host", 1),
        "h1": ("host", 1),
        "h2": ("host", 1),
    }
    assert made.findings == ()
    assert all(node.guid for node in made.devices)
    ends = {cable.ends for cable in made.cables}
    assert (("s0", 1), ("s1", 1)) in ends
    assert (("s1", 3), ("h2", 1)) in ends
    # A host with two cables, and a switch with one.
    named = Fabric.from_edges([("s0", "h0"), ("h0", "s1")], hosts=["h0"])
    assert {node.name: node.kind for node in named.devices} == {
        "s0": "switch",
        "s1": "switch",
        "h0": "host",
    }


def test_hosts_are_added_to_every_switch() -> None:
    made = Fabric.from_edges(ring(4), hosts_per_switch=2, speed="4xNDR")
    hosts = [node.name for node in made.devices if node.kind == "host"]
    assert hosts == [f"h{switch}-{number}" for switch in range(4) for number in range(2)]
    assert {cable.speed for cable in made.cables} == {"4xNDR"}
    same = Fabric.make("ring", switches=4, hosts_per_switch=2, speed="4xNDR")
    assert made.info() == same.info()
    named = Fabric.from_edges([("s0", "s1")], hosts_per_switch=1)
    assert {node.name for node in named.devices} == {"s0", "s1", "h0-0", "h1-0"}


def test_an_edge_says_the_speed_and_length_of_its_cable() -> None:
    made = Fabric.from_edges(
        [
            ("a", "b", "4xHDR"),
            ["a", "b", {"speed": "10 GB/s", "length": "5 m"}],
            ("a", "h0"),
            ("b", "h1", {"length": "1 m"}),
        ],
        speed="4xNDR",
    )
    told = {cable.ends: (cable.speed, cable.length_mm) for cable in made.cables}
    assert told[("a", 1), ("b", 1)] == ("4xHDR", None)
    assert told[("a", 2), ("b", 2)] == ("10 GB/s", 5000)
    assert told[("a", 3), ("h0", 1)] == ("4xNDR", None)
    assert told[("b", 3), ("h1", 1)] == ("4xNDR", 1000)


def test_nodes_may_be_anything_with_a_text() -> None:
    made = Fabric.from_edges([((0, 0), (0, 1)), ((0, 0), 'a "b"'), ((0, 1), "c[1]")])
    assert {node.name for node in made.devices} == {"0-0", "0-1", 'a "b"', "c[1]"}
    assert (("0-1", 2), ("c[1]", 1)) in {cable.ends for cable in made.cables}


def test_a_generator_of_edges_is_read_once_and_saved(tmp_path: Path) -> None:
    made = Fabric.from_edges((pair for pair in ring(3)), hosts_per_switch=1)
    made.save(tmp_path / "ring.toml")
    again = Fabric.load(tmp_path / "ring.toml")
    assert (again.devices, again.cables) == (made.devices, made.cables)


REFUSED: dict[str, tuple[Callable[[], Fabric], str, list[str]]] = {
    "nothing": (lambda: Fabric.from_edges([]), "edges", []),
    "both directions": (
        lambda: Fabric.from_edges([("a", "b"), ("b", "a")]),
        "edges",
        ["'a'", "'b'"],
    ),
    "to itself": (lambda: Fabric.from_edges([("a", "b"), ("c", "c")]), "edges", ["edge 1", "'c'"]),
    "a text": (lambda: Fabric.from_edges(["ab"]), "edges", ["edge 0", "'ab'"]),
    "four parts": (lambda: Fabric.from_edges([("a", "b", "c", "d")]), "edges", ["edge 0"]),
    "a weight": (lambda: Fabric.from_edges([("a", "b", 3)]), "edges", ["edge 0", "4xNDR"]),
    "an attribute": (
        lambda: Fabric.from_edges([("a", "b", {"sped": "4xNDR"})]),
        "edges",
        ["'sped'", '"speed"'],
    ),
    "a speed": (lambda: Fabric.from_edges([("a", "b", "4xFOO")]), "edges", ["4xFOO", "4xNDR"]),
    "no hosts": (lambda: Fabric.from_edges(ring(3)), "hosts", ["hosts=", "hosts_per_switch="]),
    "one name": (lambda: Fabric.from_edges([("a", 1), ("a", "1")]), "edges", ["1", "'1'"]),
    "unknown host": (
        lambda: Fabric.from_edges([("s0", "host0")], hosts=["hots0"]),
        "hosts",
        ["'hots0'", '"host0"'],
    ),
    "less than none": (
        lambda: Fabric.from_edges(ring(3), hosts_per_switch=-1),
        "hosts_per_switch",
        ["-1"],
    ),
    "a taken name": (
        lambda: Fabric.from_edges([("s0", "h0-0"), ("h0-0", "s1")], hosts_per_switch=1),
        "hosts_per_switch",
        ["'h0-0'"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_cabled_is_refused_with_its_edge_and_the_cure(case: str) -> None:
    make, key, told = REFUSED[case]
    with pytest.raises(InputError) as refused:
        make()
    assert refused.value.key == key
    message = str(refused.value)
    assert [part for part in told if part not in message] == []
    assert "/" not in message.replace("MB/s", "").replace("GB/s", "")


@dataclass
class Graph:
    """A stand-in for a networkx graph, so these tests run without networkx."""

    told_nodes: Mapping[Hashable, Mapping[str, Any]]
    told_edges: list[tuple[Hashable, Hashable, Mapping[str, Any]]]
    directed: bool = False

    def is_directed(self) -> bool:
        return self.directed

    def nodes(self, data: bool = False) -> Iterable[tuple[Hashable, Mapping[str, Any]]]:
        assert data
        return self.told_nodes.items()

    def edges(self, data: bool = False) -> Iterable[tuple[Hashable, Hashable, Mapping[str, Any]]]:
        assert data
        return self.told_edges


def test_a_graph_says_its_hosts_and_speeds() -> None:
    nodes: dict[Hashable, dict[str, str]] = {
        "h": {"kind": "host"},
        "s": {},
        "t": {"type": "switch"},
        "g": {"type": "host"},
    }
    edges = [("h", "s", {"speed": "4xHDR", "weight": 3}), ("s", "t", {}), ("t", "g", {})]
    made = Fabric.from_edges(Graph(nodes, list(edges)))
    assert {node.name for node in made.devices if node.kind == "host"} == {"h", "g"}
    assert {cable.speed for cable in made.cables} == {"4xHDR", None}
    with raises(InputError, "directed-graph", key="edges"):
        Fabric.from_edges(Graph(nodes, list(edges), directed=True))


def test_graphs_of_networkx_are_fabrics() -> None:
    networkx = pytest.importorskip("networkx")
    made = Fabric.from_edges(networkx.petersen_graph(), hosts_per_switch=1)
    assert made.info()["switch_diameter"] == 2
    assert made.route("up-down").is_deadlock_free
    grid = Fabric.from_edges(networkx.grid_2d_graph(3, 3), hosts_per_switch=1)
    mesh = Fabric.make("mesh", dimensions=[3, 3])
    known = ("nodes", "cables", "switch_diameter", "mean_switches_passed")
    assert [grid.info()[name] for name in known] == [mesh.info()[name] for name in known]
