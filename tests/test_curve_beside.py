"""Curves of other simulators beside ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import to_hex

from gingham import InputError, plots
from gingham.loads import beside
from gingham.plots import _style as style
from tests.conftest import Finished
from tests.refusals import raises, require_error

Gingham = Callable[..., Finished]
POINTS = {
    "load": [0.1, 0.2],
    "replications": [2, 2],
    "accepted_load": [0.1, 0.2],
    "accepted_load_half_width": [0.01, 0.01],
    "latency_mean_ns": [500.0, 900.0],
    "latency_half_width_ns": [10.0, 20.0],
    "latency_p99_ns": [None, None],
    "not_converged": [0, 0],
    "censored": [0, 0],
    "saturated": [0, 1],
    "deadlocked": [0, 0],
    "failed": [0, 0],
}


def written(folder: Path, text: str) -> Path:
    path = folder / "booksim.csv"
    path.write_text(text)
    return path


def test_a_curve_has_loads_and_latencies_in_the_order_of_its_loads(tmp_path: Path) -> None:
    text = "# of another simulator\naccepted_load, latency_mean_ns\n0.2,900\n\n0.1,600\n0.3,\n"
    [(name, points)] = beside(written(tmp_path, text)).items()
    assert name == "booksim"
    assert [(one["accepted_load"], one["latency_mean_ns"]) for one in points] == [
        (0.1, 600),
        (0.2, 900),
    ]
    # A spreadsheet puts a mark before the first name, and only the offered load may be known.
    [points] = beside(written(tmp_path, "\ufeffload,latency_mean_ns\n0.4,7\n")).values()
    assert points[0]["accepted_load"] == 0.4


@pytest.mark.parametrize("separator", [";", "\t"])
def test_columns_are_separated_as_in_the_heading(separator: str, tmp_path: Path) -> None:
    text = "# a,b,c\nload,latency_mean_ns\n0.1,600\n".replace(",", separator)
    assert [
        points[0]["latency_mean_ns"] for points in beside(written(tmp_path, text)).values()
    ] == [600]


def test_a_curve_of_ours_is_called_by_its_folder(tmp_path: Path) -> None:
    (tmp_path / "islip").mkdir()
    file = written(tmp_path / "islip", "load,latency_mean_ns\n0.1,600\n")
    assert list(beside(file)) == ["booksim"]
    (tmp_path / "islip" / "sweep.json").write_text("{}")
    assert list(beside(file)) == ["islip"]


def test_a_column_names_lines_and_intervals_are_kept(tmp_path: Path) -> None:
    text = (
        "routing,load,accepted_load,latency_mean_ns,latency_half_width_ns\n"
        "dor,0.1,0.11,600,5\nval,0.1,0.1,700,\n"
    )
    found = beside(written(tmp_path, text))
    assert list(found) == ["dor", "val"]
    assert found["dor"][0] == {
        "accepted_load": 0.11,
        "accepted_load_half_width": None,
        "latency_mean_ns": 600.0,
        "latency_half_width_ns": 5.0,
    }


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", {"code": "unknown-column", "key": "latency_mean_ns", "line": 1}),
        (
            "load,latency\n0.1,5\n",
            {"code": "unknown-column", "key": "latency_mean_ns", "line": 1, "nearest": "latency"},
        ),
        (
            "loda,latency_mean_ns\n0.1,5\n",
            {"code": "unknown-column", "key": "load", "line": 1, "nearest": "loda"},
        ),
        ("load,latency_mean_ns\n", {"code": "no-data"}),
        ("load,latency_mean_ns\n0.1,\n", {"code": "no-data"}),
        (
            "load,latency_mean_ns\n0.1,5\n0.2,five\n",
            {"code": "wrong-type", "key": "latency_mean_ns", "line": 3},
        ),
        ("load,latency_mean_ns\nnan,5\n", {"code": "wrong-type", "key": "load", "line": 2}),
        ("load,latency_mean_ns\n-1,5\n", {"code": "wrong-type", "key": "load", "line": 2}),
        ("load,latency_mean_ns\n,5\n", {"code": "refused", "key": "latency_mean_ns", "line": 2}),
        ("load,latency_mean_ns\n0.1,0\n", {"code": "refused", "key": "latency_mean_ns", "line": 2}),
    ],
)
def test_what_is_no_curve_is_refused_in_one_message(
    tmp_path: Path, text: str, facts: dict[str, Any]
) -> None:
    file = written(tmp_path, text)
    with raises(InputError, file=file, **facts):
        beside(file)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"load\xff\xfe")
    with raises(InputError, "no-text"):
        beside(tmp_path / "x.csv")
    with raises(InputError, "file-unreadable"):
        beside(tmp_path / "y.csv")


def test_lines_of_others_are_dashed_in_a_colour_of_their_own() -> None:
    others = {"booksim": [{"accepted_load": 0.1, "latency_mean_ns": 450.0}]}
    others["booksim"][0] |= dict.fromkeys(["accepted_load_half_width", "latency_half_width_ns"], 0)
    figure = plots.curve(pa.table(POINTS), title="Two", beside=others)
    [axes] = figure.axes
    lines = {line.get_gid(): line for line in axes.lines if line.get_gid() in {"curve", "beside"}}
    assert [to_hex(lines[gid].get_color()) for gid in ("curve", "beside")] == [
        *style.CLASS_COLOURS[:2]
    ]
    assert lines["curve"].get_linestyle() == "-"
    assert lines["beside"].get_linestyle() == "--"
    assert np.asarray(lines["beside"].get_ydata()).tolist() == [450.0]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][:2] == ["gingham", "booksim"]
    alone = plots.curve(pa.table(POINTS), title="Two").axes[0].get_legend()
    assert alone is not None
    assert [text.get_text()[:9] for text in alone.get_texts()] == ["saturated"]


def test_the_command_draws_both_and_refuses_before_it_runs(
    gingham: Gingham, tmp_path: Path
) -> None:
    written(tmp_path, "load,latency_mean_ns\n0.05,4100\n")
    asked = ("curve", "torus", "--load", "0.05", "--replications", 1, "--set", "stop.time=50 us")
    told = gingham(*asked, "-o", "out", "--beside", "booksim.csv", "--json")
    assert told.code == 0, told.err
    [(name, [point])] = json.loads(told.out)["beside"].items()
    assert (name, point["accepted_load"], point["latency_mean_ns"]) == ("booksim", 0.05, 4100)
    written(tmp_path, "load,delay\n0.05,4100\n")
    refused = gingham(*asked, "-o", "other", "--beside", "booksim.csv", "--json")
    require_error(refused, "unknown-column", key="latency_mean_ns", file="booksim.csv")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("values", "unit", "label", "joined"),
    [([100, 300], b"ns", "delay (ns)", "-"), (["up-down", "smart"], None, "delay", "None")],
)
def test_an_axis_has_its_unit_and_no_line_joins_texts(
    values: list[Any], unit: bytes | None, label: str, joined: str
) -> None:
    numbers = [name for name in POINTS if name != "load"]
    metadata = {b"unit": unit} if unit else None
    across = pa.field("delay", pa.array(values).type, metadata=metadata)
    points = pa.table({name: POINTS[name] for name in numbers})
    table = points.add_column(0, across, [values])
    figure = plots.axis(table, ["delay"], title="delays")
    assert {axes.get_xlabel() for axes in figure.axes} == {label}
    for axes in figure.axes:
        assert axes.containers[0][0].get_linestyle() == joined
