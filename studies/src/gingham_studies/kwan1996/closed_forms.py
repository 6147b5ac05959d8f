"""Closed forms for Kwan et al. 1996.

Lengths are in bytes, times in byte times of a link.
"""

from __future__ import annotations

import math

# Section 3.1 and figures 9 and 10.
MEAN_BYTES, SEGMENT_BYTES = 1000.0, 100.0
BYTE_NS = 12.5


def mean_segment(mean: float, segment: float) -> float:
    """Return the mean length of the segments of exponential messages.

    A message of length x has ceil(x / L) segments, on average 1 / (1 - exp(-L / m)).

    >>> round(mean_segment(1000, 100), 1)
    95.2
    """
    return -mean * math.expm1(-segment / mean)


def two_hosts(long: float, short: float, *, gap: float = 0.0) -> tuple[float, float]:
    """Return the throughputs of the two hosts of figure 1 at their loads, whole messages first.

    Round robin serves one worm of each host per turn. If both are backlogged, the host of whole
    messages has m / (m + s) of the link, with the mean segment s of 100 bytes. A host that offers
    less gets its load, and the other one gets the rest.

    If a switch reads a header only after the previous worm has left that input, there is a gap of
    `gap` bytes between two segments of the second host, and none after a message of the first. Of n
    and k worms of the two hosts in a unit of time, k - n are followed by a gap::

        n m + k s + (k - n) gap = 1

    >>> two_hosts(0.4, 0.4), round(two_hosts(1, 1)[0], 3), round(two_hosts(0.8, 0.8)[1], 3)
    ((0.4, 0.4), 0.913, 0.2)
    >>> round(two_hosts(0.6, 0.6, gap=12)[1], 3)
    0.362
    """
    piece = mean_segment(MEAN_BYTES, SEGMENT_BYTES)
    carried = min(long, max(1 - short, MEAN_BYTES / (MEAN_BYTES + piece)))
    worms = (1 - carried + carried / MEAN_BYTES * gap) / (piece + gap)
    return carried, min(short, piece * worms)


def cycles(buffer: float, segment: float) -> int:
    """Return the number of segments, whole or partial, ahead of H3 in figure 9.

    >>> [cycles(80, segment) for segment in (20, 27, 40, 80, 160)]
    [4, 3, 2, 1, 1]
    """
    return max(1, math.ceil(buffer / segment))


def least_delay(buffer: float, segment: float, message: float = MEAN_BYTES) -> float:
    """Return the paper's delay of H3: n cycles, each of a message of H1 and a segment of H2.

    It applies to a message that arrives just when a segment of H2 gets its turn.
    """
    return cycles(buffer, segment) * (segment + message)


def mean_delay(buffer: float, segment: float, message: float = MEAN_BYTES) -> float:
    """Return the mean delay of H3 over all arrival times of its message.

    A segment gets a turn every L + m. A message that arrives a time u after the last turn waits for
    the rest of the cycle, L + m - u, for the n - 1 cycles of the remaining segments, and for one
    more message of H1. The mean of u is half a cycle::

        (L + m) / 2 + (n - 1) (L + m) + m   =   n (L + m) + (m - L) / 2

    >>> least_delay(80, 40), mean_delay(80, 40)
    (2080.0, 2560.0)
    """
    return least_delay(buffer, segment, message) + (message - segment) / 2
