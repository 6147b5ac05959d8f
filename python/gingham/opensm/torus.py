"""The shape of a torus or mesh, in the configuration format of OpenSM's torus-2QoS.

::

    s0-1 ── s1-1 ── s2-1          torus 3m 2m 1
     │       │       │      ──►   xp_link 0x...00 0x...02      from the switch at the origin
    s0-0 ── s1-0 ── s2-0          yp_link 0x...00 0x...01      one step up each dimension

The numbers in the names of switches are their coordinates, as for our own dimension order, which
also checks them against the cables. A dimension that closes to rings also has a link one step down,
which torus-2QoS requires for rings of four switches.

Source: the manual pages torus-2QoS(8) and torus-2QoS.conf(5) of OpenSM 3.3.23.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gingham.errors import InputError

if TYPE_CHECKING:
    from gingham.fabric import Device, Fabric

AXES = "xyz"
DIMENSIONS = (2, 3)
# A ring needs three switches; between two there is only one direction.
RING_MIN = 3


def torus_configuration(fabric: Fabric) -> str | None:
    """Return torus-2QoS.conf for a fabric, or `None` unless it is a grid of 2 or 3 dimensions."""
    try:
        fabric.route("dimension-order", form="table")
    except InputError:
        return None
    cells = coordinates(fabric)
    sizes = [size + 1 for size in map(max, zip(*cells, strict=True))]
    if len(sizes) not in DIMENSIONS:
        return None
    joined = {
        frozenset((one, other)) for (one, _), (other, _) in (cable.ends for cable in fabric.cables)
    }
    origin = tuple(0 for _ in sizes)
    shape, links = [], []
    for axis, size in enumerate(sizes):
        ends = [step(origin, axis, 1), step(origin, axis, size - 1)]
        closed = size >= RING_MIN and joined_at(joined, cells, origin, ends[1])
        shape.append(f"{size}{'t' if closed else 'm'}")
        if size > 1:
            links.append(link(f"{AXES[axis]}p_link", cells[origin], cells[ends[0]]))
        if closed:
            links.append(link(f"{AXES[axis]}m_link", cells[origin], cells[ends[1]]))
    shape += ["1"] * (len(AXES) - len(shape))
    return "\n".join([f"torus {' '.join(shape)}", *links, ""])


def coordinates(fabric: Fabric) -> dict[tuple[int, ...], Device]:
    """Return the switch at each coordinate, counted from 0."""
    switches = [node for node in fabric.devices if node.kind == "switch"]
    numbers = [numbers_in(node.description or node.name) for node in switches]
    lowest = [min(column) for column in zip(*numbers, strict=True)]
    return {
        tuple(number - low for number, low in zip(row, lowest, strict=True)): node
        for row, node in zip(numbers, switches, strict=True)
    }


def numbers_in(name: str) -> list[int]:
    """Return the numbers in a name."""
    return [int(digits) for digits in re.findall(r"\d+", name)]


def step(cell: tuple[int, ...], axis: int, distance: int) -> tuple[int, ...]:
    """Return the cell at a distance along an axis."""
    return tuple(place + distance if index == axis else place for index, place in enumerate(cell))


def joined_at(
    joined: set[frozenset[str]],
    cells: dict[tuple[int, ...], Device],
    one: tuple[int, ...],
    other: tuple[int, ...],
) -> bool:
    """Whether a cable joins the switches at two coordinates."""
    return frozenset((cells[one].name, cells[other].name)) in joined


def link(keyword: str, one: Device, other: Device) -> str:
    """Return the line that defines a link."""
    return f"{keyword} 0x{one.guid} 0x{other.guid}"
