"""A study: the folder of a paper, read; its modules, imported when they are asked for."""

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

# How much of a study is run: all, what a minute can tell, or what tells assumptions apart.
Size: TypeAlias = Literal["full", "quick", "coarse"]

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
    # Whether its runs, of hours, are made only when it is named.
    on_request: bool = False


@dataclass(frozen=True)
class Study:
    """A paper's experiments and claims, or those of several on one matter."""

    key: str
    title: str
    # Of the paper; nobody, and no year, where a study is of several.
    authors: str
    year: int | None
    folder: Path
    # Import name of its package.
    package: str
    figures: Sequence[Figure]
    claims: Sequence[Claim]
    # By sweep that is a variant of a file, the name of that file and what it changes of it.
    variants: Mapping[str, Mapping[str, Any]] = field(repr=False)
    # By size that is not the full one, and by sweep, what is less of it.
    less: Mapping[Size, Mapping[str, Mapping[str, Any]]] = field(repr=False)
    # What the paper is silent about and we assume.
    assumptions: Sequence[Assumption] = ()

    @property
    def heading(self) -> str:
        """The study and its paper, in a line."""
        of = f'{self.authors}, "{self.title}", {self.year}' if self.authors else self.title
        return f"{self.key}: {of}"

    def module(self, name: str) -> ModuleType:
        """Return a module of its package; `EnvironmentProblem` if it cannot be imported."""
        return imported(self.key, f"{self.package}.{name}")

    def figure(self, key: str) -> Figure:
        """Return the figure with this key; `InputError` with the nearest if there is none."""
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
        """Return one figure, or all but those that are made on request."""
        if figure is not None:
            return [self.figure(figure)]
        return [one for one in self.figures if not one.on_request]

    def sweep(self, name: str, size: Size = "full", under: Alternative | None = None) -> Sweep:
        """Return a sweep of the study, of a size, and under another assumption than ours."""
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
        """Return the assumption with this key; `InputError` with those known if there is none."""
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
    """Return the study with this key; `InputError` with the nearest if there is none."""
    package = package_of(key)
    return read(folder_of(package), key, package.__name__)


def read(folder: Path, key: str, package: str) -> Study:
    """Return the study in a folder, whose modules are those of a package."""
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
    """Return the content of a TOML file; `InputError` if it is none."""
    require_file(file)
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: {error}", file=str(file)) from error


def changed(values: Mapping[str, Any], changes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the table of a sweep with what a variant or --quick changes of it.

    That is any of title, replications, filter and settings; keys of axes by the axis, that of
    several keys by its first name; and `values`, which says for short what values axes have.
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
    """Return the name of an axis, of several the first; nothing where it has none."""
    names = axis.get("name", "")
    return str(names[0] if isinstance(names, list) else names)


def with_keys(axis: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return an axis with other keys; values take the place of its own or of its range."""
    left = {key: axis[key] for key in axis if key != "range" or "values" not in keys}
    return {**left, **keys}
