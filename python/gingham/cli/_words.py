"""What the package says in Python's words, in those of the command line.

::

    InputError: "net.toml: exists already; overwrite=True replaces it"     in a program
    gingham:     net.toml: exists already; --force replaces it             in a terminal

A message names the parameter that helps. Commands have an option for each such parameter; this is
the one place that knows both.
"""

from __future__ import annotations

import re

# By what messages of the package and of the core name.
OPTIONS = {
    "overwrite=True": "--force",
    "resume=True": "--resume",
    "many=True": "--yes",
    "allow_deadlock=True": "--allow-deadlock",
    "(memory_max)": "(memory_max, --memory-max)",
    "(escape_lanes)": "(--escape-lanes)",
    "(lanes)": "(--lanes)",
    "(adaptive=True)": "(--adaptive)",
    "leave datelines out": "leave datelines out (--datelines, --by-wrap)",
    "leave the form out": "leave the form out (--form)",
    "all of them: `Routes.cycle`": "all of them with --json",
    "all of them: `DeadlockError.cycle`": "all of them with --json",
    'engine = "fast"': "--engine fast",
    'engine = "ports"': "--engine ports",
    'engine = "columns"': "--engine columns",
    "output=...": "--output",
    "to `Fabric.load_routes`": "as `--lfts`",
}
PARAMETER = re.compile("|".join(re.escape(name) for name in OPTIONS))


def in_options(message: str) -> str:
    """Return a message with the options of commands in place of parameters.

    >>> in_options("net.toml: exists already; overwrite=True replaces it")
    'net.toml: exists already; --force replaces it'
    """
    return PARAMETER.sub(lambda found: OPTIONS[found[0]], message)
