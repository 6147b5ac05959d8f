"""Ctrl-C while DuckDB works.

DuckDB tells it in an error of its own: as `InterruptException`, as a `RuntimeError` between two
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
    """Guard questions to DuckDB in the block: an interruption leaves it as `KeyboardInterrupt`."""
    import duckdb

    # Whoever asks while another error is handled, a former Ctrl-C for instance, has that for a
    # context of all errors to come.
    before = sys.exc_info()[1]
    try:
        yield
    except (duckdb.Error, RuntimeError) as error:
        if is_interruption(error, before):
            raise KeyboardInterrupt from error
        raise


def is_interruption(error: BaseException, before: BaseException | None = None) -> bool:
    """Whether an error of DuckDB says that somebody pressed Ctrl-C, after what was `before`."""
    import duckdb

    by = [one for one in (error, error.__cause__, error.__context__) if one is not before]
    return (
        any(isinstance(one, KeyboardInterrupt | duckdb.InterruptException) for one in by)
        or "KeyboardInterrupt" in str(error)
        or (type(error) is RuntimeError and "interrupted" in str(error))
    )
