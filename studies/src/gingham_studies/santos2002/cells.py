"""Interpretations of the points that the paper leaves open, and the runs of each.

Four binary choices give 16 cells, each named by its four words::

    ">, any, same, with"      the leading one, fixed before the first run
     │   │    │     └ cnt1 with or without the packet in transmission
     │   │    └ overtaking is counted among packets for the `same` output, or for `any`
     │   └ `any` number of packets of an input leave at once, or `one`
     └ an output triggers if more than T wait for it, or at least T

"At least T" is "more than T - 1": its runs are those of the threshold below. Without control no
packet is marked, and `naive` counts no packets, so the cells with and without the packet in
transmission share these runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# Bytes of a buffer that a packet of 2,068 bytes occupies.
PACKET_BYTES = 33 * 64
# Packets of a buffer by default.
BUFFER = 4
# Policies that do not read cnt1.
UNCOUNTED = ("none", "naive")
# The number of flows of each type in all sweeps but `flows`.
FLOWS = "10"


@dataclass(frozen=True)
class Cell:
    """An interpretation of the paper."""

    trigger: str
    read: str
    among: str
    leaving: str

    @property
    def name(self) -> str:
        """Its four words."""
        return f"{self.trigger}, {self.read}, {self.among}, {self.leaving}"

    @property
    def switch(self) -> str:
        """Value of the axis `switch`: the second and the third word."""
        return f"{self.read}, {self.among}"

    def policy(self, of: str) -> str:
        """Return the policy of a sweep under its name `of` in the paper.

        >>> Cell(">=", "any", "same", "with").policy("output 4"), LEAD.policy("output 4")
        ('output 3', 'output 4')
        """
        kind, _, threshold = of.partition(" ")
        return f"{kind} {int(threshold) - 1}" if threshold and self.trigger == ">=" else of

    def sweep(self, policy: str) -> str:
        """Return the sweep with the runs of a policy under its name in the paper."""
        if self.leaving == "without" and policy not in UNCOUNTED:
            return "cells-without"
        leads = self.switch == LEAD.switch and self.policy(policy) == policy
        return "lead" if leads else "cells-with"


LEAD = Cell(">", "any", "same", "with")
CELLS = {
    cell.name: cell
    for cell in (
        Cell(*words)
        for words in product((">", ">="), ("any", "one"), ("same", "any"), ("with", "without"))
    )
}


def runs_of(at: Mapping[str, Any], cell: str) -> tuple[str, dict[str, Any]]:
    """Return the sweep, and the values on its axes, for a claim in a cell.

    >>> runs_of({"policy": "output 8", "buffer": 4}, ">=, any, same, with")
    ('cells-with', {'switch': 'any, same', 'policy': 'output 7', 'buffer': 8448})
    >>> runs_of({"row": "fill 3 of 4"}, ">, any, same, with")
    ('others', {'row': 'fill 3 of 4'})
    """
    if "row" in at:
        return "others", dict(at)
    if "response" in at:
        return "responses", dict(at)
    buffer = {"buffer": at.get("buffer", BUFFER) * PACKET_BYTES}
    if at.get("flows", FLOWS) != FLOWS:
        return "flows", {**at, **buffer}
    reading, policy = CELLS[cell], at["policy"]
    fixed = {"switch": reading.switch, "policy": reading.policy(policy)}
    return reading.sweep(policy), {**fixed, **buffer}
