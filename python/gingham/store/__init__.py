"""The folder of a sweep: what was measured, kept so that nothing is lost and nothing is twice.

::

    sweep.json                  what is swept, by which version and core
    points-1a2b3c4d/*.parquet   a row a point: index, the columns of the axes, replication, key
    journal/*.jsonl             the latest runs: a line each, whole or not there
    runs/*.parquet              a row a run, by key
    classes/*.parquet           a row a run and class, by key; other kinds of scenarios have other
                                parts, a stripe sources and channels
    provenance/*.parquet        when, where, by what and how long each run was made, by key
    tables/KEY/*.parquet        tables of a run, where the sweep keeps them

A finished run is one line of the journal. Lines become shards when there are many, and shards
become bigger shards; each step writes the new file whole before it removes the old ones, so that a
death between the two leaves a run in two places. Invariants: readers take each key once; what
`runs` and their parts hold depends on the runs and not on when, where or in how many sessions they
were made; only the process that holds `.lock` writes.
"""

from gingham.store._columns import reserved, views
from gingham.store._folder import FORM, MANIFEST, SweepFolder, kind_in, read_manifest, require_place
from gingham.store._query_guard import query_guard
from gingham.store._reading import kept_table, reader

__all__ = [
    "FORM",
    "MANIFEST",
    "SweepFolder",
    "kept_table",
    "kind_in",
    "query_guard",
    "read_manifest",
    "reader",
    "require_place",
    "reserved",
    "views",
]
