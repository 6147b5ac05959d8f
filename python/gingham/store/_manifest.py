"""The manifest of a sweep's folder: the sweep, and the digest of every file.

It is stored twice, the spare one written first: if one of them is damaged, the other still has the
digests. If both are damaged, no file of the folder can be verified.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from gingham._files import nearest_file, require_file, write_bytes, writing
from gingham._sealed import FILES, entry_of, sealed, unsealed
from gingham.catalogue import old_names
from gingham.errors import InputError
from gingham.kinds import KINDS, Kind, kind_named
from gingham.store import _journal
from gingham.store._columns import known as tables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from gingham._sealed import Entry

MANIFEST, SPARE = "sweep.json", "sweep.spare.json"
# Version of the format of sweep folders, increased if older readers cannot read newer folders.
FORM = 1
LOCK = ".lock"
CURE = "sweep into the folder again with resume=True, which sets it aside and makes it again"


def is_sweep(path: Path) -> bool:
    """Whether `path` is the folder of a sweep, intact or not."""
    return any((path / name).exists() for name in (MANIFEST, SPARE))


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a sweep's folder.

    Raises `InputError` for a folder that this version cannot read, `DamageError` if its manifest is
    damaged.
    """
    file = path / MANIFEST
    if not path.exists():
        message = f"{path}: no such folder{nearest_file(path)}"
        raise InputError(message, code="no-folder", file=str(path))
    if not is_sweep(path):
        message = f"{path}: is not the folder of a sweep: it has no {MANIFEST}"
        raise InputError(message, code="no-sweep", file=str(path))
    if file.exists():
        require_file(file)
    manifest = unsealed(file, CURE)
    require_form(path, manifest)
    return manifest


def require_form(path: Path, manifest: Mapping[str, Any]) -> None:
    """Raise `InputError` if another version wrote a format that this one cannot read."""
    file = path / MANIFEST
    if manifest.get("form") != FORM:
        form, by = manifest.get("form"), manifest.get("gingham")
        raise InputError(
            f"{file}: written by gingham {by} in form {form}, and this version uses form {FORM}\n"
            f"  read it with the version that wrote it, or sweep again into another folder",
            code="other-form",
            file=str(file),
            expected=[str(FORM)],
        )


def require_new_names(path: Path, manifest: Mapping[str, Any], files: Iterable[Path]) -> None:
    """Raise `InputError` for former names of sweep keys, or of columns of intact `files`."""
    old_names.require_none(path, manifest["sweep"], columns_in(path, manifest, files))


def write_manifest(path: Path, manifest: Mapping[str, Any], files: Mapping[str, Entry]) -> None:
    """Write the manifest of a folder with the digests of its files."""
    data = sealed(manifest, files)
    for name in (SPARE, MANIFEST):
        write_bytes(path / name, data, overwrite=True)


def write_file(path: Path, name: str, data: bytes) -> None:
    """Write a file of a finished sweep, such as a picture, replacing an earlier one."""
    with locked(path):
        manifest = read_manifest(path)
        files = manifest.get(FILES, {})
        if files.pop(name, None):
            write_manifest(path, manifest, files)
        write_bytes(path / name, data, overwrite=True)
        write_manifest(path, manifest, {**files, name: entry_of(path / name)})


def listed(path: Path, manifest: Mapping[str, Any], folder: str) -> dict[str, Entry | None]:
    """Return the files of a subfolder by name, with their manifest entries.

    For folders without digests, return the existing files.
    """
    if FILES in manifest:
        return {name: one for name, one in manifest[FILES].items() if name.startswith(f"{folder}/")}
    found = sorted((path / folder).glob("*.parquet"))
    return {f"{folder}/{one.name}": None for one in found}


def kind_in(manifest: Mapping[str, Any]) -> Kind:
    """Return the kind of a sweep's scenarios; manifests of early versions do not have it."""
    return kind_named(manifest["sweep"].get("kind", "fabric"))


def rows_of(records: Iterable[Mapping[str, Any]], table: str) -> list[dict[str, Any]]:
    """Return the rows of a table in records of the journal."""
    single = {"runs": "row", "provenance": "provenance"}
    if table in single:
        return [one[single[table]] for one in records]
    # A run that failed in a version without this table has no rows.
    return [row for one in records for row in one.get(table, [])]


def columns_in(path: Path, manifest: Mapping[str, Any], files: Iterable[Path]) -> set[str]:
    """Return the columns of files of a sweep, of its journals, and of one kept table per name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    journal = _journal.all_records(path / _journal.FOLDER)
    rows = (row for table in tables_of(kind_in(manifest)) for row in rows_of(journal, table))
    found = {name for row in rows for name in row}
    kept = (next(path.glob(f"tables/*/{name}.parquet"), None) for name in manifest["sweep"]["keep"])
    for shard in [*files, *filter(None, kept)]:
        # A missing file was merged; a damaged one is reported when its rows are read.
        with suppress(OSError, ValueError, pa.ArrowException):
            found.update(pq.read_schema(shard).names)
    return found


def require_place(path: Path, *, resume: bool) -> None:
    """Raise `InputError` if a sweep may not be written to `path` at present."""
    if resume and is_sweep(path):
        with locked(path):
            pass
    else:
        refuse_existing(path)


def refuse_existing(path: Path) -> None:
    """Raise `InputError` if `path` has content that prevents a new sweep."""
    if is_sweep(path):
        raise InputError(
            f"{path}: holds a sweep already; resume=True goes on with it; or name another folder",
            code="exists",
            file=str(path),
        )
    if path.is_dir():
        # A sweep that was killed at its very beginning leaves these without a manifest.
        ours = {_journal.FOLDER, *(table for kind in KINDS for table in tables_of(kind))}
        others = {one.name for one in path.iterdir()} - ours
        if any(not name.startswith((".", "points-")) for name in others):
            message = f"{path}: is not the folder of a sweep, and not empty"
            raise InputError(message, code="exists", file=str(path))
    elif path.exists():
        message = f"{path}: expected a folder, found a file"
        raise InputError(message, code="is-file", file=str(path))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Exclude other writers; the system releases the lock when the process ends in any way."""
    with writing(path):
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise InputError(
            f"{path}: another sweep is writing there; wait for it, or name another folder",
            file=str(path),
            code="busy",
        ) from error
    finally:
        os.close(lock)
