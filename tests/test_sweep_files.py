"""Sweep files: valid contents, and errors of invalid ones."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gingham import InputError, Scenario
from gingham.cli import _sweep_progress
from gingham.kinds import FABRIC
from gingham.sweeps import Sweep, SweepProgress, run_sweep
from gingham.sweeps._values import UNITS, column_value, range_values
from tests.conftest import Finished
from tests.refusals import raises, require_error

Command = Callable[..., Finished]

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
AXIS = '[[axis]]\nkey = "traffic.0.load"\nvalues = [0.1, 0.2]\n'


def grid(*axes: dict[str, Any], **more: Any) -> Sweep:
    return Sweep.make({"axis": list(axes), **more}, base=Scenario.parse(STAR))


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        ({"from": 0.05, "to": 0.3, "step": 0.05}, [0.05, 0.1, 0.15, 0.2, 0.25, 0.3]),
        ({"from": 1, "to": 6, "step": 2}, [1, 3, 5]),
        ({"from": 0, "to": 1, "count": 5}, [0, 0.25, 0.5, 0.75, 1]),
        ({"from": 0, "to": 1, "count": 4}, [0, 0.333333, 0.666667, 1]),
        ({"from": 7, "to": 9, "count": 1}, [7]),
        ({"from": "50 B", "to": "60 B", "step": "5 B"}, ["50 B", "55 B", "60 B"]),
        ({"from": "10 B", "to": "1000 B", "count": 3, "scale": "log"}, ["10 B", "100 B", "1000 B"]),
        # 10 * 10^(1/3), ... in whole bytes.
        ({"from": "10 B", "to": "100 B", "count": 4, "scale": "log"},
         ["10 B", "22 B", "46 B", "100 B"]),
        ({"from": 0.01, "to": 1, "count": 5, "scale": "log"}, [0.01, 0.0316228, 0.1, 0.316228, 1]),
    ],
)  # fmt: skip
def test_a_range_gives_the_numbers_that_a_person_would_write(
    spec: dict[str, Any], values: list[Any]
) -> None:
    assert range_values(spec) == values
    assert list(map(type, range_values(spec))) == list(map(type, values))


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        ({"from": 0.1}, {"code": "missing-key", "key": "to"}),
        ({"from": 0, "to": 1}, {"code": "missing-key", "key": "step"}),
        ({"from": 0, "to": 1, "step": 0.1, "count": 3}, {"code": "missing-key", "key": "step"}),
        (
            {"from": 0, "to": 1, "stpe": 0.1},
            {"code": "unknown-key", "key": "stpe", "nearest": "step"},
        ),
        ({"from": 0, "to": 1, "step": 0}, {"code": "refused", "key": "step"}),
        ({"from": 1, "to": 0, "step": 0.1}, {"code": "refused", "key": "to"}),
        ({"from": 0, "to": 1, "step": 1e-9}, {"code": "too-many"}),
        ({"from": 0, "to": 1, "count": 2, "scale": "log"}, {"code": "refused", "key": "from"}),
        ({"from": 1, "to": 9, "step": 1, "scale": "log"}, {"code": "refused", "key": "step"}),
        (
            {"from": 1, "to": 9, "count": 2, "scale": "square"},
            {"code": "unknown-name", "key": "scale"},
        ),
        ({"from": "1 B", "to": "9 KiB", "step": "1 B"}, {"code": "wrong-unit", "key": "to"}),
        ({"from": 1, "to": "9 B", "step": 1}, {"code": "wrong-unit", "key": "to"}),
        ({"from": "one", "to": 2, "step": 1}, {"code": "wrong-type", "key": "from"}),
        ({"from": float("nan"), "to": 2, "step": 1}, {"code": "wrong-type", "key": "from"}),
    ],
)
def test_a_range_that_is_none_is_refused(spec: dict[str, Any], facts: dict[str, Any]) -> None:
    with raises(InputError, **facts):
        range_values(spec)


def test_a_zip_advances_its_keys_together() -> None:
    sweep = grid({"zip": {"traffic.0.load": [0.1, 0.2], "traffic.long.load": [0.4, 0.3]}})
    assert [dict(point.values) for point in sweep.points()] == [
        {"traffic_0_load": 0.1, "traffic_long_load": 0.4},
        {"traffic_0_load": 0.2, "traffic_long_load": 0.3},
    ]
    loads = [
        [one["load"] for one in point.scenario().resolved()["traffic"]] for point in sweep.points()
    ]
    assert loads == [[0.1, 0.4], [0.2, 0.3]]


def test_keys_share_a_value_by_their_factors() -> None:
    sweep = grid(
        {
            "name": "load",
            "keys": {"traffic.short.load": 0.3, "traffic.long.load": 0.7},
            "values": [0.1, 1],
        }
    )
    loads = [
        [one["load"] for one in point.scenario().resolved()["traffic"]] for point in sweep.points()
    ]
    # 0.3 of 0.1 is 0.03 and not 0.03 with an error in its last digit.
    assert loads == [[0.03, 0.07], [0.3, 0.7]]
    assert [point.values["load"] for point in sweep.points()] == [0.1, 1]


def test_choices_set_what_they_please() -> None:
    sweep = grid(
        {
            "name": "scheme",
            "choices": {
                "as it is": {},
                "one class": {"traffic.1.load": 0.01, "traffic.0.length.fixed": "1 KiB"},
            },
        }
    )
    first, second = (point.scenario().resolved()["traffic"] for point in sweep.points())
    assert [point.values["scheme"] for point in sweep.points()] == ["as it is", "one class"]
    assert (first[1]["load"], second[1]["load"]) == (0.2, 0.01)
    assert second[0]["length"]["fixed"] == "1 KiB"


def test_a_quantity_is_a_number_of_its_base_unit_in_the_table() -> None:
    sweep = grid(
        {"key": "traffic.0.length.fixed", "name": "bytes", "values": ["64 B", "1 KiB"]},
        {"key": "stop.time", "values": ["20 us", "1.5 ms"]},
    )
    assert [tuple(point.values.values()) for point in sweep.points()] == [
        (64, 20_000),
        (64, 1_500_000),
        (1024, 20_000),
        (1024, 1_500_000),
    ]


def test_a_filter_leaves_points_out() -> None:
    loads = {"key": "traffic.0.load", "values": [0.1, 0.5, 0.9]}
    sizes = {"key": "traffic.0.length.fixed", "name": "bytes", "values": ["64 B", "128 B"]}
    sweep = grid(loads, sizes, where="load <= 0.5 or bytes >= 100", replications=3)
    kept = [tuple(point.values.values()) for point in sweep.points()][::3]
    assert kept == [(0.1, 64), (0.1, 128), (0.5, 64), (0.5, 128), (0.9, 128)]
    assert sweep.count() == 15
    assert [point.index for point in sweep.points()] == list(range(15))


def test_a_filter_sees_texts_and_numbers_of_one_axis_as_texts() -> None:
    axis = {"key": "measure.messages", "values": ["all", "sample"]}
    assert grid(axis, where="messages <> 'all'").count() == 1


def write(folder: Path, text: str) -> Path:
    (folder / "star.toml").write_text(STAR)
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


WRONG: list[tuple[str, int | None, dict[str, Any]]] = [
    # A text, the line of the error, and its code, key and nearest name.
    (
        'base = "star.toml"\naxsi = 1\n',
        2,
        {"code": "unknown-key", "key": "axsi", "nearest": "axis"},
    ),
    ('base = "star.toml"\nreplications = 0\n', 2, {"code": "wrong-type", "key": "replications"}),
    ('base = "star.toml"\nseed = "one"\n', 2, {"code": "wrong-type", "key": "seed"}),
    ('base = "star.toml"\nwhere = 1\n', 2, {"code": "wrong-type", "key": "where"}),
    ("seed = 1\n", None, {"code": "missing-key", "key": "base"}),
    ('base = "star.toml"\n[[axis]]\nvalues = [1]\n', 2, {"code": "refused", "key": "axis[0]"}),
    (
        'base = "star.toml"\n[[axis]]\nkey = "traffic.0.load"\nvalues = []\n',
        2,
        {"code": "no-data", "key": "axis.0"},
    ),
    (
        'base = "star.toml"\n[[axis]]\nkey = "traffic.0.load"\nvalue = [1]\n',
        4,
        {"code": "unknown-key", "key": "axis[0].value", "nearest": "values"},
    ),
    (
        'base = "star.toml"\n[[axis]]\nkey = "traffic.0.load"\nvalues = [0.1, 2]\n',
        4,
        {"code": "refused", "key": "axis.0.values.1"},
    ),
    (
        'base = "star.toml"\n[[axis]]\nkey = "traffic.0.laod"\nvalues = [0.1]\n',
        3,
        {"code": "unknown-key", "key": "axis.0.key", "nearest": "load"},
    ),
    (
        'base = "star.toml"\n[[axis]]\nkey = "traffic.shrot.load"\nvalues = [0.1]\n',
        3,
        {"code": "unknown-name", "key": "axis.0.key", "nearest": "short"},
    ),
    (
        'base="star.toml"\n[[axis]]\nzip = { "traffic.0.load" = [1, 1], "traffic.1.load"=[] }\n',
        3,
        {"code": "refused", "key": "axis.0.zip"},
    ),
    (
        'base = "star.toml"\n[set]\n"stop.time" = "20 su"\n',
        3,
        {"code": "wrong-type", "key": 'set."stop.time"'},
    ),
    (f'base = "star.toml"\n{AXIS}{AXIS}', 5, {"code": "refused", "key": "axis.1"}),
    (f'base = "star.toml"\n{AXIS}name = "verdict"\n', 5, {"code": "refused", "key": "axis.0.name"}),
    (f'base = "star.toml"\n{AXIS}name = "a load"\n', 5, {"code": "refused", "key": "axis.0.name"}),
    (
        'base = "star.toml"\n[[axis]]\nkey = "seed"\nvalues = [1]\n',
        2,
        {"code": "refused", "key": "axis.0.seed"},
    ),
    ('base = "star.toml"\nseed = \n', 2, {"code": "syntax"}),
    (
        (
            '[scenario]\nstop.time = "20 us"\ntopology.generate.star = { hosts = 4 }\n'
            '[[scenario.traffic]]\nlaod = 0.1\nlength = { fixed = "64 B" }\n'
        ),
        5,
        {"code": "unknown-key", "key": "traffic[0].laod", "nearest": "load"},
    ),
    ('base = "torsu"\n', 1, {"code": "unknown-name", "key": "base", "nearest": "torus"}),
    (
        f'base = "star.toml"\nwhere = "laod > 3"\n{AXIS}',
        2,
        {"code": "bad-query", "key": "where", "nearest": "load"},
    ),
    (
        'base = "star.toml"\nkeep = ["mesages"]\n',
        2,
        {"code": "unknown-table", "key": "keep", "nearest": "messages"},
    ),
    ('base = "star.toml"\nkeep = ["classes"]\n', 2, {"code": "unknown-table", "key": "keep"}),
    (
        f'base = "star.toml"\n{AXIS}'.replace("0.2", "0.10"),
        4,
        {"code": "refused", "key": "axis.0.values"},
    ),
    (
        (
            'base = "star.toml"\n[[axis]]\nkey = "traffic.0.length.fixed"\n'
            'values = ["1 KiB", "64 B", "1024 B"]\n'
        ),
        4,
        {"code": "refused", "key": "axis.0.values"},
    ),
]


@pytest.mark.parametrize(("text", "line", "facts"), WRONG)
def test_a_wrong_file_is_said_with_its_line(
    text: str, line: int | None, facts: dict[str, Any], tmp_path: Path, gingham: Command
) -> None:
    path = write(tmp_path, text)
    error = require_error(gingham("sweep", path, "--json"), file=path, **facts)
    assert error["line"] == line
    assert {one.name for one in tmp_path.iterdir()} == {"star.toml", "sweep.toml"}


def test_values_are_tried_before_the_start_where_that_is_cheap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[dict[str, Any]] = []

    def begin(scenario: Scenario, _switches: object) -> None:
        begun.append(scenario.resolved())

    monkeypatch.setattr(FABRIC, "begin", begin)
    size = '[[axis]]\nkey = "topology.generate.star.hosts"\nvalues = [4, 5, 6]\n'
    Sweep.load(write(tmp_path, f'base = "star.toml"\n{size}{AXIS}'))
    # Each load is checked once, without a check of each fabric.
    assert [one["traffic"][0]["load"] for one in begun] == [0.1, 0.2]
    monkeypatch.setattr("gingham.sweeps._check.VALUES_SECONDS", -1.0)
    begun.clear()
    Sweep.load(write(tmp_path, f'base = "star.toml"\n{AXIS}'))
    assert len(begun) == 1


@pytest.mark.parametrize(
    ("condition", "facts"),
    [
        ("laod < 1", {"code": "bad-query", "key": "where", "line": 2, "nearest": "load"}),
        ("load <", {"code": "bad-query", "key": "where", "line": 2}),
        ("load + 1", {"code": "bad-query", "key": "where", "line": 2}),
        (
            "true) from points; drop table points --",
            {"code": "bad-query", "key": "where", "line": 2},
        ),
        ("load > 5", {"code": "no-data", "key": "where"}),
        ("load in (select unnest(range(3)))", {"code": "no-data", "key": "where"}),
    ],
)
def test_a_filter_that_cannot_be_used_is_said(
    condition: str, facts: dict[str, Any], tmp_path: Path, gingham: Command
) -> None:
    path = write(tmp_path, f'base = "star.toml"\nwhere = """{condition}"""\n{AXIS}')
    require_error(gingham("sweep", path, "--json"), file=path, **facts)


def test_a_million_runs_must_be_meant(tmp_path: Path, gingham: Command) -> None:
    many = '[[axis]]\nkey = "traffic.0.load"\nrange = { from = 0.001, to = 1, count = 1000 }\n'
    path = write(tmp_path, f'base = "star.toml"\nreplications = 1000\n{many}')
    error = require_error(gingham("sweep", path, "--json"), "too-many", file=path)
    assert "--yes" in error["message"]
    allowed = gingham("sweep", path, "--yes", "--dry-run", "--json")
    assert json.loads(allowed.out)["runs"] == 1_000_000


def test_a_run_that_fails_is_counted_and_stops_no_other(tmp_path: Path, gingham: Command) -> None:
    # Only the run itself discovers that the file is missing.
    hosts = "{ generate = { star = { hosts = 4 } } }"
    axis = f"""[[axis]]
name = "fabric"
[axis.choices]
small.topology = {hosts}
missing.topology = {{ file = "missing.toml" }}
large.topology = {hosts.replace("4", "5")}
"""
    path = write(tmp_path, f'base = "star.toml"\n{axis}')
    ended = gingham("sweep", path, "-o", tmp_path / "out", "--json")
    assert ended.code == 5, ended
    told = json.loads(ended.out)
    assert (told["done"], told["failed"]) == (3, 1)
    again = gingham("sweep", path, "-o", tmp_path / "out", "--resume", "--json")
    assert again.code == 5
    assert (json.loads(again.out)["resumed"], json.loads(again.out)["failed"]) == (2, 1)


def test_a_sweep_needs_no_file(tmp_path: Path) -> None:
    values = {
        "scenario": {
            "stop": {"time": "20 us"},
            "topology": {"generate": {"star": {"hosts": 3}}},
            "traffic": [{"load": 0.1, "length": {"fixed": "64 B"}}],
        },
        "axis": [{"key": "traffic.0.load", "values": [0.1, 0.3]}],
    }
    results = run_sweep(Sweep.make(values), tmp_path / "out")
    assert results.arrow().column("load").to_pylist() == [0.1, 0.3]


def test_files_that_a_scenario_names_are_part_of_the_key(tmp_path: Path) -> None:
    star = STAR.replace('length = { fixed = "64 B" }', 'length = { empirical = "sizes.csv" }')
    (tmp_path / "sizes.csv").write_text("payload_bytes,weight\n64,1\n")
    path = write(tmp_path, 'base = "star.toml"\n')
    (tmp_path / "star.toml").write_text(star)
    run_sweep(Sweep.load(path), tmp_path / "out")
    (tmp_path / "sizes.csv").write_text("payload_bytes,weight\n64,1\n128,1\n")
    counts = []
    run_sweep(
        Sweep.load(path),
        tmp_path / "out",
        resume=True,
        on_progress=lambda now: counts.append((now.resumed, now.done, now.failed)),
    )
    assert counts[-1] == (0, 1, 0)


def test_a_combination_that_cannot_be_is_a_failed_run(tmp_path: Path) -> None:
    # Either alone is a scenario; both together generate two fabrics.
    ring = {"topology.generate": {"ring": {"switches": 3, "hosts_per_switch": 1}}}
    sweep = grid(
        {"name": "fabric", "choices": {"star": {}, "ring": ring}},
        {"name": "size", "choices": {"four": {}, "five": {"topology.generate.star.hosts": 5}}},
    )
    results = run_sweep(sweep, tmp_path / "out")
    verdicts = results.arrow().select(["fabric", "size", "verdict", "error"]).to_pylist()
    failed = [row for row in verdicts if row["verdict"] == "failed"]
    assert [(row["fabric"], row["size"]) for row in failed] == [("ring", "five")]
    assert "topology.generate" in failed[0]["error"]


def test_the_load_of_a_run_is_over_all_hosts_that_send(tmp_path: Path) -> None:
    # One host of four at 0.4, three at 0.2: (0.4 + 3 x 0.2) / 4.
    scenario = Scenario.parse(STAR).with_(
        {
            "traffic.0.hosts": ["h0"],
            "traffic.0.load": 0.4,
            "traffic.1.hosts": ["h1", "h2", "h3"],
        }
    )
    results = run_sweep(Sweep.make({}, base=scenario), tmp_path / "out")
    assert results.arrow().column("offered_load").to_pylist() == [pytest.approx(0.25)]


@pytest.mark.parametrize(
    ("more", "facts"),
    [
        (
            'keep = ["mesages"]\n',
            {"code": "unknown-table", "key": "keep", "line": 2, "nearest": "messages"},
        ),
        ('[set]\n"measure.messages" = "all"\n', {"code": "refused", "key": "measure.messages"}),
    ],
)
def test_tables_that_a_sweep_cannot_keep_are_refused(
    more: str, facts: dict[str, Any], tmp_path: Path
) -> None:
    path = write(tmp_path, f'base = "star.toml"\n{more}')
    with raises(InputError, file=path, **facts):
        Sweep.load(path)


def test_a_table_of_each_run_is_kept_by_choice(tmp_path: Path) -> None:
    sweep = grid({"key": "traffic.0.load", "values": [0.1, 0.2]}, keep=["messages", "links"])
    results = run_sweep(sweep, tmp_path / "out")
    counts = results.query("select load, count(*) as n from messages group by load order by load")
    followed = results.arrow().column("messages_followed").to_pylist()
    assert counts.column("n").to_pylist() == followed


def test_progress_says_what_is_done_and_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    moments = iter(range(0, 10_000, 5))
    monkeypatch.setattr(time, "monotonic", lambda: next(moments))
    monkeypatch.setattr(_sweep_progress, "say", lambda said, **fields: told.append((said, fields)))
    on_progress = _sweep_progress.lines()
    for done in range(5):
        now = SweepProgress(10, resumed=2, done=done, failed=done // 4, began=0, ended=2)
        on_progress(now)
    # A moment is 5 s: the first line comes when 2 s have passed, the others 10 s apart.
    assert [said for said, _ in told] == [
        "making runs: 2 of 10 done; 8 to do",
        "making runs: 4 of 10 done; 6 to do, 1.0 runs/s, 6 s left",
        "making runs: 6 of 10 done; 4 to do, 2.0 runs/s, 2 s left, 1 failed",
    ]
    assert told[1][1]["seconds_left"] == 6.0


def test_a_sweep_that_is_resumed_says_what_is_there(tmp_path: Path, gingham: Command) -> None:
    path = write(tmp_path, f'base = "star.toml"\nreplications = 3\n{AXIS}')
    first = gingham("sweep", path, "-o", "out")
    assert "6 runs (2 points x 3 replications)" in first.err
    assert "6 runs made" in first.out
    again = gingham("sweep", path, "-o", "out", "--resume")
    assert "6 runs (2 points x 3 replications), 6 are there" in again.err
    assert "0 runs made, 6 were there" in again.out
    refused = gingham("sweep", path, "-o", "out", "--json")
    assert "--resume" in require_error(refused, "exists", file="out")["message"]


def test_resumed_with_another_file_only_its_own_runs_count(
    tmp_path: Path, gingham: Command
) -> None:
    path = write(tmp_path, f'base = "star.toml"\nreplications = 3\n{AXIS}')
    assert gingham("sweep", path, "-o", "out").code == 0
    # The new file has three of the six runs, and three others.
    path.write_text(path.read_text().replace("[0.1, 0.2]", "[0.1, 0.3]"))
    again = gingham("sweep", path, "-o", "out", "--resume", "--json")
    assert json.loads(again.err.splitlines()[0])["there"] == 3
    told = json.loads(again.out)
    assert (told["done"], told["resumed"]) == (3, 3)
    assert sum(told["verdicts"].values()) == 6


def test_rates_are_the_same_numbers_as_in_scenarios() -> None:
    torus = Scenario.example("torus")
    rates = [unit for unit in UNITS if unit.endswith(("/s", "ps")) and unit != "ps"]
    assert {"Gbps", "Gb/s", "Gbit/s", "GBps", "TB/s", "bps"} <= set(rates)
    assert len(rates) == 25
    for unit in rates:
        resolved = torus.with_({"network.link_rate": f"8 {unit}"}).resolved()
        told = resolved["network"]["link_rate"]
        assert column_value(told) == column_value(f"8 {unit}"), unit
