"""A study: the folder of a paper, read."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham._files import require_file
from gingham.errors import InputError
from gingham.studies._claims import Claim, read_claim
from gingham.sweeps import Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FOLDER = Path(__file__).parent
ABOUT, EXPECTED = "study.toml", "expected.toml"


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
        file = self.folder / f"{name}.toml"
        values = read_toml(file)
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
        close = get_close_matches(key, names(), n=1)
        meant = f'; did you mean "{close[0]}"?' if close else ""
        raise InputError(
            f'no study is called "{key}"{meant}\n  studies: {", ".join(names())}',
            expected=names(),
            nearest=close[0] if close else None,
        )
    return read(FOLDER / key)


def read(folder: Path) -> Study:
    """Return the study in a folder."""
    about = read_toml(folder / ABOUT)
    figures = [
        Figure(table["key"], table["title"], table["section"], table.get("sweeps", []))
        for table in about["figure"]
    ]
    claims = [read_claim(table) for table in read_toml(folder / EXPECTED)["claim"]]
    study = Study(
        key=folder.name,
        title=about["title"],
        authors=about["authors"],
        year=about["year"],
        folder=folder,
        figures=figures,
        claims=claims,
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


def changed(values: Mapping[str, Any], quick: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the table of a sweep with what --quick changes: replications, set, values by axis."""
    made = {**values, **{key: quick[key] for key in ("replications", "where") if key in quick}}
    made["set"] = {**values.get("set", {}), **quick.get("set", {})}
    coarse = dict(quick.get("values", {}))
    made["axis"] = [
        with_values(axis, coarse.pop(axis["name"])) if str(axis.get("name")) in coarse else axis
        for axis in values.get("axis", [])
    ]
    assert not coarse, f"--quick names axes that {name} lacks: {', '.join(coarse)}"
    return made


def with_values(axis: Mapping[str, Any], values: Sequence[Any]) -> dict[str, Any]:
    """Return an axis with other values, in the place of its own or of its range."""
    return {**{key: axis[key] for key in axis if key != "range"}, "values": values}
