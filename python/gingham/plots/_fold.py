r"""Folding of large fabrics: switches with one role in one part become one stack.

::

    level 2          [ 140 ]            levels at and above the cut: a stack for each set of pods
                    /   |   \
    level 1      [10]  [10]  [10]       a pod: a component of the fabric below the cut
                  |     |     |
    level 0      [ 7]  [ 7]  [ 7]       each level of a pod is one stack

A dragonfly folds by its groups. Other shapes have no pods and are drawn whole.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gingham.plots._fringe import grouped
from gingham.plots._layout import Graph
from gingham.plots._layout._circle import dragonfly
from gingham.plots._layout._graph import UNREACHED
from gingham.plots._layout._layered import layers_of
from gingham.plots._style import natural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gingham.plots._network import Network

# Fabrics with more switches or more hosts are folded.
SWITCHES_MAX, HOSTS_MAX = 300, 500
# Maximum number of pods in a row and of groups on a circle. If there are more pods, those of
# equal shape share one stack for each level.
PODS_MAX, GROUPS_MAX = 72, 160
# Switches above the pods share a stack if at least this share of their pods is common.
ALIKE_MIN = 0.5


@dataclass(frozen=True, slots=True)
class Stack:
    """Switches that are drawn as one box."""

    level: int
    # Index of the pod or group; `None` above the cut.
    pod: int | None
    # Nodes, by number in the network.
    nodes: tuple[int, ...]
    hosts: int


@dataclass(frozen=True, slots=True)
class Folded:
    """A fabric as stacks."""

    shape: Literal["levels", "groups"]
    stacks: list[Stack]
    # Stack of each node of the network; for a host, that of its first switch.
    stack_of: dict[int, int]
    levels: int
    # Number of pods of the fabric that each drawn pod represents.
    alike: list[int]


def is_large(network: Network) -> bool:
    """Return whether a fabric has too many switches or hosts to draw each of them."""
    return network.kinds.count("switch") > SWITCHES_MAX or network.kinds.count("host") > HOSTS_MAX


def fold(network: Network) -> Folded | None:
    """Return the stacks of a fabric with pods or groups, `None` for other fabrics."""
    core = network.core()
    graph = core_graph(network, core)
    layers = layers_of(graph) if graph.count > 1 else None
    if layers is not None and UNREACHED not in layers:
        return by_levels(network, core, graph, layers)
    groups = dragonfly(graph)
    if groups is None or len(groups) > GROUPS_MAX:
        return None
    members: list[tuple[int, int | None, list[int]]]
    members = [(0, pod, group) for pod, group in enumerate(groups)]
    return folded("groups", network, core, graph, members, [1] * len(groups))


def core_graph(network: Network, core: list[int]) -> Graph:
    """Return the switches as a graph, with the number of their hosts."""
    number = {node: index for index, node in enumerate(core)}
    pairs = [
        (number[a], number[b]) for a, b in network.ends.tolist() if a in number and b in number
    ]
    hosts = [0] * len(core)
    for group in grouped(network, number):
        for anchor in group.anchors if group.kind == "host" else ():
            hosts[anchor] += len(group.nodes)
    return Graph.of([network.names[node] for node in core], pairs, hosts)


def by_levels(network: Network, core: list[int], graph: Graph, layers: list[int]) -> Folded:
    """Return the stacks of a tree: a pod's levels, and above them switches with the same pods."""
    cut, pods = pods_of(graph, layers)
    drawn = together(pods, lambda pod: shape_of(graph, pod, layers), PODS_MAX)
    members: list[tuple[int, int | None, list[int]]] = [
        (level, pod, nodes)
        for pod, found in enumerate(drawn)
        for level in range(cut)
        if (nodes := [node for one in found for node in one if layers[node] == level])
    ]
    pod_of = {node: pod for pod, found in enumerate(drawn) for one in found for node in one}
    levels = max(layers) + 1
    for level in range(cut, levels):
        above = [node for node in range(graph.count) if layers[node] == level]
        for nodes in planes(graph, above, pod_of):
            members.append((level, None, nodes))
            # The next level is split by the planes below it.
            pod_of |= dict.fromkeys(nodes, -len(members))
    return folded("levels", network, core, graph, members, [len(one) for one in drawn])


def pods_of(graph: Graph, layers: list[int]) -> tuple[int, list[list[int]]]:
    """Return the level of the cut, and the components below it, in the order of names."""
    cut, pods = 1, [[node] for node in range(graph.count) if layers[node] == 0]
    for level in range(max(layers), 0, -1):
        kept = [node for node in range(graph.count) if layers[node] < level]
        parts = graph.part(kept).components()
        if 2 * len(parts[0]) <= len(kept):
            cut, pods = level, [[kept[node] for node in part] for part in parts]
            break
    first = {id(pod): min(natural(graph.labels[node]) for node in pod) for pod in pods}
    return cut, sorted(pods, key=lambda pod: first[id(pod)])


def shape_of(graph: Graph, pod: list[int], layers: list[int]) -> list[tuple[int, int]]:
    """Return the levels of the switches of a pod, each with its number of hosts."""
    return sorted((layers[node], graph.hosts[node]) for node in pod)


def together(
    pods: list[list[int]], shape: Callable[[list[int]], object], most: int
) -> list[list[list[int]]]:
    """Return the pods separately; if too many, those of equal shape together, or else all."""
    if len(pods) <= most:
        return [[pod] for pod in pods]
    alike: dict[str, list[list[int]]] = defaultdict(list)
    for pod in pods:
        alike[str(shape(pod))].append(pod)
    return list(alike.values()) if len(alike) <= most else [pods]


def planes(graph: Graph, nodes: list[int], pod_of: dict[int, int]) -> list[list[int]]:
    """Return groups of switches above the pods that reach about the same pods."""
    found: list[tuple[set[int], list[int]]] = []
    for node in sorted(nodes, key=lambda node: natural(graph.labels[node])):
        reached = {pod_of[near] for near in graph.neighbours[node] if near in pod_of}
        for pods, members in found:
            if len(pods & reached) >= ALIKE_MIN * len(pods | reached):
                members.append(node)
                break
        else:
            found.append((reached, [node]))
    all_of = [[node for _, members in found for node in members]]
    return [members for _, members in found] if len(found) <= PODS_MAX else all_of


def folded(
    shape: Literal["levels", "groups"],
    network: Network,
    core: list[int],
    graph: Graph,
    members: Iterable[tuple[int, int | None, Sequence[int]]],
    alike: list[int],
) -> Folded:
    """Return the stacks of these members, which are indices in the graph."""
    stacks = [
        Stack(
            level,
            pod,
            tuple(core[node] for node in nodes),
            sum(graph.hosts[node] for node in nodes),
        )
        for level, pod, nodes in members
    ]
    stack_of = {node: place for place, stack in enumerate(stacks) for node in stack.nodes}
    for a, b in network.ends.tolist():
        for node, other in ((a, b), (b, a)):
            if node not in stack_of and other in stack_of and not network.is_switch(node):
                stack_of[node] = stack_of[other]
    levels = 1 + max(stack.level for stack in stacks)
    return Folded(shape, stacks, stack_of, levels, alike)
