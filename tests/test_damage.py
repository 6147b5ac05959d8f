"""A changed byte in a folder of results is detected, reported and repaired."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gingham import DamageError, InputError, Results, Scenario, load_result, run, stripe
from gingham.checking import check_folder
from gingham.store import SweepFolder, _folder, _shards, write_file
from gingham.sweeps import Sweep, execute
from tests.conftest import Finished
from tests.folders import as_before_digests, flip
from tests.fragments import STAR
from tests.refusals import raises, require_error

Command = Callable[..., Finished]
# Number of changed bytes; the environment can raise it.
CHANGES = int(os.environ.get("GINGHAM_DAMAGE_CHANGES", "60"))


def sweep() -> Sweep:
    values = {
        "axis": [{"key": "traffic.0.load", "values": [0.1, 0.2, 0.3]}],
        "replications": 2,
        "keep": ["nodes"],
    }
    return Sweep.make(values, base=Scenario.parse(STAR))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits, so that journals become several shards after few runs."""
    monkeypatch.setattr(_folder, "JOURNAL_RUNS", 2)
    monkeypatch.setattr(_shards, "MERGED", 3)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture
def swept(tmp_path: Path) -> Path:
    execute(sweep(), tmp_path / "swept")
    return tmp_path / "swept"


def contents(folder: Path) -> dict[str, Any]:
    results = Results.load(folder)
    return {
        name: results.arrow(name).to_pylist() for name in ("points", "runs", "classes", "nodes")
    }


def read_run(folder: Path) -> None:
    result = load_result(folder)
    for name in result.tables:
        result.table(name)


def read_sweep(folder: Path) -> None:
    results = Results.load(folder)
    for name in (*results.columns, "provenance"):
        results.arrow(name)


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def test_every_byte_that_changes_is_noticed(tmp_path: Path, swept: Path) -> None:
    scenario = Scenario.parse(STAR)
    run(scenario, output=tmp_path / "run")
    write_file(swept, "curve.csv", b"load,latency\n0.1,3\n")
    killed(tmp_path / "killed")
    places = {tmp_path / "run": read_run, swept: read_sweep, tmp_path / "killed": read_sweep}
    chance = random.Random(18)  # noqa: S311
    for number in range(CHANGES):
        folder = list(places)[number % len(places)]
        file = chance.choice(files_of(folder))
        place = chance.randrange(file.stat().st_size)
        bits = chance.randrange(1, 256)
        before = file.read_bytes()
        flip(file, place, bits)
        where = f"{file.relative_to(tmp_path)}, byte {place} xor {bits}"
        found = check_folder(folder)
        assert [one for one in found.damaged if str(file) in one], where
        if file.suffix not in (".png", ".csv") and "spare" not in file.name:
            with pytest.raises(DamageError) as refused:
                places[folder](folder)
            assert refused.value.file == str(file), where
        file.write_bytes(before)
    for folder in places:
        assert check_folder(folder).damaged == []


def killed(folder: Path) -> None:
    """Write the folder of a killed sweep, with a journal whose last line is torn."""
    planned = sweep()
    manifest = {"sweep": planned.manifest(), "columns": planned.grid.column_types(), "core": "0"}
    opened = SweepFolder(folder, manifest)
    opened.__enter__()
    row = {"verdict": "ok", "seed": 1}
    opened.add({"key": "a", **row}, {"classes": [{"key": "a", "class": "short"}]}, {"key": "a"})
    opened._open.close()


@pytest.mark.parametrize(
    "pattern",
    [
        "sweep.json",
        "sweep.spare.json",
        "points-*/*",
        "runs/*",
        "classes/*",
        "provenance/*",
        "tables/*/*",
    ],
)
@pytest.mark.parametrize("how", ["changed", "cut short", "empty", "lost", "swapped"])
def test_what_is_damaged_is_named_and_made_again(swept: Path, pattern: str, how: str) -> None:
    expected = contents(swept)
    file = min(swept.glob(pattern))
    data = file.read_bytes()
    if how == "lost":
        file.unlink()
    elif how == "swapped":
        other = next(swept.glob("points-*/*" if "runs" in pattern else "runs/*"))
        file.write_bytes(other.read_bytes())
    else:
        spoilt = {"changed": data[:40] + bytes([data[40] ^ 8]) + data[41:], "empty": b""}
        file.write_bytes(spoilt.get(how, data[: len(data) // 2]))
    if file.name != "sweep.spare.json":
        with raises(DamageError, "damaged", file=file):
            read_sweep(swept)
    progress = execute(sweep(), swept, resume=True)
    assert [one for one in progress.damaged if one.startswith(f"{file}: ")]
    assert contents(swept) == expected
    assert check_folder(swept).damaged == []
    assert file.with_name(f"{file.name}.damaged").exists() == (how != "lost") or "points" in pattern
    assert execute(sweep(), swept, resume=True).damaged == []


def test_what_is_mended_is_so_also_after_an_interruption(swept: Path) -> None:
    expected = contents(swept)
    for shard in swept.glob("classes/*"):
        flip(shard, 50)
    planned = sweep()
    manifest = {
        "sweep": planned.manifest(),
        "columns": planned.grid.column_types(),
        "core": Results.load(copy_of(swept)).manifest["core"],
    }
    with SweepFolder(swept, manifest, resume=True) as folder:
        assert folder.damaged
    progress = execute(sweep(), swept, resume=True)
    assert (progress.damaged, progress.done) == ([], 6)
    assert contents(swept) == expected
    assert execute(sweep(), swept, resume=True).done == 0


def copy_of(swept: Path) -> Path:
    """Return a whole copy."""
    copy = swept.with_name("copy")
    if not copy.exists():
        shutil.copytree(swept, copy)
        execute(sweep(), copy, resume=True)
    return copy


def test_without_any_manifest_that_holds_all_is_made_again(swept: Path) -> None:
    expected = contents(swept)
    flip(swept / "sweep.json", 100)
    flip(swept / "sweep.spare.json", 100)
    with raises(DamageError, "damaged"):
        Results.load(swept)
    progress = execute(sweep(), swept, resume=True)
    assert progress.done == 6
    assert contents(swept) == expected


def test_a_sweep_from_before_there_were_digests_is_read_and_gets_them(swept: Path) -> None:
    expected = contents(swept)
    (swept / "sweep.spare.json").unlink()
    as_before_digests(swept / "sweep.json")
    assert contents(swept) == expected
    assert check_folder(swept).unchecked > 3
    progress = execute(sweep(), swept, resume=True)
    assert (progress.done, progress.damaged) == (0, [])
    assert contents(swept) == expected
    assert check_folder(swept).unchecked == 0


def test_a_shard_of_old_that_is_cut_short_is_damage_and_no_fault_of_ours(swept: Path) -> None:
    expected = contents(swept)
    (swept / "sweep.spare.json").unlink()
    as_before_digests(swept / "sweep.json")
    shard = next(swept.glob("runs/*"))
    shard.write_bytes(shard.read_bytes()[:100])
    with raises(DamageError, "damaged"):
        Results.load(swept)
    assert execute(sweep(), swept, resume=True).done > 0
    assert contents(swept) == expected


def test_files_that_nothing_lists_are_nobodys(swept: Path) -> None:
    expected = contents(swept)
    shard = next(swept.glob("runs/*"))
    shutil.copy(shard, shard.with_name("L0-00000099.parquet"))
    (swept / "runs" / "notes.txt").write_text("mine")
    assert contents(swept) == expected
    assert execute(sweep(), swept, resume=True).done == 0
    assert (swept / "runs" / "notes.txt").exists()


def test_damage_is_told_and_mended_at_the_shell(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "star.toml").write_text(STAR)
    (tmp_path / "load.toml").write_text(
        'base = "star.toml"\n[[axis]]\nkey = "traffic.0.load"\nvalues = [0.1, 0.2]\n'
    )
    assert gingham("sweep", "load.toml", "-o", "out").code == 0
    assert gingham("check", "out").code == 0
    shard = next((tmp_path / "out").glob("runs/*"))
    flip(shard, 200)
    name = f"out/runs/{shard.name}"
    require_error(gingham("query", "out", "from runs", "--json"), "damaged", file=name)
    checked = gingham("check", "out")
    assert checked.code == 5
    assert name in checked.out
    again = gingham("sweep", "load.toml", "-o", "out", "--resume")
    assert again.code == 0, again.err
    assert "2 runs, 0 are there" not in again.err
    assert f"{name}: is damaged" in again.err
    assert "set aside and made again" in again.err
    assert gingham("check", "out").code == 0
    run_again = gingham("run", "star.toml", "-o", "one")
    assert run_again.code == 0
    text = (tmp_path / "one" / "manifest.json").read_text()
    (tmp_path / "one" / "manifest.json").write_text(text.replace('"load": 0.1', '"load": 0.2'))
    edited = gingham("plot", "one", "--json")
    require_error(edited, "damaged", file="one/manifest.json")


def test_a_busy_folder_is_told_first(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "star.toml").write_text(STAR)
    (tmp_path / "load.toml").write_text('base = "star.toml"\n')
    assert gingham("sweep", "load.toml", "-o", "out").code == 0
    planned = Sweep.load(tmp_path / "load.toml")
    manifest = {"sweep": planned.manifest(), "columns": {}, "core": "0"}
    with SweepFolder(tmp_path / "out", manifest, resume=True):
        busy = gingham("sweep", "load.toml", "-o", "out", "--resume")
    assert busy.code == 2
    assert busy.err.startswith("gingham: out: another sweep is writing there")
    assert busy.err.count("\n") == 1


def test_what_is_no_folder_of_ours_is_refused(tmp_path: Path) -> None:
    with raises(InputError, "no-run"):
        check_folder(tmp_path)


def test_a_striping_run_is_checked_as_others_are(tmp_path: Path) -> None:
    scenario = stripe.StripeScenario.example("stripe").with_({"stop.time": "20 ms"})
    stripe.run(scenario).save(tmp_path / "run", pictures=True)
    assert check_folder(tmp_path / "run").damaged == []
    flip(tmp_path / "run" / "channels.png", 30)
    assert len(check_folder(tmp_path / "run").damaged) == 1
