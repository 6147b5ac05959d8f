"""One measurement of a row of `make bench-stripe`: a network, a transport and its results."""

from __future__ import annotations

import json
import signal
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

from tests.system import bundles, flows, pipes, ways
from tests.system.flows import Course

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from striping_rows import Row

T = TypeVar("T")
SECONDS_A_DAY = 86_400
# TCP payload of a frame of 1,514 bytes, without headers of Ethernet, IPv4 and TCP with timestamps.
PLAIN_SHARE = 1_448 / 1_514
# A flow has converged once its rate reaches this share of the median rate.
CONVERGED = 0.9
# Width of the averaging window of rates, and step between windows.
WINDOW_S, STEP_S = 0.25, 0.02
# Traffic has recovered once it reaches this share of the remaining line's rate, or of the sum.
REGAINED = 0.8
# Margin before an outage begins: emulators report late, after the flow.
SETTLE_S = 0.3


@dataclass(frozen=True)
class Length:
    """Duration of a flow, start of its measurement window, and duration of the idle measurement."""

    seconds: float = 13
    counted_from: float = 3
    idle_seconds: float = 60


@dataclass(frozen=True)
class Programs:
    """Paths of the programs under test."""

    daemon: Path
    emulator: Path

    @classmethod
    def built(cls, *, checked: bool) -> Programs:
        """Build both programs; the daemon as installed, or with checks as in the crates' tests."""
        daemon = bundles.built() if checked else bundles.built("--release")
        return cls(daemon, pipes.Programs.built().emulator)

    def lines(self) -> pipes.Programs:
        """Return the programs that emulate lines."""
        return pipes.Programs(self.emulator, self.emulator)


@dataclass
class Told:
    """Results of a run: measures by name, and rates over time for the picture."""

    measures: dict[str, float] = field(default_factory=dict)
    channels: list[Course] = field(default_factory=list)
    flow: Course = field(default_factory=Course)
    outage: tuple[float, float] | None = None


class VoidError(Exception):
    """A run invalidated by the machine: the emulators or the receiver were late."""


@contextmanager
def network(programs: Programs, row: Row) -> Iterator[tuple[dict[str, str], list[Any]]]:
    """Create namespaces and lines; raise `VoidError` if the emulators were late."""
    with pipes.network(programs.lines(), row.lines) as (names, emulators):
        yield names, emulators
        if (late := pipes.late_share(emulators)) > pipes.LATE_SHARE_MAX:
            raise VoidError(f"{late:.3f} of the frames were moved late")


def repeated(measure: Callable[[], T], tries: int = pipes.RUNS_MAX) -> T:
    """Repeat a measurement until a run is valid."""
    for _ in range(tries - 1):
        try:
            return measure()
        except VoidError:
            continue
    return measure()


def sum_alone(programs: Programs, row: Row, length: Length) -> float:
    """Return the sum of TCP's rates over each line alone, in bit/s.

    TCP is slow over a line that loses frames, whatever the line carries; such a line counts with
    the rate that its losses leave.
    """
    with network(programs, row) as (names, _):
        rates = [
            (line.rate or 0) * 1e6 * PLAIN_SHARE * (1 - line.loss)
            if line.loss
            else _rate(flows.stream(names, ways.plain(channel).address, length.seconds), length)
            for channel, line in enumerate(row.lines)
        ]
    return sum(rates)


def measured(programs: Programs, row: Row, by: str, length: Length, sum_bits_per_s: float) -> Told:
    """Measure a row once, by an order of the daemon or by another transport."""
    with (
        tempfile.TemporaryDirectory() as folder,
        network(programs, row) as (names, emulators),
        _way(programs, row, by, names, Path(folder)) as way,
    ):
        if row.is_idle:
            return Told(_idle(names, row, length))
        told = Told()
        devices = [f"wan{channel}" for channel in range(len(row.lines))]
        with flows.watched(names["right"], devices) as told.channels:
            if row.outage:
                _through_hole(told, names, row, way, emulators)
            elif row.is_streamed:
                _stream(told, names, row, way, length, sum_bits_per_s)
            if (row.udp_share or row.udp_mbit) and way.processes:
                rate = (row.udp_mbit or 0) * 1e6 or (row.udp_share or 0) * sum_bits_per_s
                _datagrams(told, names, row, way, rate, length)
    return told


@contextmanager
def _way(
    programs: Programs, row: Row, by: str, names: dict[str, str], folder: Path
) -> Iterator[ways.Way]:
    if by == "mptcp":
        yield ways.mptcp(names, row.lines)
    elif by == "wireguard-go":
        program = ways.wireguard_program()
        assert program is not None, "it was looked for before"
        with ways.wireguard(program, names, priority=not row.is_unlimited) as way:
            yield way
    else:
        with ways.striped(programs.daemon, folder, names, row.lines, by) as way:
            yield way


def _rate(course: Course, length: Length) -> float:
    start = course.times[0]
    return course.bits_per_s(start + length.counted_from, start + length.seconds)


def _stream(
    told: Told,
    names: dict[str, str],
    row: Row,
    way: ways.Way,
    length: Length,
    sum_bits_per_s: float,
) -> None:
    before = flows.cpu_seconds(way.processes)
    told.flow = flows.stream(names, way.address, length.seconds, way.protocol)
    computed = flows.cpu_seconds(way.processes) - before
    rate = _rate(told.flow, length)
    told.measures["mbit"] = rate / 1e6
    if sum_bits_per_s:
        told.measures["share"] = rate / sum_bits_per_s
        lines = sum(line.rate or 0 for line in row.lines) * 1e6 * PLAIN_SHARE
        told.measures["line_share"] = rate / lines
    told.measures["converged_s"] = converged_s(told.flow, length)
    if way.processes and told.flow.totals[-1]:
        told.measures["cpu_s_per_gb"] = computed * 1e9 / told.flow.totals[-1]


def converged_s(course: Course, length: Length) -> float:
    """Return the seconds until a flow reached `CONVERGED` of its median rate."""
    start, end = course.times[0], course.times[0] + length.seconds
    usual = median(rate for at, rate in rates(course, start, end) if at > length.counted_from)
    return next(at for at, rate in rates(course, start, end) if rate >= CONVERGED * usual)


def rates(course: Course, start: float, end: float) -> list[tuple[float, float]]:
    """Return pairs of time (end of a window, in seconds from the start) and rate in bit/s."""
    steps = int((end - start - WINDOW_S) / STEP_S)
    ends = [start + WINDOW_S + step * STEP_S for step in range(steps)]
    return [(at - start, course.bits_per_s(at - WINDOW_S, at)) for at in ends]


def _through_hole(
    told: Told, names: dict[str, str], row: Row, way: ways.Way, emulators: list[Any]
) -> None:
    """Send through an outage, and record the time until traffic recovered after each change."""
    assert row.outage is not None
    cut = next(number for number, line in enumerate(row.lines) if line.outage)
    began = time.monotonic() - _seconds(emulators[cut])
    down, up = (began + at for at in row.outage)
    wanted_s = up + (row.outage[1] - row.outage[0]) / 2 + SETTLE_S - time.monotonic()
    told.flow = flows.stream(names, way.address, wanted_s, way.protocol)
    start, end = told.flow.times[0], told.flow.times[0] + wanted_s
    told.outage = (down - start, up - start)
    survivor = bundles.sum_of([line for line in row.lines if not line.outage])
    whole = bundles.sum_of(row.lines)
    told.measures["survivor_s"] = regained_s(told.flow, down, up, REGAINED * survivor)
    told.measures["back_s"] = regained_s(told.flow, up, end, REGAINED * whole)


def regained_s(course: Course, start: float, end: float, bits_per_s: float) -> float:
    """Return the seconds until a window first reaches a rate, counted to the start of the window.

    Infinite if no window does.
    """
    found = (at - WINDOW_S for at, rate in rates(course, start, end) if rate >= bits_per_s)
    return next(found, float("inf"))


def _seconds(emulator: Any) -> float:
    emulator.send_signal(signal.SIGUSR1)
    return float(json.loads(emulator.stdout.readline())["seconds"])


def _datagrams(
    told: Told, names: dict[str, str], row: Row, way: ways.Way, rate: float, length: Length
) -> None:
    seen = flows.datagrams(
        names, way.address, rate, length.seconds, length.counted_from, row.lengths
    )
    if seen.too_slow:
        raise VoidError(f"the receiver had no room for {seen.too_slow} datagrams")
    told.measures |= {
        "udp_mbit": rate / 1e6,
        "udp_lost": 1 - seen.came / seen.sent,
        "udp_disorder": seen.out_of_order / max(seen.came, 1),
        "udp_p99_ms": seen.delay_p99_ms,
    }


def _idle(names: dict[str, str], row: Row, length: Length) -> dict[str, float]:
    """Return the megabytes a day that idle channels exchange, in both directions."""
    time.sleep(length.idle_seconds / 2)
    channels = range(len(row.lines))
    before = [pipes.carried(names["left"], channel) for channel in channels]
    time.sleep(length.idle_seconds)
    after = [pipes.carried(names["left"], channel) for channel in channels]
    bytes_a_second = max(
        (last - first) / length.idle_seconds for first, last in zip(before, after, strict=True)
    )
    return {"idle_mb_a_day": bytes_a_second * SECONDS_A_DAY / 1e6}
