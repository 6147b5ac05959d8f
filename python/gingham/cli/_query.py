"""`gingham query`: SQL queries over the results of a sweep."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham._files import write_bytes
from gingham._texts import plain_number
from gingham.cli._latex import latex_table
from gingham.cli._layout import Grid, fitting, text
from gingham.cli._options import force_option, output_option
from gingham.cli._output import (
    exit_code_help,
    json_option,
    line_width,
    print_json,
    print_table,
    print_text,
    show,
)
from gingham.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from gingham.results import Results

# Maximum number of rows shown to people; programs and files get all.
ROWS_SHOWN = 200
# Maximum number of rows shown as records, which take several lines each.
RECORDS_SHOWN = 20
# Digits of a run's key that are shown; programs and files get the whole key.
KEY_DIGITS = 8
LATEX = ".tex"


@click.command(epilog=exit_code_help(0, 2, 6))
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("sql", required=False)
@output_option(help="File for the answer: .parquet, .csv or .tex.")
@click.option("--latex", is_flag=True, help="Print the answer as a table of LaTeX (booktabs).")
@force_option
@json_option
def query(
    folder: Path,
    sql: str | None,
    output: Path | None,
    latex: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Query the results of a sweep in FOLDER in SQL; without SQL, list their columns.

    The sweep may still be running: finished runs are seen. DuckDB answers, and the folder does not
    change. Rows that are too wide for a line are printed as records, at most 20, with the first 8
    digits of keys. --json and files have everything. In a LaTeX table a column and its
    half-width become one number with its interval; the document needs \\usepackage{booktabs}.

    \b
    Tables:
      runs        a row a run: axes, replication, verdict, loads, mean latency and p99
      classes     a row a run and class of traffic, with all its numbers
      channels, sources
                  the same of striping scenarios, which have no classes
      points      the planned runs
      provenance  time, place, build and duration of each run
      and those that the sweep keeps of each run, such as messages or flows

    \b
    Examples:
      gingham query sweeps/load
      gingham query sweeps/load "select load, mean_latency_ns from runs where verdict = 'ok'"
      gingham query sweeps/load "select verdict, count(*) from runs group by all" --json
      gingham query sweeps/load "from classes" -o classes.csv
      gingham query sweeps/load "select load, mean_latency_ns from runs" --latex > load.tex
    """
    from gingham.results import Results

    if latex and (sql is None or as_json or (output and output.suffix.lower() != LATEX)):
        other = "a query" if sql is None else f"no --json, and a file that ends in {LATEX}"
        raise InputError(f"--latex needs {other}", key="latex")
    results = Results.load(folder)
    if sql is None:
        describe(results, as_json=as_json)
        return
    answer = results.query(sql)
    if output is not None:
        write_bytes(output, encoded(answer, output), overwrite=force)
    if as_json:
        print_json(answer_for_programs(answer, output))
    elif output is not None:
        show(text(f"written: {output}"))
    elif latex:
        print_text(latex_table(answer))
    else:
        print_answer(answer)


def describe(results: Results, *, as_json: bool) -> None:
    """Print the tables and their columns."""
    if as_json:
        print_json({"title": results.title, "axes": results.axes, "tables": results.columns})
        return
    for table, names in results.columns.items():
        show(text(table, "bold"))
        show(text(f"  {', '.join(names)}"))


def encoded(answer: pa.Table, output: Path) -> bytes:
    """Return the result as a file in the format of the extension."""
    import pyarrow.csv
    import pyarrow.parquet

    writers = {".parquet": pyarrow.parquet.write_table, ".csv": pyarrow.csv.write_csv}
    ending = output.suffix.lower()
    if ending == LATEX:
        return latex_table(answer).encode()
    if ending not in writers:
        known = [*writers, LATEX]
        raise InputError(
            f"{output}: a table is written as {' or '.join(known)}",
            file=str(output),
            expected=known,
            code="unknown-ending",
        )
    buffer = io.BytesIO()
    writers[ending](answer, buffer)
    return buffer.getvalue()


def answer_for_programs(answer: pa.Table, output: Path | None) -> dict[str, Any]:
    """Return the result in JSON types; numbers that JSON lacks are null."""
    columns = [{"name": field.name, "type": str(field.type)} for field in answer.schema]
    if output is not None:
        return {"columns": columns, "count": answer.num_rows, "output": str(output)}
    names = answer.column_names
    values = [column.to_pylist() for column in answer.columns]
    rows = [dict(zip(names, map(plain, row), strict=True)) for row in zip(*values, strict=True)]
    return {"columns": columns, "rows": rows}


def plain(value: Any) -> Any:
    """Return a value in JSON types."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int | str | bool | None) else str(value)


def print_answer(answer: pa.Table) -> None:
    """Print the first rows of the result as a table, or as records if it is too wide."""
    import pyarrow as pa

    kinds = pa.types
    numbers = [
        field.name
        for field in answer.schema
        if kinds.is_integer(field.type) or kinds.is_floating(field.type)
    ]
    names = answer.column_names
    columns = [
        [shown(value, name) for value in column.to_pylist()]
        for name, column in zip(names, answer.slice(0, ROWS_SHOWN).columns, strict=True)
    ]
    rows = list(zip(*columns, strict=True))
    count = f"{answer.num_rows:,} row{'s' * (answer.num_rows != 1)}"
    if fitting(Grid(names, rows, tight=True), line_width()) is None:
        # Each record is headed by its row number, because no column needs to be unique.
        rows = [(place, *row) for place, row in enumerate(rows[:RECORDS_SHOWN], start=1)]
        names, numbers = ["row", *names], ["row", *numbers]
    print_table(count, names, rows, numbers=numbers, tight=True)
    if answer.num_rows > len(rows):
        show(text(f"{answer.num_rows - len(rows):,} more rows; --json or -o FILE gives all"))


def shown(value: Any, column: str = "") -> str:
    """Return a value for people: significant digits of floats, and a prefix of keys.

    >>> shown(0.123456789), shown("0123456789abcdef", "key")
    ('0.123457', '01234567')
    """
    if value is None:
        return "-"
    if column == "key" and isinstance(value, str):
        return value[:KEY_DIGITS]
    return plain_number(value) if isinstance(value, float) else str(value)
