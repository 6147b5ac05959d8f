"""A TCP connection through the pipe that checks that each byte arrives once, in order."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import numpy as np

from gingham.studies._namespaces import TIMEOUT_S
from tests.conftest import wait_until
from tests.system.bundles import ADDRESSES
from tests.system.flows import opened

# Numbers in a block of the stream, of eight bytes each.
BLOCK_NUMBERS = 4_096
CHUNK_BYTES = 1 << 18


@dataclass
class Checked:
    """Progress of the stream, and its first fault, if any."""

    sent_bytes: int = 0
    came_bytes: int = 0
    fault: str | None = None
    # The receiver has read to the end of the stream.
    is_over: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    def goes_on(self, more_bytes: int = 1 << 18) -> None:
        """Wait until `more_bytes` further bytes have arrived."""
        asked = self.came_bytes + more_bytes
        wait_until(lambda: self.fault or self.came_bytes >= asked, "nothing comes any more")
        assert self.fault is None, self.fault

    def ends(self) -> None:
        """Stop sending, and wait until all bytes have arrived."""
        self.ended.set()
        wait_until(lambda: self.fault or self.is_over, "not all comes")

    def send(self, sender: socket.socket, bytes_per_s: float) -> None:
        """Send numbers until the stream ends, at most at this rate."""
        started, number = time.monotonic(), 0
        try:
            while not self.ended.is_set():
                sender.sendall(block(number))
                number += 1
                self.sent_bytes += BLOCK_NUMBERS * 8
                due = started + self.sent_bytes / bytes_per_s
                self.ended.wait(max(0, due - time.monotonic()))
            sender.shutdown(socket.SHUT_WR)
        except OSError as error:
            self.fault = self.fault or f"the sender: {error}"

    def receive(self, receiver: socket.socket) -> None:
        """Read to the end, and compare with the numbers sent."""
        expected, number = b"", 0
        try:
            while data := receiver.recv(CHUNK_BYTES):
                while len(expected) < len(data):
                    expected += block(number)
                    number += 1
                if not expected.startswith(data):
                    self.fault = f"other bytes than were sent, behind {self.came_bytes}"
                    return
                expected = expected[len(data) :]
                self.came_bytes += len(data)
            self.is_over = True
        except OSError as error:
            self.fault = self.fault or f"the receiver: {error}"


def block(number: int) -> bytes:
    """Return a block of the stream: consecutive numbers."""
    first = number * BLOCK_NUMBERS
    return np.arange(first, first + BLOCK_NUMBERS, dtype=">u8").tobytes()


@contextmanager
def checked(
    names: dict[str, str], bytes_per_s: float, *, is_back: bool = False
) -> Iterator[Checked]:
    """Run a stream from left to right, or back; fail at the end unless all bytes have arrived."""
    one, other, listener = opened(names, ADDRESSES["right"], socket.IPPROTO_TCP)
    listener.close()
    # No timeout: outages last longer than the one for opening a connection.
    one.settimeout(None)
    sender, receiver = (other, one) if is_back else (one, other)
    flow = Checked()
    threads = [
        threading.Thread(target=flow.send, args=(sender, bytes_per_s)),
        threading.Thread(target=flow.receive, args=(receiver,)),
    ]
    for thread in threads:
        thread.start()
    try:
        yield flow
        flow.ended.set()
        for thread in threads:
            thread.join(TIMEOUT_S)
    finally:
        flow.ended.set()
        for each in (sender, receiver):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for each in (sender, receiver):
            each.close()
    assert flow.fault is None, flow.fault
    assert flow.came_bytes == flow.sent_bytes > 0, flow
