"""Optional dependencies, installed as extras of the package.

>>> require("pyarrow")
"""

from __future__ import annotations

from importlib.util import find_spec

from gingham.errors import EnvironmentProblem


def require(*packages: str) -> None:
    """Raise `EnvironmentProblem` if optional packages are not installed."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        names = " and ".join(missing)
        verb = "is" if len(missing) == 1 else "are"
        raise EnvironmentProblem(
            f"{names} {verb} not installed: {install_line(*missing)}", code="extra-not-installed"
        )


def install_line(*extras: str) -> str:
    """Return the command that installs extras.

    >>> install_line("pandas", "polars")
    "pip install 'gingham[pandas,polars]'"
    """
    return f"pip install 'gingham[{','.join(extras)}]'"
