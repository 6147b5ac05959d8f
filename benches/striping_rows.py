"""Rows of `make bench-stripe`: their lines, their traffic, and the required results."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.system.pipes import Line

# Queue of the slower line of 100 + 300 Mbit/s: 5 ms and 20 ms at the rate of both lines.
SHORT_BYTES, LONG_BYTES = 64_000, 256_000


@dataclass(frozen=True)
class Bar:
    """A required result: a lower or upper limit for the median or the worst run.

    `goal` is a desired, tighter limit.
    """

    measure: str
    limit: float
    of: str = "median"
    is_least: bool = True
    goal: float | None = None

    def is_met(self, value: float) -> bool:
        """Whether a value is within the limit."""
        return value >= self.limit if self.is_least else value <= self.limit


def at_most(measure: str, limit: float, of: str = "median", goal: float | None = None) -> Bar:
    """Return an upper limit for a measure."""
    return Bar(measure, limit, of, is_least=False, goal=goal)


# No datagram is lost or reordered.
WHOLE = (at_most("udp_lost", 0, "worst"), at_most("udp_disorder", 0, "worst"))
# A share of at least .93 in the median run and .90 in the worst.
SUM = (Bar("share", 0.93, goal=0.95), Bar("share", 0.90, "worst"))


@dataclass(frozen=True)
class Row:
    """Lines, and the results required of free order; other transports are reported beside it.

    `kind` is `udp` for channels over UDP, otherwise the carrier. `is_streamed` is whether one TCP
    connection is measured first. UDP load is a share of the sum, or a rate in Mbit/s, in datagrams
    that cycle through the given lengths. With `outage`, only TCP is measured.
    """

    lines: list[Line]
    bars: tuple[Bar, ...]
    kind: str = "udp"
    is_streamed: bool = True
    udp_share: float | None = None
    udp_mbit: float | None = None
    lengths: tuple[int, ...] = (1_400,)
    others: tuple[str, ...] = field(default=("mptcp",))
    is_idle: bool = False

    @property
    def outage(self) -> tuple[float, float] | None:
        """Start and end of the outage of a line, in seconds after the line was created."""
        return next((line.outage for line in self.lines if line.outage), None)

    @property
    def is_unlimited(self) -> bool:
        """Whether the lines have no rate limit."""
        return all(line.rate is None for line in self.lines)


def best_line_bar(lines: list[Line]) -> Bar:
    """Require the share of the sum that the faster line has alone."""
    rates = [line.rate or 0 for line in lines]
    return Bar("share", max(rates) / sum(rates), "worst")


JITTERED = [Line(20, 10, jitter=10, loss=0.005), Line(10, 60, jitter=10, loss=0.005)]
ROWS: dict[str, Row] = {
    "10+10": Row([Line(10), Line(10)], (*SUM, *WHOLE), udp_share=0.9),
    "10+20": Row([Line(10), Line(20)], (*SUM, *WHOLE), udp_share=0.9),
    "20/10ms+20/40ms": Row(
        [Line(20, 10), Line(20, 40)],
        (*SUM, at_most("udp_disorder", 0.001, "worst"), at_most("udp_p99_ms", 50, goal=45)),
        udp_share=0.8,
    ),
    "jitter+loss": Row(JITTERED, (Bar("share", 0.85), best_line_bar(JITTERED))),
    "100+300/10ms/64kB": Row(
        [Line(100, 10, SHORT_BYTES), Line(300, 10, SHORT_BYTES)], (Bar("share", 0.88),)
    ),
    "1200-200": Row(
        [Line(10), Line(10)],
        WHOLE,
        is_streamed=False,
        udp_mbit=16,
        lengths=(1_200, 200),
        others=(),
    ),
    "hole": Row(
        [Line(5, 0.1), Line(10, 0.1, outage=(8, 14))],
        (at_most("survivor_s", 0.5), at_most("back_s", 2)),
    ),
    "100+300": Row(
        [Line(100, 0, LONG_BYTES), Line(300, 0, LONG_BYTES)],
        (
            Bar("share", 0.93),
            at_most("cpu_s_per_gb", 10),
            at_most("udp_lost", 0.001, "worst"),
            at_most("udp_disorder", 0.001, "worst"),
        ),
        udp_mbit=360,
    ),
    # As fast as wireguard-go over one of the lines in the same run, or this rate if it is missing.
    "unlimited": Row([Line(None), Line(None)], (Bar("mbit", 1_500),), others=("wireguard-go",)),
    "idle": Row([Line(10), Line(20)], (), is_streamed=False, others=(), is_idle=True),
}
