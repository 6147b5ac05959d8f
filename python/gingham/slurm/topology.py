"""The content of one of Slurm's topology files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A switch of a tree, or a block."""

    name: str
    # Line of the file, from 1.
    line: int
    # Names of the nodes directly below.
    nodes: tuple[str, ...] = ()
    # Names of the switches directly below.
    switches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topology:
    """Switches or blocks with their nodes."""

    # "tree", "block", "flat", or another plug-in of `topology.yaml`, which has no entries here.
    form: str
    entries: tuple[Entry, ...]
    # Name in `topology.yaml`; `None` in other files.
    name: str | None = None
    # Base block size and the enforced larger ones; empty if the file has none.
    block_sizes: tuple[int, ...] = ()
    # Source file.
    file: str = ""

    @property
    def nodes_by_switch(self) -> dict[str, tuple[str, ...]]:
        """The nodes of each leaf switch, or of each block."""
        return {entry.name: entry.nodes for entry in self.entries if entry.nodes}
