"""The picture of followed flows and channels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes

from gingham import plots
from gingham.errors import InputError
from gingham.plots import _followed
from tests import pictures
from tests.refusals import raises

US = 1_000_000
SUMMARY = {"warm_up_ps": 1 * US, "window_end_ps": 3 * US, "end_ps": 4 * US}
HOLDS = ("held_window", "held_rate_limit", "held_tokens")


def steps(rows: int) -> dict[str, Any]:
    return {
        "from_ps": [step % 2 * US for step in range(rows)],
        "to_ps": [(step % 2 + 1) * US for step in range(rows)],
    }


def flows(rows: int = 4) -> pa.Table:
    """Two flows with two steps each; the second flow is held back by its rate limit."""
    held = {name: [0.0] * rows for name in HOLDS} | {
        "held_rate_limit": [0.0, 0.0, 0.5, 0.25][:rows]
    }
    columns = {
        "class": ["data"] * rows,
        "source": ["h0", "h0", "h1", "h1"][:rows],
        "destination": ["h2"] * rows,
        **steps(rows),
        "accepted_bytes_per_s": [1e6, 3e6, 5e6, 7e6][:rows],
        "accepted_bytes_per_s_smoothed": [2e6, 2e6, 6e6, 6e6][:rows],
        **held,
        **{f"{name}_smoothed": values for name, values in held.items()},
    }
    return pa.table(columns)


def links(rows: int = 2) -> pa.Table:
    columns = {
        "from": ["s0"] * rows,
        "from_port": [1] * rows,
        "to": ["h2"] * rows,
        "to_port": [2] * rows,
        **steps(rows),
        "utilisation": [0.25, 0.75][:rows],
        "utilisation_smoothed": [0.5, 0.5][:rows],
    }
    return pa.table(columns)


def lines(axes: Axes) -> dict[str, list[float]]:
    named = {str(line.get_gid()): line for line in axes.lines if line.get_gid() is not None}
    return {name: np.asarray(line.get_ydata()).tolist() for name, line in named.items()}


def shown(axes: Axes) -> list[str]:
    """Return the texts of the legend."""
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_lines_are_the_columns_of_each_flow_and_channel() -> None:
    figure = _followed.draw(flows(), links(), SUMMARY, title="A run")
    delivered, held, utilisation = figure.axes
    one, other = "data: h0 → h2", "data: h1 → h2"
    assert lines(delivered) == {
        f"{one} by step": [1.0, 3.0],
        one: [2.0, 2.0],
        f"{other} by step": [5.0, 7.0],
        other: [6.0, 6.0],
    }
    assert np.asarray(delivered.lines[0].get_xdata()).tolist() == [0.5, 1.5], "microseconds"
    # A reason that held back neither flow has no line.
    assert lines(held) == {
        f"{one} held_rate_limit": [0.0, 0.0],
        f"{other} held_rate_limit": [0.5, 0.25],
    }
    link = "s0[1] → h2[2]"
    assert lines(utilisation) == {f"{link} by step": [0.25, 0.75], link: [0.5, 0.5]}
    for axes in figure.axes:
        assert {patch.get_gid() for patch in axes.patches} == {"warm-up", "after the window"}


def test_flows_that_nothing_held_back_have_lines_at_nothing_above_the_axis() -> None:
    _, held = _followed.draw(flows(2), links(0), SUMMARY, title="A run").axes
    assert lines(held) == {f"data: h0 → h2 {hold}": [0.0, 0.0] for hold in HOLDS}
    assert held.get_ylim()[0] < 0


def test_a_single_step_is_a_point() -> None:
    one_step = flows().take([2]), links().take([0])
    for axes in _followed.draw(*one_step, SUMMARY, title="A run").axes:
        drawn = [line for line in axes.lines if line.get_gid() is not None]
        assert drawn
        assert all(line.get_marker() == "o" and line.get_markevery() == [0] for line in drawn)


def test_ends_with_long_names_stay_apart_in_the_legend() -> None:
    hosts = [
        "MF0;site-with-a-name:host-0002c9030004829c",
        "MF0;site-with-a-name:host-0002c903000482a0",
    ]
    to = "MF0;site-with-a-name:host-0002c9030004829d"
    table = flows().set_column(1, "source", [[name for name in hosts for _ in range(2)]])
    table = table.set_column(2, "destination", [[to] * 4])
    links_of_it = links().set_column(2, "to", [[to] * 2])
    *_, utilisation = _followed.draw(table, links_of_it, SUMMARY, title="A run").axes
    delivered = utilisation.figure.axes[0]
    said = "data: {}\n→ 0002c9030004829d"
    assert shown(delivered) == [said.format("0002c9030004829c"), said.format("0002c903000482a0")]
    assert shown(utilisation) == ["s0[1]\n→ MF0;sit…c9030004829d[2]"]


def test_only_what_was_followed_has_panels() -> None:
    assert len(_followed.draw(flows(), links(0), SUMMARY, title="A run").axes) == 2
    assert len(_followed.draw(flows(0), links(), SUMMARY, title="A run").axes) == 1
    figure = _followed.draw(flows(0), links(0), SUMMARY, title="A run")
    assert any("no flow or channel was followed" in text for text in pictures.texts(figure))


def test_more_than_there_are_colours_for_is_said() -> None:
    steps = pa.concat_tables(
        [links().set_column(1, "from_port", [[port] * 2]) for port in range(9)]
    )
    figure = _followed.draw(flows(0), steps, SUMMARY, title="A run")
    assert any("The first 8 flows and channels." in text for text in pictures.texts(figure))
    assert len(lines(figure.axes[0])) == 16


def test_either_table_is_enough_and_without_both_the_reason_is_said() -> None:
    result = pictures.Tables({"flow_series": flows(0), "link_series": links()}, SUMMARY)
    plots.require_rows("followed", result)
    assert len(plots.draw("followed", result).axes) == 1
    assert "followed" not in plots.usual(result), "the scenario names nothing to follow"
    empty = pictures.Tables({"flow_series": flows(0), "link_series": links(0)}, SUMMARY)
    with raises(InputError, "no-data", key="flow_series"):
        plots.require_rows("followed", empty)
