"""Small tables in the form of a run's results, for tests of pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import gingham

# Two nodes with the port of each.
Ends = tuple[tuple[str, int], tuple[str, int]]


@dataclass(frozen=True)
class Scenario:
    title: str = "A run"

    def resolved(self) -> dict[str, Any]:
        return {"routing": {"second": None}}


@dataclass
class Tables:
    """The parts of a result that pictures use."""

    made: Mapping[str, pa.Table]
    summary: Mapping[str, Any] = field(default_factory=dict)
    scenario: Scenario = field(default_factory=Scenario)

    @property
    def title(self) -> str:
        return self.scenario.title

    def table(self, name: str) -> pa.Table:
        return self.made[name]


def ends_of(fabric: gingham.Fabric) -> list[Ends]:
    return [cable.ends for cable in fabric.cables]


def nodes_of(fabric: gingham.Fabric) -> pa.Table:
    return nodes({node.name: node.kind for node in fabric.devices})


def nodes(kinds: Mapping[str, str]) -> pa.Table:
    return pa.table(
        {
            "node": pa.array(list(kinds), pa.string()),
            "kind": pa.array(list(kinds.values()), pa.string()),
        }
    )


def links(
    cables: Iterable[Ends],
    loads: Mapping[tuple[str, str], float] | None = None,
    stops: Mapping[tuple[str, str], float] | None = None,
    *,
    half_width: float | None = None,
) -> pa.Table:
    """The table of both channels of each cable; loads and stopped shares by (from, to)."""
    rows = [end for cable in cables for end in (cable, cable[::-1])]
    loads, stops = loads or {}, stops or {}
    columns: dict[str, pa.Array] = {
        "from": pa.array([a for (a, _), _ in rows], pa.string()).dictionary_encode(),
        "from_port": pa.array([port for (_, port), _ in rows], pa.int64()),
        "to": pa.array([b for _, (b, _) in rows], pa.string()).dictionary_encode(),
        "to_port": pa.array([port for _, (_, port) in rows], pa.int64()),
        "utilisation": [loads.get((a, b), 0.0) for (a, _), (b, _) in rows],
        "stopped_share": [stops.get((a, b), 0.0) for (a, _), (b, _) in rows],
    }
    columns["utilisation"] = pa.array(columns["utilisation"], pa.float64())
    columns["stopped_share"] = pa.array(columns["stopped_share"], pa.float64())
    if half_width is not None:
        columns["utilisation_half_width"] = pa.array([half_width] * len(rows), pa.float64())
    return pa.table(columns)


def star(hosts: int) -> list[Ends]:
    return [((f"h{index}", 1), ("s0", index + 1)) for index in range(hosts)]


def clos(leaves: int, spines: int, hosts: int, *, cables: int = 1) -> list[Ends]:
    """A folded Clos network; hosts of the leaves are `h{leaf}-{place}`."""
    found: list[Ends] = []
    for leaf in range(leaves):
        found += [((f"h{leaf}-{place}", 1), (f"leaf{leaf}", place + 1)) for place in range(hosts)]
        for number in range(spines * cables):
            spine = number // cables
            found.append(
                (
                    (f"leaf{leaf}", hosts + number + 1),
                    (f"spine{spine}", leaf * cables + number % cables + 1),
                )
            )
    return found


def kinds_of(cables: Iterable[Ends]) -> pa.Table:
    """The nodes of these cables: names that begin with `h` are hosts."""
    names = dict.fromkeys(name for cable in cables for name, _ in cable)
    return nodes({name: "host" if name.startswith("h") else "switch" for name in names})


def histogram(**classes: Mapping[tuple[int, int], int]) -> pa.Table:
    """Messages by (from_ps, below_ps) of each class."""
    rows = [
        (name, *edges, count) for name, bins in classes.items() for edges, count in bins.items()
    ]
    return table(rows, {"class": str, "from_ps": int, "below_ps": int, "messages": int})


def percentiles(**classes: Mapping[float, tuple[float, float, float]]) -> pa.Table:
    """Latency and ends of its interval in nanoseconds by percentile of each class."""
    rows = [(name, q, *ends) for name, marks in classes.items() for q, ends in marks.items()]
    columns = {
        "class": str,
        "percentile": float,
        "latency_ns": float,
        "low_ns": float,
        "high_ns": float,
    }
    return table(rows, columns)


def classes(**means: tuple[float, float, float, float]) -> pa.Table:
    """Accepted load and mean latency in nanoseconds of each class, each with its half-width."""
    rows = [(name, *values) for name, values in means.items()]
    columns = {
        "class": str,
        "accepted_load": float,
        "accepted_load_half_width": float,
        "latency_mean_ns": float,
        "latency_half_width_ns": float,
    }
    return table(rows, columns)


def series(step_ps: int, **classes: list[tuple[float, float, int, float]]) -> pa.Table:
    """Generated load, accepted load, messages and mean latency in ns, step by step."""
    rows = [
        (name, index * step_ps, (index + 1) * step_ps, generated, accepted, count, count, latency)
        for name, steps in classes.items()
        for index, (generated, accepted, count, latency) in enumerate(steps)
    ]
    columns = {
        "class": str,
        "from_ps": int,
        "to_ps": int,
        "generated_load": float,
        "accepted_load": float,
        "messages_created": int,
        "messages_delivered": int,
        "latency_mean_ns": float,
    }
    return table(rows, columns)


def table(rows: list[tuple[Any, ...]], columns: Mapping[str, type]) -> pa.Table:
    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    return pa.table(
        {
            name: pa.array([row[index] for row in rows], types[kind])
            for index, (name, kind) in enumerate(columns.items())
        }
    )


def lines(axes: Axes, gid: str) -> LineCollection:
    """Return the only collection of lines with this name."""
    (found,) = [one for one in axes.collections if one.get_gid() == gid]
    assert isinstance(found, LineCollection)
    return found


def texts(figure: Figure) -> list[str]:
    """Return all texts in the figure, outside and inside of its axes."""
    found = [text.get_text() for text in figure.texts]
    for axes in figure.axes:
        found += [text.get_text() for text in axes.texts]
        found += [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()]
    return found


def luminance(colour: Any) -> float:
    """Return the luminance of a colour, by the weights of the sRGB primaries."""
    return float(np.asarray(colour)[:3] @ [0.2126, 0.7152, 0.0722])
