"""The study of segmentation: its measures, checked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gingham.studies._series import Series
from gingham_studies.kwan1996 import measures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gingham.studies import Evidence

LOADS = (0.1, 0.2, 0.3, 1.0)
SEGMENTS = (33.0, 80.0, 250.0)
# Throughput of the stream and of the others, which differ by .01 at .2 and by .05 at .3.
CUT = {"stream": (0.1, 0.2, 0.3, 0.6), "others": (0.1, 0.19, 0.25, 0.15)}
WHOLE = {"stream": (0.1, 0.2, 0.25, 0.3), "others": (0.1, 0.2, 0.24, 0.25)}


class Curves:
    """Return evidence of sweeps from given curves, two replications of each."""

    def __init__(self, **curves: dict[str, dict[float, float]]) -> None:
        self.made = {name.replace("_", "-"): one for name, one in curves.items()}

    def series(self, sweep: str, traffic: str, _x: str, y: Any, /, **fixed: Any) -> Series:
        read = y if callable(y) else lambda row: row["accepted_load"]
        found = self.made["-".join([sweep, *map(str, fixed.values())])][traffic]
        return Series(
            {
                place: dict.fromkeys(
                    (0, 1), read({"load": place, "accepted_load": value, "generated_load": place})
                )
                for place, value in found.items()
            }
        )


def evidence(**curves: dict[str, dict[float, float]]) -> Evidence:
    return Curves(**curves)  # type: ignore[return-value]


def throughputs(values: Mapping[str, Sequence[float]]) -> dict[str, dict[float, float]]:
    return {name: dict(zip(LOADS, one, strict=True)) for name, one in values.items()}


def test_hosts_split_where_one_falls_short_of_the_other_by_a_fiftieth_of_a_link() -> None:
    made = evidence(figure_6=throughputs(CUT))
    # From .01 at .2 to .05 at .3.
    assert measures.split(made, "figure-6", "stream", "others").value == pytest.approx(0.225)
    assert measures.peak(made, "figure-6", "others").value == 0.3


def test_throughput_is_held_against_that_without_segmentation() -> None:
    made = evidence(figure_6=throughputs(CUT), figure_6_whole=throughputs(WHOLE))
    assert measures.against_whole(made, "stream", 1.0).value == pytest.approx(100)
    assert measures.against_whole(made, "others", 1.0).value == pytest.approx(-40)


def test_priority_at_the_switches_gains_at_each_segment_by_itself() -> None:
    plain = {"high": dict(zip(SEGMENTS, (9.0, 4.0, 5.0), strict=True))}
    better = {"high": dict(zip(SEGMENTS, (6.0, 4.0, 4.0), strict=True))}
    made = evidence(figure_8_80=plain, figure_13=better)
    gains = [measures.gain_of_switch_priority(made, size).value for size in SEGMENTS]
    assert gains == pytest.approx([50, 0, 25])


def test_curves_that_small_segments_begin_above_cross_at_no_load() -> None:
    small = {"high": {0.05: 2.0, 0.1: 3.0, 0.2: 9.0}}
    made = {"250": {0.05: 1.0, 0.1: 2.0, 0.2: 4.0}, "300": {0.05: 3.0, 0.1: 4.0, 0.2: 5.0}}
    curves = {f"figure_12_{name}": {"high": one} for name, one in made.items()}
    told = evidence(figure_12_33=small, **curves)
    none = measures.crossover(told, "33", "250")
    assert (none.value, none.low, none.high) == (0, 0, 0.05)
    # From -1 at .1 to 4 at .2.
    assert measures.crossover(told, "33", "300").value == pytest.approx(0.12)


def test_routes_of_three_switches_on_the_small_torus() -> None:
    # Each switch has four neighbours and four switches beyond them; each host 3 others on its own
    # switch, 16 on each ring.
    assert measures.share_of_routes(evidence(), 3, 3).value == pytest.approx(100 * 16 / 35)
    assert measures.share_of_routes(evidence(), 3, 4).value == 0
