"""Two ends of a pipe over UDP, in network namespaces that shaped links join.

    left   pipe ══ 0: veth, tbf at both ends              (where there is no delay) ══ pipe   right
                ══ 1: TAP ══ gingham-linkemu ══ TAP       (where there is)          ══

A run in which emulators moved more than two in a thousand of the frames more than a millisecond
too late measured the machine: it is repeated.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gingham.studies._namespaces import (
    ENDS,
    TIMEOUT_S,
    ip,
    limit,
    namespaces,
)
from gingham.studies._namespaces import address as hardware_of
from tests.conftest import require_programs
from tests.system import programs

ROUTER = "router"
# An emulator that is late more often than this spoils the run, which is begun again so often.
# With 6 of 1,000 late 100 + 300, 10 ms, 64 kB carried .913, with 2 .940, with fewer .945 to .958.
LATE_SHARE_MAX = 0.002
RUNS_MAX = 4
# Ethernet's header, those of IPv4 and UDP, and what stands before a packet.
ETHERNET_BYTES = 14
HEADER_BYTES = 14 + 20 + 8 + 12
PACKET_BYTES = 1500 - 20 - 8 - 12
# Of the real-time priorities: above all that is not the kernel's.
PRIORITY = 10


@dataclass(frozen=True)
class Line:
    """A channel: its rate in Mbit/s, its delay one way in ms, and the bytes of its queue.

    It goes through a router, if there is to be one, which is nobody's on the way, and over IPv6 if
    it is to; an emulated one may do more, as options of the emulator say.

    Without a rate it is a veth that nothing shapes. Jitter, in ms, is added to the delay, a loss is
    that of each frame, and in an outage, in seconds from and until, nothing crosses.
    """

    rate: float | None
    delay: float = 0
    queue_bytes: int = 64_000
    jitter: float = 0
    loss: float = 0
    outage: tuple[float, float] | None = None
    is_routed: bool = False
    is_v6: bool = False
    emulated: tuple[str, ...] = ()

    @property
    def is_emulated(self) -> bool:
        """Whether it takes more than `tbf`."""
        return bool(self.delay or self.jitter or self.loss or self.outage)

    def options(self) -> list[str]:
        """Return it as the emulator has it."""
        options = ["--rate", f"{self.rate} Mbit/s", "--delay", f"{self.delay} ms"]
        options += ["--queue", f"{self.queue_bytes} B", "--loss", f"{self.loss}"]
        options += ["--jitter", f"{self.jitter} ms"]
        if self.outage:
            options += ["--outage", "{} s..{} s".format(*self.outage)]
        return [*options, *self.emulated]


@dataclass(frozen=True)
class Programs:
    """What is run."""

    pipe: Path
    emulator: Path

    @classmethod
    def of(cls, folder: Path) -> Programs:
        """Take those that were built into a folder such as `target/release`."""
        return cls(folder / "examples" / "pipe", folder / "gingham-linkemu")

    @classmethod
    def built(cls) -> Programs:
        """Build both, as the tests of the crates build them."""
        made = programs.checked()
        return cls(made["pipe"], made["gingham-linkemu"])


class LateError(Exception):
    """The emulators were late in every run; what the last one told is there."""

    def __init__(self, told: dict[str, Any]) -> None:
        """Keep what was told."""
        super().__init__(f"{told['emulated_late_share']:.3f} of the frames were moved late")
        self.told = told


def sum_of(lines: list[Line]) -> float:
    """Return what all lines carry of packets, in bits a second."""
    rates = sum(line.rate or 0 for line in lines)
    return rates * 1e6 * PACKET_BYTES / (PACKET_BYTES + HEADER_BYTES)


def run(
    programs: Programs,
    lines: list[Line],
    seconds: float,
    *options: str,
    priority: bool = True,
) -> dict[str, Any]:
    """Send from left to right all that goes, and return what both ends and the emulators told."""
    for number in range(1, RUNS_MAX + 1):
        told = _run_once(programs, lines, seconds, options, priority=priority)
        told["runs"] = number
        if told["emulated_late_share"] <= LATE_SHARE_MAX:
            return told
    raise LateError(told)


def _run_once(
    programs: Programs,
    lines: list[Line],
    seconds: float,
    options: tuple[str, ...],
    *,
    priority: bool,
) -> dict[str, Any]:
    with network(programs, lines) as (names, emulators):
        pipes = started(programs, names, lines, seconds, options, priority=priority)
        told = told_by(pipes, seconds)
        told["emulated_late_share"] = late_share(emulators)
    told["share"] = told["right"]["goodput_bits_per_s"] / sum_of(lines)
    cpu_seconds = sum(told[end]["cpu_seconds"] for end in ENDS)
    told["cpu_seconds_per_gb"] = cpu_seconds * 1e9 / max(told["right"]["bytes"], 1)
    return told


def started(
    programs: Programs,
    names: dict[str, str],
    lines: list[Line],
    seconds: float,
    options: tuple[str, ...],
    *,
    priority: bool = True,
    offer: str | None = "all",
) -> dict[str, subprocess.Popen[str]]:
    """Start both ends, which stop by themselves; the left one sends all, or what is said."""
    pipes = {}
    for end, other in (("right", "left"), ("left", "right")):
        command = ["ip", "netns", "exec", names[end], str(programs.pipe), *options]
        for channel, line in enumerate(lines):
            here, there = (address(channel, one, is_v6=line.is_v6) for one in (end, other))
            ends = f"[{here}]:7000,[{there}]:7000" if line.is_v6 else f"{here}:7000,{there}:7000"
            command += ["--channel", ends]
        if end == "left" and offer:
            command += ["--offer", offer]
        pipes[end] = subprocess.Popen(
            # Who is left alone finds its channels silent.
            [*command, "--time", f"{seconds + (end == 'right')} s"],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=first_priority if priority else None,  # noqa: PLW1509 - no thread here
        )
    return pipes


def idle_bytes(programs: Programs, lines: list[Line], settle: float, seconds: float) -> list[float]:
    """Return the bytes a day of each channel, both ways, that ends with nothing to send exchange.

    IP and UDP headers are in it. Counting begins when the ends have had `settle` seconds to rest.
    """
    with network(programs, lines) as (names, _):
        pipes = started(programs, names, lines, settle + seconds + 1, (), offer=None)
        time.sleep(settle)
        before = [carried(names["left"], channel) for channel in range(len(lines))]
        time.sleep(seconds)
        after = [carried(names["left"], channel) for channel in range(len(lines))]
        told_by(pipes, settle + seconds)
    return [(last - first) * 86_400 / seconds for first, last in zip(before, after, strict=True)]


def carried(name: str, channel: int) -> int:
    """Return what an interface has carried both ways, without headers of Ethernet."""
    counts = json.loads(ip("-n", name, "-s", "-j", "link", "show", f"wan{channel}"))[0]["stats64"]
    ways = (counts["rx"], counts["tx"])
    return sum(way["bytes"] - ETHERNET_BYTES * way["packets"] for way in ways)


def told_by(pipes: dict[str, subprocess.Popen[str]], seconds: float) -> dict[str, Any]:
    """Return what both ends tell when they stop."""
    try:
        said = {end: pipe.communicate(timeout=seconds + TIMEOUT_S) for end, pipe in pipes.items()}
    finally:
        for pipe in pipes.values():
            pipe.kill()
            pipe.wait()
    return {end: json.loads(out) for end, (out, _) in said.items()}


def first_priority() -> None:
    """Go before all others that are not the kernel's."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


@contextmanager
def network(
    programs: Programs, lines: list[Line]
) -> Iterator[tuple[dict[str, str], list[subprocess.Popen[str]]]]:
    """Make both namespaces and what joins them, and remove all of it."""
    require_programs("ip", "tc")
    if any(line.is_routed or line.is_v6 for line in lines):
        require_programs("sysctl")
    places = (*ENDS, ROUTER) if any(line.is_routed for line in lines) else ENDS
    with namespaces(places) as names, ExitStack() as stack:
        emulators = []
        if any(line.is_v6 for line in lines):
            # It may be turned off where namespaces begin.
            for name in names.values():
                turned_on = [f"net.ipv6.conf.{of}.disable_ipv6=0" for of in ("all", "default")]
                ip("netns", "exec", name, "sysctl", "-qw", *turned_on)
        for channel, line in enumerate(lines):
            if line.is_emulated:
                emulators.append(_emulated(programs, names, channel, line))
                stack.callback(_stopped, emulators[-1])
                _addressed(names, channel, line)
            elif line.is_routed:
                _routed(names, channel, line)
            else:
                joined(names, channel, line)
        yield names, emulators


def _emulated(
    programs: Programs, names: dict[str, str], channel: int, line: Line
) -> subprocess.Popen[str]:
    ends = [f"{names[end]}:wan{channel}" for end in ENDS]
    command = [str(programs.emulator), *ends, *line.options(), "--seed", str(channel + 1)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=first_priority,  # noqa: PLW1509 - no thread here
    )
    assert process.stdout is not None
    ready = process.stdout.readline()
    assert ready, command
    return process


def joined(names: dict[str, str], channel: int, line: Line) -> None:
    """Join both ends by a line that takes no emulator."""
    device = f"wan{channel}"
    peer = ["peer", "name", device, "netns", names["right"]]
    ip("-n", names["left"], "link", "add", device, "type", "veth", *peer)
    for end in ENDS:
        _limited(names[end], device, line)
    _addressed(names, channel, line)


def _limited(name: str, device: str, line: Line) -> None:
    if line.rate is not None:
        limit(name, device, line.rate, line.queue_bytes)


def _routed(names: dict[str, str], channel: int, line: Line) -> None:
    """Join both ends through a router: `wan0` of the left one to `left0` there, and so on."""
    device = f"wan{channel}"
    forwards = "net.ipv6.conf.all.forwarding=1" if line.is_v6 else "net.ipv4.ip_forward=1"
    ip("netns", "exec", names[ROUTER], "sysctl", "-qw", forwards)
    for end, other in (ENDS, ENDS[::-1]):
        there = f"{end}{channel}"
        peer = ["peer", "name", there, "netns", names[ROUTER]]
        ip("-n", names[end], "link", "add", device, "type", "veth", *peer)
        _limited(names[end], device, line)
        here, to_other = (address(channel, one, is_v6=line.is_v6) for one in (end, other))
        _add(names[end], device, f"{here}/{128 if line.is_v6 else 32}")
        for name, one, to in (
            (names[end], device, to_other),
            (names[ROUTER], there, here),
        ):
            ip("-n", name, "link", "set", one, "up")
            ip("-n", name, "route", "add", to, "dev", one)
        for name, one, to, far in (
            (names[end], device, to_other, (names[ROUTER], there)),
            (names[ROUTER], there, here, (names[end], device)),
        ):
            hardware = ["lladdr", hardware_of(*far), "dev", one, "nud", "permanent"]
            ip("-n", name, "neigh", "replace", to, *hardware)


def _addressed(names: dict[str, str], channel: int, line: Line) -> None:
    device = f"wan{channel}"
    for end, other in (ENDS, ENDS[::-1]):
        here, there = (address(channel, one, is_v6=line.is_v6) for one in (end, other))
        _add(names[end], device, f"{here}/{64 if line.is_v6 else 24}")
        ip("-n", names[end], "link", "set", device, "up")
        hardware = ["lladdr", hardware_of(names[other], device), "dev", device, "nud", "permanent"]
        ip("-n", names[end], "neigh", "replace", there, *hardware)


def _add(name: str, device: str, prefix: str) -> None:
    """Give an interface an address, which is its own at once."""
    at_once = ["nodad"] if ":" in prefix else []
    ip("-n", name, "addr", "add", prefix, "dev", device, *at_once)


def address(channel: int, end: str, *, is_v6: bool = False) -> str:
    """Return that of an end of a channel."""
    number = ENDS.index(end) + 1
    return f"fd80:0:0:{channel}::{number}" if is_v6 else f"10.80.{channel}.{number}"


def interfaces(name: str) -> set[str]:
    """Return those that a namespace has."""
    return {link["ifname"] for link in json.loads(ip("-n", name, "-j", "link", "show"))}


def late_share(emulators: list[subprocess.Popen[str]]) -> float:
    """End emulators, and return which share of the frames they moved too late."""
    ways = [_ended(one)[way] for one in emulators for way in ("forth", "back")]
    late, moved = (sum(way[key] for way in ways) for key in ("late", "delivered"))
    return late / moved if moved else 0.0


def _ended(emulator: subprocess.Popen[str]) -> dict[str, Any]:
    emulator.send_signal(signal.SIGTERM)
    out, _ = emulator.communicate(timeout=TIMEOUT_S)
    return dict(json.loads(out.splitlines()[-1]))


def _stopped(emulator: subprocess.Popen[str]) -> None:
    emulator.kill()
    emulator.wait()
    if emulator.stdout is not None:
        emulator.stdout.close()
