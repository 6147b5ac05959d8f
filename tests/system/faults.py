"""Faults of two daemons: a misbehaving relay on the path, and unauthenticated senders.

```
  left:  10.80.0.1:7000 ====== 10.80.0.2:7001 [relay] any port ------ 10.80.0.2:7000  :right
```

A relay works as a NAT: it forwards datagrams of the left end from a port of its own, and back. It
runs at the right end, so that no third namespace is needed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import random
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gingham.studies._namespaces import ENDS, ip, made_in
from tests.system import bundles
from tests.system.bundles import KEYS
from tests.system.pipes import address, interfaces

DAEMON_PORT, RELAY_PORT = 7000, 7001
# Number of datagrams per direction that a relay stores for replay.
REMEMBERED = 2_000
# A datagram that is held back goes after this number of others, or after this time.
OVERTAKEN_BY, HELD_S = 3, 0.02
DATAGRAM_BYTES_MAX = 1 << 16
# Constants of Linux, which older versions of Python lack.
SOL_UDP, UDP_SEGMENT, SO_SNDBUFFORCE = 17, 103, 32
# Length of an initiation, offset and length of its first MAC, and datagrams per call.
INITIATION_BYTES, MAC1_AT, MAC_BYTES, AT_ONCE = 166, 110, 16, 64


def written(folder: Path, channels: int, relayed: int = 0, **changes: Any) -> dict[str, Path]:
    """Write the configurations and keys of both ends; the first channels go through relays.

    The right end learns the left end's address of these channels from datagrams.
    """
    paths = bundles.written(folder, channels, **changes)
    texts = {end: path.read_text() for end, path in paths.items()}
    for channel in range(relayed):
        ends = {end: f'remote = "{address(channel, end)}:{DAEMON_PORT}"\n' for end in ENDS}
        relay = f'remote = "{address(channel, "right")}:{RELAY_PORT}"\n'
        texts["left"] = replaced(texts["left"], ends["right"], relay)
        texts["right"] = replaced(texts["right"], ends["left"], "")
    for end, path in paths.items():
        path.write_text(texts[end])
    return paths


def by_interfaces(path: Path, channels: int) -> None:
    """Bind the left end's channels to interfaces, whose addresses may change."""
    text = path.read_text()
    for channel in range(channels):
        local = f'local = "{address(channel, "left")}:{DAEMON_PORT}"'
        text = replaced(text, local, f'interface = "wan{channel}"')
    path.write_text(text)


def replaced(text: str, old: str, new: str) -> str:
    """Return a text with its only occurrence of `old` replaced."""
    assert text.count(old) == 1, (old, text)
    return text.replace(old, new)


@dataclass
class Tricks:
    """Faults that a relay injects, each with its probability per datagram.

    Made-up datagrams are sent in addition: of genuine ones only `lost` ones do not arrive.
    """

    lost: float = 0
    replayed: float = 0
    truncated: float = 0
    forged: float = 0
    overtaken: float = 0
    # Whether every datagram is changed to another version of the protocol.
    other_version: bool = False


class Relay:
    """A relay on the path of a channel, as a NAT is."""

    def __init__(self, namespace: str, channel: int, seed: int = 1) -> None:
        """Start to forward datagrams."""
        self.tricks = Tricks()
        self._place, self._namespace = address(channel, "right"), namespace
        self._random = random.Random(seed)  # noqa: S311 - what befalls them, no keys
        self._near = self._socket(RELAY_PORT)
        self._far = self._socket(0)
        self._left: tuple[str, int] | None = None
        self._remembered: dict[bool, deque[bytes]] = {
            way: deque(maxlen=REMEMBERED) for way in (True, False)
        }
        # Datagrams held back, each with the time and the count of others after which it goes.
        self._held: list[tuple[float, int, bool, bytes]] = []
        self._passed = 0
        self._forgets, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def forget(self) -> None:
        """Use another port towards the right end from now on, and close the old one."""
        self._forgets.set()
        while self._forgets.is_set():
            time.sleep(0.001)

    def end(self) -> None:
        """Stop forwarding, and close the sockets."""
        self._ended.set()
        self._thread.join()
        for one in (self._near, self._far):
            one.close()

    def _socket(self, port: int) -> socket.socket:
        made = made_in(self._namespace, lambda: socket.socket(type=socket.SOCK_DGRAM))
        made.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 << 20)
        made.bind((self._place, port))
        made.setblocking(False)
        return made

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._forgets.is_set():
                before, self._far = self._far, self._socket(0)
                before.close()
                self._forgets.clear()
            readable, _, _ = select.select([self._near, self._far], [], [], HELD_S)
            for one in readable:
                self._drain(one)
            self._release()

    def _drain(self, one: socket.socket) -> None:
        is_forth = one is self._near
        for _ in range(AT_ONCE):
            try:
                datagram, sender = one.recvfrom(DATAGRAM_BYTES_MAX)
            except OSError:
                # The queue is empty, or a daemon that has just ended refuses datagrams.
                return
            if is_forth:
                self._left = sender
            self._take(is_forth, datagram)

    def _take(self, is_forth: bool, datagram: bytes) -> None:
        tricks, chance = self.tricks, self._random.random
        remembered = self._remembered[is_forth]
        remembered.append(datagram)
        if tricks.other_version:
            datagram = bytes([datagram[0] ^ 0x70]) + datagram[1:]
        if tricks.replayed > chance():
            self._send(is_forth, self._random.choice(remembered))
        if tricks.truncated > chance():
            self._send(is_forth, datagram[: self._random.randrange(len(datagram))])
        if tricks.forged > chance():
            changed = bytearray(datagram)
            changed[self._random.randrange(len(changed))] ^= 1 << self._random.randrange(8)
            self._send(is_forth, bytes(changed))
        if tricks.lost > chance():
            return
        if tricks.overtaken > chance():
            due = (time.monotonic() + HELD_S, self._passed + OVERTAKEN_BY)
            self._held.append((*due, is_forth, datagram))
            return
        self._send(is_forth, datagram)
        self._passed += 1
        self._release()

    def _release(self) -> None:
        while self._held and (
            self._held[0][0] <= time.monotonic() or self._held[0][1] <= self._passed
        ):
            _, _, is_forth, datagram = self._held.pop(0)
            self._send(is_forth, datagram)

    def _send(self, is_forth: bool, datagram: bytes) -> None:
        # Datagrams to a full queue or a closed port are lost, as on any path.
        with suppress(OSError):
            if is_forth:
                self._far.sendto(datagram, (self._place, DAEMON_PORT))
            elif self._left is not None:
                self._near.sendto(datagram, self._left)


@contextmanager
def relays(names: dict[str, str], channels: int, seed: int = 1) -> Iterator[list[Relay]]:
    """Run relays on the first channels."""
    made: list[Relay] = []
    try:
        for channel in range(channels):
            made.append(Relay(names["right"], channel, seed + channel))  # noqa: PERF401 - each is ended
        yield made
    finally:
        for one in made:
            one.end()


@dataclass
class Garbage:
    """Amount of garbage sent."""

    datagrams: int = 0
    seconds: float = 0


def pour(
    namespace: str, to: tuple[str, int], per_second: int, seconds: float, end: str = "right"
) -> Garbage:
    """Send unauthenticated datagrams to an end, evenly, at `per_second`.

    In rotation they are random bytes, an apparent sealed packet, and an initiation with a valid
    first MAC, which requires only the public key.
    """
    made = made_in(namespace, lambda: socket.socket(type=socket.SOCK_DGRAM))
    made.setsockopt(SOL_UDP, UDP_SEGMENT, INITIATION_BYTES)
    made.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 << 20)
    calls = [b"".join(_strange(kind, end) for _ in range(AT_ONCE)) for kind in range(12)]
    poured, started = Garbage(), time.monotonic()
    with made:
        while (past := time.monotonic() - started) < seconds:
            if poured.datagrams > past * per_second:
                time.sleep(AT_ONCE / per_second)
                continue
            # Datagrams to a full queue count as sent: they are lost on the link.
            with suppress(OSError):
                made.sendto(calls[poured.datagrams // AT_ONCE % len(calls)], to)
            poured.datagrams += AT_ONCE
    poured.seconds = time.monotonic() - started
    return poured


def _strange(kind: int, end: str) -> bytes:
    by_chance = os.urandom(INITIATION_BYTES)
    if kind % 3 == 0:
        return by_chance
    if kind % 3 == 1:
        # Version 3, index 0, a packet of channel 0.
        return bytes([0x40, 0]) + by_chance[2:]
    message = bytes([0x43, 2, 0, 0]) + by_chance[4:MAC1_AT]
    key = hashlib.sha256(b"gingham mac1" + bytes.fromhex(KEYS[end][1])).digest()
    mac1 = hmac.digest(key, message, "sha256")[:MAC_BYTES]
    return message + mac1 + by_chance[MAC1_AT + MAC_BYTES :]


def left_behind(names: dict[str, str]) -> dict[str, Any]:
    """Return the interfaces, rules and routes of both ends, which a test must not change."""
    told: dict[str, Any] = {}
    for end in ENDS:
        told[f"{end} interfaces"] = interfaces(names[end])
        for family in ("-4", "-6"):
            for what in (["rule", "show"], ["route", "show", "table", "all"]):
                words = ["-n", names[end], "-j", family, *what]
                told[f"{end} {family} {what[0]}"] = json.loads(ip(*words))
    return told


@contextmanager
def nothing_left(names: dict[str, str]) -> Iterator[None]:
    """Fail if interfaces, rules or routes differ at the end; relays need loopback."""
    ip("-n", names["right"], "link", "set", "lo", "up")
    before = left_behind(names)
    yield
    assert left_behind(names) == before


def resident_kb(process: int) -> int:
    """Return the resident memory of a process, in kB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def descriptors(process: int) -> int:
    """Return the number of open descriptors of a process."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))
