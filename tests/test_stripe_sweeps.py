"""Sweeps of striping scenarios: channels by name, their rows and those of sources, films."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gingham import InputError, kinds, stripe
from gingham.sweeps import Sweep, keys_of, run_sweep
from tests.refusals import raises

PAIR = """
title = "two links"
stop.time = "200 ms"
stripe.order = "strict"
[[channel]]
name = "wire"
rate = "8 Mbit/s"
[[channel]]
name = "air"
rate = "8 Mbit/s"
delay = "5 ms"
"""


def sweep(folder: Path, *axes: dict[str, Any], **more: Any) -> Sweep:
    (folder / "pair.toml").write_text(PAIR)
    return Sweep.make({"base": "pair.toml", "axis": list(axes), **more}, folder=folder)


def test_a_channel_is_varied_by_its_name(tmp_path: Path) -> None:
    rates = {"key": "channel.air.rate", "values": ["4 Mbit/s", "16 Mbit/s"]}
    results = run_sweep(sweep(tmp_path, rates, replications=2), tmp_path / "out")
    rows = results.query(
        "select rate_bits_per_s, channel, c.replication, goodput_bits_per_s, capacity_bits_per_s "
        "from channels c join runs using (point) order by point, channel"
    ).to_pylist()
    assert [row["rate_bits_per_s"] for row in rows] == [4e6, 8e6] * 2 + [16e6, 8e6] * 2
    assert [row["channel"] for row in rows] == ["air", "wire"] * 4
    for row in rows:
        assert row["goodput_bits_per_s"] == pytest.approx(row["capacity_bits_per_s"], rel=0.05)
    assert results.means("packets_sent", table="channels").column_names[:2] == ["rate", "channel"]
    assert results.arrow("sources")["source"].to_pylist() == ["1"] * 4


def test_a_row_says_what_a_run_of_the_same_scenario_measures(tmp_path: Path) -> None:
    made = sweep(tmp_path, set={"channel.air.loss": 0.1, "measure.packets": 1000}, keep=["packets"])
    results = run_sweep(made, tmp_path / "out")
    [row] = results.arrow("runs").to_pylist()
    [point] = made.points()
    scenario = point.scenario()
    assert isinstance(scenario, stripe.StripeScenario)
    summary = stripe.run(scenario).summary
    assert summary["packets_lost"] > 0
    for name in ("packets_lost", "goodput_bits_per_s", "verdict", "recovery_max_ns"):
        assert row[name] == summary[name]
    told = {f"{one['percentile']:g}": one["delay_ns"] for one in summary["percentiles"]}
    assert row["delay_p50_ns"] == told["50"]
    assert results.arrow("packets").num_rows == min(1000, summary["packets_sent"])
    assert results.of_run(row["key"], "packets") == stripe.run(scenario).table("packets")
    with raises(InputError, "file-unreadable"):
        results.of_run(row["key"], "events")


def test_another_film_is_another_run(tmp_path: Path) -> None:
    (tmp_path / "film.txt").write_text("1000\n2000\n")
    film = {"frames": {"file": "film.txt", "interval": "10 ms", "packet": "500 B", "again": True}}
    made = sweep(tmp_path, set={"source.0.kind": film})
    [before] = keys_of(made)
    assert [before] == list(keys_of(made))
    (tmp_path / "film.txt").write_text("1000\n2001\n")
    assert [before] != list(keys_of(made))
    results = run_sweep(made, tmp_path / "out")
    assert results.query("select packets_sent > 0 as sent from runs")["sent"].to_pylist() == [True]


def test_the_kinds_are_told_apart_by_what_they_say(tmp_path: Path) -> None:
    made = sweep(tmp_path)
    assert kinds.kind_of(made.base) is kinds.STRIPE
    assert made.manifest()["kind"] == "stripe"
    with raises(InputError, "unknown-key", key="allow_deadlock"):
        sweep(tmp_path, allow_deadlock=True)
    with raises(InputError, "unknown-name", key="axis.0.key"):
        sweep(tmp_path, {"key": "channel.fire.rate", "values": ["1 Mbit/s"]})
    with raises(InputError, "refused", key="axis.0.name"):
        sweep(tmp_path, {"key": "seed_", "name": "goodput_bits_per_s", "values": [1]})


def test_every_column_of_a_row_is_known_beforehand(tmp_path: Path) -> None:
    results = run_sweep(sweep(tmp_path, set={"channel.air.loss": 0.1}), tmp_path / "out")
    for table in ("runs", *kinds.STRIPE.parts):
        known = {*kinds.RUN_COLUMNS, "key", *kinds.STRIPE.columns(table), "point", "replication"}
        more = set(results.columns[table]) - known
        assert all(name.startswith("delay_p") for name in more), (table, more)
