"""Traffic through a pipe: a TCP connection with one write per packet, and numbered packets."""

from __future__ import annotations

import array
import fcntl
import itertools
import random
import socket
import struct
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from gingham.studies._namespaces import TIMEOUT_S, made_in
from gingham_studies.adiseshu1996.real.ends import ADDRESSES, DEVICE
from gingham_studies.adiseshu1996.real.relay import BUFFER_BYTES, PORT, SO_RCVBUFFORCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham_studies.adiseshu1996.real.ends import End

TCP_PORT = 5_001
# Headers of IPv4 and of TCP with time stamps.
HEADER_BYTES = 20 + 32
# From linux/sockios.h and linux/ethtool.h: TCP and generic segmentation offload, turned off.
SIOCETHTOOL = 0x8946
ETHTOOL_STSO, ETHTOOL_SGSO = 0x1F, 0x24
CHUNK_BYTES = 1 << 16
# Seconds at the start of a transfer that are not measured: TCP's slow start.
WARM_UP_S = 2.0


def connection(names: dict[str, str]) -> tuple[socket.socket, socket.socket]:
    """Open a connection from left to right that sends each write as one segment."""
    for name in names.values():
        made_in(name, _cut_nothing)

    def listening() -> socket.socket:
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind((ADDRESSES["right"], TCP_PORT))
        one.listen()
        one.settimeout(TIMEOUT_S)
        return one

    with made_in(names["right"], listening) as listener:
        sender = made_in(names["left"], socket.socket)
        sender.settimeout(TIMEOUT_S)
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sender.connect((ADDRESSES["right"], TCP_PORT))
        receiver, _ = listener.accept()
    receiver.settimeout(TIMEOUT_S)
    return sender, receiver


def _cut_nothing() -> bool:
    """Turn off segmentation offload, which merges writes below TCP."""
    with socket.socket() as one:
        for command in (ETHTOOL_STSO, ETHTOOL_SGSO):
            value = array.array("B", struct.pack("II", command, 0))
            place = struct.pack("16sP8x", DEVICE.encode(), value.buffer_info()[0])
            fcntl.ioctl(one, SIOCETHTOOL, place)
    return True


def goodput_mbit(names: dict[str, str], packets: Sequence[int], seconds: float) -> float:
    """Return TCP's rate with packets of these lengths in turn, in Mbit/s of packets."""
    sender, receiver = connection(names)
    writes = [bytes(length - HEADER_BYTES) for length in packets]
    over = threading.Event()

    def send() -> None:
        # The other end closes first.
        with sender, suppress(OSError):
            for write in itertools.cycle(writes):
                # A segment that ends a record is not extended by later writes.
                sender.sendmsg([write], [], socket.MSG_EOR)
                if over.is_set():
                    return

    thread = threading.Thread(target=send)
    thread.start()
    with receiver:
        _received(receiver, WARM_UP_S)
        bytes_per_s = _received(receiver, seconds)
        over.set()
    thread.join()
    payload = sum(len(write) for write in writes)
    return bytes_per_s * 8e-6 * sum(packets) / payload


def _received(receiver: socket.socket, seconds: float) -> float:
    """Return the rate received over this time, in bytes per second."""
    begun = last = time.monotonic()
    total = 0
    while last - begun < seconds:
        total += len(receiver.recv(CHUNK_BYTES))
        last = time.monotonic()
    return total / (last - begun)


def whole_share(names: dict[str, str], victim: End, total: int) -> float:
    """Return the share of a transfer received in order if an end is killed meanwhile."""
    sender, receiver = connection(names)
    pattern = bytes(range(251))
    data = pattern * (total // len(pattern))
    thread = threading.Thread(target=_sent, args=(sender, data))
    thread.start()
    came = 0
    is_killed = False
    with sender, receiver:
        while came < len(data) and (chunk := receiver.recv(CHUNK_BYTES)):
            if chunk != data[came : came + len(chunk)]:
                break
            came += len(chunk)
            if not is_killed and came > len(data) // 4:
                victim.killed_and_started()
                is_killed = True
        thread.join()
    return came / len(data) if is_killed else 0.0


def _sent(sender: socket.socket, data: bytes) -> None:
    with suppress(OSError):
        sender.sendall(data)


class Numbers:
    """Numbered UDP packets of random lengths, a millisecond apart."""

    def __init__(self, names: dict[str, str]) -> None:
        """Start sending and receiving."""
        self.came: list[int] = []
        self._over = threading.Event()
        self._receiver = made_in(names["right"], _bound)
        self._sender = made_in(names["left"], _connected)
        self._threads = [threading.Thread(target=one) for one in (self._receive, self._send)]
        for thread in self._threads:
            thread.start()

    def end(self) -> list[int]:
        """Stop; return the numbers in order of arrival."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._sender.close()
        self._receiver.close()
        return self.came

    def _send(self) -> None:
        draws = random.Random(2)  # noqa: S311  (no secret)
        for number in itertools.count():
            if self._over.is_set():
                return
            self._sender.send(number.to_bytes(8, "big") + bytes(draws.randrange(1_400)))
            time.sleep(0.001)

    def _receive(self) -> None:
        with suppress(TimeoutError):
            while True:
                self.came.append(int.from_bytes(self._receiver.recv(CHUNK_BYTES)[:8], "big"))


def _bound() -> socket.socket:
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    one.bind((ADDRESSES["right"], PORT))
    # Much longer than a packet waits: no packet is left.
    one.settimeout(2)
    return one


def _connected() -> socket.socket:
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.connect((ADDRESSES["right"], PORT))
    return one
