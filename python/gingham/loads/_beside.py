"""Curves of other simulators for comparison: a CSV file with one line per point.

::

    accepted_load,latency_mean_ns      load          instead, if only that is known
    0.10,612                           routing       name of the line; otherwise the file's, or
    0.20,655                                         the folder's of a curve of Gingham
                                       saturated     1, true or a number of runs: no latency
                                       ..half_width  of either, if there is one

Loads are shares of the hosts' links; latencies are from creation to delivery, in nanoseconds.
Columns are separated by a comma, a semicolon or a tab, as detected in the heading.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham._files import require_file
from gingham.errors import InputError, meant, nearest
from gingham.results import WITHOUT_LATENCY
from gingham.store import MANIFEST as SWEEP

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

# Columns, named as in Gingham's own tables.
LATENCY, ACCEPTED, OFFERED, NAME = "latency_mean_ns", "accepted_load", "load", "routing"
HALF_WIDTHS = ("accepted_load_half_width", "latency_half_width_ns")
# Counts of replications that are not in a steady state; they determine the mark of a point.
STATES = ("not_converged", *WITHOUT_LATENCY)
COMMENT = "#"
SEPARATORS = ",;\t"
Point = dict[str, Any]


def beside(path: str | os.PathLike[str]) -> dict[str, list[Point]]:
    """Return the points of each line in the CSV file at `path`, in order of their loads.

    Columns are `latency_mean_ns` and `accepted_load`, or `load` in its place; there may be
    `routing`, `accepted_load_half_width` and `latency_half_width_ns`, as in `curve.csv` of `gingham
    curve`. A point without a latency is kept if one of the columns `censored`, `saturated` and
    `deadlocked` holds a number above 0, or `true`. Raises `InputError` if a column is missing, or a
    value is not a number.
    """
    file = Path(path)
    require_file(file)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}: is no text: {error.reason}", file=str(file), code="no-text"
        ) from error
    lines = text.splitlines()
    numbered = [
        (number, row)
        for number, row in enumerate(csv.reader(lines, delimiter=separator(lines)), start=1)
        if row and not row[0].lstrip().startswith(COMMENT)
    ]
    names = [name.strip() for name in numbered[0][1]] if numbered else []
    across = ACCEPTED if ACCEPTED in names else OFFERED
    require_columns(file, names, across)
    curves: dict[str, list[Point]] = {}
    naming = columns_of_lines(file, names)
    for number, row in numbered[1:]:
        values = dict(zip(names, (cell.strip() for cell in row), strict=False))
        found = point(file, number, values, across)
        if found[LATENCY] is not None or is_without_latency(found):
            curves.setdefault(line_name(values, naming) or name_of(file), []).append(found)
    if not any(one[LATENCY] is not None for points in curves.values() for one in points):
        raise InputError(f"{file}: holds no point with a latency", file=str(file), code="no-data")
    return {name: sorted(points, key=load_of) for name, points in curves.items()}


def separator(lines: Sequence[str]) -> str:
    """Return the separator of a file's columns, detected in its heading.

    >>> separator(["# of htsim", "load;latency_mean_ns"]), separator([])
    (';', ',')
    """
    said = (line for line in lines if line.strip() and not line.lstrip().startswith(COMMENT))
    heading = next(said, "")
    return max(SEPARATORS, key=heading.count)


def columns_of_lines(file: Path, names: Sequence[str]) -> list[str]:
    """Return the columns that distinguish lines; in our own curves, all before the load."""
    ours = (file.absolute().parent / SWEEP).is_file() and OFFERED in names
    return list(names[: names.index(OFFERED)]) if ours else [NAME]


def line_name(values: Mapping[str, str], columns: Sequence[str]) -> str:
    """Return the name of the line of a row; empty without values in its columns.

    >>> line_name({"routing": "up-down", "count": "2"}, ["routing", "count"])
    'up-down, count 2'
    """
    told = [(name, values[name]) for name in columns if values.get(name)]
    return ", ".join(value if name == NAME else f"{name} {value}" for name, value in told)


def is_without_latency(one: Point) -> bool:
    """Return whether a point has a load, and lacks a latency because its runs were unsteady."""
    return one[ACCEPTED] is not None and any(one.get(name) for name in WITHOUT_LATENCY)


def name_of(file: Path) -> str:
    """Return the default line name of a file: its stem, or the folder's for a curve of Gingham."""
    folder = file.absolute().parent
    return folder.name if (folder / SWEEP).is_file() else file.stem


def besides(paths: Sequence[str | os.PathLike[str]]) -> dict[str, list[Point]]:
    """Return the lines of several files; a duplicate name is extended by its file name."""
    lines: dict[str, list[Point]] = {}
    for path in paths:
        for name, points in beside(path).items():
            taken = name in lines
            free = f"{name} ({name_of(Path(path))})" if taken else name
            while free in lines:
                free = f"{free}, again"
            lines[free] = points
    return lines


def load_of(one: Point) -> float:
    """Return the load of a point."""
    return float(one[ACCEPTED] or 0.0)


def require_columns(file: Path, names: Sequence[str], across: str) -> None:
    """Raise `InputError` if a column that a curve requires is missing."""
    for column in (LATENCY, across):
        if column not in names:
            near = nearest(column, names)
            has = ", ".join(names) or "none"
            raise InputError(
                f'{file}: has no column "{column}"{meant(near, ";")} its columns are {has}\n'
                f"  a curve has {LATENCY} and {ACCEPTED}, or {OFFERED} in its place; {NAME} may "
                "name lines",
                file=str(file),
                line=1,
                key=column,
                expected=[LATENCY, ACCEPTED],
                nearest=near,
                code="unknown-column",
            )


def point(file: Path, number: int, values: Mapping[str, str], across: str) -> Point:
    """Return the point of a line of the file, with `None` for empty cells."""
    columns = {ACCEPTED: across, LATENCY: LATENCY, **{name: name for name in HALF_WIDTHS}}
    found: Point = {
        name: cell(file, number, column, values.get(column, "")) for name, column in columns.items()
    }
    conditions = {name: values[name] for name in STATES if values.get(name)}
    for name, text in conditions.items():
        # Files have a number of runs here, or true and false.
        said = {"true": "1", "false": "0"}.get(text.lower(), text)
        found[name] = cell(file, number, name, said)
    if found[LATENCY] is not None and (found[ACCEPTED] is None or found[LATENCY] <= 0):
        raise InputError(
            f"{file}:{number}: a point has a load, and a latency above 0",
            file=str(file),
            line=number,
            key=LATENCY,
        )
    return found


def cell(file: Path, number: int, column: str, text: str) -> float | None:
    """Return the number in a cell; raise `InputError` with its position if it is not a number."""
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise InputError(
            f'{file}:{number}: {column}: expected a number from 0, found "{text}"',
            file=str(file),
            line=number,
            key=column,
            code="wrong-type",
        )
    return value
