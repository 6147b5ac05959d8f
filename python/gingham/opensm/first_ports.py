"""Hosts whose first cable is not at port 1, in the texts that the simulator reads and writes.

ibsim lets a program sit at port 1 of its node and at no other: a manager at a host that is cabled
at port 2 would find its port down. What number a host's port has is no matter to routing, so such
a host is played with its first cable at port 1, and gets its number back in what is discovered.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gingham.fabric import Fabric

RECORD = re.compile(r'^(?:Switch|Ca|Rt)\t\d+ "[A-Z]-(?P<guid>[0-9a-f]{16})"')
OWN = re.compile(r"^\[(?P<port>\d+)\]")
# Of a cable's far end; a description in the comment holds no such thing before it.
FAR = re.compile(r'^(?P<before>[^"#]*"[A-Z]-(?P<guid>[0-9a-f]{16})"\[)(?P<port>\d+)\]')


def moved(fabric: Fabric) -> dict[str, int]:
    """Return the hosts without a cable at port 1 by GUID, and the first port that has one."""
    used: dict[str, int] = {}
    for cable in fabric.cables:
        for name, port in cable.ends:
            used[name] = min(port, used.get(name, port))
    return {
        node.guid: used[node.name]
        for node in fabric.devices
        if node.kind != "switch" and node.guid and used.get(node.name, 1) > 1
    }


def played(text: str, hosts: Mapping[str, int]) -> str:
    """Return a network file in which the first cable of these hosts is at port 1."""
    return renumbered(text, {guid: (port, 1) for guid, port in hosts.items()})


def discovered(text: str, hosts: Mapping[str, int]) -> str:
    """Return what `ibnetdiscover` printed of it with the numbers that the ports really have."""
    return renumbered(text, {guid: (1, port) for guid, port in hosts.items()})


def renumbered(text: str, changes: Mapping[str, tuple[int, int]]) -> str:
    """Return a dump in which one port of each of these nodes has another number."""
    if not changes:
        return text

    lines, guid = [], ""
    for line in text.splitlines():
        if match := RECORD.match(line):
            guid = match["guid"]
        elif own := OWN.match(line):
            rest = line[own.end() :]
            if far := FAR.match(rest):
                port = changed(changes, far["guid"], far["port"])
                rest = f"{far['before']}{port}]{rest[far.end() :]}"
            line = f"[{changed(changes, guid, own['port'])}]{rest}"  # noqa: PLW2901
        lines.append(line)
    return "\n".join([*lines, ""])


def changed(changes: Mapping[str, tuple[int, int]], guid: str, port: str) -> int:
    """Return the number that a port of a node has afterwards."""
    old, new = changes.get(guid, (0, 0))
    return new if int(port) == old else int(port)
