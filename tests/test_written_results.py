"""Tables, curves and pictures, read back by the readers of their formats.

CSV by the module `csv`, Parquet by DuckDB, JSON by a reader that rejects NaN, LaTeX by the rules of
`tabular`, SVG by an XML parser.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from gingham import Fabric, InputError, Scenario, loads, plots
from gingham.cli._curve import write_files
from gingham.cli._output import json_text
from gingham.cli._query import answer_for_programs, encoded
from tests.drawn_fabrics import NAMES, cabled

COLUMNS = {
    "s": pa.string(),
    "latency_mean_ns": pa.float64(),
    "latency_half_width_ns": pa.float64(),
    "n": pa.int64(),
    "x": pa.float64(),
    "is": pa.bool_(),
}
FIRST_LETTERS = st.sampled_from(["[1]", "[", "*", "\\", "--", "a\r\nb", "\f", "{", "&"])
REAL = st.none() | st.floats()
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "s": st.none() | NAMES | FIRST_LETTERS,
            "latency_mean_ns": REAL,
            "latency_half_width_ns": st.none() | st.floats(0, 1e9),
            "n": st.none() | st.integers(-(1 << 63), (1 << 63) - 1),
            "x": REAL,
            "is": st.none() | st.booleans(),
        }
    ),
    max_size=4,
)
# A selection of columns in random order.
NAMED = st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=6, unique=True)


def table_of(rows: list[dict[str, Any]], names: list[str]) -> pa.Table:
    """Return a table of these columns."""
    schema = pa.schema([(name, COLUMNS[name]) for name in names])
    return pa.Table.from_pylist([{name: row[name] for name in names} for row in rows], schema)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal, with NaN equal to itself."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


def from_text(text: str, name: str) -> Any:
    """Return the value of a CSV field; an empty field is `None`."""
    if name == "s":
        return text
    if not text:
        return None
    if name == "is":
        return {"true": True, "false": False}[text]
    return int(text) if name == "n" else float(text)


def refused(word: str) -> float:
    """Fail at NaN and infinities, which JSON lacks."""
    raise AssertionError(word)


@settings(max_examples=60)
@given(ROWS, NAMED)
def test_files_of_a_table_hold_its_values(rows: list[dict[str, Any]], names: list[str]) -> None:
    table = table_of(rows, names)
    text = encoded(table, Path("t.csv")).decode()
    heading, *found = csv.reader(io.StringIO(text, newline=""))
    assert heading == names
    # A row of one field without anything is an empty line, which the module passes over.
    if len(names) > 1:
        assert len(found) == len(rows)
    for row, fields in zip(rows, found, strict=False) if len(names) > 1 else ():
        for name, field in zip(names, fields, strict=True):
            wanted = (row[name] or "") if name == "s" else row[name]
            assert is_same(from_text(field, name), wanted)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        path.write_bytes(encoded(table, path))
        kept = duckdb.execute("from read_parquet(?)", [str(path)]).fetchall()
    assert len(kept) == len(rows)
    for row, values in zip(rows, kept, strict=True):
        assert all(is_same(value, row[name]) for name, value in zip(names, values, strict=True))
    told = json.loads(json_text(answer_for_programs(table, None)), parse_constant=refused)
    assert [column["name"] for column in told["columns"]] == names
    for row, values in zip(rows, told["rows"], strict=True):
        for name, value in values.items():
            wanted = row[name]
            is_number = not isinstance(wanted, float) or math.isfinite(wanted)
            assert is_same(value, wanted if is_number else None)


# A cell: texts, escapes of one character, commands and groups of them.
WORD = re.compile(
    r"\\(?:[&%$#_{} ]|[a-zA-Z]+)|[^\\&%#_{}~^$]"
    r"|(?P<open>\{)|(?P<close>\})|(?P<math>\$)|(?P<power>\^)"
)


def cells_of(row: str) -> list[str]:
    """Return the cells of a row of LaTeX; fail at special characters and unbalanced braces."""
    cells, depth, is_math, place, start = [], 0, False, 0, 0
    while place < len(row):
        if row[place] == "&":
            assert depth == 0
            assert not is_math
            cells.append(row[start:place].strip(" "))
            start = place = place + 1
            continue
        match = WORD.match(row, place)
        assert match, row[place:]
        depth += bool(match["open"]) - bool(match["close"])
        assert depth >= 0
        is_math ^= bool(match["math"])
        assert is_math or not match["power"]
        place = match.end()
    assert depth == 0
    assert not is_math
    return [*cells, row[start:].strip(" ")]


def width(cells: list[str]) -> int:
    """Return the number of columns that cells span."""
    spans = (re.match(r"\\multicolumn\{(\d)\}", cell) for cell in cells)
    return sum(int(span[1]) if span else 1 for span in spans)


def plain(cell: str) -> str:
    """Return a text as LaTeX prints it."""
    named = {
        "textbackslash": "\\",
        "textasciitilde": "~",
        "textasciicircum": "^",
        "textless": "<",
        "textgreater": ">",
        "textbar": "|",
    }
    text = re.sub(r"\\(text[a-z]+)\{\}", lambda one: named[one[1]], cell)
    return re.sub(r"\\([&%$#_{}])", r"\1", text.removeprefix("{}"))


@settings(max_examples=60)
@given(ROWS, NAMED)
@example(
    [dict.fromkeys(COLUMNS) | {"latency_mean_ns": 0.0, "latency_half_width_ns": 5e-324}],
    ["latency_mean_ns", "latency_half_width_ns"],
)
def test_a_table_of_latex_is_balanced_and_has_a_cell_a_column(
    rows: list[dict[str, Any]], names: list[str]
) -> None:
    text = encoded(table_of(rows, names), Path("t.tex")).decode()
    assert all(one == "\n" or one.isprintable() for one in re.sub("[\ufffe]", "", text))
    lines = text.removesuffix("\n").split("\n")
    preamble = re.fullmatch(r"\\begin\{tabular\}\{(.*)\}", lines[1])
    assert preamble
    columns = len(re.sub(r"@\{\$\{\}\\pm\{\}\$\}", "", preamble[1]))
    assert [line for line in lines if line in RULES] == list(RULES)
    body = [line for line in lines[2:-1] if line not in RULES]
    assert len(body) == len(rows) + 1
    for line in body:
        # After a rule or the end of a row, LaTeX would parse a bracket or star as an option.
        assert not line.startswith(("[", "*"))
        assert line.endswith(r" \\")
        assert width(cells_of(line.removesuffix(r" \\"))) == columns
    # A half-width is adjacent to its mean, on either side.
    if "s" in names:
        is_paired = {"latency_mean_ns", "latency_half_width_ns"} <= set(names)
        before = [
            name
            for name in names[: names.index("s")]
            if name != "latency_half_width_ns" or not is_paired
        ]
        for row, line in zip(rows, body[1:], strict=True):
            cells = cells_of(line.removesuffix(r" \\"))
            spans = [width([cell]) for cell in cells]
            place = len(before) + (is_paired and "latency_mean_ns" in before)
            at = next(index for index in range(len(cells)) if sum(spans[:index]) == place)
            wanted = (
                "--" if row["s"] is None else re.sub(r"[\0-\x1f\x7f-\x9f\u2028]", " ", row["s"])
            )
            assert plain(cells[at]) == wanted.strip(" ")


RULES = (r"\toprule", r"\midrule", r"\bottomrule")


# No search for shorter examples, because drawing takes too long.
@settings(max_examples=8, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(cabled())
def test_a_picture_of_any_fabric_is_xml(fabric: Fabric) -> None:
    require_svg(plots.fabric(fabric))


@pytest.mark.parametrize("name", ["\x1b[31m", "\ufffe", "a\0", "<&\"'>", "$\\frac"])
def test_a_name_in_a_picture_may_have_any_character(name: str) -> None:
    named = Fabric.from_edges([(name, "b"), ("b", "c"), (name, "c")], hosts_per_switch=1)
    require_svg(plots.fabric(named))


def require_svg(figure: Figure) -> None:
    """Fail unless the picture is one to a parser of XML."""
    root = ET.fromstring(plots.picture(figure, "svg"))  # noqa: S314  (our own)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_half_a_character_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        Fabric.from_edges([("\ud800", "h0")])
    assert caught.value.key == "edges"


CURVE = """
topology.generate.star.hosts = 3
network.preset = "infiniband-ndr"
stop.time = "5 us"
[[traffic]]
load = 0.1
"""


def test_a_curve_has_the_numbers_of_its_runs(tmp_path: Path) -> None:
    points = [0.1, 0.3]
    folder = tmp_path / "curve"
    table = loads.curve(Scenario.parse(CURVE), points, folder, replications=2, workers=1)
    files = write_files(table, folder, plots.curve(table, title='a & "b" <c>\x1b'))
    with Path(files["table"]).open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["load"]) for row in rows] == points
    told = json.loads(json_text({"points": table.to_pylist()}), parse_constant=refused)["points"]
    assert len(told) == len(rows)
    for row, point in zip(rows, told, strict=True):
        assert row.keys() == point.keys()
        for name, value in point.items():
            assert row[name] == "" if value is None else float(row[name]) == float(value)
    assert Path(files["picture"]).read_bytes().startswith(b"\x89PNG\r\n")
    require_svg(plots.curve(table, title='a & "b" <c>\x1b'))
    means = duckdb.execute(
        "select avg(accepted_load), avg(latency_mean_ns), count(*) from read_parquet(?) "
        "join read_parquet(?) using (key) group by load order by load",
        [str(folder / "runs" / "*.parquet"), str(folder / "points-*" / "*.parquet")],
    ).fetchall()
    for row, (accepted, latency, count) in zip(rows, means, strict=True):
        assert float(row["accepted_load"]) == pytest.approx(accepted)
        assert float(row["latency_mean_ns"]) == pytest.approx(latency)
        assert int(row["replications"]) == count
