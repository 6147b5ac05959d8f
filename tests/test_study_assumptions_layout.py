"""Layout of the table of an assumption, by width of the terminal."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gingham.cli import _study_assumptions
from gingham.cli._study_assumptions import counts, print_moved

VALUES = ["200 and 1000 B, 50", "200 and 1000 B, 10", "200 and 1000 B, 90", "40 and 1500 B, 50"]
LONG = "surplus round robin gets more than round robin of what both of the links can carry together"


def moved(met: list[list[bool]]) -> list[Any]:
    """Return the rows of an assumption; `met` is the outcome by claim and value."""
    others = [SimpleNamespace(value=value) for value in VALUES[1:]]
    assumption = SimpleNamespace(
        key="mixture", title="of lengths", because="it is said", ours=VALUES[0], alternatives=others
    )
    rows = []
    for number, row in enumerate(met):
        outcomes = [
            SimpleNamespace(met=one, measured=SimpleNamespace(value=12.345 + place))
            for place, one in enumerate(row)
        ]
        claim = SimpleNamespace(text=f"{LONG} ({number})", shown="above 10 Mbit/s", unit="Mbit/s")
        rows.append(SimpleNamespace(assumption=assumption, claim=claim, all=outcomes, by=3.0))
    return rows


def printed(rows: list[Any], width: int, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> list[str]:
    for place in ("_study_assumptions", "_output"):
        monkeypatch.setattr(f"gingham.cli.{place}.line_width", lambda: width)
    print_moved(rows)
    return list(capsys.readouterr().out.splitlines())


def test_where_there_is_room_a_row_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(moved([[True] * 4]), 240, monkeypatch, capsys)
    assert any(all(value in line for value in VALUES) for line in lines)
    (row,) = [line for line in lines if LONG in line]
    assert "12.35" in row
    # A mark that no line has needs no legend.
    assert not any("not as expected" in line for line in lines)


def test_where_sentences_take_the_room_they_stand_below_with_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = moved([[True] * 4, [True, False, True, True], [False] * 4])
    lines = printed(rows, 100, monkeypatch, capsys)
    assert max(map(len, lines)) <= 100
    rule = next(place for place, line in enumerate(lines) if "──" in line)
    header = [line for line in lines[:rule] if line.startswith(" ")]
    # Values in two lines, a number beside its unit, and (ours) below.
    assert len(header) == 3
    assert sum(line.count("1000 B, ") for line in header) == 3
    table = lines[rule + 1 : rule + 4]
    assert [line.split()[0] for line in table] == ["1", "2", "3"]
    assert [line.count("✗") for line in table] == [0, 1, 4]
    for number in (1, 2, 3):
        assert any(line.startswith(f"{number}  {LONG[:40]}") for line in lines[rule + 4 :])
    assert lines[-2:] == ["✗  not as expected", counts(rows)]


def test_the_last_line_counts_the_claims_that_hold_whatever_is_assumed() -> None:
    rows = moved([[True] * 4, [True, False, True, True], [False] * 4, [False] * 4])
    assert counts(rows) == "of 4 claims are met: 1 under all, 1 under some, 2 under none"
    assert _study_assumptions.REFUSED == "✗"
