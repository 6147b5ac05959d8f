"""Writer of a sweep's folder."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from gingham._files import make_folder, writing
from gingham._native import __version__
from gingham._sealed import entry_of, require_whole
from gingham.store import _journal, _shards
from gingham.store._columns import known as tables_of
from gingham.store._manifest import (
    CURE,
    FORM,
    is_sweep,
    kind_in,
    locked,
    refuse_existing,
    require_form,
    require_new_names,
    rows_of,
    write_manifest,
)
from gingham.store._survey import MANIFESTS, known_in, set_aside, survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    import pyarrow as pa

    from gingham._sealed import Entry

# Number of runs of a journal that are merged into a shard.
JOURNAL_RUNS = 512


class SweepFolder:
    """The folder of a sweep, open for writing; a context that excludes other writers.

    ::

        with SweepFolder(Path("sweeps/load"), manifest, resume=True) as folder:
            folder.write_points(0, table)
            folder.known(keys)
            folder.add(row, {"classes": classes}, provenance)
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any], *, resume: bool = False) -> None:
        """Prepare to write the sweep described by `manifest`."""
        self.path = path
        # Damaged files that were set aside when the folder was opened.
        self.damaged: list[str] = []
        self._manifest = {"form": FORM, "gingham": __version__, **manifest}
        text = json.dumps(self._manifest, sort_keys=True).encode()
        # The tables, with their columns.
        self._tables = tables_of(kind_in(manifest))
        self.points = f"points-{hashlib.sha256(text).hexdigest()[:8]}"
        self._resume = resume
        self._open = ExitStack()
        self._journal: _journal.Journal | None = None
        # Keys in the current journal, and whether each run succeeded.
        self._recent: dict[str, bool] = {}
        # Files listed in the manifest.
        self._files: dict[str, Entry] = {}
        # Tables with lost rows of runs, and keys of runs with a lost kept table.
        self._mended: set[str] = set()
        self._lost: set[str] = set()

    def __enter__(self) -> Self:
        """Create the folder or open an existing one, and merge old journals into shards."""
        resumed = self._resume and is_sweep(self.path)
        if not resumed:
            refuse_existing(self.path)
        make_folder(self.path)
        with ExitStack() as stack:
            stack.enter_context(locked(self.path))
            if resumed:
                self._mend()
            for name in [_journal.FOLDER, self.points, *self._tables]:
                make_folder(self.path / name)
            self._begin()
            self._open = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Merge the journal into shards and release the lock."""
        with self._open:
            self._end_journal()

    @property
    def is_open(self) -> bool:
        """Whether runs can be added."""
        return self._journal is not None

    def add(
        self,
        row: Mapping[str, Any],
        parts: Mapping[str, Sequence[Mapping[str, Any]]],
        provenance: Mapping[str, Any],
        tables: Mapping[str, bytes] | None = None,
    ) -> None:
        """Store a run with its parts by table, atomically.

        `tables` are the kept tables of the run, as Parquet files.
        """
        assert self._journal is not None, "the folder is open"
        key = row["key"]
        kept = {name: self._add_table(key, name, data) for name, data in (tables or {}).items()}
        noted = {**provenance, "kept": json.dumps(kept) if kept else None}
        self._journal.append({**parts, "row": row, "provenance": noted})
        self._recent[key] = row["verdict"] != "failed"
        self._lost.discard(key)
        if len(self._recent) >= JOURNAL_RUNS:
            self._end_journal()
            self._journal = _journal.Journal(self.path / _journal.FOLDER)

    def write_points(self, number: int, table: pa.Table) -> None:
        """Write a part of the points: the axis values of each key."""
        import pyarrow.parquet as pq

        path = self.path / self.points / f"{number:08}.parquet"
        prepared = _shards.prepare(path, partial(pq.write_table, table))
        name, entry = self._name(path), entry_of(prepared)
        if self._files.get(name) == entry:
            prepared.unlink()
            return
        if self._files.pop(name, None):
            # Another version wrote other bytes: the old digest is removed before the file is
            # replaced.
            self._note()
        with writing(path):
            prepared.rename(path)
        self._note(path)

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return the keys of stored runs that did not fail."""
        wanted = set(keys)
        found = {key for key in wanted if self._recent.get(key)}
        found |= known_in(self.path, self._files, wanted - found, self._mended)
        return found - self._lost

    def _mend(self) -> None:
        """Set damaged files aside, so that their runs are made again."""
        found = survey(self.path)
        self.damaged = [f"{self.path / name}: {why}" for name, why in found.damaged.items()]
        self._mended, self._lost = found.mended, found.lost
        self._files = {
            name: entry
            for name, entry in found.files.items()
            if not name.startswith(("tables/", "points-")) or name.startswith(f"{self.points}/")
        }
        if found.manifest:
            require_form(self.path, found.manifest)
            tables = [self.path / name for name in self._files if name.endswith(".parquet")]
            require_new_names(self.path, found.manifest, tables)
        for name in found.damaged:
            # The rest of a journal is stored first; without a manifest the folder is not readable.
            if not name.startswith(f"{_journal.FOLDER}/"):
                with writing(self.path / name):
                    set_aside(self.path / name, copied=name in MANIFESTS)

    def _begin(self) -> None:
        for name in [".", self.points, *self._tables]:
            for torn in (self.path / name).glob(".*.partial*"):
                torn.unlink()
        self._note()
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
        """Merge journals into shards, and many shards into larger ones."""
        for path in _journal.files(self.path / _journal.FOLDER):
            found = _journal.records(path)
            rows = {table: rows_of(found, table) for table in self._tables}
            self._note(
                *(
                    _shards.write_shard(self.path / table, rows[table], columns)
                    for table, columns in self._tables.items()
                    if rows[table]
                )
            )
            with writing(path):
                if _journal.damaged_lines(path):
                    set_aside(path)
                else:
                    path.unlink()
        for table in self._tables:
            self._merge(table)

    def _merge(self, table: str) -> None:
        """Merge the shards of levels that have many; damaged ones are excluded."""
        while shards := _shards.due(self._shards_of(table)):
            for shard in shards:
                require_whole(shard, self._files[self._name(shard)], CURE)
            merged = _shards.merge(shards)
            for shard in shards:
                del self._files[self._name(shard)]
            self._note(merged)
            for shard in shards:
                shard.unlink()

    def _shards_of(self, table: str) -> list[Path]:
        return [self.path / name for name in self._files if name.startswith(f"{table}/")]

    def _add_table(self, key: str, name: str, data: bytes) -> Entry:
        """Store a kept table of a run."""
        path = self.path / "tables" / key / f"{name}.parquet"
        make_folder(path.parent)
        _shards.appear(path, lambda handle: handle.write(data))
        return entry_of(path)

    def _note(self, *paths: Path) -> None:
        """List files in the manifest, which makes them visible to readers."""
        with writing(self.path):
            self._files |= {self._name(path): entry_of(path) for path in paths}
        more = {"points": self.points} | ({"mended": sorted(self._mended)} if self._mended else {})
        write_manifest(self.path, {**self._manifest, **more}, self._files)

    def _name(self, path: Path) -> str:
        return path.relative_to(self.path).as_posix()
