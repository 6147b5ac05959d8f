"""Surplus round robin, packet by packet.

::

    queue 1  a b c ══╗                         ╔══► channel 1  a b c
                     ╠══► a d e b c f ════════╣
    queue 2  d e f ══╝                         ╚══► channel 2  d e f

          serve: queues share a channel      share: channels share a queue

Source: Adiseshu, Parulkar and Varghese 1996, section 3.5. Each channel has a quantum of bytes per
round; it is served while its deficit is above zero, and an overdraft by its last packet is
subtracted in the next round. Invariant: `share` of the output of `serve` returns every packet to
its original queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gingham._native import serve_queues, share_load

if TYPE_CHECKING:
    from collections.abc import Sequence


class Turn(NamedTuple):
    """Destination or origin of a packet, with its scheduling state."""

    # Queue or channel, counted from 1.
    channel: int
    round: int
    # Deficit before the packet, including the quantum of its round.
    deficit_bytes: int


def share(lengths: Sequence[int], quanta: Sequence[int]) -> list[Turn]:
    """Return the channel of each packet.

    >>> [turn.channel for turn in share([550, 200, 400, 200, 250, 400], [500, 500])]
    [1, 2, 2, 1, 1, 2]
    """
    return [made(*turn) for turn in share_load(quanta, lengths)]


def serve(queues: Sequence[Sequence[int]], quanta: Sequence[int]) -> list[Turn]:
    """Return the service order of backlogged queues, until a queue is empty at its turn.

    >>> [turn.channel for turn in serve([[550, 200, 250], [200, 400, 400]], [500, 500])]
    [1, 2, 2, 1, 1, 2]
    """
    return [made(*turn) for turn in serve_queues(quanta, queues)]


def made(place: int, round_: int, deficit_bytes: int) -> Turn:
    """Convert a turn of the core, which counts channels from 0."""
    return Turn(place + 1, round_, deficit_bytes)
