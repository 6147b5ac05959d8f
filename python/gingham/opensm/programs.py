"""Lookup of the programs of a real cluster, with installation hints.

They are neither imported nor linked: without them only the functions that need them fail.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from gingham.errors import EnvironmentProblem

# Package of each program in Debian and derived distributions.
PACKAGES = {
    "ibsim": "ibsim-utils",
    "ibsim-run": "ibsim-utils",
    "opensm": "opensm",
    "ibnetdiscover": "infiniband-diags",
    "dump_fts": "infiniband-diags",
    "smpquery": "infiniband-diags",
}


# The option that prints the version of a program; ibsim prints it with its usage.
VERSION_OPTIONS = {"opensm": "--version", "ibsim": "-h", "ibnetdiscover": "-V"}
VERSION = re.compile(
    r"^(?:OpenSM|(?:\S*/)?ibsim|\S+ BUILD VERSION:)\s+(?P<version>\d\S*)", re.MULTILINE
)
VERSION_TIMEOUT_S = 10.0


def versions(*names: str) -> dict[str, str | None]:
    """Return the version of each program; `None` if it does not print one in time."""
    return {name: version_of(name) for name in names if name in VERSION_OPTIONS}


def version_of(name: str) -> str | None:
    """Return the version that a program prints."""
    path = program(name)
    if path is None:
        return None
    try:
        finished = subprocess.run(
            [path, VERSION_OPTIONS[name]],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = VERSION.search(f"{finished.stdout}\n{finished.stderr}")
    return match["version"] if match else None


def search_path() -> str:
    """Return the search path, with system directories, which not every user's path has."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def program(name: str) -> str | None:
    """Return the path of the program `name`, or `None` if it is not installed."""
    return shutil.which(name, path=search_path())


def missing(*names: str) -> list[str]:
    """Return the programs of `names` that are not installed."""
    return [name for name in names if program(name) is None]


def require(*names: str) -> None:
    """Raise `EnvironmentProblem` with the install command for missing programs of `names`."""
    absent = missing(*names)
    if absent:
        raise EnvironmentProblem(
            f"{', '.join(absent)}: not installed\n  {install_line(*absent)}", code="missing-program"
        )


def install_line(*names: str) -> str:
    """Return the command that installs the programs `names`."""
    packages = sorted({PACKAGES[name] for name in names})
    return f"apt-get install {' '.join(packages)}"
