"""Measure throughput and processor time of two daemons over raw Ethernet.

    sudo .venv/bin/python benches/striping_ethernet.py target/release/striped

One TCP connection runs from left to right, between network namespaces joined by veth pairs: with
frames as long as the kernel aggregates packets, with frames cut in user space, and over lines of 10
and 20 Mbit/s. CPU seconds are those of both daemons together.
"""

from __future__ import annotations

import argparse
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from gingham.studies._namespaces import ENDS, made_in
from gingham_studies.adiseshu1996.real.ends import ADDRESSES, both_ends
from gingham_studies.adiseshu1996.real.lines import shaped

PORT = 5_002
CHUNK_BYTES = 1 << 20
# TCP payload of a packet of 1,500 bytes, and length of its frame.
SEGMENT_BYTES, FRAME_BYTES = 1_448, 1_514
WHOLE_BYTES = 65_535
ROWS: dict[str, tuple[tuple[float, ...], list[int], dict[str, Any]]] = {
    "two pairs, frames whole": ((0, 0), [WHOLE_BYTES] * 2, {"offload": True}),
    "two pairs, frames of 1,500": ((0, 0), [48_000] * 2, {}),
    "10 + 20 Mbit/s": ((10, 20), [1_500, 3_000], {}),
}


def main() -> None:
    """Measure each row and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("daemon", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    chosen = parser.parse_args()
    for name, (rates, quanta, changes) in ROWS.items():
        with (
            shaped(rates) as names,
            both_ends(chosen.daemon.resolve(), names, len(rates), quanta, **changes) as running,
        ):
            bits_per_s = carried(names, chosen.seconds)
            told = {end: running[end].ended() for end in ENDS}
        gigabytes = told["left"]["sent_bytes"] / 1e9
        cpu = sum(one["cpu_seconds"] for one in told.values()) / gigabytes
        most = sum(rates) * 1e6 * SEGMENT_BYTES / FRAME_BYTES
        share = f", {bits_per_s / most:.3f} of the sum" if most else ""
        lost = told["left"]["sent_packets"] - told["right"]["received_packets"]
        print(
            f"{name}: {bits_per_s / 1e6:,.1f} Mbit/s{share}, {cpu:.2f} CPU s/GB, "
            f"{lost} packets lost"
        )


def carried(names: dict[str, str], seconds: float) -> float:
    """Return the rate of a connection in bit/s, without its first two seconds."""

    def listening() -> socket.socket:
        one = socket.socket()
        one.bind((ADDRESSES["right"], PORT))
        one.listen()
        return one

    with made_in(names["right"], listening) as listener:
        sender = made_in(names["left"], socket.socket)
        sender.connect((ADDRESSES["right"], PORT))
        receiver, _ = listener.accept()
    ends_at = time.monotonic() + seconds + 2

    def send() -> None:
        data = bytes(CHUNK_BYTES)
        with sender, suppress(OSError):
            while time.monotonic() < ends_at:
                sender.sendall(data)

    thread = threading.Thread(target=send)
    thread.start()
    buffer = bytearray(CHUNK_BYTES)
    total, begun, last = 0, 0.0, time.monotonic()
    with receiver:
        while count := receiver.recv_into(buffer):
            last = time.monotonic()
            if last > ends_at - seconds:
                begun = begun or last
                total += count
    thread.join()
    return total * 8 / (last - begun)


if __name__ == "__main__":
    main()
