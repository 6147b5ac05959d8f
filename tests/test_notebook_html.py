"""What notebooks show: counts, a verdict, a table, a small picture, and nothing unescaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import gingham
from gingham import fabrics, stripe, sweeps
from gingham._html import flat
from gingham._texts import half_width_of


class Reader(HTMLParser):
    """Reads tags and texts, and insists that every element ends."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.pictures = 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            values = dict(attrs)
            assert (values["src"] or "").startswith("data:image/png;base64,iVBOR")
            assert values["alt"]
            self.pictures += 1
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells.append(data)

    @property
    def text(self) -> str:
        return " | ".join(self.cells)


def test_a_fabric_shows_its_counts_and_a_picture() -> None:
    shown = Reader(fabrics.torus(dimensions=[4, 4], hosts_per_switch=2)._repr_html_())
    assert "16 switches, 32 hosts" in shown.text
    # A torus of 4 x 4 has 32 cables between switches, and two in each dimension to the farthest.
    assert "cables | 64, 32 between switches" in shown.text
    assert "4 channels between switches" in shown.text
    assert shown.pictures == 1


def test_a_large_fabric_is_not_drawn_unasked() -> None:
    large = Reader(fabrics.star(hosts=1000)._repr_html_())
    assert large.pictures == 0
    assert "gingham.plots.fabric(fabric) draws it" in large.text


def test_a_fabric_with_a_bad_file_says_so(tmp_path: Path) -> None:
    Path(tmp_path / "x.toml").write_text(
        '[[switch]]\nname = "<b>s</b>"\nports = 4\n[[host]]\nname = "h0"\n'
        '[[cable]]\nends = ["<b>s</b>[1]", "h0[1]"]\n'
    )
    text = gingham.Fabric.load(tmp_path / "x.toml")._repr_html_()
    assert "1 switch, 1 host" in Reader(text).text
    assert "<b>" not in text


def test_routes_say_whether_they_can_deadlock() -> None:
    ring = fabrics.ring(switches=5)
    safe, cyclic = (Reader(ring.route(name)._repr_html_()) for name in ("up-down", "shortest-path"))
    assert "Free of deadlock." in safe.text
    assert "Can deadlock, by a cycle of 5 channels: " in cyclic.text
    assert "20 pairs of hosts" in cyclic.text
    # Five neighbours each way, and five at a distance of two, each way.
    assert "1.500 channels between switches, at most 2" in cyclic.text
    assert cyclic.pictures == 1


def test_a_scenario_shows_the_keys_that_say_something() -> None:
    shown = Reader(gingham.Scenario.example("cluster")._repr_html_())
    assert "topology.file | cluster-ndr.ibnetdiscover" in shown.text
    assert "traffic.0.load | 0.4" in shown.text
    assert "None" not in shown.cells
    assert list(flat({"a": {"b": [{"c": 1}, {"c": None}]}, "d": []})) == [("a.b.0.c", "1")]


def test_a_result_shows_its_verdict_its_classes_and_its_picture() -> None:
    result = gingham.run(gingham.Scenario.example("torus").with_({"stop.time": "100 us"}))
    shown = Reader(result._repr_html_())
    assert f"{result.verdict}: " in shown.text
    assert "uniform | 0.1 | " in shown.text
    assert shown.pictures == 1
    striped = stripe.run(stripe.StripeScenario.example("stripe").with_({"stop.time": "1 s"}))
    shown = Reader(striped._repr_html_())
    assert {"channel", "rate (Mbit/s)", "source", "mean delay"} <= set(shown.cells)


def test_a_sweep_shows_its_verdicts_and_means(tmp_path: Path) -> None:
    values = {
        "title": "Two loads",
        "base": "torus",
        "replications": 2,
        "set": {"stop.time": "50 us"},
        "axis": [{"key": "traffic.0.load", "values": [0.05, 0.1]}],
    }
    results = sweeps.run_sweep(sweeps.Sweep.make(values), tmp_path / "out")
    shown = Reader(results._repr_html_())
    assert re.search(r"4 runs: 4 \S+", shown.text)
    assert {"load", "latency_mean_ns", "0.05", "0.1"} <= set(shown.cells)
    assert shown.pictures == 1


@pytest.mark.parametrize(
    ("key", "half"),
    [
        ("latency_mean_ns", "latency_half_width_ns"),
        ("goodput_bits_per_s", "goodput_half_width_bits_per_s"),
        ("accepted_load", "accepted_load_half_width"),
    ],
)
def test_a_half_width_has_the_unit_of_its_number(key: str, half: str) -> None:
    assert half_width_of(key) == half
