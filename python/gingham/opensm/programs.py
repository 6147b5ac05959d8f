"""Finding the programs of a real cluster, and saying how to get them.

They are never imported or linked: without them the package works, and only what needs them
says that they are missing.
"""

from __future__ import annotations

import os
import shutil

from gingham.errors import EnvironmentProblem

# The package that holds a program, by its name in Debian and its kin.
PACKAGES = {
    "ibsim": "ibsim-utils",
    "ibsim-run": "ibsim-utils",
    "opensm": "opensm",
    "ibnetdiscover": "infiniband-diags",
    "dump_fts": "infiniband-diags",
    "smpquery": "infiniband-diags",
}


def search_path() -> str:
    """Return where programs are looked for: system programs are not on every user's path."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def missing(*names: str) -> list[str]:
    """Return which of the programs `names` are not installed."""
    return [name for name in names if shutil.which(name, path=search_path()) is None]


def require(*names: str) -> None:
    """Raise `EnvironmentProblem` with the line that installs what is missing of `names`."""
    absent = missing(*names)
    if absent:
        raise EnvironmentProblem(f"{', '.join(absent)}: not installed\n  {install_line(*absent)}")


def install_line(*names: str) -> str:
    """Return the command that installs the programs `names`."""
    packages = sorted({PACKAGES[name] for name in names})
    return f"apt-get install {' '.join(packages)}"
