"""Handling of Ctrl-C during DuckDB queries.

DuckDB reports it as an error of its own: as `InterruptException`, as a `RuntimeError` between two
steps of a query, or as any error whose text or cause is the `KeyboardInterrupt`.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def query_guard() -> Iterator[None]:
    """Guard DuckDB queries in the block: an interruption raises `KeyboardInterrupt`."""
    import duckdb

    # An error being handled when the query starts, an earlier Ctrl-C for instance, is the context
    # of all later errors.
    before = sys.exc_info()[1]
    try:
        yield
    except (duckdb.Error, RuntimeError) as error:
        if is_interruption(error, before):
            raise KeyboardInterrupt from error
        raise


def is_interruption(error: BaseException, before: BaseException | None = None) -> bool:
    """Whether an error of DuckDB results from Ctrl-C, later than the error `before`."""
    import duckdb

    by = [one for one in (error, error.__cause__, error.__context__) if one is not before]
    return (
        any(isinstance(one, KeyboardInterrupt | duckdb.InterruptException) for one in by)
        or "KeyboardInterrupt" in str(error)
        or (type(error) is RuntimeError and "interrupted" in str(error))
    )
