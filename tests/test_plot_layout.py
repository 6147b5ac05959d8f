"""Placement of switches: separate layers, grids on a grid, rings in a circle, reproducibly."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gingham
from gingham.plots._fringe import star_reach
from gingham.plots._layout import Graph, Placement, _layered, place

Pair = tuple[int, int]


def switches(fabric: gingham.Fabric) -> Graph:
    names = [node.name for node in fabric.devices if node.kind == "switch"]
    number = {name: index for index, name in enumerate(names)}
    hosts = [0] * len(names)
    pairs = []
    for cable in fabric.cables:
        (a, _), (b, _) = cable.ends
        if a in number and b in number:
            pairs.append((number[a], number[b]))
        else:
            hosts[number[a if a in number else b]] += 1
    return Graph.of(names, pairs, hosts)


def placed(kind: str, **parameters: Any) -> tuple[Graph, Placement]:
    graph = switches(gingham.Fabric.make(kind, seed=3, **parameters))
    return graph, place(graph)


def distances(positions: np.ndarray) -> np.ndarray:
    far = np.hypot(*(positions[:, None] - positions[None]).transpose(2, 0, 1))
    return np.asarray(far[~np.eye(len(positions), dtype=bool)])


def test_leaf_and_spine_never_share_a_height() -> None:
    graph, found = placed("folded-clos", leaves=6, spines=3, hosts_per_leaf=4)
    assert found.shape == "layers"
    heights = {
        kind: {
            float(y)
            for (_, y), name in zip(found.positions, graph.labels, strict=True)
            if kind in name
        }
        for kind in ("leaf", "spine")
    }
    assert len(heights["leaf"]) == len(heights["spine"]) == 1
    assert max(heights["leaf"]) < min(heights["spine"])


def test_a_tree_has_its_levels_as_layers_with_the_roots_on_top() -> None:
    graph, found = placed("k-ary-n-tree", arity=3, levels=3)
    level = [int(name[1 : name.index("-")]) for name in graph.labels]
    assert found.layers.tolist() == [2 - one for one in level]


def test_a_subnet_manager_at_a_spine_does_not_make_it_a_leaf() -> None:
    # Four leaves with eight hosts each, and two spines; the first spine has one host.
    pairs = list(itertools.product(range(4), (4, 5)))
    found = place(Graph.of(list("abcdST"), pairs, [8, 8, 8, 8, 1, 0]))
    assert found.layers.tolist() == [0, 0, 0, 0, 1, 1]


def test_a_leaf_without_hosts_stands_on_top_and_flat_cables_are_put_up_with() -> None:
    # As in real clusters: a further switch above the spines, and a cable between two of the leaves.
    pairs = [*itertools.product(range(20), (20, 21)), (22, 20), (22, 21), (0, 1)]
    found = place(Graph.of([f"x{i}y" for i in range(23)], pairs, [6] * 20 + [0, 0, 0]))
    assert found.layers.tolist() == [0] * 20 + [1, 1, 2]


def test_an_order_that_crosses_less_is_found() -> None:
    # Two pods whose leaves have alternating names: no cables cross once they are grouped.
    pairs = [(0, 4), (2, 4), (1, 5), (3, 5)]
    graph = Graph.of(["a0", "a1", "a2", "a3", "t0", "t1"], pairs, [2, 2, 2, 2, 0, 0])
    orders = _layered.ordered(graph, [0, 0, 0, 0, 1, 1])
    assert _layered.crossings(graph.pairs(), [0, 0, 0, 0, 1, 1], orders) == 0


def test_where_no_order_is_clearly_better_names_decide() -> None:
    labels = [f"leaf{index}" for index in (10, 2, 1)] + ["spine1", "spine0"]
    graph = Graph.of(labels, itertools.product(range(3), (3, 4)), [4, 4, 4, 0, 0])
    assert _layered.ordered(graph, [0, 0, 0, 1, 1]) == [[2, 1, 0], [4, 3]]


@given(st.data())
def test_crossings_are_those_of_a_count_by_hand(data: st.DataObject) -> None:
    low, high = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    edges = data.draw(
        st.lists(
            st.tuples(st.integers(0, low - 1), st.integers(0, high - 1), st.integers(1, 3)),
            unique_by=lambda edge: edge[:2],
        )
    )
    by_hand = sum(
        n * m for (a, b, n), (c, d, m) in itertools.combinations(edges, 2) if (a - c) * (b - d) < 0
    )
    assert _layered.inversions(edges, high) == by_hand


def test_a_torus_stands_as_its_coordinates_and_its_edges_are_loose() -> None:
    graph, found = placed("torus", dimensions=[3, 4])
    assert found.shape == "grid"
    place_of = dict(zip(graph.labels, found.positions, strict=True))
    right, down = place_of["s0-1"] - place_of["s0-0"], place_of["s1-0"] - place_of["s0-0"]
    assert right[1] == 0
    assert down[0] == 0
    assert right[0] > 0 > down[1]
    for name, position in place_of.items():
        row, column = map(int, name[1:].split("-"))
        assert position == pytest.approx(place_of["s0-0"] + row * down + column * right)
    # Of 3 columns and 4 rows each closes once: 7 cables, seen from both ends.
    assert len(found.around) == 14
    number = {name: index for index, name in enumerate(graph.labels)}
    assert found.around[number["s0-3"], number["s0-0"]][0] > 0
    assert found.around[number["s0-0"], number["s0-3"]][0] < 0


def test_a_mesh_has_no_loose_ends() -> None:
    _, found = placed("mesh", dimensions=[3, 4])
    assert found.shape == "grid"
    assert not found.around


@pytest.mark.parametrize("dimensions", [[4, 4, 4], [2, 2, 2, 2, 2], [3, 3, 3, 2], [2, 3, 4, 5]])
def test_no_cable_of_a_deep_grid_runs_through_a_third_switch(dimensions: list[int]) -> None:
    graph, found = placed("mesh", dimensions=dimensions)
    assert found.shape == "grid"
    for a, b, _ in graph.pairs():
        start, end = found.positions[a], found.positions[b]
        way = end - start
        others = np.delete(found.positions, [a, b], axis=0)
        along = np.clip(((others - start) @ way) / (way @ way), 0, 1)
        assert np.hypot(*(others - start - along[:, None] * way).T).min() > 3


def test_names_with_numbers_alone_make_no_grid() -> None:
    # A path with names in order is a grid; with other cables the names are misleading.
    labels = ["s0", "s1", "s2", "s3"]
    assert place(Graph.of(labels, [(0, 1), (1, 2), (2, 3)])).shape == "grid"
    assert place(Graph.of(labels, [(0, 2), (2, 1), (1, 3)])).shape == "stress"


def test_a_ring_is_a_circle_in_the_order_of_its_cables() -> None:
    order = [0, 3, 1, 4, 2]
    pairs = list(itertools.pairwise([*order, order[0]]))
    found = place(Graph.of(["e", "d", "c", "b", "a"], pairs))
    assert found.shape == "circle"
    assert np.hypot(*found.positions.T) == pytest.approx([np.hypot(*found.positions[0])] * 5)
    sides = [math.dist(found.positions[a], found.positions[b]) for a, b in pairs]
    assert sides == pytest.approx([sides[0]] * 5)


def test_groups_of_a_dragonfly_stand_side_by_side() -> None:
    graph, found = placed(
        "dragonfly", switches_per_group=4, global_cables_per_switch=1, hosts_per_switch=1
    )
    assert found.shape == "circle"
    angles = np.arctan2(found.positions[:, 1], found.positions[:, 0])
    clockwise = sorted(
        range(graph.count), key=lambda node: (math.pi / 2 - angles[node] + 1e-9) % math.tau
    )
    groups = [graph.labels[node].split("-")[0] for node in clockwise]
    assert [group for group, _ in itertools.groupby(groups)] == sorted(set(groups))


def test_an_irregular_fabric_keeps_switches_apart_from_each_other_and_from_cables() -> None:
    graph, found = placed("irregular", switches=24, ports=8, hosts_per_switch=4)
    assert found.shape == "stress"
    assert distances(found.positions).min() > 30
    for a, b, _ in graph.pairs():
        start, way = found.positions[a], found.positions[b] - found.positions[a]
        others = np.delete(found.positions, [a, b], axis=0)
        along = np.clip(((others - start) @ way) / (way @ way), 0, 1)
        assert np.hypot(*(others - start - along[:, None] * way).T).min() > 8


def test_far_apart_in_cables_is_far_apart_on_paper() -> None:
    # A path without numbers in its names, which only the stress layout can place.
    names = ["north", "upper", "middle", "lower", "south"]
    found = place(Graph.of(names, itertools.pairwise(range(5))))
    assert found.shape == "stress"
    steps = (
        found.positions[:, 0]
        if found.positions[0, 0] < found.positions[-1, 0]
        else -found.positions[:, 0]
    )
    assert np.diff(steps) == pytest.approx([np.diff(steps)[0]] * 4, rel=0.05)
    assert np.ptp(found.positions[:, 1]) < 0.05 * np.ptp(found.positions[:, 0])


def test_the_longest_extent_lies_across() -> None:
    _, found = placed("irregular", switches=16, ports=6, hosts_per_switch=2)
    width, height = np.ptp(found.positions, axis=0)
    assert width > 0.8 * height


def test_parts_that_no_cable_joins_stand_side_by_side() -> None:
    # Two planes of leaf and spine, and a switch by itself.
    plane = [(0, 2), (1, 2)]
    pairs = [*plane, *((a + 3, b + 3) for a, b in plane)]
    found = place(Graph.of([*"abSabT", "alone"], pairs, [3, 3, 0, 3, 3, 0, 1]))
    assert found.layers[:6].tolist() == [0, 0, 1, 0, 0, 1]
    first, second = found.positions[:3], found.positions[3:6]
    assert first[:, 0].max() < second[:, 0].min()
    assert distances(found.positions).min() > 20


@pytest.mark.parametrize("hosts", [1, 2, 8, 60])
def test_hosts_of_lone_switches_keep_apart(hosts: int) -> None:
    found = place(Graph.of(["a", "b", "c"], [], [hosts] * 3))
    assert distances(found.positions).min() > 2 * star_reach(hosts)


@settings(max_examples=40)
@given(st.integers(1, 14), st.data())
def test_any_graph_has_a_place_for_every_node_and_the_same_each_time(
    count: int, data: st.DataObject
) -> None:
    ends = st.integers(0, count - 1)
    pairs = data.draw(st.lists(st.tuples(ends, ends), max_size=30))
    hosts = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    graph = Graph.of([f"n{index}" for index in range(count)], pairs, hosts)
    found = place(graph)
    assert np.isfinite(found.positions).all()
    if count > 1:
        assert distances(found.positions).min() > 1
    assert place(graph).positions.tobytes() == found.positions.tobytes()
