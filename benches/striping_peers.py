"""Measure the cost of many idle peers, and of unauthenticated datagrams, to a daemon.

    cargo build --release --package gingham-striped --bins
    cargo build --release --package gingham-stripe-udp --example idle_peers
    sudo .venv/bin/python benches/striping_peers.py target/release

A server has 256 peers of two channels each, over loopback in a network namespace. After the
handshakes the peers are idle; then the processor time of the process that carries packets is
measured, and the memory of both processes together. Garbage has the header of a sealed packet and
comes from one address: 100,000 datagrams of 200 bytes a second, while the peers are idle.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.system.bundles import Daemon, key_file, up  # noqa: E402 - `tests` is not a package
from tests.system.faults import UDP_SEGMENT, resident_kb  # noqa: E402
from tests.system.flows import cpu_seconds  # noqa: E402

from gingham.studies._namespaces import ip, made_in, namespaces  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

ADDRESS = ("127.0.0.1", 7000)
CHANNELS = 2
GARBAGE_BYTES, GARBAGE_A_CALL = 200, 50
# Header of a sealed packet: version 3, first key, channel 0, and a session number not in use.
HEADER = bytes([0x40, 0, 0xFF, 0xFF])


def main() -> None:
    """Run the measurements and print them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the programs were built")
    parser.add_argument("--peers", type=int, default=256)
    parser.add_argument("--settle", type=float, default=90, help="seconds until peers rest")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--garbage", type=int, default=100_000, help="datagrams a second")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, namespaces(["peers"]) as names:
        ip("-n", names["peers"], "link", "set", "lo", "up")
        with running(chosen, Path(folder), names["peers"]) as server:
            time.sleep(chosen.settle)
            told = {"idle": measured(server, chosen.seconds)}
            told["idle"] |= state(server)
            with sending(names["peers"], chosen.garbage) as sender:
                told["garbage"] = measured(server, chosen.seconds)
            told["garbage"] |= state(server) | {"sent": sender()}
    print(json.dumps(told, indent=2))


def write(folder: Path, programs: Path, peers: int) -> tuple[Path, str]:
    """Write the server's configuration; return its path and the server's public key."""
    key = key_file(folder, "server.key", "77" * 32)
    public = said(programs / "striped", "pubkey", str(key)).strip()
    lines = ['name = "many0"', 'addresses = ["10.91.0.1/16"]', 'private-key = "server.key"']
    lines += ["[[channel]]", 'local = "{}:{}"'.format(*ADDRESS)] * CHANNELS
    of_peers = said(programs / "examples" / "idle_peers", "--peers", str(peers), "--keys")
    for number, one in enumerate(of_peers.split()):
        inside = f"10.91.{1 + number // 250}.{1 + number % 250}/32"
        lines += ["[[peer]]", f'public-key = "{one}"', f'allowed-ips = ["{inside}"]']
    path = folder / "server.toml"
    path.write_text("\n".join(lines) + "\n")
    return path, public


def said(program: Path, *words: str) -> str:
    """Run a program and return its output."""
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


@contextmanager
def running(chosen: argparse.Namespace, folder: Path, namespace: str) -> Iterator[Daemon]:
    """Run the server and its peers."""
    programs = chosen.folder.resolve()
    path, public = write(folder, programs, chosen.peers)
    command = ["ip", "netns", "exec", namespace, str(programs / "examples" / "idle_peers")]
    command += ["--peers", str(chosen.peers), "--server", public]
    command += ["--address", "{}:{}".format(*ADDRESS), "--time", "100000"]
    with up(programs / "striped", namespace, path, priority=False) as server:
        peers = subprocess.Popen(command)
        try:
            yield server
        finally:
            peers.kill()
            peers.wait()


def measured(server: Daemon, seconds: float) -> dict[str, Any]:
    """Return the processor time and memory of the server over `seconds`."""
    carrier = server.carrier()
    before, started = cpu_seconds([carrier]), time.monotonic()
    time.sleep(seconds)
    used = (cpu_seconds([carrier]) - before) / (time.monotonic() - started)
    memory_mb = sum(resident_kb(one) for one in (carrier, server.process.pid)) / 1_024
    return {"cpu_percent": round(100 * used, 2), "memory_mb": round(memory_mb, 1)}


def state(server: Daemon) -> dict[str, Any]:
    """Return the number of connected peers, and the counters of unauthenticated sources."""
    told = server.counters()
    channels = [channel["is_in"] for peer in told["peers"] for channel in peer["channels"]]
    return {
        "open": sum(peer["is_open"] for peer in told["peers"]),
        "channels_in": sum(channels),
        "unauthenticated": told["unauthenticated"],
    }


@contextmanager
def sending(namespace: str, per_second: int) -> Iterator[Any]:
    """Send garbage from a child process; yields a function that returns the datagram count."""
    made = made_in(namespace, lambda: socket.socket(type=socket.SOCK_DGRAM))
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        _send(made, per_second, writer)
    os.close(writer)

    def ended() -> int:
        with os.fdopen(reader) as told:
            return int(told.read() or 0)

    try:
        yield ended
    finally:
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
        made.close()


def _send(sender: socket.socket, per_second: int, writer: int) -> None:
    ending: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ending.append(number))
    segment = [(socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("H", GARBAGE_BYTES))]
    started, sent = time.monotonic(), 0
    while not ending:
        rest = bytes(GARBAGE_BYTES - len(HEADER) - 4)
        numbers = range(sent, sent + GARBAGE_A_CALL)
        batch = b"".join(HEADER + struct.pack(">I", number) + rest for number in numbers)
        sender.sendmsg([batch], segment, 0, ADDRESS)
        sent += GARBAGE_A_CALL
        time.sleep(max(0.0, started + sent / per_second - time.monotonic()))
    os.write(writer, str(sent).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
