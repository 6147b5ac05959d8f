"""A relay between two ends, which forwards frames and drops a share of them on command.

::

    left  wan0 ---- l0 :middle: r0 ---- wan0  right
          wan1 ---- l1 :      : r1 ---- wan1

It recognises markers and reads the numbers of packets. The first packet that must be in order again
(theorem 5.1) follows from these alone, without a clock.
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
# The number of a packet has eight bytes, after the headers of Ethernet, IPv4 and UDP.
NUMBER_AT = HEADER_BYTES + 20 + 8
NUMBER_END = NUMBER_AT + 8
# Offset of the destination port.
PORT_AT = HEADER_BYTES + 20 + 2
PORT = 7_000
# A frame holds consecutive messages: the letters GS, version, kind, eight further bytes, a body
# with a length that depends on the kind, and a checksum of four bytes.
LETTERS = b"GS"
MARKER = 1
BODIES = {MARKER: 52, 2: 4, 3: 0, 4: 0, 5: 16, 6: 16, 7: 60, 8: 12}
BESIDE_BODY_BYTES = 16
LOOK_S = 0.05
# Socket buffers for seconds without a read, so that only the relay drops frames, on command.
BUFFER_BYTES = 1 << 24
SO_RCVBUFFORCE = 33


def has_marker(messages: bytes) -> bool:
    """Whether any of the messages is a marker."""
    while messages.startswith(LETTERS) and len(messages) > BESIDE_BODY_BYTES:
        kind = messages[3]
        if kind == MARKER:
            return True
        messages = messages[BODIES.get(kind, len(messages)) + BESIDE_BODY_BYTES :]
    return False


@dataclass
class Relay:
    """Forwards frames, and drops a share of those from left to right."""

    sockets: list[tuple[socket.socket, socket.socket]]
    loss: float = 0
    # Latest number received on each channel, whether forwarded or dropped.
    newest: dict[int, int] = field(default_factory=dict)
    # Set when a marker has been forwarded on each channel since the last command.
    passed: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _marked: set[int] = field(default_factory=set)
    _over: threading.Event = field(default_factory=threading.Event)
    _random: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311

    def run(self) -> None:
        """Forward frames until `end` is called."""
        ways: dict[socket.socket, tuple[int, socket.socket, bool]] = {}
        for channel, (left, right) in enumerate(self.sockets):
            ways[left] = (channel, right, True)
            ways[right] = (channel, left, False)
        while not self._over.is_set():
            for one in select.select(list(ways), [], [], LOOK_S)[0]:
                channel, other, is_forth = ways[one]
                frame = one.recv(1 << 16)
                # Commands take effect between two frames.
                with self._lock:
                    passes = not is_forth or self._passes(channel, frame)
                if passes:
                    other.send(frame)

    def _passes(self, channel: int, frame: bytes) -> bool:
        """Record markers and numbers of a frame; return whether it is forwarded."""
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
        """Drop this share from now on, and wait again for a marker on each channel.

        Return a number such that all packets up to it have been received. Channels are read in
        turn: older packets of another channel may still be waiting, and can be dropped from now on.
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
        """End the relay."""
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
