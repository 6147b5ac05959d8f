"""`gingham study`: output, stored files and exit codes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gingham import studies
from gingham.cli._main import run
from gingham.cli._study import print_outcomes
from gingham.errors import EnvironmentProblem
from gingham.studies import _namespaces, _study
from tests.conftest import Finished
from tests.refusals import error_of, raises, require_error

Gingham = Callable[..., Finished]
FIGURE = "kwan1996/10"


def changeable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a copy of a study's folder that is read in its place."""
    folder = tmp_path / "sources" / "kwan1996"
    shutil.copytree(studies.load("kwan1996").folder, folder)
    monkeypatch.setattr(_study, "folder_of", lambda _package: folder)
    return folder


def test_list_names_every_figure_with_its_claims(gingham: Gingham) -> None:
    told = json.loads(gingham("study", "list", "--json").out)["studies"]
    assert [one["key"] for one in told] == studies.names()
    text = gingham("study", "list").out
    for one in told:
        assert all(f"{one['key']}/{figure['key']}" in text for figure in one["figures"])


def test_check_runs_what_is_missing_and_keeps_it(gingham: Gingham, tmp_path: Path) -> None:
    first = gingham("study", "check", FIGURE, "--quick")
    assert first.code == 0, first.err
    assert first.out.splitlines()[-2:] == [
        "of the paper: 2 passed, 0 failed, 1 differ",
        "of ours: 1 passed, 0 failed",
    ]
    shards = sorted((tmp_path / "runs/studies/kwan1996/quick/figure-10").rglob("*.parquet"))
    assert shards
    again = gingham("study", "check", FIGURE, "--quick", "--json")
    claims = json.loads(again.out)["claims"]
    assert {one["verdict"] for one in claims} == {"passed", "differs"}
    assert all(one["measured"]["value"] is not None for one in claims)
    counts = json.loads(again.out)["counts"]
    assert (counts["paper"]["passed"], counts["ours"]["passed"]) == (2, 1)
    assert sorted((tmp_path / "runs/studies/kwan1996/quick/figure-10").rglob("*.parquet")) == shards
    drawn = gingham("study", "plot", FIGURE, "--quick", "-o", "pictures")
    assert drawn.out == "written: pictures/kwan1996-10.png\n"
    assert (tmp_path / "pictures/kwan1996-10.png").read_bytes().startswith(b"\x89PNG")


def test_a_claim_that_is_not_met_ends_with_5_and_says_how_it_was_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = changeable(monkeypatch, tmp_path)
    expected = folder / "expected-3.2.toml"
    text = expected.read_text()
    assert "expected = 80\n" in text
    expected.write_text(text.replace("expected = 80\n", "expected = 40\n"))
    monkeypatch.chdir(tmp_path)
    assert run(["study", "check", FIGURE, "--quick", "--folder", "runs"]) == 5
    out = capsys.readouterr().out
    assert "failed: the segment that delays H3 least is as long as the buffer\n" in out
    assert "segment size of the least mean delay of H3" in out
    assert "of the paper: 1 passed, 1 failed, 1 differ" in out


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("kwan1997", "kwan1996"),
        ("kwan1996/4", None),
        ("kwan1996/", None),
    ],
)
def test_an_unknown_name_ends_with_2(gingham: Gingham, name: str, nearest: str | None) -> None:
    error = require_error(gingham("study", "check", name, "--json"), "unknown-name")
    assert error["nearest"] == nearest


def test_a_format_that_is_none_is_told_before_anything_runs(
    gingham: Gingham, tmp_path: Path
) -> None:
    done = gingham("study", "plot", FIGURE, "--format", "bmp")
    assert done.code == 2
    assert not list(tmp_path.iterdir())


def test_a_picture_that_is_there_already_is_told_before_anything_runs(
    gingham: Gingham, tmp_path: Path
) -> None:
    there = tmp_path / "pictures" / "kwan1996-10.png"
    there.parent.mkdir()
    there.write_bytes(b"mine")
    done = gingham("study", "plot", FIGURE, "--quick", "-o", "pictures", "--json")
    require_error(done, "exists", file="pictures/kwan1996-10.png")
    assert there.read_bytes() == b"mine"
    assert not (tmp_path / "runs").exists()


def test_the_table_of_claims_has_units_and_folds_the_claim(
    capsys: pytest.CaptureFixture[str],
) -> None:
    study = studies.load("kwan1996")
    claims = [one for one in study.claims if one.unit == "ns" and not one.ours]
    outcomes = [
        studies.ClaimOutcome(one, "passed", studies.Measurement(12.5, 1, 20)) for one in claims
    ]
    outcomes.append(studies.ClaimOutcome(study.claims[0], "left_out", None))
    print_outcomes(study, outcomes)
    lines = capsys.readouterr().out.splitlines()
    assert sum("12.5 ns" in line for line in lines) == len(claims)
    assert any(line.endswith("left out") for line in lines)
    assert lines[-1] == f"of the paper: {len(claims)} passed, 0 failed, 1 left to the full study"
    assert max(map(len, lines)) <= 120


def test_runs_that_failed_are_told_and_end_with_5(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = changeable(monkeypatch, tmp_path)
    sweep = folder / "figure-10.toml"
    # Only the run itself discovers that no fabric of the study has this destination.
    text = sweep.read_text() + '\n[set]\n"traffic.h3.destinations" = { host = "h9" }\n'
    sweep.write_text(text)
    monkeypatch.chdir(tmp_path)
    assert run(["study", "run", FIGURE, "--quick"]) == 5
    told = capsys.readouterr().err
    assert "figure-10: 10 of 10" in told
    assert "`h9`" in told


TINY = """

[coarse.figure-10]
set = { "stop.time" = "20 ms" }

[[assumption]]
key = "quickness"
title = "delay of a switch"
because = "it is made up"
ours = "150 ns"
claims = ["best-for-H3"]
alternatives = [{ value = "1 us", set = { "network.routing_delay" = "1 us" } }]
"""


def test_assumptions_show_what_moves_which_claim(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = changeable(monkeypatch, tmp_path)
    about = folder / "study.toml"
    about.write_text(about.read_text() + TINY)
    monkeypatch.chdir(tmp_path)
    given = ["study", "assumptions", "kwan1996/quickness", "--folder", "runs"]
    assert run([*given, "--json", "--picture", "p.png"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["moved"]
    assert [one["value"] for one in row["under"]] == ["150 ns", "1 us"]
    first, second = (one["measured"]["value"] for one in row["under"])
    assert first == 80
    assert row["moved_by"] == abs(second - first)
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    # The other assumption has runs of its own, beside those of ours.
    assert {path.name for path in (tmp_path / "runs" / "coarse").iterdir()} == {
        "figure-10",
        "figure-10, quickness 1 us",
    }
    assert run(given) == 0
    assert "of 1 claims are met: " in capsys.readouterr().out
    assert run(["study", "assumptions", "kwan1996/quick", "--folder", "runs", "--json"]) == 2
    error = error_of(capsys.readouterr().err)
    assert (error["code"], error["nearest"]) == ("unknown-name", "quickness")


@pytest.mark.parametrize(
    ("words", "code", "facts"),
    [
        (["kwan1996", "--real"], 2, {"code": "no-data", "expected": ["adiseshu1996"]}),
        (
            ["adiseshu1996/8", "--real"],
            2,
            {"code": "no-data", "expected": ["15", "5.1", "6.2"]},
        ),
        (
            ["adiseshu1996", "--daemon", "striped"],
            2,
            {"code": "bad-option", "key": "--daemon"},
        ),
        (
            ["adiseshu1996", "--real", "--daemon", "striped"],
            6,
            {"code": "missing-program", "file": "striped"},
        ),
        (["adiseshu1996", "--real"], 6, {"code": "missing-program", "file": None}),
    ],
)
def test_what_is_missing_for_real_links_is_said_before_anything_runs(
    gingham: Gingham,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: list[str],
    code: int,
    facts: dict[str, Any],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = gingham("study", "check", *words, "--json")
    error = error_of(ended.err)
    assert ended.code == code, ended.err
    assert {name: error[name] for name in facts} == facts
    assert not (tmp_path / "runs").exists()


def test_a_machine_without_root_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_namespaces, "PROGRAMS", ())
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with raises(EnvironmentProblem, "no-privilege"):
        _namespaces.require_machine()
    monkeypatch.setattr(_namespaces, "PROGRAMS", ("no-such-program",))
    with raises(EnvironmentProblem, "missing-program"):
        _namespaces.require_machine()
