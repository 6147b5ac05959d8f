"""Loading of results from the folders of runs: `gingham.load_result`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gingham import tables
from gingham._files import nearest_file, require_file
from gingham._rundir import FORM, MANIFEST
from gingham._sealed import FILES, damaged, unsealed
from gingham.catalogue import old_names
from gingham.errors import InputError, meant
from gingham.result import AnyResult, Result
from gingham.scenario import AnyScenario, Scenario

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

# The loader of each kind's runs, for messages.
READERS = {"fabric": "gingham.load_result", "stripe": "gingham.stripe.load_result"}

R = TypeVar("R", bound=AnyResult)


def load_result(folder: str | os.PathLike[str]) -> Result:
    """Return the result in a run folder, as `run` returned it when it wrote the folder.

    Tables are read on first use. Raises `InputError` if the folder is not that of a run, or of one
    that this version cannot read; `DamageError` if its manifest, or a table on first use, differs
    from its digest.
    """
    return load_as(folder, Result, Scenario, "gingham.load_result")


def load_as(
    folder: str | os.PathLike[str], made: type[R], scenario: type[AnyScenario], reader: str
) -> R:
    """Return the result in a run folder of one kind; `reader` is its public function."""
    place = Path(folder)
    manifest = read_manifest(place)
    kind = manifest.get("kind", Result.kind)
    if kind != made.kind:
        message = (
            f"{place}: holds a run of a {kind}, which {reader} cannot read\n"
            f"  {READERS.get(kind, 'the version that wrote it')} does"
        )
        raise InputError(
            message, code="other-kind", file=str(place), key="kind", expected=[made.kind]
        )
    try:
        columns = set(names_in(manifest["summary"]))
        old_names.require_none(place, manifest["scenario"], columns)
        return made(
            scenario=scenario.restore(
                manifest["scenario"], manifest["scenario_file"], manifest["about"]["files"]
            ),
            summary=manifest["summary"],
            about=manifest["about"],
            wall_seconds=manifest["wall_seconds"],
            makers={
                name: partial(tables.from_parquet, place / file, manifest.get(FILES, {}).get(file))
                for name, file in files_of(manifest["tables"])
            },
        )
    except (KeyError, TypeError) as error:
        raise damaged(
            place / MANIFEST, f"the manifest is damaged: it lacks {error}", tables.CURE
        ) from error


def names_in(summary: object) -> Iterator[str]:
    """Yield the names of all fields of a summary."""
    if isinstance(summary, dict):
        for name, below in summary.items():
            yield name
            yield from names_in(below)
    elif isinstance(summary, list):
        for one in summary:
            yield from names_in(one)


def files_of(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names of tables with the names of their files."""
    return [(name, f"{name}.parquet") for name in names]


def read_manifest(place: Path) -> dict[str, Any]:
    """Return the manifest of a run folder."""
    path = place / MANIFEST
    if not place.exists():
        message = f"{place}: no such folder{nearest_file(place)}"
        raise InputError(message, code="no-folder", file=str(place))
    if not place.is_dir():
        hint = meant(str(place.parent) if place.name == MANIFEST else None)
        message = f"{place}: expected the folder of a run, found a file{hint}"
        raise InputError(message, code="is-file", file=str(place))
    if not path.exists():
        message = f"{place}: is not the folder of a run: it has no {MANIFEST}{run_below(place)}"
        raise InputError(message, code="no-run", file=str(place))
    require_file(path)
    manifest = unsealed(path, tables.CURE)
    if manifest.get("form") != FORM:
        form, by = manifest.get("form", "none"), manifest.get("gingham", "an unknown version")
        message = (
            f"{path}: written by gingham {by} in form {form}, and this version reads form {FORM}\n"
            f"  run its scenario again, or load it with the version that wrote it"
        )
        raise InputError(message, code="other-form", file=str(path), expected=[str(FORM)])
    return manifest


def run_below(place: Path) -> str:
    """Return a hint at the folder of a run inside `place`, or an empty text."""
    found = sorted(path.parent for path in place.glob(f"*/{MANIFEST}"))
    return f'; did you mean "{found[0]}"?' if found else ""
