"""Tables of LaTeX: characters escaped, intervals aligned, and a document that compiles."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gingham.cli._latex import escaped, latex_table
from tests.conftest import Finished

Gingham = Callable[..., Finished]


def test_a_mean_and_its_half_width_are_one_number_aligned_at_the_sign() -> None:
    table = pa.table(
        {
            "routing": ["up_down", "50% & more"],
            "load": [0.1, 0.25],
            "latency_mean_ns": [1234.5, -3.0],
            "latency_half_width_ns": [12.0, 0.5],
            "runs": [3, 4],
        }
    )
    lines = latex_table(table).splitlines()
    assert lines[1] == r"\begin{tabular}{lrr@{${}\pm{}$}lr}"
    assert [line for line in lines if line.startswith("\\")] == [
        lines[1],
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert lines[3].split(" & ")[2] == r"\multicolumn{2}{c}{latency\_mean\_ns}"
    assert lines[5] == r"up\_down & 0.1 & 1234 & 12 & 3 \\"
    assert lines[6] == r"50\% \& more & 0.25 & $-$3.00 & 0.50 & 4 \\"


def test_each_row_has_as_many_cells_as_columns_also_without_values() -> None:
    table = pa.table(
        {
            "mean": pa.array([None, 2.0, 3e-6, 4.0], pa.float64()),
            "half_width": pa.array([None, None, 1e-7, 0.0], pa.float64()),
            "x": pa.array([None, float("nan"), 1e-9, 1e9], pa.float64()),
            "s": pa.array(["a", None, "b", "c"]),
        }
    )
    rows = latex_table(table).splitlines()[5:9]
    cells = [row.removesuffix(r" \\").split(" & ") for row in rows]
    spans = [sum(2 if cell.startswith(r"\multicolumn{2}") else 1 for cell in row) for row in cells]
    assert spans == [4, 4, 4, 4]
    assert cells[3] == ["4", "0", "1000000000", "c"]
    assert cells[2][-2] == r"$1 \cdot 10^{-9}$"


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=30))
def test_no_character_keeps_its_meaning(text: str) -> None:
    plain = re.sub(r"\\text[a-z]+\{\}|\\[&%$#_{}]", "", escaped(text))
    assert not set(plain) & set("\\&%$#_{}~^<>|\n\t")


@pytest.fixture
def sweep(gingham: Gingham, tmp_path: Path) -> Path:
    (tmp_path / "few.toml").write_text(
        'base = "torus"\nreplications = 2\n[set]\n"stop.time" = "50 us"\n'
        '[[axis]]\nkey = "traffic.0.load"\nvalues = [0.05]\n'
    )
    done = gingham("sweep", "few.toml", "-o", "few")
    assert done.code in (0, 5), done.err
    return tmp_path / "few"


def test_the_command_prints_a_table_or_writes_it(
    gingham: Gingham, sweep: Path, tmp_path: Path
) -> None:
    asked = "select load, count(*) as runs from runs group by all"
    done = gingham("query", sweep, asked, "--latex")
    assert done.code == 0, done.err
    assert r"0.05 & 2 \\" in done.out
    written = gingham("query", sweep, asked, "-o", "t.tex")
    assert written.code == 0, written.err
    assert (tmp_path / "t.tex").read_text() == done.out
    for refused in (
        gingham("query", sweep, "--latex"),
        gingham("query", sweep, asked, "--latex", "--json"),
        gingham("query", sweep, asked, "--latex", "-o", "t.csv"),
    ):
        assert refused.code == 2
