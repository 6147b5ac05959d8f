"""One side of a comparison: the runs of a folder, or of a point of a sweep, by their seeds."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham import stripe
from gingham._files import nearest_file
from gingham._rundir import MANIFEST
from gingham.errors import InputError, counted, meant, nearest
from gingham.kinds import LaboratoryKind, kind_named
from gingham.loading import load_result
from gingham.loading import read_manifest as read_run
from gingham.results import Results
from gingham.store import is_sweep, kind_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from gingham.result import AnyResult

Part = dict[str, Any]
# Node and port of the sender and of the receiver.
Channel = tuple[str, int, str, int]
# The table of channels; a sweep has it if it keeps it.
LINKS = "links"
# Maximum number of values of an axis in a message.
VALUES_SHOWN = 8


@dataclass(frozen=True)
class OneRun:
    """Results of a run."""

    verdict: str
    # Numbers by table of parts and name of the part, as stored in a sweep.
    parts: Mapping[tuple[str, str], Part]
    # Functions that load the table of channels and that of steps; `None` if the table was not kept.
    links: Callable[[], pa.Table] | None = field(repr=False)
    series: Callable[[], pa.Table] | None = field(repr=False)
    # Start and end of the measurement window, in picoseconds.
    window_ps: tuple[int, int] | None


@dataclass(frozen=True)
class Side:
    """The runs of one side."""

    # Name as given by the caller.
    place: str
    title: str
    # "fabric" or "stripe".
    kind: str
    runs: Mapping[int, OneRun] = field(repr=False)
    # Identity of the fabric, for runs without stored channels.
    fabric: str = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the side for programs."""
        verdicts = {str(seed): run.verdict for seed, run in self.runs.items()}
        return {"place": self.place, "title": self.title, "verdicts": verdicts}


def side_of(named: str | os.PathLike[str]) -> Side:
    """Return the side of a run folder, or of a point or run of a sweep."""
    given = os.fspath(named)
    folder, chosen = given, ""
    if not Path(given).exists():
        folder, _, chosen = given.rpartition(":") if ":" in given else (given, "", "")
    place = Path(folder)
    if is_sweep(place):
        return side_of_sweep(given, Results.load(place), chosen)
    if chosen and (place / MANIFEST).exists():
        raise InputError(
            f"{folder}: is the folder of one run: leave out :{chosen}",
            file=folder,
            code="one-run",
            key=chosen,
        )
    if not place.exists():
        message = f"{folder}: no such folder{nearest_file(place)}"
        raise InputError(message, code="no-folder", file=folder)
    if place.is_dir() and not (place / MANIFEST).exists():
        message = f"{folder}: is the folder of no run and of no sweep: it has neither {MANIFEST} "
        raise InputError(f"{message}nor sweep.json", code="no-run", file=folder)
    return side_of_run(given, place)


def side_of_run(given: str, place: Path) -> Side:
    """Return the side of one run folder."""
    name = read_run(place).get("kind", "fabric")
    result: AnyResult = stripe.load_result(place) if name == "stripe" else load_result(place)
    resolved = result.scenario.resolved()
    kind = kind_named(name)
    assert isinstance(kind, LaboratoryKind), "only runs of laboratories have a folder"
    parts = {
        (table, row[kind.parts[table]]): row
        for table in kind.parts
        for row in kind.part_rows(result, table)
    }
    tables = {one: partial(result.table, one) for one in (LINKS, "series") if one in result.tables}
    window = (result.summary.get("warm_up_ps"), result.summary.get("window_end_ps"))
    known = None if None in window else (int(window[0] or 0), int(window[1] or 0))
    run = OneRun(result.verdict, parts, tables.get(LINKS), tables.get("series"), known)
    fabric = json.dumps(resolved.get("topology"), sort_keys=True)
    return Side(given, result.title, name, {int(resolved["seed"]): run}, fabric)


def side_of_sweep(given: str, results: Results, chosen: str) -> Side:
    """Return the side of one point of a sweep, or of one run."""
    found = chosen_rows(given, results, chosen)
    runs = {row["seed"]: run_of(results, row) for row in found if row["verdict"] != "failed"}
    if not runs:
        raise InputError(
            f"{given}: its runs have failed: {found[0]['error']}", file=given, code="no-data"
        )
    values = ", ".join(f"{axis} = {found[0][axis]}" for axis in results.axes)
    sweep = results.manifest["sweep"]
    shapes = [axis_name(axis) for axis in sweep["axis"] if "topology" in json.dumps(axis)]
    fabric = [sweep["base"]["scenario"].get("topology"), *(found[0].get(one) for one in shapes)]
    fabric += [{key: value for key, value in sweep["set"].items() if key.startswith("topology")}]
    kind = sweep.get("kind", "fabric")
    title = "; ".join(filter(None, [results.title, values]))
    return Side(given, title, kind, runs, json.dumps(fabric, sort_keys=True))


def axis_name(axis: Mapping[str, Any]) -> str:
    """Return the column of an axis of a sweep file."""
    return str(axis.get("name") or str(axis.get("key")).rsplit(".", 1)[-1])


def run_of(results: Results, row: Mapping[str, Any]) -> OneRun:
    """Return a run of a sweep."""
    key, kept = row["key"], results.manifest["sweep"]["keep"]
    parts = {
        (table, part[name]): part
        for table, name in kind_in(results.manifest).parts.items()
        for part in results.query(f"from {table} where key = '{key}'").to_pylist()
    }
    tables = {one: partial(results.of_run, key, one) for one in kept}
    window = (row.get("warm_up_ps"), row.get("window_end_ps"))
    known = None if None in window else (int(window[0] or 0), int(window[1] or 0))
    return OneRun(row["verdict"], parts, tables.get(LINKS), tables.get("series"), known)


def chosen_rows(given: str, results: Results, chosen: str) -> list[dict[str, Any]]:
    """Return the runs of the selected point, or the selected run."""
    rows: list[dict[str, Any]] = results.query("from runs order by point").to_pylist()
    if chosen and "=" not in chosen:
        found = [row for row in rows if row["key"].startswith(chosen)]
        if len(found) != 1:
            how_many = counted(len(found), "run")
            message = f"{given}: {how_many} with a key that begins with {chosen}"
            raise InputError(message, code="no-data", file=given, key=chosen)
        return found
    for part in filter(None, chosen.split(",")):
        axis, _, value = (one.strip() for one in part.partition("="))
        require_axis(given, axis, results.axes)
        left = [row for row in rows if is_value(row[axis], value)]
        if not left:
            raise InputError(
                f"{given}: {axis} is never {value}: {values_of(rows, axis)}",
                key=axis,
                code="no-data",
            )
        rows = left
    if not rows:
        raise InputError(f"{given}: no run is finished", file=given, code="no-data")
    open_ = [axis for axis in results.axes if len({str(row[axis]) for row in rows}) > 1]
    if open_:
        axis = open_[0]
        raise InputError(
            f"{given}: these are several points; say also which {axis}: {values_of(rows, axis)}\n"
            f"  such as {given}{',' if chosen else ':'}{axis}={rows[0][axis]}",
            key=axis,
            expected=open_,
            code="several-points",
        )
    return rows


def require_axis(given: str, axis: str, known: Sequence[str]) -> None:
    """Raise `InputError` if the sweep has no such axis."""
    if axis not in known:
        near = nearest(axis, known)
        axes = f"axes are {', '.join(known)}" if known else "the sweep has no axes"
        raise InputError(
            f'{given}: no axis "{axis}"{meant(near, ";")} {axes}',
            key=axis,
            expected=list(known),
            nearest=near,
            code="unknown-name",
        )


def is_value(value: object, text: str) -> bool:
    """Whether a text denotes a value of an axis."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return str(value).lower() == text.lower()


def values_of(rows: Sequence[Mapping[str, Any]], axis: str) -> str:
    """Return the values of an axis as text for a message."""
    values = list(dict.fromkeys(str(row[axis]) for row in rows))
    more = f" and {len(values) - VALUES_SHOWN:,} more" if len(values) > VALUES_SHOWN else ""
    return f"{', '.join(values[:VALUES_SHOWN])}{more}"


def require_same_fabric(a: Side, b: Side) -> None:
    """Raise `InputError` if the runs of the two sides used different fabrics."""
    first, second = (channels_of(side) for side in (a, b))
    if first is None or second is None:
        if a.fabric != b.fabric:
            raise other_fabric(a, b, f"{b.fabric} in place of {a.fabric}")
        return
    if set(first) == set(second):
        return
    sizes = f"{len(second):,} channels in place of {len(first):,}"
    missing = [f"{channel_text(one)} is missing" for one in first if one not in second]
    new = [f"{channel_text(one)} is new" for one in second if one not in first]
    raise other_fabric(a, b, f"{sizes}; {[*missing, *new][0]}")


def other_fabric(a: Side, b: Side, why: str) -> InputError:
    """Return the error for sides that cannot be compared."""
    return InputError(
        f"{b.place}: ran on another fabric than {a.place}: {why}", file=b.place, code="other-fabric"
    )


def channel_text(channel: Channel) -> str:
    """Return the name of a channel in scenario syntax."""
    start, port, end, at = channel
    return f"{start}[{port}] -> {end}[{at}]"


def channels_of(side: Side) -> list[Channel] | None:
    """Return the channels of the fabric of a side's first run, if it kept them."""
    run = next(iter(side.runs.values()))
    return None if run.links is None else channels_in(run.links())


def channels_in(links: pa.Table) -> list[Channel]:
    """Return the channels of a table of links."""
    columns = (links[name].to_pylist() for name in ("from", "from_port", "to", "to_port"))
    return list(zip(*columns, strict=True))
