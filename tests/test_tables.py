"""Tables fit: none wider than its terminal, or than 100 columns in a pipe, and no name is cut."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gingham import comparison
from gingham.cli import _layout, _main, _opensm, _output
from gingham.opensm.comparison import EngineRow
from tests import snapshots
from tests.conftest import Finished

Command = Callable[..., Finished]

DUMPS = ("long-names", "without-names")
# Names of each dump, which tables must show uncut.
NAMES = {
    "long-names": ("MF0;A09-P1-IBLEAF-01-01:MQM9701/U1", "MF0;A10-P1-IBSPINE-04:MQM9701/U1"),
    "without-names": ("S-0008f10500108098", "S-0008f10500200b50[7]"),
}
WIDTHS = (80, 100)


@pytest.fixture
def shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """A function that runs a command in lines of `width` characters and returns its output."""

    def run(width: int, *arguments: str) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.chdir(snapshots.FOLDER)
        assert _main.run(list(arguments)) in {0, 5, 6}
        return capsys.readouterr().out

    return run


def require_fit(text: str, width: int, names: tuple[str, ...] = ()) -> None:
    """Fail if a line of several words is too wide, or if a name is cut."""
    for line in text.splitlines():
        assert len(line) <= width or len(line.split()) == 1, line
    assert all(name in text for name in names), text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dump", DUMPS)
def test_findings_of_a_dump(shown: Callable[..., str], dump: str, width: int) -> None:
    text = shown(width, "fabric", "check", f"{dump}.ibnetdiscover")
    require_fit(text, width, NAMES[dump])
    snapshots.require(f"check-{dump}-{width}", text)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dump", DUMPS)
def test_algorithms_side_by_side(
    shown: Callable[..., str], monkeypatch: pytest.MonkeyPatch, dump: str, width: int
) -> None:
    timed = comparison.compare

    def compare(*arguments: Any, **named: Any) -> list[comparison.CandidateRow]:
        return [replace(row, seconds=0.25) for row in timed(*arguments, **named)]

    monkeypatch.setattr(comparison, "compare", compare)
    text = shown(width, "route", f"{dump}.ibnetdiscover", "--compare")
    require_fit(text, width)
    snapshots.require(f"route-compare-{dump}-{width}", text)


def engine(name: str, ran: str, *numbers: Any, by: Any = "opensm", words: str = "") -> EngineRow:
    """Return the row of a comparison for an engine."""
    if not numbers:
        return EngineRow(by, name, ran, (words,))
    mean, most, lanes, busiest, bandwidth, lost, cycle = numbers
    facts = {
        "mean_switches": mean,
        "max_switches": most,
        "lanes": list(range(lanes)),
        "max_channel_paths": busiest,
        "bisection": {"bandwidth": bandwidth, "bandwidth_half_width": 0.002},
        "lost_pairs": lost,
        "deadlock_free": not cycle,
        "deadlock_free_between_hosts": cycle == 1,
        "cycle": ["channel"] * cycle,
    }
    return EngineRow(by, name, ran, (words,) if words else (), facts)


# Results of a comparison on a cluster of 990 hosts, except for the failure.
ROWS = [
    engine("minhop", "minhop", 3.524, 6, 1, 18_449, 0.427, 0, 4),
    engine(
        *("updn", "minhop", 3.524, 6, 1, 18_449, 0.427, 0, 4),
        words="disabling UPDN algorithm, no root nodes were found; updn: cannot build lid matrices",
    ),
    engine("lash", "failed", words="opensm: no answer from MF0;A09-P1-IBLEAF-01-01:MQM9701/U1"),
    engine("dfsssp", "dfsssp", 3.524, 6, 4, 2_874, 0.429, 979_110, 0),
    engine("torus-2QoS", "torus-2QoS", 3.524, 6, 1, 656, 0.427, 0, 1),
    engine("shortest-path", "shortest-path", 3.524, 6, 1, 628, 0.427, 0, 4, by="gingham"),
]


@pytest.mark.parametrize("width", WIDTHS)
def test_engines_side_by_side(
    shown: Callable[..., str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(_opensm, "compare", lambda *_arguments, **_named: ROWS)
    monkeypatch.setattr(_opensm, "versions", lambda *_names: {})
    text = shown(width, "opensm", "compare", "long-names.ibnetdiscover")
    require_fit(text, width, ("MF0;A09-P1-IBLEAF-01-01:MQM9701/U1",))
    snapshots.require(f"opensm-compare-{width}", text)


@pytest.mark.parametrize("width", WIDTHS)
def test_what_may_be_asked_for(shown: Callable[..., str], width: int) -> None:
    text = shown(width, "explain")
    require_fit(text, width)
    snapshots.require(f"explain-{width}", text)
    text = shown(width, "explain", "traffic.0.length")
    require_fit(text, width)
    snapshots.require(f"explain-length-{width}", text)


def test_explain_goes_one_level_deep_unless_asked(shown: Callable[..., str]) -> None:
    def headings(*arguments: str) -> set[str]:
        lines = shown(100, "explain", *arguments).splitlines()
        return {line for line in lines if line.startswith("traffic")}

    assert headings() == {"traffic"}
    below = headings("traffic")
    assert "traffic.0.length" in below
    assert "traffic.0.length.uniform" not in below
    below = headings("traffic", "--depth", "2")
    assert "traffic.0.length.uniform" in below
    assert "traffic.0.length.uniform.from" not in below
    assert "traffic.0.length.uniform.from" in headings("--depth", "4")


def test_keys_that_are_not_told_are_mentioned(shown: Callable[..., str]) -> None:
    # `from` and `to` of `uniform`, and the parameters of `bimodal`.
    assert shown(100, "explain", "traffic.0.length").count("Keys below it.") == 2
    assert "below it" not in shown(100, "explain", "traffic.0.length", "--depth", "2")


WORD = st.text("ab-;:/漢", min_size=1, max_size=50)
CELL = st.lists(WORD, max_size=5).map(" ".join)
ROW = st.tuples(CELL, CELL, CELL)


@given(st.lists(ROW, min_size=1, max_size=4), st.integers(20, 120), st.sampled_from(["", "three"]))
def test_no_table_is_wider_than_there_is_room(
    rows: list[tuple[str, str, str]], width: int, prose: str
) -> None:
    grid = _layout.Grid(("one", "two words", "three"), rows, numbers=("two words",), prose=prose)
    lines = list(_output.lines_of(_layout.table(grid, width)))
    for line in lines:
        # A name alone may be wider than the terminal.
        assert _layout.cell_width(line) <= width or len(line.split()) == 1, line
    told = " ".join(lines).split()
    assert all(word in told for row in rows for cell in row for word in cell.split())


def test_a_table_comes_closer_then_folds_its_sentences_then_becomes_records() -> None:
    rows = [("switch-17", 1344, "goes to a port that does not list it")]
    grid = _layout.Grid(("name", "paths there", "finding"), rows, ("paths there",), "finding")

    def lines(width: int) -> list[str]:
        return [line for line in _output.lines_of(_layout.table(grid, width)) if line.strip()]

    # Cells of 9, 11 and 36, three between two columns, two at both ends.
    assert len(lines(66)[0]) <= 66
    assert lines(66)[0].split() == ["name", "paths", "there", "finding"]
    # Closer, with `paths` above `there`: 9, 5 and 36, two between two columns, one at both ends.
    assert [line.split() for line in lines(65)[:2]] == [["paths"], ["name", "there", "finding"]]
    assert len(lines(56)) == len(lines(65)) == 4
    folded = lines(55)
    assert [line.split()[-1] for line in folded[3:]] == ["list", "it"]
    # A column of sentences is at least 24 wide.
    assert len(lines(44)) == 5
    assert lines(43) == [
        "switch-17",
        "  paths there  1344",
        "  finding      goes to a port that does not",
        "               list it",
    ]


@pytest.mark.parametrize("width", [60, 40])
def test_the_heading_of_sentences_has_one_line(width: int) -> None:
    rows = [("torus.toml", "a torus of four by four switches, two hosts each")]
    grid = _layout.Grid(("file", "what it shows"), rows, prose="what it shows")
    first = next(line for line in _output.lines_of(_layout.table(grid, width)) if line.strip())
    assert first.split() == ["file", "what", "it", "shows"]


def test_names_longer_than_a_line_stand_alone() -> None:
    name = "MF0;A09-P1-IBLEAF-01-01:MQM9701/U1"
    grid = _layout.Grid(("line", "switch"), [(7, name)], ("line",))
    lines = list(_output.lines_of(_layout.table(grid, 20)))
    assert lines == ["line 7", "  switch", f"    {name}", ""]


def in_terminal(command: list[str], columns: int, rows: int, **environment: str) -> str:
    """Return the output of a command in a terminal of this size."""
    here, there = pty.openpty()
    variables = os.environ | {"TERM": "xterm", "COLUMNS": str(columns), "LINES": str(rows)}
    program = subprocess.Popen(
        command, stdin=there, stdout=there, stderr=there, env=variables | environment
    )
    os.close(there)
    parts = []
    while True:
        try:
            part = os.read(here, 4096)
        except OSError:
            # The program has closed its end.
            break
        if not part:
            break
        parts.append(part)
    os.close(here)
    assert program.wait() == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


GINGHAM = str(Path(sys.executable).parent / "gingham")


def test_what_is_longer_than_the_terminal_goes_to_the_pager(tmp_path: Path) -> None:
    paged = tmp_path / "paged"
    pager = f"tee {paged}"
    told = in_terminal([GINGHAM, "explain", "traffic"], 60, 24, PAGER=pager)
    lines = paged.read_text().splitlines()
    assert lines[0] == "traffic"
    assert told.splitlines() == lines, "a pager that knows no styles gets none"
    assert max(map(len, lines)) <= 60
    paged.unlink()
    assert "offered load" in in_terminal([GINGHAM, "explain", "load"], 60, 24, PAGER=pager)
    assert not paged.exists(), "what fits needs no pager"


# Hosts on the diagonal map to themselves, which a note reports.
NOTED = """
topology.generate.mesh = { dimensions = [4, 4] }
routing.algorithm = "dimension-order"
network.preset = "booksim-iq"
stop.time = "1 us"
[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = "transpose"
"""


def test_notes_fit_the_terminal(tmp_path: Path) -> None:
    scenario = tmp_path / "noted.toml"
    scenario.write_text(NOTED)
    told = in_terminal([GINGHAM, "run", str(scenario)], 40, 24)
    # The progress bar before the message leaves control characters.
    first, second = told[told.index("gingham: ") :].splitlines()[:2]
    assert second.startswith("  ")
    note = f"{first} {second.strip()}"
    assert note == "gingham: class `all`: 4 of 16 hosts map to themselves and are silent"
    assert max(map(len, (first, second))) <= 40


@pytest.mark.parametrize(("terminal", "as_json"), [(False, False), (True, True), (True, False)])
def test_only_notes_that_people_read_in_a_terminal_are_folded(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
    as_json: bool,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    token = _output.for_programs.set(as_json)
    try:
        _output.warn("a note " * 20)
    finally:
        _output.for_programs.reset(token)
    lines = capsys.readouterr().err.splitlines()
    assert (len(lines) > 1) == (terminal and not as_json)
    assert max(map(len, lines)) <= 40 or len(lines) == 1


def test_a_pipe_has_no_pager_and_no_styles(
    gingham: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PAGER", f"tee {tmp_path / 'paged'}")
    monkeypatch.setenv("COLUMNS", "300")
    told = gingham("explain", "traffic").out
    assert max(map(len, told.splitlines())) <= 100
    assert "\x1b" not in told
    assert not (tmp_path / "paged").exists()
