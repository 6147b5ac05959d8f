"""Translation of the package's messages from Python parameters to command-line options.

::

    InputError: "net.toml: exists already; overwrite=True replaces it"     in a program
    gingham:     net.toml: exists already; --force replaces it             in a terminal

Messages name a parameter of a Python function as the remedy. Commands have an option for each such
parameter; only this module knows both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gingham.errors import DeadlockError

# Options by the parameters in messages of the package and of the core.
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
# Longer cycles are printed with only their beginning and end.
CYCLE_LINES_MAX = 11
PARAMETER = re.compile("|".join(re.escape(name) for name in OPTIONS))


def in_options(message: str) -> str:
    """Return a message with the options of commands in place of parameters.

    >>> in_options("net.toml: exists already; overwrite=True replaces it")
    'net.toml: exists already; --force replaces it'
    """
    return PARAMETER.sub(lambda found: OPTIONS[found[0]], message)


def in_short(error: DeadlockError) -> str:
    """Return the reason for a possible deadlock; of a long cycle only its beginning and end."""
    summary, *lines = str(error).split("\n")
    # One line per channel and one that closes the cycle; a stalled run has no such lines.
    last = len(error.cycle)
    left = last + 1 - CYCLE_LINES_MAX
    if left > 0 and len(lines) > last:
        lines[CYCLE_LINES_MAX - 1 : last] = [f"  ... and {left} more; all of them with --json"]
    return "\n".join([summary, *lines])
