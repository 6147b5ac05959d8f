"""Results of sweeps: tables, queries, means with their intervals, paired differences.

The folder is written by hand: two loads under two routings, three replications each, with latencies
whose means and intervals are worked out here.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gingham import _signals
from gingham.cli import _query
from gingham.errors import EnvironmentProblem, InputError
from gingham.results import Interval, Results, _asking, interval
from gingham.store import SweepFolder, query_guard
from tests.conftest import TIMEOUT_S, Finished, wait_until
from tests.refusals import raises, require_error

Gingham = Callable[..., Finished]
# Student's t: the 97.5 % point for two degrees of freedom is 0.95 sqrt(2 / (1 - 0.95²)).
T_2 = 0.95 * math.sqrt(2 / (1 - 0.95**2))

# Load, routing, and the mean latency of each replication; None is a run that failed.
LATENCIES: list[tuple[float, str, list[float | None]]] = [
    (0.1, "tree", [9.0, 10.0, 11.0]),
    (0.1, "cube", [10.0, 12.0, 14.0]),
    (0.2, "tree", [20.0, 30.0, 40.0]),
    (0.2, "cube", [22.0, None, 46.0]),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    manifest = {
        "sweep": {"title": "by hand", "keep": ["messages"]},
        "columns": {"load": "double", "routing": "string"},
        "core": "0",
    }
    cases = [
        (load, routing, number, latency)
        for load, routing, latencies in LATENCIES
        for number, latency in enumerate(latencies)
    ]
    keys = [f"{load}-{routing}-{number}" for load, routing, number, _ in cases]
    loads, routings, numbers, _ = (list(column) for column in zip(*cases, strict=True))
    points = {
        "point": list(range(len(cases))),
        "load": loads,
        "routing": routings,
        "replication": numbers,
        "key": keys,
    }
    path = tmp_path / "by-hand"
    with SweepFolder(path, manifest) as opened:
        opened.write_points(0, pa.table(points))
        # Rows in another order than planned.
        for key, (load, _, number, latency) in sorted(
            zip(keys, cases, strict=True), key=lambda one: one[1][2]
        ):
            add(opened, key, load, number, latency)
    return path


def add(opened: SweepFolder, key: str, load: float, number: int, latency: float | None) -> None:
    row: dict[str, Any] = {"key": key, "seed": number}
    classes, tables = [], {}
    if latency is None:
        row |= {"verdict": "failed", "error": "the reason"}
    else:
        row |= {"verdict": "ok", "latency_mean_ns": latency, "offered_load": load}
        classes = [
            {"key": key, "class": name, "verdict": "ok", "latency_mean_ns": factor * latency}
            for name, factor in (("high", 0.5), ("low", 2.0))
        ]
        buffer = pa.BufferOutputStream()
        pq.write_table(pa.table({"message": [0, 1], "latency_ps": [1, number]}), buffer)
        tables = {"messages": buffer.getvalue().to_pybytes()}
    opened.add(
        row,
        {"classes": classes},
        {"key": key, "began": f"2026-01-01T00:00:0{number}", "host": "here"},
        tables,
    )


@pytest.fixture
def results(folder: Path) -> Results:
    return Results.load(folder)


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def test_an_interval_is_students() -> None:
    three = interval([9.0, 10.0, 11.0])
    assert (three.mean, three.count) == (10.0, 3)
    assert three.half_width == pytest.approx(T_2 / math.sqrt(3))
    assert Interval(10.0, 2.0, 3).low == 8.0
    # One degree of freedom: t = tan(0.475 pi); the deviation of 1 and 3 is sqrt(2).
    assert interval([1.0, 3.0]).half_width == pytest.approx(math.tan(0.475 * math.pi))
    alone = interval([7.0])
    assert (alone.mean, alone.half_width, alone.low, alone.high) == (7.0, None, None, None)
    same = interval([5.0, 5.0])
    assert (same.low, same.high) == (5.0, 5.0)


def test_tables_come_in_the_order_of_the_points(results: Results) -> None:
    runs = results.arrow()
    assert runs["point"].to_pylist() == list(range(12))
    assert runs["routing"].to_pylist() == [name for _, name, _ in LATENCIES for _ in range(3)]
    latencies = [latency for *_, of_point in LATENCIES for latency in of_point]
    assert runs["latency_mean_ns"].to_pylist() == latencies
    assert results.arrow("classes")["class"].to_pylist() == ["high", "low"] * 11
    assert (results.title, results.axes) == ("by hand", ["load", "routing"])


def test_pandas_and_polars_hold_the_same(results: Results) -> None:
    frame = results.pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["latency_mean_ns"].sum() == 30 + 36 + 90 + 68
    polars = results.polars("classes")
    assert isinstance(polars, pl.DataFrame)
    assert polars["latency_mean_ns"].sum() == 2.5 * (30 + 36 + 90 + 68)


def test_a_frame_needs_its_package(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gingham.extras.find_spec", lambda _: None)
    with raises(EnvironmentProblem, "extra-not-installed"):
        results.polars()


def test_the_question_of_every_day_is_answered(results: Results) -> None:
    answer = results.query(
        "select load, mean_latency_ns from runs where verdict = 'ok' order by load, point"
    )
    expected = [
        (load, latency) for load, _, latencies in LATENCIES for latency in latencies if latency
    ]
    assert rows(answer) == expected


def test_a_table_that_the_sweep_keeps_has_the_columns_of_the_axes(results: Results) -> None:
    answer = results.query(
        "select load, routing, replication, sum(latency_ps) from messages where load = 0.2 "
        "group by all order by all"
    )
    assert rows(answer) == [
        (0.2, "cube", 0, 1),
        (0.2, "cube", 2, 3),
        (0.2, "tree", 0, 1),
        (0.2, "tree", 1, 2),
        (0.2, "tree", 2, 3),
    ]


def test_a_sweep_without_a_finished_run_has_tables_without_rows(tmp_path: Path) -> None:
    manifest = {"sweep": {"title": "", "keep": ["nodes"]}, "columns": {"load": "double"}}
    with SweepFolder(tmp_path / "empty", manifest):
        pass
    results = Results.load(tmp_path / "empty")
    assert list(results.columns) == ["runs", "classes", "points", "provenance"]
    assert (results.arrow().num_rows, results.means("latency_mean_ns").num_rows) == (0, 0)


def test_results_stay_readable_while_the_sweep_puts_its_files_together(tmp_path: Path) -> None:
    manifest = {"sweep": {"title": "", "keep": []}, "columns": {"load": "double"}}
    seen = []
    results = None
    # Every session leaves a shard, and eight of them become one.
    for session in range(10):
        with SweepFolder(tmp_path / "out", manifest, resume=session > 0) as opened:
            key = str(session)
            opened.write_points(
                session,
                pa.table({"point": [session], "load": [0.1], "replication": [0], "key": [key]}),
            )
            add(opened, key, 0.1, session, 1.0 + session)
        results = results or Results.load(tmp_path / "out")
        seen.append(results.query("select count(*) as runs from runs")["runs"][0].as_py())
    assert set(seen[:7]) == {1}
    assert seen[-1] >= 8


def test_means_over_replications(results: Results) -> None:
    means = results.means("latency_mean_ns")
    assert means.column_names == ["load", "routing", "replications", "mean", "half_width"]
    # Deviations 1, 2, 10; of 22 and 46 it is 12 sqrt(2), and the failed run does not count.
    one_degree = 12 * math.tan(0.475 * math.pi)
    by_root_3 = T_2 / math.sqrt(3)
    expected = [
        (0.1, "tree", 3, 10.0, by_root_3),
        (0.1, "cube", 3, 12.0, 2 * by_root_3),
        (0.2, "tree", 3, 30.0, 10 * by_root_3),
        (0.2, "cube", 2, 34.0, one_degree),
    ]
    assert rows(means) == [pytest.approx(row) for row in expected]


def test_means_of_a_class_and_of_some_rows(results: Results) -> None:
    by_class = results.means("latency_mean_ns", table="classes", where="load = 0.1")
    found = {(routing, name): mean for _, routing, name, _, mean, _ in rows(by_class)}
    assert found == {
        ("tree", "high"): 5.0,
        ("tree", "low"): 20.0,
        ("cube", "high"): 6.0,
        ("cube", "low"): 24.0,
    }
    one = results.means("latency_mean_ns", by="load", where="routing = 'tree' and replication = 0")
    assert rows(one) == [(0.1, 1, 9.0, None), (0.2, 1, 20.0, None)]
    nothing = results.means("latency_mean_ns", where="load > 1")
    assert (nothing.num_rows, nothing.schema.field("routing").type) == (0, pa.string())


def test_replications_are_compared_in_pairs(results: Results) -> None:
    found = results.compare({"routing": "tree"}, {"routing": "cube"}, of="latency_mean_ns")
    assert found.column_names == ["load", "pairs", "mean_a", "mean_b", "difference", "half_width"]
    # Differences 1, 2, 3; then 2 and 6 of deviation 2 sqrt(2): replication 1 failed on one side.
    expected = [
        (0.1, 3, 10.0, 12.0, 2.0, T_2 / math.sqrt(3)),
        (0.2, 2, 30.0, 34.0, 4.0, 2 * math.tan(0.475 * math.pi)),
    ]
    assert rows(found) == [pytest.approx(row) for row in expected]


def test_sides_may_be_conditions(results: Results) -> None:
    found = results.compare(
        "load < 0.15", "load > 0.15", of="latency_mean_ns", by="routing", where="replication < 2"
    )
    # Of the tree 20 - 9 and 30 - 10, of the cube 22 - 10.
    expected = [
        ("tree", 2, 9.5, 25.0, 15.5, 4.5 * math.tan(0.475 * math.pi)),
        ("cube", 1, 10.0, 22.0, 12.0, None),
    ]
    assert rows(found) == [pytest.approx(row) for row in expected]


@pytest.mark.parametrize(
    ("ask", "facts"),
    [
        (lambda r: r.means("latency_mean_ns", by="load"), {"code": "several-rows", "key": "by"}),
        (
            lambda r: r.means("latency_mean_ns", table="classes", by="load"),
            {"code": "several-rows", "key": "by"},
        ),
        (lambda r: r.means("verdict"), {"code": "wrong-type", "key": "verdict"}),
        (lambda r: r.means("latency"), {"code": "unknown-name", "key": "sql"}),
        (
            lambda r: r.compare("load > 5", "load < 5", of="latency_mean_ns"),
            {"code": "no-data", "key": "by"},
        ),
        (lambda r: r.arrow("rnus"), {"code": "unknown-table", "nearest": "runs"}),
    ],
)
def test_what_makes_no_mean_is_refused(
    results: Results, ask: Callable[[Results], object], facts: dict[str, Any]
) -> None:
    with raises(InputError, **facts):
        ask(results)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("get load from runs", 'syntax error at or near "get"'),
        ("select laod from runs", 'did you mean "load"?'),
        ("select * from rnus", 'did you mean "runs"?'),
        ("select load + verdict from runs", "No function matches"),
        ("select cast(verdict as int) from runs", "Could not convert string 'ok'"),
        ("select 1; select 2", "expected one query that reads"),
        ("copy runs to 'x.csv'", "expected one query that reads"),
        ("", "expected one query that reads"),
    ],
)
def test_a_question_that_cannot_be_answered_is_told_in_a_few_lines(
    results: Results, sql: str, said: str
) -> None:
    with pytest.raises(InputError) as refused:
        results.query(sql)
    message = str(refused.value)
    assert said in message
    assert "tables are runs, classes, points, provenance, messages" in message
    assert len(message.splitlines()) <= 4


INTERRUPTIONS = [
    RuntimeError("Query interrupted"),
    duckdb.InterruptException("INTERRUPT Error: Interrupted!"),
    duckdb.InvalidInputException("Invalid Input Error: Python exception: KeyboardInterrupt"),
]


class Pressed:
    """A connection whose query is interrupted by Ctrl-C."""

    def __init__(self, results: Results, error: Exception) -> None:
        self.error = error
        self.extract_statements = results._connection.extract_statements
        self.get_table_names = results._connection.get_table_names

    def sql(self, _query: str) -> None:
        raise self.error

    def interrupt(self) -> None:
        raise AssertionError("the database has noticed itself")


@pytest.mark.parametrize("error", INTERRUPTIONS)
def test_an_interrupted_question_is_no_wrong_one(
    error: Exception, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "_connection", Pressed(results, error))
    with pytest.raises(KeyboardInterrupt):
        results.query("from runs")


def test_a_question_after_an_interruption_is_not_interrupted(results: Results) -> None:
    try:
        signal.default_int_handler(signal.SIGINT, None)
    except KeyboardInterrupt:
        with raises(InputError, "unknown-name", key="sql"):
            results.query("from nowhere")


class Interrupted(Event):
    """An event whose wait without a timeout is interrupted by Ctrl-C."""

    def wait(self, timeout: float | None = None) -> bool:
        if timeout is None:
            raise KeyboardInterrupt
        return super().wait(timeout)


def test_a_question_that_does_not_listen_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that ignores the request to stop is left to run."""
    asked, free = Event(), Event()
    monkeypatch.setattr(_asking, "Event", Interrupted)
    monkeypatch.setattr(_signals, "_left", [])
    try:
        with pytest.raises(KeyboardInterrupt):
            _asking.answered(lambda: free.wait(TIMEOUT_S), asked.set)
    finally:
        free.set()
    assert asked.is_set()
    assert _signals.left_behind()


def test_a_question_that_listens_ends_with_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="so"):
        _asking.answered(lambda: int("so"), lambda: None)
    assert _asking.answered(lambda: 3, lambda: None) == 3
    free = Event()
    monkeypatch.setattr(_asking, "Event", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        _asking.answered(lambda: free.wait(TIMEOUT_S), free.set)
    assert not _signals.left_behind()


def test_query_ends_at_once_on_ctrl_c_whatever_is_asked(folder: Path) -> None:
    """DuckDB notices an interruption of this query only at its end, in about a minute."""
    sql = "select string_agg(range::varchar) from range(500000000)"
    start = "from gingham.cli import main; main()"
    command = [sys.executable, "-c", start, "query", str(folder), sql]
    asking = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stat = Path(f"/proc/{asking.pid}/stat")

    def has_begun() -> bool:
        # Processor time, in hundredths of a second: more than the start of the process takes.
        user = int(stat.read_text().rpartition(")")[2].split()[11])
        return user > 300

    try:
        wait_until(has_begun)
        asking.send_signal(signal.SIGINT)
        _, told = asking.communicate(timeout=TIMEOUT_S)
    finally:
        asking.kill()
    assert (asking.returncode, told) == (130, "gingham: interrupted; nothing was written\n")


def test_another_fault_of_the_database_is_no_interruption() -> None:
    with pytest.raises(RuntimeError), query_guard():
        raise RuntimeError("not so")


def test_results_say_what_they_hold(results: Results) -> None:
    # Twelve runs: four points of three replications.
    assert repr(results) == (
        f"<Results of 'by hand': axes load, routing; 12 runs in {str(results.folder)!r}>"
    )


def test_a_file_that_is_not_there_is_told(results: Results) -> None:
    with raises(InputError, "bad-query", key="sql"):
        results.query("from 'nowhere.parquet'")


def test_the_command_answers_people_and_programs(folder: Path, gingham: Gingham) -> None:
    sql = "select load, count(*) as runs from runs where verdict = 'ok' group by all order by load"
    told = gingham("query", folder, sql)
    assert told.code == 0, told.err
    assert [line.split() for line in told.out.split("\n")[-4:-2]] == [["0.1", "6"], ["0.2", "5"]]
    answer = json.loads(gingham("query", folder, sql, "--json").out)
    assert answer["rows"] == [{"load": 0.1, "runs": 6}, {"load": 0.2, "runs": 5}]


def test_what_is_wider_than_the_terminal_is_printed_row_below_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "0123456789abcdef"
    answer = pa.table({"key": [key] * 30, "verdict": ["ok"] * 30, "error": ["why"] * 30})
    # 8, 7 and 5 digits, two between columns, one at both ends.
    monkeypatch.setenv("COLUMNS", "26")
    _query.print_answer(answer)
    beside = capsys.readouterr().out.splitlines()
    assert beside[0] == "30 rows"
    assert [line.split() for line in beside].count(["01234567", "ok", "why"]) == 30
    monkeypatch.setenv("COLUMNS", "25")
    _query.print_answer(answer)
    below = capsys.readouterr().out.splitlines()
    assert [line.split() for line in below[:5]] == [
        ["30", "rows"],
        ["row", "1"],
        ["key", "01234567"],
        ["verdict", "ok"],
        ["error", "why"],
    ]
    assert below[-1] == "10 more rows; --json or -o FILE gives all"
    assert len(below) == 1 + 20 * 4 + 2
    assert _query.answer_for_programs(answer, None)["rows"][0]["key"] == key


def test_the_command_lists_columns_and_writes_files(folder: Path, gingham: Gingham) -> None:
    listed = json.loads(gingham("query", folder, "--json").out)
    assert listed["axes"] == ["load", "routing"]
    assert "mean_latency_ns" in listed["tables"]["runs"]
    assert "  point, load, routing, replication, key" in gingham("query", folder).out
    target = folder.parent / "answer.csv"
    assert gingham("query", folder, "select 1 as one", "-o", target).code == 0
    assert target.read_text().splitlines() == ['"one"', "1"]
    assert gingham("query", folder, "select 1 as one", "-o", target).code == 2
    parquet = folder.parent / "answer.parquet"
    assert gingham("query", folder, "from runs", "-o", parquet, "--json").code == 0
    assert pq.read_table(parquet).num_rows == 12


def test_a_column_of_another_table_is_named_with_its_table(folder: Path, gingham: Gingham) -> None:
    query = "select latency_half_width_ns from runs"
    told = json.loads(gingham("query", folder, query, "--json").err)
    assert "; it is a column of classes\n" in told["message"]
    assert told["nearest"] is None


def test_the_command_refuses_in_one_message(folder: Path, gingham: Gingham) -> None:
    refused = gingham("query", folder, "get", "--json")
    require_error(refused, "bad-query", key="sql")
    assert refused.out == ""
    missing = folder.parent / "by-hnad"
    require_error(gingham("query", missing, "--json"), "no-folder", file=missing)
    ending = gingham("query", folder, "select 1", "-o", "x.txt", "--json")
    require_error(ending, "unknown-ending", file="x.txt")
