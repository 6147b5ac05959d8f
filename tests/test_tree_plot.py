"""The picture of congestion trees: a colour per role of channels, a line per inspection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from gingham import plots
from gingham.errors import InputError
from gingham.plots import _tree
from tests import pictures
from tests.pictures import Ends, lines, links, texts
from tests.refusals import raises

# A1 and A2 at A, BC at B.
CABLES: list[Ends] = [
    (("A", 1), ("A1", 1)),
    (("A", 2), ("A2", 1)),
    (("A", 3), ("B", 1)),
    (("B", 2), ("BC", 1)),
]
KINDS = {"A": "switch", "B": "switch", "A1": "host", "A2": "host", "BC": "host"}
TOTALS = {"samples": 4, "samples_with_trees": 3, "trees": 2, "step_ps": 10, "last_ps": 35}
SUMMARY: dict[str, Any] = {"congestion": TOTALS, "end_ps": 40}


def roles() -> pa.Table:
    """Return roles: A1 -> A and A -> B are branches, the former a leaf; B -> BC is a root."""
    rows = [
        ("A1", 1, "A", 1, 0.0, 0.5, 0.5),
        ("A", 3, "B", 1, 0.25, 0.75, 0.25),
        ("B", 2, "BC", 1, 0.75, 0.0, 0.0),
    ]
    names = ["from", "from_port", "to", "to_port", "root_share", "branch_share", "leaf_share"]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def series(rows: list[tuple[int, str, int]]) -> pa.Table:
    """Return the time series of trees: time, root and number of branches."""
    table = pa.table(
        {
            "time_ps": pa.array([time for time, _, _ in rows], pa.int64()),
            "root": pa.array([root for _, root, _ in rows], pa.string()),
            "branches": pa.array([branches for _, _, branches in rows], pa.int64()),
        }
    )
    for name in ("depth", "hosts", "feeding", "victims"):
        table = table.append_column(name, pa.array([2] * len(rows), pa.int64()))
    return table


SERIES = [(10, "B[2] -> BC[1]", 2), (20, "B[2] -> BC[1]", 3), (35, "A[3] -> B[1]", 1)]


def drawn(rows: list[tuple[int, str, int]] | None = None) -> Figure:
    tables = links(CABLES), pictures.nodes(KINDS), roles(), series(SERIES if rows is None else rows)
    return _tree.draw(*tables, SUMMARY, title="Trees")


def test_a_channel_has_the_colour_of_what_it_was_more_often() -> None:
    axes = drawn().axes[0]
    # Two branches and one root; the other five of eight half-cables are idle.
    counts = {name: len(lines(axes, name).get_segments()) for name in ("branch", "root", "idle")}
    assert counts == {"branch": 2, "root": 1, "idle": 5}
    # The core of A1 -> A is half as long as its half, that of A -> B a quarter.
    first, second = (len_of(path) for path in lines(axes, "branch").get_segments())
    cores = sorted(len_of(path) for path in lines(axes, "stopped").get_segments())
    either = sorted([0.5 * first, 0.25 * second]), sorted([0.25 * first, 0.5 * second])
    assert any(np.allclose(cores, expected) for expected in either)


def len_of(path: np.ndarray) -> float:
    return float(np.hypot(*np.diff(path, axis=0).T).sum())


def test_roots_have_edges_that_a_photocopy_keeps() -> None:
    axes = drawn().axes[0]
    root, edges = (lines(axes, name) for name in ("root", "edges"))
    assert np.array_equal(root.get_segments()[0], edges.get_segments()[0])
    widths = [np.asarray(of.get_linewidth())[0] for of in (edges, root)]
    assert widths[0] >= widths[1] + 1.5
    assert edges.get_zorder() < root.get_zorder()


def test_a_root_has_a_line_over_all_samples() -> None:
    strip = drawn().axes[-1]
    courses = {line.get_gid(): line for line in strip.lines}
    course = courses["B[2] -> BC[1]"]
    # At 30 no tree was found; the last step was cut short.
    assert np.asarray(course.get_xdata()).tolist() == [10, 20, 30, 35]
    assert np.asarray(course.get_ydata()).tolist() == [2, 3, 0, 0]
    assert np.asarray(courses["A[3] -> B[1]"].get_ydata()).tolist() == [0, 0, 0, 1]


def test_knots_of_a_sample_are_one_line_and_beyond_six_roots_there_are_others() -> None:
    knots = [(10, "knot", 2), (10, "knot", 3)]
    many = knots + [(20, f"s{number}[1] -> s9[1]", number + 1) for number in range(8)]
    strip = drawn(many).axes[-1]
    courses = {line.get_gid(): np.asarray(line.get_ydata()).tolist() for line in strip.lines}
    assert len(courses) == 7
    assert courses["knot"] == [5, 0, 0, 0]
    assert courses["others"] == [0, 3, 0, 0]
    legend = strip.get_legend()
    assert legend is not None
    assert legend.get_texts()[-1].get_text() == "the greatest of 3 others"


def test_the_headline_says_what_was_greatest() -> None:
    said = " ".join(texts(drawn()))
    assert "Trees at 3 of 4 samples, 2 in all." in said
    assert "3 branches up to 2 deep" in said


def test_without_trees_the_reason_is_said() -> None:
    assert any("no congestion tree was found" in text for text in texts(drawn([])))


def test_a_run_that_did_not_look_is_told_how_to() -> None:
    result = pictures.Tables({"tree_series": series([])}, {})
    with raises(InputError, "no-data", key="measure.congestion.step"):
        plots.require_rows("tree", result)
    assert "tree" not in plots.usual(result)
