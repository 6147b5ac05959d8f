"""Quality of service in the formats of real devices: lanes, arbitration, congestion control.

===================  ============================================================
`conf_lines`         lanes by service level, arbitration: lines of `opensm.conf`
`load_arbitration`   what ports say of their arbitration
`congestion_conf`    annex A10 of InfiniBand: lines of `opensm.conf`
`sonic_commands`     marking thresholds: `WRED_PROFILE` of SONiC switches
`mlx5_commands`      DCQCN: the files of the driver of mlx5 adapters
===================  ============================================================
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gingham._files import require_file
from gingham._native import load_arbitration as load_rows
from gingham._native import qos_conf
from gingham.qos._ethernet import mlx5_commands, sonic_commands
from gingham.qos._infiniband import congestion_conf

if TYPE_CHECKING:
    from collections.abc import Sequence

    # Lane, and weight in units of 64 bytes.
    Slot = tuple[int, int]


__all__ = [
    "Arbitration",
    "conf_lines",
    "congestion_conf",
    "load_arbitration",
    "mlx5_commands",
    "sonic_commands",
]


@dataclass(frozen=True, slots=True)
class Arbitration:
    """The tables by which a port, or each port of a kind, shares itself among its lanes."""

    # Of a single port: its LID, and its number if it is a switch's.
    lid: int | None
    port: int | None
    # Of a configuration file: "ca", "sw0", "swe" (cabled ports of switches) or "rtr".
    kind: str | None
    # How much of high priority goes first, in units of 4096 bytes; unknown for single ports.
    high_limit: int | None
    high: list[Slot]
    low: list[Slot]


def load_arbitration(path: str | os.PathLike[str]) -> list[Arbitration]:
    """Read the outputs of `smpquery vlarb`, one after the other, or an `opensm.conf`.

    Where the configuration says nothing, the tables are OpenSM's defaults.
    """
    require_file(Path(path))
    return [Arbitration(*row) for row in load_rows(os.fspath(path))]


def conf_lines(
    lanes: Sequence[int],
    *,
    high: Sequence[Slot] | None = None,
    low: Sequence[Slot] | None = None,
    high_limit: int = 0,
) -> str:
    """Return lines of `opensm.conf` that give every port these tables.

    `lanes` has the lane of each of the 16 service levels, 15 for none. `high` and `low` are the
    slots of the two arbitration tables, OpenSM's own where they are left out; an empty table is
    written as a slot without weight, which ports pass over. `high_limit` is how much of high
    priority goes before low priority gets a turn, in units of 4096 bytes.

    >>> print(conf_lines([0, 1] + 14 * [0], low=[(0, 64), (1, 192)], high=[]))
    # Written by gingham; lines for /etc/opensm/opensm.conf.
    qos TRUE
    qos_max_vls 2
    qos_high_limit 0
    qos_vlarb_high 0:0
    qos_vlarb_low 0:64,1:192
    qos_sl2vl 0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0
    <BLANKLINE>
    """
    return qos_conf(lanes, high, low, high_limit)
