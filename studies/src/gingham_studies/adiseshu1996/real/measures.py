"""Measures for the claims of `real.toml`, on real links instead of virtual time."""

from __future__ import annotations

import itertools
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gingham.studies._bands import Measurement
from gingham.studies._namespaces import require_machine
from gingham_studies.adiseshu1996.real.ends import both_ends, found_daemon
from gingham_studies.adiseshu1996.real.lines import shaped
from gingham_studies.adiseshu1996.real.relay import relayed
from gingham_studies.adiseshu1996.real.traffic import Numbers, goodput_mbit, whole_share

if TYPE_CHECKING:
    from pathlib import Path

# The Ethernet of figure 15 and its PVC, in Mbit/s of frames; with --quick some of the rates.
ETHERNET = 6.0
RATES = (2.0, 4.0, 6.0, 8.0, 10.0, 14.0)
RATES_QUICK = (3.0, 9.0)
SCHEDULERS = {"SRR": "surplus-round-robin", "GRR": "grr", "RR": "round-robin"}
# Length of the Ethernet header.
FRAME_HEADER_BYTES = 14
# The longest packet and the quantum of 6 Mbit/s.
QUANTUM_BYTES = 1_500
IN_TURN = (1_000, 200)
# "A random mixture of small and large packets" (section 6.2).
MIXTURE = tuple(random.Random(1).choices((200, 1_000, 1_500), k=1_000))  # noqa: S311
LOSS = 0.8
# A burst of losses, and the packets examined behind it.
BURST_S = 0.03


@dataclass
class Bench:
    """The machine as a test bench; each quantity is measured once."""

    daemon: Path
    quick: bool
    _measured: dict[Any, float] = field(default_factory=dict)

    @classmethod
    def opened(cls, daemon: Path | None, *, quick: bool) -> Bench:
        """Return the bench of this machine; `EnvironmentProblem` names the missing parts."""
        found = found_daemon(daemon)
        require_machine()
        return cls(found, quick)

    def goodput(self, scheduler: str, second: float, packets: tuple[int, ...]) -> float:
        """Return TCP's rate over a line of 6 Mbit/s and a second one, in Mbit/s of packets."""
        key = (scheduler, second, packets)
        if key not in self._measured:
            rates = (ETHERNET, second)
            quanta = [round(QUANTUM_BYTES * rate / min(rates)) for rate in rates]
            with (
                shaped(rates) as names,
                both_ends(self.daemon, names, len(rates), quanta, scheduler=SCHEDULERS[scheduler]),
            ):
                self._measured[key] = goodput_mbit(names, packets, 4 if self.quick else 12)
        return self._measured[key]


def in_turn(bench: Bench, scheduler: str) -> Measurement:
    """Return the rate at a scheduler of packets of 1000 and 200 bytes in turn, in Mbit/s."""
    return Measurement(bench.goodput(scheduler, ETHERNET, IN_TURN))


def in_turn_ratio(bench: Bench) -> Measurement:
    """Return the ratio of that rate under GRR to that under SRR."""
    one, other = (bench.goodput(scheduler, ETHERNET, IN_TURN) for scheduler in ("GRR", "SRR"))
    return Measurement(one / other)


def least_share(bench: Bench, scheduler: str) -> Measurement:
    """Return the least ratio, over all rates, of goodput to the sum of both lines' rates."""
    mean = sum(MIXTURE) / len(MIXTURE)
    part = mean / (mean + FRAME_HEADER_BYTES)
    shares = {
        rate: bench.goodput(scheduler, rate, MIXTURE) / ((ETHERNET + rate) * part)
        for rate in rates(bench)
    }
    worst = min(shares, key=lambda rate: shares[rate])
    return Measurement(shares[worst], note=f"the least, at {worst:g} Mbit/s")


def over_slowest(bench: Bench, scheduler: str) -> Measurement:
    """Return the ratio of the mean goodput to twice the rate of the slower line."""
    mean = sum(MIXTURE) / len(MIXTURE)
    part = mean / (mean + FRAME_HEADER_BYTES)
    shares = [
        bench.goodput(scheduler, rate, MIXTURE) / (2 * min(ETHERNET, rate) * part)
        for rate in rates(bench)
    ]
    return Measurement(sum(shares) / len(shares))


def rates(bench: Bench) -> tuple[float, ...]:
    """Return the rates of the second line, in Mbit/s."""
    return RATES_QUICK if bench.quick else RATES


def disorder_after_loss(bench: Bench) -> Measurement:
    """Return the number of packets lost or out of order after a marker on each channel.

    Before that, in several bursts, eight of ten frames are lost, including markers.
    """
    bursts = 10 if bench.quick else 100
    with (
        relayed(2) as (names, relay),
        both_ends(bench.daemon, names, 2, [QUANTUM_BYTES] * 2),
    ):
        numbers, spans = Numbers(names), []
        for _ in range(bursts):
            relay.lose(LOSS)
            time.sleep(BURST_S)
            relay.lose(0)
            relay.passed.wait()
            begins = relay.begins()
            time.sleep(BURST_S)
            spans.append((begins, relay.lose(LOSS)))
        came = numbers.end()
    inversions = sum(later < earlier for earlier, later in itertools.pairwise(came))
    lost = misplaced = looked_at = 0
    for begins, ends in spans:
        held = [number for number in came if begins <= number <= ends]
        expected = max(0, ends + 1 - begins)
        looked_at += expected
        lost += expected - len(held)
        misplaced += sum(one != other for one, other in zip(held, sorted(held), strict=True))
    note = (
        f"{bursts} times: {lost} lost, {misplaced} misplaced of {looked_at}; "
        f"{inversions} inversions before"
    )
    return Measurement(lost + misplaced, note=note)


def survived(bench: Bench, end: str) -> Measurement:
    """Return the share of a transfer that is received in order if one end is killed meanwhile."""
    with (
        shaped((10.0, 20.0)) as names,
        both_ends(bench.daemon, names, 2, [QUANTUM_BYTES, 2 * QUANTUM_BYTES]) as running,
    ):
        return Measurement(whole_share(names, running[end], 5_000_000))
