"""Output of `gingham run` for policed classes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Finished

Command = Callable[..., Finished]

# Three messages of 60 B at time 0, and a bucket of 100 B, with tokens for one of them.
SCENARIO = """
topology.generate.star.hosts = 2
network.preset = "myrinet-1280"
stop = { time = "100 us", warm_up = "0 s" }
[[traffic]]
name = "urgent"
arrivals = { schedule = "three.csv" }
policing = { rate = 0.1, burst = "100 B" }
"""
THREE = "created_ps,source,destination,payload_bytes\n" + 3 * "0,h0,h1,60\n"


def scenario(folder: Path) -> Path:
    (folder / "three.csv").write_text(THREE)
    file = folder / "three.toml"
    file.write_text(SCENARIO)
    return file


def test_the_command_says_what_policing_did(gingham: Command, tmp_path: Path) -> None:
    file = scenario(tmp_path)
    assert "policing of urgent: of 3 messages 2 delayed\n" in gingham("run", file).out
    excess = "traffic.0.policing.excess=drop"
    assert (
        "policing of urgent: of 3 messages 2 dropped\n" in gingham("run", file, "--set", excess).out
    )
    unlimited = gingham("run", file, "--set", "traffic.0.policing.burst=1 KiB").out
    assert "policing of" not in unlimited


def test_the_summary_counts_it(gingham: Command, tmp_path: Path) -> None:
    shown = gingham("run", scenario(tmp_path), "--json", "--set", "traffic.0.policing.excess=drop")
    row = json.loads(shown.out)["classes"][0]
    counted = [row[f"messages_{of}"] for of in ("created", "followed", "dropped", "censored")]
    assert counted == [3, 1, 2, 0]
