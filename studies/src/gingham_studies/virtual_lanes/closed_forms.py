"""Closed forms for a mesh and a torus of k x k switches with a host each.

Times are in cycles, loads in flits for each host and cycle.
"""

from __future__ import annotations

# grid.toml: stages of a head at a switch, the cable's cycle among them.
SIDE = 8
HOP_CYCLES = 5
CYCLE_PS = 80_000
FLIT_BYTES = 16


def zero_load_cycles(switches: float, flits: int, cable: int = 0) -> float:
    """Return from entry to delivery of a packet without contention, on cables of `cable` cycles.

    A head needs the five stages of each switch, and the last flit comes as many cycles behind it as
    there are flits. It is linear in the switches, so that the mean over pairs is that of the mean
    pair.

    >>> zero_load_cycles(1, 20), zero_load_cycles(15, 5), zero_load_cycles(2, 5, cable=1)
    (25, 80, 18)
    """
    return switches * (HOP_CYCLES + cable) + flits + cable


def mean_switches(shape: str, side: int = SIDE) -> float:
    """Return the mean number of switches on a path between two different hosts.

    In a row of k switches two random ones, which may be the same, are (k^2 - 1) / 3 k apart, and on
    a ring of an even k a quarter of it. A host does not send to itself, which is one pair of N.

    >>> round(mean_switches("mesh"), 4), round(mean_switches("torus"), 4)
    (6.3333, 5.0635)
    """
    apart = {"mesh": (side * side - 1) / (3 * side), "torus": side / 4}[shape]
    hosts = side * side
    return 1 + 2 * apart * hosts / (hosts - 1)


def capacity(shape: str, side: int = SIDE) -> float:
    """Return the load that fills the busiest channels under uniform traffic.

    In the middle of a row of the mesh k/2 hosts send to the k^2/2 beyond, over one channel; on a
    torus all channels of a dimension carry the same if ties are split, k/8 of a host's load.

    >>> capacity("mesh"), capacity("torus")
    (0.4921875, 0.984375)
    """
    hosts = side * side
    of_all = {"mesh": side / 4, "torus": side / 8}[shape]
    return (hosts - 1) / hosts / of_all
