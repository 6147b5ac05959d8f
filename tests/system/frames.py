"""Two daemons over raw Ethernet, and what loses frames between them when it is told to.

```
  left:  stripe0 10.90.0.1 == wan0 ---- l0 :middle: r0 ---- wan0 == stripe0 10.90.0.2  :right
                           == wan1 ---- l1 :      : r1 ---- wan1 ==
```

Whoever stands in the middle sees which frame is a marker and which packet has which number: by that
alone it is known from which packet on order is to hold (theorem 5.1), and no clock is asked.
"""

from __future__ import annotations

import json
import os
import random
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tests.system.bundles import CLONE_NEWNET, LIBC
from tests.system.pipes import ENDS, ip

PACKETS, MESSAGES = 0x88B5, 0x88B6
EVERY = 0x0003
SOL_PACKET, PACKET_IGNORE_OUTGOING = 263, 23
HEADER_BYTES = 14
# Headers of Ethernet, IPv4 and UDP stand before the number of a packet.
NUMBER_AT = HEADER_BYTES + 20 + 8
PORT = 7_000
Made = TypeVar("Made")
# A message begins with whom it is to, and a marker, as a message to a receiver is but a reset.
TO_RECEIVER = 0


def address(name: str, device: str) -> str:
    """Return the MAC address of an interface."""
    return str(json.loads(ip("-n", name, "-j", "link", "show", device))[0]["address"])


def config(
    end: str,
    peers: list[str],
    quanta: list[int] | None = None,
    **changes: Any,
) -> str:
    """Return the configuration of an end, with other values of keys."""
    values: dict[str, Any] = {
        "name": "stripe0",
        "addresses": [f"10.90.0.{ENDS.index(end) + 1}/24"],
        "mtu": 1500,
        "allow-plaintext": True,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in (values | changes).items()]
    for channel, peer in enumerate(peers):
        lines += ["[[channel]]", f'ethernet = "wan{channel}"', f'peer = "{peer}"']
        lines += [f"quantum-bytes = {quanta[channel]}"] if quanta else []
    return "\n".join(lines) + "\n"


def written(
    folder: Path,
    names: dict[str, str],
    channels: int,
    quanta: list[int] | None = None,
    **changes: Any,
) -> dict[str, Path]:
    """Write a configuration an end, with the addresses that interfaces have."""
    paths = {end: folder / f"{end}.toml" for end in ENDS}
    for end, other in (ENDS, ENDS[::-1]):
        peers = [address(names[other], f"wan{channel}") for channel in range(channels)]
        paths[end].write_text(config(end, peers, quanta, **changes))
    return paths


def made_in(namespace: str, make: Callable[[], Made]) -> Made:
    """Return what a thread makes that goes into a namespace and ends."""
    made: list[Made] = []

    def run() -> None:
        with Path("/run/netns", namespace).open() as file:
            assert LIBC.setns(file.fileno(), CLONE_NEWNET) == 0
        made.append(make())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return made[0]


@dataclass
class Relay:
    """Passes frames on, and loses of those from left to right what it is told to."""

    sockets: list[tuple[socket.socket, socket.socket]]
    loss: float = 0
    newest: int = -1
    marked: set[int] = field(default_factory=set)
    passed: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)
    _random: random.Random = field(default_factory=lambda: random.Random(1))

    def run(self) -> None:
        """Pass frames on until it is over."""
        ways: dict[socket.socket, tuple[int, socket.socket, bool]] = {}
        for channel, (left, right) in enumerate(self.sockets):
            ways[left] = (channel, right, True)
            ways[right] = (channel, left, False)
        while not self._over.is_set():
            for one in select.select(list(ways), [], [], 0.05)[0]:
                channel, other, is_forth = ways[one]
                frame = one.recv(1 << 16)
                if is_forth and not self._passes(channel, frame):
                    continue
                other.send(frame)

    def _passes(self, channel: int, frame: bytes) -> bool:
        """Note what a frame is; whether it goes on."""
        kind = int.from_bytes(frame[12:HEADER_BYTES])
        if kind == PACKETS and frame[NUMBER_AT - 6 : NUMBER_AT - 4] == PORT.to_bytes(2):
            self.newest = int.from_bytes(frame[NUMBER_AT : NUMBER_AT + 8])
        if self.loss and self._random.random() < self.loss:
            return False
        if kind == MESSAGES and frame[HEADER_BYTES] == TO_RECEIVER and not self.loss:
            self.marked.add(channel)
            if len(self.marked) == len(self.sockets):
                self.passed.set()
        return True

    def lose(self, share: float) -> None:
        """Lose so much from now on, and wait anew for a marker on each channel."""
        self.passed.clear()
        self.marked.clear()
        self.loss = share

    def end(self) -> None:
        """End it."""
        self._over.set()


@contextmanager
def relayed(channels: int) -> Iterator[tuple[dict[str, str], Relay]]:
    """Make all three namespaces and what passes frames on, and remove all of it."""
    names = {end: f"gingham-{os.getpid()}-{end}" for end in (*ENDS, "middle")}
    with ExitStack() as stack:
        for name in names.values():
            stack.callback(ip, "netns", "del", name)
            ip("netns", "add", name)
            quiet = "cd /proc/sys/net; ! test -d ipv6 || echo 1 > ipv6/conf/default/disable_ipv6"
            ip("netns", "exec", name, "sh", "-c", quiet)
        for channel in range(channels):
            for end in ENDS:
                inner, peer = f"{end[0]}{channel}", f"wan{channel}"
                pair = ["type", "veth", "peer", "name", peer, "netns", names[end]]
                ip("-n", names["middle"], "link", "add", inner, *pair)
                ip("-n", names["middle"], "link", "set", inner, "up")
                ip("-n", names[end], "link", "set", peer, "up")

        def opened() -> list[tuple[socket.socket, socket.socket]]:
            return [(_tap(f"l{channel}"), _tap(f"r{channel}")) for channel in range(channels)]

        relay = Relay(made_in(names["middle"], opened))
        thread = threading.Thread(target=relay.run)
        thread.start()
        stack.callback(_closed, relay, thread)
        yield names, relay


def _tap(device: str) -> socket.socket:
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY))
    tap.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    tap.bind((device, 0))
    return tap


def _closed(relay: Relay, thread: threading.Thread) -> None:
    relay.end()
    thread.join()
    for pair in relay.sockets:
        for one in pair:
            one.close()


def numbered(names: dict[str, str]) -> tuple[socket.socket, socket.socket]:
    """Return a socket of UDP at the left that sends to one at the right."""

    def receiving() -> socket.socket:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        one.bind(("10.90.0.2", PORT))
        return one

    def sending() -> socket.socket:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.connect(("10.90.0.2", PORT))
        return one

    return made_in(names["left"], sending), made_in(names["right"], receiving)
