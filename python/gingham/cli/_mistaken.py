"""Recognition of files of another kind than a command expects.

TOML files are recognised by their keys, others by their extension or by the syntax of BookSim's
settings. Unrecognised files are left to the reader, which reports the error and its position.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from gingham._native import formats
from gingham.catalogue import elsewhere
from gingham.errors import InputError
from gingham.kinds import KINDS

if TYPE_CHECKING:
    from pathlib import Path

# Kinds of files that can be distinguished: description, and the command for each.
WHAT = {
    "fabric": ("the scenario of a fabric", "`gingham run {}` runs it"),
    "stripe": ("a striping scenario", "`gingham stripe {}` runs it"),
    "sweep": ("a sweep file", "`gingham sweep {}` runs it"),
    "network": (
        "a fabric and no scenario",
        "`gingham fabric info {}` describes it, `gingham run SCENARIO --topology {}` runs on it",
    ),
    "booksim": (
        "a configuration of BookSim",
        f"{elsewhere.PAGE} tells what to write here, and so does `gingham explain num_vcs`",
    ),
}
# Kinds whose error codes use another name, as in the core.
CODES = {"fabric": "scenario"}
# Keys that occur only in files of the kind.
SWEEP_KEYS = {"axis", "base", "scenario", "replications"}
NETWORK_KEYS = {"switch", "host", "cable"}
PACKED = (".gz", ".xz")


def refuse_mistaken(file: Path, wanted: str, given: str = "") -> None:
    """Raise `InputError` if a file is of another kind than `wanted`, a key of `WHAT`.

    `given` is the argument of the command, if that differs from the file.
    """
    found = kinds_of_content(file)
    if found and wanted not in found:
        what, advice = WHAT[found[0]]
        raise InputError(
            f"{file}: is {what}: {advice.replace('{}', given or str(file))}",
            code=f"foreign-{CODES.get(found[0], found[0])}",
            file=str(file),
        )


def kinds_of_content(file: Path) -> list[str]:
    """Return the possible kinds of a file, keys of `WHAT`; empty if it is not recognised."""
    if not file.is_file():
        return []
    read = {one for _, endings, is_read, _ in formats() if is_read for one in endings}
    # A CSV table may hold edges of a fabric, or traffic.
    if ending(file) in read - {"toml", "csv"}:
        return ["network"]
    try:
        content = file.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return []
    try:
        keys = tomllib.loads(content).keys()
    except tomllib.TOMLDecodeError:
        return ["booksim"] if elsewhere.is_booksim(content) else []
    marks = {kind.name: kind.marks for kind in KINDS}
    known = {**marks, "sweep": SWEEP_KEYS, "network": NETWORK_KEYS}
    return [name for name, some in known.items() if some & keys]


def ending(file: Path) -> str:
    """Return the extension of a file name, without that of compression.

    >>> from pathlib import Path
    >>> ending(Path("cluster.ibnetdiscover.gz")), ending(Path("mine.toml"))
    ('ibnetdiscover', 'toml')
    """
    suffixes = [one for one in file.suffixes if one not in PACKED]
    return suffixes[-1].lstrip(".").lower() if suffixes else ""
