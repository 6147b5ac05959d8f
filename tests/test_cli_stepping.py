"""`gingham run --engine`: choice of the stepper of virtual lanes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import gingham as package
from gingham.errors import InputError
from tests.conftest import Finished
from tests.refusals import require_error

Command = Callable[..., Finished]

MESH = """\
[topology.generate.mesh]
dimensions = [4, 4]

[routing]
algorithm = "dimension-order"

[network]
preset = "yum-1600"

[[traffic]]
load = 0.2
length = { fixed = "320 B" }

[stop]
time = "100 us"
warm_up = "0 ps"
"""


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    (tmp_path / "mesh.toml").write_text(MESH)
    return tmp_path / "mesh.toml"


def test_the_manifest_says_by_what_a_run_was_stepped_and_why(gingham: Command, mesh: Path) -> None:
    kept = {}
    for engine in ("ports", "columns"):
        finished = gingham("run", mesh, "--engine", engine, "-o", engine)
        assert finished.code == 0, finished.err
        manifest = json.loads((mesh.parent / engine / "manifest.json").read_text())
        assert manifest["about"]["stepping"] == {"by": engine, "because": "it was asked for"}
        kept[engine] = manifest["summary"]
    assert kept["ports"] == kept["columns"]


def test_without_virtual_lanes_nothing_is_said(mesh: Path) -> None:
    scenario = package.Scenario.load(mesh).with_(settings=["network.preset=myrinet-1280"])
    assert "stepping" not in package.run(scenario).about


def test_what_columns_do_not_step_is_refused_with_the_key(gingham: Command, mesh: Path) -> None:
    faster = "network.lanes.input_speedup=2"
    asked = ("run", mesh, "--engine", "columns", "--set", faster, "-o", "not", "--json")
    require_error(gingham(*asked), "refused", key="network.lanes.input_speedup")
    assert not (mesh.parent / "not").exists()
    with pytest.raises(InputError) as caught:
        package.Simulation(package.Scenario.load(mesh).with_(settings=[faster]), engine="columns")
    assert caught.value.key == "network.lanes.input_speedup"


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("lanes.output_speedup = 2", "network.lanes.output_speedup", 9),
        ("lanes.allocator = 'islip'\nlanes.input_speedup = 2", "network.lanes.input_speedup", 10),
        ("cable_length = '20000 m'\nlanes.credit_delay = 3", "network.cable_length", 9),
        ('preset = "myrinet-1280"', "network.preset", 8),
    ],
)
def test_what_is_not_stepped_is_told_to_programs_with_its_line(
    gingham: Command, mesh: Path, text: str, key: str, line: int
) -> None:
    given = text if text.startswith("preset") else f'preset = "yum-1600"\n{text}'
    mesh.write_text(MESH.replace('preset = "yum-1600"', given))
    refused = gingham("run", "mesh.toml", "--engine", "columns", "--json")
    said = json.loads(refused.err)
    assert (refused.code, said["file"], said["line"]) == (2, "mesh.toml", line)
    assert said["key"] == key
    assert said["message"].endswith("; --engine fast chooses what does")


@pytest.mark.parametrize("option", ["--threads", "--jobs", "-j"])
@pytest.mark.parametrize("number", [["2"], []])
def test_who_asks_for_threads_of_a_run_is_told_what_takes_all_cores(
    gingham: Command, mesh: Path, option: str, number: list[str]
) -> None:
    refused = gingham("run", mesh, option, *number)
    assert refused.code == 2
    said = " ".join(refused.err.split())
    assert f"'{option}': a run takes one core" in said
    assert "gingham curve" in said
    assert "gingham sweep" in said
    # The name of the scenario is parsed as the number, but the error is about the option.
    told = json.loads(gingham("run", "--json", option, *number, mesh).err)
    assert (told["key"], told["exit_code"]) == (option, 2)


@pytest.mark.parametrize("option", ["--threads", "--jobs"])
@pytest.mark.parametrize("command", ["curve", "sweep", "saturation"])
def test_who_asks_runs_for_threads_is_told_how_many_go_at_a_time(
    gingham: Command, command: str, option: str
) -> None:
    told = json.loads(gingham(command, "some.toml", option, "4", "--json").err)
    assert (told["key"], told["exit_code"]) == (option, 2)
    assert "a run takes one core. How many at a time is said by -j or --workers" in told["message"]
    assert option not in gingham(command, "--help").out
