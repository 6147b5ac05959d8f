"""Files with old names are refused with one message that gives the new names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gingham as package
from gingham import _native, examples, stripe
from gingham.catalogue import old_names
from gingham.errors import InputError
from gingham.results import Results
from gingham.scenario import Scenario
from gingham.store import SweepFolder
from tests.conftest import Finished
from tests.folders import as_before_digests
from tests.refusals import raises

Command = Callable[..., Finished]
KEY = "the key `routing.second` is called `routing.alternative` now"
LOAD = "the column `drawn_load` is called `generated_load` now"
ENGINE = "the engine `runs` is called `fast` now"
SECOND = {"algorithm": "up-down", "choose": "at-random"}
SHORT = """
topology.generate.star = { hosts = 3 }
stop.time = "20 us"
[[traffic]]
load = 0.1
length = { fixed = "64 B" }
"""


def test_what_others_call_something_is_told_a_name_that_there_is() -> None:
    ours = {line["name"] for line in _native.catalogue()}
    others = _native.other_names()
    assert {name for _, name, _ in others} <= ours
    assert not {name for name, *_ in others} & ours


def test_names_of_engines_that_are_only_near_state_the_difference() -> None:
    differs = {name: how for name, _, how in _native.other_names()}
    assert {"minhop", "updn", "dor", "min", "clos"} <= {
        name for name, how in differs.items() if how
    }
    assert differs["xy"] is None
    with pytest.raises(InputError) as refused:
        Scenario.parse(SHORT + 'hosts = ["*"]').with_({"routing.algorithm": "minhop"})
    assert refused.value.nearest == "shortest-path"
    assert str(differs["minhop"]) in str(refused.value)


def sweep(path: Path, column: str, **more: Any) -> Path:
    """Write a sweep with one run, whose class has a value in this column."""
    manifest = {"sweep": {"title": "", "keep": [], **more}, "columns": {}, "core": "0"}
    run = {"key": "a", "verdict": "ok", "seed": 1}
    with SweepFolder(path, manifest) as folder:
        folder.add(run, {"classes": [{"key": "a", "class": "all", column: 0.5}]}, {"key": "a"})
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as refused:
        Results.load(path)
    return str(refused.value)


def test_a_sweep_with_an_old_column_says_the_new_one(tmp_path: Path) -> None:
    said = refusal(sweep(tmp_path / "old", "drawn_load"))
    assert said.startswith(f"{tmp_path / 'old'}: written with old names: {LOAD}\n")
    assert "into another folder" in said
    assert KEY not in said
    Results.load(sweep(tmp_path / "new", "generated_load"))


@pytest.mark.parametrize(
    "spec",
    [
        {"base": {"scenario": {"routing": {"second": SECOND}}}},
        {"axis": [{"key": "routing.second.choose.at-random.percent", "values": [1]}]},
        {"axis": [{"name": "paths", "values": {"two": {"routing.second": SECOND}}}]},
        {"set": {"routing.second.choose": "at-random"}},
    ],
)
def test_a_sweep_of_old_keys_says_all_new_names_at_once(
    spec: dict[str, Any], tmp_path: Path
) -> None:
    path = sweep(tmp_path / "old", "drawn_load", **spec)
    assert f"{KEY}; {LOAD}\n" in refusal(path)
    with (
        raises(InputError, "old-names"),
        SweepFolder(path, {"sweep": {"keep": []}, "columns": {}}, resume=True),
    ):
        pass


@pytest.mark.parametrize(
    ("values", "new"),
    [
        ({"base": {"scenario": {"traffic": [{"pace": 0.5}]}}}, "traffic.*.rate_limit"),
        ({"set": {"traffic.all.window.answer.length": "1 B"}}, "traffic.*.window.ack"),
        ({"axis": [{"key": "traffic.0.window.answered"}]}, "traffic.*.window.acknowledged"),
        ({"base": {"stripe": {"control": {"by": "told"}}}}, "stripe.control.by.fixed"),
    ],
)
def test_old_keys_of_list_entries_and_old_values_say_the_new_ones(
    values: dict[str, Any], new: str
) -> None:
    with raises(InputError, "old-names") as refused:
        old_names.require_none(Path("old"), values, set())
    assert refused.value.expected == [new]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("held_pace", "held_rate_limit"),
        ("traffic.0.pace", "traffic.0.rate_limit"),
        ("traffic.0.window.answer.length", "traffic.0.window.ack.length"),
        ("stripe.control.by.told", "stripe.control.by.fixed"),
        ("traffic.0.window", None),
    ],
)
def test_the_present_name_of_a_path_is_known(old: str, new: str | None) -> None:
    assert old_names.name_now(old) == new


def test_a_query_for_an_old_column_suggests_the_new_one(tmp_path: Path) -> None:
    results = Results.load(sweep(tmp_path / "sweep", "generated_load"))
    with raises(InputError, "unknown-name", nearest="generated_load"):
        results.query("select drawn_load from classes")


def test_an_old_example_suggests_the_new_one() -> None:
    with raises(InputError, "unknown-name", nearest="stripe-rate-changes"):
        examples.require("stripe-untold")


def test_a_sweep_that_left_the_key_open_is_read(tmp_path: Path) -> None:
    base = {"scenario": {"title": "second", "routing": {"second": None}}}
    Results.load(sweep(tmp_path / "sweep", "generated_load", base=base))


def test_the_folder_of_a_run_says_the_new_names(tmp_path: Path) -> None:
    package.run(package.Scenario.parse(SHORT), output=tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"

    def rename(manifest: dict[str, Any]) -> None:
        one = manifest["summary"]["classes"][0]
        one["drawn_load"] = one.pop("generated_load")
        manifest["scenario"]["routing"]["second"] = SECOND

    as_before_digests(path, rename)
    with pytest.raises(InputError) as refused:
        package.load_result(tmp_path / "run")
    assert f"{KEY}; {LOAD}\n" in str(refused.value)


def test_a_run_folder_with_old_fields_of_the_summary_is_refused(tmp_path: Path) -> None:
    stripe.run(stripe.StripeScenario.example("stripe-rounds"), output=tmp_path / "run")

    def rename(manifest: dict[str, Any]) -> None:
        manifest["summary"]["packets_twice"] = manifest["summary"].pop("packets_duplicated")

    as_before_digests(tmp_path / "run" / "manifest.json", rename)
    with raises(InputError, "old-names") as refused:
        stripe.load_result(tmp_path / "run")
    assert refused.value.expected == ["packets_duplicated"]


def test_an_old_engine_says_the_new_one(gingham: Command) -> None:
    with raises(InputError, "refused", key="engine"):
        package.Simulation(package.Scenario.parse(SHORT), engine="runs")  # type: ignore[arg-type]
    refused = gingham("run", "torus", "--engine", "runs")
    assert refused.code == 2
    assert ENGINE in refused.err
