"""Traffic from files: replays, digests in the manifest, and messages for the shell."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv

import gingham
from tests.conftest import Finished
from tests.refusals import raises, require_error

Command = Callable[..., Finished]

REPLAY = """
topology.generate.star = { hosts = 4 }
stop = { time = "200 us", warm_up = "0 ps" }
[[traffic]]
arrivals = { schedule = "messages.csv" }
"""
ORIGINAL = """
topology.generate.star = { hosts = 4 }
stop = { time = "200 us", warm_up = "0 ps" }
[[traffic]]
arrivals = { on-off = { on = "5 us", off = "5 us" } }
load = 0.2
length = { bimodal = { short = "16 B", long = "512 B", long_share = 0.5 } }
stop = "100 us"
"""
DELIVERIES = ["source", "destination", "payload_bytes", "created_ps", "delivered_ps"]


def deliveries(messages: pa.Table) -> list[dict[str, object]]:
    """Return what must agree, in an order that does not depend on running numbers."""
    rows = messages.select(DELIVERIES).to_pylist()
    return sorted(rows, key=lambda row: tuple(str(row[name]) for name in DELIVERIES))


@pytest.fixture
def replay(tmp_path: Path) -> Path:
    messages = gingham.run(gingham.Scenario.parse(ORIGINAL)).messages
    assert messages.num_rows > 50
    columns = [
        column.combine_chunks().dictionary_decode()
        if pa.types.is_dictionary(column.type)
        else column
        for column in messages.columns
    ]
    plain = pa.table(columns, names=messages.column_names)
    csv.write_csv(plain, tmp_path / "messages.csv")
    (tmp_path / "replay.toml").write_text(REPLAY)
    return tmp_path / "replay.toml"


def test_the_table_of_messages_is_a_schedule_as_it_stands(replay: Path) -> None:
    original = gingham.run(gingham.Scenario.parse(ORIGINAL))
    again = gingham.run(gingham.Scenario.load(replay))
    assert deliveries(again.messages) == deliveries(original.messages)


def test_the_manifest_lists_the_files_and_a_repetition_wants_the_same(replay: Path) -> None:
    folder = replay.parent / "run"
    first = gingham.run(replay, output=folder)
    schedule = replay.parent / "messages.csv"
    digest = hashlib.sha256(schedule.read_bytes()).hexdigest()
    (file,) = json.loads((folder / "manifest.json").read_text())["about"]["files"]
    key = "traffic.0.arrivals.schedule"
    assert file == {"key": key, "path": str(schedule), "sha256": digest}

    scenario = gingham.load_result(folder).scenario
    assert scenario.resolved()["traffic"][0]["hosts"] is None
    assert gingham.run(scenario).messages.equals(first.messages)
    schedule.write_text("\n".join(schedule.read_text().splitlines()[:-1]) + "\n")
    with raises(gingham.InputError, "changed-file") as refused:
        gingham.run(scenario)
    assert refused.value.key == key
    # Other changes keep the question, a change of the file answers it.
    with raises(gingham.InputError, "changed-file"):
        gingham.run(scenario.with_({"traffic.0.name": "other"}))
    for path in (key, "traffic[0].arrivals.schedule"):
        again = gingham.run(scenario.with_({path: "messages.csv"}))
        assert again.messages.num_rows == first.messages.num_rows - 1


def test_a_mistake_in_a_file_is_named_with_its_line(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "demand.csv").write_text(",h0,h1\nh0,0,1\nh1,-2,0\n")
    text = ORIGINAL + 'destinations = { matrix = "demand.csv" }\n'
    (tmp_path / "bad.toml").write_text(text)
    refused = gingham("run", "bad.toml", "-o", "runs/bad", "--json")
    error = require_error(refused, "refused", key="traffic[0].destinations.matrix", line=3)
    assert error["file"].endswith("demand.csv")
    assert not (tmp_path / "runs" / "bad").exists()


@pytest.mark.parametrize(
    ("hosts", "entry"),
    [
        (["h0", "h1", "h0"], 2),
        (["h*", "h1", "h*"], 2),
        # One host by its name and by its GUID.
        (["h1", "GUID"], 1),
    ],
)
def test_a_host_that_is_listed_twice_is_refused_at_its_entry(hosts: list[str], entry: int) -> None:
    nodes = gingham.Fabric.make("star", hosts=4).devices
    guid = next(str(node.guid) for node in nodes if node.name == "h1")
    listed = [guid if host == "GUID" else host for host in hosts]
    base = gingham.Scenario.parse(ORIGINAL)
    with pytest.raises(gingham.InputError) as refused:
        gingham.Simulation(base.with_({"traffic.0.hosts": listed}))
    assert (refused.value.key, refused.value.code) == (
        f"traffic[0].hosts[{entry}]",
        "duplicate-host",
    )


def test_patterns_of_hosts_may_overlap() -> None:
    base = gingham.Scenario.parse(ORIGINAL)
    gingham.Simulation(base.with_({"traffic.0.hosts": ["h0", "h*", "*1"]}))
