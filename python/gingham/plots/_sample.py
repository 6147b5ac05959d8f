"""Histogram and percentiles of a result that has only its messages: no intervals are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from gingham.plots._style import PS_PER_NS
from gingham.plots._tables import numbers, rows_by_class

if TYPE_CHECKING:
    from gingham.plots._tables import Floats

PERCENTILES = (50.0, 90.0, 99.0, 99.9)


def histogram(messages: pa.Table) -> pa.Table:
    """Return the table `histogram` of a table of messages."""
    parts = [
        (name, *np.unique(latencies, return_counts=True))
        for name, latencies in latencies_by_class(messages).items()
    ]
    values = np.concatenate([np.zeros(0), *(values for _, values, _ in parts)])
    return pa.table(
        {
            "class": pa.array([name for name, values, _ in parts for _ in values], pa.string()),
            "from_ps": values,
            "below_ps": values + 1,
            "messages": np.concatenate([np.zeros(0), *(counts for *_, counts in parts)]),
        }
    )


def percentiles(messages: pa.Table) -> pa.Table:
    """Return the table `percentiles` of a table of messages; none where they are too few."""
    rows = [
        (name, percentile, float(np.percentile(latencies, percentile)) / PS_PER_NS)
        for name, latencies in latencies_by_class(messages).items()
        for percentile in PERCENTILES
        if len(latencies) * (1 - percentile / 100) >= 1
    ]
    unknown = pa.array([None] * len(rows), pa.float64())
    return pa.table(
        {
            "class": pa.array([name for name, _, _ in rows], pa.string()),
            "percentile": pa.array([percentile for _, percentile, _ in rows], pa.float64()),
            "latency_ns": pa.array([latency for *_, latency in rows], pa.float64()),
            "low_ns": unknown,
            "high_ns": unknown,
        }
    )


def latencies_by_class(messages: pa.Table) -> dict[str, Floats]:
    """Return the latencies of each class, in picoseconds."""
    latencies = numbers(messages, "latency_ps")
    return {name: latencies[rows] for name, rows in rows_by_class(messages).items()}
