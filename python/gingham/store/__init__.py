"""The folder of a sweep: storage of results without loss or duplicates.

::

    sweep.json                  the sweep, its version and core; the digest of every file
    sweep.spare.json            a copy of sweep.json
    points-1a2b3c4d/*.parquet   a row per point: index, the columns of the axes, replication, key
    journal/*.jsonl             the latest runs: one line each, complete or absent
    runs/*.parquet              a row per run, by key
    classes/*.parquet           a row per run and class, by key; other kinds of scenarios have other
                                parts, a stripe sources and channels
    provenance/*.parquet        time, place, build and duration of each run, by key
    tables/KEY/*.parquet        tables of a run, if the sweep keeps them

A finished run is one line of the journal. Many lines are merged into a shard, and many shards into
a larger one; each step writes the complete new file before it removes the old ones, so that a crash
between the two leaves a run in two places. Readers first verify each file against its digest:
points and shards against that in the manifest, a kept table against that in the provenance of its
run, a line of the journal against its checksum. Damaged or missing files are reported by readers,
and are set aside and made again by the next session; files that are not listed are ignored.

Invariants: readers use each key once; the content of `runs` and its parts depends on the runs and
not on when, where or in how many sessions they were made; only the process that holds `.lock`
writes.
"""

from gingham.store._columns import reserved, views
from gingham.store._folder import SweepFolder
from gingham.store._manifest import (
    FORM,
    MANIFEST,
    is_sweep,
    kind_in,
    read_manifest,
    require_place,
    write_file,
)
from gingham.store._query_guard import query_guard
from gingham.store._reading import kept_table, reader, require_kept
from gingham.store._survey import MANIFESTS, Survey, survey

__all__ = [
    "FORM",
    "MANIFEST",
    "MANIFESTS",
    "Survey",
    "SweepFolder",
    "is_sweep",
    "kept_table",
    "kind_in",
    "query_guard",
    "read_manifest",
    "reader",
    "require_kept",
    "require_place",
    "reserved",
    "survey",
    "views",
    "write_file",
]
