"""Closed forms for Adiseshu et al. 1996.

All rates have one unit, of any choice; lengths are in bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def sum_of_links(rates: Sequence[float]) -> float:
    """Return the upper bound on striping: the sum of the rates of the links.

    >>> sum_of_links([6, 10])
    16.0
    """
    return float(sum(rates))


def round_robin(rates: Sequence[float]) -> float:
    """Return the rate of round robin with packets of mixed lengths, one per link in each turn.

    In the long run every link carries as much as the slowest.

    >>> round_robin([6, 10]), round_robin([6, 2])
    (12.0, 4.0)
    """
    return float(len(rates) * min(rates))


def round_robin_in_turn(rates: Sequence[float], lengths: Sequence[float]) -> float:
    """Return the rate of round robin if each link always gets packets of one length.

    A turn takes as long as its slowest packet. Two links of 6 Mbit/s, one with 1000 bytes and one
    with 200 bytes in a turn::

        (1000 + 200) / (1000 / 6)   =   7.2

    >>> round(round_robin_in_turn([6, 6], [1000, 200]), 3)
    7.2
    """
    slowest = max(length / rate for length, rate in zip(lengths, rates, strict=True))
    return sum(lengths) / slowest


def with_marker(goodput: float, between: float, marker: float) -> float:
    """Return a goodput reduced by markers, one after every `between` bytes of a link.

    Quanta of 1500 bytes and markers of 60 bytes each fourth round leave 6000 bytes of 6060::

        12 * 6000 / 6060   =   11.881

    >>> round(with_marker(12, 6000, 60), 3), round(with_marker(7.2, 4000, 60), 3)
    (11.881, 7.094)
    """
    return goodput * between / (between + marker)


def theorem_bound(longest: int, quanta: Sequence[int]) -> int:
    """Return the bound of theorem 3.2 and lemma 3.3: Max + 2 Quantum.

    >>> theorem_bound(1500, [1500, 3000])
    7500
    """
    return longest + 2 * max(quanta)
