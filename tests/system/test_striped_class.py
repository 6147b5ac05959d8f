"""Outer DSCP and ECN: the fields of datagrams on channels, and the effect of marks on the path.

A rule of nftables at the right end marks arriving datagrams, as a router with a queue would.
"""

from __future__ import annotations

import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gingham.studies._namespaces import ENDS, ip, made_in
from tests.conftest import require_programs, wait_until
from tests.system import test_striped_tcp as over_tcp
from tests.system.bundles import ADDRESSES, daemons, refusal, transfer, written
from tests.system.conftest import LINES

ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 0x0003, 0x0800, 0x86DD
TRANSPORTS = (socket.IPPROTO_UDP, socket.IPPROTO_TCP)
UDP_PORT = 7000
ECT = 0b10


def over_v6(names: dict[str, str], folder: Path, **changes: Any) -> dict[str, Path]:
    """Write configurations with channels over IPv6, and give both ends addresses for them."""
    require_programs("sysctl")
    paths = written(folder, len(LINES), mtu=1_400, **changes)
    for line in range(len(LINES)):
        for number, end in enumerate(ENDS, 1):
            device, address = f"wan{line}", f"fd00:80:{line}::{number}"
            on = f"net.ipv6.conf.{device}.disable_ipv6=0"
            ip("netns", "exec", names[end], "sysctl", "-qw", on)
            ip("-n", names[end], "addr", "add", f"{address}/64", "dev", device, "nodad")
            for path in paths.values():
                text = path.read_text().replace(f"10.80.{line}.{number}:", f"[{address}]:")
                path.write_text(text)
    return paths


def marked(namespace: str, which: str) -> None:
    """Mark arriving datagrams of channels whose ECN field is `which`."""
    require_programs("nft")
    fields = [f"{family} ecn {which} {family} ecn set ce" for family in ("ip", "ip6")]
    rules = "\n".join(f"udp dport {UDP_PORT} {field}" for field in fields)
    hook = "type filter hook prerouting priority mangle;"
    text = f"table inet marks {{\nchain came {{\n{hook}\n{rules}\n}}\n}}\n"
    ip("netns", "exec", namespace, "nft", text)


def delivered_ce(namespace: str) -> int:
    """Return the number of sent segments that were acknowledged as marked."""
    text = made_in(namespace, Path("/proc/thread-self/net/netstat").read_text)
    names, values = (line.split() for line in text.splitlines() if line.startswith("TcpExt:"))
    return int(values[names.index("TCPDeliveredCE")])


@pytest.mark.parametrize("family", [4, 6])
def test_a_mark_of_the_way_is_heard_by_the_tcp_inside(
    program: Path, names: dict[str, str], tmp_path: Path, family: int
) -> None:
    require_programs("nft", "sysctl")
    paths = over_v6(names, tmp_path) if family == 6 else written(tmp_path, len(LINES))
    for name in names.values():
        ip("netns", "exec", name, "sysctl", "-qw", "net.ipv4.tcp_ecn=1")
    with daemons(program, names, paths) as running:
        wait_until(running["left"].is_carrying, "one line never came in")
        assert transfer(names, 1, 0).is_whole
        assert running["right"].counters()["ecn"]["marked"] == 0
        before = delivered_ce(names["left"])
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(transfer, names, 3, 0)
            # A connection whose packets are all marked may need one channel only. Both carry
            # packets when the marks begin.
            time.sleep(1)
            marked(names["right"], "ect0")
            assert sent.result().is_whole
        told = {end: running[end].ended() for end in ENDS}
    assert told["right"]["ecn"]["marked"] > 10, told
    assert all(channel["marked"] > 0 for channel in told["right"]["channels"]), told
    assert told["right"]["ecn"]["dropped"] == told["right"]["ecn"]["unexpected"] == 0, told
    assert delivered_ce(names["left"]) - before > 10
    # Only the right end has the rule.
    assert told["left"]["ecn"]["marked"] == 0, told


def test_what_was_marked_and_reads_no_marks_is_dropped_and_counted(
    program: Path, names: dict[str, str], tmp_path: Path
) -> None:
    require_programs("nft", "ping")
    with daemons(program, names, written(tmp_path, len(LINES))) as running:
        wait_until(running["left"].is_carrying, "one line never came in")
        marked(names["right"], "not-ect")
        assert not pinged(names["left"], ADDRESSES["right"], "0")
        # An ECN-capable packet arrives.
        assert pinged(names["left"], ADDRESSES["right"], str(ECT))
        told = running["right"].ended()
    assert told["ecn"]["dropped"] == told["ecn"]["unexpected"] == 3, told
    # Messages of the protocol were marked too, and were understood.
    assert all(channel["strange"] == 0 for channel in told["channels"]), told


def pinged(namespace: str, address: str, tos: str) -> bool:
    """Return whether at least one of three pings with this traffic class is answered."""
    require_programs("ping")
    command = ["ip", "netns", "exec", namespace, "ping", "-Q", tos, "-c", "3", "-i", "0.2"]
    done = subprocess.run([*command, "-W", "1", address], capture_output=True, check=False)
    return done.returncode == 0


class Wire:
    """Capture of the packets that an interface receives, from the IP header on."""

    def __init__(self, namespace: str, device: str) -> None:
        """Start the capture."""

        def made() -> socket.socket:
            return socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)

        self.socket = made_in(namespace, made)
        self.socket.bind((device, ETH_P_ALL))
        self.socket.setblocking(False)

    def classes(self) -> set[int]:
        """Return the traffic classes of the captured UDP and TCP packets, and close the capture."""
        found: set[int] = set()
        while True:
            try:
                packet, (_, protocol, kind, *_) = self.socket.recvfrom(2_048)
            except BlockingIOError:
                self.socket.close()
                return found
            if kind == socket.PACKET_OUTGOING:
                continue
            if protocol == ETH_P_IP and packet[9] in TRANSPORTS:
                found.add(packet[1])
            elif protocol == ETH_P_IPV6 and packet[6] in TRANSPORTS:
                found.add((packet[0] << 4 | packet[1] >> 4) & 0xFF)


@pytest.mark.parametrize(
    ("way", "dscp", "expected"),
    [
        # Messages of the protocol, and an ECN-capable packet of class 10 << 2.
        ("udp", 0, {0, ECT}),
        ("udp", 46, {46 << 2, 46 << 2 | ECT}),
        ("udp6", 46, {46 << 2, 46 << 2 | ECT}),
        ("udp", "copy", {0, 10 << 2 | ECT}),
        # One class per connection; ECN belongs to the TCP connection itself.
        ("tcp", 46, {46 << 2}),
    ],
)
def test_all_that_goes_has_the_dscp(
    program: Path,
    names: dict[str, str],
    tmp_path: Path,
    way: str,
    dscp: int | str,
    expected: set[int],
) -> None:
    require_programs("ping")
    paths = {
        "udp": lambda: written(tmp_path, len(LINES), dscp=dscp),
        "udp6": lambda: over_v6(names, tmp_path, dscp=dscp),
        "tcp": lambda: over_tcp.written(tmp_path, dscp=dscp),
    }[way]()
    # Captures at both ends start before the handshake, since handshakes have the class too.
    wires = [Wire(names[end], f"wan{line}") for end in ENDS for line in range(len(LINES))]
    with daemons(program, names, paths) as running:
        wait_until(running["left"].is_carrying, "one line never came in")
        assert pinged(names["left"], ADDRESSES["right"], str(10 << 2 | ECT))
        classes: dict[str, set[int]] = {end: set() for end in ENDS}
        for number, wire in enumerate(wires):
            classes[ENDS[number // len(LINES)]] |= wire.classes()
    # A reply to a ping has the class of its request.
    assert classes == dict.fromkeys(ENDS, expected)


@pytest.mark.parametrize("dscp", [64, -1, "best"])
def test_what_is_no_dscp_is_refused(
    program: Path, names: dict[str, str], tmp_path: Path, dscp: int | str
) -> None:
    path = written(tmp_path, len(LINES), dscp=dscp)["left"]
    said = refusal(program, names["left"], path)
    assert said.startswith(f"striped: {path}:5:8: in `dscp`: "), said
    assert "63" in said, said
    assert '"copy"' in said, said
