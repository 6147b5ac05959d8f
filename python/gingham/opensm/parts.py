"""Connected parts of a fabric; a subnet manager manages only one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gingham.fabric import Fabric


def managed(fabric: Fabric) -> Fabric:
    """Return the part of the fabric with most hosts; the fabric itself if it is connected."""
    part = largest_part(fabric)
    if all(cable.ends[0][0] in part for cable in fabric.cables):
        return fabric
    return fabric.without(*(node.name for node in fabric.devices if node.name not in part))


def largest_part(fabric: Fabric) -> set[str]:
    """Return the names of the nodes in the part with most hosts.

    With equal numbers of hosts it is the part with most nodes, or else the first.
    """
    hosts = {node.name for node in fabric.devices if node.kind == "host"}
    return max(parts(fabric), key=lambda part: (len(part & hosts), len(part)), default=set())


def parts(fabric: Fabric) -> list[set[str]]:
    """Return the names of the nodes in each connected part."""
    neighbours: dict[str, list[str]] = {node.name: [] for node in fabric.devices}
    for cable in fabric.cables:
        (one, _), (other, _) = cable.ends
        neighbours[one].append(other)
        neighbours[other].append(one)
    found: list[set[str]] = []
    left = dict.fromkeys(neighbours)
    while left:
        found.append(reached({next(iter(left))}, neighbours))
        left = {name: None for name in left if name not in found[-1]}
    return found


def reached(start: set[str], neighbours: Mapping[str, Sequence[str]]) -> set[str]:
    """Return all names that can be reached from `start`."""
    seen, edge = set(start), set(start)
    while edge:
        edge = {other for name in edge for other in neighbours[name]} - seen
        seen |= edge
    return seen
