"""Output of `gingham run` for classes whose flows are counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gingham.cli import _run
from tests.conftest import Finished

Command = Callable[..., Finished]

# Two hosts send at full rate to a third, each with one packet in flight.
SCENARIO = """
topology.generate.star.hosts = 3
network.preset = "myrinet-1280"
stop = { time = "2 ms", warm_up = "200 us" }
[[traffic]]
name = "data"
arrivals = "backlogged"
hosts = ["h0", "h1"]
destinations = { hot-spot = { hosts = ["h2"], share = 1.0 } }
length = { fixed = "256 B" }
"""

COUNTED = {
    "name": "data",
    "fairness": 0.98765,
    "fairness_half_width": 0.0123,
    "held_window": 0.25,
    "held_rate_limit": 0.0,
    "held_tokens": 0.0,
    "acks_waiting_max": 1,
    "packets_marked_share": None,
}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "star.toml"
    file.write_text(SCENARIO)
    return file


def test_flows_with_windows_have_a_line(gingham: Command, scenario: Path) -> None:
    shown = gingham("run", scenario, "--set", "traffic.0.window.packets=1").out
    lines = shown.splitlines()
    (begin,) = (place for place, line in enumerate(lines) if line.startswith("flows of data: "))
    told = " ".join(line.strip() for line in lines[begin : begin + 2])
    assert "index of fairness 0.99" in told or "index of fairness 1.0" in told
    assert " % of the time; at most " in told
    assert max(map(len, lines)) <= 100
    assert "the class sent all that its window and the network took, and every mean" in shown


def test_flows_that_are_not_counted_have_none(gingham: Command, scenario: Path) -> None:
    shown = gingham("run", scenario).out
    assert "flows of" not in shown
    assert "the class sent all that the network took, and every mean has its interval" in shown
    assert "flows of data: index" in gingham("run", scenario, "--set", "measure.flows=true").out


def test_only_what_happened_is_told() -> None:
    (sharing,) = _run.flows([COUNTED])
    told = "flows of data: index of fairness 0.988 ± 0.012; held back by windows 25.0 % of the time"
    assert sharing == f"{told}; at most 1 acknowledgement waiting at a host"
    unknown = {"fairness": None, "held_window": 0.0, "acks_waiting_max": 0}
    assert list(_run.flows([COUNTED | unknown])) == ["flows of data: none was used"]
    assert list(_run.flows([COUNTED | {"held_window": None}])) == []
    changed = unknown | {"held_rate_limit": 0.5, "held_tokens": 0.125, "packets_marked_share": 0.03}
    (line,) = _run.flows([COUNTED | changed])
    assert line == (
        "flows of data: held back by rate limit 50.0 %, by tokens 12.5 % of the time; "
        "3.0 % of packets marked"
    )
