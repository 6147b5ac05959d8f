"""Names of BookSim, CAMINOS and vendors lead to Gingham's keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gingham.catalogue import elsewhere, mechanisms, reference
from tests.conftest import Finished

Command = Callable[..., Finished]
ROOT = Path(__file__).parent.parent
MESH = """
topology.generate.mesh = { dimensions = [2, 2] }
routing.algorithm = "dimension-order"
network.preset = "booksim-iq"
stop.time = "1 us"
[[traffic]]
load = 0.1
length = { fixed = "64 B" }
"""


def test_every_key_that_is_named_is_there_and_no_name_is_one_of_ours() -> None:
    paths = {one.path for one in reference.every_key()}
    # A foreign name may equal the last part of a key, which is then found by its whole path.
    ours = paths | {one.name for one in mechanisms.every_mechanism()}
    for simulator, keys in elsewhere.KEYS.items():
        assert set(keys.values()) <= paths, simulator
        names = keys.keys() | elsewhere.NOTHING[simulator].keys()
        assert not names & ours, simulator
        assert not keys.keys() & elsewhere.NOTHING[simulator].keys(), simulator


def test_explain_answers_the_names_of_others(gingham: Command) -> None:
    shown = gingham("explain", "num_vcs")
    assert shown.out.startswith("BookSim's num_vcs is network.lanes.count here\n")
    assert shown.out.splitlines()[1].endswith(elsewhere.PAGE)
    assert "network.lanes.count" in shown.out.splitlines()
    assert "has no key here: heads never" in gingham("explain", "speculative").out
    told = json.loads(gingham("explain", "VC-buf-size", "--json").out)
    assert [one["key"] for one in told["elsewhere"]] == ["network.lanes.depth"]
    assert [one["path"] for one in told["keys"]] == ["network.lanes.depth"]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("rpg_ai_rate", "traffic.0.window.response.dcqcn.additive"),
        ("RPG_TIME_RESET_P1", "traffic.0.window.response.dcqcn.timer"),
        ("min-time-between-cnps", "traffic.0.window.acknowledged.marked"),
        ("green_min_threshold", "network.marking.red.k_min"),
        ("cc_ca_cong_setting_ccti_timer", "traffic.0.window.response.becn.timer"),
        ("CCTI_Increase", "traffic.0.window.response.becn.increase"),
        ("cc_sw_cong_setting_victim_mask", "network.marking.fecn.victim_mask"),
    ],
)
def test_explain_answers_the_names_of_vendors(gingham: Command, name: str, key: str) -> None:
    told = json.loads(gingham("explain", name, "--json").out)
    assert [one["key"] for one in told["elsewhere"]] == [key]
    assert [one["path"] for one in told["keys"]] == [key]


def test_a_key_of_others_in_a_scenario_is_told_ours(gingham: Command, tmp_path: Path) -> None:
    text = MESH.replace("load = 0.1", "injection_rate = 0.1")
    (tmp_path / "mesh.toml").write_text(text)
    refused = gingham("run", "mesh.toml")
    assert refused.code == 2
    assert refused.err.endswith("\n  BookSim's injection_rate is traffic.0.load here\n")
    (tmp_path / "mesh.toml").write_text(MESH)
    refused = gingham("run", "mesh.toml", "--set", "routing.algorithm=ugal")
    assert f"\n  {elsewhere.named('ugal')}\n" in refused.err
    assert "BookSim" not in gingham("run", "mesh.toml", "--set", "routing.algorithm=upp").err


@pytest.mark.parametrize(
    ("simulator", "heading"),
    [
        ("BookSim", "## BookSim2, key by key"),
        ("CAMINOS", "## CAMINOS, key by key"),
        ("NVIDIA", "### Names of vendors"),
        ("SONiC", "### Names of vendors"),
    ],
)
def test_the_page_for_its_users_says_the_same(simulator: str, heading: str) -> None:
    page = (ROOT / elsewhere.PAGES[simulator]).read_text()
    table = page.partition(heading)[2].partition("\n## ")[0].replace("`", "")
    told: dict[str, list[str]] = {}
    for theirs, ours in (row.split(" | ")[:2] for row in table.splitlines() if " | " in row):
        for name in theirs.strip("| ").split(", "):
            told.setdefault(name.partition(" ")[0], []).append(ours)
    common = {"network", "lanes", "traffic", "0"}
    keys = elsewhere.KEYS[simulator]
    for name in keys.keys() & told.keys():
        parts = set(keys[name].split(".")) - common or {reference.last(keys[name])}
        assert any(part in here for part in parts for here in told[name]), name
    for name in elsewhere.NOTHING[simulator].keys() & told.keys():
        assert any(here.startswith(("none", "fixed", "--")) for here in told[name]), name
    assert len(keys.keys() & told.keys()) > len(keys) / 2
