"""What a comparison of engines comes to: which to choose from, and what others lacked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gingham import Fabric
from gingham.opensm import first_ports
from gingham.opensm.advice import best, hints, verdict
from gingham.opensm.comparison import EngineRow, Plan, compute_node_file
from gingham.opensm.simulator import with_guids
from tests.fragments import SECOND_PORT, with_aggregation


def row(
    engine: str,
    bandwidth: float,
    *,
    half: float = 0.002,
    ran: str = "",
    by: Any = "opensm",
    free: bool = True,
    hosts_free: bool = False,
    lost: int = 0,
    lanes: int = 1,
) -> EngineRow:
    facts = {
        "bisection": {"bandwidth": bandwidth, "bandwidth_half_width": half},
        "deadlock_free": free,
        "deadlock_free_between_hosts": free or hosts_free,
        "lost_pairs": lost,
        "lanes": list(range(lanes)),
    }
    return EngineRow(by, engine, ran or engine, (), facts)


def test_the_choice_is_among_what_is_safe_and_ran_as_asked() -> None:
    rows = [
        row("minhop", 0.9, free=False),
        row("ftree", 0.9, ran="minhop"),
        row("dor", 0.9, lost=2),
        EngineRow("opensm", "nue", "failed", ("it hangs",)),
        row("dfsssp", 0.7, lanes=4),
        row("updn", 0.5),
        row("up-down", 0.8, by="gingham"),
    ]
    assert [one.engine for one in best(rows)] == ["dfsssp"]
    assert verdict(rows) == "free of deadlock, with most bandwidth: dfsssp (0.700, 4 lanes)"


def test_engines_whose_intervals_overlap_are_told_together() -> None:
    # 0.698 + 0.002 reaches 0.702 - 0.002, and 0.697 + 0.002 does not.
    rows = [row("sssp", 0.698), row("updn", 0.697), row("nue", 0.702)]
    assert verdict(rows) == "free of deadlock, with most bandwidth: sssp (0.698), nue (0.702)"


def test_what_is_free_between_hosts_alone_comes_second() -> None:
    rows = [row("ftree", 0.9, free=False, hosts_free=True), row("dor", 0.95, free=False)]
    said = "with most bandwidth: "
    assert verdict(rows) == f"free of deadlock between hosts, {said}ftree (0.900)"
    assert verdict([*rows, row("updn", 0.5)]) == f"free of deadlock, {said}updn (0.500)"


def test_where_no_engine_is_safe_ours_are_named() -> None:
    rows = [row("minhop", 0.9, free=False), row("up-down", 0.8, by="gingham")]
    said = "no engine of these is free of deadlock with a route for every pair"
    assert verdict(rows) == f"{said}; of ours: up-down"
    assert verdict(rows[:1]) == said


@pytest.fixture
def replaced() -> list[EngineRow]:
    return [row("updn", 0.9), row("ftree", 0.9, ran="minhop")]


def test_aggregation_nodes_are_in_the_way_of_ftree(
    tmp_path: Path, replaced: list[EngineRow]
) -> None:
    fabric = with_aggregation(tmp_path / "tree.toml")
    plan = Plan(["ftree"], ["spine0", "spine1"])
    [said] = hints(fabric, plan, replaced)
    assert said.startswith("ftree takes aggregation nodes for compute nodes")
    assert said.endswith("--compute-nodes hosts leaves them out")
    assert list(hints(fabric, Plan(["ftree"], plan.roots, "hosts"), replaced)) == []


def test_compute_nodes_are_told_by_the_ports_that_the_simulator_plays(tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text(SECOND_PORT)
    fabric = with_guids(Fabric.load(tmp_path / "net.toml"))
    lines = compute_node_file(fabric, tmp_path).read_text().splitlines()
    hosts = [node for node in fabric.nodes if node.kind == "host"]
    # The first cable of each is at port 1 there, with the GUID of the node plus 1.
    assert first_ports.moved(fabric)
    assert sorted(lines) == sorted(f"0x{int(host.guid or '', 16) + 1:016x}" for host in hosts)
