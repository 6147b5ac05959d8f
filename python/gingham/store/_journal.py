"""The journal: finished runs, one line each, until they are merged into a shard.

A line is a checksum and a JSON object. A crash leaves at most one torn line, the last, which is
ignored; the next process begins another file. Any other line that does not match its checksum is
damaged: it is reported to readers, and its run is made again.
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
    """A journal open for writing; `append` returns when the line was passed to the system."""

    def __init__(self, folder: Path) -> None:
        """Begin a new file in the journal's `folder`."""
        self.path = folder / f"{next_number(folder):08}.jsonl"
        with writing(self.path):
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a record completely, or not at all."""
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
        with writing(self.path):
            rest = memoryview(b"%08x %s\n" % (zlib.crc32(text), text))
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]

    def close(self) -> None:
        """Sync all records to disk."""
        with writing(self.path):
            os.fsync(self._descriptor)
            os.close(self._descriptor)


def next_number(folder: Path) -> int:
    """Return a number above those of all files in a folder."""
    return 1 + max((number_of(path) for path in folder.iterdir()), default=0)


def number_of(path: Path) -> int:
    """Return the number at the end of a file's stem."""
    digits = path.stem.rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def files(folder: Path) -> list[Path]:
    """Return the journals in order."""
    return sorted(folder.glob("*.jsonl"))


def all_records(folder: Path) -> list[dict[str, Any]]:
    """Return the intact records of all journals."""
    return [record for file in files(folder) for record in records(file)]


def records(path: Path) -> list[dict[str, Any]]:
    """Return the intact records of a journal, without torn or damaged lines."""
    return [json.loads(text) for checksum, text in lines(path) if holds(checksum, text)]


def damaged_lines(path: Path) -> list[int]:
    """Return the numbers of the damaged lines.

    A torn last line after a crash has no line end, and does not count.
    """
    found = lines(path)
    # Content after the last line end.
    checksum, rest = found.pop() if found else (b"", b"")
    bad = [number for number, line in enumerate(found, 1) if not holds(*line)]
    return [*bad, len(found) + 1] if holds(checksum, rest[:-1]) else bad


def lines(path: Path) -> list[tuple[bytes, bytes]]:
    """Return checksum and text of each line, and of the content after the last line end."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        # The journal has just been merged into a shard.
        return []
    return [(line[:9], line[9:]) for line in data.split(b"\n")]


def holds(checksum: bytes, text: bytes) -> bool:
    """Whether a line matches its checksum."""
    return bool(text) and checksum == b"%08x " % zlib.crc32(text)


def places(numbers: Sequence[int]) -> str:
    """Return the positions of the damage in a journal.

    >>> places([3]), places([3, 4, 7])
    ('in line 3', 'in line 3 and 2 more')
    """
    more = f" and {len(numbers) - 1} more" if len(numbers) > 1 else ""
    return f"in line {numbers[0]}{more}"
