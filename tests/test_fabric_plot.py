"""The picture of a fabric: every cable is drawn, with the colours of the measurements."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import gingham
from gingham.plots import _cables, _fabric, _fringe
from gingham.plots import _style as style
from gingham.plots._network import network
from gingham.plots._scene import Scene, scene
from tests import pictures
from tests.pictures import Ends, lines, links, texts

DUMPS = Path(__file__).parents[1].parent / "shared" / "data" / "fabrics"


Shares = dict[tuple[str, str], float]


def drawn(cables: list[Ends], loads: Shares | None = None, stops: Shares | None = None) -> Figure:
    return _fabric.draw(links(cables, loads, stops), pictures.kinds_of(cables), title="A fabric")


def scene_of(cables: list[Ends]) -> Scene:
    return scene(network(links(cables), pictures.kinds_of(cables)))


def segments(figure: Figure) -> list[np.ndarray]:
    axes = figure.axes[0]
    return [*lines(axes, "idle").get_segments(), *lines(axes, "channels").get_segments()]


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("torus", {"dimensions": [4, 4], "hosts_per_switch": 2}),
        ("mesh", {"dimensions": [2, 2, 2]}),
        ("folded-clos", {"leaves": 4, "spines": 2, "hosts_per_leaf": 3, "cables_per_pair": 2}),
        ("k-ary-n-tree", {"arity": 3, "levels": 3}),
        ("irregular", {"switches": 16, "ports": 8, "hosts_per_switch": 4}),
        ("ring", {"switches": 5}),
        ("star", {"hosts": 7}),
        ("two-hosts", {"switches": 3}),
        ("two-hosts", {"switches": 1}),
    ],
)
def test_every_cable_is_drawn_as_two_halves(kind: str, parameters: dict[str, Any]) -> None:
    fabric = gingham.Fabric.make(kind, **parameters)
    cables = pictures.ends_of(fabric)
    figure = _fabric.draw(links(cables), pictures.nodes_of(fabric), title=kind)
    found = segments(figure)
    assert len(found) == 2 * len(cables)
    # Each is visible: longer than a dot, and within the axes.
    low, high = np.array([figure.axes[0].get_xlim(), figure.axes[0].get_ylim()]).T
    for path in found:
        assert np.hypot(*(path[-1] - path[0])) > 2
        assert (path >= low).all()
        assert (path <= high).all()


def test_no_two_cables_lie_on_each_other() -> None:
    cables = pictures.clos(3, 2, 2, cables=3)
    middles = [stroke.path[-1] for stroke in scene_of(cables).strokes[: 2 * 3 * 2 * 3 : 2]]
    for pair in range(6):
        for a, b in itertools.combinations(middles[3 * pair : 3 * pair + 3], 2):
            assert np.hypot(*(a - b)) > 2


def test_the_half_at_a_node_is_what_leaves_it() -> None:
    cables = pictures.clos(2, 2, 2)
    figure = drawn(cables, loads={("leaf1", "spine0"): 0.4, ("spine0", "leaf1"): 0.1})
    found = lines(figure.axes[0], "channels")
    up, down = (
        found.get_segments()[index] for index in np.argsort(np.asarray(found.get_array()))[::-1]
    )
    # The half of the leaf begins at the top of a bar, that of the spine at the bottom of one.
    drawn_scene = scene_of(cables)
    low, high = sorted({float(y) for _, y in drawn_scene.placement.positions})
    half = drawn_scene.boxes[0].half_height
    assert up[0][1] == pytest.approx(low + half)
    assert down[0][1] == pytest.approx(high - half)
    # They meet in the middle, except for a gap.
    assert np.hypot(*(up[-1] - down[-1])) < 2


def test_colours_and_widths_follow_utilisation() -> None:
    loads = {(f"h0-{place}", "leaf0"): load for place, load in enumerate((0.05, 0.2, 0.45))}
    figure = drawn(pictures.clos(2, 2, 3), loads=loads)
    found = lines(figure.axes[0], "channels")
    found.update_scalarmappable()
    # Drawn from the least to the busiest, on a scale that ends at 50 %.
    assert np.asarray(found.get_array()).tolist() == [0.05, 0.2, 0.45]
    assert found.norm.vmax == 0.5
    expected = style.LOAD_COLOURS([0.1, 0.4, 0.9])
    assert np.asarray(found.get_edgecolor()) == pytest.approx(expected, abs=0.01)
    assert all(np.diff(found.get_linewidth()) > 0)
    assert "50\N{NO-BREAK SPACE}%" in texts(figure)


def test_the_core_is_as_long_as_the_share_of_time_stopped() -> None:
    cables = pictures.clos(2, 1, 2)
    stops = {("leaf0", "spine0"): 0.25, ("leaf1", "spine0"): 0.001}
    figure = drawn(cables, loads={("leaf0", "spine0"): 0.5}, stops=stops)
    (core,) = lines(figure.axes[0], "stopped").get_segments()
    (half,) = lines(figure.axes[0], "channels").get_segments()
    assert core[0] == pytest.approx(half[0])
    assert np.hypot(*(core[-1] - core[0])) == pytest.approx(0.25 * np.hypot(*(half[-1] - half[0])))


def test_only_where_channels_can_be_stopped_the_key_speaks_of_stops() -> None:
    cables = pictures.star(2)
    table = links(cables, {("h0", "s0"): 0.5})
    in_credits = table.drop_columns(["stopped_share"])
    for name, value in (("stopped_share", np.nan), ("occupancy_mean_flits", 1.0)):
        in_credits = in_credits.append_column(name, pa.array([value] * table.num_rows))
    in_credits = in_credits.append_column("buffer_flits", pa.array([4] * table.num_rows))
    for of, stops in ((table, True), (in_credits, False)):
        figure = _fabric.draw(of, pictures.kinds_of(cables), title="A star")
        assert any("stopped" in text for text in texts(figure)) == stops
        # The legend's sample cable: two halves, and a core.
        assert len(figure.axes[-1].lines) == 2 + stops


def test_a_fabric_that_carried_nothing_says_so() -> None:
    figure = drawn(pictures.clos(2, 1, 2), stops={("leaf0", "spine0"): 1.0})
    said = " ".join(texts(figure)).replace("\N{NO-BREAK SPACE}", " ")
    assert "12 channels; none carried anything in the window. Most stopped: leaf0 port 3" in said
    assert not lines(figure.axes[0], "channels").get_segments()
    # As in a deadlock: idle, and stopped all the time.
    (core,) = lines(figure.axes[0], "stopped").get_segments()
    assert np.hypot(*(core[-1] - core[0])) > 30
    assert "100 %" in said


def test_a_fabric_without_cables_says_so() -> None:
    figure = drawn([])
    assert "the fabric has no cables" in texts(figure)


def test_the_busiest_channel_is_named_with_its_interval() -> None:
    table = links(pictures.star(3), {("h1", "s0"): 0.5}, {("h2", "s0"): 0.25}, half_width=0.01)
    figure = _fabric.draw(table, pictures.kinds_of(pictures.star(3)), title="A star")
    said = " ".join(texts(figure)).replace("\N{NO-BREAK SPACE}", " ")
    assert "Busiest: h1 port 1 → s0 port 2, 50.0 ± 1.0 %. Most stopped: h2 port 1" in said


def test_many_hosts_become_their_number_in_the_colour_of_the_busiest() -> None:
    cables = pictures.clos(8, 2, 26)
    assert _fringe.DRAWN_MAX < 8 * 26
    loads = {("h3-7", "leaf3"): 0.3, ("h3-8", "leaf3"): 0.1, ("leaf3", "h3-9"): 0.02}
    figure = drawn(cables, loads=loads)
    assert [text for text in texts(figure) if text == "26"] == ["26"] * 8
    found = lines(figure.axes[0], "channels")
    assert np.asarray(found.get_array()).tolist() == [0.02, 0.3]
    # Two halves for each cable between switches, and two for each number of hosts.
    assert len(segments(figure)) == 2 * (8 * 2) + 2 * 8
    assert "number: so many hosts; line: the busiest of them" in texts(figure)


def test_hosts_stay_dots_up_to_two_hundred() -> None:
    figure = drawn(pictures.clos(8, 2, 25))
    assert len(segments(figure)) == 2 * (8 * 2 + 200)


def test_hosts_hang_below_their_leaf_and_not_below_another() -> None:
    found = scene_of(pictures.clos(3, 2, 5))
    bars = {
        found.core[index]: (place, found.boxes[index])
        for index, place in enumerate(found.placement.positions)
    }
    for group, place in zip(found.groups, found.group_places, strict=True):
        (anchor,) = group.anchors
        bar, box = bars[found.core[anchor]]
        assert abs(place[0] - bar[0]) < box.half_width
        assert place[1] < bar[1]


def test_bars_of_a_layer_do_not_overlap() -> None:
    found = scene_of(pictures.clos(5, 2, 3))
    for a, b in itertools.combinations(range(len(found.core)), 2):
        across, up = np.abs(found.placement.positions[a] - found.placement.positions[b])
        wide = found.boxes[a].half_width + found.boxes[b].half_width
        assert across >= wide or up > 20


def test_a_host_with_two_cables_stands_between_its_switches() -> None:
    cables = pictures.clos(2, 2, 2)
    cables += [(("h-both", 1), ("leaf0", 20)), (("h-both", 2), ("leaf1", 20))]
    found = scene_of(cables)
    (index,) = [index for index, group in enumerate(found.groups) if len(group.anchors) == 2]
    ends = found.placement.positions[list(found.groups[index].anchors)]
    assert found.group_places[index][0] == pytest.approx(ends[:, 0].mean())
    assert found.group_places[index][1] < found.group_places[:, 1].max()
    assert len(found.strokes) == 2 * len(cables)


def test_odd_cables_are_drawn_as_well() -> None:
    # Cables from a switch to itself and between two hosts, and a channel without its reverse.
    cables: list[Ends] = [
        (("s0", 1), ("s0", 2)),
        (("s0", 3), ("s1", 1)),
        (("h0", 1), ("h1", 1)),
        (("h2", 1), ("s0", 4)),
    ]
    table = links(cables)
    figure = _fabric.draw(table.slice(0, 7), pictures.kinds_of(cables), title="Odd")
    assert len(segments(figure)) == 8


def test_nodes_that_only_the_links_name_are_drawn() -> None:
    figure = _fabric.draw(links(pictures.star(3)), pictures.nodes({}), title="Unnamed")
    assert len(segments(figure)) == 6


def test_names_of_the_user_are_no_mathematics(tmp_path: Path) -> None:
    cables: list[Ends] = [(("h$a^", 1), ("$s_{0$", 1)), (("h1", 1), ("$s_{0$", 2))]
    figure = _fabric.draw(links(cables), pictures.kinds_of(cables), title="$x_{$ 名前")
    gingham.plots.save(figure, tmp_path / "odd.png")
    assert "$s_{0$" in texts(figure)


@pytest.mark.parametrize("ending", gingham.plots.ENDINGS)
def test_the_same_tables_give_the_same_bytes(ending: str) -> None:
    cables = pictures.ends_of(gingham.Fabric.make("irregular", switches=12, hosts_per_switch=2))
    loads = {(a, b): 0.01 * index for index, ((a, _), (b, _)) in enumerate(cables)}
    first = gingham.plots.picture(drawn(cables, loads=loads), ending)
    with mpl.rc_context({"savefig.dpi": 40, "font.size": 20, "axes.facecolor": "red"}):
        assert gingham.plots.picture(drawn(cables, loads=loads), ending) == first
    assert len(first) > 10_000


@pytest.mark.parametrize(
    ("name", "leaves", "others", "hosts"),
    [("dgx-ndr-542", 31, [9], 542), ("psmn-x5-89", 6, [4, 1], 89)],
)
def test_real_clusters_stand_in_layers(
    name: str, leaves: int, others: list[int], hosts: int
) -> None:
    path = DUMPS / f"{name}.ibnetdiscover"
    if not path.exists():
        pytest.skip(f"{path.name} is not at hand; it is looked for in ../shared/data/fabrics")
    fabric = gingham.Fabric.load(path)
    cables = pictures.ends_of(fabric)
    found = scene(network(links(cables), pictures.nodes_of(fabric)))
    counts = np.bincount(found.placement.layers).tolist()
    assert counts == [leaves, *others]
    assert sum(len(group.nodes) for group in found.groups if group.kind == "host") == hosts
    between = sum(1 for (a, _), (b, _) in cables if is_switch(fabric, a) and is_switch(fabric, b))
    assert len(found.strokes) >= 2 * between
    figure = _fabric.draw(links(cables), pictures.nodes_of(fabric), title=name)
    assert max(figure.get_size_inches()) * figure.dpi <= style.PIXELS_MAX
    assert any(isinstance(one, LineCollection) for one in figure.axes[0].collections)


def is_switch(fabric: gingham.Fabric, name: str) -> bool:
    return any(node.name == name and node.kind == "switch" for node in fabric.devices)


def test_a_crowd_of_switches_has_smaller_marks_and_no_numbers() -> None:
    fabric = gingham.Fabric.make("irregular", switches=300, ports=8, hosts_per_switch=4, seed=2)
    cables = pictures.ends_of(fabric)
    figure = _fabric.draw(links(cables), pictures.nodes_of(fabric), title="A crowd")
    assert "4" not in texts(figure)  # as in fabrics with more room
    assert "dot: all hosts of a switch" in texts(figure)
    between = sum(1 for (a, _), (b, _) in cables if not {a[0], b[0]} & {"h"})
    assert len(lines(figure.axes[0], "quiet").get_segments()) == 2 * (between + 300)
    assert max(figure.get_size_inches()) < 18


def test_no_line_of_a_title_is_wider_than_the_picture() -> None:
    names = [f"MWMMW-{place}-IBSPINE-MQM9701-WWMM" for place in ("AAQMW", "WWQMM", "MWWQA")]
    cables: list[Ends] = [((names[0], 1), (names[1], 1)), ((names[1], 2), (names[2], 1))]
    loads = {(names[0], names[1]): 0.5}
    table = links(cables, loads, {(names[1], names[2]): 0.25})
    title = "WMQ " * 40
    figure = _fabric.draw(table, pictures.kinds_of(cables), title=title)
    figure.draw_without_rendering()
    width = figure.get_size_inches()[0] * figure.dpi
    assert len(figure.texts) >= 3
    for line in figure.texts:
        assert line.get_window_extent().x1 <= width, line.get_text()


def test_a_fabric_without_a_run_has_every_cable_once_in_the_colour_of_its_speed() -> None:
    fast, slow = "4xNDR", "4xHDR"
    cables = [
        gingham.Cable((("s0", 1), ("h0", 1)), fast, None),
        gingham.Cable((("s0", 2), ("h1", 1)), slow, None),
        gingham.Cable((("s0", 3), ("s1", 1)), fast, None),
        gingham.Cable((("s1", 2), ("h2", 1)), None, None),
    ]
    names = {"s0": "switch", "s1": "switch", "h0": "host", "h1": "host", "h2": "host"}
    nodes = [gingham.Device(kind, name, None, "", 4) for name, kind in names.items()]  # type: ignore[arg-type]
    figure = _cables.draw(nodes, cables, title="Four cables")
    drawn_cables = lines(figure.axes[0], "cables")
    assert len(drawn_cables.get_segments()) == len(cables)
    colours = Counter(map(mpl.colors.to_hex, np.asarray(drawn_cables.get_color())))
    assert colours == {
        style.CLASS_COLOURS[0]: 2,
        style.CLASS_COLOURS[1]: 1,
        style.NODE_EDGE: 1,
    }
    written = texts(figure)
    assert {fast, slow, "no speed told"} <= set(written)
    assert "2 switches, 3 hosts, 4 cables: 2 x 4xNDR, 1 x 4xHDR, 1 x no speed told." in written


def test_a_fabric_without_a_run_stands_where_that_of_a_run_does() -> None:
    fabric = gingham.fabrics.torus(dimensions=[4, 4], hosts_per_switch=2)
    alone = gingham.plots.fabric(fabric)
    # Wrap-around cables of a 4 x 4 torus are drawn as two loose ends, 4 per dimension.
    assert len(lines(alone.axes[0], "cables").get_segments()) == 64 + 8
    run = _fabric.draw(links(pictures.ends_of(fabric)), pictures.nodes_of(fabric), title="Fabric")
    places = [
        {text.get_text(): text.get_position() for text in one.axes[0].texts} for one in (alone, run)
    ]
    assert places[0] == places[1]
    assert "no cable tells a speed" in " ".join(texts(alone))
    empty = _cables.draw([], [], title="Nothing")
    assert "the fabric has no cables" in texts(empty)
