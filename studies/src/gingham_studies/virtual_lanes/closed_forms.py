"""Closed forms for a mesh and a torus of k x k switches with a host each.

Times are in cycles, loads in flits for each host and cycle.
"""

from __future__ import annotations

# grid.toml: stages of a head at a switch, including the cycle on the cable.
SIDE = 8
HOP_CYCLES = 5
CYCLE_PS = 80_000
FLIT_BYTES = 16


def zero_load_cycles(switches: float, flits: int, cable: int = 0) -> float:
    """Return the latency of a packet without contention, on cables of `cable` cycles, in cycles.

    A head takes the five stages of each switch, and the last flit follows after as many cycles as
    there are flits. The latency is linear in the number of switches, so the mean over pairs is that
    of the mean pair.

    >>> zero_load_cycles(1, 20), zero_load_cycles(15, 5), zero_load_cycles(2, 5, cable=1)
    (25, 80, 18)
    """
    return switches * (HOP_CYCLES + cable) + flits + cable


def mean_switches(shape: str, side: int = SIDE) -> float:
    """Return the mean number of switches on a path between two different hosts.

    The mean distance of two random switches, possibly equal, is (k^2 - 1) / 3 k in a row of k
    switches, and k / 4 on a ring of even k. A host does not send to itself, which is one pair of N.

    >>> round(mean_switches("mesh"), 4), round(mean_switches("torus"), 4)
    (6.3333, 5.0635)
    """
    apart = {"mesh": (side * side - 1) / (3 * side), "torus": side / 4}[shape]
    hosts = side * side
    return 1 + 2 * apart * hosts / (hosts - 1)


def capacity(shape: str, side: int = SIDE) -> float:
    """Return the load that fills the busiest channels under uniform traffic.

    In the middle of a row of the mesh, k/2 hosts send to the k^2/2 beyond over one channel. On a
    torus with split ties, all channels of a dimension have equal loads: k/8 of a host's load.

    >>> capacity("mesh"), capacity("torus")
    (0.4921875, 0.984375)
    """
    hosts = side * side
    of_all = {"mesh": side / 4, "torus": side / 8}[shape]
    return (hosts - 1) / hosts / of_all
