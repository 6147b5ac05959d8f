"""Snapshots of user-visible texts, in `tests/data/tables`, for review of every change.

`require("name", text)` fails if the text differs from `name.txt`. To change one on purpose, delete
its file and run the test: it writes the file, and fails once more, so that a person reviews it.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "tables"


def require(name: str, text: str) -> None:
    """Fail unless a text equals the snapshot of this name."""
    path = FOLDER / f"{name}.txt"
    if not path.exists():
        path.write_text(text)
        raise AssertionError(f"{path}: written anew; look at it, and commit it")
    assert text == path.read_text(), f"{path} differs; if that is meant, delete it and run again"
