"""Parts of scenarios, completed by a small whole one so that they can be run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import gingham
from gingham import Fabric

# 16 hosts at the points of a square: a power of two, an even power, and a grid.
BASE = """\
[topology.generate.torus]
dimensions = [4, 4]

[[traffic]]
load = 0.1
length = { fixed = "64 B" }

[stop]
time = "200 us"
"""
# The smallest scenario with traffic: microseconds of a switch with four hosts.
STAR = """
stop.time = "20 us"
topology.generate.star = { hosts = 4 }
[[traffic]]
name = "short"
load = 0.1
length = { fixed = "64 B" }
"""
# Tables of a scenario whose keys are replaced one by one. The topology and the traffic classes are
# replaced as a whole.
MERGED = ("routing", "network", "stop", "measure")


def completed(
    *fragments: str, base: gingham.Scenario | None = None, folder: Path = Path()
) -> gingham.Scenario:
    """Return the base with its keys replaced by those of the fragments, in order."""
    whole = base or gingham.Scenario.parse(BASE, folder=folder)
    for fragment in fragments:
        whole = whole.with_(values_of(fragment))
    return whole


def values_of(fragment: str) -> dict[str, Any]:
    """Return the values of a fragment by the dotted paths of the values that they replace."""
    found: dict[str, Any] = {}
    for name, value in tomllib.loads(fragment).items():
        if name in MERGED:
            found |= {f"{name}.{key}": below for key, below in value.items()}
        else:
            found[name] = value
    return found


def is_whole(text: str) -> bool:
    """Return whether a text has all mandatory tables of a scenario."""
    return {"topology", "traffic", "stop"} <= tomllib.loads(text).keys()


def messages_of(scenario: gingham.Scenario) -> int:
    """Run the first events of a scenario and return the number of delivered messages."""
    simulation = gingham.Simulation(scenario, allow_deadlock=True)
    return simulation.advance(50_000).messages_delivered


# Three hosts with two ports each; two of them have their cable at the second port.
SECOND_PORT = """
[[switch]]
name = "s0"
[[switch]]
name = "s1"
[[host]]
name = "h0"
ports = 2
[[host]]
name = "h1"
ports = 2
[[host]]
name = "h2"
ports = 2
[[cable]]
ends = ["s0[1]", "s1[1]"]
[[cable]]
ends = ["s0[2]", "h0[2]"]
[[cable]]
ends = ["s1[2]", "h1[2]"]
[[cable]]
ends = ["s1[3]", "h2[1]"]
"""


def with_aggregation(path: Path) -> Fabric:
    """Two leaves of two hosts below two spines, and an aggregation node at every switch."""
    tree = Fabric.make("folded-clos", leaves=2, spines=2, hosts_per_leaf=2)
    text, _ = tree.text("toml")
    blocks = [re.sub(r"ports = [24]\n", "ports = 64\n", text)]
    for number, switch in enumerate(node.name for node in tree.devices if node.kind == "switch"):
        # A dump distinguishes it from a host by its description.
        told = f'guid = "00006000000000{number}0"\ndescription = "Mellanox Aggregation Node"'
        blocks += [
            f'[[aggregation]]\nname = "a{number}"\nports = 1\n{told}',
            f'[[cable]]\nends = ["{switch}[60]", "a{number}[1]"]',
        ]
    path.write_text("\n\n".join(blocks) + "\n")
    return Fabric.load(path)
