"""Independent check of freedom from deadlock, from OpenSM's own dumps alone.

Nothing of the package is used. Regular expressions read the dumps, and the route of every pair of
hosts is walked. Buffers that wait for none are removed from the dependency graph repeatedly, until
it is empty or a cycle is left.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

# Switch, port, lane.
Buffer: TypeAlias = tuple[str, int, int]
Port: TypeAlias = tuple[str, int]

HOST = r'\[\d+\]\(\w+\)\s+"S-(\w+)"\[(\d+)\].*# lid (\d+)'


@dataclass(frozen=True)
class Network:
    """Cables and hosts; switches are identified by GUID, hosts by LID."""

    # Cables between switches, listed from both ends.
    cables: dict[Port, Port]
    lids: dict[str, int]
    # Switch port of each host.
    hosts: dict[int, Port]


def is_free_of_deadlock(texts: Mapping[str, str]) -> bool:
    """Return whether the routes between hosts in OpenSM's dumps are free of deadlock."""
    network = read_network(texts["ibnetdiscover"])
    tables, lanes = read_tables(texts["lfts"]), read_lanes(texts["sl2vl"])
    levels = read_levels(texts["sl.csv"])
    waits: dict[Buffer, set[Buffer]] = defaultdict(set)
    for source, destination in permutations(network.hosts, 2):
        level = level_of(levels, network, source, destination)
        (switch, entered), before = network.hosts[source], None
        while True:
            out = tables[switch][destination]
            held = (switch, out, lanes[network.lids[switch], entered, out][level])
            if before is not None:
                waits[before].add(held)
            before = held
            if (switch, out) not in network.cables:
                break
            switch, entered = network.cables[switch, out]
    return not circles(waits)


def level_of(
    levels: Mapping[tuple[int, int], int], network: Network, source: int, destination: int
) -> int:
    """Return the service level of a pair: by its LIDs, or by those of the hosts' switches."""
    here, there = (network.lids[network.hosts[lid][0]] for lid in (source, destination))
    keys = ((source, destination), (here, destination), (here, there))
    return next(levels[key] for key in keys if key in levels)


def circles(waits: Mapping[Buffer, set[Buffer]]) -> set[Buffer]:
    """Return the buffers left after repeated removal of those that wait for none."""
    left = {one: set(others) for one, others in waits.items()}
    while True:
        rest = {one: {other for other in others if other in left} for one, others in left.items()}
        rest = {one: others for one, others in rest.items() if others}
        if rest == left:
            return set(left)
        left = rest


def read_network(dump: str) -> Network:
    """Return the network in the output of ibnetdiscover."""
    network = Network({}, {}, {})
    here = ""
    for line in dump.splitlines():
        if match := re.match(r'Switch\t\d+ "S-(\w+)".* lid (\d+) lmc', line):
            here = match[1]
            network.lids[here] = int(match[2])
        elif line.startswith("Ca"):
            here = ""
        elif here and (match := re.match(r'\[(\d+)\]\s+"S-(\w+)"\[(\d+)\]', line)):
            network.cables[here, int(match[1])] = (match[2], int(match[3]))
        elif not here and (match := re.match(HOST, line)):
            network.hosts[int(match[3])] = (match[1], int(match[2]))
    return network


def read_tables(text: str) -> dict[str, dict[int, int]]:
    """Return the output port for each LID, by switch."""
    tables: dict[str, dict[int, int]] = {}
    here: dict[int, int] = {}
    for line in text.splitlines():
        if match := re.match(r"Unicast lids .* guid 0x(\w+) ", line):
            here = tables.setdefault(match[1], {})
        elif match := re.match(r"0x(\w{4}) (\d{3}) ", line):
            here[int(match[1], 16)] = int(match[2])
    return tables


def read_lanes(text: str) -> dict[tuple[int, int, int], list[int]]:
    """Return the lane of each service level, by switch LID, input port and output port."""
    lanes: dict[tuple[int, int, int], list[int]] = {}
    lid = 0
    for line in text.splitlines():
        if match := re.match(r"Switch 0x\w+, base LID (\d+)", line):
            lid = int(match[1])
        elif match := re.match(r"(\d+)\s+(\d+)\s+:(.*)", line):
            lanes[lid, int(match[1]), int(match[2])] = [int(cell) for cell in match[3].split()]
    return lanes


def read_levels(text: str) -> dict[tuple[int, int], int]:
    """Return the service level by source and destination LID; a switch LID covers its hosts."""
    rows = (map(int, line.split(",")) for line in text.splitlines()[1:])
    return {(source, destination): level for source, destination, level in rows}
