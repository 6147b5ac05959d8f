"""Pairs of mechanisms: runs of engine and oracle agree with the table of compatible ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import gingham as package
from gingham import pairs
from gingham.catalogue import mechanisms
from gingham.cli import _main
from gingham.pairs import parts
from gingham.running import Engine
from tests.conftest import Finished
from tests.refusals import require_error

Command = Callable[..., Finished]
BY_NAME = {part.name: part for part in parts.PARTS}
KINDS = {kind.name: kind for kind in mechanisms.kinds()}
EVENTS = 10_000_000


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Callable[..., Finished]:
    """A function that runs `gingham explain` in this process, which caches the pairs."""

    def run(*arguments: str) -> Finished:
        code = _main.run(["explain", *arguments])
        return Finished(code, *capsys.readouterr())

    return run


def pair(first: str, second: str) -> pairs.Pair:
    """Return the pair of two names."""
    wanted = {first, second}
    return next(one for one in pairs.every_pair() if {one.first, one.second} == wanted)


def runs() -> Iterator[tuple[pairs.Pair, package.Scenario]]:
    """Yield every accepted scenario of two mechanisms, with its pair."""
    for one in pairs.every_pair():
        for kind in one.kinds():
            both = BY_NAME[one.first], BY_NAME[one.second]
            yield one, pairs.scenario(KINDS[kind], *both)


def measured(scenario: package.Scenario, engine: Engine) -> dict[str, Any]:
    """Run a scenario to its end."""
    simulation = package.Simulation(scenario, allow_deadlock=True, engine=engine)
    while not (progress := simulation.advance(EVENTS)).done:
        pass
    summary = dict(simulation.result(with_tables=False).summary)
    summary["delivered"] = progress.messages_delivered
    # Engine and oracle process different numbers of events.
    summary.pop("events", None)
    return summary


def test_every_pair_that_works_runs_and_engine_and_oracle_measure_the_same() -> None:
    silent = []
    for one, scenario in runs():
        engine, oracle = measured(scenario, "fast"), measured(scenario, "oracle")
        assert engine == oracle, f"{one}"
        if not engine["delivered"]:
            silent.append(one)
    assert silent == []


def test_the_example_of_all_does_all_and_measures_the_same_by_the_oracle() -> None:
    scenario = package.Scenario.example("all-together").with_(
        {"stop.time": "100 us", "stop.follow": "200 us"}
    )
    engine, oracle = measured(scenario, "fast"), measured(scenario, "oracle")
    assert engine == oracle
    streams, bulk = engine["classes"]
    assert streams["streams_admitted"] > 0
    assert streams["streams_refused_by_switch"] > 0
    assert streams["streams_refused_by_adapter"] > 0
    # In-transit hosts, and marks returned by ACKs.
    assert streams["in_transit_hosts_mean"] > 0
    assert bulk["in_transit_hosts_mean"] > 0
    assert 0 < bulk["packets_marked_share"] < 1


def test_the_five_of_one_example_go_together_in_pairs() -> None:
    five = ["in-transit", "segments", "marks", "admission", "responses"]
    for place, first in enumerate(five):
        for second in five[:place]:
            assert "virtual-lanes" in pair(first, second).kinds(), (first, second)


def test_what_is_refused_names_the_key_of_the_error() -> None:
    # Keys of three places of the compiler, none of them in Python.
    refused = pair("admission", "path-choice")
    assert refused.kinds() == []
    assert refused.keys == dict.fromkeys(KINDS, "network.admission")
    refused = pair("admission", "policing-drops")
    assert refused.kinds() == []
    assert refused.keys == dict.fromkeys(KINDS, "traffic[0].policing.excess")
    in_transit = pair("in-transit", "in-transit")
    assert in_transit.kinds() == ["wormhole", "virtual-lanes"]
    assert in_transit.keys == {"packets": "routing.algorithm"}
    # Each works, but they have no switching kind in common.
    assert pair("in-transit", "marks-by-output").kinds() == []
    assert pair("marks-by-output", "responses").kinds() == ["packets"]


def test_two_values_of_one_key_exclude_each_other() -> None:
    assert pair("in-transit", "datelines").kinds() == []
    assert pair("in-transit", "datelines").keys == dict.fromkeys(KINDS, "routing.algorithm")


def test_every_mechanism_works_alone_under_some_kind() -> None:
    assert [part.name for part in parts.PARTS if not pairs.alone(part.name).kinds()] == []


def test_every_concept_of_the_catalogue_has_its_place() -> None:
    concepts = {one.concept for one in mechanisms.every_mechanism()}
    placed = {part.concept for part in parts.PARTS} - {""}
    assert placed & parts.LEFT_OUT.keys() == set()
    assert placed | parts.LEFT_OUT.keys() == concepts


def test_the_table_is_readable_in_eighty_columns(told: Command) -> None:
    shown = told("--pairs")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert max(map(len, pairs.matrix_lines())) <= 80
    assert max(map(len, lines)) <= 100
    # Lower triangle of the table: each line has one more cell; the last has the column letters.
    rows = lines[: len(BY_NAME)]
    assert [len(row.split()) - 2 for row in rows] == list(range(1, len(rows) + 1))
    assert len(lines[len(rows)].split()) == len(rows)
    letters = {cell for row in rows for cell in row.split()[2:]}
    legend = pairs.legend()
    assert letters == legend.keys()
    assert len(set(pairs.LETTERS.values())) == len(pairs.LETTERS)
    assert all(meaning in shown.out for meaning in legend.values())
    assert all(name in shown.out for name in BY_NAME)


def test_all_pairs_of_one_are_told_by_its_name_or_what_belongs_to_it(told: Command) -> None:
    shown = told("--pairs", "admission").out
    assert shown.startswith(f"admission: {BY_NAME['admission'].meaning}\n")
    assert all(name in shown for name in BY_NAME)
    [reason] = pair("admission", "path-choice").reasons()
    assert reason in " ".join(shown.split())
    found = json.loads(told("--pairs", "lipd", "--json").out)
    assert [one["name"] for one in found["mechanisms"]] == ["responses"]
    others = [one["first"] for one in found["pairs"]] + [one["second"] for one in found["pairs"]]
    assert set(others) == BY_NAME.keys()
    whole = json.loads(told("--pairs", "--json").out)
    # 23 mechanisms alone, and all pairs of them.
    assert len(whole["pairs"]) == len(BY_NAME) * (len(BY_NAME) + 1) // 2
    assert all(set(one["support"]) == KINDS.keys() for one in whole["pairs"])


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        (("--pairs", "no-such"), {"code": "unknown-name", "key": "no-such"}),
        (
            ("--pairs", "admision"),  # typos: on purpose
            {
                "code": "unknown-name",
                "key": "admision",  # typos: on purpose
                "nearest": "admission",
            },
        ),
        (
            ("--pairs", "poisson"),
            {"code": "unknown-name", "key": "poisson", "nearest": "admission"},
        ),
        (("--pairs", "--stripe"), {"code": "bad-option", "key": "stripe"}),
    ],
)
def test_what_has_no_pairs_is_answered_with_what_has(
    told: Command, asked: tuple[str, ...], facts: dict[str, Any]
) -> None:
    refused = told(*asked, "--json")
    require_error(refused, **facts)
    assert refused.out == ""
