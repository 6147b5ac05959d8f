"""Results of a sweep: tables, SQL queries, means over replications with their intervals.

::

    folder of a sweep ──► store.reader ──► views of DuckDB ──► Arrow, pandas, polars
                                                          └──► means, paired differences

Invariant: everything here is computed from the folder on demand; nothing is written.
"""

from gingham.results._censored import WITHOUT_LATENCY
from gingham.results._intervals import Interval, interval
from gingham.results._notes import Note
from gingham.results._query import nearest_column, quoted
from gingham.results._results import Results

__all__ = [
    "WITHOUT_LATENCY",
    "Interval",
    "Note",
    "Results",
    "interval",
    "nearest_column",
    "quoted",
]
