"""The run folder of a result: tables, pictures on request, and the manifest, written last."""

from __future__ import annotations

import platform
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from gingham._native import __version__
from gingham._rundir import FORM, RunFolder, interruptible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from gingham.result import AnyResult

MESSAGES = "messages.parquet"


def save(
    result: AnyResult, target: Path, *, overwrite: bool = False, pictures: bool = False
) -> None:
    """Write one Parquet file per table, pictures on request, and `manifest.json`.

    The folder appears complete or not at all; `overwrite` lets it replace that of another run.
    """
    with RunFolder(target, overwrite=overwrite) as folder, interruptible(folder):
        save_into(folder, result, pictures=pictures)


def save_into(folder: RunFolder, result: AnyResult, *, pictures: bool = False) -> None:
    """Fill a run folder that was opened before the run, to detect an unwritable one early."""
    import pyarrow.parquet as pq

    for name in result.tables:
        if not folder.path(f"{name}.parquet").exists():
            table = result.table(name)
            folder.write(f"{name}.parquet", partial(pq.write_table, table))
    for name, picture in result.pictures.items() if pictures else ():
        folder.write(name, partial(write_picture, picture))
    folder.complete(manifest(result))


@contextmanager
def message_writer(folder: RunFolder, take: Callable[[], pa.Table]) -> Iterator[Callable[[], None]]:
    """Yield a function that moves the messages of `take` into the folder as a row group.

    Remaining messages are written when the block ends, so that the file holds every message.
    """
    import pyarrow.parquet as pq

    first = take()
    with folder.stream(MESSAGES) as handle, pq.ParquetWriter(handle, first.schema) as writer:

        def write() -> None:
            writer.write_table(take())

        writer.write_table(first)
        yield write
        write()


def write_picture(picture: Callable[[], bytes], handle: BinaryIO) -> None:
    """Draw a picture into its file."""
    handle.write(picture())


def manifest(result: AnyResult) -> dict[str, Any]:
    """Return the manifest: scenario, version, place and time of the run, and its summary."""
    return {
        "form": FORM,
        "kind": result.kind,
        "gingham": __version__,
        "title": result.title,
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
