"""One function for each shape of fabrics, with its parameters and their units.

Generated from the catalogue of generators (`gingham.catalogue.generators`) by `make pages`.

>>> from gingham import fabrics
>>> fabrics.torus(dimensions=[4, 4], hosts_per_switch=2)
<Fabric: 16 switches, 32 other nodes>
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gingham.fabric import Fabric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "dragonfly",
    "fat_tree",
    "folded_clos",
    "hypercube",
    "irregular",
    "k_ary_n_tree",
    "mesh",
    "multi_plane",
    "rail_optimised",
    "ring",
    "star",
    "torus",
    "two_hosts",
]


def _made(kind: str, values: Mapping[str, Any], seed: int, speed: str | None) -> Fabric:
    """Return the fabric of a generator, with its defaults in place of `None`."""
    given = {
        name: value if isinstance(value, int) else list(value)
        for name, value in values.items()
        if value is not None
    }
    return Fabric.make(kind, seed=seed, speed=speed, **given)


def two_hosts(
    *,
    switches: int = 1,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make two hosts with a row of switches between them.

    :param switches: Number of switches in a row between the two hosts, from 0 (a direct cable) to
        999,998.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: Kwan et al. 1996, section 3.1.
    """
    return _made("two-hosts", {"switches": switches, "rails": rails}, seed, speed)


def star(
    *,
    hosts: int,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make one switch with all hosts.

    :param hosts: Number of hosts on the switch, from 1 to 65,535.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: textbook.
    """
    return _made("star", {"hosts": hosts, "rails": rails}, seed, speed)


def ring(
    *,
    switches: int,
    hosts_per_switch: int = 1,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make switches in a ring.

    :param switches: Number of switches in the ring, at least 1; two switches are joined by one
        cable.
    :param hosts_per_switch: Number of hosts on each switch, at least 1.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: textbook.
    """
    return _made(
        "ring",
        {
            "switches": switches,
            "hosts_per_switch": hosts_per_switch,
            "rails": rails,
        },
        seed,
        speed,
    )


def mesh(
    *,
    dimensions: Sequence[int],
    hosts_per_switch: int = 1,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make a grid of switches with open edges.

    :param dimensions: Number of switches in each of 1 to 32 dimensions, such as [8, 8]; each number
        is at least 1.
    :param hosts_per_switch: Number of hosts on each switch, at least 1.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: Dally and Towles 2004, chapter 5.
    """
    return _made(
        "mesh",
        {
            "dimensions": dimensions,
            "hosts_per_switch": hosts_per_switch,
            "rails": rails,
        },
        seed,
        speed,
    )


def torus(
    *,
    dimensions: Sequence[int],
    hosts_per_switch: int = 1,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make a grid of switches whose opposite edges are joined.

    :param dimensions: Number of switches in each of 1 to 32 dimensions, at least 1; one cable joins
        2 switches.
    :param hosts_per_switch: Number of hosts on each switch, at least 1.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: Dally and Towles 2004, chapter 5.
    """
    return _made(
        "torus",
        {
            "dimensions": dimensions,
            "hosts_per_switch": hosts_per_switch,
            "rails": rails,
        },
        seed,
        speed,
    )


def hypercube(
    *,
    dimensions: int,
    hosts_per_switch: int = 1,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make a mesh of two switches in each dimension.

    :param dimensions: Number of dimensions, from 1 to 18; each dimension doubles the number of
        switches.
    :param hosts_per_switch: Number of hosts on each switch, at least 1.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: Dally and Towles 2004, chapter 5.
    """
    return _made(
        "hypercube",
        {
            "dimensions": dimensions,
            "hosts_per_switch": hosts_per_switch,
            "rails": rails,
        },
        seed,
        speed,
    )


def k_ary_n_tree(
    *,
    arity: int,
    levels: int,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make a fat tree of equal switches by Petrini and Vanneschi.

    :param arity: Number of downward cables of each switch (k), at least 2.
    :param levels: Number of switch levels (n), at least 1.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: Petrini and Vanneschi 1997.
    """
    return _made("k-ary-n-tree", {"arity": arity, "levels": levels, "rails": rails}, seed, speed)


def fat_tree(
    *,
    ports: int,
    levels: int,
    tapering: int = 1,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make a fat tree of switches with equal numbers of ports, optionally tapered at the leaves.

    :param ports: Number of ports of each switch: an even number, at least 2.
    :param levels: Number of switch levels, at least 1.
    :param tapering: Ratio of hosts to upward cables on a leaf, at least 1; 2 is an oversubscription
        of 2 : 1.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: Lin, Chung and Huang 2004; Ohring et al. 1995.
    """
    return _made(
        "fat-tree",
        {
            "ports": ports,
            "levels": levels,
            "tapering": tapering,
            "rails": rails,
        },
        seed,
        speed,
    )


def folded_clos(
    *,
    leaves: int,
    spines: int,
    hosts_per_leaf: int,
    cables_per_pair: int = 1,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make leaf switches, each cabled to every spine switch.

    :param leaves: Number of leaf switches, at least 1.
    :param spines: Number of spine switches, at least 1.
    :param hosts_per_leaf: Number of hosts on each leaf switch, at least 1.
    :param cables_per_pair: Number of parallel cables between each leaf and each spine, at least 1.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: Leiserson 1985; Clos 1953.
    """
    return _made(
        "folded-clos",
        {
            "leaves": leaves,
            "spines": spines,
            "hosts_per_leaf": hosts_per_leaf,
            "cables_per_pair": cables_per_pair,
            "rails": rails,
        },
        seed,
        speed,
    )


def rail_optimised(
    *,
    units: int = 4,
    nodes_per_unit: int = 32,
    rails: int = 8,
    levels: int = 2,
    radix: int = 64,
    tapering: int = 1,
    spines: int | None = None,
    uplinks: int | None = None,
    units_per_block: int | None = None,
    spine_groups: int | None = None,
    cores: int | None = None,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make scalable units of nodes with several adapters, one on each leaf switch of the unit.

    :param units: Number of scalable units, at least 1.
    :param nodes_per_unit: Number of nodes in each unit, at least 1.
    :param rails: Number of adapters per node, and of leaf switches per unit, at least 1.
    :param levels: Number of switch levels: 2 (leaf and spine) or 3 (leaf, spine and core).
    :param radix: Number of ports of each switch, from 2 to 65,535.
    :param tapering: Ratio of nodes to upward cables on a leaf, at least 1; 2 is an oversubscription
        of 2 : 1.
    :param spines: Number of spine switches in each spine group; by default as few as possible.
    :param uplinks: Number of cables from each leaf to each spine of its group; by default from
        `tapering`.
    :param units_per_block: Number of units that share spines (three levels); by default the largest
        possible number.
    :param spine_groups: Number of spine groups per block (three levels), a divisor of `rails`; by
        default `rails`.
    :param cores: Number of core switches (three levels); by default enough to avoid tapering at the
        spines.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: NVIDIA, DGX SuperPOD reference architectures, 2023 and 2025.
    """
    return _made(
        "rail-optimised",
        {
            "units": units,
            "nodes_per_unit": nodes_per_unit,
            "rails": rails,
            "levels": levels,
            "radix": radix,
            "tapering": tapering,
            "spines": spines,
            "uplinks": uplinks,
            "units_per_block": units_per_block,
            "spine_groups": spine_groups,
            "cores": cores,
        },
        seed,
        speed,
    )


def multi_plane(
    *,
    planes: int,
    leaves: int,
    spines: int,
    hosts_per_leaf: int,
    cables_per_pair: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make disjoint folded Clos networks, with one adapter of every node in each network.

    :param planes: Number of planes, and of adapters per node, at least 1.
    :param leaves: Number of leaf switches in each plane, at least 1.
    :param spines: Number of spine switches in each plane, at least 1.
    :param hosts_per_leaf: Number of nodes on each leaf switch, at least 1.
    :param cables_per_pair: Number of parallel cables between each leaf and each spine, at least 1.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: Zhao et al. 2025, section 5.1.
    """
    return _made(
        "multi-plane",
        {
            "planes": planes,
            "leaves": leaves,
            "spines": spines,
            "hosts_per_leaf": hosts_per_leaf,
            "cables_per_pair": cables_per_pair,
        },
        seed,
        speed,
    )


def dragonfly(
    *,
    switches_per_group: int,
    global_cables_per_switch: int,
    hosts_per_switch: int = 1,
    groups: int | None = None,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make fully connected groups of fully connected switches.

    :param switches_per_group: Number of switches in each group (a), at least 1.
    :param global_cables_per_switch: Number of cables from each switch to other groups (h); 0
        requires a single group.
    :param hosts_per_switch: Number of hosts on each switch (p), at least 1.
    :param groups: Number of groups (g), from 1 to a h + 1; by default a h + 1.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: Kim, Dally, Scott and Abts 2008.
    """
    return _made(
        "dragonfly",
        {
            "switches_per_group": switches_per_group,
            "global_cables_per_switch": global_cables_per_switch,
            "hosts_per_switch": hosts_per_switch,
            "groups": groups,
            "rails": rails,
        },
        seed,
        speed,
    )


def irregular(
    *,
    switches: int,
    ports: int = 8,
    hosts_per_switch: int = 4,
    cables_per_pair_max: int = 1,
    rails: int = 1,
    seed: int = 1,
    speed: str | None = None,
) -> Fabric:
    """Make randomly connected switches, as in the studies of Myrinet clusters.

    :param switches: Number of switches, at least 1.
    :param ports: Number of ports of each switch, from 1 to 65,535.
    :param hosts_per_switch: Number of hosts on each switch, from 1 to `ports`.
    :param cables_per_pair_max: Maximum number of parallel cables between two switches, at least 1.
    :param rails: Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    :param seed: Seed of random choices; shapes without random choices do not depend on it.
    :param speed: Speed of every cable, such as "4xNDR" or "10 GB/s"; unspecified unless given.

    Source: Flich et al. 2001, section IV-A; the drawing of links is ours.
    """
    return _made(
        "irregular",
        {
            "switches": switches,
            "ports": ports,
            "hosts_per_switch": hosts_per_switch,
            "cables_per_pair_max": cables_per_pair_max,
            "rails": rails,
        },
        seed,
        speed,
    )
