"""Latency against accepted load.

::

    latency │   ▫ ▫  ▫     at the top: no latency, because a replication is saturated, deadlocked or
            │      ●       censored
            │   ○          hollow: a replication has not converged
            │ ●
            └─────────────── accepted load

Every point is a mean over replications with Student's interval in both directions. All routings are
offered the same messages: replications share their random numbers.

**Latency is omitted** at a point, mean and p99, if any replication is `saturated` or `deadlocked`,
or left more than one per cent of its messages undelivered (`censored`). Such a mean covers only the
messages delivered before the run ended: it depends on the length of the run and on the seed, and
has no limit. Including the others with their age would give a lower bound that also grows with the
run. If a single replication lacks a latency, the remaining ones are a biased selection, so the
whole point has none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError
from gingham.loads._axis import load_axis
from gingham.loads._former import former_curve, together, values_of
from gingham.results import WITHOUT_LATENCY, quoted
from gingham.sweeps import Sweep, run_sweep, units_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from gingham import scenario
    from gingham.results import Results

# Columns of a run that are averaged in a curve, with the columns of their half-widths.
MEANS = {
    "accepted_load": "accepted_load_half_width",
    "least_served_load": "least_served_load_half_width",
    "latency_mean_ns": "latency_half_width_ns",
    "latency_p99_ns": "latency_p99_half_width_ns",
}
LATENCIES = ("latency_mean_ns", "latency_p99_ns")
# Conditions of runs, by the column with their count.
CONDITIONS = {
    "not_converged": "verdict = 'not-converged'",
    **WITHOUT_LATENCY,
    "failed": "verdict = 'failed'",
}


def curve_sweep(
    base: scenario.Scenario,
    loads: Sequence[float],
    *,
    routings: Sequence[str] = (),
    by: Mapping[str, Sequence[Any]] | None = None,
    replications: int = 3,
    seed: int = 1,
    allow_deadlock: bool = False,
) -> Sweep:
    """Return the sweep of a curve; `routings` defaults to the routing of the scenario.

    `by` has values of further keys: each combination is a line.
    """
    names = list(routings) or [base.routing()]
    key = {"name": "routing", "key": "routing.algorithm", "values": names}
    axes: list[dict[str, Any]] = [key] if routings else []
    values = {
        "title": "; ".join([base.heading(routings), *base.changes]),
        "axis": [*axes, *axes_by(base, by or {}), load_axis(base, loads)],
        "replications": replications,
        "seed": seed,
        "allow_deadlock": allow_deadlock,
    }
    return Sweep.make(values, base=base, name=base.name)


def axes_by(base: scenario.Scenario, by: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return an axis for each key; raise `InputError` if the curve already varies a key."""
    loads = load_axis(base, [1.0])["keys"]
    for key in by:
        if base.placed(key) in loads:
            raise InputError(f"{key}: set by the loads of the curve already", key=key)
    return [{"key": key, "values": list(values)} for key, values in by.items()]


def curve(
    base: scenario.Scenario,
    loads: Sequence[float],
    folder: str | os.PathLike[str],
    *,
    routings: Sequence[str] = (),
    by: Mapping[str, Sequence[Any]] | None = None,
    replications: int = 3,
    seed: int = 1,
    allow_deadlock: bool = False,
    **how: Any,
) -> pa.Table:
    """Make the runs of a curve into `folder` and return its table; see `curve_table`.

    With `resume`, a curve of the same scenario in the folder is extended: the table has the loads,
    routings and replications of both. Routes that can deadlock are run with `allow_deadlock`. `by`
    are values of further keys, as of `curve_sweep`. `how` is passed to `gingham.sweeps.run_sweep`:
    `executor`, `workers`, `resume`, `on_progress`.
    """
    wanted = dict(by or {})
    fixed: dict[str, Any] = {"seed": seed, "allow_deadlock": allow_deadlock}
    sweep = curve_sweep(
        base, loads, routings=routings, by=wanted, replications=replications, **fixed
    )
    if how.get("resume") and (former := former_curve(sweep, Path(folder))):
        sweep = curve_sweep(
            base,
            sorted(together(values_of(former, "load"), loads)),
            routings=together(values_of(former, "routing"), routings),
            by={key: together(values_of(former, key), values) for key, values in wanted.items()},
            replications=max(replications, former["replications"]),
            **fixed,
        )
    return curve_table(run_sweep(sweep, Path(folder), **how))


def curve_table(results: Results) -> pa.Table:
    """Return one row per point: axes, means with half-widths, and conditions of replications.

    Columns: `routing`, if there are several, those of further keys, and `load`; `replications`;
    `accepted_load` and `least_served_load` (the accepted load of the least served sender or flow),
    `latency_mean_ns` and `latency_p99_ns`, each with its half-width; and the number of replications
    that are `not_converged`, `censored` (over one per cent of messages not delivered), `saturated`,
    `deadlocked`, `failed`. A point has no latency if a replication is censored, saturated or
    deadlocked. The metadata of an axis of quantities has their `unit`.
    """
    import pyarrow as pa

    axes = results.axes
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in results.query(counts(axes)).to_pylist():
        rows[tuple(row[name] for name in axes)] = row
    measured = results.columns["runs"]
    for name, half_width in MEANS.items():
        for row in results.means(name).to_pylist() if name in measured else []:
            point = rows[tuple(row[axis] for axis in axes)]
            if has_mean(point, name, row["replications"]):
                point |= {name: row["mean"], half_width: row["half_width"]}
    numbers = [name for pair in MEANS.items() for name in pair]
    units = units_of_axes(results)
    kinds = [
        field.with_metadata({"unit": units[field.name]}) if field.name in units else field
        for field in results.query(counts(axes) + " limit 0").schema
    ]
    schema = pa.schema([*kinds, *(pa.field(name, pa.float64()) for name in numbers)])
    order = [*axes, "replications", *numbers, *CONDITIONS]
    return pa.Table.from_pylist(list(rows.values()), schema=schema).select(order)


def units_of_axes(results: Results) -> dict[str, str]:
    """Return the units of the axes whose values are quantities."""
    axes = results.manifest["sweep"].get("axis")
    if axes is None:
        return {}
    found = [unit for spec in axes for unit in units_of(spec)]
    return {name: unit for name, unit in zip(results.axes, found, strict=True) if unit}


def has_mean(point: Mapping[str, Any], name: str, count: int) -> bool:
    """Return whether the mean of a column over `count` replications is valid for a point.

    >>> steady = {"replications": 3, "censored": 0, "saturated": 0, "deadlocked": 0, "failed": 0}
    >>> has_mean(steady, "latency_p99_ns", 3), has_mean(steady, "latency_p99_ns", 2)
    (True, False)
    >>> has_mean(steady | {"saturated": 1}, "latency_mean_ns", 3)
    False
    """
    if name not in LATENCIES:
        return True
    is_whole = count == point["replications"] - point["failed"]
    return is_whole and not any(point[condition] for condition in WITHOUT_LATENCY)


def counts(axes: Sequence[str]) -> str:
    """Return the query for the conditions of the replications of each point."""
    counted = [f"count(*) filter ({it}) as {name}" for name, it in CONDITIONS.items()]
    chosen = ", ".join(map(quoted, axes))
    columns = ", ".join([chosen, "count(*) as replications", *counted])
    return f"select {columns} from runs group by {chosen} order by min(point)"  # noqa: S608
