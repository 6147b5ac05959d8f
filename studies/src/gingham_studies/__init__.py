"""Papers whose experiments are repeated: a folder a paper, an entry point each.

`gingham.studies` documents the files of a folder, and finds it by the group `gingham.studies` of
entry points, which `pyproject.toml` lists.
"""
