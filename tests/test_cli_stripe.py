"""`gingham stripe`: table, comparison, pictures, run folder, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Finished
from tests.refusals import require_error

Command = Callable[..., Finished]

SHORT = ["--set", 'stop.time="200 ms"']


def test_people_read_channels_goodput_and_order(gingham: Command) -> None:
    done = gingham("stripe", "stripe", *SHORT, "--alone")
    assert done.code == 0
    for words in ("10 and 20 Mbit/s make 30", "order", "exact", "alone", "verdict: ok"):
        assert words in done.out
    assert "quantum" not in done.out
    assert "quantum" in gingham("stripe", "stripe", *SHORT, "--set", "stripe.order=strict").out


def test_programs_read_json_and_the_folder(gingham: Command, tmp_path: Path) -> None:
    done = gingham("stripe", "stripe", *SHORT, "--seed", "7", "-o", "run", "--alone", "--json")
    assert done.code == 0
    printed = json.loads(done.out)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["kind"] == "stripe"
    assert manifest["scenario"]["seed"] == 7
    assert manifest["summary"]["goodput_bits_per_s"] == printed["goodput_bits_per_s"]
    assert printed["alone"]["sum_bits_per_s"] == sum(printed["alone"]["goodput_bits_per_s"])
    assert printed["written"] == ["run"]
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"channels.parquet", "pipe.parquet"} <= names
    assert "channels.png" not in names, "pictures are drawn where they are asked for"
    shown = gingham("stripe", "stripe", *SHORT, "-o", "again").out.splitlines()
    assert shown[-2:] == ["written: again", "to draw it: gingham plot again"]


def test_pictures_are_written_and_not_replaced_unasked(gingham: Command, tmp_path: Path) -> None:
    asked = ["stripe", "stripe-rounds", "--plot", "plot.svg", "--draw", "draw.png"]
    assert gingham(*asked).code == 0
    assert (tmp_path / "plot.svg").read_bytes().startswith(b"<?xml")
    assert (tmp_path / "draw.png").read_bytes().startswith(b"\x89PNG")
    assert gingham(*asked).code == 2
    assert gingham(*asked, "--force").code == 0


def test_a_scenario_of_the_other_kind_is_sent_there(gingham: Command) -> None:
    striped = require_error(gingham("run", "stripe", "--json"), "foreign-stripe")
    assert "gingham stripe stripe" in striped["message"]
    fabric = require_error(gingham("stripe", "torus", "--json"), "foreign-scenario")
    assert "gingham run torus" in fabric["message"]


def test_a_misspelt_example_names_the_nearest(gingham: Command) -> None:
    require_error(gingham("stripe", "strip", "--json"), "unknown-name", nearest="stripe")


def test_a_mistake_names_file_line_and_key(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('stop.time = "1 s"\n[[channel]]\nrat = "1 MB/s"\n')
    done = gingham("stripe", "s.toml", "--json")
    assert done.code == 2
    error = json.loads(done.err)
    assert (error["line"], error["key"], error["nearest"]) == (3, "channel[0].rat", "rate")


def test_too_little_is_not_enough_for_strict(gingham: Command) -> None:
    few = ["--set", 'source=[{ kind.list.lengths = ["100 B"] }]']
    assert gingham("stripe", "stripe", *few).code == 0
    done = gingham("stripe", "stripe", *few, "--strict", "--set", 'stop.warm_up="1 s"')
    assert done.code == 4


def test_keys_are_explained(gingham: Command) -> None:
    one = gingham("explain", "--stripe", "stripe.markers.every_rounds")
    assert one.out.startswith("stripe.markers.every_rounds\n")
    assert "Default: 4." in one.out
    schema = json.loads(gingham("schema", "--stripe").out)
    assert "channel" in schema["required"]
    misspelt = gingham("explain", "--stripe", "channel.0.rat", "--json")
    require_error(misspelt, "unknown-name", nearest="channel.0.rate")


def test_a_file_without_channels_is_told_of_channels(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text('stop.time = "1 s"\n')
    require_error(gingham("stripe", "none.toml", "--json"), "missing-key", key="channel")
    (tmp_path / "slip.toml").write_text('stop.time = "1 s"\n[[chanel]]\n')  # typos: on purpose
    require_error(gingham("stripe", "slip.toml", "--json"), "unknown-key", nearest="channel")


def test_a_picture_that_cannot_be_written_is_refused_before_the_run(gingham: Command) -> None:
    hours = ["--set", 'stop.time="20 h"', "--json"]
    refused = gingham("stripe", "stripe", *hours, "--plot", "no/p.png")
    require_error(refused, "no-folder", file="no/p.png")


def test_names_of_schedulers_are_explained(gingham: Command) -> None:
    told = gingham("explain", "--stripe", "surplus-round-robin").out
    assert "Adiseshu, Parulkar and Varghese 1996, section 3.5" in " ".join(told.split())
    assert 'stripe.scheduler = "surplus-round-robin"' in " ".join(told.split())
    # Only striping scenarios have channels, so that the option is not needed.
    assert gingham("explain", "channel.0.rate").out.startswith("channel.0.rate\n")


def test_a_folder_that_takes_no_files_is_not_said_to_be_missing(gingham: Command) -> None:
    # For a file in /proc the system reports the same error as for a missing folder.
    done = gingham("stripe", "stripe", *SHORT, "--plot", "/proc/p.png", "--json")
    require_error(done, "system", exit_code=6, file="/proc/p.png")


def test_a_setting_without_a_value_is_shown_one_that_any_scenario_takes(gingham: Command) -> None:
    refused = gingham("stripe", "stripe", "--set", "seed", "--json")
    assert "seed=7" in require_error(refused, "bad-option", key="seed")["message"]
