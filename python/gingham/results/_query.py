"""SQL queries by DuckDB, with readable errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gingham.catalogue import old_names
from gingham.errors import InputError, meant, nearest
from gingham.results._asking import answered
from gingham.store import query_guard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb
    import pyarrow as pa

Columns = dict[str, list[str]]
# Messages of DuckDB about missing names.
NO_COLUMN = re.compile(r'column "([^"]+)" not found|does not have a column named "([^"]+)"')
NO_TABLE = re.compile(r"Table with name (\S+) does not exist")


def ask(connection: duckdb.DuckDBPyConnection, sql: str, views: Mapping[str, object]) -> pa.Table:
    """Return the result of a query; raise `InputError` if it is invalid.

    Only a single statement that reads is accepted: only the sweep changes its results folder. A
    missing file raises DuckDB's own `IOException`.
    """
    import duckdb

    try:
        with query_guard():
            statements = connection.extract_statements(sql)
        reading = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}
        if len(statements) != 1 or statements[0].type not in reading:
            raise InputError(
                'expected one query that reads, such as "from runs"\n  '
                f"tables are {', '.join(views)}",
                key="sql",
                expected=list(views),
                code="bad-query",
            )
        with query_guard():
            return answered(lambda: connection.sql(sql).to_arrow_table(), connection.interrupt)
    except duckdb.IOException:
        raise
    except duckdb.Error as error:
        message = with_place(connection, sql) or str(error)
        raise refusal(message, columns_of(connection, views)) from error


def with_place(connection: duckdb.DuckDBPyConnection, sql: str) -> str | None:
    """Return the error message of a query, with its position.

    The interface that returns tables without a copy does not report the position.
    """
    import duckdb

    try:
        with query_guard():
            answered(lambda: connection.execute(sql), connection.interrupt)
    except duckdb.Error as error:
        return str(error)
    return None


@query_guard()
def columns_of(connection: duckdb.DuckDBPyConnection, views: Mapping[str, object]) -> Columns:
    """Return the column names of each view."""
    return {
        view: [row[0] for row in connection.execute(f"describe {quoted(view)}").fetchall()]
        for view in views
    }


def refusal(message: str, columns: Columns) -> InputError:
    """Return the error for a query that DuckDB rejected with `message`."""
    lines = [line for line in message.splitlines() if line.strip()]
    # Drops "Binder Error: ...", which names a component of the database.
    first = re.sub(r"^[A-Z][a-z]+(?: [A-Z][a-z]+)* Error: ", "", lines[0]).rstrip("!")
    near, known, elsewhere = None, list(columns), ""
    name, missing = missing_column(message), NO_TABLE.search(message)
    if name:
        known = list(dict.fromkeys(name for names in columns.values() for name in names))
        others = [table for table, names in columns.items() if name in names]
        # Another table than the one queried has this column.
        elsewhere = f"; it is a column of {' and '.join(others)}" if others else ""
        near = None if others else old_names.name_now(name) or nearest(name, known)
    elif missing:
        near = nearest(missing[1], known)
    # The line of the query with a mark below the position.
    place = [number for number, line in enumerate(lines) if line.startswith("LINE ")][:1]
    shown = [f"  {line}" for number in place for line in lines[number:]]
    known_tables = f"  tables are {', '.join(columns)}; gingham query FOLDER lists their columns"
    return InputError(
        "\n".join(
            [
                f"the query cannot be answered: {first}{elsewhere or meant(near)}",
                *shown,
                known_tables,
            ]
        ),
        code="unknown-name" if name or missing else "bad-query",
        key="sql",
        expected=known,
        nearest=near,
    )


def missing_column(message: str) -> str | None:
    """Return the column that is missing according to DuckDB, if any."""
    missing = NO_COLUMN.search(message)
    return (missing[1] or missing[2]) if missing else None


def nearest_column(message: str, known: Sequence[str]) -> str | None:
    """Return the known column nearest to the missing one, if any."""
    missing = missing_column(message)
    return (old_names.name_now(missing) or nearest(missing, known)) if missing else None


def quoted(name: str) -> str:
    """Return a name as an SQL identifier, with any content.

    >>> print(quoted('5" pipe'))
    "5"" pipe"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    """Return a value as an SQL literal.

    >>> literal("it's"), literal(0.5), literal(True), literal(None)
    ("'it''s'", '0.5', 'true', 'null')
    """
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case _:
            return "'" + str(value).replace("'", "''") + "'"
