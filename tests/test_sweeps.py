"""Sweeps: from a sweep file to a table."""

from __future__ import annotations

from pathlib import Path

from gingham import InputError, Scenario
from gingham.results import Results
from gingham.sweeps import Sweep, run_sweep
from tests.refusals import raises

STAR = """
stop.time = "20 us"
topology.generate.star = { hosts = 4 }
[[traffic]]
name = "short"
load = 0.1
length = { fixed = "64 B" }
[[traffic]]
name = "long"
load = 0.2
length = { fixed = "256 B" }
"""


def star() -> Scenario:
    return Scenario.parse(STAR)


def grid(*axes: dict[str, object], **more: object) -> Sweep:
    return Sweep.make({"axis": list(axes), **more}, base=star())


def test_a_grid_has_every_combination_and_the_last_axis_is_the_fastest() -> None:
    sweep = grid(
        {"key": "traffic.0.load", "values": [0.1, 0.2]},
        {"key": "traffic.long.length.fixed", "name": "bytes", "values": ["128 B", "1 KiB"]},
        replications=2,
    )
    points = list(sweep.points())
    assert [dict(point.values) for point in points[::2]] == [
        {"load": 0.1, "bytes": 128},
        {"load": 0.1, "bytes": 1024},
        {"load": 0.2, "bytes": 128},
        {"load": 0.2, "bytes": 1024},
    ]
    assert sweep.count() == len(points) == 8
    resolved = points[3].scenario().resolved()
    assert resolved["traffic"][1]["length"]["fixed"] == "1 KiB"
    assert resolved["seed"] == points[3].seed


def test_runs_of_one_replication_share_their_seed_wherever_points_are_added() -> None:
    few = grid({"key": "traffic.0.load", "values": [0.1]}, replications=3, seed=7)
    more = grid({"key": "traffic.0.load", "values": [0.05, 0.1]}, replications=3, seed=7)
    seeds = [point.seed for point in few.points()]
    assert len(set(seeds)) == 3
    assert [point.seed for point in more.points()] == seeds * 2


def test_a_sweep_is_a_table_with_a_row_a_run(tmp_path: Path) -> None:
    sweep = grid({"key": "traffic.short.load", "values": [0.1, 0.2]}, replications=2)
    results = run_sweep(sweep, tmp_path / "out")
    rows = results.arrow().to_pylist()
    assert [(row["load"], row["replication"], row["verdict"]) for row in rows] == [
        (load, replication, rows[0]["verdict"]) for load in (0.1, 0.2) for replication in (0, 1)
    ]
    classes = Results.load(tmp_path / "out").arrow("classes").to_pylist()
    assert {row["class"] for row in classes} == {"short", "long"}
    assert len(classes) == 8


def test_a_folder_that_holds_a_sweep_is_not_written_into_without_resume(tmp_path: Path) -> None:
    sweep = grid({"key": "traffic.0.load", "values": [0.1]})
    run_sweep(sweep, tmp_path / "out")
    with raises(InputError, "exists"):
        run_sweep(sweep, tmp_path / "out")
