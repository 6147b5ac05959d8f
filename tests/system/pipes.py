"""Two ends of a pipe over UDP, in network namespaces joined by shaped links.

    left   pipe ══ 0: veth, tbf at both ends              (without a delay)         ══ pipe   right
                ══ 1: TAP ══ gingham-linkemu ══ TAP       (with a delay)            ══

If emulators deliver more than two in a thousand frames over a millisecond late, the run has
measured the machine, and is repeated.
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
# Largest share of late frames, above which a run is repeated, and the number of attempts.
# With 6 of 1,000 late 100 + 300, 10 ms, 64 kB carried .913, with 2 .940, with fewer .945 to .958.
LATE_SHARE_MAX = 0.002
RUNS_MAX = 4
# Headers before a packet: Ethernet, IPv4, UDP, and 12 bytes of the pipe's own.
ETHERNET_BYTES = 14
HEADER_BYTES = 14 + 20 + 8 + 12
PACKET_BYTES = 1500 - 20 - 8 - 12
# Real-time priority, above all processes except the kernel's.
PRIORITY = 10


@dataclass(frozen=True)
class Line:
    """A channel: its rate in Mbit/s, its delay one way in ms, and the bytes of its queue.

    It goes through a router in a third namespace if `is_routed`, and over IPv6 if `is_v6`.
    `emulated` is further options of the emulator.

    Without a rate it is an unshaped veth. Jitter, in ms, is added to the delay; loss is the
    probability per frame; an outage, in seconds from and until, passes nothing.
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
        """Whether it needs the emulator, beyond `tbf`."""
        return bool(self.delay or self.jitter or self.loss or self.outage)

    def options(self) -> list[str]:
        """Return the options of the emulator for this line."""
        options = ["--rate", f"{self.rate} Mbit/s", "--delay", f"{self.delay} ms"]
        options += ["--queue", f"{self.queue_bytes} B", "--loss", f"{self.loss}"]
        options += ["--jitter", f"{self.jitter} ms"]
        if self.outage:
            options += ["--outage", "{} s..{} s".format(*self.outage)]
        return [*options, *self.emulated]


@dataclass(frozen=True)
class Programs:
    """Programs under test."""

    pipe: Path
    emulator: Path

    @classmethod
    def of(cls, folder: Path) -> Programs:
        """Return the programs of a build folder such as `target/release`."""
        return cls(folder / "examples" / "pipe", folder / "gingham-linkemu")

    @classmethod
    def built(cls) -> Programs:
        """Build both with the profile of the crates' tests."""
        made = programs.checked()
        return cls(made["pipe"], made["gingham-linkemu"])


class LateError(Exception):
    """The emulators were late in every run; the report of the last run is attached."""

    def __init__(self, told: dict[str, Any]) -> None:
        """Store the report."""
        super().__init__(f"{told['emulated_late_share']:.3f} of the frames were moved late")
        self.told = told


def sum_of(lines: list[Line]) -> float:
    """Return the capacity of all lines for packets, in bits per second."""
    rates = sum(line.rate or 0 for line in lines)
    return rates * 1e6 * PACKET_BYTES / (PACKET_BYTES + HEADER_BYTES)


def run(
    programs: Programs,
    lines: list[Line],
    seconds: float,
    *options: str,
    priority: bool = True,
) -> dict[str, Any]:
    """Saturate the pipe from left to right; return the reports of both ends and the emulators."""
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
    """Start both ends, which stop by themselves; the left one sends the load `offer`."""
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
            # The right end runs longer, since an end without its peer finds its channels silent.
            [*command, "--time", f"{seconds + (end == 'right')} s"],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=first_priority if priority else None,  # noqa: PLW1509 - no thread here
        )
    return pipes


def idle_bytes(programs: Programs, lines: list[Line], settle: float, seconds: float) -> list[float]:
    """Return the bytes per day of each idle channel, both directions together.

    IP and UDP headers are included. Counting begins after `settle` seconds.
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
    """Return the bytes of an interface in both directions, without Ethernet headers."""
    counts = json.loads(ip("-n", name, "-s", "-j", "link", "show", f"wan{channel}"))[0]["stats64"]
    ways = (counts["rx"], counts["tx"])
    return sum(way["bytes"] - ETHERNET_BYTES * way["packets"] for way in ways)


def told_by(pipes: dict[str, subprocess.Popen[str]], seconds: float) -> dict[str, Any]:
    """Return the reports of both ends when they stop."""
    try:
        said = {end: pipe.communicate(timeout=seconds + TIMEOUT_S) for end, pipe in pipes.items()}
    finally:
        for pipe in pipes.values():
            pipe.kill()
            pipe.wait()
    return {end: json.loads(out) for end, (out, _) in said.items()}


def first_priority() -> None:
    """Give this process the first real-time priority after the kernel's."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


@contextmanager
def network(
    programs: Programs, lines: list[Line]
) -> Iterator[tuple[dict[str, str], list[subprocess.Popen[str]]]]:
    """Create the namespaces and the lines between them, and remove them at the end."""
    require_programs("ip", "tc")
    if any(line.is_routed or line.is_v6 for line in lines):
        require_programs("sysctl")
    places = (*ENDS, ROUTER) if any(line.is_routed for line in lines) else ENDS
    with namespaces(places) as names, ExitStack() as stack:
        emulators = []
        if any(line.is_v6 for line in lines):
            # New namespaces may have IPv6 disabled.
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
    """Join both ends by a line without an emulator."""
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
    """Give an interface an address, usable at once (no duplicate address detection)."""
    at_once = ["nodad"] if ":" in prefix else []
    ip("-n", name, "addr", "add", prefix, "dev", device, *at_once)


def address(channel: int, end: str, *, is_v6: bool = False) -> str:
    """Return the address of an end of a channel."""
    number = ENDS.index(end) + 1
    return f"fd80:0:0:{channel}::{number}" if is_v6 else f"10.80.{channel}.{number}"


def interfaces(name: str) -> set[str]:
    """Return the names of the interfaces of a namespace."""
    return {link["ifname"] for link in json.loads(ip("-n", name, "-j", "link", "show"))}


def late_share(emulators: list[subprocess.Popen[str]]) -> float:
    """End the emulators, and return the share of frames that they delivered late."""
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
