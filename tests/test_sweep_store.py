"""The folder of a sweep neither loses nor duplicates runs, at whatever step its writer dies."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gingham import InputError, _files
from gingham.kinds import FABRIC
from gingham.store import SweepFolder, _columns, _folder, _journal, _shards, reader
from tests.folders import as_before_digests
from tests.refusals import raises

MANIFEST = {"columns": {"load": "double"}, "sweep": {"keep": []}}
RUNS = 5


class Death(BaseException):
    """Simulates a `kill -9` at a step."""


class Fate:
    """Simulates death at the `step`th change of the disk, after which nothing is changed."""

    def __init__(self, step: int) -> None:
        self.left = step
        self.dead = False

    def lethal(self, change: Callable[..., Any], partly: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*arguments: Any) -> Any:
            if self.dead:
                raise Death
            self.left -= 1
            if self.left < 0:
                self.dead = True
                partly(*arguments)
                raise Death
            return change(*arguments)

        return changed


def nothing(*_: object) -> None:
    """Do nothing."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits, so that journals become shards, and shards are merged, after few runs."""
    monkeypatch.setattr(_folder, "JOURNAL_RUNS", 2)
    monkeypatch.setattr(_shards, "MERGED", 2)
    # Power failures are not tested, and writing to the disk would take most of the time.
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def doomed(monkeypatch: pytest.MonkeyPatch, step: int) -> Fate:
    fate = Fate(step)
    write, synced = os.write, _files.write_synced
    half = {
        "write": lambda descriptor, data: write(descriptor, data[: len(data) // 2]),
        "synced": lambda path, _write: path.write_bytes(b"PAR1 torn"),
    }
    monkeypatch.setattr(os, "write", fate.lethal(write, half["write"]))
    monkeypatch.setattr(_shards, "write_synced", fate.lethal(synced, half["synced"]))
    for name in ("rename", "replace", "unlink"):
        monkeypatch.setattr(Path, name, lethal_method(fate, getattr(Path, name)))
    return fate


def lethal_method(fate: Fate, method: Callable[..., Any]) -> Callable[..., Any]:
    lethal = fate.lethal(method, nothing)

    def changed(self: Path, *arguments: Any, **named: Any) -> Any:
        return lethal(self, *arguments, **named) if not named else method(self, **named)

    return changed


def key(number: int) -> str:
    return f"key-{number}"


def points() -> pa.Table:
    numbers = range(RUNS)
    return pa.table(
        {
            "point": pa.array(numbers, pa.int64()),
            "load": [number / 10 for number in numbers],
            "replication": pa.array([0] * RUNS, pa.int64()),
            "key": [key(number) for number in numbers],
        }
    )


def session(path: Path, *, runs: int = RUNS, made: list[int] | None = None) -> list[int]:
    """Make the missing runs; the third always fails, and `made` collects the kept ones."""
    made = [] if made is None else made
    with SweepFolder(path, MANIFEST, resume=True) as folder:
        folder.write_points(0, points())
        known = folder.known(map(key, range(RUNS)))
        for number in range(runs):
            if key(number) in known:
                continue
            failed = number == 2
            row = {"key": key(number), "verdict": "failed" if failed else "ok", "seed": number}
            classes = [{"key": key(number), "class": name, "hops_mean": 1.5} for name in "ab"]
            folder.add(
                row, {} if failed else {"classes": classes}, {"key": key(number), "process": 1}
            )
            made.append(number)
    return made


def tables(path: Path) -> dict[str, Any]:
    connection = reader(path)
    orders = {"runs": "point", "classes": "point, class", "provenance": "key"}
    return {
        name: connection.sql(f"from {name} order by {order}").fetchall()
        for name, order in orders.items()
    }


def keys(path: Path) -> list[Any]:
    return reader(path).sql("select key from runs").fetchall()


@pytest.mark.usefixtures("small")
def test_a_writer_may_die_at_any_step(tmp_path: Path) -> None:
    session(tmp_path / "undisturbed")
    expected = tables(tmp_path / "undisturbed")
    assert [len(expected[name]) for name in ("runs", "classes")] == [RUNS, 2 * (RUNS - 1)]
    for step in itertools.count():
        path = tmp_path / f"step-{step}"
        with pytest.MonkeyPatch.context() as patched:
            fate = doomed(patched, step)
            made: list[int] = []
            with contextlib.suppress(Death):
                session(path, made=made)
        # No kept run is lost, and only failed runs are made again.
        there = {row[-1] for row in keys(path)} if made else set()
        assert there >= set(map(key, made)), f"after a death at step {step}"
        assert not set(session(path)) & set(made) - {2}
        assert tables(path) == expected, f"after a death at step {step}"
        if not fate.dead:
            break
    # Each run, each shard of three kinds and each removal is a step.
    assert step > 20


@pytest.mark.usefixtures("small")
def test_what_is_there_is_not_made_again_but_failures_are(tmp_path: Path) -> None:
    assert session(tmp_path / "out", runs=4) == [0, 1, 2, 3]
    assert session(tmp_path / "out") == [2, 4]
    assert session(tmp_path / "out") == [2]


def test_a_torn_line_is_no_run_and_the_lines_before_it_are(tmp_path: Path) -> None:
    session(tmp_path / "out", runs=0)
    journal = _journal.Journal(tmp_path / "out" / "journal")
    journal.append({"row": {"key": "a"}})
    journal.append({"row": {"key": "b"}})
    journal.close()
    whole = journal.path.read_bytes()
    for length in range(len(whole) + 1):
        journal.path.write_bytes(whole[:length])
        lines = whole[:length].count(b"\n") + (length in {len(whole) // 2 - 1, len(whole) - 1})
        assert len(_journal.records(journal.path)) == lines
    journal.path.write_bytes(whole.replace(b'"a"', b'"c"'))
    assert [one["row"]["key"] for one in _journal.records(journal.path)] == ["b"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[SweepFolder]:
    with SweepFolder(tmp_path / "out", MANIFEST) as opened:
        yield opened


def test_a_folder_has_one_writer(folder: SweepFolder) -> None:
    with raises(InputError, "busy", file=folder.path):
        session(folder.path)


def test_a_folder_of_another_form_is_refused_in_one_message(tmp_path: Path) -> None:
    session(tmp_path / "out")
    path = tmp_path / "out" / "sweep.json"
    as_before_digests(path, lambda manifest: manifest.update(form=0, gingham="0.0.9"))
    before = tables_of_files(tmp_path / "out")
    with raises(InputError, "other-form"):
        session(tmp_path / "out")
    assert tables_of_files(tmp_path / "out") == before


def tables_of_files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.parquet"))


def test_a_place_that_holds_other_things_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with raises(InputError, "exists"):
        session(tmp_path)
    with raises(InputError, "is-file"):
        session(tmp_path / "notes.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.usefixtures("small")
def test_shards_stay_few(tmp_path: Path) -> None:
    for runs in range(1, RUNS + 1):
        session(tmp_path / "out", runs=runs)
    assert len(tables_of_files(tmp_path / "out" / "runs")) <= 3


def test_counts_are_whole_numbers_and_merge_with_older_ones(tmp_path: Path) -> None:
    counted = _columns.schema_of(_columns.known(FABRIC)["runs"], [{"messages_dropped": 3}])
    assert counted.field("messages_dropped").type == pa.int64()
    older = tmp_path / "older.parquet"
    pq.write_table(pa.table({"messages_dropped": [1.0]}), older)
    newer = tmp_path / "newer.parquet"
    pq.write_table(pa.table({"messages_dropped": [3]}), newer)
    with (tmp_path / "both.parquet").open("wb") as handle:
        _shards.write_merged([older, newer], handle)
    assert pq.read_table(tmp_path / "both.parquet")["messages_dropped"].to_pylist() == [1, 3]
