"""`gingham run`: the load bound, the least served endpoints, the busiest channels, and routes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Finished

Command = Callable[..., Finished]

INCAST = """\
[topology.generate.star]
hosts = 5

[network]
preset = "infiniband-ndr"

[[traffic]]
name = "incast"
hosts = ["h1", "h2", "h3", "h4"]
destinations = { host = "h0" }
load = 0.255
length = { fixed = "4096 B" }

[stop]
time = "100 us"
"""


RING = """\
[topology.generate.ring]
switches = 5
hosts_per_switch = 2

[routing]
algorithm = "shortest-path"
"""


@pytest.fixture
def incast(tmp_path: Path) -> Path:
    file = tmp_path / "incast.toml"
    file.write_text(INCAST)
    return file


def test_a_load_above_the_bound_is_told_once_and_saturated(gingham: Command, incast: Path) -> None:
    finished = gingham("run", incast.name)
    assert finished.code == 0, finished.err
    assert finished.err.count("load-above-bound: traffic.0.load = 0.255") == 1
    lines = finished.out.splitlines()
    assert "verdict: saturated" in lines
    assert any(line.startswith("busy: s0[") for line in lines), lines
    assert any(line.startswith("bound of incast: load 0.2") for line in lines), lines
    assert any(line.startswith("least served of incast: ") for line in lines), lines


def test_programs_get_the_bound_and_the_busiest_channels(gingham: Command, incast: Path) -> None:
    finished = gingham("run", incast.name, "--set", "traffic.0.load=0.1", "--json")
    assert "load-above-bound" not in finished.err
    found = json.loads(finished.out)
    one = found["classes"][0]
    # Four flows of a load of 0.1, with 4,096 B of payload in each packet, and its headers.
    wire = one["accepted_wire_bytes_per_s"] / one["accepted_bytes_per_s"]
    assert one["bound_load"] == pytest.approx(0.25 / wire)
    assert (one["bound_host"], one["bound_flows"]) == ("h0", 4)
    busiest = found["busiest"]
    assert [len(busiest), busiest[0]["flows"]] == [3, 4]
    assert busiest[0]["examples"] == ["h1 -> h0", "h2 -> h0", "h3 -> h0"]
    assert busiest[0]["expected_share"] == pytest.approx(0.4 * wire)
    assert one["least_served_load"] <= one["accepted_load"]


def test_a_dump_says_whose_routes_it_runs_on(gingham: Command, tmp_path: Path) -> None:
    made = gingham("fabric", "make", "star", "--hosts", 4, "-o", "star.ibnetdiscover")
    assert made.code == 0, made.err
    text = INCAST.replace(
        "[topology.generate.star]\nhosts = 5", "[topology]\nfile = 'star.ibnetdiscover'"
    )
    (tmp_path / "dump.toml").write_text(text.replace(', "h4"', ""))
    finished = gingham("run", "dump.toml", "--set", "traffic.0.load=0.1")
    assert finished.code == 0, finished.err
    assert "routing.tables" in finished.err
    assert "gingham's up-down routes" in " ".join(finished.out.split())
    chosen = gingham("run", "dump.toml", "--set", "routing.algorithm=up-down")
    assert "routing.tables" not in chosen.err


def test_the_title_of_routes_that_can_deadlock_says_so(gingham: Command, incast: Path) -> None:
    changes = {
        "[topology.generate.star]\nhosts = 5": RING,
        'hosts = ["h1", "h2", "h3", "h4"]\ndestinations = { host = "h0" }\n': "",
        "0.255": "0.01",
        "infiniband-ndr": "myrinet-1280",
        "4096 B": "64 B",
    }
    text = INCAST
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    incast.write_text(text)
    finished = gingham("run", incast.name, "--allow-deadlock", "--json")
    assert finished.code == 0, finished.err
    found = json.loads(finished.out)
    assert not found["deadlock_free"]
    assert found["about"]["routes"].endswith(", which can deadlock")
    told = gingham("run", incast.name, "--allow-deadlock")
    assert "which can deadlock" in " ".join(told.out.split())
