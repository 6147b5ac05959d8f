"""BookSim2 beside `booksim-iq` at a load of 1: the quick rows of docs/how-to/booksim.md.

BookSim2 28f43299, one seed, with its default delays. Hosts offer more than the network accepts, so
a row compares saturated networks. The band of each row was fixed before the comparison: 2 % plus
the 95 % interval of the seeds here. A control for sensitivity: with the delays of the preset the
8x8 mesh of two lanes carries half as much again under tornado.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import gingham
from gingham.results import interval

BENCH = Path(__file__).parent.parent / "benches" / "booksim.py"
PAGE = BENCH.parent.parent / "docs" / "how-to" / "booksim.md"
BAND = 0.02
CYCLES, SEEDS = 4_000, (1, 2, 3)


@pytest.fixture(scope="module")
def bench() -> dict[str, Any]:
    """Return the namespace of the script that makes the whole table."""
    return runpy.run_path(str(BENCH))


# Rows by their index in the table: uniform with 20 flits on one lane, tornado, bit-complement;
# tornado on a torus.
@pytest.mark.parametrize("row", [0, 5, 6, 8])
def test_saturated_networks_accept_what_booksim_does(bench: dict[str, Any], row: int) -> None:
    asked = bench["ROWS"][row]
    found = interval([bench["accepted"](asked, CYCLES, seed) for seed in SEEDS])
    assert found.half_width is not None
    allowed = BAND * asked.theirs + found.half_width
    assert abs(found.mean - asked.theirs) <= allowed, (asked.name(), found)


def test_other_delays_are_no_match(bench: dict[str, Any]) -> None:
    asked = bench["ROWS"][5]
    assert asked.destinations == "tornado"
    found = bench["accepted"](asked, CYCLES, 1, bench["preset_delays"](asked))
    assert found > 1.3 * asked.theirs


def test_the_page_has_the_rows_of_the_script(bench: dict[str, Any]) -> None:
    page = PAGE.read_text()
    for row in bench["ROWS"]:
        assert f"| {row.name()} | {bench['short'](row.theirs)} |" in page, row.name()


def test_the_page_has_the_settings_of_mesh88_lat() -> None:
    """Settings of `src/examples/mesh88_lat` of BookSim2 since its copyright of 2012."""
    found = re.search(r"```toml\n(# mesh88.toml\n.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    resolved = gingham.Scenario.parse(found[1]).resolved()
    lanes, traffic = resolved["network"]["lanes"], resolved["traffic"][0]
    assert resolved["topology"]["generate"]["mesh"]["dimensions"] == [8, 8]
    assert (lanes["count"], lanes["depth"]) == (8, 8)
    # BookSim2's credit_delay = 2 is in addition to the one cycle of the credit channel.
    assert (lanes["credit_delay"], lanes["input_speedup"]) == (3, 2)
    # The preset has its routing_delay = 0.
    assert (resolved["network"]["preset"], lanes.get("routing_cycles")) == ("booksim-iq", None)
    assert lanes["reallocation"] == "tail-credit"
    assert traffic["destinations"] == "transpose"
    packets_per_cycle, flits, flit_bytes = 0.005, 20, 16
    assert traffic["load"] == packets_per_cycle * flits
    assert traffic["length"] == {"fixed": f"{flits * flit_bytes} B"}
