"""Renumbering of hosts whose first cable is not at port 1, in files of the simulator.

ibsim attaches a program to port 1 of its node only: a manager at a host cabled at port 2 would find
its port down. Routing does not depend on the number of a host's port, so such a host is simulated
with its first cable at port 1, and its number is restored in discovered dumps.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gingham.fabric import Fabric

RECORD = re.compile(r'^(?:Switch|Ca|Rt)\t\d+ "[A-Z]-(?P<guid>[0-9a-f]{16})"')
OWN = re.compile(r"^\[(?P<port>\d+)\]")
# Far end of a cable; no description or comment can precede it.
FAR = re.compile(r'^(?P<before>[^"#]*"[A-Z]-(?P<guid>[0-9a-f]{16})"\[)(?P<port>\d+)\]')


def moved(fabric: Fabric) -> dict[str, int]:
    """Return the hosts without a cable at port 1 by GUID, with their first cabled port."""
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
    """Return a network file with the first cable of these hosts moved to port 1."""
    return renumbered(text, {guid: (port, 1) for guid, port in hosts.items()})


def discovered(text: str, hosts: Mapping[str, int]) -> str:
    """Return the output of `ibnetdiscover` with the original port numbers."""
    return renumbered(text, {guid: (1, port) for guid, port in hosts.items()})


def renumbered(text: str, changes: Mapping[str, tuple[int, int]]) -> str:
    """Return a dump with one port of each of these nodes renumbered."""
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
    """Return the new number of a node's port."""
    old, new = changes.get(guid, (0, 0))
    return new if int(port) == old else int(port)
