"""The picture of the channels: sorted, by kind, the busiest named."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gingham.errors import InputError
from gingham.plots import _links
from tests import pictures
from tests.pictures import links, texts
from tests.refusals import raises

CABLES = pictures.clos(2, 2, 3)
LOADS = {
    ("h0-0", "leaf0"): 0.3,
    ("h0-1", "leaf0"): 0.5,
    ("h1-2", "leaf1"): 0.1,
    ("leaf0", "spine1"): 0.6,
    ("spine1", "leaf1"): 0.2,
    ("leaf1", "h1-0"): 0.4,
}


def drawn(half_width: float | None = None) -> Figure:
    table = links(CABLES, LOADS, {("leaf0", "spine1"): 0.25}, half_width=half_width)
    return _links.draw(table, pictures.kinds_of(CABLES), title="Channels")


def curve(axes: Axes, kind: str) -> tuple[list[float], list[float]]:
    (line,) = [line for line in axes.lines if str(line.get_label()).startswith(kind)]
    return np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()


def test_each_kind_of_channel_is_sorted_by_itself() -> None:
    left, right, _ = drawn().axes
    along, values = curve(left, "from hosts")
    assert values == [0.5, 0.3, 0.1, 0, 0, 0]
    # Each of the six is in the middle of its sixth of the axis.
    assert along == pytest.approx([(place + 0.5) / 6 for place in range(6)])
    assert curve(left, "between switches")[1] == [0.6, 0.2, 0, 0, 0, 0, 0, 0]
    assert curve(left, "to hosts")[1] == [0.4, 0, 0, 0, 0, 0]
    assert curve(right, "between switches")[1] == [0.25, 0, 0, 0, 0, 0, 0, 0]
    assert curve(right, "from hosts")[1] == [0] * 6


def test_legends_count_the_channels_and_stand_outside_of_the_axes() -> None:
    figure = drawn()
    (legend,) = figure.subfigs[0].legends
    said = [text.get_text() for text in legend.get_texts()]
    assert said == ["between switches (8)", "from hosts (6)", "to hosts (6)"]
    figure.canvas.draw()
    box = legend.get_window_extent()
    assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_the_busiest_are_named_in_order_with_the_colour_of_their_kind() -> None:
    *_, bars = drawn().axes
    names = [label.get_text() for label in bars.get_yticklabels()]
    assert names[:3] == [
        "leaf0 port 5 → spine1 port 1",
        "h0-1 port 1 → leaf0 port 2",
        "leaf1 port 1 → h1-0 port 1",
    ]
    assert len(names) == _links.NAMED
    widths = [patch.get_width() for patch in bars.patches if isinstance(patch, Rectangle)]
    assert widths[:6] == pytest.approx([0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    expected = [_links.COLOURS[kind] for kind in ("between switches", "from hosts", "to hosts")]
    assert [patch.get_facecolor() for patch in bars.patches[:3]] == list(map(to_rgba, expected))
    # The first is on top.
    assert bars.yaxis_inverted()
    said = [text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in bars.texts]
    assert said[:2] == ["stopped 25 %", "stopped 0 %"]


def test_intervals_are_drawn_where_there_are_any() -> None:
    left, _, bars = drawn(half_width=0.05).axes
    # The curves' bands are in the order of the kinds; switches come first.
    outline = np.asarray(left.collections[0].get_paths()[0].vertices)
    # Around the busiest channel between switches: 0.6, and 0.05 to either side.
    at_first = outline[np.isclose(outline[:, 0], 0.5 / 8)]
    assert [at_first[:, 1].min(), at_first[:, 1].max()] == pytest.approx([0.55, 0.65])
    (errors,) = bars.collections
    assert isinstance(errors, LineCollection)
    assert errors.get_segments()[0][:, 0].tolist() == pytest.approx([0.55, 0.65])
    assert not drawn().axes[0].collections


def test_axes_of_shares_end_at_all_of_the_time() -> None:
    full = {("h0-0", "leaf0"): 1.0}
    table = links(CABLES, full, full, half_width=0.05)
    for axes in _links.draw(table, pictures.kinds_of(CABLES), title="Full").axes:
        assert max(axes.get_xticks()) == 1
    left, *_ = _links.draw(table, pictures.kinds_of(CABLES), title="Full").axes
    assert 1 < left.get_ylim()[1] < 1.05


def test_aggregation_nodes_are_left_out_of_the_curves() -> None:
    cables = [*pictures.star(2), (("sharp", 1), ("s0", 9))]
    kinds = {"s0": "switch", "h0": "host", "h1": "host", "sharp": "aggregation"}
    figure = _links.draw(links(cables), pictures.nodes(kinds), title="Star")
    (legend,) = figure.subfigs[0].legends
    assert [text.get_text() for text in legend.get_texts()] == ["from hosts (2)", "to hosts (2)"]


def test_thousands_of_channels_are_drawn() -> None:
    cables = pictures.clos(40, 20, 20)
    loads = {(a, b): index / 2000 for index, ((a, _), (b, _)) in enumerate(cables)}
    left, *_ = _links.draw(links(cables, loads), pictures.kinds_of(cables), title="Big").axes
    _, values = curve(left, "between switches")
    assert len(values) == 2 * 40 * 20
    assert values == sorted(values, reverse=True)


def test_no_channels_are_said() -> None:
    figure = _links.draw(links([]), pictures.nodes({"s0": "switch"}), title="Nothing")
    assert "the fabric has no channels" in texts(figure)


def test_a_table_without_the_column_is_refused_with_the_cure() -> None:
    table = links(CABLES).drop_columns(["stopped_share"])
    with raises(InputError, "unknown-column", key="stopped_share"):
        _links.draw(table, pictures.kinds_of(CABLES), title="Old")


def test_lane_buffers_are_shown_where_nobody_is_stopped() -> None:
    table = links(CABLES).drop_columns(["stopped_share"])
    for name, value in (
        ("stopped_share", np.nan),
        ("occupancy_mean_flits", 10.0),
        ("buffer_flits", 40.0),
    ):
        table = table.append_column(name, pa.array([value] * table.num_rows, pa.float64()))
    figure = _links.draw(table, pictures.kinds_of(CABLES), title="Lanes")
    _, right, below = figure.axes
    assert right.get_ylabel() == "fill of lane buffers"
    assert curve(right, "from hosts")[1] == [0.25] * 6
    said = {text.get_text() for text in below.texts}
    assert said == {"filled 25\N{NO-BREAK SPACE}%"}


def test_what_bands_and_bars_mean_is_said_where_there_are_any() -> None:
    said = "Bands and bars: 95 % intervals."
    assert any(said in text.replace("\n", " ") for text in texts(drawn(half_width=0.05)))
    assert not any(said in text for text in texts(drawn()))
