"""Two daemons between real network namespaces, an end each, and TCP through what they make.

```
  left:  bundle0 10.90.0.1 == wan0 10.80.0.1 ---- 10.80.0.2 wan0 == bundle0 10.90.0.2  :right
                           == wan1 10.80.1.1 ---- 10.80.1.2 wan1 ==
```

Lines are those of `pipes`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from gingham.studies._namespaces import ENDS, SEARCH, TIMEOUT_S
from tests.conftest import require_programs, wait_until
from tests.system import programs
from tests.system.flows import connection
from tests.system.pipes import Line, first_priority

# The longest that goes over Ethernet: 1,500 less the headers of IPv4 and UDP, the tag of a copy and
# the check of the cipher.
MTU = 1500 - 28 - 20 - 16
# What TCP has of a packet of that length, and what a line sees of it: Ethernet's header, IPv4's and
# UDP's, the tag and the check, the packet.
SEGMENT_BYTES = MTU - 20 - 32
FRAME_BYTES = 14 + 28 + 12 + 16 + MTU
CHUNK_BYTES = 1 << 16
ADDRESSES = {"left": "10.90.0.1", "right": "10.90.0.2"}


def built(*options: str) -> Path:
    """Build the daemon as the tests of the crates build it, or with options of its own."""
    package = ("--package", "gingham-striped", "--bins")
    made = programs.built(*package, *options) if options else programs.checked()
    return made["striped"]


# Private keys of both ends and of somebody else, and their public keys: X25519 of bytes that count
# from 0, 32 and 64 on.
KEYS = {
    "left": (
        bytes(range(32)).hex(),
        "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f",
    ),
    "right": (
        bytes(range(32, 64)).hex(),
        "358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254",
    ),
    "other": (
        bytes(range(64, 96)).hex(),
        "79a631eede1bf9c98f12032cdeadd0e7a079398fc786b88cc846ec89af85a51a",
    ),
}


def key_file(folder: Path, name: str, secret: str) -> Path:
    """Write a key that its owner alone may read."""
    path = folder / name
    path.touch(mode=0o600)
    path.write_text(secret + "\n")
    return path


def key_files(folder: Path) -> None:
    """Write the keys of all, each in a file of its own."""
    for name, (secret, _) in KEYS.items():
        key_file(folder, f"{name}.key", secret)


def config(end: str, channels: int, peer: dict[str, Any] | None = None, **changes: Any) -> str:
    """Return the configuration of an end, with other values of keys, of the other end too."""
    number, other = ENDS.index(end) + 1, 2 - ENDS.index(end)
    values: dict[str, Any] = {
        "name": "bundle0",
        "addresses": [f"{ADDRESSES[end]}/24"],
        "mtu": MTU,
        "private-key": f"{end}.key",
    }
    of_peer = {"public-key": KEYS[ENDS[other - 1]][1]} | (peer or {})
    lines = [f"{key} = {json.dumps(value)}" for key, value in (values | changes).items()]
    lines += ["[peer]", *(f"{key} = {json.dumps(value)}" for key, value in of_peer.items())]
    for channel in range(channels):
        lines += ["[[channel]]", f'local = "10.80.{channel}.{number}:7000"']
        lines += [f'remote = "10.80.{channel}.{other}:7000"']
    return "\n".join(lines) + "\n"


def written(folder: Path, channels: int, **changes: Any) -> dict[str, Path]:
    """Write a configuration an end, with their keys."""
    key_files(folder)
    paths = {end: folder / f"{end}.toml" for end in ENDS}
    for end, path in paths.items():
        path.write_text(config(end, channels, **changes))
    return paths


@dataclass
class Daemon:
    """A daemon, running."""

    process: subprocess.Popen[str]
    # What it says beside events: a file, since a pipe that nobody reads would stop it.
    log: Path

    def ended(self) -> dict[str, Any]:
        """End it as `kill` does, and return what it tells."""
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=TIMEOUT_S)
        assert self.process.returncode == 0, self.log.read_text()
        return told(out.splitlines()[-1])

    def discarded(self) -> None:
        """Kill it, if it still runs, and wait until the other half has ended too."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None and not self.process.stdout.closed:
            self.process.stdout.read()
            self.process.stdout.close()

    def carriers(self) -> list[int]:
        """Return the processes of the halves that carry packets, in the order of their bundles."""
        process = self.process.pid
        children = Path(f"/proc/{process}/task/{process}/children").read_text()
        return [int(child) for child in children.split()]

    def carrier(self) -> int:
        """Return the process of the half that carries packets, where there is one."""
        (carrier,) = self.carriers()
        return carrier

    def counters(self) -> dict[str, Any]:
        """Return what it has counted so far."""
        self.process.send_signal(signal.SIGUSR1)
        assert self.process.stdout is not None
        return told(self.process.stdout.readline())

    def is_carrying(self) -> bool:
        """Whether the other end has answered, on all channels."""
        counted = self.counters()
        return bool(counted["is_open"] and all(one["is_in"] for one in counted["channels"]))

    def killed(self) -> None:
        """End it as `kill -9` does, and wait until the half that it ran has ended too."""
        carrier = self.carrier()
        self.process.kill()
        self.process.wait()
        wait_until(lambda: process_status(carrier).get("State", "Z").startswith("Z"))


def process_status(process: int) -> dict[str, str]:
    """Return what the kernel tells of a process, which is nothing where there is none."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in lines)


def started(
    program: Path,
    namespace: str,
    *paths: Path,
    priority: bool = True,
    stdout: int | IO[str] = subprocess.PIPE,
    environment: dict[str, str] | None = None,
) -> Daemon:
    """Start a daemon, before all others or not, and wait until all its bundles are ready.

    If its events go elsewhere than into a pipe, nobody waits.
    """
    log = paths[0].with_suffix(".log")
    with log.open("a") as said:
        process = subprocess.Popen(
            command(program, namespace, *paths),
            stdout=stdout,
            stderr=said,
            text=True,
            env={**os.environ, **(environment or {})},
            preexec_fn=first_priority if priority else None,  # noqa: PLW1509 - no thread here takes locks
        )
    daemon = Daemon(process, log)
    if process.stdout is not None and not all(process.stdout.readline() for _ in paths):
        daemon.discarded()
        raise AssertionError(log.read_text())
    return daemon


@contextmanager
def up(program: Path, namespace: str, *paths: Path, **how: Any) -> Iterator[Daemon]:
    """Run a daemon, and kill it if it is not ended inside."""
    daemon = started(program, namespace, *paths, **how)
    try:
        yield daemon
    finally:
        daemon.discarded()


@contextmanager
def daemons(
    program: Path, names: dict[str, str], configs: dict[str, Path], *, priority: bool = True
) -> Iterator[dict[str, Daemon]]:
    """Run a daemon an end, before all others or not, and kill what is not ended inside."""
    with ExitStack() as stack:
        yield {
            end: stack.enter_context(up(program, names[end], configs[end], priority=priority))
            for end in ENDS
        }


def command(program: Path, namespace: str, *paths: Path) -> list[str]:
    """Return how an end is run."""
    require_programs("ip")
    runtime = str(runtime_of(paths[0]))
    inside = ["ip", "netns", "exec", namespace]
    return [*inside, str(program), "up", "--runtime-directory", runtime, *map(str, paths)]


def runtime_of(path: Path) -> Path:
    """Return where the daemon of a configuration is asked: both ends have the same names."""
    return path.with_suffix(".run")


def told(line: str) -> dict[str, Any]:
    """Return an event of a daemon, with what it says of its first peer beside it."""
    event: dict[str, Any] = json.loads(line)
    return dict(next(iter(event.get("peers", [])), {})) | event


def refusal(program: Path, namespace: str, path: Path) -> str:
    """Return what is said of a configuration that cannot be right."""
    done = subprocess.run(
        command(program, namespace, path),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env={**os.environ, "PATH": SEARCH},
    )
    assert done.returncode == 2, done
    assert done.stdout == ""
    return done.stderr


@dataclass
class Transfer:
    """What a connection carried: bits a second from a time on, and whether it was what was sent."""

    bits_per_s: float
    total_bytes: int
    is_whole: bool


def transfer(names: dict[str, str], seconds: float, counted_from: float) -> Transfer:
    """Send for so long over one connection of CUBIC, and count what came after the first while."""
    sender, receiver = connection(names, ADDRESSES["right"])
    sent: list[int] = []
    pattern = bytes(range(251)) * (CHUNK_BYTES // 251)

    def send() -> None:
        ends_at, total = time.monotonic() + seconds, 0
        with sender, suppress(OSError):
            while time.monotonic() < ends_at:
                sender.sendall(pattern)
                total += len(pattern)
        sent.append(total)

    thread = threading.Thread(target=send)
    thread.start()
    total, counted, is_whole = 0, 0, True
    started = last = time.monotonic()
    with receiver:
        while data := receiver.recv(CHUNK_BYTES):
            last = time.monotonic()
            at = total % 251
            is_whole = is_whole and data == (pattern + pattern)[at : at + len(data)]
            total += len(data)
            if last - started > counted_from:
                counted += len(data)
    thread.join()
    whole = is_whole and sent == [total]
    return Transfer(counted * 8 / (last - started - counted_from), total, whole)


def sum_of(lines: list[Line]) -> float:
    """Return what all lines carry of TCP, in bits a second."""
    return sum(line.rate or 0 for line in lines) * 1e6 * SEGMENT_BYTES / FRAME_BYTES


def ask(
    program: Path, namespace: str, command: str, *options: str, of: Path
) -> subprocess.CompletedProcess[str]:
    """Ask the daemon of a configuration, as a user does."""
    require_programs("ip")
    return subprocess.run(
        ["ip", "netns", "exec", namespace, program, command, *options],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env={**os.environ, "PATH": SEARCH, "RUNTIME_DIRECTORY": str(runtime_of(of))},
    )
