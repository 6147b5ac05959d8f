"""The run folder of a result: tables, a picture, and the manifest that makes it complete."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from gingham import plots
from gingham._native import __version__
from gingham._rundir import FORM, RunFolder

if TYPE_CHECKING:
    from pathlib import Path

    from gingham.result import Result


def save(result: Result, target: Path, *, force: bool = False) -> None:
    """Write a Parquet file a table, `latency.png` and `manifest.json`.

    The folder appears whole or not at all; `force` lets it replace that of another run.
    """
    with RunFolder(target, force=force) as folder:
        save_into(folder, result)


def save_into(folder: RunFolder, result: Result) -> None:
    """Fill a run folder that was opened before the run, so that a bad place is known early."""
    import pyarrow.parquet as pq

    for name in result.tables:
        if not folder.path(f"{name}.parquet").exists():
            table = result.table(name)
            folder.write(f"{name}.parquet", partial(pq.write_table, table))
    folder.write("latency.png", partial(draw, result))
    folder.complete(manifest(result))


def draw(result: Result, handle: BinaryIO) -> None:
    """Draw the latency distribution of every class."""
    handle.write(plots.picture(plots.latency(result), "png"))


def manifest(result: Result) -> dict[str, Any]:
    """Return what was run, by what, where and for how long, and what came out."""
    return {
        "form": FORM,
        "gingham": __version__,
        "scenario": result.scenario.resolved(),
        "scenario_file": result.scenario.origin(),
        "about": dict(result.about),
        "summary": dict(result.summary),
        "tables": result.tables,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": {
            "name": platform.node(),
            "machine": platform.machine(),
            "system": platform.platform(),
        },
        "wall_seconds": round(result.wall_seconds, 3),
    }
