"""The key of a run: equal for two runs exactly if their results must be equal.

It is the SHA-256 of the scenario with all defaults and its seed, of the digests of all files that
it names, and of the identity of the compiled core.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham._native import core_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@cache
def core_identity() -> str:
    """Return the SHA-256 of the compiled core, in hexadecimal."""
    return hashlib.sha256(Path(core_file).read_bytes()).hexdigest()


def run_key(resolved: Mapping[str, Any], files: list[dict[str, str]], *options: object) -> str:
    """Return the key of the run of a resolved scenario, in hexadecimal."""
    digests = [[file["key"], file["sha256"]] for file in files]
    whole = [resolved, digests, core_identity(), *options]
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Digests:
    """Digests of files, cached until a file changes."""

    def __init__(self) -> None:
        """Begin with an empty cache."""
        self._known: dict[tuple[str, int, int], str] = {}

    def of(self, files: Iterable[tuple[str, str]], folder: str) -> list[dict[str, str]]:
        """Return key and digest of each file that a scenario names; a missing file has no digest.

        The run itself reports missing files.
        """
        return [{"key": key, "sha256": self._digest(Path(folder) / name)} for key, name in files]

    def _digest(self, path: Path) -> str:
        try:
            state = path.stat()
            place = (str(path), state.st_mtime_ns, state.st_size)
            if place not in self._known:
                self._known[place] = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            return ""
        return self._known[place]
