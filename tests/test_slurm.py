"""Slurm's topology files: contents, reading back, and comparison with fabrics.

Right answers come from plain sets of nodes and leaves (`tests/rails.py`), and YAML is read by
PyYAML too. `tests/system/test_slurmctld.py` gives the files to Slurm's controller.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gingham import Fabric, InputError, slurm
from tests.conftest import Finished
from tests.rails import RailFabric, leaves_of_nodes, pairs_of

Command = Callable[..., Finished]

FOLDER = Path(__file__).parent.parent.parent / "shared" / "data" / "fabrics"
SEEDS = range(1, 11)
# Numbers of pairs of nodes with the same leaves, two or more, and of units of compute nodes: sets
# that are connected by pairs with more than half of their leaves in common.
DUMPS = {
    "selene-compute.ibnetdiscover.xz": (3996, 25),
    "selene-storage.ibnetdiscover.xz": (4756, 22),
    "dgx-ndr-542.ibnetdiscover": (858, 8),
}
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def switches(fabric: Fabric, form: str = "slurm") -> dict[str, tuple[str, ...]]:
    """Return the nodes of each leaf switch or block of the written file."""
    (topology,) = slurm.reading.read_text(fabric.text(form)[0], "topology.conf")
    return topology.nodes_by_switch


@pytest.mark.parametrize("form", ["slurm", "slurm-block"])
def test_units_are_switches_also_where_cables_are_missing(form: str) -> None:
    for seed in SEEDS:
        made = RailFabric(missing=0.05 if seed > 1 else 0, seed=seed)
        found = {frozenset(nodes) for nodes in switches(made.fabric(), form).values()}
        servers = frozenset({"oss0", "oss1"})
        assert found == made.expected_units() - ({servers} if "block" in form else set())


def test_units_of_the_generator_are_switches() -> None:
    fabric = Fabric.make("rail-optimised", units=3, nodes_per_unit=8, rails=4)
    assert [len(nodes) for nodes in switches(fabric).values()] == [8, 8, 8]
    assert_pairs(fabric, switches(fabric), 1.0)


def test_pairs_on_the_same_leaves_stand_under_one_switch() -> None:
    fabric = RailFabric(missing=0.02).fabric()
    assert_pairs(fabric, switches(fabric), 1.0)


def assert_pairs(fabric: Fabric, found: dict[str, tuple[str, ...]], share: float) -> int:
    """Check the pairs of nodes that have the same leaves, at least two; return their number."""
    by_leaves: dict[frozenset[str], set[str]] = {}
    named = {node for nodes in found.values() for node in nodes}
    for node, leaves in leaves_of_nodes(fabric).items():
        if node in named and len(leaves) > 1:
            by_leaves.setdefault(frozenset(leaves), set()).add(node)
    pairs = pairs_of(by_leaves.values())
    right = pairs & pairs_of(found.values())
    assert pairs
    assert len(right) >= share * len(pairs)
    return len(pairs)


def connected_nodes(fabric: Fabric) -> set[frozenset[str]]:
    """Return compute nodes connected by pairs with more than half of their leaves in common."""
    compute = {node.name for node in fabric.cluster().compute}
    leaves = {name: at for name, at in leaves_of_nodes(fabric).items() if name in compute}
    found = set[frozenset[str]]()
    while leaves:
        group, reached = set[str](), {min(leaves)}
        while reached:
            group |= reached
            near = [leaves.pop(name) for name in reached]
            reached = {
                name
                for name, at in leaves.items()
                if any(2 * len(at & other) > max(len(at), len(other)) for other in near)
            }
        found.add(frozenset(group))
    return found


@pytest.fixture(params=DUMPS)
def dump(request: pytest.FixtureRequest) -> tuple[str, Fabric]:
    path = FOLDER / request.param
    if not path.exists():
        pytest.skip(f"{path.name} is not at hand; it is looked for in ../shared/data/fabrics")
    return request.param, Fabric.load(path)


def test_real_units_are_switches(dump: tuple[str, Fabric]) -> None:
    name, fabric = dump
    found = switches(fabric)
    pairs, units = DUMPS[name]
    assert assert_pairs(fabric, found, 1.0) == pairs
    blocks = {frozenset(nodes) for nodes in switches(fabric, "slurm-block").values()}
    assert blocks == connected_nodes(fabric)
    assert len(blocks) == units
    comparison = slurm.compare(fabric, slurm.reading.read_text(fabric.text("slurm")[0], "t.conf"))
    assert comparison.is_right, comparison.findings


def test_real_units_stay_whole_without_a_twentieth_of_the_cables(
    dump: tuple[str, Fabric],
) -> None:
    name, fabric = dump
    whole = pairs_of(switches(fabric, "slurm-block").values())
    kinds = {device.name: device.kind for device in fabric.devices}
    ends = [
        f"{node}[{port}]"
        for cable in fabric.cables
        for node, port in cable.ends
        if kinds[node] == "host"
    ]
    for seed in SEEDS:
        gone = random.Random(seed).sample(ends, len(ends) // 20)  # noqa: S311
        found = switches(fabric.without(*gone), "slurm-block")
        assert len(found) == DUMPS[name][1], seed
        pairs = pairs_of(found.values())
        assert len(whole ^ pairs) <= 0.01 * len(whole), seed


def test_yaml_follows_the_documented_grammar() -> None:
    """By another reader: keys of `topology.yaml(5)`, every name once, children defined."""
    compute = RailFabric(units=3, nodes=5)
    storage = RailFabric(units=1, nodes=3, rails=2)
    given: dict[str, Any] = {
        "compute": compute.fabric(),
        "compute-block": (compute.fabric(), "block"),
        "storage": (storage.fabric(), "tree"),
    }
    text, notes = slurm.topology_yaml(given)
    assert any(note.startswith("storage: ") for note in notes)
    topologies = yaml.safe_load(text)
    assert [next(iter(topology)) for topology in topologies] == ["topology"] * 3
    assert [topology["topology"] for topology in topologies] == list(given)
    assert [topology["cluster_default"] for topology in topologies] == [True, False, False]
    for topology, made in zip(topologies, (compute, compute, storage), strict=True):
        form = "block" if topology["topology"].endswith("block") else "tree"
        assert topology.keys() == {"topology", "cluster_default", form}
        entries, units = grammar_of(topology[form], form)
        assert all(NAME.fullmatch(entry) for entry in entries)
        servers = frozenset({"oss0", "oss1"})
        assert units == made.expected_units() - ({servers} if form == "block" else set())


def grammar_of(body: dict[str, Any], form: str) -> tuple[list[str], set[frozenset[str]]]:
    """Return names and sets of nodes of a tree or of blocks."""
    word, keys = ("switch", {"switches"}) if form == "tree" else ("block", {"blocks"})
    assert body.keys() == keys | ({"block_sizes"} if form == "block" else set())
    entries = body[next(iter(keys))]
    names, units, children = [entry[word] for entry in entries], set[frozenset[str]](), list[str]()
    for entry in entries:
        assert entry.keys() in ({word, "nodes"}, {word, "children"})
        units |= {frozenset(entry["nodes"].split(","))} if "nodes" in entry else set()
        children += entry["children"].split(",") if "children" in entry else []
    assert len(set(names)) == len(names)
    assert len(set(children)) == len(children)
    assert set(children) <= set(names)
    if form == "block":
        assert body["block_sizes"] == [min(len(unit) for unit in units)]
    return names, units


# Text of a file, code and line of its error.
REFUSED = [
    ("", "no-topology", None),
    ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2", "repeated-switch", 2),
    ("SwitchName=a Nodes=n1\nSwitchName=t Switches=a,b", "undefined-switch", 2),
    ("SwitchName=a Switches=b\nSwitchName=b Switches=a", "switch-cycle", 1),
    ("SwitchName=a Nodes=n1 Switches=b", "nodes-and-switches", 1),
    ("SwitchName=a Nodes=n[3-1]", "bad-range", 1),
    ("SwitchName=a Nods=n1", "unknown-key", 1),
    ("# comment\nswitch a", "bad-line", 2),
    ("SwitchName=a Nodes=n1\nBlockName=b Nodes=n2", "mixed-forms", 2),
    ("BlockName=a Nodes=n[1-9]\nBlockSizes=3,9", "bad-block-sizes", 2),
    ("BlockName=a", "bad-line", 1),
    (
        "- topology: a\n  tree:\n    switches:\n      - switch: s\n        node: n1",
        "unknown-key",
        5,
    ),
    ("- topology: a\n  tree: {}", "yaml-feature", 2),
    ("- topology: &a x\n  flat: true", "yaml-feature", 1),
    ("- topology: a\n  flat: true\n---\n- topology: b\n  flat: true", "yaml-feature", 3),
    ("- topology: a\n  flat: true\n  flat: true", "bad-yaml", 3),
    ("- topology: a\n  tree: 'x", "bad-yaml", 2),
    ("- topology: a\n  flat: true\n- topology: a\n  flat: true", "repeated-topology", 3),
    ("- topology: a\n  flat: true\n  tree:\n    switches:\n    - switch: s", "mixed-forms", 1),
    ("- topology: a\n   flat: true", "bad-yaml", 2),
    ("- flat: true\n  topology: a", "bad-yaml", 1),
]


@pytest.mark.parametrize(("text", "code", "line"), REFUSED)
def test_a_file_at_which_slurm_stops_is_refused(
    text: str, code: str, line: int | None, tmp_path: Path
) -> None:
    path = tmp_path / ("topology.yaml" if text.startswith("- ") else "topology.conf")
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        slurm.read(path)
    assert (refused.value.code, refused.value.file, refused.value.line) == (code, str(path), line)


def test_what_scontrol_shows_is_read() -> None:
    tree = (
        "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
        "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-2] Switches=s1\n"
    )
    (topology,) = slurm.reading.read_text(tree, "shown")
    assert topology.nodes_by_switch == {"s1": ("n1", "n2")}
    blocks = (
        "BlockName=b1 BlockIndex=0 Nodes=n[01-02] BlockSize=2\n"
        "AggregatedBlock=b[1-2] BlockIndex=2 Nodes=n[01-04] BlockSize=4\n"
    )
    (topology,) = slurm.reading.read_text(blocks, "shown")
    assert (topology.form, topology.nodes_by_switch) == ("block", {"b1": ("n01", "n02")})


def kinds(comparison: slurm.Comparison) -> list[tuple[str, str, int | None]]:
    """Return severity, kind and line of the findings."""
    return [(one.severity, one.kind, one.line) for one in comparison.findings]


def compared(lines: str, *, file: str = "topology.conf") -> slurm.Comparison:
    """Compare a file with two units of four nodes on two rails."""
    fabric = RailFabric(units=2, nodes=4, rails=2, storage=0).fabric()
    return slurm.compare(fabric, slurm.reading.read_text(lines, file))


RIGHT = "SwitchName=a Nodes=n0-[0-3]\nSwitchName=b Nodes=n1-[0-3]\nSwitchName=t Switches=a,b\n"


def test_differences_have_kinds_and_lines() -> None:
    assert compared(RIGHT).findings == []
    swapped = compared(RIGHT.replace("n0-[0-3]", "n0-[0-2],n1-3").replace("n1-[0-3]", "n1-[0-2]"))
    assert [(one.node, one.switch, one.belongs_to) for one in swapped.misplaced] == [
        ("n1-3", "a", "b")
    ]
    assert swapped.missing == ["n0-3"]
    assert kinds(swapped) == [("warning", "missing-node", None), ("warning", "wrong-switch", 1)]
    strange = compared(RIGHT.replace("n1-[0-3]", "n1-[0-3],n7,n0-0"))
    assert strange.unknown == ["n7"]
    assert kinds(strange) == [("warning", "unknown-node", 2), ("warning", "repeated-node", 2)]
    divided = RIGHT.replace("Nodes=n1-[0-3]", "Nodes=n1-[0-2]\nSwitchName=c Nodes=n1-3")
    divided = divided.replace("Switches=a,b", "Switches=a,b,c")
    assert kinds(compared(divided)) == [("warning", "divided-unit", 3)]
    topless = RIGHT.replace("SwitchName=t Switches=a,b\n", "")
    assert kinds(compared(topless)) == [("warning", "no-top-switch", 2)]
    joined = "SwitchName=a Nodes=n0-[0-3],n1-[0-3]"
    assert kinds(compared(joined)) == [("warning", "joined-units", 1)]


def test_blocks_may_be_smaller_than_units_but_not_than_their_size() -> None:
    blocks = "BlockName=a Nodes=n0-[0-3]\nBlockName=b Nodes=n1-[0-2]\nBlockName=c Nodes=n1-3\n"
    assert kinds(compared(f"{blocks}BlockSizes=1")) == [("note", "divided-unit", 3)]
    small = kinds(compared(f"{blocks}BlockSizes=3"))
    assert ("warning", "small-block", 3) in small


def test_a_topology_of_another_fabric_is_passed_over() -> None:
    yaml = (
        "- topology: compute\n  tree:\n    switches:\n"
        '      - switch: a\n        nodes: "n0-[0-3]"\n      - switch: b\n        nodes: n1-[0-3]\n'
        "      - switch: t\n        children: a,b\n"
        "- topology: other\n  block:\n    blocks:\n      - block: x\n        nodes: x[1-4]\n"
        "- topology: none\n  flat: true\n"
    )
    comparison = compared(yaml, file="topology.yaml")
    assert kinds(comparison) == [("note", "other-fabric", 13)]
    assert comparison.is_right
    alone = compared("SwitchName=a Nodes=x[1-4]")
    assert kinds(alone) == [("warning", "other-fabric", 1)]


def test_names_of_the_file_may_have_a_domain_or_other_case() -> None:
    assert compared(RIGHT.replace("n0-[0-3]", "N0-0.cluster,n0-1,N0-2,n0-3")).findings == []


def test_the_command_line_writes_both_forms_and_compares(gingham: Command, tmp_path: Path) -> None:
    RailFabric(units=2, nodes=3, rails=2).fabric().save(tmp_path / "compute.toml")
    RailFabric(units=1, nodes=2, rails=2).fabric().save(tmp_path / "storage.toml")
    convert = ["fabric", "convert", "compute.toml", "-o"]
    for arguments in (
        ["topology.conf"],
        ["block.conf", "--form", "block"],
        ["one.yaml"],
        ["topology.yaml", "--also", "storage.toml"],
    ):
        done = gingham(*convert, *arguments)
        assert done.code == 0, done.err
    names = {
        file: [(one.name, one.form) for one in slurm.read(tmp_path / file)]
        for file in ("topology.conf", "block.conf", "one.yaml", "topology.yaml")
    }
    assert names == {
        "topology.conf": [(None, "tree")],
        "block.conf": [(None, "block")],
        "one.yaml": [("tree", "tree"), ("block", "block")],
        "topology.yaml": [
            ("compute-tree", "tree"),
            ("compute-block", "block"),
            ("storage-tree", "tree"),
            ("storage-block", "block"),
        ],
    }
    refused = gingham(*convert, "x.toml", "--form", "block")
    assert refused.code == 2


def test_the_command_line_compares(gingham: Command, tmp_path: Path) -> None:
    RailFabric(units=2, nodes=4, rails=2, storage=0).fabric().save(tmp_path / "compute.toml")
    (tmp_path / "topology.conf").write_text(RIGHT)
    check = ["fabric", "check", "compute.toml", "--slurm"]
    assert gingham(*check, "topology.conf").code == 0
    swapped = RIGHT.replace("n0-[0-3]", "n0-[0-2],n1-3").replace("n1-[0-3]", "n1-[0-2],n0-3")
    (tmp_path / "moved.conf").write_text(swapped)
    assert gingham(*check, "moved.conf").code == 5
    done = gingham(*check, "moved.conf", "--json")
    assert done.code == 5
    facts = json.loads(done.out)
    assert [(one["file"], one["line"], one["kind"]) for one in facts["findings"]] == [
        ("moved.conf", 1, "wrong-switch"),
        ("moved.conf", 2, "wrong-switch"),
    ]
    assert {(one["node"], one["belongs_to"]) for one in facts["misplaced"]} == {
        ("n1-3", "b"),
        ("n0-3", "a"),
    }
