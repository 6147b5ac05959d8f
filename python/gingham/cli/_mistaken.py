"""What a file is, where a command expected one of another kind.

A file is judged by its keys where it is TOML, by its ending, and by how settings of BookSim are
written. What is none of these is left to whoever reads it, who says what is wrong and where.
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

# What can be told apart, and the command for each.
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
# The kinds whose refusals have a code by another name, as the core has it.
CODES = {"fabric": "scenario"}
# Keys that only a file of the kind has.
SWEEP_KEYS = {"axis", "base", "scenario", "replications"}
NETWORK_KEYS = {"switch", "host", "cable"}
PACKED = (".gz", ".xz")


def refuse_mistaken(file: Path, wanted: str, given: str = "") -> None:
    """Raise `InputError` if a file is of another kind than `wanted`, a key of `WHAT`.

    `given` is what the command was told, if that is not the file.
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
    """Return what a file may be, keys of `WHAT`; none if that is not plain."""
    if not file.is_file():
        return []
    read = {one for _, endings, is_read, _ in formats() if is_read for one in endings}
    # A table may hold edges of a fabric, or traffic.
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
    """Return the ending of a file's name, without that of its packing.

    >>> from pathlib import Path
    >>> ending(Path("cluster.ibnetdiscover.gz")), ending(Path("mine.toml"))
    ('ibnetdiscover', 'toml')
    """
    suffixes = [one for one in file.suffixes if one not in PACKED]
    return suffixes[-1].lstrip(".").lower() if suffixes else ""
