"""Set-up of the benches of the daemon: checks of prerequisites, and clean-up on termination."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path


def begin(name: str, folder: Path) -> None:
    """Create the folder of results, or exit with 6 and report a missing prerequisite.

    From now on, SIGTERM ends the bench through `SystemExit`, which stops daemons and removes
    namespaces.
    """
    if lacking := _lacks(name):
        print(f"{name}: {lacking}", file=sys.stderr)
        raise SystemExit(6)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    folder.mkdir(parents=True, exist_ok=True)


def _lacks(name: str) -> str | None:
    """Return the missing prerequisite and its remedy, or `None`."""
    if os.geteuid() != 0:
        return f"network namespaces take root: sudo make {name}"
    if not os.access("/dev/net/tun", os.W_OK):
        return "there is no /dev/net/tun: modprobe tun"
    if not Path("/proc/self/ns/net").exists():
        return "this kernel has no network namespaces (CONFIG_NET_NS)"
    return None
