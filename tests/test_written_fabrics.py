"""Fabrics as TOML, for BookSim and for Graphviz, each read back by an independent reader.

TOML is read by `tomllib`, with the keys of docs/how-to/fabric-files.md. The reader of `anynet`
follows BookSim's manual and `anynet.cpp`: numbers of routers and of nodes are indices. That of DOT
follows the grammar of Graphviz.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings

from gingham import Fabric, InputError
from tests.drawn_fabrics import count_in, drawn, read_back

KINDS = ("switch", "host", "aggregation", "router")
UNITS_MM = {"mm": 1, "cm": 10, "m": 1000, "km": 1000_000}

End = tuple[str, int]


def read_toml(text: str) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Return the nodes of a file by name, and its cables; fail on an end that is not there."""
    tables = tomllib.loads(text)
    assert set(tables) <= {*KINDS, "cable"}
    every = [{"kind": kind, **table} for kind in KINDS for table in tables.get(kind, [])]
    nodes = {table["name"]: table for table in every}
    assert len(nodes) == len(every)
    taken = Counter[End]()
    for cable in tables.get("cable", []):
        cable["ends"] = tuple(map(end_of, cable["ends"]))
        taken.update(cable["ends"])
    assert set(taken.values()) <= {1}
    assert all(1 <= port <= nodes[name]["ports"] for name, port in taken)
    return nodes, tables.get("cable", [])


def end_of(text: str) -> End:
    """Return the node and the port that an end names."""
    name, _, port = text.removesuffix("]").rpartition("[")
    return name, int(port)


def millimetres(text: str) -> int:
    """Return a length in millimetres."""
    number, unit = text.split(" ")
    return round(float(number) * UNITS_MM[unit])


@settings(max_examples=60)
@given(drawn())
def test_toml_holds_everything(fabric: Fabric) -> None:
    text, notes = fabric.text("toml")
    assert notes == []
    nodes, cables = read_toml(text)
    assert {
        name: (
            node["kind"],
            node.get("guid"),
            node.get("description", name),
            node["ports"],
        )
        for name, node in nodes.items()
    } == {one.name: (one.kind, one.guid, one.description, one.ports) for one in fabric.devices}
    assert [
        (one["ends"], one.get("speed"), millimetres(one["length"]) if "length" in one else None)
        for one in cables
    ] == [(one.ends, one.speed, one.length_mm) for one in fabric.cables]
    back = read_back(text, "toml")
    assert (back.devices, back.cables) == (fabric.devices, fabric.cables)
    assert back.findings == ()


@dataclass
class Net:
    """Routers, nodes and links as BookSim reads them."""

    router_of: dict[int, int] = field(default_factory=dict)
    # Latency of each pair of routers, the lower number first, and of each node.
    links: dict[tuple[int, int], int | None] = field(default_factory=dict)
    at_nodes: dict[int, int | None] = field(default_factory=dict)


def read_anynet(text: str) -> Net:
    """Return the network of a file; fail if BookSim would stop or index out of range."""
    net = Net()
    routers = set[int]()
    for line in text.split("\n"):
        # The head, and each neighbour with its latency if one is given.
        parts = re.findall(r"(router|node) (\d+)(?: (\d+))?", line)
        assert " ".join(" ".join(filter(None, part)) for part in parts) == line
        for (_, head, _), (kind, number, latency) in zip(
            parts[:1] * len(parts), parts[1:], strict=False
        ):
            one, other = int(head), int(number)
            told = int(latency) if latency else None
            if kind == "node":
                assert other not in net.router_of
                net.router_of[other], net.at_nodes[other] = one, told
                routers.add(one)
            else:
                pair = (min(one, other), max(one, other))
                assert one != other
                assert pair not in net.links
                net.links[pair] = told
                routers |= {one, other}
        assert not parts or parts[0][0] == "router"
    assert routers == set(range(len(routers)))
    assert set(net.router_of) == set(range(len(net.router_of)))
    return net


def numbered(fabric: Fabric, notes: list[str]) -> dict[str, int]:
    """Return the number of each switch and host with a cable, by name.

    It is the number in the GUID, or the index among nodes of the kind if the GUIDs are new.
    """
    cabled = {name for pair in joined(fabric) for name in pair}
    numbers: dict[str, int] = {}
    for kind, first in (("switch", 0x5000_0000_0000), ("host", 0x4000_0000_0000)):
        found = [node for node in fabric.devices if node.kind == kind and node.name in cabled]
        for place, node in enumerate(found):
            is_new = any(note.startswith("GUIDs") for note in notes)
            numbers[node.name] = place if is_new else int(node.guid or "", 16) - first
    return numbers


def joined(fabric: Fabric) -> Counter[frozenset[str]]:
    """Return the number of cables between each pair of nodes."""
    return Counter(frozenset(name for name, _ in cable.ends) for cable in fabric.cables)


def parts_of(pairs: Counter[frozenset[str]]) -> int:
    """Return the number of connected parts of the graph with these pairs."""
    parts: list[set[str]] = []
    for pair in pairs:
        touched = [part for part in parts if part & pair]
        parts = [part for part in parts if not part & pair] + [set(pair).union(*touched)]
    return len(parts)


@settings(max_examples=80)
@given(drawn(ports_max=1))
def test_booksim_is_given_numbers_without_gaps(fabric: Fabric) -> None:
    pairs = joined(fabric)
    kinds = {node.name: node.kind for node in fabric.devices}
    if not pairs:
        with pytest.raises(InputError):
            fabric.text("anynet")
        return
    text, notes = fabric.text("anynet")
    net = read_anynet(text)
    numbers = numbered(fabric, notes)
    links, router_of = set(), {}
    for one, other in map(sorted, pairs):
        if kinds[one] == kinds[other]:
            links.add((min(numbers[one], numbers[other]), max(numbers[one], numbers[other])))
        else:
            host, switch = (one, other) if kinds[one] == "host" else (other, one)
            router_of[numbers[host]] = numbers[switch]
    assert (set(net.links), net.router_of) == (links, router_of)
    require_latencies(fabric, net, notes)
    idle = Counter(kinds[node.name] for node in fabric.devices if node.name not in numbers)
    assert count_in(notes, "hosts without") == idle["host"]
    assert count_in(notes, "switches without") == idle["switch"]
    assert count_in(notes, "beside another") == sum(pairs.values()) - len(pairs)
    parts = parts_of(pairs)
    assert count_in(notes, "parts") == (parts if parts > 1 else 0)
    back = read_back(text, "anynet")
    assert len(back.cables) == len(pairs)
    assert len(back.devices) == len(numbers)


def require_latencies(fabric: Fabric, net: Net, notes: list[str]) -> None:
    """Fail unless whole metres of all cables are cycles, and other lengths are noted."""
    lengths = [cable.length_mm for cable in fabric.cables]
    given_lengths = sum(length is not None for length in lengths)
    told = [*net.links.values(), *net.at_nodes.values()]
    if all(length is not None and length % 1000 == 0 for length in lengths):
        assert {one - 1 if one else None for one in told} <= {(one or 0) // 1000 for one in lengths}
        assert count_in(notes, "lengths") == 0
    else:
        assert set(told) == {None}
        assert count_in(notes, "lengths") == given_lengths


# Tokens of DOT: quoted identifiers, comments, plain identifiers, punctuation, blanks.
TOKEN = re.compile(
    r'"((?:[^"\\]|\\.)*)"|//[^\n]*|([A-Za-z]\w*|\d[\w.]*)|(--|[{}\[\]=,;])|\s+', re.DOTALL
)
# Characters that XML 1.0, and with it SVG, excludes.
NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f]")


def read_dot(text: str) -> tuple[list[str], Counter[tuple[str, str]]]:
    """Return the names of nodes as they were given, and the number on each edge."""
    tokens: list[str] = []
    place = 0
    while place < len(text):
        match = TOKEN.match(text, place)
        assert match, text[place : place + 40]
        place = match.end()
        if match[1] is not None:
            tokens.append(f'"{match[1]}')
        else:
            tokens += [part for part in match.groups()[1:] if part]
    assert tokens[:3] == ["graph", "fabric", "{"]
    assert tokens.count("{") == tokens.count("}")
    nodes: list[str] = []
    edges = Counter[tuple[str, str]]()
    for before, word in pairwise(tokens):
        if word.startswith('"') and before in {"{", "}", ";"}:
            nodes.append(shown(word))
    for index, word in enumerate(tokens):
        if word == "--":
            one, other = shown(tokens[index - 1]), shown(tokens[index + 1])
            label = tokens[index + 5] if tokens[index + 2] == "[" else '"1'
            assert label.startswith('"')
            edges[one, other] += int(label[1:])
            # It was taken for a statement of its own.
            nodes.remove(one)
    return nodes, edges


def shown(word: str) -> str:
    """Return a quoted identifier as its label shows it."""
    return re.sub(
        r"\\(.)", lambda one: "\n" if one[1] == "n" else one[1], word[1:], flags=re.DOTALL
    )


@settings(max_examples=60)
@given(drawn())
def test_graphviz_is_given_each_node_once_and_each_cable(fabric: Fabric) -> None:
    text, _ = fabric.text("dot")
    assert not NOT_XML.search(text)
    nodes, edges = read_dot(text)
    # Control characters but line breaks are shown as their pictures.
    shown_as = {one: chr(0x2400 + one) for one in range(32) if one != ord("\n")}
    names = {node.name: node.name.translate(shown_as) for node in fabric.devices}
    assert sorted(nodes) == sorted(names.values())
    assert Counter({frozenset(pair): count for pair, count in edges.items()}) == Counter(
        {frozenset(map(names.__getitem__, pair)): count for pair, count in joined(fabric).items()}
    )
