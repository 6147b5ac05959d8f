"""However a sweep ends, --resume gives the table of an undisturbed one."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gingham.results import Results
from gingham.store import _folder, _shards
from gingham.sweeps import Sweep, run_sweep
from tests.conftest import TIMEOUT_S, wait_until

KILLS = 10
# Small limits, so that a kill may interrupt the conversion of journals and the merge of shards.
SMALL = {"JOURNAL_RUNS": 3, "MERGED": 2}
SWEEP = """
base = "star.toml"
replications = 4
[[axis]]
key = "traffic.0.load"
range = { from = 0.1, to = 0.8, step = 0.1 }
[[axis]]
key = "traffic.0.length.fixed"
name = "bytes"
values = ["64 B", "128 B"]
"""
STAR = """
stop.time = "200 us"
topology.generate.star = { hosts = 8 }
[[traffic]]
load = 0.1
length = { fixed = "64 B" }
"""
# Prints a line at its start, so that the time to the kill excludes the start of Python.
CHILD = f"""
import sys
from gingham.store import _folder, _shards
from gingham.sweeps import Sweep, run_sweep
from tests.conftest import TIMEOUT_S, wait_until
_folder.JOURNAL_RUNS, _shards.MERGED = {SMALL["JOURNAL_RUNS"]}, {SMALL["MERGED"]}
sweep = Sweep.load(sys.argv[1])
print("begins", flush=True)
run_sweep(sweep, sys.argv[2], resume=True)
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_folder, "JOURNAL_RUNS", SMALL["JOURNAL_RUNS"])
    monkeypatch.setattr(_shards, "MERGED", SMALL["MERGED"])
    (tmp_path / "star.toml").write_text(STAR)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path / "sweep.toml"


def contents(folder: Path) -> list[Any]:
    results = Results.load(folder)
    return [results.arrow(table).to_pylist() for table in ("points", "runs", "classes")]


def provenance(folder: Path) -> dict[str, Any]:
    """Return when and where each run was made."""
    return {row["key"]: row for row in Results.load(folder).arrow("provenance").to_pylist()}


def kill(file: Path, folder: Path, seconds: float) -> None:
    """Run a sweep in a process for some seconds, then kill it by SIGKILL."""
    with begun(CHILD, file, folder) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begins\n"
        time.sleep(seconds)
        child.kill()


@contextlib.contextmanager
def begun(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def test_a_sweep_killed_at_any_moment_and_resumed_gives_the_same_table(
    file: Path, tmp_path: Path
) -> None:
    start = time.monotonic()
    run_sweep(Sweep.load(file), tmp_path / "undisturbed")
    seconds = time.monotonic() - start
    expected = contents(tmp_path / "undisturbed")
    assert list(map(len, expected)) == [64, 64, 64]
    chance = random.Random(6)  # noqa: S311
    # Two kills per folder, so that some interrupt a resumed sweep.
    for number in range(KILLS // 2):
        folder = tmp_path / f"out-{number}"
        for _ in range(2):
            kill(file, folder, chance.uniform(0, 0.7) * seconds)
        before = provenance(folder) if (folder / "sweep.json").exists() else {}
        run_sweep(Sweep.load(file), folder, resume=True)
        assert contents(folder) == expected
        after = provenance(folder)
        # Existing runs are not made again.
        assert {key: after[key] for key in before} == before
        assert len(after) == 64


def test_ctrl_c_leaves_what_was_measured_and_says_how_to_go_on(file: Path, tmp_path: Path) -> None:
    file.write_text(SWEEP.replace("replications = 4", "replications = 2000"))
    code = "import gingham.cli, sys; sys.exit(gingham.cli.main(sys.argv[1:]))"
    folder = tmp_path / "out"
    with begun(code, "sweep", file, "-o", folder) as child:
        wait_until(
            lambda: any((folder / "journal").glob("*")) and Results.load(folder).arrow().num_rows
        )
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=TIMEOUT_S)
    assert child.returncode == 130
    assert "to go on: gingham sweep" in told
    assert f"-o {folder} --resume" in told
    rows = Results.load(folder).arrow().num_rows
    assert f"{rows:,} runs are kept" in told
    few = tmp_path / "few.toml"
    few.write_text(SWEEP.replace("replications = 4", "replications = 1"))
    run_sweep(Sweep.load(few), folder, resume=True)
    assert Results.load(folder).arrow().num_rows == 16


def test_a_sweep_with_more_points_makes_only_those(file: Path, tmp_path: Path) -> None:
    run_sweep(Sweep.load(file), tmp_path / "out")
    before = {row["key"]: row for row in Results.load(tmp_path / "out").arrow().to_pylist()}
    file.write_text(SWEEP.replace("from = 0.1", "from = 0.05").replace("step = 0.1", "step = 0.05"))
    made = []
    run_sweep(
        Sweep.load(file),
        tmp_path / "out",
        resume=True,
        on_progress=lambda now: made.append((now.resumed, now.done)),
    )
    assert made[-1] == (64, 64)
    after = {row["key"]: row for row in Results.load(tmp_path / "out").arrow().to_pylist()}
    assert set(before) < set(after)
    unchanged = [name for name in next(iter(before.values())) if name != "point"]
    for key, row in before.items():
        assert [row[name] for name in unchanged] == [after[key][name] for name in unchanged]


def test_the_number_of_workers_changes_nothing(file: Path, tmp_path: Path) -> None:
    run_sweep(Sweep.load(file), tmp_path / "one", workers=1)
    run_sweep(Sweep.load(file), tmp_path / "three", workers=3)
    assert contents(tmp_path / "one") == contents(tmp_path / "three")
