"""The kind of fabric scenarios: hosts and switches, with classes of traffic as parts of a run."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from gingham._native import result_schema
from gingham.errors import InputError
from gingham.kinds._laboratory import LaboratoryKind
from gingham.result import Result
from gingham.running import Simulation
from gingham.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS = {
    "offered_load": "double",
    "accepted_load": "double",
    "least_served_load": "double",
    "latency_mean_ns": "double",
    "latency_p99_ns": "double",
    "bound_load": "double",
    "messages_followed": "int64",
    "warm_up_ps": "int64",
    "window_end_ps": "int64",
    "end_ps": "int64",
    "makespan_ps": "int64",
}
# Values of a summary that become columns of a run.
SUMMARY = [
    "verdict",
    "verdict_reason",
    "latency_p99_ns",
    "warm_up_ps",
    "window_end_ps",
    "end_ps",
    "makespan_ps",
]
# Suffixes of the columns that are means over the messages of a class.
MEANS = ("latency_mean_ns", "hops_mean", "in_transit_hosts_mean")


class Fabrics(LaboratoryKind[Scenario, Result]):
    """Scenarios of `gingham.Scenario`."""

    name = "fabric"
    scenario_class = Scenario
    percentiles_of = "latency"
    marks = frozenset({"topology", "traffic"})
    switches = ("allow_deadlock",)
    mean = "latency_mean_ns"
    parts = {"classes": "class"}  # noqa: RUF012  (never changes; see the base class)
    aliases = {"mean_latency_ns": "latency_mean_ns", "load": "offered_load"}  # noqa: RUF012

    @cached_property
    def schema(self) -> dict[str, Any]:
        """Return the columns of the tables of a result, and the JSON schema of its summary."""
        return result_schema()

    def columns(self, table: str) -> dict[str, str]:
        """Return the columns of runs and classes."""
        columns = self.part_columns("classes")
        if table == "classes":
            return columns
        # Counts of a run are the sums over its classes.
        counts = {name: type_ for name, type_ in columns.items() if type_ == "int64"}
        sums = {name: type_ for name, type_ in counts.items() if name.startswith("messages_")}
        return COLUMNS | sums

    def simulation(self, scenario: Scenario, switches: Sequence[str]) -> Simulation:
        """Return the simulation of a scenario."""
        return Simulation(scenario, "allow_deadlock" in switches)

    def row(self, result: Result) -> dict[str, Any]:
        """Return the results of a run: sums over classes, and means over messages."""
        row = {name: result.summary[name] for name in SUMMARY}
        for load in ("offered_load", "accepted_load"):
            row[load] = load_of_all(result.classes, load, result.summary["hosts"])
        row["least_served_load"] = least_served(result.classes, result.summary["hosts"])
        row["bound_load"] = bound_of_all(result.classes, row["offered_load"])
        for name in result.classes[0]:
            if name.startswith("messages_"):
                row[name] = sum(one[name] for one in result.classes)
            elif name.endswith(MEANS):
                row[name] = mean_of_all(result.classes, name)
        return row

    def check(self, resolved: Mapping[str, Any]) -> None:
        """Reject the option to keep all messages, which needs a folder for each run."""
        if resolved["measure"]["messages"] == "all":
            raise InputError(
                'measure.messages = "all" fills a folder for each run, which a sweep does not '
                'have: take a "sample"',
                key="measure.messages",
            )


def load_of_all(classes: Sequence[Mapping[str, Any]], load: str, hosts: int) -> float | None:
    """Return the load of all classes together, as a fraction of the links of the `hosts`."""
    parts = [one[load] and one[load] * one["hosts"] for one in classes]
    return None if None in parts else sum(parts) / hosts


def least_served(classes: Sequence[Mapping[str, Any]], hosts: int) -> float | None:
    """Return the accepted load of the least served sender or flow of any class.

    It is relative to its share of the traffic: half the load of all classes together if it gets
    half of its share.

    >>> one = {"hosts": 2, "generated_load": 0.4, "least_served_load": 0.1}
    >>> least_served([one, one | {"generated_load": 0.2}], 2)
    0.15
    """
    known = [one for one in classes if one.get("least_served_load") is not None]
    shares = [
        one["least_served_load"] / one["generated_load"] for one in known if one["generated_load"]
    ]
    if not shares:
        return None
    if len(classes) == 1:
        return float(classes[0]["least_served_load"])
    total = load_of_all(classes, "generated_load", hosts)
    return None if total is None else round(min(shares) * total, 12)


def bound_of_all(classes: Sequence[Mapping[str, Any]], offered: float | None) -> float | None:
    """Return the load of all classes together that fills the fullest channel of any class.

    >>> one = {"bound_share": 0.8}
    >>> bound_of_all([one, {"bound_share": 0.5}, {}], 0.2)
    0.25
    """
    shares = [one["bound_share"] for one in classes if one.get("bound_share")]
    return offered / max(shares) if offered and shares else None


def mean_of_all(classes: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the mean over all followed messages."""
    counted = [one for one in classes if one["messages_followed"] and one[name] is not None]
    messages = sum(one["messages_followed"] for one in counted)
    total = sum(one["messages_followed"] * one[name] for one in counted)
    return total / messages if messages else None
