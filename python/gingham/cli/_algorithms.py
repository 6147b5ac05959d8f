"""The routing algorithms as the choices of an option."""

from __future__ import annotations

from typing import Any

import click

from gingham import glossary
from gingham._native import catalogue, other_names


def names() -> list[str]:
    """Return the names of all algorithms."""
    return [line["name"] for line in catalogue() if line["concept"] == "routing"]


class AlgorithmChoice(click.Choice[str]):
    """An algorithm, or what is told of the name that others have for one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of the algorithm."""
        ours = dict(other_names()).get(str(value).lower().replace("_", "-"))
        if value not in self.choices and ours in self.choices:
            self.fail(nearest_here(str(value), ours), param, ctx)
        return super().convert(value, param, ctx)


def nearest_here(name: str, ours: str) -> str:
    """Return which algorithm has another name here, or is only the nearest to what has that name.

    >>> nearest_here("xy", "dimension-order")
    "'xy' is called 'dimension-order' here"
    """
    if glossary.is_of_others(name):
        return f"{name!r} is not here: {ours!r} is nearest, and differs: gingham explain {name}"
    return f"{name!r} is called {ours!r} here"
