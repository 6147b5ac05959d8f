"""What benches of the daemon begin with: what they lack, and who takes back what they made."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path


def begin(name: str, folder: Path) -> None:
    """Make the folder of results, or end with 6 and say what is missing.

    Whoever ends the bench from now on has daemons and namespaces taken back.
    """
    if lacking := _lacks(name):
        print(f"{name}: {lacking}", file=sys.stderr)
        raise SystemExit(6)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    folder.mkdir(parents=True, exist_ok=True)


def _lacks(name: str) -> str | None:
    """Return what is missing to measure anything, and the cure."""
    if os.geteuid() != 0:
        return f"network namespaces take root: sudo make {name}"
    if not os.access("/dev/net/tun", os.W_OK):
        return "there is no /dev/net/tun: modprobe tun"
    if not Path("/proc/self/ns/net").exists():
        return "this kernel has no network namespaces (CONFIG_NET_NS)"
    return None
