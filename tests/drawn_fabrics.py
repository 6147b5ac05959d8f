"""Small fabrics for property tests of writers: odd names, parallel cables, islands, idle hosts.

::

    drawn()         any of the three below
    made()          a generator's shape
    cabled()        switches and hosts with odd names, joined at random
    bare(fabric)    the fabric without the GUIDs of its nodes
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from gingham import Fabric

# Shapes with few nodes.
SHAPES: list[tuple[str, dict[str, Any]]] = [
    ("two-hosts", {}),
    ("star", {"hosts": 3}),
    ("torus", {"dimensions": [3, 2]}),
    ("folded-clos", {"leaves": 3, "spines": 2, "hosts_per_leaf": 2, "cables_per_pair": 2}),
    ("k-ary-n-tree", {"arity": 2, "levels": 2}),
    ("irregular", {"switches": 5, "ports": 8, "hosts_per_switch": 2}),
]
SPEEDS = ("4xNDR", "4xHDR", "1xSDR", "12xQDR", "2x???", "??HDR", "80 MB/s")
LENGTHS = ("5 m", "1 m", "1500 mm")
# Names that break a careless writer or reader.
ODD_NAMES = (
    "",
    "-o",
    "--",
    "#1",
    "a b",
    " a ",
    'say "hi"',
    "it's",
    "a\nb",
    "a\r\n0x0001 003",
    "a\n[1]\t",
    "a\tb",
    "nul\0",
    "\x1b[31m",
    "a\\",
    "a\\nb",
    "a,b;c",
    "a[1]",
    "]: '[",
    "<b>&amp;",
    "$\\frac",
    "lid 7",
    "a=b",
    "é, 日本",
    "\u2028\x85",
    "\ufffe",
    "0x0001 001",
    "x" * 80,
    "é" * 40,
)
LETTERS = st.sampled_from("ab01 _-,;:\"'\\#[]{}()=<>&|$%\n\t\0\x7fé")
NAMES = st.sampled_from(ODD_NAMES) | st.text(LETTERS, min_size=1, max_size=6)


def made() -> st.SearchStrategy[Fabric]:
    """Return fabrics of generators."""
    speeds = st.sampled_from((None, "4xNDR"))
    return st.builds(
        lambda shape, seed, speed: Fabric.make(shape[0], seed=seed, speed=speed, **shape[1]),
        st.sampled_from(SHAPES),
        st.integers(1, 3),
        speeds,
    )


@st.composite
def cabled(draw: st.DrawFn, ports_max: int = 3) -> Fabric:
    """Draw a fabric of pairs: islands, parallel cables, hosts with several ports."""
    count = draw(st.integers(1, 4))
    hosts_max = draw(st.integers(1, 5))
    nodes = count + hosts_max
    every = draw(st.lists(NAMES, min_size=nodes, max_size=nodes, unique=True))
    switches, hosts = every[:count], every[count:]
    told = st.fixed_dictionaries(
        {}, optional={"speed": st.sampled_from(SPEEDS), "length": st.sampled_from(LENGTHS)}
    )
    place = st.integers(0, count - 1)
    edges = [
        (switches[min(a, b)], switches[max(a, b)], draw(told))
        for a, b in draw(st.lists(st.tuples(place, place), max_size=7))
        if a != b
    ]
    for host in hosts:
        at = draw(st.lists(place, min_size=1, max_size=ports_max))
        edges += [(host, switches[one], draw(told)) for one in at]
    return Fabric.from_edges(edges, hosts=hosts)


@st.composite
def drawn(draw: st.DrawFn, ports_max: int = 3) -> Fabric:
    """Draw a fabric of any kind, at times with a failed node, at times without GUIDs."""
    fabric = draw(cabled(ports_max) | made())
    if draw(st.booleans()):
        fabric = fabric.without(draw(st.sampled_from([node.name for node in fabric.devices])))
    return bare(fabric) if draw(st.integers(0, 3)) == 0 else fabric


def bare(fabric: Fabric) -> Fabric:
    """Return the fabric without the GUIDs of its nodes and ports."""
    text, _ = fabric.text("toml")
    kept = (line for line in text.split("\n") if not line.startswith(("guid =", "addresses =")))
    return read_back("\n".join(kept), "toml")


def read_back(text: str, ending: str) -> Fabric:
    """Return the fabric that Gingham reads from a file with this text and ending."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"written.{ending}"
        path.write_bytes(text.encode())
        return Fabric.load(path)


def count_in(notes: list[str], word: str) -> int:
    """Return the number at the end of the note that has this word; 0 without such a note."""
    found = [note.rpartition(": ")[2] for note in notes if word in note]
    assert len(found) <= 1, notes
    return int(found[0]) if found else 0
