"""Folders of runs and sweeps as left by other versions, manual changes and bad disks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def as_before_digests(manifest: Path, change: Callable[[dict[str, Any]], object] = dict) -> None:
    """Change a manifest, and remove its digests, as in versions without them."""
    values = json.loads(manifest.read_text())
    for name in ("digest", "files"):
        values.pop(name, None)
    change(values)
    manifest.write_text(json.dumps(values))


def flip(file: Path, place: int, bits: int = 1) -> None:
    """Flip bits of one byte of a file."""
    data = bytearray(file.read_bytes())
    data[place] ^= bits
    file.write_bytes(data)
