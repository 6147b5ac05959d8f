"""A study: the folder of a paper, read."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham._files import require_file
from gingham.errors import InputError, meant, nearest
from gingham.studies._claims import Claim, each_of, read_claim
from gingham.sweeps import Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FOLDER = Path(__file__).parent
# Claims may stand in several files: `expected-routes.toml`.
ABOUT, EXPECTED = "study.toml", "expected*.toml"
# What a variant of a sweep, or --quick, gives as it is.
CHANGED = ("title", "replications", "where")


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, or a section with numbers of its own."""

    key: str
    title: str
    section: str
    # Names of the sweep files that it needs.
    sweeps: Sequence[str]


@dataclass(frozen=True)
class Study:
    """A paper's experiments and claims."""

    key: str
    title: str
    authors: str
    year: int
    folder: Path
    figures: Sequence[Figure]
    claims: Sequence[Claim]
    # By sweep that is a variant of a file, the name of that file and what it changes of it.
    variants: Mapping[str, Mapping[str, Any]] = field(repr=False)
    # By sweep, what --quick changes of it.
    quick: Mapping[str, Mapping[str, Any]] = field(repr=False)

    def figure(self, key: str) -> Figure:
        """Return the figure with this key; `InputError` with the nearest if there is none."""
        for figure in self.figures:
            if figure.key == key:
                return figure
        known = [figure.key for figure in self.figures]
        raise InputError(
            f'{self.key} has no figure "{key}"\n  figures: {", ".join(known)}', expected=known
        )

    def chosen(self, figure: str | None) -> Sequence[Figure]:
        """Return one figure, or all."""
        return self.figures if figure is None else [self.figure(figure)]

    def sweep(self, name: str, *, quick: bool = False) -> Sweep:
        """Return a sweep of the study, cut down for `quick`."""
        variant = self.variants.get(name, {})
        file = self.folder / f"{variant.get('of', name)}.toml"
        values = changed(read_toml(file), variant, name)
        if quick:
            values = changed(values, self.quick.get(name, {}), name)
        return Sweep.make(values, folder=self.folder, name=file.name)

    def claims_of(self, figures: Iterable[Figure]) -> list[Claim]:
        """Return the claims about some figures."""
        wanted = {figure.key for figure in figures}
        return [claim for claim in self.claims if claim.figure in wanted]


def names() -> list[str]:
    """Return the keys of all studies."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{ABOUT}"))


def load(key: str) -> Study:
    """Return the study with this key; `InputError` with the nearest if there is none."""
    if key not in names():
        near = nearest(key, names())
        raise InputError(
            f'no study is called "{key}"{meant(near)}\n  studies: {", ".join(names())}',
            expected=names(),
            nearest=near,
        )
    return read(FOLDER / key)


def read(folder: Path) -> Study:
    """Return the study in a folder."""
    about = read_toml(folder / ABOUT)
    figures = [
        Figure(table["key"], table["title"], table["section"], table.get("sweeps", []))
        for table in about["figure"]
    ]
    claims = [
        read_claim(one)
        for file in sorted(folder.glob(EXPECTED))
        for table in read_toml(file)["claim"]
        for one in each_of(table)
    ]
    study = Study(
        key=folder.name,
        title=about["title"],
        authors=about["authors"],
        year=about["year"],
        folder=folder,
        figures=figures,
        claims=claims,
        variants=about.get("variant", {}),
        quick=about.get("quick", {}),
    )
    for claim in claims:
        study.figure(claim.figure)
    return study


def read_toml(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file; `InputError` if it is none."""
    require_file(file)
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: {error}", file=str(file)) from error


def changed(values: Mapping[str, Any], changes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the table of a sweep with what a variant or --quick changes of it.

    That is any of title, replications, filter and settings; keys of axes by the axis; and `values`,
    which says for short what values axes have.
    """
    made = {**values, **{key: changes[key] for key in CHANGED if key in changes}}
    made["set"] = {**values.get("set", {}), **changes.get("set", {})}
    coarse = {axis: {"values": to} for axis, to in changes.get("values", {}).items()}
    other = {**changes.get("axis", {}), **coarse}
    made["axis"] = [
        with_keys(axis, other.pop(str(axis.get("name")), {})) for axis in values.get("axis", [])
    ]
    assert not other, f"{name} lacks axes that are named to be changed: {', '.join(other)}"
    return made


def with_keys(axis: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return an axis with other keys; values take the place of its own or of its range."""
    left = {key: axis[key] for key in axis if key != "range" or "values" not in keys}
    return {**left, **keys}
