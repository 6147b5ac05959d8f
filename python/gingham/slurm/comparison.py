"""Slurm's view of a cluster compared with its fabric.

::

    file    s1: n1 n2 n3 n7      s2: n4 n5 n6        s1 represents unit 0, s2 unit 1:
    fabric  unit 0: n1 n2 n3     unit 1: n4 .. n7    n7 is under s1 and belongs to s2

Names of switches do not matter. A switch of the file represents the unit of most of its nodes, and
a unit is represented by the switch with most of its nodes. A node is under the wrong switch if
another switch represents its unit.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gingham.errors import counted
from gingham.fabric import Finding
from gingham.slurm.reading import read
from gingham.slurm.topology import Topology

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from gingham.cluster import Cluster, Node
    from gingham.fabric import Fabric
    from gingham.slurm.topology import Entry

# Maximum number of names in a finding.
NAMED_MAX = 8
# Maximum number of characters of a name (`HOST_NAME_MAX`).
NAME_CHARACTERS_MAX = 64


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A node under the wrong switch, or in the wrong block."""

    node: str
    # Switch or block of the file, and its line.
    switch: str
    line: int
    # Switch or block with most nodes of the same leaves.
    belongs_to: str
    topology: str | None = None


@dataclass(slots=True)
class Comparison:
    """Differences between Slurm's file and a fabric."""

    file: str
    findings: list[Finding] = field(default_factory=list)
    misplaced: list[Misplaced] = field(default_factory=list)
    # Compute nodes of the fabric that no topology of the file has.
    missing: list[str] = field(default_factory=list)
    # Nodes of the file that the fabric does not have.
    unknown: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether no finding is a warning."""
        return all(finding.severity != "warning" for finding in self.findings)


def compare(
    fabric: Fabric,
    topologies: Topology | Sequence[Topology] | str | os.PathLike[str],
    *,
    rule: str | None = None,
) -> Comparison:
    """Compare topologies of Slurm, or the file with them, with a fabric.

    `rule` names the nodes of the fabric as in `Fabric.cluster`. A topology without any node of the
    fabric is skipped with a note, because a `topology.yaml` may describe several fabrics.
    """
    if isinstance(topologies, Topology):
        topologies = (topologies,)
    elif not isinstance(topologies, (list, tuple)):
        topologies = read(topologies)  # type: ignore[arg-type]
    cluster = fabric.cluster(rule)
    comparison = Comparison(topologies[0].file if topologies else "")
    known = Known(cluster)
    placed = set[str]()
    passed_over = list[Topology]()
    for topology in topologies:
        view = View(topology, known, comparison)
        if view.unit_of or not topology.entries:
            placed |= view.unit_of.keys() | view.without_unit
            view.add_findings()
            if cluster.planes:
                add_divided(topology, comparison)
        else:
            passed_over.append(topology)
    for topology in passed_over:
        add_passed_over(topology, comparison, is_only=len(passed_over) == len(topologies))
    if placed:
        add_missing(cluster, placed, comparison)
    order = {"warning": 0, "note": 1}
    comparison.findings.sort(key=lambda one: (order[one.severity], one.line or 0))
    return comparison


class Known:
    """The nodes of a fabric by their names in Slurm."""

    def __init__(self, cluster: Cluster) -> None:
        """Index names, short names in lower case, and names as written in files."""
        self.exact = {node.name: node for node in cluster.nodes}
        self.similar: dict[str, Node] = {}
        for node in cluster.nodes:
            for name in (node.name, node.name.partition(".")[0]):
                self.similar.setdefault(name.casefold(), node)
                self.similar.setdefault(written_name(name).casefold(), node)

    def find(self, name: str) -> Node | None:
        """Return the node with a name, which may have a domain or differ in case."""
        short = name.partition(".")[0].casefold()
        return self.exact.get(name) or self.similar.get(name.casefold()) or self.similar.get(short)


def written_name(name: str) -> str:
    """Return a name as written by `gingham.slurm` if Slurm cannot read it."""
    word = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:NAME_CHARACTERS_MAX]
    return f"{word}_" if word.lower() in {"all", "default"} else word


class View:
    """A topology with the units of its nodes."""

    def __init__(self, topology: Topology, known: Known, comparison: Comparison) -> None:
        """Look up the nodes."""
        self.topology = topology
        self.comparison = comparison
        # Unit of each node of the fabric.
        self.unit_of = dict[str, int]()
        self.without_unit = set[str]()
        # By position of the entry: nodes of the fabric, and unknown names.
        self.nodes = defaultdict[int, list[str]](list)
        self.unknown = defaultdict[int, list[str]](list)
        self.repeated: list[tuple[str, Entry, Entry]] = []
        first: dict[str, Entry] = {}
        for position, entry in enumerate(topology.entries):
            for name in entry.nodes:
                node = known.find(name)
                key = node.name if node else name
                if key in first:
                    self.repeated.append((name, first[key], entry))
                    continue
                first[key] = entry
                if node is None:
                    self.unknown[position].append(name)
                elif node.unit is None:
                    self.without_unit.add(node.name)
                else:
                    self.unit_of[node.name] = node.unit
                    self.nodes[position].append(node.name)

    def add(self, severity: str, kind: str, line: int | None, text: str) -> None:
        """Add a finding."""
        name = f"topology {self.topology.name}: " if self.topology.name else ""
        self.comparison.findings.append(
            Finding(line, severity, kind, name + text, self.topology.file)  # type: ignore[arg-type]
        )

    @property
    def word(self) -> str:
        """Return the noun for an entry."""
        return "block" if self.topology.form == "block" else "switch"

    def add_findings(self) -> None:
        """Compare entries with units."""
        self.add_wrong()
        for position, names in self.unknown.items():
            entry = self.topology.entries[position]
            self.comparison.unknown.extend(names)
            count = counted(len(names), "node")
            words = f"{self.word} {entry.name} has {count} unknown to the fabric: {listed(names)}"
            self.add("warning", "unknown-node", entry.line, words)
        for name, first, entry in self.repeated:
            words = f"{name} stands under {entry.name} and under {first.name} (line {first.line})"
            self.add("warning", "repeated-node", entry.line, words)
        if self.topology.block_sizes:
            base = self.topology.block_sizes[0]
            for entry in self.topology.entries:
                if len(entry.nodes) < base:
                    words = f"block {entry.name} has {counted(len(entry.nodes), 'node')}, fewer "
                    words += f"than the base block size {base}"
                    self.add("warning", "small-block", entry.line, words)

    def add_wrong(self) -> None:
        """Find nodes under wrong switches, divided units and joined units."""
        counts = {
            position: Counter(self.unit_of[node] for node in nodes)
            for position, nodes in self.nodes.items()
        }
        home = {position: most_common(count) for position, count in counts.items()}
        main = self.main_entries(counts, home)
        pairs = defaultdict[tuple[int, int], list[str]](list)
        joined = defaultdict[int, Counter[int]](Counter)
        for position, nodes in self.nodes.items():
            for node in nodes:
                unit = self.unit_of[node]
                if unit not in main:
                    joined[position][unit] += 1
                elif main[unit] != position:
                    pairs[position, main[unit]].append(node)
        for (position, right), nodes in pairs.items():
            is_part = home[position] == home[right]
            (self.add_divided if is_part else self.add_misplaced)(position, right, nodes)
        for position, units in joined.items():
            entry = self.topology.entries[position]
            count = counted(sum(units.values()), "node")
            words = (
                f"{self.word} {entry.name} has the nodes of {len(units) + 1} sets of leaves, which "
                f"share no leaf switch; {count} are not of the largest"
            )
            self.add("warning", "joined-units", entry.line, words)

    def main_entries(self, counts: dict[int, Counter[int]], home: dict[int, int]) -> dict[int, int]:
        """Return the entry that represents each unit: the largest of those assigned to the unit."""
        main = dict[int, int]()
        for position, unit in home.items():
            best = main.get(unit)
            if best is None or counts[position][unit] > counts[best][unit]:
                main[unit] = position
        return main

    def add_misplaced(self, position: int, right: int, nodes: list[str]) -> None:
        """Add nodes that belong to another entry."""
        entry, belongs = self.topology.entries[position], self.topology.entries[right]
        name = self.topology.name
        self.comparison.misplaced.extend(
            Misplaced(node, entry.name, entry.line, belongs.name, name) for node in nodes
        )
        verb = "is" if len(nodes) == 1 else "are"
        place = f"in the wrong {self.word}" if self.word == "block" else "under the wrong switch"
        words = f"{counted(len(nodes), 'node')} {verb} {place} {entry.name} and belong"
        words += f"{'s' if len(nodes) == 1 else ''} to {belongs.name}: {listed(nodes)}"
        self.add("warning", f"wrong-{self.word}", entry.line, words)

    def add_divided(self, position: int, right: int, nodes: list[str]) -> None:
        """Add a unit with several entries; blocks may be smaller than units on purpose."""
        entry, other = self.topology.entries[position], self.topology.entries[right]
        words = f"{counted(len(nodes), 'node')} of {entry.name} share the leaf switches of "
        words += f"{other.name} (line {other.line}), which is another {self.word}"
        severity = "note" if self.word == "block" else "warning"
        self.add(severity, "divided-unit", entry.line, words)


def most_common(count: Counter[int]) -> int:
    """Return the unit of most nodes; of equal units, the first."""
    return min(count, key=lambda unit: (-count[unit], unit))


def add_passed_over(topology: Topology, comparison: Comparison, *, is_only: bool) -> None:
    """Add a topology without any node of the fabric."""
    names = [name for entry in topology.entries for name in entry.nodes]
    called = f"topology {topology.name}" if topology.name else "the file"
    text = f"{called} has no node of this fabric: {listed(names)}"
    if is_only:
        comparison.unknown.extend(names)
    severity = "warning" if is_only else "note"
    line = topology.entries[0].line
    comparison.findings.append(Finding(line, severity, "other-fabric", text, topology.file))  # type: ignore[arg-type]


def add_divided(topology: Topology, comparison: Comparison) -> None:
    """Add a finding for a tree without a common top: Slurm runs no job across its parts."""
    if topology.form != "tree":
        return
    below = {name for entry in topology.entries for name in entry.switches}
    tops = [entry for entry in topology.entries if entry.name not in below]
    if len(tops) > 1:
        names = listed(entry.name for entry in tops)
        text = f"no switch is above all others: {names}; add one with these below it"
        line = tops[1].line
        comparison.findings.append(Finding(line, "warning", "no-top-switch", text, topology.file))


def add_missing(cluster: Cluster, placed: set[str], comparison: Comparison) -> None:
    """Add cabled nodes of the fabric that the file does not have."""
    missing = [node for node in cluster.nodes if node.unit is not None and node.name not in placed]
    compute = [node.name for node in missing if node.role == "compute"]
    others = [node.name for node in missing if node.role not in {"compute", "unnamed"}]
    comparison.missing.extend(compute)
    if compute:
        text = f"{counted(len(compute), 'compute node')} missing from the file: {listed(compute)}"
        comparison.findings.append(Finding(None, "warning", "missing-node", text, comparison.file))
    if others:
        count = counted(len(others), "node")
        text = f"{count} of other roles than compute missing from the file: {listed(others)}"
        comparison.findings.append(Finding(None, "note", "missing-node", text, comparison.file))


def listed(names: Iterable[str]) -> str:
    """Return the first names of a list, and the number of others."""
    names = list(names)
    more = len(names) - NAMED_MAX
    return ", ".join(names[:NAMED_MAX]) + (f" and {more:,} more" if more > 0 else "")
