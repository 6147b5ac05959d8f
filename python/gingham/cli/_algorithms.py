"""The routing algorithms as the choices of an option."""

from __future__ import annotations

from typing import Any

import click

from gingham._native import catalogue, other_names


def names() -> list[str]:
    """Return the names of all algorithms."""
    return [line["name"] for line in catalogue() if line["concept"] == "routing"]


class ForeignName(click.BadParameter):
    """The name that another program has for an algorithm; `possibilities` has the one here."""

    def __init__(
        self, message: str, ours: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> None:
        """Keep the name here."""
        super().__init__(message, ctx, param)
        self.possibilities = [ours]


class AlgorithmChoice(click.Choice[str]):
    """The name of an algorithm; the error for another tool's name suggests the algorithm here."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of the algorithm."""
        name = str(value).lower().replace("_", "-")
        others = {other: (ours, differs) for other, ours, differs in other_names()}
        ours, differs = others.get(name, ("", None))
        if value not in self.choices and ours in self.choices:
            raise ForeignName(nearest_here(str(value), ours, differs), ours, param, ctx)
        return super().convert(value, param, ctx)


def nearest_here(name: str, ours: str, differs: str | None) -> str:
    """Return a hint for another tool's name: the equivalent algorithm, or the nearest.

    >>> nearest_here("xy", "dimension-order", None)
    "'xy' is called 'dimension-order' here"
    >>> nearest_here("clos", "folded-clos", "it leads one way")
    "'clos' is not here: 'folded-clos' is nearest, and differs: it leads one way"
    """
    if differs:
        return f"{name!r} is not here: {ours!r} is nearest, and differs: {differs}"
    return f"{name!r} is called {ours!r} here"
