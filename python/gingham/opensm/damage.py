"""Random removal of cables or switches from a fabric, by seed.

The selection depends only on the seed and on names: cables and switches are sorted by a hash of
both, and the first are removed. A seed therefore removes the same parts of a fabric read from
another format, and three removed cables are two removed cables and one more.
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

    Raises `InputError` if `count` is too large.
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
    """Return the names of the cables or switches that can be removed."""
    switches = {node.name for node in fabric.devices if node.kind == "switch"}
    if what == "switches":
        return sorted(switches)
    ends = (cable.ends for cable in fabric.cables)
    return [cable_name(*pair) for pair in ends if {pair[0][0], pair[1][0]} <= switches]


def cable_name(one: tuple[str, int], other: tuple[str, int]) -> str:
    """Return the name of a cable, made of its ends."""
    return f"{one[0]}[{one[1]}] - {other[0]}[{other[1]}]"


def drawn(seed: int, name: str) -> bytes:
    """Return a hash of the seed and a name, as a sort key."""
    return hashlib.sha256(f"{seed} {name}".encode()).digest()
