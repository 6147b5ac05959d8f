"""Numbers as people read them: digits follow from the interval, and exponents are rare."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gingham import _texts
from gingham.cli._run import busiest
from tests import pictures

SOURCES = Path(_texts.__file__).parent
values = st.floats(1e-4, 1e7) | st.floats(-1e7, -1e-4)


def plain(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


@given(values, st.floats(1e-5, 1e3))
def test_an_interval_has_one_or_two_digits_and_its_value_ends_at_their_place(
    mean: float, share: float
) -> None:
    half_width = abs(mean) * share
    text = _texts.with_interval(mean, half_width)
    told, half = map(plain, text.split(" ± "))
    assert "e" not in text
    digits = half.normalize().as_tuple().digits
    assert 1 <= len(digits) <= 2
    place = half.adjusted() - 1
    assert told % Decimal(10) ** place == 0
    # Rounding errors of both are at most half a unit of the last digit.
    unit = float(Decimal(10) ** place)
    assert abs(float(told) - mean) <= 0.5 * unit * (1 + 1e-6)
    assert abs(float(half) - half_width) <= 0.5 * unit * (1 + 1e-6)
    # Value and half-width have the same number of decimals.
    decimals = [part.partition(".")[2] for part in text.split(" ± ")]
    assert len(decimals[0]) == len(decimals[1])


@given(values, st.integers(1, 6))
def test_a_number_has_no_exponent_and_keeps_its_digits(value: float, digits: int) -> None:
    text = _texts.number(value, digits)
    assert "e" not in text
    assert abs(float(plain(text)) - value) <= 0.51 * 10.0 ** (1 - digits) * abs(value)


@given(st.floats(1e-12, 1e-5), st.floats(1e-3, 1.0))
def test_very_small_numbers_share_one_exponent(mean: float, share: float) -> None:
    text = _texts.with_interval(mean, mean * share)
    assert re.fullmatch(r"\([0-9.]+ ± [0-9.]+\)e-[0-9]+", text)


@pytest.mark.parametrize(
    ("share", "half_width", "text"),
    [
        (1.00000004, 3.98e-7, "100 ± 0 %"),
        (0.5, 0.0996, "50 ± 10 %"),
        (0.934512, 0.0042, "93.45 ± 0.42 %"),
        (0.25, None, "25 ± ? %"),
        (-1e-12, 0.0, "0 ± 0 %"),
    ],
)
def test_shares_beyond_their_bounds_by_rounding_are_clipped(
    share: float, half_width: float | None, text: str
) -> None:
    assert _texts.percent_with_interval(share, half_width) == text


@pytest.mark.parametrize(
    ("mean_ns", "half_width_ns", "text"),
    [
        (1563.2, 12.0, "1.563 ± 0.012 us"),
        (999.96, 3.0, "1,000.0 ± 3.0 ns"),
        (56_789.0, None, "56.8 us ± ?"),
        (2.5e9, 1.6e8, "2.50 ± 0.16 s"),
    ],
)
def test_times_are_told_in_one_unit(mean_ns: float, half_width_ns: float | None, text: str) -> None:
    assert _texts.time_with_interval(mean_ns, half_width_ns) == text


def test_the_busiest_among_equals_counts_those_within_both_intervals() -> None:
    shares = [0.50, 0.47, 0.46, 0.10]
    assert _texts.among_equals(shares, [0.02] * 4) == 3
    assert _texts.among_equals(shares, [0.0] * 4) == 1
    assert _texts.among_equals([0.5, 0.5 + 1e-12], [None, None]) == 2
    assert _texts.among_equals([], []) == 0
    assert "16" in _texts.equals_text(16)
    assert _texts.equals_text(1) == ""


def test_no_command_or_picture_formats_significant_digits_by_itself() -> None:
    own = re.compile(r":,?\.[0-9]+[ge]\}")
    found = [
        f"{path.relative_to(SOURCES)}: {line.strip()}"
        for folder in ("cli", "plots")
        for path in sorted((SOURCES / folder).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        # Ticks of axes are round already.
        if own.search(line) and "FuncFormatter" not in line
    ]
    assert found == []


@pytest.mark.parametrize(("half_width", "equals"), [(0.01, 3), (1e-9, 1), (None, 1)])
def test_a_run_says_how_many_channels_equal_the_busiest(
    half_width: float | None, equals: int
) -> None:
    busy = {("s0", "s1"): 1.00000004, ("s1", "s0"): 0.99, ("s2", "s0"): 0.985, ("s0", "s2"): 0.2}
    ends = [(("s0", 1), ("s1", 1)), (("s2", 1), ("s0", 2))]
    summary = {"busiest": [{"channel": "s0[1] -> s1[1]", "utilisation": 1.00000004, "flows": None}]}
    tables = {"links": pictures.links(ends, busy, half_width=half_width)}
    made = cast("Any", pictures.Tables(tables, summary))
    [line] = busiest(made)
    assert "100.0 %" in line
    said = _texts.equals_text(equals)
    assert (said in line) if said else ("equal" not in line)
