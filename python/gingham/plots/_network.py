"""The fabric of a run as arrays: nodes, cables, and results by channel.

::

    links (one row per channel)         cable 0:  ends (a, b)
      a:1 -> b:3   utilisation 0.4  ──►           rows (0, 1)    0 leaves a, 1 leaves b
      b:3 -> a:1   utilisation 0.1

A cable is a pair of channels between two ports. Nodes are numbered in the order of the `nodes`
table, followed by nodes that occur only in the links.

The **fringe** consists of hosts and other nodes whose cables all lead to switches. The other nodes
are the **core**, which the layout places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gingham.plots._style import short_names
from gingham.plots._tables import numbers, numbers_if_any, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from gingham.plots._tables import Floats, Indices

# Stands for a channel that is not in the table.
NO_ROW = -1


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes and cables, identified by index."""

    names: list[str]
    kinds: list[str]
    # Shape (cables, 2): the nodes at the ends.
    ends: Indices
    # Shape (cables, 2): the row of the channel that leaves each end, or `NO_ROW`.
    rows: Indices
    # By row of the links table.
    utilisation: Floats
    utilisation_half_width: Floats
    stopped_share: Floats
    stopped_half_width: Floats
    # Mean fill of the buffers at the ends of channels; NaN at hosts, which consume.
    fill: Floats
    fill_half_width: Floats
    # Node and port of the sender and of the receiver.
    channels: list[tuple[str, int, str, int]]

    def is_switch(self, node: int) -> bool:
        """Whether the node forwards packets between its ports."""
        return self.kinds[node] == "switch"

    def fringe(self) -> list[int]:
        """Return the nodes whose cables all lead to switches, by index."""
        attached = np.zeros(len(self.names), dtype=bool)
        attached[self.ends.ravel()] = True
        for a, b in self.ends:
            attached[a] &= self.is_switch(b)
            attached[b] &= self.is_switch(a)
        return [
            node for node in range(len(self.names)) if attached[node] and not self.is_switch(node)
        ]

    def channel_name(self, row: int) -> str:
        """Return a channel's name, shortened to fit in a picture."""
        short = self.short_names()
        source, source_port, target, target_port = self.channels[row]
        return f"{short[source]} port {source_port} → {short[target]} port {target_port}"

    def short_names(self) -> dict[str, str]:
        """Return the names without parts common to all nodes of a kind."""
        short: dict[str, str] = {}
        for kind in dict.fromkeys(self.kinds):
            alike = [name for name, own in zip(self.names, self.kinds, strict=True) if own == kind]
            short |= short_names(alike)
        return short

    def core(self) -> list[int]:
        """Return the cabled nodes that are not in the fringe, by index."""
        fringe = set(self.fringe())
        cabled = np.unique(self.ends).tolist()
        return [node for node in cabled if node not in fringe]

    def loads(self, rows: Sequence[int] | Indices) -> Floats:
        """Return the utilisation of channels by row; 0 for channels not in the table."""
        return of_rows(self.utilisation, rows)

    def has_credits(self) -> bool:
        """Whether results have no waits for credits (earlier versions), only fills of buffers."""
        return bool(np.isnan(self.stopped_share).all() and np.isfinite(self.fill).any())

    def stops(self, rows: Sequence[int] | Indices) -> Floats:
        """Return the stopped share of channels by row; 0 for channels not in the table."""
        return of_rows(self.stopped_share, rows)


def of_rows(values: Floats, rows: Sequence[int] | Indices) -> Floats:
    """Return the values of these rows, 0 if a value is missing."""
    padded = np.append(np.nan_to_num(values), 0.0)
    return padded[np.asarray(rows, dtype=np.int64)]


def network(links: pa.Table, nodes: pa.Table) -> Network:
    """Return the fabric described by the tables `links` and `nodes`."""
    sources, targets = words(links, "from"), words(links, "to")
    source_ports, target_ports = port_numbers(links, "from_port"), port_numbers(links, "to_port")
    kinds = dict(zip(words(nodes, "node"), words(nodes, "kind"), strict=True))
    for name, degree in degrees(sources, source_ports).items():
        kinds.setdefault(name, "switch" if degree > 1 else "host")
    for name in targets:
        kinds.setdefault(name, "host")
    number = {name: index for index, name in enumerate(kinds)}
    keys = list(zip(sources, source_ports, targets, target_ports, strict=True))
    pairs = cables(keys)
    ends = [[number[keys[row][0]], number[keys[row][2]]] for row, _ in pairs]
    with np.errstate(divide="ignore", invalid="ignore"):
        capacity = numbers_if_any(links, "buffer_flits")
        fill = numbers_if_any(links, "occupancy_mean_flits") / capacity
        fill_half_width = numbers_if_any(links, "occupancy_half_width_flits") / capacity
    return Network(
        names=list(kinds),
        kinds=list(kinds.values()),
        ends=np.asarray(ends, dtype=np.int64).reshape(-1, 2),
        rows=np.asarray(pairs, dtype=np.int64).reshape(-1, 2),
        utilisation=numbers(links, "utilisation"),
        utilisation_half_width=numbers_if_any(links, "utilisation_half_width"),
        stopped_share=numbers(links, "stopped_share"),
        stopped_half_width=numbers_if_any(links, "stopped_share_half_width"),
        fill=fill,
        fill_half_width=fill_half_width,
        channels=keys,
    )


def port_numbers(links: pa.Table, column: str) -> list[int]:
    """Return a column of port numbers."""
    return [int(port) for port in numbers(links, column)]


def degrees(sources: list[str], ports: list[int]) -> dict[str, int]:
    """Return the number of cabled ports of each node."""
    count: dict[str, int] = {}
    for name, _ in dict.fromkeys(zip(sources, ports, strict=True)):
        count[name] = count.get(name, 0) + 1
    return count


def cables(keys: list[tuple[str, int, str, int]]) -> list[tuple[int, int]]:
    """Return the rows of both channels of each cable, in the order of the first."""
    row_of = {key: row for row, key in enumerate(keys)}
    pairs = []
    for row, (source, source_port, target, target_port) in enumerate(keys):
        back = row_of.get((target, target_port, source, source_port), NO_ROW)
        if back == NO_ROW or row <= back:
            pairs.append((row, back))
    return pairs
