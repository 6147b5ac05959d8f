"""Pictures of large fabrics: folded, bounded in pixels, with the hottest channels in colour."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import gingham
from gingham.plots import _fabric, _fold, _style
from gingham.plots._cables import network
from tests import pictures

DUMPS = Path(__file__).parents[1].parent / "shared" / "data" / "fabrics"
Loads = dict[tuple[str, str], float]


def pixels(figure: Figure) -> tuple[int, int]:
    """Width and height of the figure as a PNG, from its header."""
    header = gingham.plots.picture(figure, "png")[16:24]
    width, height = struct.unpack(">II", header)
    return width, height


def lines(figure: Figure, name: str) -> int:
    [found] = [one for one in figure.axes[0].collections if one.get_gid() == name]
    assert isinstance(found, LineCollection)
    return len(found.get_segments())


def of_run(fabric: gingham.Fabric, loads: Loads) -> Figure:
    table = pictures.links(pictures.ends_of(fabric), loads, half_width=0.001)
    return _fabric.draw(table, pictures.nodes_of(fabric), title="A run")


def test_a_fat_tree_of_1024_hosts_folds_into_its_pods() -> None:
    fabric = gingham.fabrics.fat_tree(ports=16, levels=3)
    folded = _fold.fold(network(fabric.devices, fabric.cables))
    assert folded is not None
    # 16 pods, each of 8 leaf and 8 spine switches with 64 hosts; 64 core switches reach all pods.
    shapes = Counter((one.level, one.pod is None, len(one.nodes)) for one in folded.stacks)
    assert shapes == {(0, False, 8): 16, (1, False, 8): 16, (2, True, 64): 1}
    assert {one.hosts for one in folded.stacks if one.level == 0} == {64}
    figure = gingham.plots.fabric(fabric)
    assert lines(figure, "bundles") == 16 + 16
    assert max(pixels(figure)) <= 3000
    assert "Folded into 16 pods" in " ".join(pictures.texts(figure))


def test_a_missing_cable_is_seen_in_the_number_beside_its_line() -> None:
    fabric = gingham.fabrics.folded_clos(leaves=32, spines=18, hosts_per_leaf=18)
    whole = gingham.plots.fabric(fabric)
    assert [one for one in whole.axes[0].texts if one.get_gid() == "unusual"] == []
    broken = gingham.plots.fabric(fabric.without("leaf3[19]"))
    [number] = [one for one in broken.axes[0].texts if one.get_gid() == "unusual"]
    assert number.get_text() == "17"


def test_a_dragonfly_folds_into_its_groups() -> None:
    fabric = gingham.fabrics.dragonfly(
        switches_per_group=8, global_cables_per_switch=4, hosts_per_switch=4
    )
    folded = _fold.fold(network(fabric.devices, fabric.cables))
    assert folded is not None
    assert folded.shape == "groups"
    assert [len(one.nodes) for one in folded.stacks] == [8] * 33
    # Each two of the 33 groups are joined.
    assert lines(gingham.plots.fabric(fabric), "bundles") == 33 * 32 // 2


def test_pods_of_one_shape_are_one_stack_where_there_are_too_many() -> None:
    fabric = gingham.fabrics.folded_clos(leaves=100, spines=4, hosts_per_leaf=6)
    folded = _fold.fold(network(fabric.devices, fabric.cables))
    assert folded is not None
    assert [(one.level, len(one.nodes), one.hosts) for one in folded.stacks] == [
        (0, 100, 600),
        (1, 4, 0),
    ]


@pytest.mark.parametrize("switches", [12, 301])
def test_an_irregular_fabric_has_no_pods(switches: int) -> None:
    fabric = gingham.fabrics.irregular(switches=switches)
    assert _fold.fold(network(fabric.devices, fabric.cables)) is None


@pytest.mark.parametrize(
    "fabric",
    [
        gingham.fabrics.folded_clos(leaves=40, spines=16, hosts_per_leaf=16),
        gingham.fabrics.irregular(switches=310),
        gingham.fabrics.torus(dimensions=[18, 18], hosts_per_switch=1),
        gingham.fabrics.dragonfly(
            switches_per_group=8, global_cables_per_switch=4, hosts_per_switch=4
        ),
    ],
    ids=["folded-clos", "irregular", "torus", "dragonfly"],
)
def test_of_a_large_run_the_ten_hottest_channels_are_coloured(fabric: gingham.Fabric) -> None:
    ends = [
        (a[0], b[0])
        for a, b in pictures.ends_of(fabric)
        if not {a[0][0], b[0][0]} & {"h"}  # between switches
    ]
    loads = {pair: 0.5 - 0.01 * place for place, pair in enumerate(ends[:12])}
    figure = of_run(fabric, loads)
    hot = [line for line in figure.axes[0].lines if line.get_gid() == "hot"]
    assert len(hot) == 10
    colours = {to_hex(np.asarray(line.get_color(), dtype=object).item()) for line in hot}
    assert _style.QUIET not in colours
    listed = [one for one in pictures.texts(figure) if "→" in one and ": " in one]
    assert sum(text.startswith(ends[0][0]) or ends[0][0] in text for text in listed) >= 1
    assert max(pixels(figure)) <= 3000


def test_a_wide_fabric_below_the_limits_is_folded_too() -> None:
    fabric = gingham.fabrics.folded_clos(leaves=200, spines=2, hosts_per_leaf=2)
    figure = gingham.plots.fabric(fabric)
    assert lines(figure, "bundles") == 1
    assert max(pixels(figure)) <= 3000


def test_parts_side_by_side_stay_within_the_pixels() -> None:
    cables = [((f"h{n}", 1), (f"s{n}", 1)) for n in range(2000)]
    nodes = [
        gingham.Device(kind, f"{kind[0]}{n}", None, "", 4)
        for n in range(2000)
        for kind in ("switch", "host")
    ]
    from gingham.plots import _cables

    made = [gingham.Cable(ends, None, None) for ends in cables]
    assert max(pixels(_cables.draw(nodes, made, title="Parts"))) <= 3000


@pytest.mark.parametrize("name", ["dgx-ndr-542.ibnetdiscover", "selene-compute.ibnetdiscover.xz"])
def test_real_clusters_fit(name: str) -> None:
    if not (DUMPS / name).exists():
        pytest.skip("the dump is not here")
    fabric = gingham.Fabric.load(DUMPS / name)
    folded = _fold.fold(network(fabric.devices, fabric.cables))
    assert folded is not None
    assert sum(len(one.nodes) for one in folded.stacks) == fabric.info()["nodes"]["switch"]
    assert max(pixels(gingham.plots.fabric(fabric))) <= 3000


@pytest.mark.parametrize("hosts", [2, 40])
def test_the_channels_that_most_paths_take_are_coloured(hosts: int) -> None:
    fabric = gingham.fabrics.folded_clos(leaves=16, spines=2, hosts_per_leaf=hosts)
    busiest = fabric.route("up-down").statistics()["busiest"]
    figure = gingham.plots.fabric(fabric, busiest=busiest)
    assert len([line for line in figure.axes[0].lines if line.get_gid() == "hot"]) == 10
    listed = [one for one in pictures.texts(figure) if one.endswith(" paths")]
    assert len(listed) == 10
    assert f"{busiest[0]['paths']:,} paths" in listed[0]
