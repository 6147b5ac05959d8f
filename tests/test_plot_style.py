"""Common properties of all pictures: names that fit, units, percentages, colours."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from gingham.plots import _style as style
from tests.pictures import luminance


def test_names_lose_what_all_share_at_the_borders_of_words() -> None:
    names = [
        "MF0;A09-LEAF-01:MQM9701/U1",
        "MF0;A09-LEAF-02:MQM9701/U1",
        "MF0;B10-SPINE-1:MQM9701/U1",
    ]
    assert list(style.short_names(names).values()) == ["A09-LEAF-01", "A09-LEAF-02", "B10-SPINE-1"]


@pytest.mark.parametrize("names", [["s0", "s1", "s12"], ["s0-0", "s0-1"], ["alone-in-the-world"]])
def test_short_names_stay_as_they_are(names: list[str]) -> None:
    assert style.short_names(names) == {name: name for name in names}


def test_the_middle_of_a_long_name_is_left_out() -> None:
    assert style.clipped("abcdefghijklmnop", 10) == "abc…klmnop"
    assert style.clipped("abcdefghij", 10) == "abcdefghij"


@given(st.lists(st.text(alphabet="ab-1", min_size=1, max_size=40), unique=True, max_size=8))
def test_short_names_stay_apart(names: list[str]) -> None:
    short = style.short_names(names)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    assert all(short.values())


def test_names_that_would_be_clipped_to_the_same_are_clipped_less() -> None:
    names = ["aaaaaaaaxbbbbbbb", "aaaaaaaaybbbbbbb"]
    assert list(style.short_names(names, 10).values()) == ["aaaa…xbbbbbbb", "aaaa…ybbbbbbb"]


def test_natural_order_counts_numbers() -> None:
    names = ["leaf10", "leaf9", "a1-10", "a1-9"]
    assert sorted(names, key=style.natural) == ["a1-9", "a1-10", "leaf9", "leaf10"]


@pytest.mark.parametrize(
    ("largest_ps", "unit"),
    [(0.0, "ps"), (1_999.0, "ps"), (2_000.0, "ns"), (5e6, "µs"), (3e12, "s")],
)
def test_a_unit_is_as_large_as_fits(largest_ps: float, unit: str) -> None:
    assert style.unit_for(largest_ps)[0] == unit


@pytest.mark.parametrize(
    ("value", "ceiling"),
    [(0.0, 1.0), (1e-9, 1e-6), (0.05, 0.05), (0.051, 0.1), (0.27, 0.5), (0.7, 1.0), (3, 1)],
)
def test_a_scale_ends_at_a_round_number(value: float, ceiling: float) -> None:
    assert style.nice_ceiling(value) == pytest.approx(ceiling)


def test_loads_get_darker_all_the_way() -> None:
    shades = [luminance(colour) for colour in style.LOAD_COLOURS(np.linspace(0, 1, 32))]
    assert all(np.diff(shades) < 0)
    # All are darker than the colour of idle channels.
    assert max(luminance(to_rgb(style.IDLE)), 0.8) > shades[1]


def test_the_settings_of_the_user_are_left_alone_and_change_nothing() -> None:
    seen = style.styled(lambda: (mpl.rcParams["font.size"], mpl.rcParams["text.parse_math"]))
    with mpl.rc_context({"font.size": 30}):
        assert seen() == (9.0, False)
        assert mpl.rcParams["font.size"] == 30


def test_a_long_title_is_broken_and_cut_before_it_leaves_the_paper() -> None:
    figure = style.new_figure(6, 3, "word " * 60, "")
    titles = [text.get_text() for text in figure.texts]
    assert len(titles) == 2
    assert titles[1].endswith("[...]")
    assert all(len(title) * style.TITLE_CHARACTER < 6 * 72 for title in titles)


@pytest.mark.parametrize(
    ("values", "lone"),
    [
        ([5.0], [0]),
        ([5.0, 6.0], []),
        ([5.0, np.nan, 6.0, 7.0, np.nan, 8.0], [0, 5]),
        ([np.nan, 5.0, np.nan], [1]),
        ([np.nan], []),
        ([], []),
    ],
)
def test_points_without_neighbours_have_a_mark(values: list[float], lone: list[int]) -> None:
    axes = style.new_figure(3, 3, "Points").subplots()
    style.course(axes, np.arange(float(len(values))), np.array(values), color="black")
    (line,) = axes.lines
    assert line.get_markevery() == lone
    assert (line.get_marker() == "o") == bool(lone)
