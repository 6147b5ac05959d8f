"""The folder of a sweep: what was measured, kept so that nothing is lost and nothing is twice.

::

    sweep.json                  what is swept, by which version and core; the digest of every file
    sweep.spare.json            the same again
    points-1a2b3c4d/*.parquet   a row a point: index, the columns of the axes, replication, key
    journal/*.jsonl             the latest runs: a line each, whole or not there
    runs/*.parquet              a row a run, by key
    classes/*.parquet           a row a run and class, by key; other kinds of scenarios have other
                                parts, a stripe sources and channels
    provenance/*.parquet        when, where, by what and how long each run was made, by key
    tables/KEY/*.parquet        tables of a run, where the sweep keeps them

A finished run is one line of the journal. Lines become shards when there are many, and shards
become bigger shards; each step writes the new file whole before it removes the old ones, so that a
death between the two leaves a run in two places. Whoever reads a file holds it against its digest
first: points and shards against that in the manifest, a kept table against that in the provenance
of its run, a line of the journal against its checksum. What is damaged or missing is named by
readers, and set aside and made again by the next session; files that nothing lists are nobody's.

Invariants: readers take each key once; what `runs` and their parts hold depends on the runs and not
on when, where or in how many sessions they were made; only the process that holds `.lock` writes.
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
