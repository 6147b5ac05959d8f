"""Rounds and markers of a short striping run: the path of each packet over its channel.

::

    channel 1   sent   ─1─┬──3──┬─────   a line per packet, coloured by its round; above, its
                           ╲    x         number, and below it its round and deficit
                received ───╲───────     dashed: markers with round and deficit; x: lost
    delivered            1 2 4 3 ..      in the order of delivery; red: out of order

After the figures of section 5 of Adiseshu, Parulkar and Varghese 1996.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham.plots import _style as style

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Maximum number of packets in a readable picture.
PACKETS_MAX = 48
ROUND_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
RED = style.CLASS_COLOURS[3]
NS_PER_MS = 1e6


@dataclass
class Way:
    """A packet or a marker on its way over a channel."""

    channel: str
    # 0 for a marker.
    packet: int
    round: int
    deficit: int
    sent_ns: int
    arrived_ns: int | None = None
    lost: bool = False


@style.styled
def draw(events: pa.Table, *, title: str) -> Figure:
    """Return the picture of the table `events`."""
    rows: list[dict[str, Any]] = events.to_pylist()
    rows = [row for row in rows if row["packet"] <= PACKETS_MAX]
    ways = list(pair(rows))
    if not ways:
        figure = style.new_figure(7, 3, title)
        style.say_nothing_to_draw(figure.subplots(), "no event was recorded")
        return figure
    end_ns = max(last_of_packets(rows), 1)
    ways = [way for way in ways if way.sent_ns <= end_ns]
    channels = sorted({way.channel for way in ways}, key=style.natural)
    said = HEADLINE if has_rounds(ways) else HEADLINE_WITHOUT_ROUNDS
    figure = style.new_figure(11, 1.6 + 2.1 * len(channels), title, said + shown(events))
    panels = figure.subplots(
        len(channels) + 1, 1, sharex=True, squeeze=False, height_ratios=[*([3] * len(channels)), 1]
    )[:, 0]
    for axes, channel in zip(panels, channels, strict=False):
        draw_channel(axes, channel, [way for way in ways if way.channel == channel], end_ns)
    draw_delivered(panels[-1], rows, end_ns)
    return figure


HEADLINE = (
    "Lines are packets, with number, round (r) and deficit where they are sent, coloured by round; "
    "dashed lines are markers with those of the packet to come; a cross is a loss. Below, what is "
    "delivered, packets out of order in red."
)


HEADLINE_WITHOUT_ROUNDS = (
    "Lines are packets, with their number where they are sent; a cross is a loss. Below, what is "
    "delivered, packets out of order in red."
)


def has_rounds(ways: Sequence[Way]) -> bool:
    """Whether the scheduler has rounds, which count from 1."""
    return any(way.round for way in ways)


def shown(events: pa.Table) -> str:
    """Return which packets are shown, or an empty text if all are."""
    sent = max(events["packet"].to_pylist(), default=0)
    return f" The first {PACKETS_MAX} packets of {sent:,} or more." if sent > PACKETS_MAX else ""


def pair(rows: Sequence[dict[str, Any]]) -> Sequence[Way]:
    """Return all packets and markers sent, with the time of arrival if they arrived."""
    ways: list[Way] = []
    packets: dict[tuple[str, int], Way] = {}
    markers: dict[str, deque[Way]] = defaultdict(deque)
    for row in rows:
        channel, packet = row["channel"], row["packet"]
        match row["event"]:
            case "send" | "marker":
                way = Way(channel, packet, row["round"], row["deficit_bytes"], row["time_ns"])
                ways.append(way)
                if packet:
                    packets[channel, packet] = way
                else:
                    markers[channel].append(way)
            case "lose-marker" | "drop-marker":
                # Losses are reported at once, so the lost marker is the latest one sent.
                markers[channel].pop().lost = True
            case "lose" | "drop" | "damaged" | "discard" if (channel, packet) in packets:
                packets[channel, packet].lost = True
            case "arrive" if (channel, packet) in packets:
                packets[channel, packet].arrived_ns = row["time_ns"]
            case "arrive-marker":
                if markers[channel]:
                    markers[channel].popleft().arrived_ns = row["time_ns"]
    return ways


def last_of_packets(rows: Sequence[dict[str, Any]]) -> int:
    """Return the time of the last event of the packets shown."""
    return int(max((row["time_ns"] for row in rows if row["packet"]), default=0))


def draw_channel(axes: Axes, channel: str, ways: Sequence[Way], end_ns: int) -> None:
    """Draw a channel with its sender above and its receiver below."""
    for place in (0, 1):
        axes.axhline(place, color=style.FAINT, lw=0.7)
    side, labelled_ns = 0, -end_ns
    for way in ways:
        # At most three labels within the width of one, to keep them readable.
        crowded = way.sent_ns - labelled_ns < end_ns / 90 and side == 0
        draw_way(axes, way, end_ns, None if crowded else side)
        if not crowded:
            side, labelled_ns = (side + 1) % 3, way.sent_ns
    axes.set_ylim(-0.25, 1.75)
    axes.set_yticks([0, 1], ["received", "sent"])
    axes.set_title(f"channel {channel}")
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(axis="x", length=0)


def draw_way(axes: Axes, way: Way, end_ns: int, side: int | None) -> None:
    """Draw a packet or a marker, with its label at one of three heights if it has one."""
    start = way.sent_ns / NS_PER_MS
    # A packet still in flight when the events end has a short line without a cross.
    stops = way.arrived_ns is None
    end = (way.arrived_ns or way.sent_ns + end_ns * 0.02) / NS_PER_MS
    bottom = 0.55 if stops else 0.0
    colour = ROUND_COLOURS[way.round % len(ROUND_COLOURS)] if way.packet else style.INK
    width, dashes = (1.4, "-") if way.packet else (0.9, "--")
    axes.plot([start, end], [1, bottom], color=colour, lw=width, ls=dashes)
    if way.lost:
        axes.plot([end], [bottom], "x", color=RED, ms=7, mew=1.8)
    label = f"r{way.round} {way.deficit} B" if way.round else ""
    text = f"{way.packet}\n{label}".rstrip() if way.packet else f"M {label}"
    if side is not None:
        height = 1.04 + 0.24 * side
        axes.text(start, height, text, size=6.5, color=colour, ha="center", va="bottom")


def draw_delivered(axes: Axes, rows: Sequence[dict[str, Any]], end_ns: int) -> None:
    """Draw delivered packets in order of delivery; packets out of order in red."""
    highest = 0
    last_ms, height = -1.0, 0
    apart_ms = end_ns / NS_PER_MS / 60
    for row in rows:
        if row["event"] != "deliver":
            continue
        late = row["packet"] < highest
        highest = max(highest, row["packet"])
        time_ms = row["time_ns"] / NS_PER_MS
        # Packets delivered simultaneously are stacked, the first at the bottom.
        height = height + 1 if time_ms - last_ms < apart_ms else 0
        last_ms = time_ms if height == 0 else last_ms
        colour = RED if late else style.INK
        weight = "bold" if late else "normal"
        place = (last_ms, 0.3 * height)
        axes.text(*place, row["packet"], size=7.5, color=colour, weight=weight, ha="center")
    axes.set_ylim(-0.1, 1.5)
    axes.set_yticks([])
    axes.set_ylabel("delivered", rotation=0, ha="right", va="center")
    axes.set_xlim(-0.03 * end_ns / NS_PER_MS, 1.02 * end_ns / NS_PER_MS)
    axes.set_xlabel("simulated time (ms)")
    axes.spines["left"].set_visible(False)
