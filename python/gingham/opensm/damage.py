"""A fabric with cables or switches missing, drawn by a seed.

What is drawn depends on the seed and on the names alone: cables and switches are put in order
by a hash of both, and the first ones go. So the same seed breaks the same things of a fabric
read from another format, and three broken cables are two broken cables and one more.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, TypeAlias

from gingham.errors import InputError

if TYPE_CHECKING:
    from gingham.fabric import Fabric

Breakable: TypeAlias = Literal["cables", "switches"]


def broken(fabric: Fabric, count: int, what: Breakable, *, seed: int) -> tuple[Fabric, list[str]]:
    """Return the fabric without `count` cables between switches, or switches, and their names.

    `InputError` if there are not so many.
    """
    names = candidates(fabric, what)
    if count > len(names):
        kinds = "cables between switches" if what == "cables" else "switches"
        raise InputError(
            f"cannot break {count} {kinds}: the fabric has {len(names)}", code="too-many", key=what
        )
    gone = sorted(names, key=lambda name: drawn(seed, name))[:count]
    return fabric.without(*gone), sorted(gone)


def candidates(fabric: Fabric, what: Breakable) -> list[str]:
    """Return the names of what may break."""
    switches = {node.name for node in fabric.devices if node.kind == "switch"}
    if what == "switches":
        return sorted(switches)
    ends = (cable.ends for cable in fabric.cables)
    return [cable_name(*pair) for pair in ends if {pair[0][0], pair[1][0]} <= switches]


def cable_name(one: tuple[str, int], other: tuple[str, int]) -> str:
    """Return how a cable is called, by its ends."""
    return f"{one[0]}[{one[1]}] - {other[0]}[{other[1]}]"


def drawn(seed: int, name: str) -> bytes:
    """Return a number for a name that only the seed knows."""
    return hashlib.sha256(f"{seed} {name}".encode()).digest()
