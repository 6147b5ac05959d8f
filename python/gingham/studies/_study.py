"""A study, read from its folder; its modules are imported on demand."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gingham._files import require_file
from gingham.errors import InputError, nearest, unknown
from gingham.studies._assumptions import Alternative, Assumption, read_assumption
from gingham.studies._claims import Claim, each_of, read_claim
from gingham.studies._installed import folder_of, imported, package_of
from gingham.sweeps import Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

# Extent of a study's runs: all, those of a minute, or those that compare assumptions.
Size: TypeAlias = Literal["full", "quick", "coarse"]

# Claims may be in several files: `expected-routes.toml`.
ABOUT, EXPECTED = "study.toml", "expected*.toml"
# Keys that a variant of a sweep, or --quick, replaces.
CHANGED = ("title", "replications", "where")


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, or a section with numbers of its own."""

    key: str
    title: str
    section: str
    # Names of the sweep files that it needs.
    sweeps: Sequence[str]
    # Whether its runs take hours, and are only made if it is named.
    on_request: bool = False


@dataclass(frozen=True)
class Study:
    """Experiments and claims of a paper, or of several papers on one subject."""

    key: str
    title: str
    # Authors and year of the paper; empty and `None` for a study of several papers.
    authors: str
    year: int | None
    folder: Path
    # Import name of its package.
    package: str
    figures: Sequence[Figure]
    claims: Sequence[Claim]
    # By name of a sweep that is a variant: the name of its file, and its changes to it.
    variants: Mapping[str, Mapping[str, Any]] = field(repr=False)
    # Reductions of sweeps, by size and by sweep.
    less: Mapping[Size, Mapping[str, Mapping[str, Any]]] = field(repr=False)
    # Assumptions where the paper is silent.
    assumptions: Sequence[Assumption] = ()

    @property
    def heading(self) -> str:
        """The study and its paper, in one line."""
        of = f'{self.authors}, "{self.title}", {self.year}' if self.authors else self.title
        return f"{self.key}: {of}"

    def module(self, name: str) -> ModuleType:
        """Return a module of its package; raise `EnvironmentProblem` if the import fails."""
        return imported(self.key, f"{self.package}.{name}")

    def figure(self, key: str) -> Figure:
        """Return the figure with this key; raise `InputError` with the nearest if unknown."""
        for figure in self.figures:
            if figure.key == key:
                return figure
        known = [figure.key for figure in self.figures]
        raise InputError(
            f'{self.key} has no figure "{key}"\n  figures: {", ".join(known)}',
            expected=known,
            code="unknown-name",
        )

    def chosen(self, figure: str | None) -> Sequence[Figure]:
        """Return one figure, or all except those made on request."""
        if figure is not None:
            return [self.figure(figure)]
        return [one for one in self.figures if not one.on_request]

    def sweep(self, name: str, size: Size = "full", under: Alternative | None = None) -> Sweep:
        """Return a sweep of the study in a size, and under an alternative assumption."""
        variant = self.variants.get(name, {})
        file = self.folder / f"{variant.get('of', name)}.toml"
        values = changed(read_toml(file), variant, name)
        if size != "full":
            values = changed(values, self.less[size].get(name, {}), name)
        if under is not None:
            values = changed(values, under.changes(name), name)
        return Sweep.make(values, folder=self.folder, name=file.name)

    def claim(self, key: str) -> Claim:
        """Return the claim with this key."""
        return next(one for one in self.claims if one.key == key)

    def assumption(self, key: str) -> Assumption:
        """Return the assumption with this key; raise `InputError` with the known ones if none."""
        known = [one.key for one in self.assumptions]
        if key not in known:
            raise InputError(
                f"{self.key}: {unknown('an assumption', key, known)}",
                expected=known,
                code="unknown-name",
                nearest=nearest(key, known),
            )
        return self.assumptions[known.index(key)]

    def claims_of(self, figures: Iterable[Figure]) -> list[Claim]:
        """Return the claims about some figures."""
        wanted = {figure.key for figure in figures}
        return [claim for claim in self.claims if claim.figure in wanted]


def load(key: str) -> Study:
    """Return the study with this key; raise `InputError` with the nearest if unknown."""
    package = package_of(key)
    return read(folder_of(package), key, package.__name__)


def read(folder: Path, key: str, package: str) -> Study:
    """Return the study in a folder, with the import name of its package."""
    about = read_toml(folder / ABOUT)
    for needed in ("title", "figure"):
        if needed not in about:
            raise InputError(
                f'{folder / ABOUT} needs "{needed}"',
                file=str(folder / ABOUT),
                code="missing-key",
                key=needed,
            )
    figures = [
        Figure(
            table["key"],
            table["title"],
            table["section"],
            table.get("sweeps", []),
            table.get("on_request", False),
        )
        for table in about["figure"]
    ]
    claims = [
        read_claim(one, str(file))
        for file in sorted(folder.glob(EXPECTED))
        for table in read_toml(file)["claim"]
        for one in each_of(table)
    ]
    study = Study(
        key=key,
        title=about["title"],
        authors=about.get("authors", ""),
        year=about.get("year"),
        folder=folder,
        package=package,
        figures=figures,
        claims=claims,
        variants=about.get("variant", {}),
        less={"quick": about.get("quick", {}), "coarse": about.get("coarse", {})},
        assumptions=[
            read_assumption(one, str(folder / ABOUT)) for one in about.get("assumption", [])
        ],
    )
    for claim in claims:
        study.figure(claim.figure)
    return study


def read_toml(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file; raise `InputError` if it is invalid."""
    require_file(file)
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: {error}", file=str(file)) from error


def changed(values: Mapping[str, Any], changes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the table of a sweep with the changes of a variant or of --quick.

    Changes are title, replications, filter and settings; keys of axes by axis, an axis of several
    keys by its first name; and `values`, a short form for the values of axes.
    """
    made = {**values, **{key: changes[key] for key in CHANGED if key in changes}}
    made["set"] = {**values.get("set", {}), **changes.get("set", {})}
    coarse = {axis: {"values": to} for axis, to in changes.get("values", {}).items()}
    other = {**changes.get("axis", {}), **coarse}
    made["axis"] = [
        with_keys(axis, other.pop(first_name(axis), {})) for axis in values.get("axis", [])
    ]
    assert not other, f"{name} lacks axes that are named to be changed: {', '.join(other)}"
    return made


def first_name(axis: Mapping[str, Any]) -> str:
    """Return the name of an axis, the first of several; empty without a name."""
    names = axis.get("name", "")
    return str(names[0] if isinstance(names, list) else names)


def with_keys(axis: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return an axis with other keys; values replace its own values or its range."""
    left = {key: axis[key] for key in axis if key != "range" or "values" not in keys}
    return {**left, **keys}
