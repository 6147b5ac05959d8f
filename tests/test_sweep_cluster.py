"""Sweeps on other machines: a real Dask scheduler and its workers, on loopback."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import dask
import dask_jobqueue  # noqa: F401  (its configuration comes with it)
import pytest

from gingham import EnvironmentProblem, InputError, Scenario
from gingham.results import Results
from gingham.sweeps import Sweep, SweepProgress, Workers, execute, workers_on
from gingham.sweeps._build import build, require_same_build
from gingham.sweeps._cluster import quiet
from gingham.sweeps._planning import Planner
from tests.conftest import TIMEOUT_S, Finished, wait_until
from tests.fragments import STAR
from tests.refusals import raises, require_error

DASK = str(Path(sys.executable).parent / "dask")
RUNS = 24


class Cluster:
    """A Dask scheduler and single-threaded workers, as child processes."""

    def __init__(self, folder: Path) -> None:
        """Start the scheduler; `folder` is for the files of all processes."""
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.started(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter"
        )

    @property
    def address(self) -> str:
        """`HOST:PORT` of the scheduler."""
        wait_until(self.file.exists, "the scheduler does not come up")
        wait_until(lambda: self.file.read_text().endswith("}"))
        return str(json.loads(self.file.read_text())["address"]).removeprefix("tcp://")

    def worker(self, *more: str) -> subprocess.Popen[bytes]:
        """Start a worker."""
        place = str(self.folder / f"worker-{len(self.processes)}")
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        return self.started("worker", *options, "--local-directory", place, *more)

    def workers(self) -> AbstractContextManager[Workers]:
        """Return the workers for a sweep, which waits until they are up."""
        return workers_on(f"dask://{self.address}", patience_seconds=TIMEOUT_S)

    def started(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a program of Dask, with its output in a log file."""
        command = [DASK, *arguments, "--scheduler-file", str(self.file)]
        with (self.folder / f"log-{len(self.processes)}").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        self.processes.append(process)
        return process

    def end(self) -> None:
        """Kill all processes started."""
        for process in reversed(self.processes):
            process.kill()
            process.wait(TIMEOUT_S)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    try:
        yield made
    finally:
        made.end()


def sweep() -> Sweep:
    axis = {"key": "traffic.0.load", "values": [0.1, 0.2, 0.3, 0.4]}
    values = {"axis": [axis], "replications": RUNS // 4, "keep": ["nodes"]}
    return Sweep.make(values, base=Scenario.parse(STAR))


def tables(folder: Path) -> dict[str, list[dict[str, Any]]]:
    results = Results.load(folder)
    return {name: results.arrow(name).to_pylist() for name in ("runs", "classes", "nodes")}


def test_a_worker_that_dies_changes_no_table(cluster: Cluster, tmp_path: Path) -> None:
    execute(sweep(), tmp_path / "local")
    first = cluster.worker()
    cluster.worker()

    def on_progress(now: SweepProgress) -> None:
        if now.done >= RUNS // 3:
            first.kill()

    with cluster.workers() as workers:
        progress = execute(
            sweep(),
            tmp_path / "dask",
            executor=workers.executor,
            workers=2,
            on_progress=on_progress,
        )
    assert (progress.done, progress.failed) == (RUNS, 0)
    assert first.wait(TIMEOUT_S) != 0
    assert tables(tmp_path / "dask") == tables(tmp_path / "local")
    where = Results.load(tmp_path / "dask").query("select distinct process from provenance")
    assert {row["process"] for row in where.to_pylist()} <= {p.pid for p in cluster.processes}


def test_a_scheduler_that_ends_leaves_a_sweep_that_can_be_resumed(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.worker()

    def on_progress(now: SweepProgress) -> None:
        if now.done >= 2:
            cluster.processes[0].kill()

    with raises(EnvironmentProblem, "no-workers"), cluster.workers() as on:
        execute(sweep(), tmp_path / "out", executor=on.executor, workers=1, on_progress=on_progress)
    kept = len(tables(tmp_path / "out")["runs"])
    assert 2 <= kept < RUNS
    progress = execute(sweep(), tmp_path / "out", resume=True)
    assert (progress.resumed, progress.done) == (kept, RUNS - kept)


def test_what_dask_tells_of_its_troubles_is_ours_to_tell() -> None:
    def heard() -> dict[str, bool]:
        names = ("distributed.client", "distributed.core", "tornado.application", "asyncio")
        return {name: logging.getLogger(name).isEnabledFor(logging.CRITICAL) for name in names}

    before = heard()
    with quiet():
        assert not any(heard().values())
    assert heard() == before


def test_workers_of_another_build_are_refused(cluster: Cluster, tmp_path: Path) -> None:
    # The worker uses another file as its compiled core.
    preload = tmp_path / "other_build.py"
    preload.write_text("import gingham._native\ngingham._native.core_file = __file__\n")
    cluster.worker("--preload", str(preload))
    with (
        raises(EnvironmentProblem, "other-build"),
        cluster.workers(),
    ):
        pytest.fail("the workers were taken")


def test_a_worker_of_another_build_that_comes_later_stops_the_sweep(
    cluster: Cluster, tmp_path: Path
) -> None:
    first = cluster.worker()
    preload = tmp_path / "other_build.py"
    preload.write_text("import gingham._native\ngingham._native.core_file = __file__\n")
    with (
        raises(EnvironmentProblem, "other-build"),
        cluster.workers() as on,
    ):
        cluster.worker("--preload", str(preload))
        first.kill()
        execute(sweep(), tmp_path / "out", executor=on.executor, workers=1)
    assert Results.load(tmp_path / "out").arrow().num_rows == 0


# Stand-in for Slurm: a job is a local process, which `scancel` ends with its children.
SBATCH = """#!/bin/sh
for script; do :; done
cp "$script" "{jobs}/script"
[ -e "{jobs}/refuse" ] && echo "sbatch: error: Invalid account" >&2 && exit 1
setsid sh "{jobs}/script" > "{jobs}/log" 2>&1 < /dev/null &
echo $! >> "{jobs}/submitted"
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/sh
for job; do kill -- "-$job"; echo "$job" >> "{jobs}/cancelled"; done
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the stand-in's commands; return the folder with its jobs and their records."""
    jobs = tmp_path / "jobs"
    for folder in (jobs, tmp_path / "bin"):
        folder.mkdir()
    for name, script in {"sbatch": SBATCH, "scancel": SCANCEL}.items():
        (tmp_path / "bin" / name).write_text(script.format(jobs=jobs))
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    configured = {"jobqueue.slurm.scheduler-options": {"host": "127.0.0.1"}}
    configured["jobqueue.slurm.local-directory"] = str(jobs)  # type: ignore[assignment]
    with dask.config.set(configured):
        yield jobs
    for job in lines(jobs / "submitted"):
        with suppress(ProcessLookupError):
            os.killpg(int(job), signal.SIGKILL)


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def test_jobs_of_slurm_make_the_same_table(slurm: Path, tmp_path: Path) -> None:
    where = "slurm:jobs=1,cores=2,memory=1GiB,walltime=00:10:00,queue=short"
    with workers_on(where) as workers:
        assert workers.count == 2
        execute(sweep(), tmp_path / "slurm", executor=workers.executor, workers=workers.count)
    execute(sweep(), tmp_path / "local")
    assert tables(tmp_path / "slurm") == tables(tmp_path / "local")
    asked = [line for line in (slurm / "script").read_text().splitlines() if "#SBATCH" in line]
    assert asked == [
        "#SBATCH -J gingham",
        "#SBATCH -p short",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --mem=1G",
        "#SBATCH -t 00:10:00",
    ]
    assert lines(slurm / "cancelled") == lines(slurm / "submitted") != []


def test_a_job_that_slurm_refuses_is_told(slurm: Path) -> None:
    (slurm / "refuse").touch()
    with raises(EnvironmentProblem, "program-failed"), workers_on("slurm"):
        pytest.fail("there are no workers")


def test_without_slurm_there_are_no_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with raises(EnvironmentProblem, "missing-program"), workers_on("slurm"):
        pytest.fail("there is no Slurm")


def test_a_scheduler_without_workers_is_refused(cluster: Cluster) -> None:
    with (
        raises(EnvironmentProblem, "no-workers"),
        # Long enough for a reply of the running scheduler.
        workers_on(f"dask://{cluster.address}", patience_seconds=5),
    ):
        pytest.fail("there are no workers")


def test_a_scheduler_that_does_not_answer_is_refused() -> None:
    # Nothing listens on the discard port.
    with (
        raises(EnvironmentProblem, "timeout"),
        workers_on("dask://127.0.0.1:9", patience_seconds=0.5),
    ):
        pytest.fail("there is no scheduler")


def test_any_executor_will_do(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2) as pool:
        execute(sweep(), tmp_path / "pool", executor=pool)
    execute(sweep(), tmp_path / "local")
    assert tables(tmp_path / "pool") == tables(tmp_path / "local")


def test_a_pool_that_breaks_leaves_a_sweep_that_can_be_resumed(tmp_path: Path) -> None:
    with ProcessPoolExecutor(1) as pool:

        def on_progress(now: SweepProgress) -> None:
            if now.done >= 2:
                # Called again if further results arrive; the process may be gone by then.
                for process in list(pool._processes.values()):
                    process.kill()

        with raises(EnvironmentProblem, "no-workers"):
            execute(sweep(), tmp_path / "out", executor=pool, workers=1, on_progress=on_progress)
    kept = Results.load(tmp_path / "out").arrow().num_rows
    assert 2 <= kept < RUNS


def test_a_run_that_its_scheduler_gave_up_is_a_failed_run(tmp_path: Path) -> None:
    class Scheduler(Executor):
        """Gives up the first run, as Dask does with one that kills its workers."""

        def submit(self, *arguments: Any, **_options: Any) -> Future[Any]:
            function, task, *_ = arguments
            future: Future[Any] = Future()
            if task.key == given_up:
                future.set_exception(RuntimeError("it killed three workers"))
            else:
                future.set_result(function(task))
            return future

    given_up = Planner(sweep()).task(next(sweep().points())).key
    progress = execute(sweep(), tmp_path / "out", executor=Scheduler())
    assert (progress.done, progress.failed) == (RUNS, 1)
    first = Results.load(tmp_path / "out").query("select verdict, error from runs order by point")
    assert first.to_pylist()[0] == {
        "verdict": "failed",
        "error": "RuntimeError: it killed three workers",
    }


def test_places_that_cannot_be_meant_are_refused() -> None:
    for where, facts in [
        ("desk://here", {"code": "unknown-name", "key": "on"}),
        ("dask://", {"code": "unknown-name", "key": "on"}),
        ("dask://here", {"code": "unknown-name", "key": "on"}),
        ("slurm:cores", {"code": "unknown-name", "key": "cores"}),
        ("slurm:core=4", {"code": "unknown-name", "nearest": "cores"}),
        ("slurm:jobs=none", {"code": "wrong-type", "key": "jobs"}),
    ]:
        with raises(InputError, **facts), workers_on(where):  # type: ignore[arg-type]
            pass


def test_builds_are_told_for_the_first_workers() -> None:
    ours = build()
    require_same_build({"tcp://a": ours})
    found: dict[str, tuple[str, str] | str] = {"tcp://a": ours, "tcp://b": "No module named 'it'"}
    found |= {f"tcp://{number}": (ours[0], "0" * 64) for number in range(3)}
    with raises(EnvironmentProblem, "other-build"):
        require_same_build(found)


def test_a_study_runs_on_other_machines(
    cluster: Cluster, gingham: Callable[..., Finished], tmp_path: Path
) -> None:
    cluster.worker()
    with cluster.workers():
        # It waits until the worker is there.
        pass
    asked = ("study", "run", "kwan1996/10", "--quick", "--on", f"dask://{cluster.address}")
    done = gingham(*asked, "--json")
    assert done.code == 0, done.err
    [folder] = json.loads(done.out)["sweeps"].values()
    hosts = Results.load(tmp_path / folder).query("select distinct process from provenance")
    assert hosts["process"].to_pylist() == [cluster.processes[1].pid]
    asked = ("study", "run", "kwan1996/10", "--quick", "--on", "dusk://127.0.0.1:1")
    require_error(gingham(*asked, "--json"), "unknown-name", key="on")
