"""Sends datagrams at a steady rate on an inherited socket, and prints their number.

    python sending.py SOCKET ADDRESS PORT BITS_PER_S SECONDS COUNTED_FROM LENGTH...

Rates and lengths are those of the UDP payload. Each datagram begins with its number and its time of
departure, in nanoseconds of the realtime clock, which the kernel also uses for receive timestamps.
It is a separate process, so that the receiver does not delay it.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time

HEAD = struct.Struct("<QQ")
UDP_SEGMENT = 103
# Interval between sends, and the longest delay that is caught up.
EVERY_S = 1e-3
BURST_S = 4e-3
# Smallest and largest number of datagrams of one length sent in a call.
RUN_MIN, RUN_MAX = 8, 40


def send(
    one: socket.socket, to: tuple[str, int], rate: float, seconds: float, lengths: list[int]
) -> list[float]:
    """Send, and return the time of each datagram since the start, in seconds."""
    gap_s = 8 * sum(lengths) / len(lengths) / rate
    buffers = [bytearray(length) for length in lengths]
    went: list[float] = []
    started = due = time.monotonic()
    while (now := time.monotonic()) < started + seconds:
        due = max(due, now - max(BURST_S, 2 * gap_s))
        count = int((now - due) / gap_s)
        due += count * gap_s
        while count > 0:
            several = min(count, RUN_MAX) if count >= RUN_MIN and len(lengths) == 1 else 1
            stamp, pieces = time.time_ns(), []
            for number in range(len(went), len(went) + several):
                buffer = buffers[number % len(buffers)]
                HEAD.pack_into(buffer, 0, number, stamp)
                pieces.append(bytes(buffer) if several > 1 else buffer)
            segment = struct.pack("H", lengths[0])
            control = [(socket.SOL_UDP, UDP_SEGMENT, segment)] if several > 1 else []
            one.sendmsg(pieces, control, 0, to)
            went += [now - started] * several
            count -= several
        time.sleep(EVERY_S)
    return went


def main() -> None:
    """Send, and print the counts."""
    number, address, port, rate, seconds, counted_from, *lengths = sys.argv[1:]
    one = socket.socket(fileno=int(number))
    to = (address, int(port))
    went = send(one, to, float(rate), float(seconds), [int(length) for length in lengths])
    first = sum(at < float(counted_from) for at in went)
    sys.stdout.write(json.dumps({"sent": len(went), "first_counted": first}))


if __name__ == "__main__":
    main()
