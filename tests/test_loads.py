"""Curves and saturation loads.

Two hosts at a switch; one of them sends messages of 512 B at full rate. At 160 MB/s a flit takes
6.25 ns. A packet has a route byte, two type bytes and a trailer. The switch strips the route byte,
so its output is held for 150 ns of set-up and 515 flits. The accepted load is
512 x 6.25 / (150 + 515 x 6.25) = 0.9499.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from gingham import DeadlockError, Fabric, InputError, Scenario
from gingham.cli import _workers
from gingham.cli._main import run
from gingham.cli._saturation import facts
from gingham.errors import EnvironmentProblem, GinghamError, InternalError
from gingham.kinds import _fabric
from gingham.loads import Saturation, curve, curve_sweep, load_axis, load_values, saturation
from gingham.loads._saturation import Bracket, between, middles, read_brackets, require_measured
from gingham.results import Results
from gingham.store import SweepFolder
from gingham.sweeps import SweepProgress
from gingham.sweeps._work import failed_row
from tests.conftest import Finished
from tests.refusals import error_of, raises

TAKEN = 512 * 6.25 / (150 + 515 * 6.25)
LINE = """
stop.time = "4 ms"
topology.generate.star = { hosts = 2 }
[[traffic]]
name = "one"
hosts = ["h0"]
arrivals = "constant"
load = 0.5
length = { fixed = "512 B" }
"""
TORUS = """
stop.time = "300 us"
topology.generate.torus = { dimensions = [4, 4], hosts_per_switch = 1 }
[[traffic]]
load = 0.1
length = { fixed = "512 B" }
"""


def line() -> Scenario:
    return Scenario.parse(LINE)


def torus() -> Scenario:
    return Scenario.parse(TORUS, name="torus")


def test_the_saturation_load_of_one_sender_is_that_of_the_switch(tmp_path: Path) -> None:
    found = saturation(line(), tmp_path / "out", replications=2, tolerance=0.004)
    assert found.load is not None
    # A saturated queue must grow by more than its interval, which here needs a load of .964. Runs
    # with loads between the two have a trend, and count neither as accepted nor as saturated.
    assert found.load.mean == pytest.approx(TAKEN, abs=0.01)
    assert found.load.half_width is not None
    # Bisection ends at a bracket of 0.004: at least half of it to each side.
    assert found.load.half_width > 0.0019
    for bracket in found.brackets:
        assert bracket.high is not None
        assert bracket.low < TAKEN < bracket.high < TAKEN + 0.02
        assert bracket.unknown[0] - bracket.low <= 0.004
        assert bracket.high - bracket.unknown[-1] <= 0.004
        assert bracket.accepted == pytest.approx(TAKEN, abs=0.01)
    # Up to four loads from 1/8 to 1, then seven halvings of at most half of the range. Both
    # replications share these except the last ones.
    assert found.runs <= 2 * 14


def test_a_load_that_is_always_taken_has_no_upper_end(tmp_path: Path) -> None:
    found = saturation(line(), tmp_path / "out", replications=2, upto=0.8)
    # The search doubles the load from an eighth, or starts around the bound: at most four loads.
    assert (found.load, found.tried) == (None, 0.8)
    assert found.runs <= 2 * 4
    assert [one.high for one in found.brackets] == [None, None]


def test_saturation_goes_on_where_it_was(tmp_path: Path) -> None:
    first = saturation(line(), tmp_path / "out", replications=1, tolerance=0.1)
    made = 0

    def on_progress(now: SweepProgress) -> None:
        nonlocal made
        made = max(made, now.done)

    again = saturation(
        line(),
        tmp_path / "out",
        replications=1,
        tolerance=0.05,
        resume=True,
        on_progress=on_progress,
    )
    assert (again.runs, made) == (first.runs + 1, 1)


def test_brackets_are_between_the_highest_taken_and_the_lowest_saturated(tmp_path: Path) -> None:
    # The second replication accepts 0.3 by chance, but not 0.2: the lowest saturated load counts.
    cases = [(0.1, 0, "ok"), (0.2, 0, "ok"), (0.3, 0, "saturated")]
    cases += [(0.1, 1, "ok"), (0.2, 1, "saturated"), (0.3, 1, "ok")]
    by_hand(tmp_path / "out", cases)
    assert list(read_brackets(Results.load(tmp_path / "out"))) == [
        Bracket(0.2, 0.3, accepted=0.9 * 0.3),
        Bracket(0.1, 0.2, accepted=0.9 * 0.2),
    ]


def test_what_did_not_converge_is_not_read(tmp_path: Path) -> None:
    unclear = "not-converged"
    # Below an accepted load it has no effect; above, the load is neither accepted nor saturated.
    cases = [(0.1, 0, unclear), (0.2, 0, "ok"), (0.3, 0, unclear), (0.4, 0, "saturated")]
    cases += [(0.1, 1, "ok"), (0.2, 1, unclear), (0.3, 1, unclear), (0.4, 1, unclear)]
    by_hand(tmp_path / "out", cases)
    brackets = list(read_brackets(Results.load(tmp_path / "out")))
    assert brackets == [
        Bracket(0.2, 0.4, 0.9 * 0.4, unknown=(0.3,)),
        Bracket(0.1, None, unknown=(0.2, 0.3, 0.4)),
    ]
    # Both sides of an unknown load are tried, but none above a bracket without an upper end.
    assert middles(brackets, 0.05) == [0.15, 0.25, 0.35]
    assert middles(brackets, 0.1) == []
    found = Saturation(None, None, tuple(brackets), 0.4, 8, 4)
    said = [text for _, text in facts(found, tmp_path, 0.1)]
    assert said[0] == "above 0.1"
    assert said[1] == (
        "1 of 2 replications cannot tell above that: their runs did not converge, and none is "
        "saturated"
    )


def test_runs_whose_workload_ends_have_no_saturation_load(
    tmp_path: Path, gingham: Callable[..., Finished]
) -> None:
    (tmp_path / "ends.toml").write_text(LINE + 'stop = "1 ms"\n')
    asked = ("saturation", "ends.toml", "--replications", "2", "--upto", "0.5")
    found = gingham(*asked)
    assert found.code == 0, found.err
    assert "their runs ended with their workload, and none is saturated" in " ".join(
        found.out.split()
    )
    assert "did not converge" not in found.out + found.err
    told = json.loads(gingham(*asked, "--resume", "--json").out)
    assert (told["finished"], told["not_converged"]) == (told["runs"], 0)
    assert "runs ended with their workload and are not used" in " ".join(found.err.split())


@pytest.mark.parametrize(
    ("brackets", "tolerance", "told"),
    [
        ([(0.125, 0.25), (0.125, 0.25)], 0.1,
         "each between 0.125 and 0.25; tolerance of 0.1 not reached"),
        ([(0.125, 0.25), (0.125, 0.25)], 0.125, "each between 0.125 and 0.25"),
        ([(0.25, 0.5), (0.25, 0.3), (0.25, 0.3)], 0.05,
         "2 between 0.25 and 0.3, 1 between 0.25 and 0.5; tolerance of 0.05 not reached by 1 of 3"),
    ],
)  # fmt: skip
def test_brackets_say_whether_the_tolerance_is_reached(
    brackets: list[tuple[float, float]], tolerance: float, told: str
) -> None:
    both = tuple(Bracket(low, high) for low, high in brackets)
    found = Saturation(between(brackets), None, both, 1.0, 8, 0)
    rows = dict(facts(found, Path("out"), tolerance))
    assert rows["replications"] == told


def test_a_run_that_stood_still_ends_the_search(tmp_path: Path) -> None:
    by_hand(tmp_path / "out", [(0.1, 0, "deadlocked")])
    with raises(DeadlockError, "deadlock"):
        list(read_brackets(Results.load(tmp_path / "out")))


@pytest.mark.parametrize(
    ("error", "code"),
    [(InputError("so"), 2), (DeadlockError("so"), 3), (EnvironmentProblem("so"), 6)],
)
def test_a_failed_run_ends_the_search_with_its_own_error(error: GinghamError, code: int) -> None:
    row = failed_row("key", 1, error) | {"load": 0.1}
    with pytest.raises(type(error)) as raised:
        require_measured(row)
    assert raised.value.exit_code == code


def test_a_run_that_died_of_our_fault_is_no_bad_input() -> None:
    row = failed_row("key", 1, ZeroDivisionError("of ours")) | {"load": 0.1}
    with raises(InternalError, "internal-fault"):
        require_measured(row)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(_fabric, "Simulation", fault)


@pytest.mark.usefixtures("faulty")
def test_a_curve_or_search_without_runs_by_our_fault_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "torus.toml").write_text(TORUS)
    place = str(tmp_path / "torus.toml")
    for command in (["curve", place, "--load", "0.1,0.2"], ["saturation", place]):
        assert run([*command, "-o", str(tmp_path / command[0]), "--json"]) == 1
        assert error_of(capsys.readouterr().err)["code"] == "internal-fault"


@pytest.mark.usefixtures("faulty")
def test_a_sweep_says_that_its_runs_died_of_our_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "torus.toml").write_text(TORUS)
    (tmp_path / "sweep.toml").write_text('base = "torus.toml"\nreplications = 2\n')
    assert run(["sweep", str(tmp_path / "sweep.toml"), "-o", str(tmp_path / "out")]) == 5
    assert "all of these by a fault of gingham itself" in capsys.readouterr().err


def by_hand(
    path: Path,
    cases: list[tuple[float, int, str]],
    columns: Mapping[str, Mapping[str, float]] | None = None,
) -> None:
    """Write a sweep of runs by load, replication and verdict, with further columns by key."""
    manifest = {"sweep": {"title": "", "keep": []}, "columns": {"load": "double"}}
    keys = [f"{load}-{number}" for load, number, _ in cases]
    points = {
        "point": list(range(len(cases))),
        "load": [load for load, _, _ in cases],
        "replication": [number for _, number, _ in cases],
        "key": keys,
    }
    with SweepFolder(path, manifest) as folder:
        folder.write_points(0, pa.table(points))
        for key, (load, _, verdict) in zip(keys, cases, strict=True):
            row: dict[str, Any] = {"key": key, "verdict": verdict}
            row |= {"verdict_reason": "for the reason", "accepted_load": 0.9 * load}
            row |= {name: values[key] for name, values in (columns or {}).items()}
            # The run's own verdict may be worse than that of its saturated class.
            classes = [{"key": key, "class": "one", "verdict": verdict}]
            folder.add(row, {"classes": classes}, {"key": key, "began": "2026"})


def test_the_interval_holds_what_both_ends_leave_open() -> None:
    # Ends 1, 3 and 2, 4: Student's interval of each has a half-width of 12.7 and reaches beyond
    # the union of the brackets, from 1 to 4, which bounds it.
    found = between([(1.0, 2.0), (3.0, 4.0)])
    assert (found.mean, found.low, found.high) == (2.5, 1.0, 4.0)
    assert (found.half_width, found.clipped) == (1.5, True)
    # Ends 0, 1, ..., 4 and 10 more: a half-width of 2.776 x sqrt(2.5 / 5) = 1.963, and means of 2
    # and 12, inside the union from 0 to 14.
    found = between([(low, low + 10.0) for low in map(float, range(5))])
    assert found.low == pytest.approx(2 - 1.963, abs=1e-3)
    assert found.high == pytest.approx(12 + 1.963, abs=1e-3)
    assert (found.mean, found.clipped) == (7.0, False)
    assert middles([Bracket(1.0, 2.0), Bracket(3.0, None)], 0.5) == [1.5]


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ("0.3", [0.3]),
        ("0.1,0.7", [0.1, 0.7]),
        ("0.05:0.2:0.05", [0.05, 0.1, 0.15, 0.2]),
        ("0.1:0.35:0.1", [0.1, 0.2, 0.3]),
        ("1:1:1", [1.0]),
    ],
)
def test_loads_are_listed_or_stepped(text: str, loads: list[float]) -> None:
    assert load_values(text) == loads


@pytest.mark.parametrize("text", ["", "0", "1.1", "0.1:0.2", "0.2:0.1:0.1", "0.1:0.2:0", "a", "-1"])
def test_what_is_no_load_is_refused(text: str) -> None:
    with raises(InputError, "wrong-type", key="load"):
        load_values(text)


def test_classes_keep_their_proportions() -> None:
    two = Scenario.parse(
        TORUS + '[[traffic]]\nname = "more"\nload = 0.3\nlength = { fixed = "64 B" }\n'
    )
    shares = {"traffic.0.load": 0.25, "traffic.1.load": 0.75}
    assert load_axis(two, [0.8])["keys"] == pytest.approx(shares)
    (point,) = curve_sweep(two, [0.8], replications=1).points()
    loads = [one["load"] for one in point.scenario().resolved()["traffic"]]
    assert loads == pytest.approx([0.2, 0.6])


def test_a_scenario_without_loads_has_no_curve() -> None:
    with raises(InputError, "no-load", key="traffic"):
        load_axis(Scenario.parse(LINE.replace('"constant"\nload = 0.5', '"backlogged"')), [0.5])


def test_a_curve_has_a_row_a_point_with_intervals(tmp_path: Path) -> None:
    # Long enough for the 100 messages that a 99th percentile needs.
    table = curve(
        torus().with_({"stop.time": "1 ms"}),
        [0.05, 0.9],
        tmp_path / "out",
        routings=["up-down", "shortest-path"],
        replications=3,
    )
    assert table.column_names == [
        "routing",
        "load",
        "replications",
        "accepted_load",
        "accepted_load_half_width",
        "least_served_load",
        "least_served_load_half_width",
        "latency_mean_ns",
        "latency_half_width_ns",
        "latency_p99_ns",
        "latency_p99_half_width_ns",
        "not_converged",
        "censored",
        "saturated",
        "deadlocked",
        "failed",
    ]
    rows = table.to_pylist()
    assert [(row["routing"], row["load"]) for row in rows] == [
        ("up-down", 0.05),
        ("up-down", 0.9),
        ("shortest-path", 0.05),
        ("shortest-path", 0.9),
    ]
    assert [(row["saturated"], row["failed"]) for row in rows] == [(0, 0), (3, 0), (0, 3), (0, 3)]
    light, heavy, *refused = rows
    assert light["accepted_load"] == pytest.approx(0.05, abs=0.01)
    assert light["accepted_load_half_width"] > 0
    assert 0 < light["latency_mean_ns"] < light["latency_p99_ns"]
    # No sender created the 30 messages that a comparison needs.
    assert light["least_served_load"] is None
    # Latency of saturated runs has no mean.
    assert (heavy["latency_mean_ns"], heavy["latency_p99_ns"]) == (None, None)
    assert heavy["least_served_load"] < heavy["accepted_load"]
    # Shortest paths around rings of four can deadlock, and are refused.
    assert all(row["latency_mean_ns"] is None for row in refused)


def test_the_command_draws_a_curve(tmp_path: Path, gingham: Callable[..., Finished]) -> None:
    (tmp_path / "torus.toml").write_text(TORUS)
    made = gingham("curve", "torus.toml", "--load", "0.05,0.1", "--replications", "2")
    assert made.code == 0, made.err
    folder = tmp_path / "sweeps" / "torus-curve"
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert len((folder / "curve.csv").read_text().splitlines()) == 3
    assert "0.05" in made.out
    assert "±" in made.out
    both = gingham(
        "curve", "torus.toml", "--load", "0.05", "--routing", "up-down,shortest-path", "--json",
        "--replications", "1", "-o", "both",
    )  # fmt: skip
    assert both.code == 5
    assert [point["failed"] for point in json.loads(both.out)["points"]] == [0, 1]
    assert "1 run could not be made; the first: " in json.loads(both.err.splitlines()[-1])["note"]


def test_a_fabric_that_cannot_be_made_is_told_before_anything_runs(
    tmp_path: Path, gingham: Callable[..., Finished]
) -> None:
    (tmp_path / "torus.toml").write_text(TORUS)
    change = "topology.generate={ irregular = { switches = 8, ports = 2, hosts_per_switch = 4 } }"
    refused = gingham("curve", "torus.toml", "--load", "0.1", "--set", change)
    assert refused.code == 2
    assert "ports" in refused.err
    assert not (tmp_path / "sweeps").exists()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["curve", "line.toml", "--load", "0.2,0.4", "--replications", "3"], "line-curve"),
        (["saturation", "line.toml", "--set", "stop.time=1 ms", "--replications", "3"],
         "line-saturation"),
    ],
)  # fmt: skip
def test_an_interrupted_command_says_what_is_there_and_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    name: str,
) -> None:
    (tmp_path / "line.toml").write_text(LINE)
    monkeypatch.chdir(tmp_path)

    @contextmanager
    def pressed() -> Iterator[Callable[[SweepProgress], None]]:
        def on_progress(now: SweepProgress) -> None:
            if now.done:
                raise KeyboardInterrupt

        yield on_progress

    with monkeypatch.context() as patched:
        patched.setattr(_workers, "sweep_shown", pressed)
        assert run(command) == 130
    first, second = capsys.readouterr().err.splitlines()
    kept = Results.load(Path("sweeps") / name).arrow().num_rows
    assert kept > 0
    assert first == f"gingham: interrupted; {kept:,} runs are kept in sweeps/{name}"
    program, *again = shlex.split(second.removeprefix("  to go on: "))
    assert (program, again) == ("gingham", [*command, "--resume"])
    assert run(again) == 0


def test_the_command_finds_a_saturation_load(
    tmp_path: Path, gingham: Callable[..., Finished]
) -> None:
    (tmp_path / "line.toml").write_text(LINE)
    arguments = ["saturation", "line.toml", "--tolerance", "0.05", "--replications", "2"]
    found = gingham(*arguments)
    assert found.code == 0, found.err
    assert "saturation load" in found.out
    assert gingham(*arguments).code == 2
    told = json.loads(gingham(*arguments, "--resume", "--json").out)
    assert told["load"]["mean"] == pytest.approx(TAKEN, abs=0.05)
    assert gingham(*arguments, "--upto", "0.04").code == 2
    below = gingham("saturation", "line.toml", "--upto", "0.5", "-o", "below")
    assert "above 0.5" in below.out


@pytest.mark.parametrize(
    ("settings", "routings", "title"),
    [
        ([], [], "torus"),
        (["traffic.0.load=0.2"], [], "torus"),
        ([], ["up-down"], "torus"),
        (["topology.generate={ mesh = { dimensions = [3, 2], hosts_per_switch = 2 } }"], [],
         "3x2 mesh, up-down"),
        (["topology.generate={ star = { hosts = 3 } }"], [], "star, up-down"),
        (["routing.algorithm=dimension-order"], [],
         "4x4 torus, dimension-order"),
        ([], ["up-down", "shortest-path"], "4x4 torus"),
        (["title=Mine", "routing.algorithm=dimension-order"], [], "Mine"),
    ],
)  # fmt: skip
def test_the_heading_names_what_was_run(
    settings: list[str], routings: list[str], title: str
) -> None:
    base = torus().with_(settings=settings)
    assert base.heading(routings) == title
    if not routings:
        assert base.title == "; ".join([title, *settings])


def test_the_heading_of_a_fabric_from_a_file_names_the_file(tmp_path: Path) -> None:
    Fabric.make("star", hosts=2).save(tmp_path / "small.toml")
    text = TORUS.replace(
        "topology.generate.torus = { dimensions = [4, 4], hosts_per_switch = 1 }",
        'topology.file = "small.toml"',
    )
    base = Scenario.parse(text, folder=tmp_path)
    assert base.heading(["shortest-path"]) == "small, shortest-path"
    other = torus().with_(topology=tmp_path / "small.toml")
    assert other.title == "small, up-down; topology small.toml"
