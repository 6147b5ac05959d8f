"""Paths from left to right over the lines of `pipes`: ours, and others for comparison.

A `Way` is the destination of a flow, and the processes whose CPU time it uses. The namespaces
remove everything except the daemons.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gingham.studies._namespaces import ENDS, TIMEOUT_S, ip
from tests.conftest import wait_until
from tests.system import bundles
from tests.system.pipes import Line, address, first_priority

# Constant of Linux; Python has it from 3.10 on, if its headers had it.
IPPROTO_MPTCP = 262
WIREGUARD_PORT = 51820
WIREGUARD_ADDRESSES = {"left": "10.91.0.1", "right": "10.91.0.2"}
# 1,500 less the headers of IPv4, UDP and WireGuard, and its authentication tag.
WIREGUARD_MTU = 1500 - 28 - 32
# Time for the search of channel sizes, which takes a round trip for each probed size.
SIZES_S = 1
SOCKETS = Path("/var/run/wireguard")


@dataclass
class Way:
    """Destination and protocol of a flow."""

    address: str
    protocol: int = socket.IPPROTO_TCP
    processes: list[int] = field(default_factory=list)


def plain(channel: int) -> Way:
    """Return the path over one line alone."""
    return Way(address(channel, "right"))


@contextmanager
def striped(
    program: Path, folder: Path, names: dict[str, str], lines: list[Line], order: str
) -> Iterator[Way]:
    """Run two daemons, with real-time priority if all lines are shaped.

    The path is yielded once all channels are in and their sizes are found.
    """
    configs = bundles.written(folder, len(lines), order=order)
    priority = all(line.rate is not None for line in lines)
    with bundles.daemons(program, names, configs, priority=priority) as running:
        for one in running.values():
            wait_until(one.is_carrying, "the ends do not hear each other")
        time.sleep(SIZES_S)
        pids = [pid for one in running.values() for pid in (one.process.pid, one.carrier())]
        yield Way(bundles.ADDRESSES["right"], processes=pids)


def mptcp(names: dict[str, str], lines: list[Line]) -> Way:
    """Return the path of MPTCP with a subflow per line; the right end announces its addresses."""
    for name in names.values():
        ip("-n", name, "mptcp", "limits", "set", "subflow", "8", "add_addr_accepted", "8")
    for channel in range(1, len(lines)):
        ip("-n", names["right"], "mptcp", "endpoint", "add", address(channel, "right"), "signal")
    return Way(address(0, "right"), IPPROTO_MPTCP)


def has_mptcp() -> bool:
    """Return whether the kernel supports MPTCP."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP).close()
    except OSError:
        return False
    return True


def wireguard_program() -> Path | None:
    """Return the path of wireguard-go: from PATH, or from the folder of `go install`."""
    folders = [os.environ.get("GOBIN"), os.environ.get("GOPATH", str(Path.home() / "go")) + "/bin"]
    search = os.pathsep.join([os.environ.get("PATH", os.defpath), *filter(None, folders)])
    # `go install` names the program after its module.
    found = shutil.which("wireguard-go", path=search) or shutil.which("wireguard", path=search)
    return Path(found) if found else None


@contextmanager
def wireguard(program: Path, names: dict[str, str], *, priority: bool) -> Iterator[Way]:
    """Run two processes of wireguard-go over the first line."""
    keys = {end: _key_pair() for end in ENDS}
    with ExitStack() as stack:
        pids = []
        for end, other in (ENDS, ENDS[::-1]):
            device = f"wg-{os.getpid()}-{end[0]}"
            process = subprocess.Popen(
                ["ip", "netns", "exec", names[end], str(program), "--foreground", device],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "WG_PROCESS_FOREGROUND": "1", "LOG_LEVEL": "silent"},
                preexec_fn=first_priority if priority else None,  # noqa: PLW1509 - no thread here
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            control = SOCKETS / f"{device}.sock"
            stack.callback(control.unlink, missing_ok=True)
            _wait_for(control)
            remote = f"{address(0, other)}:{WIREGUARD_PORT}"
            _configure(control, keys[end][0], keys[other][1], remote)
            prefix = f"{WIREGUARD_ADDRESSES[end]}/24"
            ip("-n", names[end], "addr", "add", prefix, "dev", device)
            ip("-n", names[end], "link", "set", device, "mtu", str(WIREGUARD_MTU), "up")
            pids.append(process.pid)
        yield Way(WIREGUARD_ADDRESSES["right"], processes=pids)


def _wait_for(control: Path) -> None:
    ends_at = time.monotonic() + TIMEOUT_S
    while not control.exists():
        assert time.monotonic() < ends_at, "wireguard-go does not start"
        time.sleep(0.01)


def _configure(control: Path, private: bytes, public: bytes, remote: str) -> None:
    lines = ["set=1", f"private_key={private.hex()}", f"listen_port={WIREGUARD_PORT}"]
    lines += [f"public_key={public.hex()}", f"endpoint={remote}", "allowed_ip=0.0.0.0/0"]
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(str(control))
        one.sendall(("\n".join(lines) + "\n\n").encode())
        answer = one.recv(1_024)
    assert b"errno=0" in answer, answer


def _key_pair() -> tuple[bytes, bytes]:
    """Return an X25519 key pair, private first: the last 32 bytes of each output of OpenSSL."""

    def openssl(*words: str, given: bytes = b"") -> bytes:
        done = subprocess.run(
            ["openssl", *words, "-outform", "DER"], input=given, capture_output=True, check=True
        )
        return done.stdout

    private = openssl("genpkey", "-algorithm", "X25519")
    public = openssl("pkey", "-inform", "DER", "-pubout", given=private)
    return private[-32:], public[-32:]
