"""What a process of the daemon has in its memory."""

from __future__ import annotations

from pathlib import Path

from tests.system.bundles import Daemon

# What is above is the kernel's (Documentation/arch/x86/x86_64/mm.rst).
MEMORY_END = 1 << 47


def memory_of(process: int) -> bytes:
    """Return all that a process may write, as it is."""
    taken = bytearray()
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            span, rights = line.split()[:2]
            first, last = (int(one, 16) for one in span.split("-"))
            if rights.startswith("rw") and last <= MEMORY_END:
                memory.seek(first)
                taken += memory.read(last - first)
    return bytes(taken)


def knows(daemon: Daemon, secret: str) -> list[bool]:
    """Return whether each half has a key, as bytes or as a text."""
    halves = [memory_of(process) for process in (daemon.process.pid, daemon.carrier())]
    return [bytes.fromhex(secret) in half or secret.encode() in half for half in halves]
