"""Workers on other machines: those of a Dask scheduler, or jobs of Slurm.

::

    run_sweep ──tasks──► Executor ──► scheduler ──► worker, worker, ...   (dask.distributed)
        ▲                                               │
        └───────────── outcomes ◄───────────────────────┘

Invariants: no run is handed out before all present workers were found to have our build; later
workers are checked by each task (`gingham.sweeps.work`). Dask is only imported on demand.
"""

from __future__ import annotations

import logging
import re
import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham.errors import EnvironmentProblem, InputError, nearest, unknown
from gingham.extras import install_line
from gingham.sweeps._build import require_same_build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Executor

    from distributed import Client

# Time limit for a scheduler's response, and then for its first worker.
PATIENCE_SECONDS = 10.0
DASK, SLURM = "dask://", "slurm"
# Packages of Dask, which log their own errors.
NOISY = ("distributed", "tornado", "asyncio")
# A name or an address, IPv6 in brackets, with a port.
ADDRESS = re.compile(rf"{DASK}([^\s/:]+|\[[0-9a-fA-F:]+\]):[0-9]{{1,5}}")
# Options of `slurm:` with their defaults; `None` means the configuration of Dask.
SLURM_OPTIONS: Mapping[str, Any] = {
    "jobs": 1,
    "cores": 1,
    "memory": "2 GiB",
    "walltime": None,
    "queue": None,
    "account": None,
}


@dataclass(frozen=True)
class Workers:
    """An executor, and its number of concurrent runs."""

    # `None` for threads of this process.
    executor: Executor | None
    count: int


@contextmanager
def workers_on(where: str, *, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[Workers]:
    """Provide the workers of `dask://HOST:PORT`, or of jobs of `slurm`, for the block.

    ::

        with workers_on("dask://10.0.0.1:8786") as workers:
            run_sweep(sweep, "sweeps/load", executor=workers.executor, workers=workers.count)

    `slurm:jobs=4,cores=8,memory=16 GiB,walltime=01:00:00,queue=short,account=lab` requests jobs
    with one worker process per core, which end with the block. Raises `EnvironmentProblem` if a
    scheduler does not respond within `patience_seconds`, has no workers, or has some with another
    build of gingham.
    """
    if ADDRESS.fullmatch(where):
        opened = dask_client(where.removeprefix(DASK), patience_seconds)
    elif where.partition(":")[0] == SLURM:
        opened = slurm_client(slurm_options(where))
    else:
        raise InputError(
            f'"{where}": expected {DASK}HOST:PORT or {SLURM}, such as '
            f"{DASK}127.0.0.1:8786 or {SLURM}:jobs=4,cores=8",
            key="on",
            expected=[f"{DASK}HOST:PORT", SLURM],
        )
    with quiet(), opened as (client, count):
        require_same_build(client.run(builder()))
        yield Workers(client.get_executor(pure=False), count)


@contextmanager
def dask_client(address: str, patience_seconds: float) -> Iterator[tuple[Client, int]]:
    """Yield a client of the scheduler at `address`, and the number of its workers' threads."""
    from distributed import Client

    try:
        client = Client(f"tcp://{address}", timeout=patience_seconds, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(
            f"{DASK}{address}: no scheduler answered within {patience_seconds:g} s\n"
            "  is the address right, and does it run? dask scheduler starts one",
            code="timeout",
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=patience_seconds)
        except TimeoutError as error:
            raise EnvironmentProblem(
                f"{DASK}{address}: the scheduler has no workers\n"
                f"  to start one: dask worker {address}",
                code="no-workers",
            ) from error
        yield client, sum(client.nthreads().values())


@contextmanager
def slurm_client(options: Mapping[str, Any]) -> Iterator[tuple[Client, int]]:
    """Yield a client of workers that are jobs of Slurm, once the first of them runs."""
    if shutil.which("sbatch") is None:
        raise EnvironmentProblem(
            "sbatch is not there: Slurm takes jobs on its login nodes\n"
            f"  elsewhere, start workers by hand and name their scheduler: {DASK}HOST:PORT",
            code="missing-program",
        )
    from distributed import Client

    with ExitStack() as stack:
        cluster = stack.enter_context(slurm_cluster(options))
        submit(cluster, options["jobs"])
        client = stack.enter_context(Client(cluster, set_as_default=False))
        # Without a time limit, because a queue may be long; Ctrl-C ends the wait.
        client.wait_for_workers(1)
        yield client, options["jobs"] * options["cores"]


def submit(cluster: Any, jobs: int) -> None:
    """Submit jobs; raise `EnvironmentProblem` if Slurm rejects them."""

    async def submitted() -> None:
        cluster.scale(jobs=jobs)
        # The operation that `scale` starts without reporting its end.
        await cluster._correct_state()  # noqa: SLF001

    try:
        cluster.sync(submitted)
    except RuntimeError as error:
        from distributed import Status

        # Otherwise these jobs would prevent the cluster from being closed.
        for job in cluster._created:  # noqa: SLF001
            job.status = Status.failed
        said = str(error).partition("stderr:")[2].strip() or str(error)
        raise EnvironmentProblem(f"Slurm refused a job: {said}", code="program-failed") from error


def slurm_cluster(options: Mapping[str, Any]) -> Any:
    """Return a Dask cluster, a context, whose workers are jobs of Slurm; it has none yet."""
    from dask import config
    from dask_jobqueue import SLURMCluster

    given = {name: value for name, value in options.items() if value is not None}
    del given["jobs"]
    configured = config.get("jobqueue.slurm.scheduler-options", None) or {}
    # Its web page, if enabled, is only for this machine.
    unseen = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    return SLURMCluster(
        **given,
        # The engine uses one core, so one process per core is best.
        processes=given["cores"],
        job_name="gingham",
        scheduler_options={**unseen, **configured},
        worker_extra_args=["--no-dashboard"],
        silence_logs=logging.CRITICAL,
    )


def slurm_options(where: str) -> dict[str, Any]:
    """Return the options of a text such as `slurm:jobs=4,cores=8`, with defaults.

    >>> slurm_options("slurm:jobs=4,queue=short")["jobs"], slurm_options("slurm")["jobs"]
    (4, 1)
    """
    options = dict(SLURM_OPTIONS)
    written = where.partition(":")[2]
    for setting in written.split(",") if written else []:
        name, equals, value = setting.partition("=")
        if not equals or name not in options:
            message = unknown("an option of slurm", name, list(options))
            raise InputError(
                f"{where}: {message}",
                key=name,
                expected=list(options),
                code="unknown-name",
                nearest=nearest(name, options),
            )
        options[name] = value
    for name in ("jobs", "cores"):
        if not str(options[name]).isdecimal() or int(options[name]) < 1:
            raise InputError(
                f"{where}: {name} must be a whole number from 1 on", key=name, code="wrong-type"
            )
        options[name] = int(options[name])
    return options


def builder() -> Callable[[], tuple[str, str] | str]:
    """Return a function that returns a worker's build, or the reason for its absence.

    It is sent as code, because a worker may lack this module.
    """

    def ask() -> tuple[str, str] | str:
        try:
            from gingham.sweeps._build import build
        except ImportError as error:
            return str(error)
        return build()

    return ask


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress log output of Dask about errors that we report.

    Each of its loggers may have its own level, set when Dask is imported.
    """
    require_extra()
    import distributed  # noqa: F401

    there = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in NOISY]
    loggers = [logging.getLogger(name) for name in {*there, *NOISY}]
    levels = [one.level for one in loggers]
    try:
        for one in loggers:
            one.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)


def require_extra() -> None:
    """Raise `EnvironmentProblem` if Dask is not installed."""
    from importlib.util import find_spec

    missing = [name for name in ("distributed", "dask_jobqueue") if find_spec(name) is None]
    if missing:
        raise EnvironmentProblem(
            f"{', '.join(missing)} not installed: {install_line('cluster')}",
            code="extra-not-installed",
        )
