"""Digests of the results of short scenarios, compared between versions.

::

    scenarios.toml ──run──► tables and summary ──► a SHA-256 a column ──► digests.json

`tests/test_same_bits.py` compares runs with the file: by table and column, the digest in each
scenario. A column that was renamed keeps its digests; edit its key in the file by hand. After an
intended change of results, columns or scenarios, rewrite the file by

    make digests

and commit it separately, with the reason.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

import gingham
from gingham import examples, stripe, studies

FOLDER = Path(__file__).parent / "data" / "same_bits"
FILE = FOLDER / "digests.json"
SCENARIOS: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "scenarios.toml").read_text())
# Texts for people, whose wording may change; other tests check their content.
SENTENCES = {"verdict_reason", "notes", "findings"}

# Tables and columns that are measured only on request. Without content they have no digest, so that
# a new one does not change the digests of existing scenarios.
TABLES_IF_ASKED = {"flows", "flow_series", "link_series"}
TABLES_IF_ASKED |= {"trees", "tree_series", "tree_links", "tree_flows", "streams"}
TABLES_IF_ASKED |= {"requests", "ledgers"}
COLUMNS_IF_ASKED = {
    "lost_at_policers",
    "packets_policed",
    "competing_packets",
    "competing_packets_dropped",
    "pacing_rate_bytes_per_s",
    "round_trip_ns",
    "round_trip_min_ns",
    "fairness",
    "fairness_half_width",
    "held_window",
    "held_rate_limit",
    "held_tokens",
    "acks_waiting_max",
    "packets_marked_share",
    "packets_marked_input",
    "packets_marked_output",
    "stream",
    "streams",
    "frames_warm_up",
    "frames_counted",
    "frames_lost",
    "deadlines_missed",
    "deadlines_missed_half_width",
    "deadline_late_mean_ns",
    "deadline_late_half_width_ns",
    "deadlines_missed_law",
    "deadlines_missed_fixed",
    "deadlines_missed_fixed_half_width",
    "frame_interval_mean_ns",
    "frame_interval_half_width_ns",
    "frame_interval_deviation_ns",
    "posted_latency_mean_ns",
    "posted_latency_half_width_ns",
    "posting_mean_ns",
    "posting_half_width_ns",
    "posts_refused",
    "streams_requested",
    "streams_admitted",
    "streams_refused_by_adapter",
    "streams_refused_by_switch",
    "streams_lapsed",
    "lapsed_ps",
    "set_up_mean_ns",
    "set_up_half_width_ns",
    "set_up_max_ns",
}

# Columns without a digest if they equal another column.
COLUMNS_IF_DIFFERENT = {"posted_ps": "created_ps"}

# Digests of a run by table and column.
Digests = dict[str, dict[str, str]]


def scenario(name: str) -> gingham.Scenario | stripe.StripeScenario:
    """Return a scenario of the list."""
    entry = SCENARIOS[name]
    chosen: gingham.Scenario | stripe.StripeScenario = source(entry).with_(entry.get("set", {}))
    return chosen


def source(entry: Mapping[str, Any]) -> Any:
    """Return the base scenario of an entry of the list."""
    if "file" in entry:
        return gingham.Scenario.load(FOLDER / entry["file"])
    if "example" in entry:
        kind = stripe.StripeScenario if entry["example"] in examples.stripes() else gingham.Scenario
        return kind.example(entry["example"])
    wanted = entry.get("at", {}).items()
    points = studies.load(entry["study"]).sweep(entry["sweep"]).points()
    return next(point for point in points if wanted <= point.values.items()).scenario()


def measured(name: str, **options: Any) -> Digests:
    """Run a scenario of the list and return the digests of its results."""
    chosen = scenario(name)
    simulation: Any
    if isinstance(chosen, gingham.Scenario):
        simulation = gingham.Simulation(chosen, allow_deadlock=True, **options)
    else:
        simulation = stripe.StripeSimulation(chosen)
    while not simulation.advance().done:
        pass
    result = simulation.result()
    tables = {table: result.table(table) for table in result.tables}
    for table in TABLES_IF_ASKED.intersection(tables):
        if tables[table].num_rows == 0:
            del tables[table]
    if chosen.resolved()["measure"].get("messages") == "all":
        tables["messages"] = simulation.take_messages()
    found = {table: dict(columns(content)) for table, content in tables.items()}
    found["summary"] = {
        field: digest("", leaves(value))
        for field, value in result.summary.items()
        if field not in SENTENCES
    }
    return {f"{result.kind}/{table}": content for table, content in found.items()}


def columns(table: pa.Table) -> Iterator[tuple[str, str]]:
    """Yield each column with the digest of type and values, however Arrow stores them."""
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.name in COLUMNS_IF_ASKED and not any(map(is_measured, column.to_pylist())):
            continue
        same = COLUMNS_IF_DIFFERENT.get(field.name)
        if same is not None and column.equals(table[same]):
            continue
        is_coded = pa.types.is_dictionary(field.type)
        type_ = field.type.value_type if is_coded else field.type
        # All integer types count as one, under the name that the first digests had.
        kind = "uint64" if pa.types.is_integer(type_) else str(type_)
        yield field.name, digest(kind, column.to_pylist())


def is_measured(value: float | str | None) -> bool:
    """Return whether a value was measured: a number other than 0 and NaN, or a text.

    >>> [is_measured(value) for value in (None, math.nan, 0, 0.5, "", "12")]
    [False, False, False, True, False, True]
    """
    return bool(value) and not (isinstance(value, float) and math.isnan(value))


def leaves(value: Any) -> Iterator[Any]:
    """Yield the values in a field of a summary, without the names below it."""
    if isinstance(value, Mapping):
        for name, below in value.items():
            is_left_out = name in COLUMNS_IF_ASKED and not is_measured(below)
            if name not in SENTENCES and not is_left_out:
                yield from leaves(below)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def digest(type_: str, values: Iterable[Any]) -> str:
    """Return the beginning of a SHA-256; real numbers count to the last bit.

    >>> digest("double", [0.1 + 0.2]) == digest("double", [0.3])
    False
    """
    texts = (value.hex() if isinstance(value, float) else json.dumps(value) for value in values)
    return hashlib.sha256("\n".join([type_, *texts]).encode()).hexdigest()[:16]


def recorded() -> dict[str, Digests]:
    """Return the recorded digests, by scenario."""
    content: dict[str, dict[str, dict[str, str]]] = json.loads(FILE.read_text())
    known: dict[str, Digests] = {}
    for table, columns in content.items():
        for column, runs in columns.items():
            for name, value in runs.items():
                known.setdefault(name, {}).setdefault(table, {})[column] = value
    return known


def differences(found: Digests, known: Digests) -> list[str]:
    """Return a line for each column that has changed.

    >>> known = {"links": {"stops": "1", "flits": "2"}}
    >>> differences({"links": {"stops": "3", "data_flits": "2"}}, known)
    ['links: stops has other values', 'links: flits is gone', 'links: data_flits is new']
    """
    lines = []
    for table in {**known, **found}:
        before, now = known.get(table, {}), found.get(table, {})
        for column in {**before, **now}:
            if column not in now:
                lines.append(f"{table}: {column} is gone")
            elif column not in before:
                lines.append(f"{table}: {column} is new")
            elif before[column] != now[column]:
                lines.append(f"{table}: {column} has other values")
    return lines


def record() -> None:
    """Rewrite the file."""
    content: dict[str, dict[str, dict[str, str]]] = {}
    for name in SCENARIOS:
        for table, found in measured(name).items():
            for column, value in found.items():
                content.setdefault(table, {}).setdefault(column, {})[name] = value
    FILE.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    record()
