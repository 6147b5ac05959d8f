"""Curves of several values of a key in one picture and table, and several curves beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from matplotlib.figure import Figure

from gingham import InputError, Scenario, plots
from gingham.loads import besides, curve_sweep, key_values
from tests.conftest import Finished
from tests.refusals import raises
from tests.test_curve_beside import POINTS

Gingham = Callable[..., Finished]
CSV = "load,latency_mean_ns,saturated\n0.1,600,0\n0.3,,2\n"


def labels(figure: Figure) -> list[str]:
    legend = figure.axes[0].get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b=1,2,10", [1, 2, 10]),
        ("a.b = 80 MB/s, 1 GB/s", ["80 MB/s", "1 GB/s"]),
        ("a.b=true,x", [True, "x"]),
        ("a.b={ fixed = '1 kB', x = [1, 2] },\"p,q\"", [{"fixed": "1 kB", "x": [1, 2]}, "p,q"]),
    ],
)
def test_values_of_a_key_are_those_of_toml(text: str, values: list[object]) -> None:
    assert key_values(text) == ("a.b", values)


@pytest.mark.parametrize("text", ["a.b", "a.b=", "=1,2"])
def test_a_key_without_values_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        key_values(text)
    assert refused.value.key == "by"


def test_each_value_is_an_axis_and_the_load_is_none() -> None:
    base = Scenario.example("torus")
    sweep = curve_sweep(
        base, [0.1], routings=["up-down"], by={"network.preset": ["yum-1600", "myrinet-640"]}
    )
    keys = [axis.get("key") or axis["name"] for axis in sweep.manifest()["axis"]]
    assert keys == ["routing.algorithm", "network.preset", "load"]
    with pytest.raises(InputError) as refused:
        curve_sweep(base, [0.1], by={"traffic.0.load": [0.1, 0.2]})
    assert refused.value.key == "traffic.0.load"


def of_counts(*counts: object) -> pa.Table:
    rows = pa.table(POINTS).to_pylist()
    return pa.Table.from_pylist([{"count": count} | row for count in counts for row in rows])


def test_lines_stand_in_the_order_of_their_numbers() -> None:
    assert labels(plots.curve(of_counts(10, 2, 1), title="Counts"))[:3] == [
        "count 1",
        "count 2",
        "count 10",
    ]
    told = labels(plots.curve(of_counts("10 MB/s", "2 MB/s"), title="Rates"))
    assert told[:2] == ["count 2 MB/s", "count 10 MB/s"]
    named = labels(plots.curve(of_counts("smart", "adaptive"), title="Names"))
    assert named[:2] == ["count smart", "count adaptive"]


def test_no_line_is_left_out_and_each_looks_different() -> None:
    figure = plots.curve(of_counts(*range(20)), title="Many")
    lines = [line for line in figure.axes[0].lines if line.get_gid() == "curve"]
    looks = {(line.get_color(), str(vars(line)["_dash_pattern"])) for line in lines}
    assert len(looks) == len(lines) == 20


def test_several_files_beside_have_a_line_each_with_saturated_points(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("booksim.csv", "a/booksim.csv", "htsim.csv"):
        (tmp_path / name).write_text(CSV)
    found = besides([tmp_path / name for name in ("booksim.csv", "a/booksim.csv", "htsim.csv")])
    assert len(found) == 3
    assert next(iter(found)) == "booksim"
    assert [(one["accepted_load"], one["saturated"]) for one in found["htsim"]] == [
        (0.1, 0),
        (0.3, 2),
    ]
    figure = plots.curve(pa.table(POINTS), title="Three", beside=found)
    top = [line for line in figure.axes[0].lines if line.get_gid() == "without-latency"]
    assert [line.get_marker() for line in top] == ["s"] * 3
    assert len([line for line in figure.axes[0].lines if line.get_gid() == "beside"]) == 3


def test_a_file_of_saturated_points_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("load,latency_mean_ns,saturated\n0.3,,true\n")
    with raises(InputError, "no-data"):
        besides([tmp_path / "x.csv"])


def test_the_command_makes_a_curve_a_value(gingham: Gingham, tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text(CSV)
    asked = ("curve", "torus", "--load", "0.05", "--replications", 1, "--set", "stop.time=50 us")
    by = ("--by", "traffic.0.length={ fixed = '1 kB' },{ fixed = '64 B' }")
    beside = ("--beside", "one.csv", "--beside", "two.csv")
    done = gingham(*asked, *by, *beside, "-o", "out", "--plot", "load.svg", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert [json.loads(point["length"])["fixed"] for point in told["points"]] == ["1 kB", "64 B"]
    assert list(told["beside"]) == ["one", "two"]
    assert b"<text" in (tmp_path / "load.svg").read_bytes()
    table = pyarrow.csv.read_csv(tmp_path / "out" / "curve.csv")
    assert table.column_names[:2] == ["length", "load"]
    # More values are added to the folder; its curves are drawn beside another, a line per value.
    more = gingham(*asked, "--by", "traffic.0.length={ fixed = '128 B' }", "-o", "out", "--resume")
    assert more.code == 0, more.err
    found = besides([tmp_path / "out" / "curve.csv"])
    assert len(found) == 3
    refused = gingham(*asked, "-o", "other", "--plot", "load.svg")
    assert refused.code == 2
    assert not (tmp_path / "other").exists()
