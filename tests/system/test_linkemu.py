"""`gingham-linkemu` between two real network namespaces, measured by real programs.

Assertions on times test only the guarantee of the link: nothing arrives early.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SEARCH, TIMEOUT_S, require_programs
from tests.system import programs

# Ethernet, IPv4 and ICMP headers of a ping; Ethernet, IPv4 and UDP headers of a datagram.
PING_BYTES = 14 + 20 + 8
UDP_BYTES = 14 + 20 + 8
ADDRESSES = {"left": "10.79.0.1", "right": "10.79.0.2"}


def ip(*words: object) -> str:
    """Run `ip` and return its output."""
    return spoken("ip", *words)


def spoken(program: str, *words: object) -> str:
    command = [str(shutil.which(program, path=SEARCH)), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def program() -> Path:
    """The emulator, built with the profile of the crates' tests."""
    require_programs("ip")
    return programs.checked()["gingham-linkemu"]


@pytest.fixture
def names() -> Iterator[dict[str, str]]:
    """Two namespaces: their names, by end."""
    require_programs("ip", "ping")
    require_root()
    named = {end: f"gingham-{os.getpid()}-{end}" for end in ADDRESSES}
    try:
        for name in named.values():
            ip("netns", "add", name)
            # No IPv6 neighbour discovery, so that only the test sends.
            quiet = "cd /proc/sys/net; ! test -d ipv6 || echo 1 > ipv6/conf/default/disable_ipv6"
            spoken("ip", "netns", "exec", name, "sh", "-c", quiet)
        yield named
    finally:
        for name in named.values():
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def require_root() -> None:
    if os.geteuid() == 0 and os.access("/dev/net/tun", os.W_OK):
        return
    message = "network namespaces and /dev/net/tun take root; to run this test: sudo make test"
    if os.environ.get("GINGHAM_REQUIRE_SYSTEM_TESTS") == "1":
        pytest.fail(message)
    pytest.skip(message)


class Link:
    """A running emulator."""

    def __init__(self, program: Path, names: dict[str, str], options: tuple[str, ...]) -> None:
        """Start it, and give its interfaces addresses and static neighbours (no ARP)."""
        self.names = names
        command = [str(program), names["left"], names["right"], *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.event()["event"] == "ready"
        links = {end: json.loads(self.ip(end, "-j", "link", "show", "tap0")) for end in names}
        for end, other in (("left", "right"), ("right", "left")):
            self.ip(end, "addr", "add", f"{ADDRESSES[end]}/24", "dev", "tap0")
            to = [ADDRESSES[other], "lladdr", links[other][0]["address"], "dev", "tap0"]
            self.ip(end, "neigh", "replace", *to, "nud", "permanent")

    def ip(self, end: str, *words: str) -> str:
        """Run `ip` in the namespace of an end."""
        return ip("-n", self.names[end], *words)

    def event(self) -> dict[str, Any]:
        """Return its next event."""
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))

    def ping(self, count: int, *options: object) -> str:
        """Ping from left to right and return the output, also if replies are missing."""
        require_programs("ping")
        command = ["ip", "netns", "exec", self.names["left"], "ping", "-c", str(count)]
        done = subprocess.run(
            [*command, "-i", "0.005", "-W", "1", *map(str, options), ADDRESSES["right"]],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert "packets transmitted" in done.stdout, done
        return done.stdout

    def end(self, number: signal.Signals = signal.SIGTERM) -> dict[str, Any]:
        """End it by a signal and return its last event."""
        self.process.send_signal(number)
        event = self.event()
        assert self.process.wait(TIMEOUT_S) == 0
        return event


Start = Callable[..., Link]


@pytest.fixture
def link(program: Path, names: dict[str, str]) -> Iterator[Start]:
    """A function that starts a link with options; links end with the test."""
    started: list[Link] = []

    def start(*options: str) -> Link:
        started.append(Link(program, names, options))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()


def shortest_ms(told: str) -> float:
    """Return the shortest round trip of a ping."""
    found = re.search(r"= ([0-9.]+)/", told)
    assert found is not None, told
    return float(found[1])


def returned(told: str) -> list[int]:
    """Return the sequence numbers of the pings that were answered."""
    return sorted(map(int, re.findall(r"icmp_seq=(\d+) ttl", told)))


def test_a_ping_takes_both_delays_and_its_time_on_the_wire(link: Start) -> None:
    started = link("--rate", "8 Mbit/s", "--delay", "15 ms", "--back-delay", "25 ms")
    # A microsecond per byte, each way.
    wire_ms = 2 * (1000 + PING_BYTES) / 1000
    best = shortest_ms(started.ping(40, "-q", "-s", "1000"))
    # The best of 40 is below twice the minimum even on a busy machine.
    assert 40 + wire_ms <= best < 2 * (40 + wire_ms)
    told = started.end()
    assert (told["forth"]["delivered"], told["back"]["delivered"]) == (40, 40)
    assert told["forth"]["delivered_bytes"] == 40 * (1000 + PING_BYTES)


def test_frames_are_lost_at_their_rate_and_the_same_ones_with_the_same_seed(link: Start) -> None:
    count = 400
    options = ("--rate", "1 Gbit/s", "--loss", "0.2", "--back-loss", "0", "--seed", "5")
    first = link(*options)
    came = returned(first.ping(count))
    told = first.end()
    lost = told["forth"]["lost"]
    assert (told["forth"]["offered"], len(came), told["back"]["lost"]) == (count, count - lost, 0)
    # Within five standard deviations: sqrt(400 x 0.2 x 0.8) = 8.
    assert 40 <= lost <= 120
    again = link(*options)
    assert returned(again.ping(count)) == came


def test_datagrams_come_no_faster_than_the_rate(link: Start, names: dict[str, str]) -> None:
    started = link("--rate", "4 Mbit/s", "--queue", "1 MB")
    count, payload_bytes = 150, 1000
    receiver = f"""
import socket, time
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
sink.bind(("{ADDRESSES["right"]}", 7979))
sink.settimeout({TIMEOUT_S})
print("listens", flush=True)
numbers = [int.from_bytes(sink.recv(2000)[:4], "big") for _ in range({count})]
print(time.clock_gettime(time.CLOCK_MONOTONIC), numbers == sorted(numbers), flush=True)
"""
    sender = f"""
import socket, time
source = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print(time.clock_gettime(time.CLOCK_MONOTONIC), flush=True)
for number in range({count}):
    frame = number.to_bytes(4, "big").ljust({payload_bytes}, b"x")
    source.sendto(frame, ("{ADDRESSES["right"]}", 7979))
"""
    inside = ["ip", "netns", "exec"]
    command = [*inside, names["right"], sys.executable, "-c", receiver]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sink:
        assert sink.stdout is not None
        assert sink.stdout.readline() == "listens\n"
        begun = float(spoken("ip", "netns", "exec", names["left"], sys.executable, "-c", sender))
        ended, in_order = sink.stdout.readline().split()
    assert in_order == "True"
    # 4 Mbit/s are half a megabyte per second.
    assert float(ended) - begun >= count * (payload_bytes + UDP_BYTES) / 500_000
    assert started.end()["forth"]["delivered"] == count


def test_a_full_queue_drops_what_it_has_no_room_for(link: Start) -> None:
    started = link("--rate", "80 kbit/s", "--queue", "2 kB")
    # Ten frames of 1,042 B arrive within 50 ms, while half of one leaves: the queue holds one more.
    assert len(returned(started.ping(10, "-s", "1000"))) < 5
    told = started.end()["forth"]
    assert told["queue_full"] > 0
    assert told["offered"] == told["delivered"] + told["queue_full"] + told["under_way"] == 10


def test_the_rate_changes_while_it_runs(link: Start) -> None:
    started = link("--rate", "1 Gbit/s", "--rate-at", "1 ms=80 kbit/s")
    # 100 us per byte, each way, instead of 8 ns.
    wire_ms = 2 * (200 + PING_BYTES) / 10
    assert shortest_ms(started.ping(3, "-q", "-s", "200", "-i", "0.1")) >= wire_ms


def test_counters_are_told_when_asked_for(link: Start) -> None:
    started = link("--rate", "1 Gbit/s", "--duplication", "1")
    started.ping(1)
    started.process.send_signal(signal.SIGUSR1)
    told = started.event()
    assert told["event"] == "counters"
    assert (told["forth"]["offered"], told["forth"]["delivered"]) == (1, 2)
    assert started.end()["event"] == "end"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_and_its_interfaces(link: Start, number: signal.Signals) -> None:
    started = link("--rate", "1 Gbit/s")
    told = started.end(number)
    assert (told["event"], told["because"]) == ("end", number.name)
    assert "tap0" not in started.ip("left", "link") + started.ip("right", "link")


def test_it_ends_when_a_namespace_or_an_interface_is_gone(
    link: Start, names: dict[str, str]
) -> None:
    started = link("--rate", "1 Gbit/s")
    started.ip("right", "link", "del", "tap0")
    assert f"{names['right']}:tap0" in started.event()["because"]
    assert started.process.wait(TIMEOUT_S) == 0
    started = link("--rate", "1 Gbit/s")
    ip("netns", "del", names["right"])
    assert names["right"] in started.event()["because"]
    assert started.process.wait(TIMEOUT_S) == 0


def test_what_cannot_be_is_refused_and_leaves_nothing(program: Path, names: dict[str, str]) -> None:
    def refused(code: int, *words: str) -> str:
        command = [str(program), *words, "--rate", "1 MB/s"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (code, "")
        return done.stderr

    left, right = names["left"], names["right"]
    assert f'"{left}"' in refused(2, left[:-1], right)
    assert "/proc/self/ns/nothing" in refused(2, "/proc/self/ns/nothing", right)
    assert "/proc/self/status" in refused(6, "/proc/self/status", right)
    ip("-n", right, "link", "add", "tap0", "type", "veth", "peer", "name", "tap1")
    assert "tap0" in refused(6, left, right)
    assert "tap0" not in ip("-n", left, "link")
