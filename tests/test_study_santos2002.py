"""The study of Santos et al. 2002: its measures, checked by hand, and the selection of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import gingham
from gingham import studies
from gingham_studies.santos2002 import cells, measures, readings

if TYPE_CHECKING:
    from pathlib import Path

    from gingham.studies import Evidence

STUDY = studies.load("santos2002")
# By class: a share of the link, marks by input and output, Jain's index.
Run = dict[str, tuple[float, int, int, float]]


class Rows:
    """Evidence from rows that are written down, by sweep and by the values on its axes."""

    def __init__(self, made: list[tuple[str, dict[str, Any], list[Run]]]) -> None:
        self.study, self.size = STUDY, "full"
        self.made = [
            {
                "sweep": sweep,
                **fixed,
                "replication": number,
                "class": name,
                "accepted_wire_bytes_per_s": share * 1e9,
                "packets_marked_input": by_input,
                "packets_marked_output": by_output,
                "fairness": fairness,
            }
            for sweep, fixed, runs in made
            for number, run in enumerate(runs)
            for name, (share, by_input, by_output, fairness) in run.items()
        ]

    def rows(self, sweep: str, traffic: str | None = None, /, **fixed: Any) -> list[Any]:
        wanted = {"sweep": sweep, **fixed, **({"class": traffic} if traffic else {})}
        return [row for row in self.made if wanted.items() <= row.items()]


def run(local: float, remote: float, victim: float, marks: tuple[int, int] = (0, 0)) -> Run:
    shares = {"local": local, "remote": remote, "victim": victim}
    return {name: (share, *marks, 0.99) for name, share in shares.items()}


def at(policy: str, buffer: int = 4, switch: str = "any, same") -> dict[str, Any]:
    return {"switch": switch, "policy": policy, "buffer": buffer * 2112}


def evidence(*made: tuple[str, dict[str, Any], list[Run]]) -> Evidence:
    return Rows(list(made))  # type: ignore[return-value]


NONE = run(0.714, 0.286, 0.04)
INPUT = [run(0.64, 0.32, 0.6, (30, 10)), run(0.6, 0.36, 0.56, (10, 30))]


def test_shares_of_links_are_sums_of_classes() -> None:
    found = evidence(("lead", at("none"), [NONE]))
    told = {of: measures.share(found, of, {"policy": "none"}).value for of in measures.OF}
    assert told["root"] == pytest.approx(1)
    assert told["inter"] == pytest.approx(0.326)
    assert told["ratio"] == pytest.approx(0.286 / 0.714)
    assert told["remote of root"] == pytest.approx(0.286)
    assert told["unfairness"] == pytest.approx(1 - 0.286 / 0.714)


def test_differences_and_multiples_go_pair_by_pair() -> None:
    found = evidence(("lead", at("none"), [NONE, NONE]), ("lead", at("input"), INPUT))
    ratio = measures.more(found, "ratio", {"policy": "input"}, {"policy": "none"})
    assert ratio.value == pytest.approx((0.5 + 0.6) / 2 - 0.286 / 0.714)
    victim = measures.times(found, "victim", {"policy": "input"}, {"policy": "none"})
    assert victim.value == pytest.approx((15 + 14) / 2)


def test_marks_are_counted_by_trigger() -> None:
    found = evidence(("lead", at("input"), INPUT), ("lead", at("input", 12), [NONE]))
    # Three classes of 30 and 10 marks, then of 10 and 30.
    assert measures.input_share(found, {"policy": "input"}).value == pytest.approx(0.5)
    assert measures.marked_by_input(found, ["input"], [4]).value == 120
    assert measures.marked_by_input(found, ["input"], [12]).value == 0
    assert measures.input_share(found, {"policy": "input", "buffer": 12}).value == 0
    assert measures.alike(found, "remote", {"policy": "input"}).value == pytest.approx(0.99)


def test_the_least_the_most_and_the_range_over_buffers() -> None:
    places = [("lead", at("input", 4), [run(0.5, 0.4, 0)]), ("lead", at("input", 8), [NONE])]
    found = evidence(*places)
    assert measures.extreme(found, "root", "input", [4, 8], "least").value == pytest.approx(0.9)
    most = measures.extreme(found, "root", "input", [4, 8], "most")
    assert most.value == pytest.approx(1)
    assert most.note == "buffer of 8"
    assert measures.range_of(found, "root", "input", [4, 8]).value == pytest.approx(0.1)


def test_the_rung_is_that_nearest_to_the_papers_number() -> None:
    locals_ = {"1/64": 0.84, "1/128": 0.893, "1/256": 0.912}
    made = [
        ("calibration", {"switch": "any, same", "rung": of}, [run(share, 1 - share, 0)])
        for of, share in locals_.items()
    ]
    assert measures.rung(evidence(*made), "any, same").value == 128


def test_a_cell_finds_its_runs_and_every_run_it_asks_for_is_made() -> None:
    assert len(cells.CELLS) == 16
    asked = {
        (sweep, fixed["switch"], fixed["policy"], fixed["buffer"])
        for cell in cells.CELLS
        for policy in ("none", "naive", "input", "output 4", "output 6", "output 8", "output 16")
        for buffer in ((4,) if policy in cells.UNCOUNTED else (2, 4, 8, 12, 16))
        for sweep, fixed in [cells.runs_of({"policy": policy, "buffer": buffer}, cell)]
    }
    made = {
        (sweep, *(point.values[name] for name in ("switch", "policy", "buffer")))
        for sweep in ("lead", "cells-with", "cells-without")
        for point in STUDY.sweep(sweep).points()
    }
    assert asked <= made
    # The buffers of 3 and 6 packets are in the leading cell alone, so no run is made in vain.
    assert {of for of in made - asked if of[3] not in (3 * 2112, 6 * 2112)} == set()


def test_the_table_of_readings_holds_each_cell_against_the_claims_with_a_cell() -> None:
    made = [
        (sweep, at("none", switch=switch), [NONE if switch == "any, same" else run(0.7, 0.2, 0.1)])
        for sweep, switch in (
            ("lead", "any, same"),
            ("cells-with", "any, any"),
            ("cells-with", "one, same"),
            ("cells-with", "one, any"),
        )
    ]
    found = evidence(*made)
    claim = STUDY.claim("none-victim")
    assert [readings.met(found, claim, name) for name in list(cells.CELLS)[::2]] == [
        cell.switch == "any, same" for cell in list(cells.CELLS.values())[::2]
    ]
    keys = [one.key for one in readings.columns(found)]
    assert "none-victim" in keys
    assert not {"naive-local", "none-remote"} & set(keys)


def test_flows_start_one_after_the_other_the_local_ones_first(tmp_path: Path) -> None:
    scenario = gingham.Scenario.load(STUDY.folder / "figure-1.toml").with_(
        {"stop": {"time": "3 ms", "warm_up": "0 s"}, "measure.messages": "all"}
    )
    rows = gingham.run(scenario, output=tmp_path / "run").table("messages").to_pylist()
    first: dict[str, int] = {}
    for row in rows:
        first.setdefault(row["source"], row["created_ps"])
    order = [*(f"B{n}" for n in range(1, 11)), *(f"A{n}" for n in range(1, 11)), "AV"]
    turns = {host: 100_000_000 * turn for turn, host in enumerate(order)}
    assert sorted(first) == sorted(order)
    assert all(0 <= first[host] - turns[host] < 100_000_000 for host in order)


def test_without_control_the_oldest_first_leaves_remote_flows_four_fourteenths() -> None:
    scenario = gingham.Scenario.load(STUDY.folder / "figure-1.toml").with_(
        {"stop": {"time": "20 ms", "warm_up": "6 ms"}}
    )
    shares = {
        of["name"]: of["accepted_wire_bytes_per_s"] / 1e9 for of in gingham.run(scenario).classes
    }
    # Four packets of the cable's buffer wait beside one of each of ten local hosts.
    assert shares["remote"] / (shares["local"] + shares["remote"]) == pytest.approx(
        4 / 14, abs=2e-3
    )
    # The victim is one of 11 flows over the cable, and each of its packets costs a place or two.
    assert 1 / 30 < shares["victim"] < 1 / 20
