"""The run folder of a result: tables, a picture, and the manifest that makes it complete."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gingham._native import __version__
from gingham._rundir import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

    from gingham.result import Result

TABLES = ("messages", "links", "classes")


def save(result: Result, target: Path, *, force: bool = False) -> None:
    """Write `messages.parquet`, `links.parquet`, `classes.parquet`, `latency.png`, `manifest.json`.

    The folder appears whole or not at all; `force` lets it replace that of another run.
    """
    with RunFolder(target, force=force) as folder:
        save_into(folder, result)


def save_into(folder: RunFolder, result: Result) -> None:
    """Fill a run folder that was opened before the run, so that a bad place is known early."""
    import pyarrow.parquet as pq

    for name in TABLES:
        table = result.table(name)
        folder.write(f"{name}.parquet", lambda handle, table=table: pq.write_table(table, handle))
    if result.messages.num_rows:
        folder.write("latency.png", lambda handle: draw(result, handle))
    folder.complete(manifest(result))


def draw(result: Result, handle: Any) -> None:
    """Draw the latency distribution of every class, with the measured means."""
    from gingham.plots import latency

    latency.write(handle, result.messages, title=result.scenario.title)


def manifest(result: Result) -> dict[str, Any]:
    """Return what was run, by what, where and for how long, and what came out."""
    return {
        "gingham": __version__,
        "engine": "oracle",
        "scenario": result.scenario.resolved(),
        "scenario_file": {"path": result.scenario.name, "sha256": result.scenario.digest},
        **result.about,
        "summary": dict(result.summary),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": {"name": platform.node(), "machine": platform.machine(), "system": platform.platform()},
        "wall_seconds": round(result.wall_seconds, 3),
    }
