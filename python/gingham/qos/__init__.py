"""Quality of service in the formats of real devices: lanes, arbitration, congestion control.

===================  ============================================================
`conf_lines`         lanes by service level, arbitration: lines of `opensm.conf`
`load_arbitration`   arbitration tables of ports
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
    """The arbitration tables of a port, or of all ports of a kind."""

    # LID of a single port, and its number if it belongs to a switch.
    lid: int | None
    port: int | None
    # In a configuration file: "ca", "sw0", "swe" (cabled ports of switches) or "rtr".
    kind: str | None
    # Limit of high priority, in units of 4096 bytes; unknown for single ports.
    high_limit: int | None
    high: list[Slot]
    low: list[Slot]


def load_arbitration(path: str | os.PathLike[str]) -> list[Arbitration]:
    """Read concatenated outputs of `smpquery vlarb`, or an `opensm.conf`.

    Tables missing in the configuration are OpenSM's defaults.
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
    slots of the two arbitration tables, by default OpenSM's; an empty table is written as a slot
    without weight, which ports pass over. `high_limit` is the amount of high priority that is sent
    before low priority gets a turn, in units of 4096 bytes.

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
