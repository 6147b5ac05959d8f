"""Notes are printed once by every command that makes many runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gingham.cli._notes import POINTS_SHOWN, where
from gingham.results import Note, Results
from gingham.results._notes import notes_of
from tests.conftest import Finished

# A scenario without traffic on its second lane.
LANES = """
topology.generate.star.hosts = 2
network = { preset = "yum-1600", lanes = { count = 2 } }
[[traffic]]
name = "one"
load = 0.1
length = { fixed = "64 B" }
lanes = [0]
[stop]
time = "40 us"
"""
SWEEP = """
base = "lanes.toml"
[[axis]]
key = "network.lanes.count"
values = [1, 2, 3]
"""


def test_notes_stand_once_with_their_points() -> None:
    rows = [
        {"load": 0.1, "notes": "both\nfirst"},
        {"load": 0.1, "notes": "both\nfirst"},
        {"load": 0.2, "notes": "both"},
    ]
    expected = [Note("both", ()), Note("first", ({"load": 0.1},))]
    assert notes_of(rows, ["load"]) == expected
    assert notes_of([], ["load"]) == []
    assert notes_of([{"load": 0.1, "notes": None}], ["load"]) == []


def test_of_many_points_some_are_named() -> None:
    points = tuple({"load": load} for load in range(POINTS_SHOWN + 2))
    assert where(points).endswith("; load = 2; and 2 more points)")
    assert where(()) == ""


def told(finished: Finished) -> list[str]:
    """Return the notes that a command printed."""
    return [line for line in finished.err.splitlines() if "lane" in line]


def test_every_command_tells_what_a_run_tells(
    tmp_path: Path, gingham: Callable[..., Finished]
) -> None:
    (tmp_path / "lanes.toml").write_text(LANES)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    alone = told(gingham("run", "lanes.toml"))
    assert len(alone) == 1
    curve = ["curve", "lanes.toml", "--load", "0.1,0.2", "--replications", "2"]
    assert told(gingham(*curve)) == alone
    short = ["saturation", "lanes.toml", "--tolerance", "0.5", "--replications", "2"]
    assert told(gingham(*short)) == alone
    swept = told(gingham("sweep", "sweep.toml", "-o", "out"))
    assert len(swept) == 2
    assert swept[0] == f"{alone[0]} (count = 2)"
    notes = Results.load(tmp_path / "out").notes()
    assert [one.points for one in notes] == [({"count": 2},), ({"count": 3},)]
    again = json.loads(gingham(*curve, "--resume", "--json").out)
    assert again["notes"] == [{"text": alone[0].removeprefix("gingham: "), "points": []}]


@pytest.mark.parametrize("command", ["run", "curve --load 0.1 --replications 2"])
def test_a_class_that_settings_add_is_told(
    tmp_path: Path, gingham: Callable[..., Finished], command: str
) -> None:
    (tmp_path / "lanes.toml").write_text(LANES)
    name, *options = command.split()
    asked = [name, "lanes.toml", *options, "--set"]
    added = "traffic.1={ name = 'two', load = 0.1, length = { fixed = '64 B' } }"
    notes = [line for line in gingham(*asked, added).err.splitlines() if "--set" in line]
    assert len(notes) == 1
    assert "traffic.1" in notes[0]
    assert "traffic.0" in notes[0]
    assert "--set" not in gingham(*asked, "traffic.0.load=0.2").err
