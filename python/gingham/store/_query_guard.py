"""Ctrl-C while DuckDB works.

DuckDB tells it in an error of its own: as `InterruptException`, as a `RuntimeError` between two
steps of a query, or as any error whose text or cause is the `KeyboardInterrupt`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def query_guard() -> Iterator[None]:
    """Guard questions to DuckDB in the block: an interruption leaves it as `KeyboardInterrupt`."""
    import duckdb

    try:
        yield
    except (duckdb.Error, RuntimeError) as error:
        if is_interruption(error):
            raise KeyboardInterrupt from error
        raise


def is_interruption(error: BaseException) -> bool:
    """Whether an error of DuckDB says that somebody pressed Ctrl-C."""
    import duckdb

    by = (error, error.__cause__, error.__context__)
    return (
        any(isinstance(one, KeyboardInterrupt | duckdb.InterruptException) for one in by)
        or "KeyboardInterrupt" in str(error)
        or (type(error) is RuntimeError and "interrupted" in str(error))
    )
