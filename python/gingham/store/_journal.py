"""The journal: finished runs, a line each, until they become a shard.

A line is a checksum and a JSON object. A process that dies leaves at most one torn line, the
last, which is no run; the next process begins another file.
"""

from __future__ import annotations

import json
import os
import zlib
from typing import TYPE_CHECKING, Any

from gingham._files import writing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER = "journal"


class Journal:
    """A journal under way; `append` returns when the system has the line."""

    def __init__(self, folder: Path) -> None:
        """Begin a new file in `folder`, the journal's own."""
        self.path = folder / f"{next_number(folder):08}.jsonl"
        with writing(self.path):
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record: whole, or not at all."""
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
        with writing(self.path):
            rest = memoryview(b"%08x %s\n" % (zlib.crc32(text), text))
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]

    def close(self) -> None:
        """Wait until the disk has all records."""
        with writing(self.path):
            os.fsync(self._descriptor)
            os.close(self._descriptor)


def next_number(folder: Path) -> int:
    """Return a number above those of all files in a folder."""
    return 1 + max((number_of(path) for path in folder.iterdir()), default=0)


def number_of(path: Path) -> int:
    """Return the number that a file's name ends in, before its suffix."""
    digits = path.stem.rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def files(folder: Path) -> list[Path]:
    """Return the journals in their order."""
    return sorted(folder.glob("*.jsonl"))


def records(path: Path) -> list[dict[str, Any]]:
    """Return the whole records of a journal; a torn line is none."""
    found = []
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        # It became a shard just now.
        return []
    for line in lines:
        checksum, _, text = line.partition(b" ")
        if checksum == b"%08x" % zlib.crc32(text) and text:
            found.append(json.loads(text))
    return found
