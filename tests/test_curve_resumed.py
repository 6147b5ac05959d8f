"""--resume in a folder with an existing curve or sweep."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gingham import Results, Scenario
from gingham.loads import curve
from gingham.sweeps import SweepProgress
from tests.conftest import Finished

Command = Callable[..., Finished]
TORUS = """
stop.time = "50 us"
topology.generate.torus = { dimensions = [2, 2], hosts_per_switch = 1 }
[[traffic]]
load = 0.1
length = { fixed = "512 B" }
"""


@pytest.fixture(autouse=True)
def torus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torus.toml").write_text(TORUS)
    monkeypatch.chdir(tmp_path)


def made_by(
    loads: list[float], *, changes: dict[str, str] | None = None, **how: object
) -> tuple[list[dict[str, object]], int]:
    """Return the points of a curve written to `out`, and the number of runs made for it."""
    made = 0

    def on_progress(now: SweepProgress) -> None:
        nonlocal made
        made = max(made, now.done)

    base = Scenario.load("torus.toml").with_(changes or {})
    keywords: dict[str, object] = {"replications": 1, "resume": True, **how}
    table = curve(base, loads, "out", on_progress=on_progress, **keywords)  # type: ignore[arg-type]
    return table.to_pylist(), made


def test_a_resumed_curve_has_the_loads_of_both() -> None:
    made_by([0.05, 0.1], resume=False)
    points, made = made_by([0.15, 0.1])
    assert ([point["load"] for point in points], made) == ([0.05, 0.1, 0.15], 1)
    assert Results.load("out").unasked() == 0
    # More replications are made for all loads, and fewer remove none.
    points, made = made_by([0.2], replications=2)
    assert ([point["replications"] for point in points], made) == ([2] * 4, 5)
    points, made = made_by([0.05])
    assert ([point["replications"] for point in points], made) == ([2] * 4, 0)


def test_a_resumed_curve_has_the_routings_of_both() -> None:
    made_by([0.05], resume=False, routings=["up-down"])
    points, made = made_by([0.05, 0.1], routings=["dimension-order"])
    told = [(point["routing"], point["load"]) for point in points]
    assert told == [(one, load) for one in ("up-down", "dimension-order") for load in (0.05, 0.1)]
    assert made == 3


@pytest.mark.parametrize(
    "how",
    [{"changes": {"stop.time": "60 us"}}, {"seed": 2}, {"routings": ["dimension-order"]}],
    ids=str,
)
def test_points_of_another_curve_are_not_taken(how: dict[str, object]) -> None:
    made_by([0.05, 0.1], resume=False)
    points, made = made_by([0.15], **how)  # type: ignore[arg-type]
    assert ([point["load"] for point in points], made) == ([0.15], 1)
    assert Results.load("out").unasked() == 2


def test_the_commands_tell_what_they_do_not_show(gingham: Command) -> None:
    command = ["curve", "torus.toml", "--replications", "1", "-o", "out"]
    assert gingham(*command, "--load", "0.05,0.1").code == 0
    added = gingham(*command, "--load", "0.15", "--resume")
    assert "other points" not in added.err
    assert Path("out/curve.csv").read_text().count("\n") == 4
    other = gingham(*command, "--load", "0.15", "--set", "stop.time=60 us", "--resume")
    told = "3 runs of out are of other points than those asked for now: kept, and not shown"
    assert told in other.err
    told = gingham(*command, "--load", "0.15", "--set", "stop.time=60 us", "--resume", "--json").out
    assert json.loads(told)["unasked"] == 3


def test_advice_to_allow_a_deadlock_names_what_the_command_has(gingham: Command) -> None:
    command = ["curve", "torus.toml", "--load", "0.05", "--replications", "1"]
    change = ["--routing", "shortest-path", "--set", "topology.generate.torus.dimensions=[4, 4]"]
    refused = gingham(*command, *change)
    assert refused.code == 5
    assert "1 run could not be made" in refused.err
    assert "--allow-deadlock" in refused.err
    assert gingham(*command, *change, "--allow-deadlock", "-o", "allowed").code == 0
    # Its runs are not shared with a curve that refuses such routes.
    resumed = gingham(*command, *change, "-o", "allowed", "--resume")
    assert "1 run of allowed is of other points" in resumed.err
    file = Path("ring.toml")
    file.write_text('base = "ring-deadlock"')
    failed = gingham("sweep", file)
    assert "(allow_deadlock = true)" in failed.err
    assert "--allow" not in failed.err
    file.write_text('base = "ring-deadlock"\nallow_deadlock = true\n[set]\n"stop.time" = "1 us"')
    assert gingham("sweep", file, "-o", "ring").code == 0


def test_a_sweep_tells_of_runs_that_it_no_longer_asks_for(gingham: Command) -> None:
    axis = '[[axis]]\nkey = "traffic.0.load"\nvalues = '
    file = Path("load.toml")
    file.write_text(f'base = "torus.toml"\n{axis}[0.1, 0.2]')
    assert gingham("sweep", file, "-o", "out").code == 0
    file.write_text(f'base = "torus.toml"\n{axis}[0.1, 0.3]')
    again = gingham("sweep", file, "-o", "out", "--resume")
    assert "1 run of out is of other points than those asked for now" in again.err
