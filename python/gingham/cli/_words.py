"""What the package says in Python's words, in those of the command line.

::

    InputError: "net.toml: exists already; overwrite=True replaces it"     in a program
    gingham:     net.toml: exists already; --force replaces it             in a terminal

A message names the parameter that helps. Commands have an option for each such parameter; this is
the one place that knows both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gingham.errors import DeadlockError

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
    'weight = "latency"': "--weight latency",
    "leave the form out": "leave the form out (--form)",
    "all of them: `Routes.cycle`": "all of them with --json",
    'engine = "fast"': "--engine fast",
    'engine = "ports"': "--engine ports",
    'engine = "columns"': "--engine columns",
    "output=...": "--output",
    "to `Fabric.load_routes`": "as `--lfts`",
}
# Of a longer cycle people are shown the beginning and the end.
CYCLE_LINES_MAX = 11
PARAMETER = re.compile("|".join(re.escape(name) for name in OPTIONS))


def in_options(message: str) -> str:
    """Return a message with the options of commands in place of parameters.

    >>> in_options("net.toml: exists already; overwrite=True replaces it")
    'net.toml: exists already; --force replaces it'
    """
    return PARAMETER.sub(lambda found: OPTIONS[found[0]], message)


def in_short(error: DeadlockError) -> str:
    """Return why routes can deadlock, of a long cycle with its beginning and its end."""
    summary, *lines = str(error).split("\n")
    # A line each, and one that closes the cycle; a run that stood still has no such lines.
    last = len(error.cycle)
    left = last + 1 - CYCLE_LINES_MAX
    if left > 0 and len(lines) > last:
        lines[CYCLE_LINES_MAX - 1 : last] = [f"  ... and {left} more; all of them with --json"]
    return "\n".join([summary, *lines])
