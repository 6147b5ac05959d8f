"""Verification of a sweep's folder: intact and damaged files.

::

    manifest ──► points, shards of tables, pictures      each with its digest
                        └─► provenance ──► tables/KEY/*.parquet, the kept tables of a run

The next session sets a damaged or missing file aside: the runs in a damaged shard are made again,
and so is the run of a kept table.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gingham._sealed import FILES, NOT_TABLE, Entry, damage_of, entry_of, unsealed
from gingham.errors import DamageError
from gingham.store import _journal, _shards
from gingham.store._manifest import CURE, MANIFEST, SPARE, listed, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

DAMAGED = "damaged"
UNLISTED = "cannot be checked, because both manifests are damaged"
# Files of a folder that its manifest does not list.
MANIFESTS = (MANIFEST, SPARE)


@dataclass
class Survey:
    """Result of verifying the folder of a sweep; file names are relative to it."""

    path: Path
    # The manifest, or else the spare one; `None` if both are damaged.
    manifest: dict[str, Any] | None = None
    # Entries of intact files, and the damage of others.
    files: dict[str, Entry] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)
    # Keys of runs with a damaged kept table.
    lost: set[str] = field(default_factory=set)
    # Number of files without a digest, from before digests were recorded.
    unchecked: int = 0

    @property
    def mended(self) -> set[str]:
        """Tables that may lack rows of stored runs, because a shard is lost."""
        before = (self.manifest or {}).get("mended", [])
        return {*before, *(name.partition("/")[0] for name in self.damaged if "/L" in name)}

    def known(self, keys: set[str]) -> set[str]:
        """Return those of the keys whose runs are stored completely."""
        found = known_in(self.path, self.files, keys, self.mended)
        return (found | (journal_keys(self.path) & keys)) - self.lost


def survey(path: Path) -> Survey:
    """Verify every file of the folder of a sweep."""
    found = Survey(path)
    manifests = dict(readable_manifests(found))
    found.manifest = manifests.get(MANIFEST, manifests.get(SPARE))
    if found.manifest is None:
        for file in (*path.glob("*/L*.parquet"), *path.glob("points-*/*.parquet")):
            found.damaged[str(file.relative_to(path))] = UNLISTED
    elif FILES not in found.manifest:
        look_at_old(found)
    else:
        for name, entry in found.manifest[FILES].items():
            if why := damage_of(path / name, entry):
                found.damaged[name] = why
            else:
                found.files[name] = entry
    for file in _journal.files(path / _journal.FOLDER):
        if bad := _journal.damaged_lines(file):
            found.damaged[f"{_journal.FOLDER}/{file.name}"] = f"is damaged {_journal.places(bad)}"
    for key, name, entry in kept_entries(path, found.files):
        if why := damage_of(path / name, entry):
            found.damaged[name] = why
            found.lost.add(key)
        else:
            found.files[name] = entry
    return found


def readable_manifests(found: Survey) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the intact manifests, and record damage of the others."""
    old = False
    for name in MANIFESTS:
        if old and not (found.path / name).exists():
            continue
        try:
            manifest = unsealed(found.path / name, CURE)
        except DamageError as error:
            found.damaged[name] = str(error).split(": ", 1)[1].splitlines()[0]
            continue
        old = FILES not in manifest
        yield name, manifest


def look_at_old(found: Survey) -> None:
    """Accept files from before digests were recorded, if they are readable."""
    assert found.manifest is not None, "an old manifest is one"
    for folder in sorted(one.name for one in found.path.iterdir() if one.is_dir()):
        for name in listed(found.path, found.manifest, folder):
            found.unchecked += 1
            if _shards.is_readable(found.path / name):
                found.files[name] = entry_of(found.path / name)
            else:
                found.damaged[name] = NOT_TABLE


def kept_entries(path: Path, files: Mapping[str, Entry]) -> Iterator[tuple[str, str, Entry]]:
    """Yield key, file and entry of each kept table, from the latest run with that key."""
    latest: dict[str, tuple[str, str]] = {}
    rows = rows_of(_journal.all_records(path / _journal.FOLDER), "provenance")
    shards = [path / name for name in files if name.startswith("provenance/")]
    for row in (*rows, *_shards.rows(shards, ["key", "began", "kept"])):
        began, kept = row.get("began") or "", row.get("kept")
        if kept and began >= latest.get(row["key"], ("", ""))[0]:
            latest[row["key"]] = began, kept
    for key, (_, kept) in latest.items():
        for name, entry in json.loads(kept).items():
            yield key, f"tables/{key}/{name}.parquet", entry


def journal_keys(path: Path) -> set[str]:
    """Return the keys of successful runs in journals."""
    rows = rows_of(_journal.all_records(path / _journal.FOLDER), "runs")
    return {row["key"] for row in rows if row["verdict"] != "failed"}


def known_in(path: Path, files: Mapping[str, Entry], keys: set[str], mended: set[str]) -> set[str]:
    """Return those of the keys with a successful run in shards.

    For tables that lost a shard, they must have rows, too.
    """
    found = keys
    for table in ("runs", *sorted(mended - {"runs"})):
        shards = [path / name for name in files if name.startswith(f"{table}/")]
        found = _shards.keys_in(shards, found, succeeded=table == "runs")
    return found


def set_aside(file: Path, *, copied: bool = False) -> None:
    """Rename a file, so that readers ignore it; copy one that will be replaced."""
    target = file.with_name(f"{file.name}.{DAMAGED}")
    number = 1
    while target.exists():
        number += 1
        target = file.with_name(f"{file.name}.{DAMAGED}-{number}")
    if file.exists():
        shutil.copyfile(file, target) if copied else file.rename(target)
