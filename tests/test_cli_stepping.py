"""`gingham run --engine`: by what switches of virtual lanes are stepped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import gingham as package
from gingham.errors import InputError
from tests.conftest import Finished

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
    deep = "network.lanes.depth=16"
    refused = gingham("run", mesh, "--engine", "columns", "--set", deep, "-o", "not")
    assert refused.code == 2
    said = "engine: columns do not step this run, because network.lanes.depth is"
    assert said in " ".join(refused.err.split())
    assert not (mesh.parent / "not").exists()
    with pytest.raises(InputError) as caught:
        package.Simulation(package.Scenario.load(mesh).with_(settings=[deep]), engine="columns")
    assert caught.value.key == "engine"
