"""Network namespaces: creation, links with rates, execution of functions inside, removal."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gingham.errors import EnvironmentProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Bursts of two milliseconds, so that segments of one call pass together, as with the segmentation
# offload of a network card: splitting them in tbf takes two thirds of the processor time.
BURST_S = 2e-3
BURST_BYTES_MIN = 10_000
# The ends of a pipe.
ENDS = ("left", "right")
SEARCH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
PROGRAMS = ("ip", "tc")
TUN = Path("/dev/net/tun")
TIMEOUT_S = 60
CLONE_NEWNET = 0x40000000
Made = TypeVar("Made")


def require_machine() -> None:
    """Raise `EnvironmentProblem` if namespaces cannot be used, with the missing prerequisite."""
    for program in PROGRAMS:
        if shutil.which(program, path=SEARCH) is None:
            raise EnvironmentProblem(
                f"{program} is missing: apt-get install iproute2", code="missing-program"
            )
    if os.geteuid() != 0:
        raise EnvironmentProblem(
            "network namespaces take root: sudo gingham study check ... --real", code="no-privilege"
        )
    if not os.access(TUN, os.W_OK):
        raise EnvironmentProblem(
            f"{TUN} cannot be opened: modprobe tun", code="no-privilege", file=str(TUN)
        )


def said(program: str, *words: str) -> str:
    """Run a program and return its output."""
    command = [str(shutil.which(program, path=SEARCH)), *words]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        message = f"{' '.join(command)}: had not ended after {TIMEOUT_S:g} s"
        raise EnvironmentProblem(message, code="timeout") from error
    if done.returncode != 0:
        raise EnvironmentProblem(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def ip(*words: str) -> str:
    """Run `ip` and return its output."""
    return said("ip", *words)


@contextmanager
def namespaces(of: Iterable[str]) -> Iterator[dict[str, str]]:
    """Create a silent namespace for each name, and remove them after the block."""
    names = {one: f"gingham-{os.getpid()}-{one}" for one in of}
    made: list[str] = []
    try:
        for name in names.values():
            ip("netns", "add", name)
            made.append(name)
            quiet = "cd /proc/sys/net; ! test -d ipv6 || echo 1 > ipv6/conf/default/disable_ipv6"
            ip("netns", "exec", name, "sh", "-c", quiet)
        yield names
    finally:
        for name in made:
            # Removes its interfaces and queues, too.
            ip("netns", "del", name)


def address(name: str, device: str) -> str:
    """Return the MAC address of an interface."""
    return str(json.loads(ip("-n", name, "-j", "link", "show", device))[0]["address"])


def limit(name: str, device: str, rate_mbit: float, queue_bytes: int) -> None:
    """Limit the rate of an interface in Mbit/s of frames, with a queue of `queue_bytes`."""
    burst_bytes = max(BURST_BYTES_MIN, int(rate_mbit * 1e6 / 8 * BURST_S))
    shape = ["rate", f"{rate_mbit}mbit", "burst", f"{burst_bytes}b", "limit", str(queue_bytes)]
    said("tc", "-n", name, "qdisc", "add", "dev", device, "root", "tbf", *shape)


def enter(namespace: str) -> None:
    """Move the calling thread into a namespace."""
    # `os.setns` requires Python 3.12.
    library = ctypes.CDLL(None, use_errno=True)
    with Path("/run/netns", namespace).open() as file:
        if library.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise EnvironmentProblem(f"{namespace}: {os.strerror(ctypes.get_errno())}")


def made_in(namespace: str, make: Callable[[], Made]) -> Made:
    """Return an object created by a short-lived thread inside a namespace."""
    made: list[Made] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            enter(namespace)
            made.append(make())
        except Exception as error:  # noqa: BLE001  (raised again where the thread was begun)
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return made[0]
