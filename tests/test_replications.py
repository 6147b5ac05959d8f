"""`gingham run --replications` and `gingham.replicate`: seeds, means over runs, verdicts."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gingham
from gingham import Scenario, replications
from gingham._native import result_schema, student_t
from gingham.cli._main import run
from gingham.errors import DeadlockError, InputError
from gingham.replications import class_of, over, verdict_of
from gingham.sweeps._seeds import run_seed
from gingham.verdicts import FROM_BEST
from tests.conftest import Finished
from tests.refusals import error_of

Command = Callable[..., Finished]

SCENARIO = """\
title = "A drawn permutation"
seed = 7
topology.generate.torus = { dimensions = [2, 2], hosts_per_switch = 1 }
network.preset = "myrinet-1280"

[[traffic]]
name = "all"
load = 0.1
arrivals = "constant"
destinations = "random-permutation"
length = { fixed = "64 B" }

[stop]
time = "2 ms"
"""


def run_of(verdict: str, seed: int = 1, reason: str = "why") -> dict[str, Any]:
    return {"verdict": verdict, "verdict_reason": reason, "seed": seed, "error": None}


def test_verdicts_are_in_the_order_of_the_schema() -> None:
    listed = result_schema()["summary"]["properties"]["verdict"]["oneOf"]
    assert [one["const"] for one in listed] == list(FROM_BEST)


def test_a_run_of_one_draw_says_so_and_lists_what_it_drew() -> None:
    result = gingham.run(Scenario.parse(SCENARIO))
    assert result.verdict == "ok-of-draw"
    assert [(one["kind"], one["class"], one["key"]) for one in result.summary["draws"]] == [
        ("permutation", "all", "traffic.0.destinations"),
        ("phase", "all", "traffic.0.arrivals"),
    ]
    assert result.summary["makespan_ps"] is None


def test_replications_have_the_seeds_of_a_sweep_and_students_interval(tmp_path: Path) -> None:
    scenario = Scenario.parse(SCENARIO)
    found = gingham.replicate(scenario, 5, output=tmp_path / "five", workers=1)
    seeds = [run_seed(7, number) for number in range(5)]
    assert found.summary["seeds"] == seeds
    assert found.summary["verdicts"] == {"ok-of-draw": 5}
    assert found.verdict == "ok"
    means = [gingham.run(scenario.with_(seed=seed)).classes[0] for seed in seeds]
    latencies = [one["latency_mean_ns"] for one in means]
    mean = sum(latencies) / 5
    deviation = math.sqrt(sum((one - mean) ** 2 for one in latencies) / 4)
    [combined] = found.classes
    assert combined["latency_mean_ns"] == pytest.approx(mean)
    expected = student_t(4) * deviation / math.sqrt(5)
    assert combined["latency_half_width_ns"] == pytest.approx(expected)
    assert combined["accepted_load_half_width"] is not None
    # Each value with an interval in a run has an interval over runs.
    widths = {name for name in means[0] if "half_width" in name}
    assert widths <= set(combined)
    assert len(gingham.Results.load(tmp_path / "five").arrow("runs")) == 5


def test_fewer_than_five_replications_are_not_ok() -> None:
    steady = [run_of("ok-of-draw"), run_of("ok"), run_of("ok"), run_of("ok")]
    assert verdict_of(steady)[0] == "not-converged"
    assert verdict_of([*steady, run_of("ok")])[0] == "ok"


def test_the_worst_replication_decides() -> None:
    runs = [run_of("ok")] * 9
    assert verdict_of([*runs, run_of("not-converged", 4, "short")]) == (
        "not-converged",
        "1 of 10 runs not-converged, the first with seed 4: short",
    )
    assert verdict_of([*runs, run_of("saturated"), run_of("not-converged")])[0] == "saturated"
    assert verdict_of([run_of("finished")] * 2)[0] == "finished"
    assert verdict_of([run_of("finished"), run_of("ok")])[0] == "finished"


def test_a_number_that_a_run_lacks_has_no_mean() -> None:
    rows: list[dict[str, Any]] = [{"hops_mean": 2.0}, {"hops_mean": None}]
    assert over(rows, "hops_mean") is None
    found = over([{"hops_mean": 2.0}, {"hops_mean": 4.0}], "hops_mean")
    # Deviation sqrt(2), over sqrt(2): the t of one degree of freedom.
    assert found is not None
    assert found.mean == 3.0
    assert found.half_width == pytest.approx(12.7062, abs=1e-4)


def test_percentiles_have_an_interval_over_replications() -> None:
    row = {"hosts": 2, "verdict": "ok", "offered_load": None, "messages_followed": 10}
    rows = [row | {"latency_p99_9_ns": value} for value in (2.0, 4.0)]
    combined = class_of("all", rows)
    [percentile] = combined["percentiles"]
    assert (percentile["percentile"], percentile["latency_ns"]) == (99.9, 3.0)
    assert percentile["high_ns"] == pytest.approx(3 + 12.7062, abs=1e-4)
    assert combined["messages_followed"] == 20


def test_the_command_prints_the_combined_numbers(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "drawn.toml").write_text(SCENARIO)
    finished = gingham("run", "drawn.toml", "--replications", 5, "-o", "five", "--json")
    assert finished.code == 0, finished.err
    found = json.loads(finished.out)
    assert (found["verdict"], found["replications"], found["output"]) == ("ok", 5, "five")
    assert (tmp_path / "five" / "sweep.json").is_file()
    told = gingham("run", "drawn.toml", "--replications", 2)
    assert "verdict: not-converged" in told.out
    assert gingham("run", "drawn.toml", "--replications", 2, "--strict").code == 4


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ([], "nothing was written"),
        (["-o", "two"], "finished runs are kept in two; --resume continues them"),
    ],
)
def test_an_interruption_says_what_is_kept(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    place: list[str],
    told: str,
) -> None:
    (tmp_path / "drawn.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)

    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(replications, "replicate", pressed)
    assert run(["run", "drawn.toml", "--replications", "2", *place]) == 130
    assert capsys.readouterr().err == f"gingham: interrupted; {told}\n"


@pytest.mark.parametrize(
    "given",
    [
        ["--replications", "1"],
        ["--replications", "many"],
        ["--replications", "5", "--engine", "oracle"],
        ["--replications", "5", "--plot", "a.svg"],
        ["--replications", "5", "--force"],
    ],
)
def test_what_replications_cannot_have_is_refused_at_the_option(
    gingham: Command, tmp_path: Path, given: list[str]
) -> None:
    (tmp_path / "drawn.toml").write_text(SCENARIO)
    option = (given[2:3] or given[:1])[0]
    error = error_of(gingham("run", "drawn.toml", *given, "--json").err)
    assert error["exit_code"] == 2
    assert str(error["key"]).lstrip("-") == option.lstrip("-")


def test_a_number_of_replications_that_cannot_be_is_refused() -> None:
    scenario = Scenario.parse(SCENARIO)
    with pytest.raises(InputError) as one:
        gingham.replicate(scenario, 1)
    assert (one.value.key, one.value.expected) == ("replications", ["2", "1000"])


def test_the_error_of_a_replication_is_raised() -> None:
    ring = {
        "topology": {"generate": {"ring": {"switches": 5}}},
        "routing.algorithm": "shortest-path",
    }
    with pytest.raises(DeadlockError):
        gingham.replicate(Scenario.parse(SCENARIO).with_(ring), 2)


def test_a_workload_that_ends_is_finished_and_has_a_makespan(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text(
        "created_ps,source,destination,payload_bytes\n0,h0-0-0,h1-1-0,64\n5000000,h0-0-0,h1-1-0,64\n"
    )
    text = SCENARIO.replace(
        'load = 0.1\narrivals = "constant"\ndestinations = "random-permutation"\n'
        'length = { fixed = "64 B" }\n',
        'arrivals = { schedule = "two.csv" }\n',
    )
    (tmp_path / "two.toml").write_text(text)
    result = gingham.run(tmp_path / "two.toml")
    assert (result.verdict, result.classes[0]["verdict"]) == ("finished", "finished")
    # Each message is alone in the network: the last one arrives one latency after its creation.
    latency_ns = result.classes[0]["latency_mean_ns"]
    assert result.summary["makespan_ps"] == 5_000_000 + round(latency_ns * 1000)
    assert result.summary["warm_up_ps"] == 0
