"""Results of a worker: the rows of a run, and those of a failed one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gingham import EnvironmentProblem, Scenario, run
from gingham.kinds._fabric import load_of_all, mean_of_all
from gingham.sweeps import Sweep, Task, work
from gingham.sweeps._planning import Planner
from tests.refusals import raises

STAR = """
stop.time = "50 us"
topology.generate.star = { hosts = 4 }
[[traffic]]
name = "short"
load = 0.1
length = { fixed = "64 B" }
[[traffic]]
name = "long"
hosts = ["h0", "h1"]
load = 0.2
length = { fixed = "256 B" }
"""


def task(scenario: str = STAR, **more: Any) -> Task:
    sweep = Sweep.make({**more}, base=Scenario.parse(scenario))
    return Planner(sweep).task(next(sweep.points()))


def test_means_are_over_messages_and_loads_over_links() -> None:
    classes: list[dict[str, Any]] = [
        {"hosts": 4, "messages_followed": 30, "latency_mean_ns": 100.0, "offered_load": 0.1},
        {"hosts": 2, "messages_followed": 10, "latency_mean_ns": 300.0, "offered_load": 0.2},
        {"hosts": 1, "messages_followed": 0, "latency_mean_ns": None, "offered_load": 0.0},
    ]
    # (30 x 100 + 10 x 300) / 40, and (4 x 0.1 + 2 x 0.2) / 5 where five hosts send.
    assert mean_of_all(classes, "latency_mean_ns") == 150.0
    assert load_of_all(classes, "offered_load", 5) == pytest.approx(0.16)
    assert mean_of_all(classes[2:], "latency_mean_ns") is None
    assert load_of_all([*classes, {"hosts": 1, "offered_load": None}], "offered_load", 5) is None


def test_a_row_says_what_a_run_of_the_same_scenario_measures() -> None:
    given = task(keep=["nodes"])
    outcome = work(given)
    result = run(Scenario.parse(STAR).with_(seed=given.seed))
    counts = [one["messages_followed"] for one in result.classes]
    assert outcome.error is None
    assert outcome.row["messages_followed"] == sum(counts) > 20
    assert outcome.row["messages_created"] == sum(one["messages_created"] for one in result.classes)
    for name in ("latency_mean_ns", "network_latency_mean_ns", "head_latency_mean_ns"):
        parts = [count * one[name] for count, one in zip(counts, result.classes, strict=True)]
        assert outcome.row[name] == pytest.approx(sum(parts) / sum(counts))
    assert outcome.row["accepted_load"] == pytest.approx(
        result.classes[0]["accepted_load"] + result.classes[1]["accepted_load"] / 2
    )
    assert [row["class"] for row in outcome.parts["classes"]] == ["short", "long"]
    assert outcome.parts["classes"][1]["latency_mean_ns"] == result.classes[1]["latency_mean_ns"]
    nodes = pq.read_table(pa.BufferReader(outcome.tables["nodes"]))
    assert nodes == result.nodes
    spent = outcome.provenance
    assert 0 < spent["engine_seconds"] <= spent["wall_seconds"]


def test_a_run_that_cannot_be_made_is_a_row_with_the_reason() -> None:
    ring = {"ring": {"switches": 5, "hosts_per_switch": 1}}
    routes = {"routing.algorithm": "shortest-path", "traffic.1.hosts": ["h0-0", "h2-0"]}
    outcome = work(task(set={"topology.generate": ring, **routes}))
    assert (outcome.row["verdict"], outcome.parts) == ("failed", {})
    assert outcome.error is not None
    assert "deadlock" in outcome.error


def test_a_worker_gives_up_when_it_is_told_to() -> None:
    outcome = work(task(), stop=lambda: True)
    assert (outcome.stopped, outcome.row) == (True, {})


def test_a_task_for_another_build_is_refused() -> None:
    with raises(EnvironmentProblem, "other-build"):
        work(replace(task(), core="0" * 64))
