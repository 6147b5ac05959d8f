"""A result is the same whether a run just ended or its folder was loaded."""

from __future__ import annotations

import json
import math
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gingham
from gingham import DamageError, InputError, Result, Scenario, load_result, running, tables
from tests.folders import as_before_digests, flip
from tests.refusals import raises

SCENARIO = """
title = "A star"
topology.file = "star.toml"
stop.time = "1 ms"
[[traffic]]
load = 0.2
length = { fixed = "512 B" }
"""


@pytest.fixture
def star(tmp_path: Path) -> Scenario:
    """A scenario with its fabric file, in a separate folder."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    gingham.Fabric.make("star", hosts=4).save(folder / "star.toml")
    (folder / "star-scenario.toml").write_text(SCENARIO)
    return Scenario.load(folder / "star-scenario.toml")


@pytest.fixture
def saved(star: Scenario, tmp_path: Path) -> tuple[Result, Path]:
    folder = tmp_path / "runs" / "star"
    return gingham.run(star.with_({"traffic.0.load": 0.1}, seed=4), output=folder), folder


def same(one: pa.Table, other: pa.Table) -> bool:
    """Return whether contents, units and meanings of two tables are equal; NaN equals NaN."""
    return bool(
        one.schema.equals(other.schema, check_metadata=True)
        and repr(one.to_pydict()) == repr(other.to_pydict())
    )


@pytest.mark.parametrize("words", [[], ["one"], ["größer", "", "s0[1] → h0", "😀"]])
def test_words_of_a_column_come_back_as_they_were(words: list[str], tmp_path: Path) -> None:
    places = [*range(len(words)), *range(len(words))]
    data = struct.pack(f"={len(places)}I", *places)
    table = tables.from_columns([("name", "a name", "", ("u32", data, words), [])])
    table.validate(full=True)
    assert table["name"].to_pylist() == words * 2
    assert table["name"].combine_chunks().dictionary.equals(pa.array(words, pa.string()))
    pq.write_table(table, tmp_path / "table.parquet")
    assert tables.from_parquet(tmp_path / "table.parquet").equals(table, check_metadata=True)


@pytest.mark.parametrize("missing", [[], [1], [0, 9], list(range(10))])
def test_what_is_missing_is_null_and_changes_no_type(missing: list[int], tmp_path: Path) -> None:
    numbers, codes = struct.pack("=10q", *range(10)), struct.pack("=10I", *[0] * 10)
    words = ["a"] if len(missing) < 10 else []
    columns = [
        ("count", "a count", "messages", ("i64", numbers, []), missing),
        ("text", "a text", "", ("u32", codes, words), missing),
    ]
    table = tables.from_columns(columns)
    table.validate(full=True)
    assert table["count"].to_pylist() == [None if at in missing else at for at in range(10)]
    assert table["text"].to_pylist() == [None if at in missing else "a" for at in range(10)]
    assert table.schema.types == [pa.int64(), pa.dictionary(pa.int32(), pa.string())]
    pq.write_table(table, tmp_path / "table.parquet")
    assert tables.from_parquet(tmp_path / "table.parquet").equals(table, check_metadata=True)


def test_a_loaded_result_is_the_result(saved: tuple[Result, Path]) -> None:
    fresh, folder = saved
    loaded = load_result(folder)
    assert type(loaded) is type(fresh)
    assert json.dumps(loaded.summary, sort_keys=True) == json.dumps(fresh.summary, sort_keys=True)
    assert loaded.about == fresh.about
    assert loaded.verdict == fresh.verdict
    assert loaded.tables == fresh.tables
    for name in fresh.tables:
        assert same(loaded.table(name), fresh.table(name)), name
    assert loaded.messages.num_rows > 10


def test_every_column_says_what_it_holds_and_in_what(saved: tuple[Result, Path]) -> None:
    result, _ = saved
    for name in result.tables:
        for field in result.table(name).schema:
            metadata = field.metadata
            assert metadata[b"meaning"], (name, field.name)
            unit = metadata.get(b"unit", b"").decode()
            for ending in ("ps", "ns"):
                if field.name.endswith(f"_{ending}"):
                    assert unit == ending, (name, field.name)
            if pa.types.is_floating(field.type):
                assert unit, (name, field.name)


def test_nodes_are_those_of_the_fabric(saved: tuple[Result, Path], tmp_path: Path) -> None:
    result, _ = saved
    nodes = result.nodes.to_pydict()
    assert nodes["node"] == ["s0", "h0", "h1", "h2", "h3"]
    assert nodes["kind"] == ["switch", "host", "host", "host", "host"]
    assert nodes["ports"] == [4, 1, 1, 1, 1]
    fabric = gingham.Fabric.load(tmp_path / "inputs" / "star.toml")
    assert nodes["guid"] == [node.guid or "" for node in fabric.devices]


def test_tables_become_data_frames(saved: tuple[Result, Path]) -> None:
    _, folder = saved
    loaded = load_result(folder)
    frame = loaded.messages.to_pandas()
    assert len(frame) == loaded.messages.num_rows
    assert frame["latency_ps"].mean() == pytest.approx(
        sum(loaded.messages["latency_ps"].to_pylist()) / len(frame)
    )
    assert set(frame["source"]) == {"h0", "h1", "h2", "h3"}


def test_a_loaded_scenario_runs_again_to_the_same_bits(
    saved: tuple[Result, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, folder = saved
    monkeypatch.chdir(tmp_path / "runs")  # not where the first run was started
    scenario = load_result(folder).scenario
    assert scenario.title == fresh.scenario.title
    assert scenario.digest == fresh.scenario.digest
    again = gingham.run(scenario, output=tmp_path / "runs" / "again")
    for name in fresh.tables:
        assert same(again.table(name), fresh.table(name)), name
    # The folder of the second run can be run again, too.
    third = load_result(tmp_path / "runs" / "again").scenario
    assert third.resolved() == fresh.scenario.resolved()


def test_a_run_is_not_repeated_on_another_fabric_unasked(
    saved: tuple[Result, Path], tmp_path: Path
) -> None:
    _, folder = saved
    scenario = load_result(folder).scenario
    other = tmp_path / "inputs" / "star.toml"
    gingham.Fabric.make("star", hosts=5).save(other, overwrite=True)
    with raises(InputError, "changed-file"):
        gingham.run(scenario)
    assert gingham.run(scenario.with_(topology=other)).nodes.num_rows == 6
    other.unlink()
    with raises(InputError, "file-unreadable"):
        gingham.run(scenario)


def test_saving_a_loaded_result_again_changes_nothing(
    saved: tuple[Result, Path], tmp_path: Path
) -> None:
    _, folder = saved
    load_result(folder).save(tmp_path / "copy")
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        path.name for path in (tmp_path / "copy").iterdir()
    )
    assert same(load_result(tmp_path / "copy").links, load_result(folder).links)


def test_an_unknown_table_is_answered_with_the_nearest(saved: tuple[Result, Path]) -> None:
    result, _ = saved
    with raises(InputError, "unknown-table", nearest="messages") as caught:
        result.table("mesages")  # typos: on purpose
    assert caught.value.nearest == "messages"


def replaced(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def spoil_manifest(**changes: Any) -> Callable[[Path], object]:
    def change(manifest: dict[str, Any]) -> None:
        for key, value in changes.items():
            if value is None:
                del manifest[key]
            else:
                manifest[key] = value

    return lambda folder: as_before_digests(folder / "manifest.json", change)


@pytest.mark.parametrize(
    ("spoil", "facts"),
    [
        (shutil.rmtree, {"code": "no-folder"}),
        (lambda folder: (folder / "manifest.json").unlink(), {"code": "no-run"}),
        (
            lambda folder: (folder / "manifest.json").write_text('{"form": 1,'),
            {"code": "damaged"},
        ),
        (lambda folder: (folder / "manifest.json").write_text("[]"), {"code": "damaged"}),
        (lambda folder: (folder / "manifest.json").write_bytes(b"\xff"), {"code": "damaged"}),
        (lambda folder: (folder / "manifest.json").write_bytes(b""), {"code": "damaged"}),
        (
            lambda folder: replaced(folder / "manifest.json", '"seed": 4', '"seed": 3'),
            {"code": "damaged"},
        ),
        (
            lambda folder: replaced(folder / "manifest.json", '"digest"', '"disgust"'),
            {"code": "damaged"},
        ),
        (spoil_manifest(form=7, gingham="9.1"), {"code": "other-form"}),
        (spoil_manifest(form=None), {"code": "other-form"}),
        (spoil_manifest(summary=None), {"code": "damaged"}),
        (spoil_manifest(scenario_file={}), {"code": "damaged"}),
    ],
)
def test_a_folder_that_cannot_be_loaded_says_why(
    saved: tuple[Result, Path], spoil: Callable[[Path], object], facts: dict[str, Any]
) -> None:
    _, folder = saved
    shutil.copytree(folder, folder.with_name("star-2"))
    spoil(folder)
    with raises(InputError, **facts) as caught:
        load_result(folder)
    assert caught.value.file is not None


def test_a_folder_of_runs_names_a_run(saved: tuple[Result, Path]) -> None:
    _, folder = saved
    with raises(InputError, "no-run", file=folder.parent) as caught:
        load_result(folder.parent)
    assert str(folder) in str(caught.value)
    with raises(InputError, "is-file"):
        load_result(folder / "manifest.json")


def test_a_missing_or_damaged_table_is_said_when_it_is_asked_for(
    saved: tuple[Result, Path],
) -> None:
    _, folder = saved
    (folder / "links.parquet").unlink()
    content = (folder / "messages.parquet").read_bytes()
    (folder / "messages.parquet").write_bytes(content[: len(content) // 2])
    (folder / "nodes.parquet").write_bytes(b"")
    flip(folder / "series.parquet", 100)
    # A valid table, but not the one that was written.
    shutil.copy(folder / "classes.parquet", folder / "percentiles.parquet")
    loaded = load_result(folder)
    assert loaded.table("classes").num_rows == 1
    for name in ("links", "messages", "nodes", "series", "percentiles"):
        with raises(DamageError, "damaged", file=folder / f"{name}.parquet"):
            loaded.table(name)


def test_a_folder_from_before_there_were_digests_is_read(saved: tuple[Result, Path]) -> None:
    fresh, folder = saved
    as_before_digests(folder / "manifest.json")
    loaded = load_result(folder)
    assert same(loaded.links, fresh.links)
    # Even without the check, a file that is not a table is reported.
    (folder / "nodes.parquet").write_bytes(b"PAR1")
    with raises(DamageError, "damaged"):
        loaded.table("nodes")


def test_all_messages_go_to_the_disk_while_the_run_lasts(
    star: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "ROWS_PER_GROUP", 50)
    monkeypatch.setattr(running, "EVENTS_PER_CALL", 200)
    monkeypatch.setattr(running.Simulation.advance, "__defaults__", (200,))
    delivered = []
    waiting = []
    taken = 0

    def take(simulation: running.Simulation) -> pa.Table:
        nonlocal taken
        table = tables.from_columns(simulation._core.take_messages())
        taken += table.num_rows
        waiting.append(table.num_rows)
        return table

    monkeypatch.setattr(running.Simulation, "take_messages", take)
    everything = star.with_({"measure.messages": "all", "stop.time": "4 ms"})
    folder = tmp_path / "all"
    result = gingham.run(
        everything,
        output=folder,
        on_progress=lambda progress: delivered.append(progress.messages_delivered),
    )
    messages = result.messages.to_pydict()
    assert len(messages["message"]) == delivered[-1] == taken
    identities = list(zip(messages["source"], messages["message"], strict=True))
    assert len(set(identities)) == taken
    # At most a row group and the messages of one call are in memory.
    assert max(waiting) < 200 < taken / 5
    assert pq.ParquetFile(folder / "messages.parquet").num_row_groups > 5
    # All messages include those of the warm-up and those of a sample.
    sample = gingham.run(star.with_({"stop.time": "4 ms", "measure.sample_size": 100})).messages
    row_of = {identity: index for index, identity in enumerate(identities)}
    assert 0 < sample.num_rows <= 100
    for row in sample.to_pylist():
        index = row_of[row["source"], row["message"]]
        assert row == {name: column[index] for name, column in messages.items()}
    assert same(load_result(folder).messages, result.messages)


def test_all_messages_without_a_place_are_refused_with_the_cure(tmp_path: Path) -> None:
    text = 'measure.messages = "all"\n' + SCENARIO
    gingham.Fabric.make("star", hosts=4).save(tmp_path / "star.toml")
    with raises(InputError, "refused", key="measure.messages", line=1) as caught:
        gingham.run(Scenario.parse(text, name="all.toml", folder=tmp_path))
    error = caught.value
    assert (error.file, error.line, error.key) == ("all.toml", 1, "measure.messages")


def test_an_interrupted_run_keeps_all_messages_until_then(star: Scenario, tmp_path: Path) -> None:
    seen = 0

    def interrupt(progress: gingham.Progress) -> None:
        nonlocal seen
        seen = progress.messages_delivered
        if seen > 10_000:
            raise KeyboardInterrupt

    endless = star.with_({"measure.messages": "all", "stop.time": "100 s"})
    result = gingham.run(endless, output=tmp_path / "cut", on_progress=interrupt)
    assert result.verdict == "interrupted"
    assert load_result(tmp_path / "cut").messages.num_rows == seen


def test_no_messages_are_kept_where_none_are_wanted(star: Scenario) -> None:
    result = gingham.run(star.with_({"measure.messages": "none"}))
    assert result.messages.num_rows == 0
    assert result.classes[0]["messages_followed"] > 0


def test_the_tables_agree_with_the_summary_and_with_each_other(
    saved: tuple[Result, Path],
) -> None:
    result, _ = saved
    summary, row = result.summary, result.classes[0]
    series = result.table("series").to_pandas()
    assert series["from_ps"].iloc[0] == 0
    assert (series["to_ps"].iloc[:-1].to_numpy() == series["from_ps"].iloc[1:].to_numpy()).all()
    inside = series[series["from_ps"] >= summary["warm_up_ps"]]
    assert inside["messages_created"].sum() == row["messages_created"]
    span = summary["window_end_ps"] - summary["warm_up_ps"]
    weights = (inside["to_ps"] - inside["from_ps"]) / span
    assert (inside["generated_load"] * weights).sum() == pytest.approx(row["generated_load"])
    assert (inside["accepted_load"] * weights).sum() == pytest.approx(row["accepted_load"])
    # Four hosts of 160 MB/s.
    assert row["accepted_bytes_per_s"] == pytest.approx(row["accepted_load"] * 4 * 160e6)
    # 512 bytes of payload, a route byte, two bytes of type, one of trailer.
    assert row["accepted_wire_bytes_per_s"] / row["accepted_bytes_per_s"] == pytest.approx(
        516 / 512
    )
    assert row["accepted_flits_per_host_cycle"] == pytest.approx(row["accepted_load"] * 516 / 512)
    assert (row["hops_mean"], row["hops_half_width"]) == (1.0, 0.0)
    messages = result.messages.to_pandas()
    assert len(messages) == row["messages_followed"]
    network_ns = messages["network_latency_ps"].mean() / 1000
    assert row["network_latency_mean_ns"] == pytest.approx(network_ns)
    head_ns = messages["head_latency_ps"].mean() / 1000
    assert row["head_latency_mean_ns"] == pytest.approx(head_ns)
    links = result.links.to_pandas()
    assert summary["links"]["data_flits"] == links["data_flits"].sum()
    assert summary["links"]["utilisation_max"] == links["utilisation"].max()
    at_switch = links["to"].astype(str) == "s0"
    assert (links["buffer_flits"] > 0).tolist() == at_switch.tolist()
    assert links["occupancy_mean_flits"].notna().tolist() == at_switch.tolist()
    classes = result.table("classes").to_pylist()[0]
    shared = (classes.keys() & row.keys()) - {"percentiles"}
    assert len(shared) > 15
    for name in shared:
        unknown = row[name] is None and math.isnan(classes[name])
        assert unknown or classes[name] == row[name], name


def test_whole_numbers_are_of_one_type_in_runs_and_sweeps(saved: tuple[Result, Path]) -> None:
    fresh, folder = saved
    one_type = {pa.int64()}
    for result in (fresh, load_result(folder)):
        fields = [field for name in result.tables for field in result.table(name).schema]
        assert {one.type for one in fields if pa.types.is_integer(one.type)} == one_type
