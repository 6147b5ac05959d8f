"""Closed forms for Flich et al. 2001.

Times are in nanoseconds. A path has N switches and k in-transit hosts; a switch that sends the
packet to an in-transit host and receives it again counts twice.
"""

from __future__ import annotations

# Section IV-A: 160 MB/s, 10 m at 4.92 ns/m, 150 ns a switch, T_d and T_r of the best case.
FLIT_NS = 6.25
CABLE_NS = 49.2
SWITCH_NS = 150.0
DETECTION_NS, PROGRAMMING_NS = 275.0, 200.0
# Bytes of type and checksum in the preset; the mark of an in-transit host has two bytes.
FIXED_BYTES = 3
HOSTS_PER_SWITCH = 4


def zero_load_ns(
    switches: float, in_transit_hosts: float, payload: float, *, slower: float = 1.0
) -> float:
    """Return the latency of a message without contention, in nanoseconds.

    The head with its mark travels to the in-transit host, and everything that is left from there::

        N1 (150 + 6.25) + (N1 + 1) 49.2 + 6.25 + T_d + T_r                 mark whole, ready
        N2 150 + (N2 + 1) 49.2 + 6.25 (payload + 3 + N2)                   the rest, N2 route bytes

    The sum is linear in N = N1 + N2 and k, so the mean over paths equals the latency of the mean
    path. A path of one switch and 32 bytes: 36 flits, 2 cables, 1 switch.

    >>> zero_load_ns(1, 0, 32) == 36 * 6.25 + 2 * 49.2 + 150
    True
    >>> round(zero_load_ns(4, 1, 32) - zero_load_ns(3, 0, 32), 2)
    735.9
    """
    cables = switches + 1 + in_transit_hosts
    bytes_ = payload + FIXED_BYTES + switches + in_transit_hosts
    hosts = in_transit_hosts * slower * (DETECTION_NS + PROGRAMMING_NS)
    return switches * SWITCH_NS + cables * CABLE_NS + hosts + bytes_ * FLIT_NS


def flits_per_ns_and_switch(load: float) -> float:
    """Return the load of each host in the paper's unit, flits per ns and switch, payload only.

    >>> flits_per_ns_and_switch(0.1)
    0.064
    """
    return load * HOSTS_PER_SWITCH / FLIT_NS
