"""Kinds of scenarios that sweeps can run, behind one protocol.

::

    scenario file ──load──► Runnable ──begin──► Run ──advance── ... ──► Measured ──► the folder
                                │                                       a row of the run,
                              Kind: files, tables, columns              rows of its parts

Sweeps, their folders and studies use this protocol and depend on no particular kind. A new kind is
a file here and an entry of `KINDS`. The keys of a scenario file determine its kind; a file that no
kind recognises is read as a fabric's, whose messages then describe the error.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham import examples
from gingham._files import require_file
from gingham.errors import InputError
from gingham.kinds._fabric import Fabrics
from gingham.kinds._kind import RUN_COLUMNS, Kind, Measured, Run, Runnable
from gingham.kinds._laboratory import LaboratoryKind
from gingham.kinds._stripe import Stripes

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

FABRIC, STRIPE = Fabrics(), Stripes()
KINDS: tuple[Kind, ...] = (FABRIC, STRIPE)

__all__ = ["FABRIC", "KINDS", "RUN_COLUMNS", "STRIPE", "Kind", "LaboratoryKind", "Measured"]
__all__ += [
    "Run",
    "Runnable",
    "example",
    "kind_named",
    "kind_of",
    "kind_of_file",
    "kind_of_values",
    "load",
]


def kind_named(name: str) -> Kind:
    """Return the kind of this name; raise `InputError` if this version does not have it."""
    for kind in KINDS:
        if kind.name == name:
            return kind
    known = [kind.name for kind in KINDS]
    raise InputError(
        f'this version runs no scenarios of the kind "{name}"; it knows {", ".join(known)}',
        expected=known,
        code="unknown-kind",
    )


def kind_of(scenario: Runnable) -> Kind:
    """Return the kind of a scenario."""
    return next(kind for kind in KINDS if kind.has(scenario))


def kind_of_values(values: Mapping[str, Any], wanted: Kind = FABRIC) -> Kind:
    """Return the kind of the scenario that a dict holds; `wanted` if its keys allow that.

    >>> kind_of_values({"topology": {}, "traffic": []}).name
    'fabric'
    >>> kind_of_values({"channel": [], "source": []}).name
    'stripe'
    """
    return next((kind for kind in (wanted, *KINDS) if kind.marks & values.keys()), wanted)


def kind_of_file(file: Path, wanted: Kind = FABRIC) -> Kind:
    """Return the kind of the scenario in a TOML file; `wanted` if its keys allow that."""
    require_file(file)
    try:
        return kind_of_values(tomllib.loads(file.read_bytes().decode()), wanted)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        # The reader of the file reports errors in it, with their position.
        return wanted


def load(path: str | os.PathLike[str]) -> Runnable:
    """Read the scenario in the TOML file at `path`, of any kind."""
    return kind_of_file(Path(path)).load(Path(path))


def example(name: str) -> Runnable:
    """Return an example of the package; raise `InputError` with the nearest name if unknown."""
    return load(examples.require(name))
