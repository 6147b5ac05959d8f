"""The utilisation of channels over time: a row per channel, a column per step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

import gingham
from gingham import InputError, plots
from gingham.plots import _heat
from tests.pictures import Tables, table, texts
from tests.refusals import raises

STEP_PS = 1_000_000


def series(uses: dict[tuple[str, str], list[float]]) -> pa.Table:
    rows = [
        (start, 1, end, 2, step * STEP_PS, (step + 1) * STEP_PS, value, value)
        for (start, end), values in uses.items()
        for step, value in enumerate(values)
    ]
    columns = {"from": str, "from_port": int, "to": str, "to_port": int, "from_ps": int}
    return table(
        rows, {**columns, "to_ps": int, "utilisation": float, "utilisation_smoothed": float}
    )


def drawn(uses: dict[tuple[str, str], list[float]], warm_up: int = 0, end: int = 0) -> Figure:
    summary = {"warm_up_ps": warm_up, "window_end_ps": end}
    return _heat.draw(series(uses), summary, title="Heat")


def heat(figure: Figure) -> AxesImage:
    [found] = [one for one in figure.axes[0].images if one.get_gid() == "heat"]
    return found


def test_the_busiest_channel_comes_first_and_idle_steps_are_grey() -> None:
    figure = drawn({("a", "b"): [0.1, 0.0, 0.2], ("b", "c"): [0.4, 0.4, 0.0]}, warm_up=STEP_PS)
    shown = heat(figure).get_array()
    assert isinstance(shown, np.ma.MaskedArray)
    assert shown.filled(-1).tolist() == [[0.4, 0.4, -1], [0.1, -1, 0.2]]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["b[1] → c[2]", "a[1] → b[2]"]
    written = texts(figure)
    assert "warm-up ends" in written
    assert "window ends" not in written
    [said] = [one for one in written if one.startswith("2 channels")]
    assert "Busiest: b[1] → c[2], 26.7" in said
    # The scale ends at the next of 1, 2, 5 above the busiest step.
    assert heat(figure).get_clim() == (0, 0.5)


def test_many_steps_are_joined_by_their_means() -> None:
    values = np.array([[1.0, 3.0] * 500 + [5.0]])
    joined = _heat.joined(values)
    # 1,001 steps in threes: 1 3 1, 3 1 3, ..., and two at the end.
    assert joined.shape == (1, 334)
    assert joined[0, :2].tolist() == pytest.approx([5 / 3, 7 / 3])
    assert joined[0, -1] == pytest.approx(4)
    assert _heat.joined(np.array([[1.0, np.nan]])).tolist() == [[1.0, 0.0]]


def test_of_very_many_channels_the_busiest_are_drawn_without_names() -> None:
    uses = {(f"s{index}", "x"): [index / 1000] for index in range(_heat.ROWS_MAX + 5)}
    figure = drawn(uses)
    shown = heat(figure).get_array()
    assert shown is not None
    assert shown.shape == (_heat.ROWS_MAX, 1)
    assert shown[0, 0] == pytest.approx((_heat.ROWS_MAX + 4) / 1000)
    assert "channels, the busiest first" in texts(figure)
    assert any("The 300 busiest are drawn." in one for one in texts(figure))


def test_nothing_that_was_followed_is_said_in_place_of_a_picture() -> None:
    assert "no channel was followed" in texts(drawn({}))
    with raises(InputError, "no-data", key="link_series"):
        plots.require_rows("heat", Tables({"link_series": series({})}))


def test_a_run_that_follows_every_channel_has_the_picture(tmp_path: Path) -> None:
    follow = {"links": ["*"], "step": "2 us"}
    scenario = gingham.Scenario.example("torus").with_({"stop.time": "50 us"})
    result = gingham.run(scenario.with_({"measure.follow": follow}))
    # 64 cables, two channels each, in 25 steps.
    assert result.table("link_series").num_rows == 128 * 25
    assert "heat" in plots.usual(result)
    assert "heat" not in plots.usual(gingham.run(scenario))
    shown = heat(plots.heat(result)).get_array()
    assert shown is not None
    assert shown.shape == (128, 25)
    # Without warm-up, the mean over time equals the utilisation in the table of channels.
    whole = scenario.with_({"measure.follow": follow, "stop.warm_up": "0 s"})
    again = gingham.run(whole)
    [busiest] = again.links.sort_by([("utilisation", "descending")]).slice(0, 1).to_pylist()
    rows = heat(plots.heat(again)).get_array()
    assert isinstance(rows, np.ma.MaskedArray)
    assert rows.filled(0).mean(axis=1)[0] == pytest.approx(busiest["utilisation"], rel=1e-6)
    plots.save(plots.heat(result), tmp_path / "heat.png")
