"""Results of commands on small fabrics with a fault or an unusual property."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Finished

Command = Callable[..., Finished]

CASES = (
    Path(__file__).parent.parent / "crates" / "fabric" / "topology" / "tests" / "fixtures" / "cases"
)


def facts(gingham: Command, *words: object) -> dict[str, Any]:
    finished = gingham(*words, "--json")
    assert finished.code in {0, 5}, finished.err
    found: dict[str, Any] = json.loads(finished.out)
    return found


@pytest.mark.parametrize(
    ("name", "lines", "notes"),
    [
        (
            "slurm-rails",
            ["SwitchName=r1 Nodes=n1,n2", "SwitchName=spine Switches=r1"],
            ["2 leaves"],
        ),
        (
            "slurm-empty-leaf",
            ["SwitchName=leaf1 Nodes=n1", "SwitchName=top Switches=leaf1"],
            ["1 switch"],
        ),
    ],
)
def test_slurms_file_and_what_was_left_out(
    gingham: Command, tmp_path: Path, name: str, lines: list[str], notes: list[str]
) -> None:
    converted = facts(gingham, "fabric", "convert", CASES / f"{name}.ibsim", "-o", "topology.conf")
    text = (tmp_path / "topology.conf").read_text()
    assert [line for line in text.splitlines() if not line.startswith("#")] == lines
    for note in notes:
        assert any(left_out.startswith(note) for left_out in converted["left_out"]), converted


def test_no_file_is_written_that_slurm_refuses(gingham: Command, tmp_path: Path) -> None:
    case = CASES / "slurm-default-names.ibsim"
    for name in ("topology.conf", "topology.yaml"):
        converted = gingham("fabric", "convert", case, "-o", name, "--json")
        assert (converted.code, json.loads(converted.err)["code"]) == (2, "unwritable")
        assert not (tmp_path / name).exists()


def test_a_narrow_trunk_is_a_warning(gingham: Command) -> None:
    checked = gingham("fabric", "check", CASES / "degraded-width.ibnetdiscover", "--json")
    assert checked.code == 5
    findings = json.loads(checked.out)["findings"]
    kinds = [one["kind"] for one in findings if one["severity"] == "warning"]
    assert kinds == ["slow-cable"]


def test_adapters_of_one_default_description_are_a_note(gingham: Command) -> None:
    checked = gingham("fabric", "check", CASES / "slurm-default-names.ibsim", "--json")
    assert checked.code == 0
    kinds = [one["kind"] for one in json.loads(checked.out)["findings"]]
    assert "default-name" in kinds


def test_the_bound_of_islands_is_at_most_one(gingham: Command) -> None:
    routed = facts(gingham, "route", CASES / "islands.ibsim", "--algorithm", "up-down")
    assert routed["statistics"]["all_to_all"]["load"] == 1.0


def test_tops_at_two_heights_are_found(gingham: Command) -> None:
    case = CASES / "tops-at-two-heights.ibsim"
    [tree] = facts(gingham, "fabric", "info", case)["trees"]
    assert [level["switches"] for level in tree["levels"]] == [2, 6, 9]
    options = ("--algorithm", "up-down")
    found = facts(gingham, "route", case, *options)
    roots = ("--roots", CASES / "tops-at-two-heights.roots")
    named = facts(gingham, "route", case, *options, *roots)
    busiest = [one["statistics"]["max_channel_paths"] for one in (found, named)]
    assert busiest == [36, 36]
