"""Traffic between two namespaces and its measurement: TCP, datagrams, interface counters."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from gingham.studies._namespaces import TIMEOUT_S, enter, made_in
from tests.system.pipes import PRIORITY
from tests.system.sending import HEAD

PORT = 5001
CHUNK_BYTES = 1 << 18
BUFFER_BYTES = 8 << 20
# Constants of Linux, which older versions of Python lack.
SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35
TIMESPEC = struct.Struct("qq")
NS_PER_S, NS_PER_MS = 1_000_000_000, 1e6
# Interval between samples.
SAMPLE_S = 0.02
# Silence after the end of the sender that ends the reception.
SILENCE_S = 1.0


def connection(names: dict[str, str], address: str) -> tuple[socket.socket, socket.socket]:
    """Open a connection from left to an address at the right, and return both ends of it."""
    sender, receiver, listener = opened(names, address, socket.IPPROTO_TCP)
    listener.close()
    return sender, receiver


def opened(
    names: dict[str, str], address: str, protocol: int
) -> tuple[socket.socket, socket.socket, socket.socket]:
    """Return both ends of a connection, and the listener, which subflows of MPTCP need."""

    def made() -> socket.socket:
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)

    listener = made_in(names["right"], made)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Any address, because a subflow goes to another one.
    listener.bind(("", PORT))
    listener.listen()
    listener.settimeout(TIMEOUT_S)
    sender = made_in(names["left"], made)
    sender.settimeout(TIMEOUT_S)
    sender.connect((address, PORT))
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    return sender, listener.accept()[0], listener


@dataclass
class Course:
    """Time series of a byte counter, by seconds of the monotonic clock."""

    times: list[float] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)

    def add(self, at: float, total: int) -> None:
        """Add a sample."""
        self.times.append(at)
        self.totals.append(total)

    def total(self, at: float) -> float:
        """Return the counter at a time, by linear interpolation between samples."""
        place = bisect_left(self.times, at)
        if place in {0, len(self.times)}:
            return float(self.totals[min(place, len(self.totals) - 1)]) if self.totals else 0.0
        (first, last), (before, after) = (
            self.times[place - 1 : place + 1],
            self.totals[place - 1 : place + 1],
        )
        return before + (after - before) * (at - first) / (last - first)

    def bits_per_s(self, start: float, end: float) -> float:
        """Return the mean rate between two times."""
        return 8 * (self.total(end) - self.total(start)) / (end - start)


def stream(
    names: dict[str, str], address: str, seconds: float, protocol: int = socket.IPPROTO_TCP
) -> Course:
    """Saturate one CUBIC connection, and return the time series of received bytes."""
    sender, receiver, listener = opened(names, address, protocol)
    course = Course()
    ends_at = time.monotonic() + seconds

    def send() -> None:
        chunk = bytes(CHUNK_BYTES)
        sender.settimeout(SAMPLE_S)
        while time.monotonic() < ends_at:
            with suppress(TimeoutError, ConnectionError):
                sender.send(chunk)

    thread = threading.Thread(target=send)
    thread.start()
    buffer, total, now = bytearray(CHUNK_BYTES), 0, time.monotonic()
    course.add(now, 0)
    receiver.settimeout(SAMPLE_S)
    with receiver, listener:
        while now < ends_at:
            with suppress(TimeoutError):
                total += receiver.recv_into(buffer)
            now = time.monotonic()
            if now - course.times[-1] >= SAMPLE_S:
                course.add(now, total)
    # Bytes still in flight do not count: closing resets the connection.
    thread.join()
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sender.close()
    return course


@dataclass
class Datagrams:
    """Results of the datagrams sent from `counted_from` on.

    `too_slow` counts those lost to a slow receiver, which measures the machine.
    """

    sent: int
    came: int
    out_of_order: int
    delay_p99_ms: float
    too_slow: int


def datagrams(
    names: dict[str, str],
    address: str,
    rate: float,
    seconds: float,
    counted_from: float,
    lengths: tuple[int, ...] = (1_400,),
) -> Datagrams:
    """Send datagrams at a rate in bits per second, and return their results."""
    receiver = made_in(names["right"], lambda: socket.socket(type=socket.SOCK_DGRAM))
    sender = made_in(names["left"], lambda: socket.socket(type=socket.SOCK_DGRAM))
    with receiver, sender:
        for one in (receiver, sender):
            one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        receiver.bind((address, PORT))
        receiver.settimeout(SILENCE_S)
        script = Path(__file__).with_name("sending.py")
        told = [sender.fileno(), address, PORT, rate, seconds, counted_from, *lengths]
        process = subprocess.Popen(
            [sys.executable, str(script), *map(str, told)],
            pass_fds=[sender.fileno()],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=second_priority,  # noqa: PLW1509 - what other threads there are, wait
        )
        try:
            numbers, delays = _received(receiver, process)
            out, _ = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()
            process.wait()
        too_slow = made_in(names["right"], _dropped)
    return _judged(numbers, delays, too_slow, **json.loads(out))


def second_priority() -> None:
    """Give this process the priority below the daemons; senders and receivers need little time."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY - 1))


def _dropped() -> int:
    """Return the number of datagrams dropped at full sockets of this namespace."""
    lines = Path("/proc/thread-self/net/udp").read_text().splitlines()[1:]
    return sum(int(line.split()[-1]) for line in lines if line.split()[1].endswith(f":{PORT:04X}"))


def _received(
    receiver: socket.socket, process: subprocess.Popen[str]
) -> tuple[list[int], list[int]]:
    """Return numbers and delays, in nanoseconds, in the order of arrival.

    They are read by a thread with `second_priority`.
    """
    found: list[tuple[list[int], list[int]]] = []

    def receive() -> None:
        second_priority()
        found.append(_read(receiver, process))

    thread = threading.Thread(target=receive)
    thread.start()
    thread.join()
    return found[0]


def _read(receiver: socket.socket, process: subprocess.Popen[str]) -> tuple[list[int], list[int]]:
    numbers: list[int] = []
    delays: list[int] = []
    while True:
        try:
            data, [(_, _, stamp)], _, _ = receiver.recvmsg(2_048, 64)
        except TimeoutError:
            if process.poll() is not None:
                return numbers, delays
            continue
        number, sent_at = HEAD.unpack_from(data)
        seconds, nanoseconds = TIMESPEC.unpack(stamp)
        numbers.append(number)
        delays.append(seconds * NS_PER_S + nanoseconds - sent_at)


def _judged(
    numbers: list[int], delays: list[int], too_slow: int, sent: int, first_counted: int
) -> Datagrams:
    """Evaluate datagrams; one is out of order if a later one arrived before it (RFC 4737)."""
    counted = [pair for pair in zip(numbers, delays, strict=True) if pair[0] >= first_counted]
    out_of_order, next_number = 0, 0
    for number, _ in counted:
        out_of_order += number < next_number
        next_number = max(next_number, number + 1)
    ordered = sorted(delay for _, delay in counted)
    p99 = ordered[int(0.99 * (len(ordered) - 1))] / NS_PER_MS if ordered else float("inf")
    came = len({number for number, _ in counted})
    return Datagrams(sent - first_counted, came, out_of_order, p99, too_slow)


@contextmanager
def watched(namespace: str, devices: list[str]) -> Iterator[list[Course]]:
    """Sample the bytes received by interfaces of a namespace while the context is open."""
    courses, ended = [Course() for _ in devices], threading.Event()

    def watch() -> None:
        enter(namespace)
        while not ended.wait(SAMPLE_S):
            lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
            came = {
                name.strip(): int(rest.split()[0])
                for name, colon, rest in (line.partition(":") for line in lines)
                if colon
            }
            for device, course in zip(devices, courses, strict=True):
                course.add(time.monotonic(), came[device])

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield courses
    finally:
        ended.set()
        thread.join()


def cpu_seconds(pids: list[int]) -> float:
    """Return the user and system CPU time of processes."""
    ticks = 0
    for pid in pids:
        values = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
        ticks += int(values[11]) + int(values[12])
    return ticks / os.sysconf("SC_CLK_TCK")
