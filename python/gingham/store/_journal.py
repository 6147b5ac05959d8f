"""The journal: finished runs, a line each, until they become a shard.

A line is a checksum and a JSON object. A process that dies leaves at most one torn line, the
last, which is no run; the next process begins another file. Any other line that does not match its
checksum is damaged: readers are told of it, and its run is made again.
"""

from __future__ import annotations

import json
import os
import zlib
from typing import TYPE_CHECKING, Any

from gingham._files import writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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


def all_records(folder: Path) -> list[dict[str, Any]]:
    """Return the whole records of all journals."""
    return [record for file in files(folder) for record in records(file)]


def records(path: Path) -> list[dict[str, Any]]:
    """Return the whole records of a journal; a torn or damaged line is none."""
    return [json.loads(text) for checksum, text in lines(path) if holds(checksum, text)]


def damaged_lines(path: Path) -> list[int]:
    """Return the numbers of the lines that are not as they were written.

    The last may be torn, by a process that died: it has no end, and never was a whole one.
    """
    found = lines(path)
    # What follows the last end of a line.
    checksum, rest = found.pop() if found else (b"", b"")
    bad = [number for number, line in enumerate(found, 1) if not holds(*line)]
    return [*bad, len(found) + 1] if holds(checksum, rest[:-1]) else bad


def lines(path: Path) -> list[tuple[bytes, bytes]]:
    """Return checksum and text of each line, and of what follows the last."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        # It became a shard just now.
        return []
    return [(line[:9], line[9:]) for line in data.split(b"\n")]


def holds(checksum: bytes, text: bytes) -> bool:
    """Whether a line is as it was written."""
    return bool(text) and checksum == b"%08x " % zlib.crc32(text)


def places(numbers: Sequence[int]) -> str:
    """Return where the damage of a journal is.

    >>> places([3]), places([3, 4, 7])
    ('in line 3', 'in line 3 and 2 more')
    """
    more = f" and {len(numbers) - 1} more" if len(numbers) > 1 else ""
    return f"in line {numbers[0]}{more}"
