"""What of a sweep's folder is as it was written, and what is not.

::

    manifest ──► points, shards of tables, pictures      each with its digest
                        └─► provenance ──► tables/KEY/*.parquet, the kept tables of a run

A damaged or missing file is set aside by the next session: of shards the runs whose rows they held
are made again, of a kept table its run.
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
# The files of a folder, beside those that its manifest lists.
MANIFESTS = (MANIFEST, SPARE)


@dataclass
class Survey:
    """What was found in the folder of a sweep; names of files are relative to it."""

    path: Path
    # That of the folder, or else the spare one; none if both are damaged.
    manifest: dict[str, Any] | None = None
    # What is whole, and why what is not is not.
    files: dict[str, Entry] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)
    # Keys of runs of which a kept table is damaged.
    lost: set[str] = field(default_factory=set)
    # Files that nothing is known of, because they were written before there were digests.
    unchecked: int = 0

    @property
    def mended(self) -> set[str]:
        """Tables whose rows may be missing for runs that are there: a shard of theirs is lost."""
        before = (self.manifest or {}).get("mended", [])
        return {*before, *(name.partition("/")[0] for name in self.damaged if "/L" in name)}

    def known(self, keys: set[str]) -> set[str]:
        """Return those of the keys whose runs are there, with all that belongs to them."""
        found = known_in(self.path, self.files, keys, self.mended)
        return (found | (journal_keys(self.path) & keys)) - self.lost


def survey(path: Path) -> Survey:
    """Look at every byte of the folder of a sweep."""
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
    """Yield the manifests that are whole; the others are damaged."""
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
    """Take what was written before there were digests for what it is, if it can be read."""
    assert found.manifest is not None, "an old manifest is one"
    for folder in sorted(one.name for one in found.path.iterdir() if one.is_dir()):
        for name in listed(found.path, found.manifest, folder):
            found.unchecked += 1
            if _shards.is_readable(found.path / name):
                found.files[name] = entry_of(found.path / name)
            else:
                found.damaged[name] = NOT_TABLE


def kept_entries(path: Path, files: Mapping[str, Entry]) -> Iterator[tuple[str, str, Entry]]:
    """Yield key, file and entry of each kept table, as the latest run with that key left it."""
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
    """Return the keys of runs in journals that did not fail."""
    rows = rows_of(_journal.all_records(path / _journal.FOLDER), "runs")
    return {row["key"] for row in rows if row["verdict"] != "failed"}


def known_in(path: Path, files: Mapping[str, Entry], keys: set[str], mended: set[str]) -> set[str]:
    """Return those of the keys that stand in shards with a run that did not fail.

    Of tables that were mended they must have rows, too.
    """
    found = keys
    for table in ("runs", *sorted(mended - {"runs"})):
        shards = [path / name for name in files if name.startswith(f"{table}/")]
        found = _shards.keys_in(shards, found, succeeded=table == "runs")
    return found


def set_aside(file: Path, *, copied: bool = False) -> None:
    """Rename a file, so that nobody takes it for what it was; copy one that is to be replaced."""
    target = file.with_name(f"{file.name}.{DAMAGED}")
    number = 1
    while target.exists():
        number += 1
        target = file.with_name(f"{file.name}.{DAMAGED}-{number}")
    if file.exists():
        shutil.copyfile(file, target) if copied else file.rename(target)
