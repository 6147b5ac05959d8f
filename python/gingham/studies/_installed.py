"""Installed studies: entry points of the group `gingham.studies`, of any distribution.

::

    pyproject.toml     [project.entry-points."gingham.studies"]
                       mine2027 = "my_studies.mine2027"
                       key         package, whose folder has study.toml and the modules beside it

`gingham-studies` has the studies of the project. The key is the name of the entry point; duplicate
keys in two distributions are rejected, because neither takes precedence.
"""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from gingham.errors import EnvironmentProblem, InputError, meant, nearest
from gingham.extras import install_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import ModuleType

GROUP = "gingham.studies"
# The extra that installs the studies of the project.
EXTRA = "studies"


def names() -> list[str]:
    """Return the keys of all installed studies.

    >>> "kwan1996" in names()
    True
    """
    return sorted({point.name for point in entry_points(group=GROUP)})


def required_names() -> list[str]:
    """Return the keys of all installed studies; raise `EnvironmentProblem` if there are none."""
    if found := names():
        return found
    raise EnvironmentProblem(
        f"no study is installed: {install_line(EXTRA)}", code="extra-not-installed"
    )


def package_of(key: str) -> ModuleType:
    """Return the package of a study; raise `InputError` with the nearest key if unknown."""
    known = required_names()
    if key not in known:
        near = nearest(key, known)
        raise InputError(
            f'no study is called "{key}"{meant(near)}\n  studies: {", ".join(known)}',
            expected=known,
            nearest=near,
        )
    points = list(entry_points(group=GROUP, name=key))
    if len(points) > 1:
        both = " and ".join(sorted(map(said, points)))
        raise EnvironmentProblem(f'two studies are called "{key}": {both}', code="study-twice")
    (point,) = points
    module = imported(key, point.module, f", {said(point)},")
    if not hasattr(module, "__path__"):
        raise broken(key, f", {said(point)},", "a module, and no package with a folder")
    return module


def folder_of(package: ModuleType) -> Path:
    """Return the folder of a study's package."""
    return Path(next(iter(package.__path__)))


def imported(key: str, module: str, of: str = "") -> ModuleType:
    """Import a module of a study; raise `EnvironmentProblem` with the study if that fails."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # Modules of other distributions may raise any exception.
        raise broken(key, of, f"{type(error).__name__}: {error}") from error


def broken(key: str, of: str, reason: str) -> EnvironmentProblem:
    """Return the error about a study that cannot be used."""
    return EnvironmentProblem(
        f"the study {key}{of} cannot be loaded: {reason}", code="study-broken"
    )


def said(point: EntryPoint) -> str:
    """Return an entry point with its distribution as text."""
    of = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
    return f"{point.value}{of}"
