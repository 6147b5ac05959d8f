"""Two daemons in network namespaces, one at each end of a bundle, and TCP through it.

```
  left:  bundle0 10.90.0.1 == wan0 10.80.0.1 ---- 10.80.0.2 wan0 == bundle0 10.90.0.2  :right
                           == wan1 10.80.1.1 ---- 10.80.1.2 wan1 ==
```

The links between the namespaces are those of `pipes`.
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

# The longest inner packet over Ethernet: 1,500 less the headers of IPv4 and UDP, the tag of a
# retransmission and the authentication tag.
MTU = 1500 - 28 - 20 - 16
# TCP payload of a packet of that length, and its frame on the link: headers of Ethernet, IPv4 and
# UDP, tag and authentication tag, packet.
SEGMENT_BYTES = MTU - 20 - 32
FRAME_BYTES = 14 + 28 + 12 + 16 + MTU
CHUNK_BYTES = 1 << 16
ADDRESSES = {"left": "10.90.0.1", "right": "10.90.0.2"}


def built(*options: str) -> Path:
    """Build the daemon as the tests of the crates build it, or with options of its own."""
    package = ("--package", "gingham-striped", "--bins")
    made = programs.built(*package, *options) if options else programs.checked()
    return made["striped"]


# Private and public X25519 keys of both ends and of a third party: the private keys are bytes that
# count from 0, 32 and 64.
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
    """Write a key file that only its owner can read."""
    path = folder / name
    path.touch(mode=0o600)
    path.write_text(secret + "\n")
    return path


def key_files(folder: Path) -> None:
    """Write every private key to its own file."""
    for name, (secret, _) in KEYS.items():
        key_file(folder, f"{name}.key", secret)


def config(end: str, channels: int, peer: dict[str, Any] | None = None, **changes: Any) -> str:
    """Return the configuration of an end; `changes` and `peer` override keys."""
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
    """Write the configurations and keys of both ends; return the paths by end."""
    key_files(folder)
    paths = {end: folder / f"{end}.toml" for end in ENDS}
    for end, path in paths.items():
        path.write_text(config(end, channels, **changes))
    return paths


@dataclass
class Daemon:
    """A running daemon."""

    process: subprocess.Popen[str]
    # Standard error: a file, because an unread pipe would block the daemon.
    log: Path

    def ended(self) -> dict[str, Any]:
        """End it by SIGTERM, and return its last event."""
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=TIMEOUT_S)
        assert self.process.returncode == 0, self.log.read_text()
        return told(out.splitlines()[-1])

    def discarded(self) -> None:
        """Kill it, if it still runs, and wait until its tunnel processes have ended too."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None and not self.process.stdout.closed:
            self.process.stdout.read()
            self.process.stdout.close()

    def carriers(self) -> list[int]:
        """Return the ids of the tunnel processes, in the order of their bundles."""
        process = self.process.pid
        children = Path(f"/proc/{process}/task/{process}/children").read_text()
        return [int(child) for child in children.split()]

    def carrier(self) -> int:
        """Return the id of the only tunnel process."""
        (carrier,) = self.carriers()
        return carrier

    def counters(self) -> dict[str, Any]:
        """Return its present counters."""
        self.process.send_signal(signal.SIGUSR1)
        assert self.process.stdout is not None
        return told(self.process.stdout.readline())

    def is_carrying(self) -> bool:
        """Return whether the pipe is open, with all channels in."""
        counted = self.counters()
        return bool(counted["is_open"] and all(one["is_in"] for one in counted["channels"]))

    def killed(self) -> None:
        """End the monitor by SIGKILL, and wait until its tunnel process has ended too."""
        carrier = self.carrier()
        self.process.kill()
        self.process.wait()
        wait_until(lambda: process_status(carrier).get("State", "Z").startswith("Z"))


def process_status(process: int) -> dict[str, str]:
    """Return the fields of `/proc/PID/status`, or nothing if the process does not exist."""
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
    """Start a daemon, by default with real-time priority, and wait until its bundles are ready.

    It does not wait if the events go elsewhere than into a pipe.
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
    """Run a daemon, and kill it at the end if it still runs."""
    daemon = started(program, namespace, *paths, **how)
    try:
        yield daemon
    finally:
        daemon.discarded()


@contextmanager
def daemons(
    program: Path, names: dict[str, str], configs: dict[str, Path], *, priority: bool = True
) -> Iterator[dict[str, Daemon]]:
    """Run a daemon at each end, and kill them at the end if they still run."""
    with ExitStack() as stack:
        yield {
            end: stack.enter_context(up(program, names[end], configs[end], priority=priority))
            for end in ENDS
        }


def command(program: Path, namespace: str, *paths: Path) -> list[str]:
    """Return the command that runs the daemon of an end."""
    require_programs("ip")
    runtime = str(runtime_of(paths[0]))
    inside = ["ip", "netns", "exec", namespace]
    return [*inside, str(program), "up", "--runtime-directory", runtime, *map(str, paths)]


def runtime_of(path: Path) -> Path:
    """Return the runtime directory of a configuration, since both ends use the same names."""
    return path.with_suffix(".run")


def told(line: str) -> dict[str, Any]:
    """Return an event of a daemon, with the fields of its first peer added to it."""
    event: dict[str, Any] = json.loads(line)
    return dict(next(iter(event.get("peers", [])), {})) | event


def refusal(program: Path, namespace: str, path: Path) -> str:
    """Return the message about an invalid configuration."""
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
    """Result of a connection: its rate, in bits per second, and whether all bytes arrived."""

    bits_per_s: float
    total_bytes: int
    is_whole: bool


def transfer(names: dict[str, str], seconds: float, counted_from: float) -> Transfer:
    """Send over one CUBIC connection; the rate counts from `counted_from` seconds on."""
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
    """Return the capacity of all links for TCP payload, in bits per second."""
    return sum(line.rate or 0 for line in lines) * 1e6 * SEGMENT_BYTES / FRAME_BYTES


def ask(
    program: Path, namespace: str, command: str, *options: str, of: Path
) -> subprocess.CompletedProcess[str]:
    """Run a command of `striped` against the daemon of a configuration."""
    require_programs("ip")
    return subprocess.run(
        ["ip", "netns", "exec", namespace, program, command, *options],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env={**os.environ, "PATH": SEARCH, "RUNTIME_DIRECTORY": str(runtime_of(of))},
    )
