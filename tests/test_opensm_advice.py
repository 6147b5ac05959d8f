"""Advice of a comparison of engines: the candidates, and the faults of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gingham import Fabric
from gingham.cli._opensm import print_rows
from gingham.opensm import first_ports
from gingham.opensm.advice import choose, facts_of, hints, verdict
from gingham.opensm.comparison import (
    EngineRow,
    Plan,
    compute_node_file,
    host_pairs,
    rows_of_ours,
)
from gingham.opensm.parts import managed
from gingham.opensm.simulator import with_guids
from tests.fragments import SECOND_PORT, with_aggregation

ISLANDS = """\
Switch 4 "sw1"
[1] "h1"[1]
[2] "h2"[1]

Switch 4 "sw2"
[1] "h3"[1]
[2] "h4"[1]
[3] "h5"[1]

Hca 1 "h1"
[1] "sw1"[1]

Hca 1 "h2"
[1] "sw1"[2]

Hca 1 "h3"
[1] "sw2"[1]

Hca 1 "h4"
[1] "sw2"[2]

Hca 1 "h5"
[1] "sw2"[3]
"""


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
    bound: float = 0.5,
) -> EngineRow:
    facts = {
        "bisection": {"bandwidth": bandwidth, "bandwidth_half_width": half},
        "deadlock_free": free,
        "deadlock_free_between_hosts": free or hosts_free,
        "lost_pairs": lost,
        "lanes": list(range(lanes)),
        "all_to_all": {"load": bound},
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
    assert facts_of(rows, ()) == {
        "engine": "dfsssp",
        "proof": "deadlock_free",
        "stays_safe": None,
        "by_method": True,
        "passed_over": None,
    }
    assert verdict(rows) == "choose dfsssp (0.700, 4 lanes): free of deadlock"


def test_only_engines_of_opensm_are_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    facts = {**row("as read", 0.7).facts, "mean_switches": 2.0}
    print_rows(
        "clos",
        [
            EngineRow("opensm", "ftree", "minhop", ("no tree",), facts),
            EngineRow("tables", "tables", "as read", (), facts),
        ],
        [],
    )
    shown = capsys.readouterr().out
    assert "ftree was replaced by minhop: no tree" in shown
    assert shown.count("replaced") == 1


def chosen(rows: list[EngineRow], after: list[list[EngineRow]] | None = None) -> str | None:
    choice = choose(rows, after or [])
    return choice.row.engine if choice else None


def test_of_engines_whose_intervals_overlap_the_one_that_costs_least_is_named() -> None:
    # 0.698 + 0.002 reaches 0.702 - 0.002, and 0.697 + 0.002 does not.
    rows = [row("dfsssp", 0.698), row("updn", 0.697), row("nue", 0.702, lanes=2)]
    assert chosen(rows) == "dfsssp"
    rows = [row("dfsssp", 0.698, bound=0.5), row("nue", 0.7, bound=0.6)]
    assert chosen(rows) == "nue"


def test_an_engine_without_cycles_by_its_method_comes_before_one_by_luck() -> None:
    rows = [row("minhop", 0.9), row("updn", 0.8)]
    choice = choose(rows)
    assert choice is not None
    assert (choice.row.engine, choice.by_method, choice.passed_over) == ("updn", True, rows[0])
    alone = choose(rows[:1])
    assert alone is not None
    assert (alone.row.engine, alone.by_method) == ("minhop", False)


def test_what_stays_safe_after_a_failure_comes_first() -> None:
    rows = [row("dfsssp", 0.9), row("updn", 0.8), row("minhop", 0.85)]
    # The failed switch had two hosts: every engine loses their pairs, and updn two more.
    after = [
        [
            row("dfsssp", 0.9, ran="minhop", lost=4),
            row("updn", 0.8, lost=6),
            row("minhop", 0.8, lost=4),
        ],
        [row("dfsssp", 0.9), row("updn", 0.8), row("minhop", 0.8)],
    ]
    choice = choose(rows, after)
    assert choice is not None
    assert (choice.row.engine, choice.stays_safe) == ("minhop", True)
    assert choice.passed_over is rows[0]
    nobody = choose(rows[:2], after)
    assert nobody is not None
    assert (nobody.row.engine, nobody.stays_safe) == ("dfsssp", False)


def test_what_is_free_between_hosts_alone_comes_second() -> None:
    rows = [row("ftree", 0.9, free=False, hosts_free=True), row("dor", 0.95, free=False)]
    between = choose(rows)
    assert between is not None
    assert (between.row.engine, between.proof) == ("ftree", "deadlock_free_between_hosts")
    assert chosen([*rows, row("updn", 0.5)]) == "updn"


def test_where_no_engine_is_safe_ours_are_named_if_they_lose_nothing() -> None:
    lossy = row("shortest-path", 0.8, by="gingham", lost=8)
    rows = [row("minhop", 0.9, free=False), row("up-down", 0.8, by="gingham"), lossy]
    assert chosen(rows) is None
    assert verdict(rows).endswith("; of ours: up-down")
    assert "of ours" not in verdict([rows[0], lossy])


def test_engines_that_fell_back_for_lack_of_roots_are_told_of_the_option() -> None:
    fabric = with_guids(Fabric.make("folded-clos", leaves=4, spines=2, hosts_per_leaf=4))
    rows = [row("updn", 0.9, ran="minhop"), row("ftree", 0.9, ran="minhop")]
    [said] = hints(fabric, Plan(["updn", "ftree"]), rows)
    assert "--roots" in said
    assert "spine0, spine1" in said
    assert list(hints(fabric, Plan(["updn"], ["spine0"]), rows)) == []
    # A torus is not a tree, whatever the roots.
    torus = Fabric.make("torus", dimensions=[4, 4])
    assert [*hints(torus, Plan(["ftree"]), rows[1:])] == []


def test_our_tables_are_mentioned_where_they_allow_clearly_more() -> None:
    fabric = Fabric.make("torus", dimensions=[4, 4])
    engine, ours = row("minhop", 0.7, bound=0.5), row("up-down", 0.7, by="gingham", bound=0.6)
    [said] = hints(fabric, Plan(["minhop"]), [engine, ours])
    assert "--algorithm up-down" in said
    lossy = row("up-down", 0.7, by="gingham", bound=0.9, lost=2)
    unsafe = row("shortest-path", 0.7, by="gingham", bound=0.9, free=False)
    like = row("up-down", 0.7, by="gingham", bound=0.54)
    for other in (lossy, unsafe, like):
        assert list(hints(fabric, Plan(["minhop"]), [engine, other])) == []


def test_of_a_fabric_in_parts_the_advice_says_which_is_compared(tmp_path: Path) -> None:
    (tmp_path / "islands.ibsim").write_text(ISLANDS)
    fabric = with_guids(Fabric.load(tmp_path / "islands.ibsim"))
    part = managed(fabric)
    assert {node.name for node in part.devices} == {"sw2", "h3", "h4", "h5"}
    assert host_pairs(part) == 3 * 2
    [said] = hints(fabric, Plan(["dor"]), [row("dor", 1.0)])
    assert "3 of 5 hosts" in said
    facts = [one.facts for one in rows_of_ours(part, Plan([], pairs=6), lambda *_: None)]
    assert {(one["lost_pairs"], one["all_to_all"]["load"]) for one in facts} == {(0, 1.0)}


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
    hosts = [node for node in fabric.devices if node.kind == "host"]
    # The first cable of each is at port 1 there, with the GUID of the node plus 1.
    assert first_ports.moved(fabric)
    assert sorted(lines) == sorted(f"0x{int(host.guid or '', 16) + 1:016x}" for host in hosts)
