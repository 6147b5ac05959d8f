"""Papers whose experiments are repeated, each with a folder and an entry point.

`gingham.studies` documents the files of a folder. It finds the folders by the entry points of the
group `gingham.studies` in `pyproject.toml`.
"""
