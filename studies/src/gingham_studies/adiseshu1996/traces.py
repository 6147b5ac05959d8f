"""Events of the paper's small figures, written by hand from its text.

::

    channel 1   1  3  5 (7) 9 11 M 13        7 is lost; M carries round 7
    channel 2   2  4  6  8 10 12 M 14

    delivered   1 2 3 4 5 6 | 9 8 11 10 | 12 | 13 14
                in order      out of      the receiver skips channel 1 in round 6

Source: sections 3.5 (figures 2, 3, 5 and 6), 4 (the example of N channels) and 5 (figures 8 to 13).
"""

from __future__ import annotations

from typing import NamedTuple

from gingham.queueing import Turn


class Event(NamedTuple):
    """An event at the sender or at the receiver."""

    what: str
    # Number from 1; 0 for a marker.
    packet: int
    # Number from 1.
    channel: int
    # Round at the sender for transmissions, at the receiver for deliveries; 0 for a loss, because
    # packets do not carry their round.
    round: int
    # The quantum: each packet uses all of it.
    deficit_bytes: int = 500


# Figures 2, 3, 5 and 6. The text gives the lengths a = 550 and d + e = 600, and has b and c sent in
# the second round, from the remaining 450 bytes of the first channel; the others are ours.
QUANTA = (500, 500)
LENGTHS = {"a": 550, "b": 200, "c": 250, "d": 200, "e": 400, "f": 400}
QUEUES = ("abc", "def")
ORDER = "adebcf"
TURNS = {
    "a": Turn(1, 1, 500),
    "d": Turn(2, 1, 500),
    "e": Turn(2, 1, 300),
    "b": Turn(1, 2, 450),
    "c": Turn(1, 2, 250),
    "f": Turn(2, 2, 400),
}
# Deficit counters after each packet, from the text and the figure.
DEFICITS = {"a": -50, "d": 300, "e": -100, "b": 250, "c": 0, "f": 0}


def sent(packet: int, channel: int, round_: int) -> Event:
    """Return the event of sending a packet on a channel."""
    return Event("send", packet, channel, round_)


def delivered(packet: int, channel: int, round_: int) -> Event:
    """Return the event of delivering a packet."""
    return Event("deliver", packet, channel, round_)


def marker(channel: int, round_: int) -> Event:
    """Return the event of sending a marker on a channel."""
    return Event("marker", 0, channel, round_)


# Fourteen packets, each as long as the quantum of both channels.
FIGURE_8 = [
    sent(1, 1, 1),
    sent(2, 2, 1),
    sent(3, 1, 2),
    sent(4, 2, 2),
    sent(5, 1, 3),
    sent(6, 2, 3),
    sent(7, 1, 4),
    sent(8, 2, 4),
    sent(9, 1, 5),
    sent(10, 2, 5),
    sent(11, 1, 6),
    sent(12, 2, 6),
    sent(13, 1, 7),
    sent(14, 2, 7),
]
# Without loss, packets are delivered in the order of sending.
FIGURE_9 = [delivered(one.packet, one.channel, one.round) for one in FIGURE_8]
# Only packet 7 is lost, on channel 1.
FIGURE_10 = [*FIGURE_8, Event("lose", 7, 1, 0, 0)]
# In round 4 the receiver expects 7 on channel 1 and takes 9, and so on. After 13 nothing arrives on
# channel 1; after the wait in round 7 the receiver delivers the rest.
FIGURE_11 = [
    delivered(1, 1, 1),
    delivered(2, 2, 1),
    delivered(3, 1, 2),
    delivered(4, 2, 2),
    delivered(5, 1, 3),
    delivered(6, 2, 3),
    delivered(9, 1, 4),
    delivered(8, 2, 4),
    delivered(11, 1, 5),
    delivered(10, 2, 5),
    delivered(13, 1, 6),
    delivered(12, 2, 6),
    delivered(14, 2, 7),
]
# Markers on both channels before round 7, as before round 1.
FIGURE_12 = [
    marker(1, 1),
    marker(2, 1),
    *FIGURE_8[:12],
    marker(1, 7),
    marker(2, 7),
    *FIGURE_8[12:],
]
# In round 6 the receiver finds the marker of round 7 on channel 1 and skips the channel.
FIGURE_13 = [
    *FIGURE_11[:10],
    delivered(12, 2, 6),
    delivered(13, 1, 7),
    delivered(14, 2, 7),
]

# Section 4: packets are sent in turn on N = 4 channels, and the first is lost. "The receiver will
# deliver the packet sequence N + 1, 2, 3, ..., N, 2N + 1, N + 2, N + 3, ... and permanently reorder
# packets."
SECTION_4 = [5, 2, 3, 4, 9, 6, 7, 8, 13, 10, 11, 12]
