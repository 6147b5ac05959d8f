"""A relay between two ends that passes frames on and drops those it is commanded to.

::

    left  wan0 ---- l0 :middle: r0 ---- wan0  right
          wan1 ---- l1 :      : r1 ---- wan1

It sees which frame is a marker and which packet has which number: by that alone it is known from
which packet on order is to hold (theorem 5.1), and no clock is asked.
"""

from __future__ import annotations

import random
import select
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gingham.studies._namespaces import ENDS, ip, made_in, namespaces

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKETS, MESSAGES = 0x88B5, 0x88B6
EVERY = 0x0003
SOL_PACKET, PACKET_IGNORE_OUTGOING = 263, 23
HEADER_BYTES = 14
# Headers of Ethernet, IPv4 and UDP stand before the number of a packet, which has eight bytes.
NUMBER_AT = HEADER_BYTES + 20 + 8
NUMBER_END = NUMBER_AT + 8
# Where the port is to which it goes.
PORT_AT = HEADER_BYTES + 20 + 2
PORT = 7_000
# Messages stand one behind the other: the letters GS, a version, a kind, eight bytes more, a body
# of so many bytes by kind, a check of four.
LETTERS = b"GS"
MARKER = 1
BODIES = {MARKER: 52, 2: 4, 3: 0, 4: 0, 5: 16, 6: 16, 7: 60, 8: 12}
BESIDE_BODY_BYTES = 16
LOOK_S = 0.05
# For seconds in which nobody comes to read: what is lost is lost by whoever is told to.
BUFFER_BYTES = 1 << 24
SO_RCVBUFFORCE = 33


def has_marker(messages: bytes) -> bool:
    """Whether one of some messages is a marker."""
    while messages.startswith(LETTERS) and len(messages) > BESIDE_BODY_BYTES:
        kind = messages[3]
        if kind == MARKER:
            return True
        messages = messages[BODIES.get(kind, len(messages)) + BESIDE_BODY_BYTES :]
    return False


@dataclass
class Relay:
    """Passes frames on, and loses of those from left to right a share."""

    sockets: list[tuple[socket.socket, socket.socket]]
    loss: float = 0
    # The newest number that has come on each channel, passed on or not.
    newest: dict[int, int] = field(default_factory=dict)
    # Whether a marker has passed on each channel since the last command.
    passed: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _marked: set[int] = field(default_factory=set)
    _over: threading.Event = field(default_factory=threading.Event)
    _random: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311

    def run(self) -> None:
        """Pass frames on until it is over."""
        ways: dict[socket.socket, tuple[int, socket.socket, bool]] = {}
        for channel, (left, right) in enumerate(self.sockets):
            ways[left] = (channel, right, True)
            ways[right] = (channel, left, False)
        while not self._over.is_set():
            for one in select.select(list(ways), [], [], LOOK_S)[0]:
                channel, other, is_forth = ways[one]
                frame = one.recv(1 << 16)
                # A command takes effect between two frames, never within one.
                with self._lock:
                    passes = not is_forth or self._passes(channel, frame)
                if passes:
                    other.send(frame)

    def _passes(self, channel: int, frame: bytes) -> bool:
        """Record the kind of a frame; return whether it goes on."""
        kind = int.from_bytes(frame[HEADER_BYTES - 2 : HEADER_BYTES], "big")
        if kind == PACKETS and frame[PORT_AT : PORT_AT + 2] == PORT.to_bytes(2, "big"):
            self.newest[channel] = int.from_bytes(frame[NUMBER_AT:NUMBER_END], "big")
        if self.loss and self._random.random() < self.loss:
            return False
        if kind == MESSAGES and not self.loss and has_marker(frame[HEADER_BYTES:]):
            self._marked.add(channel)
            if len(self._marked) == len(self.sockets):
                self.passed.set()
        return True

    def lose(self, share: float) -> int:
        """Drop this share from now on, and wait anew for a marker a channel.

        Return a number up to which all have come. Channels are read in turn: the newest number of
        one may be here while older ones of another wait to be read, and are lost from now on.
        """
        with self._lock:
            self.passed.clear()
            self._marked.clear()
            self.loss = share
            return min(self._newest())

    def begins(self) -> int:
        """Return the number after the highest received on any channel."""
        with self._lock:
            return max(self._newest()) + 1

    def _newest(self) -> list[int]:
        return [self.newest.get(channel, -1) for channel in range(len(self.sockets))]

    def end(self) -> None:
        """End it."""
        self._over.set()


@contextmanager
def relayed(channels: int) -> Iterator[tuple[dict[str, str], Relay]]:
    """Join two namespaces by `channels` lines through a relay in a third."""
    with namespaces((*ENDS, "middle")) as names:
        for channel in range(channels):
            for end in ENDS:
                inner, device = f"{end[0]}{channel}", f"wan{channel}"
                pair = ["type", "veth", "peer", "name", device, "netns", names[end]]
                ip("-n", names["middle"], "link", "add", inner, *pair)
                ip("-n", names["middle"], "link", "set", inner, "up")
                ip("-n", names[end], "link", "set", device, "up")

        def opened() -> list[tuple[socket.socket, socket.socket]]:
            return [(_tap(f"l{channel}"), _tap(f"r{channel}")) for channel in range(channels)]

        relay = Relay(made_in(names["middle"], opened))
        thread = threading.Thread(target=relay.run)
        thread.start()
        try:
            yield names, relay
        finally:
            relay.end()
            thread.join()
            for one in (one for pair in relay.sockets for one in pair):
                one.close()


def _tap(device: str) -> socket.socket:
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY))
    tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    tap.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    tap.bind((device, 0))
    return tap
