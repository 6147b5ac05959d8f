"""Search of the memory of daemon processes for keys."""

from __future__ import annotations

from pathlib import Path

from tests.system.bundles import Daemon

# Addresses above are the kernel's (Documentation/arch/x86/x86_64/mm.rst).
MEMORY_END = 1 << 47


def memory_of(process: int) -> bytes:
    """Return the contents of all writable memory of a process."""
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
    """Return for monitor and tunnel process whether it has a key, as bytes or as text."""
    halves = [memory_of(process) for process in (daemon.process.pid, daemon.carrier())]
    return [bytes.fromhex(secret) in half or secret.encode() in half for half in halves]
