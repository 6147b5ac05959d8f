"""Every mechanism behaves under every switching kind as the catalogue states."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import gingham as package
from gingham._native import catalogue
from gingham.catalogue import mechanisms, reference
from tests.conftest import Finished
from tests.fragments import completed, messages_of, values_of
from tests.refusals import require_error

Command = Callable[..., Finished]
KNOWN = mechanisms.every_mechanism()
PAIRS = [
    pytest.param(kind, one, id=f"{one.concept}-{one.name}-{kind.name}")
    for kind in mechanisms.kinds()
    for one in KNOWN
]


@pytest.mark.parametrize(("kind", "one"), PAIRS)
def test_a_pair_works_or_is_refused_as_the_matrix_says(
    kind: mechanisms.SwitchingKind, one: mechanisms.Mechanism, tmp_path: Path
) -> None:
    for name, text in one.files.items():
        (tmp_path / name).write_text(text)
    support, _, reason = one.support[kind.name].partition(": ")
    if support == "works":
        assert messages_of(completed(kind.example, one.example, folder=tmp_path)) > 0
    elif support == "refused":
        with pytest.raises(package.InputError) as refused:
            package.Simulation(completed(kind.example, one.example, folder=tmp_path))
        assert reason in str(refused.value)
    else:
        assert support == "meaningless"


@pytest.mark.parametrize("one", KNOWN, ids=lambda one: f"{one.concept}-{one.name}")
def test_an_example_uses_what_it_is_the_example_of(one: mechanisms.Mechanism) -> None:
    (top, *_), values = one.key.split("."), values_of(one.example)
    written = {key: value for key, value in values.items() if key.split(".")[0] == top}
    if top == "traffic":
        # The value of the key in the first class; every class has a length.
        at_key = written[top][0]
        for part in one.key.split(".")[2:]:
            at_key = at_key[part]
        written = {top: at_key}
    # A key of a network is written with its path.
    assert re.search(rf'[".]{re.escape(one.name)}"', json.dumps(written))


def test_a_refusal_is_shown_with_its_reason() -> None:
    line = {"kind": "any", "support": "refused", "reason": "no lanes"}
    assert mechanisms.support_of(line) == "refused: no lanes"
    assert mechanisms.support_of({"kind": "any", "support": "meaningless"}) == "meaningless"


def test_every_key_of_a_concept_is_one_of_scenarios() -> None:
    keys = {key.path for key in reference.every_key()}
    paths = {reference.as_key(path) for line in catalogue() for path in line["keys"]}
    assert paths - keys - {"traffic.0"} == set()


def test_explain_shows_a_mechanism_with_its_support(gingham: Command) -> None:
    shown = gingham("explain", "torus")
    assert shown.code == 0
    for word in ("under wormhole", "works", "hosts_per_switch", "topology.generate.torus = {"):
        assert word in shown.out
    answer = json.loads(gingham("explain", "torus", "--json").out)
    assert answer["keys"] == []
    assert answer["mechanisms"][0]["support"] == {
        "wormhole": "works",
        "virtual-lanes": "works",
        "packets": "works",
    }


def test_explain_tells_a_table_of_results_with_its_columns(gingham: Command) -> None:
    shown = " ".join(gingham("explain", "link_series").out.split())
    assert shown.startswith("link_series (table) ")
    assert "columns are from, from_port, to, to_port, " in shown


def test_explain_without_a_name_lists_keys_and_every_mechanism(gingham: Command) -> None:
    shown = gingham("explain").out
    assert shown.startswith("format\n")
    words = shown.replace(",", " ").split()
    assert all(one.name in words for one in KNOWN)
    deeper = gingham("explain", "--depth", "2").out.splitlines()
    assert {f"{one.name} ({one.concept})" for one in KNOWN} <= set(deeper)
    assert "traffic.0.load" in deeper


def test_explain_of_a_concept_tells_its_mechanisms_in_short(gingham: Command) -> None:
    shown = gingham("explain", "routing").out
    assert "up-down (routing)\n" in shown
    assert "example, for a scenario" not in shown
    assert shown.count(" (routing)\n") == 6
    assert "example, for a scenario" in gingham("explain", "routing", "--depth", "2").out


def test_a_mechanism_misspelt_is_answered_with_the_nearest(gingham: Command) -> None:
    refused = gingham("explain", "expnential", "--json")
    require_error(refused, "unknown-name", nearest="exponential")
