"""The writing side of a sweep's folder."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from gingham import old_names
from gingham._files import make_folder, nearest_file, require_file, write_bytes, writing
from gingham._native import __version__
from gingham.errors import InputError
from gingham.kinds import KINDS, Kind, kind_named
from gingham.store import _journal, _shards
from gingham.store._columns import known as tables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    import pyarrow as pa

MANIFEST = "sweep.json"
# The form of sweep folders, counted up when older readers could not read newer ones.
FORM = 1
# Runs of a journal that become a shard.
JOURNAL_RUNS = 512
LOCK = ".lock"


class SweepFolder:
    """The folder of a sweep, open for writing; a context that keeps others from writing.

    ::

        with SweepFolder(Path("sweeps/load"), manifest, resume=True) as folder:
            folder.write_points(0, table)
            folder.known(keys)
            folder.add(row, {"classes": classes}, provenance)
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any], *, resume: bool = False) -> None:
        """Prepare to write what `manifest` describes."""
        self.path = path
        self.former: dict[str, Any] | None = None
        self._manifest = {"form": FORM, "gingham": __version__, **manifest}
        text = json.dumps(self._manifest, sort_keys=True).encode()
        # The tables, with their columns.
        self._tables = tables_of(kind_in(manifest))
        self.points = f"points-{hashlib.sha256(text).hexdigest()[:8]}"
        self._resume = resume
        self._lock = -1
        self._journal: _journal.Journal | None = None
        # Keys of the journal under way, and whether each was a success.
        self._recent: dict[str, bool] = {}

    def __enter__(self) -> Self:
        """Make the folder or take the one that is there, and turn old journals into shards."""
        if (self.path / MANIFEST).exists() and self._resume:
            self.former = read_manifest(self.path)
        else:
            refuse_existing(self.path)
        for name in [".", _journal.FOLDER, self.points, *self._tables]:
            make_folder(self.path / name)
        self._take_lock()
        try:
            self._begin()
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Turn the journal into shards and let others write."""
        try:
            self._end_journal()
        finally:
            os.close(self._lock)

    @property
    def is_open(self) -> bool:
        """Whether runs can be added."""
        return self._journal is not None

    def add(
        self,
        row: Mapping[str, Any],
        parts: Mapping[str, Sequence[Mapping[str, Any]]],
        provenance: Mapping[str, Any],
    ) -> None:
        """Keep a run with its parts by table: all of it, or nothing if we die on the way."""
        assert self._journal is not None, "the folder is open"
        self._journal.append({**parts, "row": row, "provenance": provenance})
        self._recent[row["key"]] = row["verdict"] != "failed"
        if len(self._recent) >= JOURNAL_RUNS:
            self._end_journal()
            self._journal = _journal.Journal(self.path / _journal.FOLDER)

    def add_table(self, key: str, name: str, data: bytes) -> None:
        """Keep a table of a run; to be called before `add`."""
        folder = self.path / "tables" / key
        make_folder(folder)
        _shards.appear(folder / f"{name}.parquet", lambda handle: handle.write(data))

    def write_points(self, number: int, table: pa.Table) -> None:
        """Write a part of the points: what the columns of the axes say of each key."""
        import pyarrow.parquet as pq

        path = self.path / self.points / f"{number:08}.parquet"
        _shards.appear(path, partial(pq.write_table, table))

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys whose runs are there and did not fail."""
        wanted = set(keys)
        found = {key for key in wanted if self._recent.get(key)}
        if shards := _shards.shards(self.path / "runs"):
            found |= known_in(shards, wanted - found)
        return found

    def _begin(self) -> None:
        for name in [".", self.points, *self._tables]:
            for torn in (self.path / name).glob(".*.partial*"):
                torn.unlink()
        whole = {**self._manifest, "points": self.points}
        text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
        write_bytes(self.path / MANIFEST, text.encode(), force=True)
        for path in self.path.glob("points-*"):
            if path.name != self.points:
                shutil.rmtree(path, ignore_errors=True)
        self._compact()
        self._journal = _journal.Journal(self.path / _journal.FOLDER)

    def _end_journal(self) -> None:
        if self._journal:
            self._journal.close()
            self._journal = None
            self._compact()
            self._recent.clear()

    def _compact(self) -> None:
        """Turn journals into shards, and many shards into bigger ones."""
        for path in _journal.files(self.path / _journal.FOLDER):
            found = _journal.records(path)
            if found:
                for table, columns in self._tables.items():
                    if rows := rows_of(found, table):
                        _shards.write_shard(self.path / table, rows, columns)
            with writing(path):
                path.unlink()
        for table in self._tables:
            _shards.merge(self.path / table)

    def _take_lock(self) -> None:
        """Keep other processes from writing; the system lets go when we end, however we do."""
        with writing(self.path):
            self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            raise InputError(
                f"{self.path}: another sweep is writing there; wait for it, or name another folder",
                file=str(self.path),
            ) from error


def rows_of(records: Iterable[Mapping[str, Any]], table: str) -> list[dict[str, Any]]:
    """Return the rows of a table in records of the journal."""
    single = {"runs": "row", "provenance": "provenance"}
    if table in single:
        return [one[single[table]] for one in records]
    # A run that failed before this table was there has none.
    return [row for one in records for row in one.get(table, [])]


def kind_in(manifest: Mapping[str, Any]) -> Kind:
    """Return the kind of the scenarios of a sweep; before there were several, it was not told."""
    return kind_named(manifest["sweep"].get("kind", "fabric"))


def known_in(shards: Sequence[Path], keys: set[str]) -> set[str]:
    """Return those of the keys that stand in shards with a run that did not fail."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    wanted = pa.array(sorted(keys), pa.string())
    found: set[str] = set()
    for shard in shards:
        for batch in pq.ParquetFile(shard).iter_batches(columns=["key", "verdict"]):
            hit = pc.and_(
                pc.is_in(batch["key"], value_set=wanted), pc.not_equal(batch["verdict"], "failed")
            )
            found.update(batch["key"].filter(hit).to_pylist())
    return found


def require_place(path: Path, *, resume: bool) -> None:
    """Raise `InputError` if a sweep may not be written to `path`."""
    if resume and (path / MANIFEST).exists():
        read_manifest(path)
    else:
        refuse_existing(path)


def refuse_existing(path: Path) -> None:
    """Raise `InputError` if there is something at `path` that a new sweep may not write into."""
    if (path / MANIFEST).exists():
        raise InputError(
            f"{path}: holds a sweep already; --resume goes on with it, -o names another folder",
            file=str(path),
        )
    if path.is_dir():
        # A sweep that was killed at its very beginning leaves these without a manifest.
        ours = {_journal.FOLDER, *(table for kind in KINDS for table in tables_of(kind))}
        others = {one.name for one in path.iterdir()} - ours
        if any(not name.startswith((".", "points-")) for name in others):
            raise InputError(f"{path}: is not the folder of a sweep, and not empty", file=str(path))
    elif path.exists():
        raise InputError(f"{path}: expected a folder, found a file", file=str(path))


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a sweep's folder; `InputError` if it is none that we can read."""
    file = path / MANIFEST
    if not path.exists():
        raise InputError(f"{path}: no such folder{nearest_file(path)}", file=str(path))
    if not file.exists():
        message = f"{path}: is not the folder of a sweep: it has no {MANIFEST}"
        raise InputError(message, file=str(path))
    require_file(file)
    try:
        manifest = json.loads(file.read_bytes())
        form, by = manifest.get("form"), manifest.get("gingham")
    except (ValueError, AttributeError) as error:
        raise InputError(f"{file}: the manifest is damaged: {error}", file=str(file)) from error
    if form != FORM:
        raise InputError(
            f"{file}: written by gingham {by} in form {form}, and this version uses form {FORM}\n"
            f"  read it with the version that wrote it, or sweep again into another folder",
            file=str(file),
            expected=[str(FORM)],
        )
    whole: dict[str, Any] = manifest
    old_names.require_none(path, manifest["sweep"], columns_in(path, whole))
    return whole


def columns_in(path: Path, manifest: Mapping[str, Any]) -> set[str]:
    """Return the columns that there are in the folder of a sweep, in any table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    journal = [
        one for file in _journal.files(path / _journal.FOLDER) for one in _journal.records(file)
    ]
    rows = (row for table in tables_of(kind_in(manifest)) for row in rows_of(journal, table))
    found = {name for row in rows for name in row}
    kept = (next(path.glob(f"tables/*/{name}.parquet"), None) for name in manifest["sweep"]["keep"])
    for shard in [*path.glob("*/*.parquet"), *filter(None, kept)]:
        # One that is gone has become another; one that is damaged is told by who reads its rows.
        with suppress(FileNotFoundError, pa.ArrowInvalid):
            found.update(pq.read_schema(shard).names)
    return found
