"""The seed of a run: a function of the sweep's seed and of the replication only.

Runs of one replication share their random numbers at all points, so that comparisons between points
are paired; and points can be added without changing existing runs.
"""

from __future__ import annotations

import hashlib

# Below 2^63, the largest integer of TOML and of most tables.
SEED_BITS = 63


def run_seed(sweep_seed: int, replication: int) -> int:
    """Return the seed of all runs of a replication.

    >>> run_seed(1, 0) == run_seed(1, 0) != run_seed(1, 1)
    True
    """
    digest = hashlib.sha256(f"gingham sweep {sweep_seed} replication {replication}".encode())
    return int.from_bytes(digest.digest()[:8]) >> (64 - SEED_BITS)
